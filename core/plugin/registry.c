/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/registry.h"
#include "base/error.h"
#include "base/str.h"
#include "plugin/loader.h"
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

struct registry {
	struct arena *arena;
	const char **roots; /* absolute, each once */
	struct plugin *plugins;
	size_t count, room;
};

static const enum assay_kind kinds[] = {ASSAY_KIND_LANGUAGE, ASSAY_KIND_ISOLATION, ASSAY_KIND_DATASET};

/* -- toolchains -- */

static bool is_program(const char *path)
{
	struct stat about;
	return access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool toolchain_has(const char *program_path, const char *name)
{
	if (name[0] == '/')
		return is_program(name);
	struct assay_str rest = str_of(program_path), folder;
	while (str_cut(&rest, ':', &folder)) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%.*s/%s", STR_ARG(folder), name);
		if (is_program(path))
			return true;
	}
	return false;
}

static void add_missing(struct buffer *out, const struct assay_node *need, struct assay_str subject)
{
	struct assay_str text;
	buffer_printf(out, "%s%.*s", out->len ? ", " : "", STR_ARG(subject));
	if (node_str(node_get(need, "package"), &text, NULL) == 0)
		buffer_printf(out, " (apt-get install %.*s)", STR_ARG(text));
	else if (node_str(node_get(need, "hint"), &text, NULL) == 0)
		buffer_printf(out, " (%.*s)", STR_ARG(text));
}

static void find_missing(struct arena *arena, struct plugin *plugin, const char *program_path)
{
	auto_buffer struct buffer missing = {0};
	const struct assay_node *programs = node_get(plugin->descriptor.needs, "programs");
	const struct assay_node *files = node_get(plugin->descriptor.needs, "files");
	struct assay_str subject;
	for (size_t i = 0; i < node_count(programs); i++)
		if (node_str(node_get(node_at(programs, i), "name"), &subject, NULL) == 0 &&
		    !toolchain_has(program_path, subject.ptr))
			add_missing(&missing, node_at(programs, i), subject);
	for (size_t i = 0; i < node_count(files); i++)
		if (node_str(node_get(node_at(files, i), "path"), &subject, NULL) == 0 && access(subject.ptr, R_OK))
			add_missing(&missing, node_at(files, i), subject);
	plugin->missing = arena_copy(arena, buffer_str(&missing));
}

int plugin_require_toolchain(const struct plugin *plugin, struct assay_error *err)
{
	if (plugin->missing.len == 0)
		return 0;
	return error_set(err, ASSAY_MISSING, 0, "%s '%s' lacks its toolchain on this host: %.*s",
	                 descriptor_kind_name(plugin->kind), plugin->name, STR_ARG(plugin->missing));
}

/* -- modules -- */

/* The module lies in the plugin's own folder, or in the folder of its name below any root. Told: where it was sought.
 */
static const char *find_module(struct arena *arena, const char *const *roots, const struct descriptor *descriptor,
                               struct buffer *sought)
{
	const char *kind_folder = descriptor_kind_folder(descriptor->kind), *module = descriptor->module.ptr;
	const char *path = arena_printf(arena, "%s/%s.so", descriptor->folder, module).ptr;
	while (access(path, F_OK)) {
		buffer_printf(sought, "%s'%s'", sought->len ? ", " : "", path);
		if (!*roots)
			return NULL;
		path = arena_printf(arena, "%s/%s/%s/%s.so", *roots++, kind_folder, module, module).ptr;
	}
	return path;
}

static int load_module(struct arena *arena, const char *const *roots, struct plugin *plugin, struct assay_error *err)
{
	const struct descriptor *descriptor = &plugin->descriptor;
	const struct assay_node *where = node_get(descriptor->root, "module");
	auto_buffer struct buffer sought = {0};
	if (!where)
		where = descriptor->root;
	plugin->module_path = find_module(arena, roots, descriptor, &sought);
	if (!plugin->module_path)
		return node_error(err, where, "there is no module '%.*s'; it was sought as %s",
		                  STR_ARG(descriptor->module), sought.data);
	return loader_open(plugin->module_path, descriptor->module.ptr, descriptor->kind, where->file, where->line,
	                   &plugin->module, err);
}

/* -- discovery -- */

static bool has_name(const struct plugin *plugin, struct assay_str name)
{
	if (str_is(name, plugin->name))
		return true;
	for (size_t i = 0; i < node_count(plugin->descriptor.aliases); i++) {
		struct assay_str alias;
		if (node_str(node_at(plugin->descriptor.aliases, i), &alias, NULL) == 0 && str_equal(alias, name))
			return true;
	}
	return false;
}

static const struct plugin *find_named(const struct registry *registry, enum assay_kind kind, struct assay_str name)
{
	for (size_t i = 0; i < registry->count; i++)
		if (registry->plugins[i].kind == kind && has_name(&registry->plugins[i], name))
			return &registry->plugins[i];
	return NULL;
}

/* A name or alias that an earlier plugin has makes the later one unusable. */
static int check_clash(const struct registry *registry, const struct plugin *plugin, struct assay_error *err)
{
	const struct descriptor *descriptor = &plugin->descriptor;
	const struct plugin *other = find_named(registry, plugin->kind, descriptor->name);
	const struct assay_node *where = node_get(descriptor->root, "name");
	struct assay_str name = descriptor->name;
	for (size_t i = 0; !other && i < node_count(descriptor->aliases); i++) {
		where = node_at(descriptor->aliases, i);
		if (node_str(where, &name, NULL) == 0)
			other = find_named(registry, plugin->kind, name);
	}
	if (!other)
		return 0;
	return node_error(err, where, "the name '%.*s' is taken by the plugin in '%s'", STR_ARG(name),
	                  other->descriptor.folder);
}

static void add_plugin(struct registry *registry, enum assay_kind kind, const char *kind_path, const char *name,
                       const char *program_path)
{
	struct arena *arena = registry->arena;
	struct plugin plugin = {.kind = kind, .name = arena_copy(arena, str_of(name)).ptr};
	const char *folder = arena_printf(arena, "%s/%s", kind_path, name).ptr;
	struct assay_error *problem = &plugin.problem;
	if (descriptor_read(arena, folder, &plugin.descriptor, problem)) {
		plugin.descriptor.folder = folder;
	} else if (plugin.descriptor.kind != kind) {
		node_error(problem, node_get(plugin.descriptor.root, "kind"),
		           "a plugin of kind '%s' belongs into the folder '%s'",
		           descriptor_kind_name(plugin.descriptor.kind),
		           descriptor_kind_folder(plugin.descriptor.kind));
	} else if (check_clash(registry, &plugin, problem) == 0) {
		find_missing(arena, &plugin, program_path);
		load_module(arena, registry->roots, &plugin, problem);
	}
	if (registry->count == registry->room) {
		registry->room = 2 * registry->room + 16;
		registry->plugins = xrealloc(registry->plugins, registry->room * sizeof(*registry->plugins));
	}
	registry->plugins[registry->count++] = plugin;
}

static void scan_kind(struct registry *registry, const char *root, enum assay_kind kind, const char *program_path)
{
	struct dirent **entries;
	const char *path = arena_printf(registry->arena, "%s/%s", root, descriptor_kind_folder(kind)).ptr;
	int count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char descriptor[PATH_MAX];
		snprintf(descriptor, sizeof(descriptor), "%s/%s/" DESCRIPTOR_FILE, path, name);
		/* A folder without a descriptor holds a module for others. */
		if (name[0] != '.' && access(descriptor, F_OK) == 0)
			add_plugin(registry, kind, path, name, program_path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* A root named twice, by an option and by the environment, say, is no clash with itself: it is kept once. */
static int resolve_roots(struct arena *arena, const char *const *roots, const char ***ret, struct assay_error *err)
{
	size_t total = 0, count = 0;
	while (roots[total])
		total++;
	const char **absolute = arena_array(arena, total + 1, sizeof(*absolute));
	for (size_t i = 0; i < total; i++) {
		auto_free char *path = realpath(roots[i], NULL);
		if (!path)
			return error_set(err, ASSAY_INVALID, errno, "the plugin path '%s'", roots[i]);
		size_t same = 0;
		while (same < count && strcmp(absolute[same], path))
			same++;
		if (same == count)
			absolute[count++] = arena_copy(arena, str_of(path)).ptr;
	}
	*ret = absolute;
	return 0;
}

int registry_open(const char *const *roots, const char *program_path, struct registry **ret, struct assay_error *err)
{
	struct registry *registry = xmalloc(sizeof(*registry));
	registry->arena = arena_new();
	int status = resolve_roots(registry->arena, roots, &registry->roots, err);
	if (status) {
		registry_close(registry);
		return status;
	}
	for (size_t i = 0; registry->roots[i]; i++)
		for (size_t k = 0; k < COUNT_OF(kinds); k++)
			scan_kind(registry, registry->roots[i], kinds[k], program_path);
	*ret = registry;
	return 0;
}

void registry_close(struct registry *registry)
{
	if (!registry)
		return;
	arena_free(registry->arena);
	free(registry->plugins);
	free(registry);
}

int registry_read_plugin(struct arena *arena, const char *folder, const char *const *roots, struct plugin *ret,
                         struct assay_error *err)
{
	memset(ret, 0, sizeof(*ret));
	const char **absolute;
	int status = resolve_roots(arena, roots, &absolute, err);
	if (status == 0)
		status = descriptor_read(arena, folder, &ret->descriptor, err);
	if (status)
		return status;
	ret->kind = ret->descriptor.kind;
	ret->name = ret->descriptor.name.ptr;
	load_module(arena, absolute, ret, &ret->problem);
	return 0;
}

size_t registry_count(const struct registry *registry)
{
	return registry->count;
}

const struct plugin *registry_at(const struct registry *registry, size_t index)
{
	return &registry->plugins[index];
}

static int unknown_name(const struct registry *registry, enum assay_kind kind, struct assay_str name,
                        struct assay_error *err)
{
	const char **names = xmalloc((registry->count + 1) * sizeof(*names));
	size_t count = 0;
	auto_buffer struct buffer list = {0};
	for (size_t i = 0; i < registry->count; i++) {
		if (registry->plugins[i].kind != kind)
			continue;
		names[count++] = registry->plugins[i].name;
		buffer_printf(&list, "%s%s", list.len ? ", " : "", registry->plugins[i].name);
	}
	const char *near = str_nearest(name, names);
	const char *what = descriptor_kind_name(kind);
	free(names);
	if (near)
		return error_set(err, ASSAY_INVALID, 0, "there is no %s '%.*s'; did you mean '%s'?", what,
		                 STR_ARG(str_slice(name, 0, 60)), near);
	return error_set(err, ASSAY_INVALID, 0, "there is no %s '%.*s'; there are: %s", what,
	                 STR_ARG(str_slice(name, 0, 60)), list.len ? list.data : "none");
}

int registry_find(const struct registry *registry, enum assay_kind kind, struct assay_str name,
                  const struct plugin **ret, struct assay_error *err)
{
	const struct plugin *plugin = find_named(registry, kind, name);
	if (!plugin)
		return unknown_name(registry, kind, name, err);
	if (plugin->problem.status) {
		if (err)
			*err = plugin->problem;
		return plugin->problem.status;
	}
	*ret = plugin;
	return 0;
}
