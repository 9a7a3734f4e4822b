/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/completions.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "batch/rows.h"
#include "data/json.h"
#include "data/lines.h"
#include <stdint.h>

struct completions {
	char *path;
	struct lines *lines;
	const struct assay_node *id_columns;
	struct map *samples; /* id -> how many lines so far */
	int64_t shard, shard_count, seen;
};

int completions_open(const char *path, const struct assay_node *id_columns, int64_t shard, int64_t shard_count,
                     struct completions **ret, struct assay_error *err)
{
	struct lines *lines;
	int status = lines_open(path, &lines, err);
	if (status)
		return status;
	struct completions *completions = xmalloc(sizeof(*completions));
	completions->path = xstrdup(path);
	completions->lines = lines;
	completions->id_columns = id_columns;
	completions->samples = map_new();
	completions->shard = shard;
	completions->shard_count = shard_count;
	*ret = completions;
	return 0;
}

void completions_close(struct completions *completions)
{
	if (!completions)
		return;
	lines_close(completions->lines);
	map_free(completions->samples);
	free(completions->path);
	free(completions);
}

static int read_id(const struct completions *completions, struct arena *arena, const struct assay_node *root,
                   struct completion *ret, struct assay_error *err)
{
	static const char *const names[] = {"task_id", "id"};
	size_t own = node_count(completions->id_columns);
	for (size_t i = 0; i < own + COUNT_OF(names) && !ret->id; i++) {
		ret->id_column = i < own ? node_at(completions->id_columns, i)->value.string : str_of(names[i - own]);
		ret->id = node_get(root, ret->id_column.ptr);
	}
	if (!ret->id)
		return node_error(err, root, "a completion needs a \"task_id\" or \"id\"");
	if (node_kind(ret->id) != ASSAY_NODE_STRING && node_kind(ret->id) != ASSAY_NODE_INT)
		return node_error(err, ret->id, "an id is text or a whole number");
	ret->id_text = rows_id_text(arena, ret->id);
	return 0;
}

static int read_line(struct completions *completions, struct arena *arena, struct assay_str text, uint32_t number,
                     struct completion *ret, struct assay_error *err)
{
	const struct assay_node *root;
	memset(ret, 0, sizeof(*ret));
	int status = json_parse(arena, text, completions->path, number, &root, err);
	if (status == 0 && node_kind(root) != ASSAY_NODE_MAP)
		return node_error(err, root, "a completion must be an object");
	if (status == 0)
		status = read_id(completions, arena, root, ret, err);
	if (status)
		return status;
	if (!node_get(root, "completion"))
		return node_error(err, root, "the key \"completion\" is missing");
	status = node_str(node_get(root, "completion"), &ret->completion, err);
	if (status == 0 && node_kind(node_get(root, "language")) != ASSAY_NODE_NULL)
		status = node_str(node_get(root, "language"), &ret->language, err);
	return status;
}

int completions_next(struct completions *completions, struct arena *arena, struct completion *ret,
                     struct assay_error *err)
{
	struct assay_str text;
	uint32_t number;
	int status;
	while ((status = lines_next(completions->lines, &text, &number, err)) > 0) {
		if (str_trim(text).len == 0)
			continue;
		status = read_line(completions, arena, text, number, ret, err);
		if (status)
			return status;
		void **slot = map_slot(completions->samples, ret->id_text);
		ret->sample = (int64_t)(uintptr_t)*slot;
		*slot = (void *)((uintptr_t)*slot + 1);
		if (completions->seen++ % completions->shard_count == completions->shard - 1)
			return 1;
	}
	return status;
}

void completions_progress(const struct completions *completions, uint64_t *ret_done, uint64_t *ret_size)
{
	lines_progress(completions->lines, ret_done, ret_size);
}
