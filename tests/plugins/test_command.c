/* SPDX-License-Identifier: Apache-2.0 */
/* The argv-template engine: what a descriptor becomes, value by value, and that any source is planned. */
#include "support.h"
#include "plugin/host.h"
#include "plugin/registry.h"
#include <assay/language.h>

#define HEAD "assay: 1\nkind: language\nname: lang\nversion: 1\nsummary: x\nsource: dir/main.txt\n"

/* What was pushed: "file PATH MODE SIZE", "build A|B|", "build-env X=1|", ... one a line. */
struct drawing {
	struct buffer text;
	int refuse_at; /* the push that fails, counted from 1; 0: none */
	int pushes;
};

static int push(struct drawing *drawing, struct assay_error *err)
{
	drawing->pushes++;
	return drawing->pushes == drawing->refuse_at ? error_set(err, ASSAY_LIMIT, 0, "full") : 0;
}

static int take_file(void *arg, struct assay_str path, struct assay_str content, uint32_t mode, struct assay_error *err)
{
	struct drawing *drawing = arg;
	buffer_printf(&drawing->text, "file %.*s %o %zu\n", STR_ARG(path), mode, content.len);
	return push(drawing, err);
}

static void print_list(struct buffer *text, const char *what, const char *const *list)
{
	buffer_printf(text, "%s ", what);
	for (; *list; list++)
		buffer_printf(text, "%s|", *list);
	buffer_append_char(text, '\n');
}

static int take_step(void *arg, enum assay_phase phase, const char *const *argv, const char *const *env,
                     struct assay_error *err)
{
	struct drawing *drawing = arg;
	print_list(&drawing->text, phase == ASSAY_PHASE_BUILD ? "build" : "run", argv);
	if (env && *env)
		print_list(&drawing->text, "env", env);
	return push(drawing, err);
}

static int plan_text(struct folder *folder, const char *yaml, struct assay_str code, struct drawing *drawing,
                     struct assay_error *err)
{
	struct plugin plugin;
	const struct assay_node *options;
	void *self = NULL;
	const char *roots[] = {build_path(folder->arena, "lib/assay/plugins"), NULL};
	folder_write(folder, "lang/plugin.yaml", str_of(yaml));
	int status = registry_read_plugin(folder->arena, folder_path(folder, "lang"), roots, &plugin, err);
	if (status)
		return status;
	assert_int_equal(plugin.problem.status, 0);
	assert_int_equal(descriptor_options(folder->arena, &plugin.descriptor, NULL, &options, NULL), 0);
	const struct assay_language_ops *ops = plugin.module->ops;
	status = ops->create(&host_services, plugin.descriptor.root, &self, err);
	if (status)
		return status;
	const struct assay_source source = {.size = sizeof(source),
	                                    .scope = scope_of(folder->arena),
	                                    .code = code,
	                                    .options = options,
	                                    .memory_bytes = (UINT64_C(512) << 20) + 1};
	const struct assay_plan_sink sink = {
	    .size = sizeof(sink), .arg = drawing, .file = take_file, .step = take_step};
	status = ops->plan(self, &source, &sink, err);
	ops->destroy(self);
	return status;
}

static void expect_plan(struct folder *folder, const char *yaml, const char *wanted)
{
	struct assay_error err = {0};
	struct drawing drawing = {0};
	if (plan_text(folder, yaml, STR("code"), &drawing, &err))
		fail_msg("%s\n%s", err.message, yaml);
	assert_string_equal(drawing.text.data, wanted);
	buffer_free(&drawing.text);
}

static void test_run_only(void **state)
{
	expect_plan(*state, HEAD "run: {argv: [cat, \"${source}\", \"$${source}\", \"a b$\", \"\"]}\n",
	            "file dir/main.txt 644 4\nrun cat|dir/main.txt|${source}|a b$||\n");
}

static void test_values_of_all_types(void **state)
{
	expect_plan(*state,
	            HEAD "run: {argv: [\"${option.i}\", \"${option.r}\", \"${option.b}\", \"${option.t}\", "
	                 "\"x${option.e}y${memory.mib}\"]}\n"
	                 "options:\n"
	                 "  i: {type: int, default: -9007199254740993, help: h}\n"
	                 "  r: {type: real, default: 0.25, help: h}\n"
	                 "  b: {type: bool, default: true, help: h}\n"
	                 "  t: {type: text, default: \"${source} $(id)\", help: h}\n"
	                 "  e: {type: enum, of: [a, b], default: b, help: h}\n",
	            "file dir/main.txt 644 4\nrun -9007199254740993|0.25|true|${source} $(id)|xby512|\n");
}

static void test_build_and_environments(void **state)
{
	expect_plan(*state,
	            HEAD "env: {A: \"1\", B: \"${source}\"}\n"
	                 "build: {argv: [cc], env: {B: own, C: \"3\"}}\n"
	                 "run: {argv: [./main]}\n",
	            "file dir/main.txt 644 4\nbuild cc|\nenv A=1|B=own|C=3|\n"
	            "run ./main|\nenv A=1|B=dir/main.txt|\n");
}

/* More options than any descriptor has: none is lost. */
static void test_many_options(void **state)
{
	struct folder *folder = *state;
	auto_buffer struct buffer yaml = {0};
	buffer_printf(&yaml, HEAD "run: {argv: [\"${option.o0}\", \"${option.o199}\"]}\noptions:\n");
	for (int i = 0; i < 200; i++)
		buffer_printf(&yaml, "  o%d: {type: int, default: %d, help: h}\n", i, i * i);
	expect_plan(folder, yaml.data, "file dir/main.txt 644 4\nrun 0|39601|\n");
}

static void test_hostile_sources(void **state)
{
	struct folder *folder = *state;
	struct assay_str large = {arena_alloc(folder->arena, 1 << 20), 1 << 20};
	const struct assay_str sources[] = {{NULL, 0}, {"", 0}, {"\0${nope}\xff", 9}, large};
	for (size_t i = 0; i < COUNT_OF(sources); i++) {
		struct drawing drawing = {0};
		assert_int_equal(plan_text(folder, HEAD "run: {argv: [cat]}\n", sources[i], &drawing, NULL), 0);
		const char *wanted =
		    arena_printf(folder->arena, "file dir/main.txt 644 %zu\nrun cat|\n", sources[i].len).ptr;
		assert_string_equal(drawing.text.data, wanted);
		buffer_free(&drawing.text);
	}
}

static void test_refusals_are_handed_on(void **state)
{
	for (int at = 1; at <= 3; at++) {
		struct drawing drawing = {.refuse_at = at};
		struct assay_error err = {0};
		assert_int_equal(
		    plan_text(*state, HEAD "build: {argv: [cc]}\nrun: {argv: [cat]}\n", STR("x"), &drawing, &err),
		    ASSAY_LIMIT);
		assert_string_equal(err.message, "full");
		assert_int_equal(drawing.pushes, at);
		buffer_free(&drawing.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    test_in_folder(test_run_only),
	    test_in_folder(test_values_of_all_types),
	    test_in_folder(test_build_and_environments),
	    test_in_folder(test_many_options),
	    test_in_folder(test_hostile_sources),
	    test_in_folder(test_refusals_are_handed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
