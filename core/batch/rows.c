/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/rows.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "data/json.h"
#include "data/lines.h"
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

struct place {
	uint64_t offset;
	uint32_t len, line;
};

struct rows {
	char *path;
	int fd; /* what the places are in: the file itself when it is plain, else a copy of its rows */
	uint64_t copied_bytes;
	struct place *places;
	size_t count, room;
	struct map *index; /* id -> number of the row + 1 */
};

static int open_copy(struct assay_error *err)
{
	char path[PATH_MAX];
	const char *folder = getenv("TMPDIR");
	snprintf(path, sizeof(path), "%s/assay-rows-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ASSAY_SYSTEM, errno, "cannot make a temporary file '%s'", path);
	unlink(path);
	return fd;
}

static int copy(struct rows *rows, struct assay_str text, struct assay_error *err)
{
	while (text.len > 0) {
		ssize_t n = pwrite(rows->fd, text.ptr, text.len, (off_t)rows->copied_bytes);
		if (n < 0 && errno != EINTR)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot write a temporary copy of '%s'", rows->path);
		text = str_slice(text, (size_t)MAX(n, 0), text.len);
		rows->copied_bytes += (uint64_t)MAX(n, 0);
	}
	return 0;
}

static void add_place(struct rows *rows, const struct place *place)
{
	if (rows->count == rows->room) {
		rows->room = 2 * rows->room + 256;
		rows->places = xrealloc(rows->places, rows->room * sizeof(*rows->places));
	}
	rows->places[rows->count++] = *place;
}

static int add_line(struct rows *rows, const struct lines *lines, struct assay_str line, uint32_t number,
                    struct assay_error *err)
{
	struct assay_str text = str_trim(line);
	int64_t offset = lines_offset(lines);
	if (text.len == 0)
		return 0;
	if (rows->fd < 0) {
		rows->fd = offset < 0 ? open_copy(err) : open(rows->path, O_RDONLY | O_CLOEXEC);
		if (rows->fd < 0)
			return offset < 0 ? rows->fd
			                  : error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", rows->path);
	}
	uint64_t begin = offset < 0 ? rows->copied_bytes : (uint64_t)offset + (uint64_t)(text.ptr - line.ptr);
	add_place(rows, &(struct place){.offset = begin, .len = (uint32_t)text.len, .line = number});
	return offset < 0 ? copy(rows, text, err) : 0;
}

static int read_all(struct rows *rows, struct assay_error *err)
{
	struct lines *lines;
	struct assay_str line;
	uint32_t number;
	int status = lines_open(rows->path, &lines, err);
	if (status)
		return status;
	while ((status = lines_next(lines, &line, &number, err)) > 0) {
		status = add_line(rows, lines, line, number, err);
		if (status)
			break;
	}
	lines_close(lines);
	return status;
}

int rows_open(const char *path, struct rows **ret, struct assay_error *err)
{
	struct rows *rows = xmalloc(sizeof(*rows));
	rows->path = xstrdup(path);
	rows->index = map_new();
	rows->fd = -1;
	int status = read_all(rows, err);
	if (status == 0 && rows->count == 0)
		status = error_at(err, path, 0, 0, "the dataset has no rows");
	if (status) {
		rows_close(rows);
		return status;
	}
	*ret = rows;
	return 0;
}

void rows_close(struct rows *rows)
{
	if (!rows)
		return;
	if (rows->fd >= 0)
		close(rows->fd);
	map_free(rows->index);
	free(rows->places);
	free(rows->path);
	free(rows);
}

size_t rows_count(const struct rows *rows)
{
	return rows->count;
}

int rows_parse(const struct rows *rows, size_t index, struct arena *arena, const struct assay_node **ret,
               struct assay_error *err)
{
	const struct place *place = &rows->places[index];
	auto_buffer struct buffer text = {0};
	char *bytes = buffer_reserve(&text, place->len);
	for (size_t done = 0; done < place->len;) {
		ssize_t n = pread(rows->fd, bytes + done, place->len - done, (off_t)(place->offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", rows->path);
		if (n == 0)
			return error_at(err, rows->path, place->line, 0, "the file has become shorter while in use");
		done += (size_t)n;
	}
	int status = json_parse(arena, (struct assay_str){bytes, place->len}, rows->path, place->line, ret, err);
	if (status == 0 && node_kind(*ret) != ASSAY_NODE_MAP)
		return node_error(err, *ret, "a row must be an object");
	return status;
}

struct assay_str rows_id_text(struct arena *arena, const struct assay_node *id)
{
	if (node_kind(id) == ASSAY_NODE_INT)
		return arena_printf(arena, "%" PRId64, id->value.integer);
	return id->value.string;
}

static int index_row(struct rows *rows, size_t number, const struct dataset *dataset, struct assay_error *err)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *row, *id;
	struct assay_str column;
	int status = rows_parse(rows, number, arena, &row, err);
	if (status == 0)
		status = dataset_row_id(dataset, row, &id, &column, err);
	if (status)
		return status;
	void **slot = map_slot(rows->index, rows_id_text(arena, id));
	if (*slot) {
		size_t first = (uintptr_t)*slot - 1;
		return node_error(err, id, "the id '%.*s' stands twice; the first is on line %u",
		                  STR_ARG(rows_id_text(arena, id)), rows->places[first].line);
	}
	*slot = (void *)(uintptr_t)(number + 1);
	return 0;
}

int rows_index(struct rows *rows, const struct dataset *dataset, struct assay_error *err)
{
	int status = 0;
	for (size_t i = 0; status == 0 && i < rows->count; i++)
		status = index_row(rows, i, dataset, err);
	return status;
}

bool rows_find(const struct rows *rows, struct assay_str id, size_t *ret_index)
{
	uintptr_t found = (uintptr_t)map_get(rows->index, id);
	if (found)
		*ret_index = found - 1;
	return found != 0;
}
