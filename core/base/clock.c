/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/defs.h"
#include <limits.h>
#include <time.h>

int64_t clock_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void clock_sleep_ns(int64_t ns)
{
	struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

int clock_poll_ms(int64_t deadline_ns)
{
	if (deadline_ns == INT64_MAX)
		return -1;
	int64_t left_ns = deadline_ns - clock_now_ns();
	if (left_ns <= 0)
		return 0;
	return (int)MIN((left_ns - 1) / 1000000 + 1, (int64_t)INT_MAX);
}
