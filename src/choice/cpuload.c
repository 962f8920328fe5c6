// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/file.h"
#include "basic/macro.h"
#include "basic/parse.h"
#include "choice/cpuload.h"
#include "machine/cputable.h"
#include "machine/interrupts.h"
#include "machine/procstat.h"

enum {
	TABLE_MAX = 64 * 1024 * 1024,
};

/* The time that each CPU was busy since boot, in ticks; -1 where /proc/stat does not tell. */
static int read_busy_ticks(
	const struct cpumask *mask, size_t n_cpus, int64_t *ret, int64_t *ret_time_ns)
{
	_cleanup_free_ char *text = NULL;
	struct procstat_times times;
	const char *at;
	size_t length;
	int r, cpu;

	for (size_t i = 0; i < n_cpus; i++)
		ret[i] = -1;
	r = file_read_all(AT_FDCWD, "/proc/stat", TABLE_MAX, &text, &length);
	if (r < 0)
		return r;
	*ret_time_ns = clock_now_ns(CLOCK_MONOTONIC);
	at = text;
	/* With a tick of 1 ns, busy_ns is in ticks. */
	while (procstat_next_times(mask, &at, text + length, 1, &cpu, &times) > 0)
		if ((size_t)cpu < n_cpus)
			ret[cpu] = times.busy_ns;
	return 0;
}

/* All shares stay unknown where the file cannot be read. */
static int watch_busy(const struct cpumask *mask, int64_t ns, struct cpuload *load)
{
	_cleanup_free_ int64_t *before = NULL, *after = NULL;
	struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
	int64_t began_ns, ended_ns;
	double ticks;

	before = calloc(load->n_cpus, sizeof(*before));
	after = calloc(load->n_cpus, sizeof(*after));
	if (!before || !after)
		return -ENOMEM;
	if (read_busy_ticks(mask, load->n_cpus, before, &began_ns) < 0)
		return 0;
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	if (read_busy_ticks(mask, load->n_cpus, after, &ended_ns) < 0)
		return 0;
	/* On a busy machine the sleep is longer than requested, and a signal ends it early. */
	ticks = (double)(ended_ns - began_ns) / NSEC_PER_SEC * (double)sysconf(_SC_CLK_TCK);
	for (size_t i = 0; i < load->n_cpus; i++) {
		if (before[i] >= 0 && after[i] >= before[i])
			load->busy[i] = MIN(1.0, (double)(after[i] - before[i]) / ticks);
	}
	return 0;
}

static bool ends_word(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\0';
}

/* Parses the n numbers of a row; returns their end, or NULL when the row has fewer. */
static const char *parse_columns(const char *at, size_t n, uint64_t *ret)
{
	for (size_t i = 0; i < n; i++)
		if (parse_next_u64(&at, &ret[i]) < 0 || !ends_word(*at))
			return NULL;
	return at;
}

static int add_devices(struct cputable *table, const char *text, size_t n_cpus, uint64_t *counts)
{
	_cleanup_free_ uint64_t *values = NULL;
	const char *end = text + strlen(text);
	struct cputable_row row;
	int r;

	r = cputable_take_header(table, NULL, &text, end);
	if (r < 0)
		return r;
	values = calloc(table->n_columns, sizeof(*values));
	if (!values)
		return -ENOMEM;
	while (cputable_next_row(&text, end, &row)) {
		const char *tail = parse_columns(row.columns, table->n_columns, values);

		if (!tail ||
			interrupts_classify(row.label, row.label_length, tail,
				(size_t)(row.end - tail)) != INTERRUPT_DEVICE)
			continue;
		for (size_t i = 0; i < table->n_columns; i++)
			if ((size_t)table->cpus[i] < n_cpus)
				counts[table->cpus[i]] += values[i];
	}
	return 0;
}

int cpuload_parse_interrupts(const char *text, size_t n_cpus, uint64_t *counts)
{
	struct cputable table = { 0 };
	int r = add_devices(&table, text, n_cpus, counts);

	cputable_clear(&table);
	return r;
}

int cpuload_watch(const struct cpumask *mask, size_t n_cpus, int64_t ns, struct cpuload **ret)
{
	_cleanup_(cpuload) struct cpuload *load = NULL;
	_cleanup_free_ char *text = NULL;
	int r;

	load = calloc(1, sizeof(*load));
	if (!load)
		return -ENOMEM;
	load->n_cpus = n_cpus;
	load->busy = calloc(n_cpus, sizeof(*load->busy));
	load->interrupts = calloc(n_cpus, sizeof(*load->interrupts));
	if (!load->busy || !load->interrupts)
		return -ENOMEM;
	for (size_t i = 0; i < n_cpus; i++)
		load->busy[i] = -1;
	r = watch_busy(mask, ns, load);
	if (r < 0)
		return r;
	r = file_read_all(AT_FDCWD, "/proc/interrupts", TABLE_MAX, &text, NULL);
	if (r == 0)
		(void)cpuload_parse_interrupts(text, n_cpus, load->interrupts);
	*ret = TAKE_PTR(load);
	return 0;
}

void cpuload_free(struct cpuload *load)
{
	if (!load)
		return;
	free(load->busy);
	free(load->interrupts);
	free(load);
}
