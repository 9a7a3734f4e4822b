/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery: order, clashes, broken plugins beside sound ones, toolchains, and what find() answers. */
#include "support.h"
#include "plugin/registry.h"
#include <sys/stat.h>

#define PROGRAMS "/usr/local/bin:/usr/bin:/bin"

static void write_language(struct folder *folder, const char *root, const char *name, const char *more)
{
	const char *path = arena_printf(folder->arena, "%s/languages/%s/plugin.yaml", root, name).ptr;
	folder_write(folder, path,
	             arena_printf(folder->arena,
	                          "assay: 1\nkind: language\nname: %s\nversion: 1\nsummary: x\nsource: main.txt\n"
	                          "run: {argv: [cat]}\n%s",
	                          name, more));
}

/* The folder's roots, and the build's for the modules. */
static struct registry *open_roots(struct folder *folder, const char *first, const char *second)
{
	const char *roots[4] = {folder_path(folder, first)};
	struct registry *registry = NULL;
	struct assay_error err = {0};
	size_t count = 1;
	if (second)
		roots[count++] = folder_path(folder, second);
	roots[count] = build_path(folder->arena, "lib/assay/plugins");
	if (registry_open(roots, PROGRAMS, &registry, &err))
		fail_msg("%s", err.message);
	return registry;
}

static const struct plugin *find(const struct registry *registry, const char *name)
{
	const struct plugin *plugin;
	struct assay_error err = {0};
	if (registry_find(registry, ASSAY_KIND_LANGUAGE, str_of(name), &plugin, &err))
		fail_msg("%s", err.message);
	return plugin;
}

static void test_the_projects_own(void **state)
{
	struct folder *folder = *state;
	const char *roots[] = {build_path(folder->arena, "lib/assay/plugins"), NULL};
	struct registry *registry;
	assert_int_equal(registry_open(roots, PROGRAMS, &registry, NULL), 0);
	assert_true(registry_count(registry) >= 8);
	for (size_t i = 0; i < registry_count(registry); i++) {
		const struct plugin *plugin = registry_at(registry, i);
		if (plugin->problem.status)
			fail_msg("%s: %s", plugin->name, plugin->problem.message);
		assert_non_null(plugin->module);
		assert_int_equal(plugin->module_path[0], '/');
		/* `command` is a module without a descriptor, and so no language. */
		assert_string_not_equal(plugin->name, "command");
	}
	registry_close(registry);
	registry_close(NULL);
}

static void test_order_and_names(void **state)
{
	struct folder *folder = *state;
	write_language(folder, "b", "zeta", "");
	write_language(folder, "b", "beta", "aliases: [bb]\n");
	write_language(folder, "a", "mu", "");
	folder_write(folder, "a/languages/.hidden/plugin.yaml", STR("not read"));
	folder_write(folder, "a/languages/empty/README.md", STR("no plugin"));
	folder_write(folder, "a/languages/plugin.yaml", STR("not a folder"));
	folder_write(folder, "a/oracles/x/plugin.yaml", STR("no such kind"));
	struct registry *registry = open_roots(folder, "b", "a");
	assert_string_equal(registry_at(registry, 0)->name, "beta");
	assert_string_equal(registry_at(registry, 1)->name, "zeta");
	assert_string_equal(registry_at(registry, 2)->name, "mu");
	assert_ptr_equal(find(registry, "bb"), registry_at(registry, 0));
	for (size_t i = 0; i < registry_count(registry); i++)
		assert_int_equal(registry_at(registry, i)->problem.status, 0);
	registry_close(registry);
}

static void test_clashes_are_the_later_ones_problem(void **state)
{
	struct folder *folder = *state;
	write_language(folder, "a", "one", "aliases: [uno]\n");
	write_language(folder, "b", "one", "");
	write_language(folder, "b", "two", "aliases:\n- zwei\n- uno\n");
	write_language(folder, "b", "uno", "");
	write_language(folder, "b", "three", "aliases: [one]\n");
	struct registry *registry = open_roots(folder, "a", "b");
	assert_int_equal(registry_at(registry, 0)->problem.status, 0);
	for (size_t i = 1; i <= 4; i++) {
		const struct assay_error *problem = &registry_at(registry, i)->problem;
		assert_int_equal(problem->status, ASSAY_INVALID);
		assert_holds(problem->message, "is taken by the plugin in");
		assert_holds(problem->message, folder_path(folder, "a/languages/one"));
	}
	assert_string_equal(registry_at(registry, 3)->name, "two");
	assert_int_equal(registry_at(registry, 3)->problem.line, 10); /* the alias itself */
	assert_ptr_equal(find(registry, "one"), registry_at(registry, 0));
	assert_ptr_equal(find(registry, "uno"), registry_at(registry, 0));
	registry_close(registry);
}

/* The same folder by two names is one root. */
static void test_a_root_named_twice(void **state)
{
	struct folder *folder = *state;
	write_language(folder, "a", "one", "");
	assert_int_equal(symlink("a", folder_path(folder, "link")), 0);
	const char *roots[] = {folder_path(folder, "a"), folder_path(folder, "link"), folder_path(folder, "a/../a/"),
	                       NULL};
	struct registry *registry;
	assert_int_equal(registry_open(roots, PROGRAMS, &registry, NULL), 0);
	assert_int_equal(registry_count(registry), 1);
	registry_close(registry);
}

static void test_broken_plugins_are_kept(void **state)
{
	struct folder *folder = *state;
	const struct plugin *plugin = NULL;
	struct assay_error err = {0};
	folder_write(folder, "a/languages/broken/plugin.yaml", STR("assay: 1\nkind: language\nname: [\n"));
	folder_write(folder, "a/languages/misplaced/plugin.yaml",
	             STR("assay: 1\nkind: isolation\nname: misplaced\nversion: 1\nsummary: x\n"));
	write_language(folder, "a", "moduleless", "module: nowhere\n");
	write_language(folder, "a", "sound", "");
	struct registry *registry = open_roots(folder, "a", NULL);
	assert_string_equal(registry_at(registry, 0)->name, "broken");
	assert_int_equal(registry_at(registry, 0)->kind, ASSAY_KIND_LANGUAGE);
	assert_string_equal(registry_at(registry, 0)->descriptor.folder, folder_path(folder, "a/languages/broken"));
	assert_true(registry_at(registry, 0)->problem.line >= 3);
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("broken"), &plugin, &err), ASSAY_INVALID);
	assert_holds(err.file, "broken/plugin.yaml");
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("misplaced"), &plugin, &err), ASSAY_INVALID);
	assert_holds(err.message, "belongs into the folder 'isolation'");
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("moduleless"), &plugin, &err), ASSAY_INVALID);
	assert_int_equal(err.line, 8);
	assert_holds(err.message, "no module 'nowhere'");
	assert_holds(err.message, folder_path(folder, "a/languages/moduleless/nowhere.so"));
	assert_holds(err.message, folder_path(folder, "a/languages/nowhere/nowhere.so"));
	assert_null(plugin);
	assert_string_equal(find(registry, "sound")->module->name, "command");
	registry_close(registry);
}

/* The loader's refusals point at `module:`, or at the descriptor where the module's name is the default. */
static void test_places_of_module_problems(void **state)
{
	struct folder *folder = *state;
	auto_buffer struct buffer file = {0};
	write_language(folder, "a", "old", "module: other_major\n");
	const char *broken = build_path(folder->arena, "tests/plugins-broken");
	const char *path = arena_printf(folder->arena, "%s/languages/other_major/other_major.so", broken).ptr;
	assert_int_equal(file_read(path, 16 << 20, &file, NULL), 0);
	folder_write(folder, "a/languages/command/command.so", buffer_str(&file));
	write_language(folder, "a", "defaulted", "");
	const char *roots[] = {folder_path(folder, "a"), broken, NULL};
	struct registry *registry;
	assert_int_equal(registry_open(roots, PROGRAMS, &registry, NULL), 0);
	const struct assay_error *problem = &registry_at(registry, 0)->problem; /* defaulted */
	assert_int_equal(problem->line, 1);
	assert_holds(problem->message, "command_LTX_assay_plugin");
	problem = &registry_at(registry, 1)->problem; /* old */
	assert_int_equal(problem->line, 8);
	assert_holds(problem->file, "old/plugin.yaml");
	assert_holds(problem->message, "ABI 2.0; this Assay has 1.0");
	registry_close(registry);
}

static void test_toolchains(void **state)
{
	struct folder *folder = *state;
	struct assay_error err = {0};
	const char *program = folder_write(folder, "bin/only-here", STR("#!/bin/sh\n"));
	folder_write(folder, "bin/not-executable", STR("#!/bin/sh\n"));
	assert_int_equal(chmod(program, 0755), 0);
	assert_int_equal(mkdir(folder_path(folder, "bin/a-folder"), 0755), 0);
	const char *bin = folder_path(folder, "bin");
	assert_true(toolchain_has(bin, "only-here"));
	assert_true(toolchain_has(arena_printf(folder->arena, ":/nowhere:%s", bin).ptr, "only-here"));
	assert_true(toolchain_has("", program));
	assert_false(toolchain_has(bin, "not-executable"));
	assert_false(toolchain_has(bin, "a-folder"));
	assert_false(toolchain_has(bin, "absent"));
	assert_false(toolchain_has("", "only-here"));
	assert_false(toolchain_has(bin, folder_path(folder, "bin/absent")));

	write_language(folder, "a", "complete", "requires: {programs: [{name: only-here, package: p}]}\n");
	write_language(
	    folder, "a", "lacking",
	    "requires:\n  programs: [{name: g--, package: g--12}, {name: h, hint: see the manual}]\n"
	    "  files: [{path: /nowhere/module.py, package: python3-module}, {path: /dev/null, package: x}]\n");
	const char *roots[] = {folder_path(folder, "a"), build_path(folder->arena, "lib/assay/plugins"), NULL};
	struct registry *registry;
	assert_int_equal(registry_open(roots, bin, &registry, NULL), 0);
	assert_int_equal(find(registry, "complete")->missing.len, 0);
	assert_int_equal(plugin_require_toolchain(find(registry, "complete"), &err), 0);
	const struct plugin *lacking = find(registry, "lacking");
	assert_string_equal(lacking->missing.ptr, "g-- (apt-get install g--12), h (see the manual), "
	                                          "/nowhere/module.py (apt-get install python3-module)");
	assert_int_equal(plugin_require_toolchain(lacking, &err), ASSAY_MISSING);
	assert_holds(err.message, "apt-get install g--12");
	registry_close(registry);
}

static void test_find(void **state)
{
	struct folder *folder = *state;
	const struct plugin *plugin = NULL;
	struct assay_error err = {0};
	char long_name[3000];
	memset(long_name, 'x', sizeof(long_name));
	struct registry *registry = open_roots(folder, ".", NULL);
	assert_string_equal(find(registry, "c++")->name, "cpp");
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("pyhton"), &plugin, &err), ASSAY_INVALID);
	assert_holds(err.message, "there is no language 'pyhton'; did you mean 'python'?");
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("cobol-2014"), &plugin, &err), ASSAY_INVALID);
	assert_holds(err.message, "there are: bash, c, cpp");
	assert_int_equal(registry_find(registry, ASSAY_KIND_ISOLATION, STR("python"), &plugin, &err), ASSAY_INVALID);
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("command"), &plugin, &err), ASSAY_INVALID);
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR(""), &plugin, &err), ASSAY_INVALID);
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, STR("python\0x"), &plugin, &err), ASSAY_INVALID);
	assert_int_equal(registry_find(registry, ASSAY_KIND_LANGUAGE, (struct assay_str){long_name, sizeof(long_name)},
	                               &plugin, NULL),
	                 ASSAY_INVALID);
	assert_null(plugin);
	registry_close(registry);
}

static void test_roots(void **state)
{
	struct folder *folder = *state;
	const char *absent[] = {folder_path(folder, "absent"), NULL}, *none[] = {NULL};
	struct registry *registry = NULL;
	struct assay_error err = {0};
	assert_int_equal(registry_open(absent, PROGRAMS, &registry, &err), ASSAY_INVALID);
	assert_holds(err.message, "absent");
	assert_int_equal(err.sys_errno, ENOENT);
	assert_null(registry);
	assert_int_equal(registry_open(none, PROGRAMS, &registry, &err), 0);
	assert_int_equal(registry_count(registry), 0);
	registry_close(registry);
}

/* A root relative to the working folder: modules are opened by absolute paths all the same. */
static void test_relative_root(void **state)
{
	struct folder *folder = *state;
	char before[PATH_MAX];
	struct registry *registry;
	const char *roots[] = {"plugins", NULL};
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(build_path(folder->arena, "lib/assay")), 0);
	assert_int_equal(registry_open(roots, PROGRAMS, &registry, NULL), 0);
	assert_int_equal(chdir(before), 0);
	const struct plugin *plugin = find(registry, "python");
	assert_int_equal(plugin->module_path[0], '/');
	assert_int_equal(plugin->descriptor.folder[0], '/');
	registry_close(registry);
}

static void test_one_plugin(void **state)
{
	struct folder *folder = *state;
	struct plugin plugin;
	struct assay_error err = {0};
	const char *roots[] = {build_path(folder->arena, "lib/assay/plugins"), NULL};
	write_language(folder, "a", "one", "");
	write_language(folder, "a", "two", "module: nowhere\n");
	assert_int_equal(
	    registry_read_plugin(folder->arena, folder_path(folder, "a/languages/one"), roots, &plugin, &err), 0);
	assert_int_equal(plugin.problem.status, 0);
	assert_string_equal(plugin.name, "one");
	assert_non_null(plugin.module);
	assert_int_equal(
	    registry_read_plugin(folder->arena, folder_path(folder, "a/languages/two"), roots, &plugin, &err), 0);
	assert_int_equal(plugin.problem.status, ASSAY_INVALID);
	assert_true(registry_read_plugin(folder->arena, folder_path(folder, "a"), roots, &plugin, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_the_projects_own),
	    test_in_folder(test_order_and_names),
	    test_in_folder(test_clashes_are_the_later_ones_problem),
	    test_in_folder(test_a_root_named_twice),
	    test_in_folder(test_broken_plugins_are_kept),
	    test_in_folder(test_places_of_module_problems),
	    test_in_folder(test_toolchains),
	    test_in_folder(test_find),
	    test_in_folder(test_roots),
	    test_in_folder(test_relative_root),
	    test_in_folder(test_one_plugin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
