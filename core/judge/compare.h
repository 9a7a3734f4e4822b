/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison of a program's output with the expected one, by named mode:
 *
 *   exact          byte for byte
 *   tokens         runs of non-blank bytes, in order, whatever blanks and line ends lie between; the default
 *   float          tokens; a pair of which at least one is not an integer and both are numbers may differ by
 *                  max(absolute, relative * |expected|). ASCII decimal grammar; NaN and infinities only equal
 *                  themselves, byte for byte
 *   sandboxfusion  that service's rule: both trimmed, split into as many lines; each line equal without regard to
 *                  case and outer blanks, or both one number with |a-b| / max(|expected|, 1e-10) < 1e-5. Blanks, case
 *                  and numbers are those of Python's strip(), lower() and float() for ASCII: "1_000" is 1000, and
 *                  "nan" equals "NaN", but only as text
 */
#ifndef JUDGE_COMPARE_H
#define JUDGE_COMPARE_H

#include "base/arena.h"

/* ASSAY_INVALID for an unknown mode. *ret_difference is set when not equal: one line, control bytes escaped, capped. */
int compare_outputs(struct arena *arena, const struct assay_comparison *how, struct assay_str actual,
                    struct assay_str expected, bool *ret_equal, struct assay_str *ret_difference,
                    struct assay_error *err);
extern const char *const compare_modes[]; /* NULL-terminated */

#endif
