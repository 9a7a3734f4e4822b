/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/summary.h"
#include "base/map.h"
#include "base/str.h"
#include "judge/passk.h"
#include <inttypes.h>
#include <stdio.h>

#define OUTCOMES (ASSAY_OUTCOME_INFRASTRUCTURE + 1)

struct task {
	struct task *next;
	int64_t samples, passed;
};

/* All results, or those of one language. */
struct group {
	struct group *next;
	struct assay_str name;
	struct map *tasks;
	struct task *first;
	int64_t outcomes[OUTCOMES];
	int64_t task_count;
};

struct summary {
	struct arena *arena;
	struct group all;
	struct group *languages;
	size_t language_count;
};

struct summary *summary_new(void)
{
	struct summary *summary = xmalloc(sizeof(*summary));
	summary->arena = arena_new();
	summary->all.tasks = map_new();
	return summary;
}

void summary_free(struct summary *summary)
{
	if (!summary)
		return;
	map_free(summary->all.tasks);
	for (struct group *group = summary->languages; group; group = group->next)
		map_free(group->tasks);
	arena_free(summary->arena);
	free(summary);
}

static struct group *language_group(struct summary *summary, struct assay_str name)
{
	struct group **place = &summary->languages;
	while (*place && !str_equal((*place)->name, name))
		place = &(*place)->next;
	if (!*place) {
		*place = arena_alloc(summary->arena, sizeof(struct group));
		(*place)->name = arena_copy(summary->arena, name);
		(*place)->tasks = map_new();
		summary->language_count++;
	}
	return *place;
}

static void add_to(struct summary *summary, struct group *group, const struct result_line *line)
{
	group->outcomes[line->outcome]++;
	if (line->outcome == ASSAY_OUTCOME_INFRASTRUCTURE || line->outcome == ASSAY_OUTCOME_NONE)
		return;
	void **slot = map_slot(group->tasks, line->id_text);
	if (!*slot) {
		struct task *task = arena_alloc(summary->arena, sizeof(*task));
		task->next = group->first;
		group->first = task;
		group->task_count++;
		*slot = task;
	}
	struct task *task = *slot;
	task->samples++;
	task->passed += line->outcome == ASSAY_OUTCOME_ACCEPTED;
}

void summary_add(struct summary *summary, const struct result_line *line)
{
	add_to(summary, &summary->all, line);
	if (line->language.len > 0)
		add_to(summary, language_group(summary, line->language), line);
}

int64_t summary_count(const struct summary *summary, enum assay_outcome outcome)
{
	return summary->all.outcomes[outcome];
}

static int64_t total(const struct group *group)
{
	int64_t sum = 0;
	for (size_t i = 0; i < OUTCOMES; i++)
		sum += group->outcomes[i];
	return sum;
}

int64_t summary_total(const struct summary *summary)
{
	return total(&summary->all);
}

/* Mean over the tasks; false when one has fewer than k samples, or there are none. */
static bool mean_pass_at_k(const struct group *group, int64_t k, double *ret)
{
	double sum = 0;
	for (const struct task *task = group->first; task; task = task->next) {
		if (task->samples < k)
			return false;
		sum += pass_at_k(task->samples, task->passed, k);
	}
	*ret = group->task_count ? sum / (double)group->task_count : 0;
	return group->task_count > 0;
}

static const int64_t usual_ks[] = {1, 5, 10, 100, 0};

static void print_group(const struct group *group, const int64_t *ks, struct buffer *out)
{
	double value;
	buffer_printf(out, "%-16s %8" PRId64 " results, %" PRId64 " tasks\n", group->name.len ? group->name.ptr : "all",
	              total(group), group->task_count);
	for (size_t i = 0; i < OUTCOMES; i++)
		if (group->outcomes[i])
			buffer_printf(out, "  %-16s %8" PRId64 "  %5.1f %%\n", outcome_name((enum assay_outcome)i),
			              group->outcomes[i], 100.0 * (double)group->outcomes[i] / (double)total(group));
	for (const int64_t *k = ks; *k; k++)
		if (mean_pass_at_k(group, *k, &value))
			buffer_printf(out, "  pass@%-11" PRId64 " %8.4f\n", *k, value);
}

void summary_print(const struct summary *summary, const int64_t *ks, struct buffer *out)
{
	ks = ks ? ks : usual_ks;
	print_group(&summary->all, ks, out);
	for (const struct group *group = summary->languages; group && summary->language_count > 1; group = group->next)
		print_group(group, ks, out);
}

static struct json_object *group_json(const struct group *group, const int64_t *ks)
{
	struct json_object *map = json_map(), *outcomes = json_map(), *passes = json_map();
	double value;
	json_add_int(map, "results", total(group));
	json_add_int(map, "tasks", group->task_count);
	for (size_t i = 0; i < OUTCOMES; i++)
		if (group->outcomes[i])
			json_add_int(outcomes, outcome_name((enum assay_outcome)i), group->outcomes[i]);
	json_add(map, "outcomes", outcomes);
	for (const int64_t *k = ks; *k; k++) {
		char name[24];
		snprintf(name, sizeof(name), "%" PRId64, *k);
		if (mean_pass_at_k(group, *k, &value))
			json_add_copied(passes, name, json_real(value));
	}
	json_add(map, "pass_at_k", passes);
	return map;
}

struct json_object *summary_json(const struct summary *summary, const int64_t *ks)
{
	ks = ks ? ks : usual_ks;
	struct json_object *map = group_json(&summary->all, ks), *languages = json_map();
	for (const struct group *group = summary->languages; group; group = group->next)
		json_add_copied(languages, group->name.ptr, group_json(group, ks));
	json_add(map, "languages", languages);
	return map;
}
