/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/loader.h"
#include "base/error.h"
#include <assay/dataset.h>
#include <assay/isolation.h>
#include <assay/language.h>
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <ltdl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

struct place {
	const char *file;
	uint32_t line;
	struct assay_error *err;
};

static int fail(const struct place *place, const char *format, ...) ASSAY_PRINTF(2, 3);

static int fail(const struct place *place, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int status = error_at_v(place->err, place->file, place->line, place->line ? 1 : 0, format, args);
	va_end(args);
	return status;
}

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	size_t len = 0;
	while (isalnum((unsigned char)name[len]) || name[len] == '_')
		len++;
	return name[len] == 0 && len < NAME_MAX;
}

/* The ops an instance cannot do without, by kind: offsets into the table. */
struct required_ops {
	const char *kind;
	size_t count;
	struct {
		const char *name;
		size_t offset;
	} ops[5];
};

#define OP(kind, member)                                                                                               \
	{                                                                                                              \
#member, offsetof(struct assay_##kind##_ops, member)                                                   \
	}

static const struct required_ops required[] = {
    [ASSAY_KIND_LANGUAGE] = {"language", 3, {OP(language, create), OP(language, destroy), OP(language, plan)}},
    [ASSAY_KIND_ISOLATION] =
        {"isolation", 4, {OP(isolation, create), OP(isolation, destroy), OP(isolation, probe), OP(isolation, plan)}},
    [ASSAY_KIND_DATASET] = {"dataset",
                            5,
                            {OP(dataset, create), OP(dataset, destroy), OP(dataset, prompt), OP(dataset, cases),
                             OP(dataset, check)}},
};

static int check_ops(const struct assay_plugin *plugin, const struct place *place)
{
	const struct required_ops *wanted = &required[plugin->kind];
	uint32_t size = plugin->ops ? *(const uint32_t *)plugin->ops : 0;
	for (size_t i = 0; i < wanted->count; i++) {
		void (*op)(void) = NULL;
		if (size >= wanted->ops[i].offset + sizeof(op))
			memcpy(&op, (const char *)plugin->ops + wanted->ops[i].offset, sizeof(op));
		if (!op)
			return fail(place, "module '%s' lacks the %s op '%s'", plugin->name, wanted->kind,
			            wanted->ops[i].name);
	}
	return 0;
}

static int check_plugin(const struct assay_plugin *plugin, const char *module, enum assay_kind kind,
                        const struct place *place)
{
	if (!plugin || plugin->magic != ASSAY_PLUGIN_MAGIC)
		return fail(place, "module '%s' is no Assay plugin (its descriptor's magic number is wrong)", module);
	if (plugin->abi_major != ASSAY_ABI_MAJOR)
		return fail(place, "module '%s' is built for plugin ABI %u.%u; this Assay has %u.%u: build it again",
		            module, plugin->abi_major, plugin->abi_minor, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
	if (plugin->size < offsetof(struct assay_plugin, ops) + sizeof(plugin->ops)) /* that of ABI 1.0 */
		return fail(place, "module '%s' has a descriptor of %u bytes, too few for ABI %u.%u", module,
		            plugin->size, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
	if (plugin->kind != (uint32_t)kind)
		return fail(place, "module '%s' is of kind %u, not %s", module, plugin->kind, required[kind].kind);
	if (!plugin->name || strcmp(plugin->name, module))
		return fail(place, "the module in '%s' calls itself '%s'", module, plugin->name ? plugin->name : "");
	if (!plugin->version)
		return fail(place, "module '%s' has no version", module);
	return check_ops(plugin, place);
}

/* libltdl follows a NAME.la beside NAME.so to whatever it names. */
static int refuse_la(const char *path, const struct place *place)
{
	char la[PATH_MAX];
	snprintf(la, sizeof(la), "%s", path);
	char *ending = strrchr(la, '.');
	if (ending)
		strcpy(ending, ".la");
	if (access(la, F_OK) == 0)
		return fail(place, "'%s' stands beside the module and could redirect it: remove it", la);
	return 0;
}

/* A file cut short, by a full disk, say, would end the process with SIGBUS: the linker maps what is not there. */
static int refuse_cut(const char *path, const struct place *place)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	Elf64_Ehdr head;
	if (fd < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode) ||
	    pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return 0; /* the linker will say what is wrong */
	uint64_t size = (uint64_t)about.st_size, table = (uint64_t)head.e_shnum * head.e_shentsize;
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || (head.e_shoff <= size && table <= size - head.e_shoff))
		return 0;
	return fail(place, "'%s' is cut short: its section headers, which end it, are missing", path);
}

/*
 * libltdl binds lazily, so that an undefined function would end Assay in the middle of a run, and says "file not found"
 * whatever went wrong. So the dynamic linker is asked first: it binds everything now and names the reason. Neither
 * handle is ever closed: unloading would break thread-local destructors, atexit handlers and static strings.
 */
static int open_module(const char *path, lt_dlhandle *ret, const struct place *place)
{
	const char *reason = NULL;
	if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
		reason = dlerror();
	else if (!(*ret = lt_dlopen(path)))
		reason = lt_dlerror();
	else
		return 0;
	return fail(place, "cannot load '%s': %s", path, reason ? reason : "unknown reason");
}

int loader_open(const char *path, const char *module, enum assay_kind kind, const char *where_file, uint32_t where_line,
                const struct assay_plugin **ret, struct assay_error *err)
{
	const struct place place = {.file = where_file, .line = where_line, .err = err};
	static bool is_ready;
	if (!is_identifier(module))
		return fail(&place, "the module's name '%.60s' must be a C identifier", module);
	if (!is_ready && lt_dlinit())
		return error_set(err, ASSAY_INTERNAL, 0, "libltdl cannot be set up: %s", lt_dlerror());
	is_ready = true;
	int status = refuse_la(path, &place);
	if (status == 0)
		status = refuse_cut(path, &place);
	if (status)
		return status;
	lt_dlhandle handle = NULL;
	status = open_module(path, &handle, &place);
	if (status)
		return status;
	char symbol[NAME_MAX + sizeof("_LTX_assay_plugin")];
	snprintf(symbol, sizeof(symbol), "%s_LTX_assay_plugin", module);
	assay_plugin_fn entry = NULL;
	void *address = lt_dlsym(handle, symbol);
	if (!address)
		return fail(&place, "'%s' does not export '%s'; make it with ASSAY_PLUGIN(%s, ...) of <assay/plugin.h>",
		            path, symbol, module);
	memcpy(&entry, &address, sizeof(entry)); /* ISO C has no cast from an object to a function */
	const struct assay_plugin *plugin = entry();
	status = check_plugin(plugin, module, kind, &place);
	if (status == 0)
		*ret = plugin;
	return status;
}
