/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "judge/passk.h"
#include <math.h>

/* By counting subsets, which the product form avoids. */
static double choose(int64_t n, int64_t k)
{
	double value = 1;
	for (int64_t i = 0; i < k; i++)
		value = value * (double)(n - i) / (double)(i + 1);
	return k > n ? 0 : value;
}

static void test_against_the_definition(void **state)
{
	(void)state;
	for (int64_t n = 1; n <= 20; n++)
		for (int64_t c = 0; c <= n; c++)
			for (int64_t k = 1; k <= n; k++)
				assert_true(fabs(pass_at_k(n, c, k) - (1 - choose(n - c, k) / choose(n, k))) < 1e-12);
}

static void test_edges(void **state)
{
	(void)state;
	assert_true(pass_at_k(10, 0, 10) == 0);
	assert_true(pass_at_k(10, 1, 10) == 1);
	assert_true(fabs(pass_at_k(1000000, 500000, 1) - 0.5) < 1e-9);
	double large = pass_at_k(100000, 10, 1000);
	assert_true(large > 0.09 && large < 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_definition), cmocka_unit_test(test_edges)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
