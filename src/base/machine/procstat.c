// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/cputable.h"
#include "base/machine/procstat.h"
#include "base/macro.h"
#include "base/parse.h"

static const char *const softirq_names[PROCSTAT_N_SOFTIRQS] = {
	"HI",
	"TIMER",
	"NET_TX",
	"NET_RX",
	"BLOCK",
	"IRQ_POLL",
	"TASKLET",
	"SCHED",
	"HRTIMER",
	"RCU",
};

struct procstat {
	struct cpumask *mask;
	int64_t tick_ns;
	struct cputable table; /* columns of /proc/softirqs */
};

const char *procstat_softirq_name(size_t kind)
{
	return kind < PROCSTAT_N_SOFTIRQS ? softirq_names[kind] : NULL;
}

/* --- /proc/stat */

/* user nice system idle iowait irq softirq steal: steal came with 2.6.11. */
enum {
	USER,
	NICE,
	SYSTEM,
	IDLE,
	IOWAIT,
	IRQ,
	SOFTIRQ,
	STEAL,
	N_FIELDS,
};

static int parse_row(const char *at, int64_t tick_ns, struct procstat_times *ret)
{
	uint64_t fields[N_FIELDS] = { 0 };
	uint64_t busy;
	size_t n = 0;

	while (n < N_FIELDS && parse_next_u64(&at, &fields[n]) == 0)
		n++;
	if (n <= IDLE)
		return -EBADMSG;
	busy = fields[USER] + fields[NICE] + fields[SYSTEM] + fields[IRQ] + fields[SOFTIRQ];
	*ret = (struct procstat_times){
		.busy_ns = (int64_t)(busy * (uint64_t)tick_ns),
		.steal_ns = (int64_t)(fields[STEAL] * (uint64_t)tick_ns),
		.idle_ns = (int64_t)((fields[IDLE] + fields[IOWAIT]) * (uint64_t)tick_ns),
		.n_cpus = 1,
	};
	return 0;
}

int procstat_next_times(const struct cpumask *mask, const char **at, const char *end,
	int64_t tick_ns, int *ret_cpu, struct procstat_times *ret)
{
	int last = cpumask_last(mask);

	/* The rows of the CPUs are first, in ascending order. */
	while (*at < end) {
		const char *row = *at, *cursor = row + 3;
		const char *newline = memchr(row, '\n', (size_t)(end - row));
		uint64_t cpu;
		int r;

		if (!newline)
			return -EAGAIN;
		if (strncmp(row, "cpu", 3) != 0)
			return 0;
		*at = newline + 1;
		/* "cpu ": the sums of all CPUs. */
		if (*cursor == ' ')
			continue;
		if (parse_next_u64(&cursor, &cpu) < 0 || *cursor != ' ' || cpu > INT_MAX)
			return -EBADMSG;
		if ((int)cpu > last)
			return 0;
		if (!cpumask_isset(mask, (int)cpu))
			continue;
		r = parse_row(cursor, tick_ns, ret);
		if (r < 0)
			return r;
		*ret_cpu = (int)cpu;
		return 1;
	}
	return -EAGAIN;
}

int procstat_parse_times(const struct cpumask *mask, const char *text, size_t length,
	int64_t tick_ns, struct procstat_times *ret)
{
	const char *end = text + length;
	struct procstat_times times = { 0 }, one;
	int r, cpu = -1, last = cpumask_last(mask);

	do {
		r = procstat_next_times(mask, &text, end, tick_ns, &cpu, &one);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		times.busy_ns += one.busy_ns;
		times.steal_ns += one.steal_ns;
		times.idle_ns += one.idle_ns;
		times.n_cpus++;
	} while (cpu != last);
	if (times.n_cpus == 0)
		return -ENODEV;
	*ret = times;
	return 0;
}

int procstat_take_times(
	const struct procstat *p, const char *text, size_t length, struct procstat_times *ret)
{
	int r = procstat_parse_times(p->mask, text, length, p->tick_ns, ret);

	/* The text is complete, so a missing row is an error. */
	return r == -EAGAIN ? -EBADMSG : r;
}

/* --- /proc/softirqs */

static int softirq_kind(const char *name, size_t length)
{
	for (size_t i = 0; i < PROCSTAT_N_SOFTIRQS; i++)
		if (strlen(softirq_names[i]) == length &&
			memcmp(softirq_names[i], name, length) == 0)
			return (int)i;
	/* IRQ_POLL had this name before Linux 4.5. */
	if (length == strlen("BLOCK_IOPOLL") && memcmp(name, "BLOCK_IOPOLL", length) == 0)
		return softirq_kind("IRQ_POLL", strlen("IRQ_POLL"));
	return -1;
}

static int parse_softirqs(struct cputable *table, const struct cpumask *mask, const char *text,
	size_t length, struct procstat_softirqs *ret)
{
	struct procstat_softirqs softirqs = { 0 };
	const char *at = text, *end = text + length;
	struct cputable_row row;
	bool found = false;
	int r;

	r = cputable_take_header(table, mask, &at, end);
	if (r < 0)
		return r;
	if (table->n_wanted == 0)
		return -ENODEV;
	while (cputable_next_row(&at, end, &row)) {
		int kind = softirq_kind(row.label, row.label_length);

		if (kind < 0)
			continue;
		if (!cputable_sum(table, &row))
			return -EBADMSG;
		softirqs.counts[kind] = row.value;
		found = true;
	}
	if (!found)
		return -EBADMSG;
	*ret = softirqs;
	return 0;
}

int procstat_parse_softirqs(
	const struct cpumask *mask, const char *text, size_t length, struct procstat_softirqs *ret)
{
	struct cputable table = { 0 };
	int r;

	r = parse_softirqs(&table, mask, text, length, ret);
	cputable_clear(&table);
	return r;
}

int procstat_take_softirqs(
	struct procstat *p, const char *text, size_t length, struct procstat_softirqs *ret)
{
	return parse_softirqs(&p->table, p->mask, text, length, ret);
}

int procstat_parse_running(const char *text, unsigned *ret)
{
	static const char row[] = "\nprocs_running ";
	const char *at = strstr(text, row);
	uint64_t running;

	if (!at)
		return -EBADMSG;
	at += strlen(row);
	if (parse_next_u64(&at, &running) < 0 || *at != '\n' || running > UINT_MAX)
		return -EBADMSG;
	*ret = (unsigned)running;
	return 0;
}

/* --- /proc/loadavg */

/* "0.15 0.04 0.01 3/91 5347" (proc(5)) */
int procstat_parse_load(const char *text, struct procstat_load *ret)
{
	struct procstat_load load;
	const char *cursor = strchr(text, ' ');
	size_t length = cursor ? (size_t)(cursor - text) : 0;
	char load1[32];
	uint64_t runnable;

	if (length == 0 || length >= sizeof(load1))
		return -EBADMSG;
	memcpy(load1, text, length);
	load1[length] = '\0';
	if (parse_double(load1, 0, INT_MAX, &load.load1) < 0)
		return -EBADMSG;
	for (int i = 0; i < 2 && cursor; i++)
		cursor = strchr(cursor + 1, ' ');
	if (!cursor || parse_next_u64(&cursor, &runnable) < 0 || *cursor != '/' ||
		runnable > UINT_MAX)
		return -EBADMSG;
	load.runnable = (unsigned)runnable;
	*ret = load;
	return 0;
}

/* --- */

int procstat_new(const struct cpumask *mask, struct procstat **ret)
{
	_cleanup_(procstat) struct procstat *p = NULL;
	long ticks = sysconf(_SC_CLK_TCK);
	int r;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	r = cpumask_copy(mask, &p->mask);
	if (r < 0)
		return r;
	p->tick_ns = NSEC_PER_SEC / (ticks > 0 ? ticks : 100);
	*ret = TAKE_PTR(p);
	return 0;
}

void procstat_free(struct procstat *p)
{
	if (!p)
		return;
	cputable_clear(&p->table);
	cpumask_free(p->mask);
	free(p);
}
