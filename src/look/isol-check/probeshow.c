// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "look/isol-check/probe.h"

enum {
	/* Up to so many CPUs are shown in full even without --verbose. */
	FULL_CPUS_MAX = 4,
	/* How many interrupts and tasks, and how many gaps, are shown. */
	NAMED_MAX = 8,
	LONGEST_MAX = 5,
	WIDTH_MAX = 100,
};

static double seconds(int64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static int64_t duration(const struct gaps *gaps)
{
	return gaps->ended - gaps->began;
}

static double rate(const struct gaps *gaps, uint64_t count)
{
	int64_t ns = duration(gaps);

	return ns > 0 ? (double)count / seconds(ns) : 0;
}

static uint64_t count_softirqs(const struct suspects *suspects)
{
	uint64_t n = 0;

	for (size_t i = 0; i < PROCSTAT_N_SOFTIRQS; i++)
		n += suspects->softirqs[i];
	return n;
}

/* --- JSON: a row for each number, so that a new kind of number needs no new column. --- */

static const struct table_column json_columns[] = {
	{ "cpu", TABLE_NUMBER },
	{ "subject", 0 },
	{ "name", 0 },
	{ "value", TABLE_NUMBER },
	{ "unit", 0 },
};

struct rows {
	struct table *table;
	int cpu; /* negative for none */
};

static void add_row(
	struct rows *rows, const char *subject, const char *name, double value, const char *unit)
{
	char cpu[16], number[32];
	const char *const cells[] = { rows->cpu < 0 ? NULL : cpu, subject, name, number, unit };

	snprintf(cpu, sizeof(cpu), "%d", rows->cpu);
	snprintf(number, sizeof(number), "%.15g", value);
	xcheck(table_add(rows->table, cells));
}

static void add_note(struct rows *rows, const char *note)
{
	const char *const cells[] = { NULL, "note", note, NULL, NULL };

	xcheck(table_add(rows->table, cells));
}

static void add_gaps(struct rows *rows, const struct gaps *gaps)
{
	char name[32];

	add_row(rows, "time", "measured", seconds(duration(gaps)), "s");
	add_row(rows, "time", "readings", (double)gaps->n_readings, "count");
	add_row(rows, "time", "step", (double)gaps->step, "ns");
	add_row(rows, "time", "threshold", (double)gaps->threshold, "ns");
	add_row(rows, "gaps", "count", (double)gaps->n, "count");
	add_row(rows, "gaps", "per second", gaps_per_second(gaps), "1/s");
	add_row(rows, "gaps", "stolen", seconds(gaps->total), "s");
	add_row(rows, "gaps", "share", gaps_share(gaps), "1");
	add_row(rows, "gaps", "longest", (double)gaps->longest.length, "ns");
	add_row(rows, "gaps", "longest at", seconds(gaps->longest.at), "s");
	add_row(rows, "gaps", "not kept", (double)gaps->n_dropped, "count");
	for (size_t i = 0; i < GAPS_BINS; i++) {
		snprintf(name, sizeof(name), "%llu us", (unsigned long long)gaps_bin_us(i));
		add_row(rows, "histogram", name, (double)gaps->bins[i], "count");
	}
}

static void add_core(struct rows *rows, const struct measured_core *core)
{
	if (core->n_looks == 0)
		return;
	add_row(rows, "core", "looks", (double)core->n_looks, "count");
	add_row(rows, "core", "share", core->share, "1");
	add_row(rows, "core", "shared", core->shared, "1");
	add_row(rows, "core", "whole core known", core->is_whole_known, "1");
	add_row(rows, "core", "lowest clock", core->hertz_low, "Hz");
	add_row(rows, "core", "clock", core->hertz_median, "Hz");
	add_row(rows, "core", "highest clock", core->hertz_high, "Hz");
}

static void add_suspects(struct rows *rows, const struct measured_cpu *cpu)
{
	const struct suspects *suspects = &cpu->suspects;

	add_row(rows, "scheduler", "preempted", (double)cpu->spin.preempted, "count");
	if (cpu->spin.waited_ns >= 0)
		add_row(rows, "scheduler", "waited", seconds(cpu->spin.waited_ns), "s");
	if (suspects->steal_ns >= 0)
		add_row(rows, "hypervisor", "steal", seconds(suspects->steal_ns), "s");
	for (size_t i = 0; i < suspects->n_interrupts; i++)
		add_row(rows, "interrupt", suspects->interrupts[i].name,
			(double)suspects->interrupts[i].count, "count");
	for (size_t i = 0; i < suspects->n_tasks; i++)
		add_row(rows, "task", suspects->tasks[i].name,
			seconds((int64_t)suspects->tasks[i].count), "s");
	for (size_t i = 0; i < PROCSTAT_N_SOFTIRQS; i++)
		if (suspects->softirqs[i] > 0)
			add_row(rows, "softirq", procstat_softirq_name(i), suspects->softirqs[i],
				"count");
}

static void add_osnoise(struct rows *rows, const struct osnoise *osnoise)
{
	for (size_t i = 0; i < osnoise->n; i++) {
		const struct osnoise_source *source = &osnoise->items[i];

		if (source->cpu != rows->cpu)
			continue;
		add_row(rows, "osnoise", source->name, seconds((int64_t)source->total_ns), "s");
		add_row(rows, "osnoise longest", source->name, (double)source->longest_ns, "ns");
	}
}

/* Calls act() for each line of the notes. */
static void for_each_note(const struct text *notes,
	void (*act)(struct rows *rows, const char *note), struct rows *rows)
{
	char *copy, *save = NULL;

	if (notes->length == 0)
		return;
	copy = xptr(strdup(notes->data));
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		act(rows, line);
	free(copy);
}

static int show_json(const struct probe *m)
{
	_cleanup_(table) struct table *table = NULL;
	struct rows rows = { 0 };

	xcheck(table_new("measure", json_columns, ARRAY_SIZE(json_columns), true, stdout, &table));
	rows.table = table;
	for_each_note(&m->notes, add_note, &rows);
	for (size_t i = 0; i < m->n; i++) {
		rows.cpu = m->cpus[i].spin.cpu;
		add_gaps(&rows, m->cpus[i].spin.gaps);
		add_core(&rows, &m->cpus[i].core);
		add_suspects(&rows, &m->cpus[i]);
		add_osnoise(&rows, &m->osnoise);
	}
	return xcheck(table_print(table));
}

/* --- Text. --- */

static const char *share_text(const struct gaps *gaps, char buf[static UNITS_TEXT_SIZE])
{
	return gaps->n == 0 ? "0 %" : units_format_percent(gaps_share(gaps), buf);
}

static int show_table(const struct probe *m)
{
	static const struct table_column columns[] = {
		{ "CPU", TABLE_RIGHT },
		{ "GAPS/S", TABLE_RIGHT },
		{ "STOLEN", TABLE_RIGHT },
		{ "LONGEST", TABLE_RIGHT },
		{ "GHZ", TABLE_RIGHT },
		{ "SHARED", TABLE_RIGHT },
		{ "PREEMPTED", TABLE_RIGHT },
		{ "SOFTIRQS", TABLE_RIGHT },
		{ "MOST FREQUENT INTERRUPT", TABLE_WRAP },
	};
	_cleanup_(table) struct table *table = NULL;

	xcheck(table_new("measure", columns, ARRAY_SIZE(columns), false, stdout, &table));
	for (size_t i = 0; i < m->n; i++) {
		const struct measured_cpu *cpu = &m->cpus[i];
		char number[16], gaps[32], share[UNITS_TEXT_SIZE], longest[UNITS_TEXT_SIZE];
		char preempted[32], softirqs[32], clock[16] = "", shared[16] = "";
		const char *const cells[] = { number, gaps, share_text(cpu->spin.gaps, share),
			cpu->spin.gaps->n > 0
				? units_format_seconds(
					  seconds(cpu->spin.gaps->longest.length), longest)
				: "none",
			clock, shared, preempted, softirqs,
			cpu->suspects.n_interrupts > 0 ? cpu->suspects.interrupts[0].name : NULL };

		snprintf(number, sizeof(number), "%d", cpu->spin.cpu);
		if (cpu->core.n_looks > 0) {
			snprintf(clock, sizeof(clock), "%.2f", cpu->core.hertz_median / 1e9);
			snprintf(shared, sizeof(shared), "%.0f %%", cpu->core.shared * 100);
		}
		snprintf(gaps, sizeof(gaps), "%.1f", gaps_per_second(cpu->spin.gaps));
		snprintf(preempted, sizeof(preempted), "%llu",
			(unsigned long long)cpu->spin.preempted);
		snprintf(softirqs, sizeof(softirqs), "%llu",
			(unsigned long long)count_softirqs(&cpu->suspects));
		xcheck(table_add(table, cells));
	}
	return xcheck(table_print(table));
}

/* Prints lines like "  1 us: 1250 ####", from the first bin with a gap to the last. */
static void show_histogram(const struct gaps *gaps, int width)
{
	size_t first = 0, last = GAPS_BINS - 1;
	char hashes[WIDTH_MAX];
	uint64_t most = 0;

	memset(hashes, '#', sizeof(hashes));
	while (first < last && gaps->bins[first] == 0)
		first++;
	while (last > first && gaps->bins[last] == 0)
		last--;
	for (size_t i = first; i <= last; i++)
		most = MAX(most, gaps->bins[i]);
	for (size_t i = first; i <= last; i++) {
		uint64_t us = gaps_bin_us(i);
		int bar = (int)((double)gaps->bins[i] / (double)most * (width - 24) + 0.5);

		if (us < 1024)
			xprint(stdout, "  %6llu us: ", (unsigned long long)us);
		else if (i < GAPS_BINS - 1)
			xprint(stdout, "  %6llu ms: ", (unsigned long long)(us / 1024));
		else
			xprint(stdout, "  %6s s:  ", ">= 1");
		xprint(stdout, "%10llu", (unsigned long long)gaps->bins[i]);
		xprint(stdout, "%s%.*s\n", gaps->bins[i] > 0 ? " " : "",
			MAX(bar, gaps->bins[i] > 0 ? 1 : 0), hashes);
	}
}

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->length != y->length ? (x->length < y->length) - (x->length > y->length)
				      : (x->at > y->at) - (x->at < y->at);
}

static void show_longest(const struct gaps *gaps)
{
	char length[UNITS_TEXT_SIZE];
	struct gap *sorted;

	if (gaps->n_kept < 2)
		return;
	sorted = xptr(reallocarray(NULL, gaps->n_kept, sizeof(*sorted)));
	memcpy(sorted, gaps->kept, gaps->n_kept * sizeof(*sorted));
	qsort(sorted, gaps->n_kept, sizeof(*sorted), compare_gaps);
	xprint(stdout, "  the longest%s:\n",
		gaps->n_dropped > 0 ? " of those that there was room to keep" : "");
	for (size_t i = 0; i < MIN(gaps->n_kept, (size_t)LONGEST_MAX); i++)
		xprint(stdout, "  %12s at %.6f s\n",
			units_format_seconds(seconds(sorted[i].length), length),
			seconds(sorted[i].at));
	free(sorted);
}

static void show_interrupts(const struct measured_cpu *cpu, int width)
{
	const struct suspects *suspects = &cpu->suspects;
	size_t shown = MIN(suspects->n_interrupts, (size_t)NAMED_MAX);
	uint64_t others = 0;

	for (size_t i = 0; i < suspects->n_interrupts; i++) {
		const struct suspect *suspect = &suspects->interrupts[i];

		if (i >= shown) {
			others += suspect->count;
			continue;
		}
		xprint(stdout, "  %10llu %10.1f/s  %.*s\n", (unsigned long long)suspect->count,
			rate(cpu->spin.gaps, suspect->count), MAX(width - 27, 10), suspect->name);
	}
	if (others > 0)
		xprint(stdout, "  %10llu %10.1f/s  of %zu other lines\n",
			(unsigned long long)others, rate(cpu->spin.gaps, others),
			suspects->n_interrupts - shown);
}

static void show_others(const struct measured_cpu *cpu)
{
	const struct suspects *suspects = &cpu->suspects;
	char buf[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < PROCSTAT_N_SOFTIRQS; i++)
		if (suspects->softirqs[i] > 0)
			xprint(stdout, "  %10u %10.1f/s  softirq %s\n", suspects->softirqs[i],
				rate(cpu->spin.gaps, suspects->softirqs[i]),
				procstat_softirq_name(i));
	if (cpu->spin.preempted > 0)
		xprint(stdout, "  %10llu %10.1f/s  times another task came first\n",
			(unsigned long long)cpu->spin.preempted,
			rate(cpu->spin.gaps, cpu->spin.preempted));
	if (cpu->spin.waited_ns > 0)
		xprint(stdout, "  %22s    waited while other tasks ran\n",
			units_format_seconds(seconds(cpu->spin.waited_ns), buf));
	for (size_t i = 0; i < MIN(suspects->n_tasks, (size_t)NAMED_MAX); i++)
		xprint(stdout, "  %22s    ran %s\n",
			units_format_seconds(seconds((int64_t)suspects->tasks[i].count), buf),
			suspects->tasks[i].name);
	if (suspects->steal_ns > 0)
		xprint(stdout, "  %22s    stolen by the hypervisor (counted in ticks)\n",
			units_format_seconds(seconds(suspects->steal_ns), buf));
}

/* Prints the sources with the longest total time first. */
static void show_osnoise(const struct osnoise *osnoise, int cpu, int width)
{
	char total[UNITS_TEXT_SIZE], longest[UNITS_TEXT_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < osnoise->n; i++) {
		const struct osnoise_source *source = &osnoise->items[i];

		if (source->cpu != cpu || n >= NAMED_MAX)
			continue;
		if (n++ == 0)
			xprint(stdout, "  who took it, by the kernel's osnoise tracer:\n");
		xprint(stdout, "  %12s in %8llu times, the longest %s: %.*s\n",
			units_format_seconds(seconds((int64_t)source->total_ns), total),
			(unsigned long long)source->count,
			units_format_seconds(seconds((int64_t)source->longest_ns), longest),
			MAX(width - 56, 10), source->name);
	}
}

static void show_core(const struct measured_core *core)
{
	if (core->n_looks == 0)
		return;
	xprint(stdout,
		"  the core: %.2f GHz (%.2f .. %.2f), %.0f %% of a whole one in the mean%s,\n"
		"  shared with another hardware thread in %.0f %% of %zu looks\n",
		core->hertz_median / 1e9, core->hertz_low / 1e9, core->hertz_high / 1e9,
		core->share * 100, core->is_whole_known ? "" : " (it seems)", core->shared * 100,
		core->n_looks);
}

static void show_cpu(const struct measured_cpu *cpu, const struct osnoise *osnoise, int width)
{
	const struct gaps *gaps = cpu->spin.gaps;
	char share[UNITS_TEXT_SIZE], total[UNITS_TEXT_SIZE], longest[UNITS_TEXT_SIZE];
	char shortest[UNITS_TEXT_SIZE];

	xprint(stdout, "CPU %d: %.2f s, the clock read every %lld ns\n", cpu->spin.cpu,
		seconds(duration(gaps)), (long long)gaps->step);
	units_format_seconds(seconds(gaps->threshold), shortest);
	show_core(&cpu->core);
	if (gaps->n == 0) {
		xprint(stdout, "  no gap of %s or longer\n", shortest);
	} else {
		xprint(stdout,
			"  %llu gaps of %s or longer, %.1f a second, the longest %s\n"
			"  %s of the time was gone (%s)\n\n",
			(unsigned long long)gaps->n, shortest, gaps_per_second(gaps),
			units_format_seconds(seconds(gaps->longest.length), longest),
			share_text(gaps, share), units_format_seconds(seconds(gaps->total), total));
		show_histogram(gaps, width);
		show_longest(gaps);
	}
	if (cpu->suspects.n_interrupts > 0 || count_softirqs(&cpu->suspects) > 0 ||
		cpu->spin.preempted > 0)
		xprint(stdout, "  what happened on the CPU meanwhile:\n");
	show_interrupts(cpu, width);
	show_others(cpu);
	show_osnoise(osnoise, cpu->spin.cpu, width);
}

static void print_note(struct rows *rows, const char *note)
{
	(void)rows;
	xprint(stdout, "note: %s\n", note);
}

int probe_show(const struct probe *m, bool json, bool verbose)
{
	int width = (int)MIN(terminal_width(STDOUT_FILENO), (unsigned)WIDTH_MAX);
	int r;

	if (json)
		return show_json(m);
	for_each_note(&m->notes, print_note, NULL);
	if (m->notes.length > 0)
		xprint(stdout, "\n");
	r = m->n > 1 ? show_table(m) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->n && (m->n <= FULL_CPUS_MAX || verbose); i++) {
		if (i > 0 || m->n > 1)
			xprint(stdout, "\n");
		show_cpu(&m->cpus[i], &m->osnoise, width);
	}
	return print_finish(stdout);
}
