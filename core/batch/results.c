/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/results.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "batch/rows.h"
#include "data/lines.h"
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>

struct results {
	char *path;
	int fd;
	pthread_mutex_t lock;
	struct map *done; /* "<sample> <id>" */
};

/* -- reading --------------------------------------------------------------------------------------------------------
 */

static int read_line(struct arena *arena, struct assay_str text, const char *path, uint32_t number,
                     struct result_line *ret, struct assay_error *err)
{
	const struct assay_node *root;
	struct assay_str outcome;
	memset(ret, 0, sizeof(*ret));
	int status = json_parse(arena, text, path, number, &root, err);
	if (status)
		return status;
	const struct assay_node *id = node_get(root, "task_id");
	if (!id)
		id = node_get(root, "id");
	if (node_kind(id) != ASSAY_NODE_STRING && node_kind(id) != ASSAY_NODE_INT)
		return node_error(err, root, "this is no result of assay: it has no id");
	ret->id_text = rows_id_text(arena, id);
	status = node_int(node_get(root, "sample"), &ret->sample, err);
	if (status == 0)
		status = node_str(node_get(root, "outcome"), &outcome, err);
	if (status == 0 && !outcome_parse(outcome, &ret->outcome))
		return node_error(err, node_get(root, "outcome"), "unknown outcome '%.*s'", STR_ARG(outcome));
	node_str(node_get(root, "language"), &ret->language, NULL);
	return status;
}

/* Where the last whole line ends: behind the last line end of the file. */
static int find_end(const char *path, off_t *ret_end, struct assay_error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char block[4096];
	if (fd < 0 || fstat(fd, &st))
		return error_set(err, ASSAY_INVALID, errno, "cannot read '%s'", path);
	for (off_t end = st.st_size; end > 0;) {
		size_t want = (size_t)MIN(end, (off_t)sizeof(block));
		ssize_t n = pread(fd, block, want, end - (off_t)want);
		if (n != (ssize_t)want)
			return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", path);
		const char *found = memrchr(block, '\n', want);
		if (found) {
			*ret_end = end - (off_t)want + (found - block) + 1;
			return 0;
		}
		end -= (off_t)want;
	}
	*ret_end = 0;
	return 0;
}

int results_read(const char *path, void (*line)(void *arg, const struct result_line *line), void *arg,
                 struct assay_error *err)
{
	struct lines *lines;
	struct assay_str text;
	uint32_t number;
	struct assay_error torn = {0}; /* of the line before: forgiven only when it was the last */
	int status = lines_open(path, &lines, err);
	if (status)
		return status;
	while ((status = lines_next(lines, &text, &number, err)) > 0) {
		auto_arena struct arena *arena = arena_new();
		struct result_line result;
		if (str_trim(text).len == 0)
			continue;
		if (torn.status)
			break;
		if (read_line(arena, text, path, number, &result, &torn) == 0)
			line(arg, &result);
	}
	lines_close(lines);
	if (status > 0 && err)
		*err = torn;
	return status > 0 ? torn.status : status;
}

/* -- writing --------------------------------------------------------------------------------------------------------
 */

static struct assay_str done_key(struct arena *arena, struct assay_str id_text, int64_t sample)
{
	return arena_printf(arena, "%" PRId64 " %.*s", sample, STR_ARG(id_text));
}

static void remember(void *arg, const struct result_line *line)
{
	struct results *results = arg;
	auto_arena struct arena *arena = arena_new();
	*map_slot(results->done, done_key(arena, line->id_text, line->sample)) = results;
}

/* Takes the file over: locked, whole lines only, what is there remembered. */
static int take_over(struct results *results, bool resume, struct assay_error *err)
{
	struct stat st;
	off_t end;
	if (flock(results->fd, LOCK_EX | LOCK_NB))
		return error_set(err, ASSAY_INVALID, 0, "another assay is writing to '%s'", results->path);
	if (fstat(results->fd, &st))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", results->path);
	if (st.st_size == 0 || !S_ISREG(st.st_mode))
		return 0;
	if (!resume)
		return error_set(err, ASSAY_INVALID, 0,
		                 "'%s' holds results already: go on with them (--resume), or remove it", results->path);
	int status = find_end(results->path, &end, err);
	if (status == 0 && end < st.st_size && ftruncate(results->fd, end))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot cut the unfinished last line off '%s'",
		                 results->path);
	return status ? status : results_read(results->path, remember, results, err);
}

int results_open(const char *path, bool resume, struct results **ret, struct assay_error *err)
{
	struct results *results = xmalloc(sizeof(*results));
	results->path = xstrdup(path);
	results->done = map_new();
	pthread_mutex_init(&results->lock, NULL);
	results->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int status = results->fd < 0 ? error_set(err, ASSAY_INVALID, errno, "cannot write '%s'", path)
	                             : take_over(results, resume, err);
	if (status) {
		results_close(results);
		return status;
	}
	*ret = results;
	return 0;
}

void results_close(struct results *results)
{
	if (!results)
		return;
	if (results->fd >= 0)
		close(results->fd);
	pthread_mutex_destroy(&results->lock);
	map_free(results->done);
	free(results->path);
	free(results);
}

bool results_has(const struct results *results, struct assay_str id_text, int64_t sample)
{
	auto_arena struct arena *arena = arena_new();
	return map_get(results->done, done_key(arena, id_text, sample)) != NULL;
}

size_t results_count(const struct results *results)
{
	return map_count(results->done);
}

/* With the lock held. */
static int append(struct results *results, struct assay_str text, struct assay_error *err)
{
	struct stat st;
	bool is_file = fstat(results->fd, &st) == 0 && S_ISREG(st.st_mode);
	while (text.len > 0) {
		ssize_t n = write(results->fd, text.ptr, text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int saved = errno;
			if (is_file && ftruncate(results->fd, st.st_size))
				saved = errno;
			return error_set(err, ASSAY_SYSTEM, saved, "cannot write '%s'", results->path);
		}
		text = str_slice(text, (size_t)n, text.len);
	}
	return 0;
}

int results_write(struct results *results, struct json_object *line, struct assay_error *err)
{
	auto_buffer struct buffer text = {0};
	json_print(line, &text);
	buffer_append_char(&text, '\n');
	pthread_mutex_lock(&results->lock);
	int status = append(results, buffer_str(&text), err);
	pthread_mutex_unlock(&results->lock);
	return status;
}
