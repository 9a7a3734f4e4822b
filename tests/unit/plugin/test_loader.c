/* SPDX-License-Identifier: Apache-2.0 */
/* The loader: what it refuses, and that each refusal says what is wrong and where it was asked for. */
#include "support.h"
#include "plugin/loader.h"

static int open_module(struct folder *folder, const char *path, const char *module, const struct assay_plugin **ret,
                       struct assay_error *err)
{
	(void)folder;
	return loader_open(path, module, ASSAY_KIND_LANGUAGE, "plugin.yaml", 7, ret, err);
}

static int open_broken(struct folder *folder, const char *name, const struct assay_plugin **ret,
                       struct assay_error *err)
{
	const char *path = arena_printf(folder->arena, "tests/plugins-broken/languages/%s/%s.so", name, name).ptr;
	return open_module(folder, build_path(folder->arena, path), name, ret, err);
}

static void test_sound_modules_load(void **state)
{
	struct folder *folder = *state;
	const struct assay_plugin *plugin = NULL, *again = NULL;
	assert_int_equal(open_broken(folder, "sound", &plugin, NULL), 0);
	assert_string_equal(plugin->name, "sound");
	assert_int_equal(open_broken(folder, "sound", &again, NULL), 0);
	assert_ptr_equal(plugin, again);
	assert_int_equal(open_broken(folder, "other_minor", &plugin, NULL), 0);
	assert_int_equal(plugin->abi_minor, 7);
	/* Which symbols there are besides is the contract's business, not the loader's. */
	assert_int_equal(open_broken(folder, "two_symbols", &plugin, NULL), 0);
}

static void test_broken_modules_are_refused(void **state)
{
	static const struct {
		const char *name, *words[3];
	} rows[] = {
	    {"other_major", {"'other_major'", "ABI 2.0", "has 1.0"}},
	    {"bad_magic", {"no Assay plugin", "magic"}},
	    {"short_table", {"12 bytes", "ABI 1.0"}},
	    {"other_kind", {"of kind 3", "not language"}},
	    {"other_name", {"'other_name'", "calls itself 'sound'"}},
	    {"no_name", {"'no_name'", "calls itself ''"}},
	    {"no_version", {"no version"}},
	    {"no_ops", {"lacks the language op 'create'"}},
	    {"short_ops", {"lacks the language op 'plan'"}},
	    {"null_op", {"lacks the language op 'plan'"}},
	    {"no_symbol", {"no_symbol.so", "'no_symbol_LTX_assay_plugin'", "ASSAY_PLUGIN(no_symbol, ...)"}},
	    {"no_library", {"no_library.so", "libassay_deleted.so.1: cannot open shared object file"}},
	    {"undefined_symbol", {"undefined_symbol.so", "undefined symbol: nobody_defines_this"}},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct assay_plugin *plugin = NULL;
		struct assay_error err = {0};
		assert_int_equal(open_broken(*state, rows[i].name, &plugin, &err), ASSAY_INVALID);
		assert_null(plugin);
		assert_string_equal(err.file, "plugin.yaml");
		assert_int_equal(err.line, 7);
		for (size_t w = 0; w < 3 && rows[i].words[w]; w++)
			assert_holds(err.message, rows[i].words[w]);
		assert_int_equal(open_broken(*state, rows[i].name, &plugin, NULL), ASSAY_INVALID);
	}
}

static void test_files_that_are_no_modules(void **state)
{
	struct folder *folder = *state;
	static const char text[] = "no shared object at all";
	const struct assay_plugin *plugin = NULL;
	struct assay_error err = {0};
	const char *path = folder_write(folder, "plain.so", STR(text));
	assert_int_equal(open_module(folder, path, "plain", &plugin, &err), ASSAY_INVALID);
	assert_holds(err.message, "plain.so");
	path = folder_write(folder, "empty.so", STR(""));
	assert_int_equal(open_module(folder, path, "empty", &plugin, &err), ASSAY_INVALID);
	path = folder_path(folder, "absent.so");
	assert_int_equal(open_module(folder, path, "absent", &plugin, &err), ASSAY_INVALID);
	assert_holds(err.message, "No such file");
	assert_int_equal(open_module(folder, folder->path, "folder", &plugin, &err), ASSAY_INVALID);
	assert_null(plugin);
}

/* A module cut short in the middle, as by a full disk. */
static void test_cut_module(void **state)
{
	struct folder *folder = *state;
	auto_buffer struct buffer file = {0};
	const struct assay_plugin *plugin = NULL;
	struct assay_error err = {0};
	const char *sound = build_path(folder->arena, "tests/plugins-broken/languages/sound/sound.so");
	assert_int_equal(file_read(sound, 16 << 20, &file, NULL), 0);
	for (size_t len = 0; len < file.len; len += 1 + file.len / 50) {
		const char *path = folder_write(folder, "sound.so", (struct assay_str){file.data, len});
		assert_int_equal(open_module(folder, path, "sound", &plugin, &err), ASSAY_INVALID);
		assert_null(plugin);
	}
	assert_holds(err.message, "cut short");
}

static void test_names_that_are_no_identifiers(void **state)
{
	char longest[400];
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	const char *const names[] = {"", "c++", "9lives", "../sound", "a b", "so\nund", "na\xc3\xafve", longest};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const struct assay_plugin *plugin = NULL;
		struct assay_error err = {0};
		assert_int_equal(open_broken(*state, names[i], &plugin, &err), ASSAY_INVALID);
		assert_holds(err.message, "must be a C identifier");
	}
}

/* libltdl would follow the .la file to the object it names. */
static void test_libtool_archives_are_refused(void **state)
{
	struct folder *folder = *state;
	auto_buffer struct buffer file = {0};
	const struct assay_plugin *plugin = NULL;
	struct assay_error err = {0};
	const char *sound = build_path(folder->arena, "tests/plugins-broken/languages/sound/sound.so");
	assert_int_equal(file_read(sound, 16 << 20, &file, NULL), 0);
	const char *path = folder_write(folder, "sound.so", buffer_str(&file));
	folder_write(folder, "sound.la", STR("dlname='elsewhere.so'\nlibdir='/tmp'\n"));
	assert_int_equal(open_module(folder, path, "sound", &plugin, &err), ASSAY_INVALID);
	assert_holds(err.message, "sound.la' stands beside the module");
	unlink(folder_path(folder, "sound.la"));
	assert_int_equal(open_module(folder, path, "sound", &plugin, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_sound_modules_load),
	    test_in_folder(test_broken_modules_are_refused),
	    test_in_folder(test_files_that_are_no_modules),
	    test_in_folder(test_cut_module),
	    test_in_folder(test_names_that_are_no_identifiers),
	    test_in_folder(test_libtool_archives_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
