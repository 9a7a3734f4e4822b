/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/digest.h"

static void hash(char text[DIGEST_HEX_SIZE], struct assay_str a, struct assay_str b)
{
	struct digest digest;
	digest_init(&digest);
	digest_field(&digest, a);
	digest_field(&digest, b);
	digest_hex(&digest, text);
}

static void test_fields_do_not_run_together(void **state)
{
	(void)state;
	char one[DIGEST_HEX_SIZE], other[DIGEST_HEX_SIZE];
	hash(one, STR("ab"), STR("c"));
	hash(other, STR("a"), STR("bc"));
	assert_string_not_equal(one, other);
	hash(other, STR("ab"), STR("c"));
	assert_string_equal(one, other);
	assert_int_equal(strlen(one), 64);
}

/* RFC 4648, section 10. */
static void test_base64(void **state)
{
	(void)state;
	static const char *const rows[][2] = {{"", ""},
	                                      {"f", "Zg=="},
	                                      {"fo", "Zm8="},
	                                      {"foo", "Zm9v"},
	                                      {"foob", "Zm9vYg=="},
	                                      {"fooba", "Zm9vYmE="},
	                                      {"foobar", "Zm9vYmFy"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		auto_buffer struct buffer out = {0};
		base64_append(&out, str_of(rows[i][0]));
		assert_string_equal(out.data ? out.data : "", rows[i][1]);
	}
}

static void test_random_and_hex(void **state)
{
	(void)state;
	unsigned char a[16], b[16];
	random_bytes(a, sizeof(a));
	random_bytes(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	auto_buffer struct buffer out = {0};
	hex_append(&out, "\x00\xAB\xFF", 3);
	assert_string_equal(out.data, "00abff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields_do_not_run_together),
	                                   cmocka_unit_test(test_base64), cmocka_unit_test(test_random_and_hex)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
