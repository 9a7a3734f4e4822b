/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/progress.h"
#include "base/clock.h"
#include <inttypes.h>
#include <stdio.h>

#define BAR_WIDTH         30
#define TERMINAL_EVERY_NS INT64_C(100000000)
#define LINE_EVERY_NS     INT64_C(5000000000)

void progress_start(struct progress *progress, bool is_quiet)
{
	*progress = (struct progress){.is_quiet = is_quiet, .is_terminal = isatty(STDERR_FILENO) == 1};
	progress->started_ns = progress->shown_ns = clock_now_ns();
}

static void draw_bar(double part, char bar[BAR_WIDTH + 1])
{
	int filled = (int)(part * BAR_WIDTH);
	for (int i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[BAR_WIDTH] = 0;
}

void progress_update(struct progress *progress, const struct progress_state *state)
{
	int64_t now_ns = clock_now_ns();
	if (progress->is_quiet ||
	    now_ns - progress->shown_ns < (progress->is_terminal ? TERMINAL_EVERY_NS : LINE_EVERY_NS))
		return;
	progress->shown_ns = now_ns;
	double seconds = (double)(now_ns - progress->started_ns) / 1e9;
	double part = state->bytes_all ? MIN((double)state->bytes_done / (double)state->bytes_all, 1.0) : 0;
	char read[BAR_WIDTH + 32] = "", rest[48] = "", bar[BAR_WIDTH + 1];
	draw_bar(part, bar);
	if (state->bytes_all && progress->is_terminal)
		snprintf(read, sizeof(read), "[%s] %3.0f %%  ", bar, 100 * part);
	else if (state->bytes_all)
		snprintf(read, sizeof(read), "%.0f %% of the completions read, ", 100 * part);
	if (part > 0.01)
		snprintf(rest, sizeof(rest), ", about %.0f s to go", seconds / part - seconds);
	fprintf(stderr, "%s%s%" PRId64 " done, %" PRId64 " accepted, %.0f/s%s%s",
	        progress->is_terminal ? "\r" : "assay: ", read, state->finished, state->accepted,
	        (double)state->finished / seconds, rest, progress->is_terminal ? "\033[K" : "\n");
}

void progress_end(struct progress *progress)
{
	if (!progress->is_quiet && progress->is_terminal)
		fputs("\r\033[K", stderr);
}
