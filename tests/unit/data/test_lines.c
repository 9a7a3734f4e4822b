/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "base/buffer.h"
#include "data/lines.h"
#include <fcntl.h>
#include <zlib.h>
#include <zstd.h>

static char path[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(path, "/tmp/lines-test-XXXXXX");
	int fd = mkstemp(path);
	close(fd);
	return fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static void put(const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* Joins all lines with '|'; the status of the last call. */
static int read_all(struct buffer *out, struct assay_error *err)
{
	struct lines *lines;
	struct assay_str line;
	uint32_t number, expected = 1;
	int status = lines_open(path, &lines, err);
	if (status)
		return status;
	while ((status = lines_next(lines, &line, &number, err)) > 0) {
		assert_int_equal(number, expected++);
		buffer_append_str(out, line);
		buffer_append_char(out, '|');
	}
	lines_close(lines);
	return status;
}

static void expect(const char *text)
{
	auto_buffer struct buffer out = {0};
	struct assay_error err = {0};
	if (read_all(&out, &err))
		fail_msg("%s", err.message);
	assert_string_equal(out.data ? out.data : "", text);
}

static size_t gzip(const char *text, char *out, size_t size)
{
	z_stream stream = {0};
	deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	stream.next_in = (Bytef *)text;
	stream.avail_in = (uInt)strlen(text);
	stream.next_out = (Bytef *)out;
	stream.avail_out = (uInt)size;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	size_t len = size - stream.avail_out;
	deflateEnd(&stream);
	return len;
}

static void test_plain(void **state)
{
	(void)state;
	put("a\nb\r\n\nlast", 10);
	expect("a|b||last|");
	put("", 0);
	expect("");
	put("\n", 1);
	expect("|");
	put("\xEF\xBB\xBF"
	    "a\n",
	    5);
	expect("a|");
	put("a\0b\n", 4);
	auto_buffer struct buffer out = {0};
	assert_int_equal(read_all(&out, NULL), 0);
	assert_memory_equal(out.data, "a\0b|", 4);
}

static void test_long_lines_cross_blocks(void **state)
{
	(void)state;
	size_t size = 1 << 20;
	char *text = malloc(size + 3);
	memset(text, 'x', size);
	memcpy(text + size, "\ny\n", 3);
	put(text, size + 3);
	auto_buffer struct buffer out = {0};
	assert_int_equal(read_all(&out, NULL), 0);
	assert_int_equal(out.len, size + 3);
	free(text);
}

static void test_gzip_members(void **state)
{
	(void)state;
	char bytes[400];
	size_t len = gzip("one\ntwo\n", bytes, sizeof(bytes));
	len += gzip("three\n", bytes + len, sizeof(bytes) - len);
	put(bytes, len);
	expect("one|two|three|");
}

static void test_zstd_frames(void **state)
{
	(void)state;
	char bytes[400];
	size_t len = ZSTD_compress(bytes, sizeof(bytes), "one\ntwo\n", 8, 3);
	len += ZSTD_compress(bytes + len, sizeof(bytes) - len, "three\n", 6, 3);
	put(bytes, len);
	expect("one|two|three|");
}

/* Cut or damaged data is an error, never a quiet end. */
static void test_damage(void **state)
{
	(void)state;
	char text[4000], bytes[8000];
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char)(i % 61 == 60 ? '\n' : 'a' + (i * 7919) % 26);
	text[sizeof(text) - 1] = 0;
	for (int kind = 0; kind < 2; kind++) {
		size_t len = kind == 0 ? gzip(text, bytes, sizeof(bytes))
		                       : ZSTD_compress(bytes, sizeof(bytes), text, strlen(text), 3);
		auto_buffer struct buffer out = {0};
		struct assay_error err = {0};
		put(bytes, len - 3);
		assert_true(read_all(&out, &err) < 0);
		assert_contains(err.message, "damaged");
		assert_string_equal(err.file, path);
		bytes[len / 2] ^= 0x55;
		bytes[len / 2 + 1] ^= 0x55;
		put(bytes, len);
		struct assay_error second = {0};
		if (kind == 0) /* zstd frames carry no checksum unless asked for */
			assert_true(read_all(&out, &second) < 0);
	}
}

static void test_missing(void **state)
{
	(void)state;
	struct lines *lines;
	struct assay_error err = {0};
	assert_int_equal(lines_open("/no/such/file", &lines, &err), ASSAY_INVALID);
	assert_contains(err.message, "/no/such/file");
	assert_true(lines_open("/tmp", &lines, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),        cmocka_unit_test(test_long_lines_cross_blocks),
	    cmocka_unit_test(test_gzip_members), cmocka_unit_test(test_zstd_frames),
	    cmocka_unit_test(test_damage),       cmocka_unit_test(test_missing),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
