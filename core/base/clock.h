/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCK_MONOTONIC in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);
void clock_sleep_ns(int64_t ns);
/* Milliseconds for poll(2) until `deadline_ns`: rounded up, 0 when past, at most INT_MAX; -1 for INT64_MAX (never). */
int clock_poll_ms(int64_t deadline_ns);

#endif
