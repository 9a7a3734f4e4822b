/* SPDX-License-Identifier: Apache-2.0 */
/* ${name} in text: names values and computes nothing. "$${" stands for a literal "${"; a lone "$" for itself. */
#ifndef DATA_SUBST_H
#define DATA_SUBST_H

#include "base/buffer.h"

struct subst_pair {
	struct assay_str name; /* [a-z0-9_.]+ */
	struct assay_str value;
};

/* Values are inserted as they are and not expanded again. An unknown name or an open "${" is ASSAY_INVALID. */
int subst_expand(struct buffer *out, struct assay_str text, const struct subst_pair *pairs, size_t count,
                 struct assay_error *err);

#endif
