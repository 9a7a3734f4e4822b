/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include "base/defs.h"
#include "base/str.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

/* A view equals a literal, byte for byte. */
#define assert_str(view, text)                                                                                         \
	do {                                                                                                           \
		struct assay_str seen_ = (view);                                                                       \
		assert_int_equal(seen_.len, sizeof(text) - 1);                                                         \
		if (seen_.len)                                                                                         \
			assert_memory_equal(seen_.ptr, text, sizeof(text) - 1);                                        \
	} while (0)

#define assert_contains(text, part) assert_non_null(strstr((text), (part)))

#endif
