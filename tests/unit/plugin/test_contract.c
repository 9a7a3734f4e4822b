/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's test: sound plugins pass it, and every fault it is made for is reported as what it is. */
#include "support.h"
#include "plugin/contract.h"

struct reports {
	struct folder *folder;
	int passed, failed;
	const char *check; /* the first that failed */
	const char *detail;
};

static void collect(void *arg, const char *check, bool passed, const char *detail)
{
	struct reports *reports = arg;
	if (passed) {
		assert_string_equal(detail, "");
		reports->passed++;
		return;
	}
	assert_string_not_equal(detail, "");
	if (reports->failed++ == 0) {
		reports->check = arena_copy(reports->folder->arena, str_of(check)).ptr;
		reports->detail = arena_copy(reports->folder->arena, str_of(detail)).ptr;
	}
}

static struct reports check_folder(struct folder *folder, const char *path)
{
	struct reports reports = {.folder = folder, .check = "none", .detail = ""};
	const char *roots[] = {build_path(folder->arena, "lib/assay/plugins"),
	                       build_path(folder->arena, "tests/plugins-broken"), NULL};
	int failures = contract_check(path, roots, collect, &reports);
	assert_int_equal(failures, reports.failed);
	return reports;
}

static void test_the_projects_own(void **state)
{
	struct folder *folder = *state;
	static const char *const names[] = {"languages/python", "languages/c",    "languages/pytest",
	                                    "isolation/none",   "datasets/stdio", "datasets/humaneval"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *path = arena_printf(folder->arena, "lib/assay/plugins/%s", names[i]).ptr;
		struct reports reports = check_folder(folder, build_path(folder->arena, path));
		if (reports.failed)
			fail_msg("%s: %s: %s", names[i], reports.check, reports.detail);
		assert_true(reports.passed >= 5);
	}
}

static struct reports check_language(struct folder *folder, const char *name, const char *module, const char *more)
{
	const char *path = arena_printf(folder->arena, "languages/%s/plugin.yaml", name).ptr;
	folder_write(folder, path,
	             arena_printf(folder->arena,
	                          "assay: 1\nkind: language\nname: %s\nversion: 1\nsummary: x\nmodule: %s\n"
	                          "source: main.txt\nrun: {argv: [cat]}\n%s",
	                          name, module, more));
	return check_folder(folder, folder_path(folder, arena_printf(folder->arena, "languages/%s", name).ptr));
}

static void test_languages_with_faults(void **state)
{
	static const struct {
		const char *fault, *check, *detail;
	} rows[] = {
	    {"none", "none", ""},
	    {"leak", "no descriptor is leaked", "more are open"},
	    {"outside", "a source is planned", "not well-formed"},
	    {"setuid", "a source is planned", "not well-formed"},
	    {"empty", "a source is planned", "not well-formed"},
	    {"env", "a source is planned", "not well-formed"},
	    {"stepless", "a source is planned", "0 run steps"},
	    {"twice", "a source is planned", "2 run steps"},
	    {"deaf", "a refusal of the host is handed on", "went on"},
	    {"wordless", "a source is planned", "without saying why"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct folder *folder = *state;
		const char *more =
		    arena_printf(folder->arena, "options: {fault: {type: text, default: %s, help: h}}\n", rows[i].fault)
		        .ptr;
		struct reports reports = check_language(folder, "faulty", "faulty_language", more);
		assert_string_equal(reports.check, rows[i].check);
		assert_holds(reports.detail, rows[i].detail);
	}
}

static void test_modules_and_descriptors(void **state)
{
	struct folder *folder = *state;
	struct reports reports = check_language(folder, "lang", "two_symbols", "");
	assert_string_equal(reports.check, "the module exports one function");
	assert_holds(reports.detail, "a_second_symbol");
	reports = check_language(folder, "lang", "other_major", "");
	assert_holds(reports.check, "the module loaded");
	assert_holds(reports.detail, "lang/plugin.yaml:6");
	assert_holds(reports.detail, "ABI 2.0");
	reports = check_language(folder, "lang", "command", "colour: red\n");
	assert_holds(reports.detail, "plugin.yaml:9:");
	reports = check_folder(folder, folder_path(folder, "nowhere"));
	assert_holds(reports.detail, "nowhere");
	assert_int_equal(reports.failed, 1);
	assert_int_equal(check_folder(folder, "").failed, 1);
}

static void test_templates(void **state)
{
	static const struct {
		const char *more, *detail;
	} rows[] = {
	    {"env: {A: \"${source}${memory.mib}$$${none}$\"}\n", ""},
	    {"env: {A: \"${sauce}\"}\n", "plugin.yaml:9:10: nothing is named '${sauce}'"},
	    {"env: {A: \"${option.level}\"}\n", "nothing is named '${option.level}'"},
	    {"env: {A: \"${option.level}\"}\noptions: {level: {type: int, default: 1, help: h}}\n", ""},
	    {"env: {A: \"${option.}\"}\n", "nothing is named"},
	    {"env: {A: \"${}\"}\n", "nothing is named"},
	    {"build: {argv: [cc, \"-o${out\"]}\n", "plugin.yaml:9:20: '${' without its '}'"},
	    {"build: {argv: [cc], env: {X: \"${y}\"}}\n", "plugin.yaml:9:30: nothing is named '${y}'"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct reports reports = check_language(*state, "lang", "command", rows[i].more);
		assert_string_equal(reports.check, rows[i].detail[0] ? "an instance is made" : "none");
		assert_holds(reports.detail, rows[i].detail);
	}
}

static void test_command_needs_a_run(void **state)
{
	struct folder *folder = *state;
	folder_write(folder, "languages/lang/plugin.yaml",
	             STR("assay: 1\nkind: language\nname: lang\nversion: 1\nsummary: x\nsource: main.txt\n"));
	struct reports reports = check_folder(folder, folder_path(folder, "languages/lang"));
	assert_string_equal(reports.check, "an instance is made");
	assert_holds(reports.detail, "'run' is missing");
}

static struct reports check_dataset(struct folder *folder, const char *fault, const char *samples)
{
	folder_write(folder, "datasets/data/plugin.yaml",
	             arena_printf(folder->arena,
	                          "assay: 1\nkind: dataset\nname: data\nversion: 1\nsummary: x\n"
	                          "module: faulty_dataset\ncolumns: {id: [id], required: [prompt]}\n"
	                          "options: {fault: {type: text, default: %s, help: h}}\n",
	                          fault));
	folder_write(folder, "datasets/data/tests/good.jsonl", str_of(samples));
	return check_folder(folder, folder_path(folder, "datasets/data"));
}

#define SAMPLE "{\"row\": {\"prompt\": \"p\"}, \"completion\": \"c\", \"language\": \"python\"}\n"

static void test_datasets_with_faults(void **state)
{
	static const struct {
		const char *fault, *check, *detail;
	} rows[] = {
	    {"none", "none", ""},
	    {"lax", "a row without columns is an error", "accepted"},
	    {"promptless", "a row without columns is an error", "accepted"},
	    {"caseless", "sample", "0 tests and 0 rejections"},
	    {"generous", "sample", "an outcome it gave"},
	    {"silent", "sample", "no outcome"},
	    {"twice", "sample", "more than one"},
	    {"unheard", "sample", "an outcome it gave"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct reports reports = check_dataset(*state, rows[i].fault, SAMPLE);
		assert_holds(reports.check, rows[i].check);
		assert_holds(reports.detail, rows[i].detail);
	}
}

static void test_samples(void **state)
{
	struct folder *folder = *state;
	struct reports reports = check_dataset(folder, "none", SAMPLE "{\"row\": {}}\n");
	assert_holds(reports.check, "good.jsonl:2");
	reports = check_dataset(folder, "none", "not json\n");
	assert_holds(reports.check, "good.jsonl:1");
	reports = check_dataset(folder, "none", "\x1f\x8b\x08 cut gzip");
	assert_string_equal(reports.check, "its samples are read");
	reports = check_dataset(folder, "none", "");
	assert_int_equal(reports.failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_the_projects_own),
	    test_in_folder(test_languages_with_faults),
	    test_in_folder(test_modules_and_descriptors),
	    test_in_folder(test_templates),
	    test_in_folder(test_command_needs_a_run),
	    test_in_folder(test_datasets_with_faults),
	    test_in_folder(test_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
