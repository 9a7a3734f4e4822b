/* SPDX-License-Identifier: Apache-2.0 */
/* Limits: how layers are laid over each other, what a map may say, and that what is printed can be read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/quantity.h"
#include "base/str.h"
#include "data/yaml.h"
#include "model/limits.h"

#define MIB (UINT64_C(1) << 20)

static int read_text(struct arena *arena, const char *yaml, struct limits *ret, struct assay_error *err)
{
	const struct assay_node *root;
	int status = yaml_parse(arena, str_of(yaml), "limits.yaml", &root, err);
	return status ? status : limits_read(root, ret, err);
}

static void test_default_is_definite(void **state)
{
	(void)state;
	assert_int_equal(limits_default.cpu_ns, 10 * NS_PER_S);
	assert_int_equal(limits_default.wall_ns, 45 * NS_PER_S);
	assert_int_equal(limits_default.memory_bytes, 512 * MIB);
	assert_int_equal(limits_default.processes, 64);
	assert_int_equal(limits_default.output_bytes, 8 * MIB);
	assert_int_equal(limits_default.flood_bytes, 64 * MIB);
	assert_int_equal(limits_default.file_bytes, 256 * MIB);
	struct limits limits = {0};
	limits_fill(&limits, &limits_default);
	assert_memory_equal(&limits, &limits_default, sizeof(limits));
}

static void test_what_is_set_stays(void **state)
{
	(void)state;
	const struct limits own = {1, 2, 3, 4, 5, 6, 7};
	struct limits limits = own;
	limits_fill(&limits, &limits_default);
	assert_memory_equal(&limits, &own, sizeof(limits));
}

static void test_clock_follows_cpu(void **state)
{
	(void)state;
	struct limits limits = {.cpu_ns = 1 * NS_PER_S};
	limits_fill(&limits, &limits_default);
	assert_int_equal(limits.wall_ns, 18 * NS_PER_S);
	limits = (struct limits){.cpu_ns = 60 * NS_PER_S};
	limits_fill(&limits, &limits_default);
	assert_int_equal(limits.wall_ns, 195 * NS_PER_S); /* above the default */
	limits = (struct limits){.cpu_ns = 60 * NS_PER_S, .wall_ns = 7};
	limits_fill(&limits, &limits_default);
	assert_int_equal(limits.wall_ns, 7);
	limits = (struct limits){.wall_ns = 2 * NS_PER_S};
	limits_fill(&limits, &limits_default);
	assert_int_equal(limits.cpu_ns, 10 * NS_PER_S); /* the clock ends it first: both were asked for */
}

/* request over problem over pipeline over language over default: the clock belongs to the layer that set the CPU. */
static void test_layers(void **state)
{
	(void)state;
	const struct limits request = {.memory_bytes = 64 * MIB};
	const struct limits problem = {.cpu_ns = 2 * NS_PER_S, .memory_bytes = 128 * MIB};
	const struct limits pipeline = {.cpu_ns = 10 * NS_PER_S, .wall_ns = 20 * NS_PER_S, .processes = 8};
	const struct limits language = {.cpu_ns = 30 * NS_PER_S, .processes = 500, .output_bytes = 1 * MIB};
	struct limits limits = request;
	limits_fill(&limits, &problem);
	limits_fill(&limits, &pipeline);
	limits_fill(&limits, &language);
	limits_fill(&limits, &limits_default);
	assert_int_equal(limits.cpu_ns, 2 * NS_PER_S);
	assert_int_equal(limits.wall_ns, 21 * NS_PER_S); /* of the problem's CPU limit, not the pipeline's 20 s */
	assert_int_equal(limits.memory_bytes, 64 * MIB);
	assert_int_equal(limits.processes, 8);
	assert_int_equal(limits.output_bytes, 1 * MIB);
	assert_int_equal(limits.flood_bytes, 8 * MIB); /* eight times the output of the same layer */
	assert_int_equal(limits.file_bytes, 256 * MIB);
}

/* A plugin's numbers are not checked by limits_read(): none may overflow into a tiny or a negative limit. */
static void test_huge_values(void **state)
{
	(void)state;
	struct limits limits = {.cpu_ns = INT64_MAX, .output_bytes = UINT64_MAX / 2};
	limits_fill(&limits, &limits_default);
	assert_true(limits.wall_ns >= 24 * 3600 * NS_PER_S);
	assert_true(limits.flood_bytes >= limits.output_bytes);
	limits = (struct limits){.cpu_ns = -5, .wall_ns = -1, .processes = -3};
	limits_fill(&limits, &limits_default);
	assert_int_equal(limits.cpu_ns, limits_default.cpu_ns);
	assert_int_equal(limits.wall_ns, limits_default.wall_ns);
	assert_int_equal(limits.processes, limits_default.processes);
}

static void test_read(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	struct assay_error err = {0};
	struct limits limits = {.file_bytes = 99}; /* is zeroed first */
	const char *yaml =
	    "wall: 20s\ncpu: 250ms\nmemory: 1GiB\nprocesses: 64\noutput: 8MiB\nflood: 9MiB\nfile: 1KiB\n";
	assert_int_equal(read_text(arena, yaml, &limits, &err), 0);
	const struct limits expected = {20 * NS_PER_S, 250 * NS_PER_MS, 1024 * MIB, 64, 8 * MIB, 9 * MIB, 1024};
	assert_memory_equal(&limits, &expected, sizeof(limits));
	assert_int_equal(read_text(arena, "cpu: 1s\n", &limits, &err), 0);
	assert_int_equal(limits.file_bytes, 0);
	assert_int_equal(limits.wall_ns, 0); /* derived when layers are laid over each other, not here */
}

static void test_read_refuses(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "cpu: 10\n",
	    "cpu: 0s\n",
	    "cpu: 25h\n",
	    "cpu: -1s\n",
	    "wall: 0ms\n",
	    "memory: 512\n",
	    "memory: 1MiB\n",
	    "memory: 0MiB\n",
	    "processes: 0\n",
	    "processes: -1\n",
	    "processes: many\n",
	    "output: 0B\n",
	    "flood: 0B\n",
	    "file: 0B\n",
	    "memroy: 1GiB\n",
	    "processes: 1e3\n",
	    "cpu: [1s]\n",
	    "cpu: {a: b}\n",
	    "cpu: \"\"\n",
	    "output: 99999999EiB\n",
	    "processes: 5000000\n",
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		auto_arena struct arena *arena = arena_new();
		struct assay_error err = {0};
		struct limits limits;
		if (read_text(arena, bad[i], &limits, &err) != ASSAY_INVALID)
			fail_msg("accepted: %s", bad[i]);
		assert_string_equal(err.file, "limits.yaml");
		assert_int_equal(err.line, 1);
	}
}

/* What is printed is what a pipeline may hold: without JSON's quotes it is a YAML map. */
static void test_json_reads_back(void **state)
{
	(void)state;
	static const struct limits samples[] = {
	    {30 * NS_PER_S, 10 * NS_PER_S, 512 * MIB, 64, 8 * MIB, 64 * MIB, 256 * MIB},
	    {1, 1500 * NS_PER_MS, 4 * MIB + 1, 1, 1, 1000, 12345678901},
	};
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		auto_arena struct arena *arena = arena_new();
		auto_json struct json_object *map = limits_json(&samples[i]);
		auto_buffer struct buffer json = {0}, yaml = {0};
		struct limits limits;
		struct assay_error err = {0};
		json_print(map, &json);
		for (size_t at = 0; at < json.len; at++)
			if (json.data[at] != '"')
				buffer_printf(&yaml, json.data[at] == ':' ? "%c " : "%c", json.data[at]);
		if (read_text(arena, yaml.data, &limits, &err))
			fail_msg("%s: %s", yaml.data, err.message);
		assert_memory_equal(&limits, &samples[i], sizeof(limits));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_default_is_definite), cmocka_unit_test(test_what_is_set_stays),
	    cmocka_unit_test(test_clock_follows_cpu),   cmocka_unit_test(test_layers),
	    cmocka_unit_test(test_huge_values),         cmocka_unit_test(test_read),
	    cmocka_unit_test(test_read_refuses),        cmocka_unit_test(test_json_reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
