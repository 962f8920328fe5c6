// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/terminal.h"
#include "measure/progress.h"

enum {
	REDRAW_NS = 100 * 1000 * 1000,
	BAR_MAX = 30,
};

void progress_begin(struct progress *progress, bool wanted)
{
	*progress = (struct progress){
		.shown = wanted && terminal_obeys(STDERR_FILENO),
		.began_ns = clock_now_ns(CLOCK_MONOTONIC),
	};
}

static void format_remaining(char *buf, size_t size, double seconds)
{
	if (seconds < 1)
		buf[0] = '\0';
	else if (seconds < 100)
		snprintf(buf, size, "%.0f s left", seconds);
	else if (seconds < 100 * 60)
		snprintf(buf, size, "%.0f min left", seconds / 60);
	else
		snprintf(buf, size, "%.0f h left", seconds / 3600);
}

double progress_estimate(
	uint64_t done, uint64_t total, double elapsed, const struct progress_box *box)
{
	double left = elapsed / (double)done * (double)(total - MIN(done, total));

	left = MAX(left, box->least - elapsed);
	return MAX(MIN(left, box->most - elapsed), 0);
}

void progress_draw(struct progress *progress, uint64_t done, uint64_t total,
	const struct progress_box *box, const char *note)
{
	char bar[BAR_MAX + 1], line[256], remaining[32] = "";
	unsigned width, filled;
	int64_t now;
	int n;

	if (!progress->shown)
		return;
	now = clock_now_ns(CLOCK_MONOTONIC);
	if (now - progress->drawn_ns < REDRAW_NS)
		return;
	width = terminal_width(STDERR_FILENO);
	filled = total > 0 ? (unsigned)((double)done / (double)total * BAR_MAX) : 0;
	filled = MIN(filled, (unsigned)BAR_MAX);
	memset(bar, '.', BAR_MAX);
	memset(bar, '#', filled);
	bar[BAR_MAX] = '\0';
	if (done > 0)
		format_remaining(remaining, sizeof(remaining),
			progress_estimate(
				done, total, (double)(now - progress->began_ns) / 1e9, box));
	n = snprintf(line, sizeof(line), "[%s] %llu/%llu  %s  %s", bar, (unsigned long long)done,
		(unsigned long long)total, note, remaining);
	/* A line that is wider than the terminal cannot be redrawn in place. */
	n = MIN(n, (int)MIN((size_t)width - 1, sizeof(line) - 1));
	fprintf(stderr, "\r%.*s\x1b[K", n, line);
	fflush(stderr);
	progress->drawn = true;
	progress->drawn_ns = now;
}

void progress_clear(struct progress *progress)
{
	if (!progress->drawn)
		return;
	fputs("\r\x1b[K", stderr);
	fflush(stderr);
	progress->drawn = false;
}
