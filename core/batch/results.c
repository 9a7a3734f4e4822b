/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/results.h"
#include "base/error.h"
#include "base/files.h"
#include "base/map.h"
#include "base/str.h"
#include "batch/rows.h"
#include "data/lines.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Samples are numbered from 0 without gaps; a number beyond this is no number of ours. */
#define SAMPLES_MAX (INT64_C(1) << 24)

/* Which samples of one id are there: a bit each, for a file may hold millions of results. */
struct samples {
	size_t words;
	uint64_t bits[];
};

struct results {
	char *path;
	int fd;
	pthread_mutex_t lock;
	struct assay_error failure; /* of an earlier write */
	struct arena *arena;        /* of the samples */
	struct map *ids;            /* id -> its samples */
	size_t count;
	result_line_fn line; /* while opening */
	void *arg;
};

/* -- reading -- */

static const struct assay_node *find_id(const struct assay_node *root)
{
	const struct assay_node *id = node_get(root, "task_id");
	if (!id)
		id = node_get(root, "id");
	return id ? id : node_at(root, 0); /* a dataset's own name for it: it is written first */
}

static int read_line(struct arena *arena, const struct assay_node *root, struct result_line *ret,
                     struct assay_error *err)
{
	struct assay_str outcome;
	const struct assay_node *id = node_kind(root) == ASSAY_NODE_MAP ? find_id(root) : NULL;
	memset(ret, 0, sizeof(*ret));
	if (node_kind(id) != ASSAY_NODE_STRING && node_kind(id) != ASSAY_NODE_INT)
		return node_error(err, root, "this is no result: it has no id");
	if (!node_get(root, "sample") || !node_get(root, "outcome"))
		return node_error(err, root, "this is no result: it has no \"sample\" or no \"outcome\"");
	ret->id_text = rows_id_text(arena, id);
	int status = node_int(node_get(root, "sample"), &ret->sample, err);
	if (status == 0 && (ret->sample < 0 || ret->sample >= SAMPLES_MAX))
		return node_error(err, node_get(root, "sample"), "this is no number of a sample");
	if (status == 0)
		status = node_str(node_get(root, "outcome"), &outcome, err);
	if (status == 0 && !outcome_parse(outcome, &ret->outcome))
		return node_error(err, node_get(root, "outcome"), "unknown outcome '%.*s'",
		                  STR_ARG(str_slice(outcome, 0, 60)));
	if (status == 0)
		node_str(node_get(root, "language"), &ret->language, NULL); /* null when unknown */
	return status;
}

/* A line that is no JSON, where it begins: forgiven only when it turns out to be the last. */
struct torn_line {
	struct assay_error error;
	int64_t offset; /* -1: not in a plain file */
};

static int scan_line(const struct lines *lines, const char *path, struct assay_str text, uint32_t number,
                     const struct results *results, struct torn_line *torn, struct assay_error *err)
{
	auto_arena struct arena *arena = arena_new();
	const struct assay_node *root;
	struct result_line result;
	if (str_trim(text).len == 0)
		return 0;
	if (torn->error.status) {
		if (err)
			*err = torn->error;
		return torn->error.status;
	}
	if (json_parse(arena, text, path, number, &root, &torn->error)) {
		torn->offset = lines_offset(lines);
		return 0;
	}
	int status = read_line(arena, root, &result, err);
	if (status == 0)
		results->line(results->arg, &result);
	return status;
}

/* With the callback of `results`, which needs nothing else set. */
static int scan(const char *path, const struct results *results, struct torn_line *ret_torn, struct assay_error *err)
{
	struct lines *lines;
	struct assay_str text;
	uint32_t number;
	*ret_torn = (struct torn_line){.offset = -1};
	int status = lines_open(path, &lines, err);
	if (status)
		return status;
	while ((status = lines_next(lines, &text, &number, err)) > 0) {
		status = scan_line(lines, path, text, number, results, ret_torn, err);
		if (status)
			break;
	}
	lines_close(lines);
	return status;
}

int results_read(const char *path, result_line_fn line, void *arg, struct assay_error *err)
{
	struct torn_line torn;
	return scan(path, &(struct results){.line = line, .arg = arg}, &torn, err);
}

/* -- going on with a file -- */

static struct samples *samples_of(struct results *results, struct assay_str id_text, size_t words)
{
	void **slot = map_slot(results->ids, id_text);
	struct samples *samples = *slot;
	size_t have = samples ? samples->words : 0;
	if (have >= words)
		return samples;
	words = MAX(words, 2 * have);
	*slot = arena_alloc(results->arena, sizeof(*samples) + words * sizeof(samples->bits[0]));
	if (have)
		memcpy(((struct samples *)*slot)->bits, samples->bits, have * sizeof(samples->bits[0]));
	samples = *slot;
	samples->words = words;
	return samples;
}

/* What resuming does with a line: remembers it and passes it on. */
struct resumption {
	struct results *results;
	result_line_fn line;
	void *arg;
};

static void remember(void *arg, const struct result_line *line)
{
	const struct resumption *resumption = arg;
	struct results *results = resumption->results;
	size_t sample = (size_t)line->sample;
	struct samples *samples = samples_of(results, line->id_text, sample / 64 + 1);
	results->count += !(samples->bits[sample / 64] >> (sample % 64) & 1);
	samples->bits[sample / 64] |= UINT64_C(1) << (sample % 64);
	if (resumption->line)
		resumption->line(resumption->arg, line);
}

/* Makes the file end with a whole line. */
static int mend_end(const struct results *results, off_t size, const struct torn_line *torn, struct assay_error *err)
{
	char bytes[2] = "";
	if (torn->error.status) {
		/* A line that was cut short begins like one of ours; a machine that lost power may leave NULs. */
		if (torn->offset < 0 || pread(results->fd, bytes, 1, torn->offset) != 1 ||
		    (bytes[0] != '{' && bytes[0] != 0)) {
			if (err)
				*err = torn->error;
			return torn->error.status;
		}
		if (ftruncate(results->fd, torn->offset))
			return error_set(err, ASSAY_SYSTEM, errno, "cannot cut the unfinished last line off '%s'",
			                 results->path);
		return 0;
	}
	if (pread(results->fd, bytes, 1, size - 1) != 1 || (bytes[0] != '\n' && write(results->fd, "\n", 1) != 1))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot end the last line of '%s'", results->path);
	return 0;
}

/* A compressed file can be read, but not gone on with. */
static int refuse_compressed(const struct results *results, struct assay_error *err)
{
	struct lines *lines;
	int status = lines_open(results->path, &lines, err);
	if (status)
		return status;
	bool is_plain = lines_offset(lines) >= 0;
	lines_close(lines);
	return is_plain ? 0
	                : error_set(err, ASSAY_INVALID, 0, "'%s' is compressed; decompress it to go on with it",
	                            results->path);
}

/* Takes the file over: locked, whole lines only, what is there remembered. */
static int take_over(struct results *results, bool resume, result_line_fn line, void *arg, struct assay_error *err)
{
	struct stat st;
	struct torn_line torn;
	struct resumption resumption = {results, line, arg};
	if (flock(results->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
		           ? error_set(err, ASSAY_INVALID, 0, "another assay is writing to '%s'", results->path)
		           : error_set(err, ASSAY_SYSTEM, errno, "cannot lock '%s'", results->path);
	if (fstat(results->fd, &st))
		return error_set(err, ASSAY_SYSTEM, errno, "cannot read '%s'", results->path);
	if (st.st_size == 0 || !S_ISREG(st.st_mode))
		return 0;
	if (!resume)
		return error_set(err, ASSAY_INVALID, 0,
		                 "'%s' holds results already: go on with them (--resume), or remove it", results->path);
	int status = refuse_compressed(results, err);
	if (status)
		return status;
	status = scan(results->path, &(struct results){.line = remember, .arg = &resumption}, &torn, err);
	return status ? status : mend_end(results, st.st_size, &torn, err);
}

int results_open(const char *path, bool resume, result_line_fn line, void *arg, struct results **ret,
                 struct assay_error *err)
{
	struct results *results = xmalloc(sizeof(*results));
	results->path = xstrdup(path);
	results->arena = arena_new();
	results->ids = map_new();
	pthread_mutex_init(&results->lock, NULL);
	results->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int status = results->fd < 0 ? error_set(err, ASSAY_INVALID, errno, "cannot write '%s'", path)
	                             : take_over(results, resume, line, arg, err);
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
	map_free(results->ids);
	arena_free(results->arena);
	free(results->path);
	free(results);
}

bool results_has(const struct results *results, struct assay_str id_text, int64_t sample)
{
	const struct samples *samples = map_get(results->ids, id_text);
	size_t word = (size_t)sample / 64;
	return samples && word < samples->words && samples->bits[word] >> (sample % 64) & 1;
}

size_t results_count(const struct results *results)
{
	return results->count;
}

/* -- writing -- */

/* With the lock held. */
static int append(struct results *results, struct assay_str text, struct assay_error *err)
{
	struct stat st;
	bool is_file = fstat(results->fd, &st) == 0 && S_ISREG(st.st_mode);
	if (file_write_all(results->fd, text) == 0)
		return 0;
	int saved = errno;
	if (is_file && ftruncate(results->fd, st.st_size))
		saved = errno; /* the part stays; who resumes cuts it off */
	return error_set(err, ASSAY_SYSTEM, saved, "cannot write '%s'", results->path);
}

int results_write(struct results *results, struct json_object *line, struct assay_error *err)
{
	auto_buffer struct buffer text = {0};
	json_print(line, &text);
	buffer_append_char(&text, '\n');
	pthread_mutex_lock(&results->lock);
	if (!results->failure.status)
		append(results, buffer_str(&text), &results->failure);
	int status = results->failure.status;
	if (status && err)
		*err = results->failure;
	pthread_mutex_unlock(&results->lock);
	return status;
}
