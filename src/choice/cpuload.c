// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/file.h"
#include "basic/macro.h"
#include "basic/parse.h"
#include "choice/cpuload.h"
#include "machine/interrupts.h"
#include "machine/procstat.h"

enum {
	TABLE_MAX = 64 * 1024 * 1024,
};

/* Time that each CPU was busy since boot, in ticks; -1 where /proc/stat does not tell. */
static int read_busy_ticks(const struct cpumask *mask, size_t n_cpus, int64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(cpumask) struct cpumask *one = NULL;
	size_t length;
	int r;

	for (size_t i = 0; i < n_cpus; i++)
		ret[i] = -1;
	r = cpumask_new(&one);
	if (r < 0)
		return r;
	r = file_read_all(AT_FDCWD, "/proc/stat", TABLE_MAX, &text, &length);
	if (r < 0)
		return r;
	cpumask_for_each (cpu, mask) {
		struct procstat_times times;

		if ((size_t)cpu >= n_cpus)
			break;
		cpumask_clear_all(one);
		if (cpumask_set(one, cpu) < 0)
			continue;
		/* With a tick of length 1 the sum is in ticks. */
		if (procstat_parse_times(one, text, length, 1, &times) == 0)
			ret[cpu] = times.busy_ns;
	}
	return 0;
}

/* Leaves all shares unknown where the file cannot be read. */
static int watch_busy(const struct cpumask *mask, int64_t ns, struct cpuload *load)
{
	_cleanup_free_ int64_t *before = NULL, *after = NULL;
	struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
	double ticks = (double)ns / NSEC_PER_SEC * (double)sysconf(_SC_CLK_TCK);

	before = calloc(load->n_cpus, sizeof(*before));
	after = calloc(load->n_cpus, sizeof(*after));
	if (!before || !after)
		return -ENOMEM;
	if (read_busy_ticks(mask, load->n_cpus, before) < 0)
		return 0;
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	if (read_busy_ticks(mask, load->n_cpus, after) < 0)
		return 0;
	for (size_t i = 0; i < load->n_cpus; i++) {
		if (before[i] >= 0 && after[i] >= before[i])
			load->busy[i] = MIN(1.0, (double)(after[i] - before[i]) / ticks);
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool ends_word(char c)
{
	return is_blank(c) || c == '\n' || c == '\0';
}

/* "           CPU0       CPU1 ...", of which the columns' CPUs are allocated. */
static int parse_header(const char *line, int **ret, size_t *ret_n)
{
	_cleanup_free_ int *columns = NULL;
	const char *end = strchrnul(line, '\n');
	size_t n = 0;

	/* Each takes "CPU" and a digit, at least. */
	columns = calloc((size_t)(end - line) / 4 + 1, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	for (const char *at = line;;) {
		uint64_t cpu;

		while (is_blank(*at))
			at++;
		if (at == end)
			break;
		if (strncmp(at, "CPU", 3) != 0 || is_blank(at[3]))
			return -EBADMSG;
		at += 3;
		if (parse_next_u64(&at, &cpu) < 0 || cpu >= CPUMASK_CAPACITY || !ends_word(*at))
			return -EBADMSG;
		columns[n++] = (int)cpu;
	}
	if (n == 0)
		return -EBADMSG;
	*ret = TAKE_PTR(columns);
	*ret_n = n;
	return 0;
}

/* The n numbers of a row, and where they end: NULL when it has fewer. */
static const char *parse_columns(const char *at, size_t n, uint64_t *ret)
{
	for (size_t i = 0; i < n; i++)
		if (parse_next_u64(&at, &ret[i]) < 0 || !ends_word(*at))
			return NULL;
	return at;
}

int cpuload_parse_interrupts(const char *text, size_t n_cpus, uint64_t *counts)
{
	_cleanup_free_ int *columns = NULL;
	_cleanup_free_ uint64_t *row = NULL;
	size_t n;
	int r;

	r = parse_header(text, &columns, &n);
	if (r < 0)
		return r;
	row = calloc(n, sizeof(*row));
	if (!row)
		return -ENOMEM;

	for (const char *end = strchrnul(text, '\n'); *end == '\n';) {
		const char *label = end + 1, *colon, *tail;

		end = strchrnul(label, '\n');
		while (is_blank(*label))
			label++;
		colon = memchr(label, ':', (size_t)(end - label));
		if (!colon || colon == label)
			continue;
		tail = parse_columns(colon + 1, n, row);
		if (!tail ||
			interrupts_classify(label, (size_t)(colon - label), tail,
				(size_t)(end - tail)) != INTERRUPT_DEVICE)
			continue;
		for (size_t i = 0; i < n; i++)
			if ((size_t)columns[i] < n_cpus)
				counts[columns[i]] += row[i];
	}
	return 0;
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
