// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/quota.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "measure/serve/watch.h"

enum {
	TEXT_MAX = 64 * 1024 * 1024, /* as much as any of these files has */
};

struct watch {
	struct evidence_reader *reader;
	struct quota quota;
	struct runlog_reading before;
	struct runlog_reading after;
	int64_t start_ns;
	int64_t end_ns;
};

static struct runlog_text read_text(const char *path)
{
	struct runlog_text text = { .size = -ENOENT };
	char *data = NULL;
	size_t size;
	int r = path ? xcheck(file_read_all(path, TEXT_MAX, &data, &size)) : -ENOENT;

	text.data = data;
	text.size = r < 0 ? r : (ssize_t)size;
	return text;
}

/* Slices are so long that nothing has to be left out. */
static void read_all(const struct watch *watch, struct runlog_reading *ret)
{
	size_t n, n_used = 0;
	const struct evidence_file *files = evidence_files(watch->reader, &n);

	ret->texts = xptr(calloc(n + 1, sizeof(*ret->texts)));
	for (size_t i = 0; i < n; i++) {
		const char *path = files[i].path;

		/* A place for one of the files of the quota. */
		if (!path && n_used < watch->quota.n_stats)
			path = watch->quota.stats[n_used++];
		ret->texts[i] = read_text(path);
	}
}

struct watch *watch_begin(struct evidence_reader *reader, pid_t pid)
{
	struct watch *watch = xptr(calloc(1, sizeof(*watch)));

	watch->reader = reader;
	(void)xcheck(quota_read(pid, &watch->quota));
	(void)evidence_begin(reader);
	read_all(watch, &watch->before);
	watch->start_ns = clock_now_ns(CLOCK_MONOTONIC_RAW);
	return watch;
}

void watch_end(struct watch *watch)
{
	watch->end_ns = clock_now_ns(CLOCK_MONOTONIC_RAW);
	read_all(watch, &watch->after);
}

static int32_t clamp(int64_t value)
{
	return (int32_t)MIN(value, (int64_t)INT32_MAX);
}

bool watch_take(struct watch *watch, const struct family_use *use, const struct launch_report *load,
	struct series *series, struct evidence *ret)
{
	const struct window_floor floor = { 0 };
	struct runlog_run run = {
		.report = {
			.start_ns = watch->start_ns,
			.end_ns = watch->end_ns,
			.user_cpu_ns = use->cpu_ns,
		},
		.before = &watch->before,
		.after = &watch->after,
		.is_last = true,
	};
	bool thermal;

	if (load) {
		run.report.core_before = load->core_before;
		run.report.core_after = load->core_after;
	}
	thermal = evidence_take(watch->reader, &run, &floor, series, ret);
	/* The rest of what a report tells is that of a program that began and ended. */
	ret->user_cpu_ns = use->user_ns;
	ret->system_cpu_ns = use->system_ns;
	ret->run_delay_ns = use->waited_ns;
	ret->voluntary_switches = use->switches < 0 ? -1 : clamp(use->switches - use->involuntary);
	ret->involuntary_switches = clamp(use->involuntary);
	ret->off_cpu_ns = ret->reader_cpu_ns = ret->reap_ns = -1;
	ret->minor_faults = ret->major_faults = -1;
	ret->cpu_first = ret->cpu_last = -1;
	return thermal;
}

static void clear_reading(const struct watch *watch, struct runlog_reading *reading)
{
	size_t n;

	(void)evidence_files(watch->reader, &n);
	for (size_t i = 0; reading->texts && i < n; i++)
		free((char *)reading->texts[i].data);
	free(reading->texts);
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	clear_reading(watch, &watch->before);
	clear_reading(watch, &watch->after);
	quota_clear(&watch->quota);
	free(watch);
}
