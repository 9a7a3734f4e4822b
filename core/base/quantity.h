/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and quantities as text. All parsers take the whole text or fail; none depends on the locale. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include "base/buffer.h"

/* Decimal, optional '-'; no space, no '+', no leading zeros but "0" itself; overflow fails. */
bool parse_int64(struct assay_str text, int64_t *ret);
/* JSON's number grammar. */
bool parse_real(struct assay_str text, double *ret);
/* "10s", "250ms", "1.5h": a number and one of ns us ms s m h. Not negative. */
bool parse_duration(struct assay_str text, int64_t *ret_ns);
/* "512MiB", "1.5GiB", "64KiB", "100B", also MB and kin as powers of ten. */
bool parse_size(struct assay_str text, uint64_t *ret_bytes);
/* Shortest text that parse_duration()/parse_size() reads back as the same value ("1500ms", "1GiB"). */
void format_duration(struct buffer *out, int64_t ns);
void format_size(struct buffer *out, uint64_t bytes);

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

#endif
