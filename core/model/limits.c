/* SPDX-License-Identifier: Apache-2.0 */
#include "model/limits.h"
#include "base/error.h"
#include "base/quantity.h"

const struct schema_field limits_fields[] = {
    {"wall", SCHEMA_DURATION, offsetof(struct limits, wall_ns), false, NULL, "time on the clock; the safety net"},
    {"cpu", SCHEMA_DURATION, offsetof(struct limits, cpu_ns), false, NULL, "CPU time of all its processes"},
    {"memory", SCHEMA_SIZE, offsetof(struct limits, memory_bytes), false, NULL, "of all its processes"},
    {"processes", SCHEMA_INT, offsetof(struct limits, processes), false, NULL, "processes and threads at a time"},
    {"output", SCHEMA_SIZE, offsetof(struct limits, output_bytes), false, NULL, "kept of each stream"},
    {"flood", SCHEMA_SIZE, offsetof(struct limits, flood_bytes), false, NULL, "on a stream, at which it is ended"},
    {"file", SCHEMA_SIZE, offsetof(struct limits, file_bytes), false, NULL, "largest file it may write"},
    {0},
};

const struct limits limits_default = {
    .wall_ns = 45 * NS_PER_S,
    .cpu_ns = 10 * NS_PER_S,
    .memory_bytes = UINT64_C(512) << 20,
    .processes = 64,
    .output_bytes = UINT64_C(8) << 20,
    .flood_bytes = UINT64_C(64) << 20,
    .file_bytes = UINT64_C(256) << 20,
};

/* Below these a process cannot even start, and the kernel's refusal would be taken for the program's fault. */
#define MEMORY_MIN  (UINT64_C(4) << 20)
#define TIME_MAX_NS (24 * 3600 * NS_PER_S)

static int check(const struct assay_node *map, const struct limits *limits, struct assay_error *err)
{
	const struct assay_node *memory = node_get(map, "memory"), *processes = node_get(map, "processes");
	if (memory && limits->memory_bytes < MEMORY_MIN)
		return node_error(err, memory, "a memory limit below 4MiB lets no program start");
	if (processes && (limits->processes < 1 || limits->processes > 1000000))
		return node_error(err, processes, "a process limit lies between 1 and 1000000");
	static const char *const times[] = {"wall", "cpu"};
	const int64_t values[] = {limits->wall_ns, limits->cpu_ns};
	for (size_t i = 0; i < COUNT_OF(times); i++)
		if (node_get(map, times[i]) && (values[i] <= 0 || values[i] > TIME_MAX_NS))
			return node_error(err, node_get(map, times[i]), "a time limit lies above 0 and is at most 24h");
	static const char *const sizes[] = {"output", "flood", "file"};
	const uint64_t bytes[] = {limits->output_bytes, limits->flood_bytes, limits->file_bytes};
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		if (node_get(map, sizes[i]) && bytes[i] == 0)
			return node_error(err, node_get(map, sizes[i]), "'%s' must not be 0", sizes[i]);
	return 0;
}

int limits_read(const struct assay_node *map, struct limits *ret, struct assay_error *err)
{
	memset(ret, 0, sizeof(*ret));
	int status = schema_read(map, limits_fields, ret, err);
	return status ? status : check(map, ret, err);
}

/* A dataset's numbers come here unchecked, so none of this may overflow; what is below zero counts as not set. */
static int64_t clock_for_cpu(int64_t cpu_ns)
{
	cpu_ns = MIN(cpu_ns, TIME_MAX_NS);
	return 3 * cpu_ns + 15 * NS_PER_S;
}

void limits_fill(struct limits *limits, const struct limits *base)
{
	/* Who sets only the CPU limit means it, also on a busy machine: the clock must leave room for it. */
	if (limits->cpu_ns > 0 && limits->wall_ns <= 0)
		limits->wall_ns = clock_for_cpu(limits->cpu_ns);
	if (limits->output_bytes && !limits->flood_bytes)
		limits->flood_bytes = limits->output_bytes > UINT64_MAX / 8 ? UINT64_MAX : 8 * limits->output_bytes;
	if (limits->wall_ns <= 0)
		limits->wall_ns = base->wall_ns;
	if (limits->cpu_ns <= 0)
		limits->cpu_ns = base->cpu_ns;
	if (!limits->memory_bytes)
		limits->memory_bytes = base->memory_bytes;
	if (limits->processes <= 0)
		limits->processes = base->processes;
	if (!limits->output_bytes)
		limits->output_bytes = base->output_bytes;
	if (!limits->flood_bytes)
		limits->flood_bytes = base->flood_bytes;
	if (!limits->file_bytes)
		limits->file_bytes = base->file_bytes;
}

static void add_quantity(struct json_object *map, const char *key, struct buffer *text)
{
	json_add_str(map, key, buffer_str(text));
	buffer_clear(text);
}

/* The form that a `limits:` map takes, so that what is printed can be written into a pipeline. */
struct json_object *limits_json(const struct limits *limits)
{
	struct json_object *map = json_map();
	auto_buffer struct buffer text = {0};
	format_duration(&text, limits->wall_ns);
	add_quantity(map, "wall", &text);
	format_duration(&text, limits->cpu_ns);
	add_quantity(map, "cpu", &text);
	format_size(&text, limits->memory_bytes);
	add_quantity(map, "memory", &text);
	json_add_int(map, "processes", limits->processes);
	format_size(&text, limits->output_bytes);
	add_quantity(map, "output", &text);
	format_size(&text, limits->flood_bytes);
	add_quantity(map, "flood", &text);
	format_size(&text, limits->file_bytes);
	add_quantity(map, "file", &text);
	return map;
}
