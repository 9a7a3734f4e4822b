/* SPDX-License-Identifier: Apache-2.0 */
/* arena, buffer, map */
#include "../test.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"

static void test_arena(void **state)
{
	(void)state;
	auto_arena struct arena *arena = arena_new();
	for (size_t size = 0; size < 40000; size = size * 2 + 1) {
		unsigned char *bytes = arena_alloc(arena, size);
		assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(bytes[i], 0);
		memset(bytes, 0xFF, size);
	}
	struct assay_str copy = arena_copy(arena, (struct assay_str){"a\0b", 3});
	assert_memory_equal(copy.ptr, "a\0b", 4);
	assert_str(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
	assert_non_null(arena_array(arena, 0, 8));
}

static void test_buffer(void **state)
{
	(void)state;
	auto_buffer struct buffer buffer = {0};
	assert_null(buffer.data);
	buffer_append(&buffer, "ab", 2);
	buffer_append_char(&buffer, 0);
	buffer_printf(&buffer, "%s%d", "x", 12345);
	assert_int_equal(buffer.len, 9);
	assert_memory_equal(buffer.data, "ab\0x12345", 10);
	for (int i = 0; i < 1000; i++)
		buffer_append_str(&buffer, STR("0123456789"));
	assert_int_equal(buffer.len, 10009);
	assert_int_equal(buffer.data[buffer.len], 0);
	buffer_clear(&buffer);
	assert_string_equal(buffer.data, "");
}

static void test_map(void **state)
{
	(void)state;
	struct map *map = map_new();
	int value = 1, other = 2;
	*map_slot(map, (struct assay_str){"a\0b", 3}) = &value;
	*map_slot(map, STR("a")) = &other;
	assert_ptr_equal(map_get(map, (struct assay_str){"a\0b", 3}), &value);
	assert_ptr_equal(map_get(map, STR("a")), &other);
	assert_null(map_get(map, STR("a\0c")));
	assert_null(map_get(map, STR("")));
	*map_slot(map, STR("a")) = &value;
	assert_int_equal(map_count(map), 2);
	for (uint32_t i = 0; i < 5000; i++)
		*map_slot(map, (struct assay_str){(const char *)&i, sizeof(i)}) = &value;
	assert_int_equal(map_count(map), 5002);
	map_free(map);
	map_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_arena),
	    cmocka_unit_test(test_buffer),
	    cmocka_unit_test(test_map),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
