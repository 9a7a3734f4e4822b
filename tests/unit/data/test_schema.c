/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "base/error.h"
#include "data/schema.h"
#include "data/subst.h"
#include "data/yaml.h"

struct sample {
	struct assay_str name;
	int64_t count;
	int mode;
	uint64_t size;
	const struct assay_node *list;
};

static const char *const modes[] = {"slow", "fast", NULL};
static const struct schema_field fields[] = {
    {"name", SCHEMA_STR, offsetof(struct sample, name), true, NULL, "what it is called"},
    {"count", SCHEMA_INT, offsetof(struct sample, count), false, NULL, "how many"},
    {"mode", SCHEMA_ENUM, offsetof(struct sample, mode), false, modes, "how"},
    {"size", SCHEMA_SIZE, offsetof(struct sample, size), false, NULL, "how large"},
    {"list", SCHEMA_LIST, offsetof(struct sample, list), false, NULL, "some"},
    {0},
};

static int read_text(const char *text, struct sample *ret, char whole[ERROR_TEXT_MAX])
{
	static struct arena *arena;
	arena_free(arena);
	arena = arena_new();
	const struct assay_node *root;
	struct assay_error err = {0};
	int status = yaml_parse(arena, str_of(text), "s.yaml", &root, &err);
	if (status == 0)
		status = schema_read(root, fields, ret, &err);
	error_format(&err, whole, ERROR_TEXT_MAX);
	return status;
}

static void test_good(void **state)
{
	(void)state;
	char whole[ERROR_TEXT_MAX];
	struct sample sample = {.count = 5};
	assert_int_equal(read_text("name: x\nmode: fast\nsize: 1MiB\nlist: []\n", &sample, whole), 0);
	assert_str(sample.name, "x");
	assert_int_equal(sample.count, 5); /* absent: as it was */
	assert_int_equal(sample.mode, 1);
	assert_int_equal(sample.size, 1 << 20);
	assert_non_null(sample.list);
}

static void test_bad(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} rows[] = {
	    {"name: x\ncuont: 1\n", "s.yaml:2:8: unknown key 'cuont'; did you mean 'count'?"},
	    {"name: x\nzzzzzz: 1\n",
	     "s.yaml:2:9: unknown key 'zzzzzz'; the keys here are name, count, mode, size, list"},
	    {"count: 1\n", "s.yaml:1:1: the key 'name' is missing (what it is called)"},
	    {"name: x\nmode: fats\n", "s.yaml:2:7: 'fats' is no choice for mode; did you mean 'fast'?"},
	    {"name: x\nsize: 100\n", "s.yaml:2:7: '100' is not a size with its unit, such as 512MiB, 64KiB or 1GiB"},
	    {"name: x\ncount: 1.5\n", "s.yaml:2:8: '1.5' is not a whole number"},
	    {"name: [x]\n", "s.yaml:1:7: this is a list, not text"},
	    {"name: x\nlist: {}\n", "s.yaml:2:7: 'list' must be a list"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample sample = {0};
		char whole[ERROR_TEXT_MAX];
		assert_int_equal(read_text(rows[i].text, &sample, whole), ASSAY_INVALID);
		assert_string_equal(whole, rows[i].message);
	}
}

static void test_substitution(void **state)
{
	(void)state;
	const struct subst_pair pairs[] = {{STR("a"), STR("1")}, {STR("b.c"), STR("${a}")}};
	static const struct {
		const char *text, *wanted; /* NULL: an error */
	} rows[] = {
	    {"", ""},
	    {"plain $ $x $", "plain $ $x $"},
	    {"${a}${b.c}!", "1${a}!"},
	    {"$${a}", "${a}"},
	    {"$$", "$$"},
	    {"${nope}", NULL},
	    {"${a", NULL},
	    {"${}", NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		auto_buffer struct buffer out = {0};
		int status = subst_expand(&out, str_of(rows[i].text), pairs, COUNT_OF(pairs), NULL);
		assert_int_equal(status == 0, rows[i].wanted != NULL);
		if (rows[i].wanted)
			assert_string_equal(out.data ? out.data : "", rows[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
	                                   cmocka_unit_test(test_substitution)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
