/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.yaml: what is read, what is refused and where the refusal points; options and their types. */
#include "support.h"
#include "data/yaml.h"
#include "plugin/descriptor.h"

/* A sound language but for the lines under test. */
#define HEAD "assay: 1\nkind: language\nname: lang\nversion: 1.2.3\nsummary: a language\n"
#define TAIL "source: main.txt\nrun: {argv: [cat, \"${source}\"]}\n"

static int read_text(struct folder *folder, const char *text, struct descriptor *ret, struct assay_error *err)
{
	folder_write(folder, "lang/plugin.yaml", str_of(text));
	return descriptor_read(folder->arena, folder_path(folder, "lang"), ret, err);
}

static void test_language(void **state)
{
	struct descriptor d;
	assert_int_equal(read_text(*state, HEAD "aliases: [l, ll]\nlimits: {build: {cpu: 30s}}\n" TAIL, &d, NULL), 0);
	assert_int_equal(d.kind, ASSAY_KIND_LANGUAGE);
	assert_true(str_is(d.name, "lang"));
	assert_true(str_is(d.version, "1.2.3"));
	assert_true(str_is(d.module, "command"));
	assert_int_equal(node_count(d.aliases), 2);
	assert_null(d.options);
	assert_non_null(d.limits);
	assert_string_equal(d.folder, folder_path(*state, "lang"));
	assert_int_equal(read_text(*state, HEAD "module: own\n" TAIL, &d, NULL), 0);
	assert_true(str_is(d.module, "own"));
}

static void test_other_kinds(void **state)
{
	struct descriptor d;
	static const char isolation[] = "assay: 1\nkind: isolation\nname: lang\nversion: 1\nsummary: x\n";
	static const char dataset[] = "assay: 1\nkind: dataset\nname: lang\nversion: 1\nsummary: x\n"
	                              "columns: {id: [task_id], required: [prompt]}\n";
	assert_int_equal(read_text(*state, isolation, &d, NULL), 0);
	assert_int_equal(d.kind, ASSAY_KIND_ISOLATION);
	assert_true(str_is(d.module, "lang"));
	assert_int_equal(read_text(*state, dataset, &d, NULL), 0);
	assert_int_equal(d.kind, ASSAY_KIND_DATASET);
	assert_non_null(d.columns);
}

static void test_refusals_name_their_place(void **state)
{
	static const struct {
		const char *text, *words;
		uint32_t line;
	} rows[] = {
	    {"kind: language\n", "assay: 1", 1},
	    {"assay: 1\n", "kind: language", 1},
	    {"assay: 2\nkind: language\n", "format 1", 1},
	    {"assay: one\nkind: language\n", "", 1},
	    {"assay: 1\nkind: langauge\n", "did you mean 'language'", 2},
	    {"assay: 1\nkind: oracle\n", "there are language, isolation and dataset", 2},
	    {"assay: 1\nkind: [language]\n", "", 2},
	    {"[assay]", "", 1},
	    {"", "", 1},
	    {"assay: 1\nkind: datasets\nname: lang\nversion: 1\nsummary: x\n", "dataset", 2},
	    {HEAD, "source", 1},
	    {HEAD TAIL "sauce: x\n", "did you mean 'source'", 8},
	    {HEAD TAIL "columns: {id: [a], required: [b]}\n", "columns", 8},
	    {"assay: 1\nkind: language\nname: tongue\nversion: 1\nsummary: x\n" TAIL, "must equal the folder's, 'lang'",
	     3},
	    {HEAD "source: ../main.txt\nrun: {argv: [cat]}\n", "'../main.txt'", 6},
	    {HEAD "source: /etc/passwd\nrun: {argv: [cat]}\n", "relative", 6},
	    {HEAD "source: ''\nrun: {argv: [cat]}\n", "", 6},
	    {HEAD "source: main.txt\nrun: {argv: []}\n", "must name a command", 7},
	    {HEAD "source: main.txt\nrun: {argv: [[cat]]}\n", "", 7},
	    {HEAD "source: main.txt\nrun: {argv: cat}\n", "", 7},
	    {HEAD "source: main.txt\nrun: {argw: [cat]}\n", "did you mean 'argv'", 7},
	    {HEAD TAIL "build: {env: {}}\n", "argv", 8},
	    {HEAD TAIL "env: {\"A=B\": c}\n", "environment variable", 8},
	    {HEAD TAIL "env: {A: [c]}\n", "", 8},
	    {HEAD TAIL "env: {A: c, A: d}\n", "", 8},
	    {HEAD TAIL "limits: {build: {wall: 30}}\n", "", 8},
	    {HEAD TAIL "limits: {built: {wall: 30s}}\n", "did you mean 'build'", 8},
	    {HEAD TAIL "aliases: {a: b}\n", "", 8},
	    {HEAD TAIL "aliases: [[a]]\n", "", 8},
	    {HEAD TAIL "requires: {programs: [{name: gcc}]}\n", "say how to get it", 8},
	    {HEAD TAIL "requires: {programs: [{path: /x, package: x}]}\n", "", 8},
	    {HEAD TAIL "requires: {files: [{name: /x, package: x}]}\n", "", 8},
	    {HEAD TAIL "requires: {programs: [gcc]}\n", "", 8},
	    {HEAD TAIL "options: {o: {type: number, default: 1, help: h}}\n", "", 8},
	    {HEAD TAIL "options: {o: {type: int, default: many, help: h}}\n", "", 8},
	    {HEAD TAIL "options: {o: {type: int, help: h}}\n", "default", 8},
	    {HEAD TAIL "options: {o: {type: int, default: 1}}\n", "help", 8},
	    {HEAD TAIL "options: {o: {type: enum, of: [a, b], default: c, help: h}}\n", "the choices are a, b", 8},
	    {HEAD TAIL "options: {o: {type: enum, default: c, help: h}}\n", "none", 8},
	    {HEAD TAIL "options: {o: {type: bool, default: \"true\", help: h}}\n", "", 8},
	    {HEAD TAIL "options: {o: 3}\n", "", 8},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct descriptor d = {.kind = 77};
		struct assay_error err = {0};
		char text[ERROR_TEXT_MAX];
		if (read_text(*state, rows[i].text, &d, &err) != ASSAY_INVALID)
			fail_msg("accepted:\n%s", rows[i].text);
		error_format(&err, text, sizeof(text));
		assert_holds(text, "lang/plugin.yaml");
		assert_holds(text, rows[i].words);
		if (err.line != rows[i].line)
			fail_msg("line %u, not %u, for '%s':\n%s", err.line, rows[i].line, text, rows[i].text);
		assert_int_equal(d.kind, 77);
	}
}

static void test_dataset_columns(void **state)
{
	static const char *const columns[] = {"",
	                                      "columns: {id: [a]}\n",
	                                      "columns: {required: [a]}\n",
	                                      "columns: {id: [], required: [a]}\n",
	                                      "columns: {id: [a], required: []}\n",
	                                      "columns: {id: a, required: [a]}\n",
	                                      "columns: {id: [{}], required: [a]}\n"};
	for (size_t i = 0; i < COUNT_OF(columns); i++) {
		struct descriptor d;
		struct folder *folder = *state;
		const char *text =
		    arena_printf(folder->arena, "assay: 1\nkind: dataset\nname: lang\nversion: 1\nsummary: x\n%s",
		                 columns[i])
		        .ptr;
		assert_int_equal(read_text(folder, text, &d, NULL), ASSAY_INVALID);
	}
}

static void test_missing_file(void **state)
{
	struct folder *folder = *state;
	struct descriptor d;
	struct assay_error err = {0};
	assert_true(descriptor_read(folder->arena, folder_path(folder, "nowhere"), &d, &err) < 0);
	char text[ERROR_TEXT_MAX];
	assert_holds(error_format(&err, text, sizeof(text)), "nowhere/plugin.yaml");
}

#define OPTIONS                                                                                                        \
	"options:\n"                                                                                                   \
	"  level: {type: int, default: 2, help: h}\n"                                                                  \
	"  ratio: {type: real, default: 0.5, help: h}\n"                                                               \
	"  fast: {type: bool, default: false, help: h}\n"                                                              \
	"  flags: {type: text, default: ~, help: h}\n"                                                                 \
	"  standard: {type: enum, of: [c11, c17], default: c17, help: h}\n"

static int read_options(struct folder *folder, const char *given, const struct assay_node **ret,
                        struct assay_error *err)
{
	struct descriptor d;
	const struct assay_node *node = NULL;
	assert_int_equal(read_text(folder, HEAD OPTIONS TAIL, &d, NULL), 0);
	if (given)
		assert_int_equal(yaml_parse(folder->arena, str_of(given), "given.yaml", &node, NULL), 0);
	return descriptor_options(folder->arena, &d, node, ret, err);
}

static void test_option_defaults(void **state)
{
	const struct assay_node *options;
	int64_t integer;
	double real;
	bool truth = true;
	struct assay_str text;
	assert_int_equal(read_options(*state, NULL, &options, NULL), 0);
	assert_int_equal(node_count(options), 5);
	assert_int_equal(node_kind(node_get(options, "level")), ASSAY_NODE_INT);
	assert_int_equal(node_int(node_get(options, "level"), &integer, NULL), 0);
	assert_int_equal(integer, 2);
	assert_int_equal(node_real(node_get(options, "ratio"), &real, NULL), 0);
	assert_true(real == 0.5);
	assert_int_equal(node_bool(node_get(options, "fast"), &truth, NULL), 0);
	assert_false(truth);
	assert_int_equal(node_str(node_get(options, "standard"), &text, NULL), 0);
	assert_true(str_is(text, "c17"));
}

static void test_options_given(void **state)
{
	const struct assay_node *options;
	int64_t integer;
	struct assay_str text;
	assert_int_equal(read_options(*state, "level: -3\nflags: \"-a -b\"\nstandard: c11\n", &options, NULL), 0);
	assert_int_equal(node_int(node_get(options, "level"), &integer, NULL), 0);
	assert_int_equal(integer, -3);
	assert_int_equal(node_str(node_get(options, "flags"), &text, NULL), 0);
	assert_true(str_is(text, "-a -b"));
	assert_int_equal(node_count(options), 5);
}

static void test_options_refused(void **state)
{
	static const struct {
		const char *given, *words;
	} rows[] = {
	    {"levle: 3\n", "did you mean 'level'"},
	    {"completely_else: 3\n", "it has level, ratio, fast, flags, standard"},
	    {"level: high\n", ""},
	    {"level: 99999999999999999999\n", ""},
	    {"level: [1]\n", ""},
	    {"ratio: half\n", ""},
	    {"fast: maybe\n", ""},
	    {"standard: c23\n", "'c23' is no choice for this option; the choices are c11, c17"},
	    {"flags: {a: b}\n", ""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct assay_node *options;
		struct assay_error err = {0};
		if (read_options(*state, rows[i].given, &options, &err) != ASSAY_INVALID)
			fail_msg("accepted: %s", rows[i].given);
		assert_string_equal(err.file, "given.yaml");
		assert_int_equal(err.line, 1);
		assert_holds(err.message, rows[i].words);
	}
}

static void test_kind_words(void **state)
{
	(void)state;
	for (int kind = ASSAY_KIND_LANGUAGE; kind <= ASSAY_KIND_DATASET; kind++) {
		enum assay_kind parsed;
		assert_true(descriptor_kind_parse(str_of(descriptor_kind_name((enum assay_kind)kind)), &parsed));
		assert_int_equal(parsed, kind);
		assert_true(descriptor_kind_parse(str_of(descriptor_kind_folder((enum assay_kind)kind)), &parsed));
		assert_int_equal(parsed, kind);
	}
	enum assay_kind parsed;
	assert_false(descriptor_kind_parse(STR(""), &parsed));
	assert_false(descriptor_kind_parse(STR("Language"), &parsed));
	assert_false(descriptor_kind_parse(STR("oracle"), &parsed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_language),
	    test_in_folder(test_other_kinds),
	    test_in_folder(test_refusals_name_their_place),
	    test_in_folder(test_dataset_columns),
	    test_in_folder(test_missing_file),
	    test_in_folder(test_option_defaults),
	    test_in_folder(test_options_given),
	    test_in_folder(test_options_refused),
	    cmocka_unit_test(test_kind_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
