// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/cpuload.h"
#include "base/machine/cputable.h"
#include "base/machine/interrupts.h"
#include "base/machine/procstat.h"
#include "base/macro.h"
#include "base/parse.h"

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
	r = file_read_all("/proc/stat", TABLE_MAX, &text, &length);
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

/* Moves on to the next row of a device, and splits its columns. */
static bool next_device(const struct cputable *table, const char **text, const char *end,
	struct cputable_row *ret, uint64_t *values)
{
	while (cputable_next_row(text, end, ret)) {
		const char *tail = parse_columns(ret->columns, table->n_columns, values);

		if (tail &&
			interrupts_classify(ret->label, ret->label_length, tail,
				(size_t)(ret->end - tail)) == INTERRUPT_DEVICE)
			return true;
	}
	return false;
}

/* Takes the header off the text; *ret_values has room for a row. */
static int begin_table(struct cputable *table, const char **text, uint64_t **ret_values)
{
	int r;

	r = cputable_take_header(table, NULL, text, *text + strlen(*text));
	if (r < 0)
		return r;
	*ret_values = calloc(table->n_columns, sizeof(**ret_values));
	return *ret_values ? 0 : -ENOMEM;
}

int cpuload_parse_interrupts(const char *text, size_t n_cpus, uint64_t *counts)
{
	_cleanup_free_ uint64_t *values = NULL;
	const char *end = text + strlen(text);
	struct cputable table = { 0 };
	struct cputable_row row;
	int r;

	r = begin_table(&table, &text, &values);
	while (r == 0 && next_device(&table, &text, end, &row, values)) {
		for (size_t i = 0; i < table.n_columns; i++)
			if ((size_t)table.cpus[i] < n_cpus)
				counts[table.cpus[i]] += values[i];
	}
	cputable_clear(&table);
	return r;
}

/* The CPUs that a fixed line interrupts for the work of other cores; none for any other line. */
static void find_fixed(const struct topology *topology, const struct irqlines *lines,
	const struct irqline *line, struct cpumask *scratch, struct cpumask *core,
	struct cpumask *ret)
{
	cpumask_clear_all(ret);
	if (irqline_is_fixed(lines, line) <= 0 ||
		irqline_read_affinity(lines, line->number, scratch) < 0)
		return;
	cpumask_and(scratch, scratch, topology->online);
	if (irqline_read_effective(lines, line->number, ret) < 0)
		cpumask_assign(ret, scratch);
	cpumask_for_each (cpu, ret) {
		topology_get_siblings(topology, cpu, core);
		if (cpumask_subset(scratch, core))
			cpumask_clear(ret, cpu);
	}
}

int cpuload_add_fixed(const char *text, const struct topology *topology,
	const struct irqlines *lines, uint64_t *counts)
{
	_cleanup_(cpumask) struct cpumask *scratch = NULL, *core = NULL, *cpus = NULL;
	_cleanup_free_ uint64_t *values = NULL;
	const char *end = text + strlen(text);
	struct cputable table = { 0 };
	struct cputable_row row;
	int r;

	if (cpumask_new(&scratch) < 0 || cpumask_new(&core) < 0 || cpumask_new(&cpus) < 0)
		return -ENOMEM;
	r = begin_table(&table, &text, &values);
	while (r == 0 && next_device(&table, &text, end, &row, values)) {
		const struct irqline *line = irqlines_find(lines, &row);

		if (!line)
			continue;
		find_fixed(topology, lines, line, scratch, core, cpus);
		for (size_t i = 0; i < table.n_columns; i++)
			if ((size_t)table.cpus[i] < topology->n_cpus &&
				cpumask_isset(cpus, table.cpus[i]))
				counts[table.cpus[i]] += values[i];
	}
	cputable_clear(&table);
	return r;
}

/* Counts stay 0 where the files cannot be read. */
static int count_interrupts(const struct topology *topology, struct cpuload *load)
{
	_cleanup_free_ char *text = NULL;
	struct irqlines lines = { 0 };
	int r;

	r = file_read_all("/proc/interrupts", TABLE_MAX, &text, NULL);
	if (r == 0)
		r = cpuload_parse_interrupts(text, load->n_cpus, load->interrupts);
	if (r == 0)
		r = irqlines_read(&lines);
	if (r == 0 && lines.old_kernel != 0)
		r = irqlines_take_names(&lines, text);
	if (r == 0)
		r = cpuload_add_fixed(text, topology, &lines, load->fixed);
	irqlines_clear(&lines);
	return r == -ENOMEM ? r : 0;
}

int cpuload_watch(const struct topology *topology, int64_t ns, struct cpuload **ret)
{
	_cleanup_(cpuload) struct cpuload *load = NULL;
	int r;

	load = calloc(1, sizeof(*load));
	if (!load)
		return -ENOMEM;
	load->n_cpus = topology->n_cpus;
	load->busy = calloc(load->n_cpus, sizeof(*load->busy));
	load->interrupts = calloc(load->n_cpus, sizeof(*load->interrupts));
	load->fixed = calloc(load->n_cpus, sizeof(*load->fixed));
	if (!load->busy || !load->interrupts || !load->fixed)
		return -ENOMEM;
	for (size_t i = 0; i < load->n_cpus; i++)
		load->busy[i] = -1;
	r = topology->renumbered ? 0 : watch_busy(topology->online, ns, load);
	if (r == 0)
		r = count_interrupts(topology, load);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(load);
	return 0;
}

void cpuload_free(struct cpuload *load)
{
	if (!load)
		return;
	free(load->busy);
	free(load->interrupts);
	free(load->fixed);
	free(load);
}
