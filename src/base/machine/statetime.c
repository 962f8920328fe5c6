// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/machine/cpuidle.h"
#include "base/machine/cpupower.h"
#include "base/machine/statetime.h"
#include "base/macro.h"
#include "base/parse.h"

enum {
	/* Of the mean, what a tick may make: one part in so many. */
	RESOLUTION_PART = 200,
};

enum kind {
	KIND_IDLE,    /* the time in a deep state */
	KIND_CHANGES, /* total_trans */
	KIND_TABLE,   /* time_in_state */
};

/* A file, and what it said in two readings. */
struct counter {
	enum kind kind;
	int cpu;
	unsigned state; /* of KIND_IDLE */
	bool known[2];	/* in the newest two readings */
	uint64_t values[2];
	struct statetime_table *tables; /* of KIND_TABLE: two */
};

struct statetime {
	struct counter *counters;
	size_t n;
	unsigned now; /* which of the two readings is the newest */
};

static int add_counter(struct statetime *states, enum kind kind, int cpu, unsigned state)
{
	struct counter *counters = reallocarray(states->counters, states->n + 1, sizeof(*counters));
	struct counter counter = { .kind = kind, .cpu = cpu, .state = state };

	if (!counters)
		return -ENOMEM;
	states->counters = counters;
	if (kind == KIND_TABLE) {
		counter.tables = calloc(2, sizeof(*counter.tables));
		if (!counter.tables)
			return -ENOMEM;
	}
	states->counters[states->n++] = counter;
	return 0;
}

/* Adds the deep states of all CPUs, or none when those of a CPU are not known. */
static int add_idle_states(struct statetime *states, const struct cpumask *cpus)
{
	size_t n = states->n;

	cpumask_for_each (cpu, cpus) {
		struct cpuidle cpuidle;
		int r = cpuidle_read(cpu, &cpuidle);

		if (r == -ENOMEM)
			return r;
		if (r < 0 || cpuidle.unread) {
			states->n = n;
			return 0;
		}
		for (unsigned i = 0; i < cpuidle.n; i++) {
			const struct cpuidle_state *state = &cpuidle.states[i];

			if (state->polling || state->latency_us <= CPUIDLE_HALT_US)
				continue;
			r = add_counter(states, KIND_IDLE, cpu, i);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Adds what each policy of the CPUs counts, once for all its CPUs. */
static int add_policies(struct statetime *states, const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *left = NULL;
	int r;

	r = cpumask_copy(cpus, &left);
	if (r < 0)
		return r;
	cpumask_for_each (cpu, cpus) {
		_cleanup_(cpumask) struct cpumask *related = NULL;
		char path[CPUFREQ_PATH_SIZE];

		/* If one CPU has no such file, no CPU has. */
		if (access(cpufreq_path(cpu, "stats/time_in_state", path), R_OK) < 0)
			break;
		if (!cpumask_isset(left, cpu))
			continue;
		r = cpupower_read_related(cpu, &related);
		if (r == -EOPNOTSUPP)
			return 0;
		if (r == 0)
			cpumask_andnot(left, left, related);
		if (r < 0 && r != -ENOENT)
			return r;
		r = add_counter(states, KIND_CHANGES, cpu, 0);
		if (r == 0)
			r = add_counter(states, KIND_TABLE, cpu, 0);
		if (r < 0)
			return r;
	}
	return 0;
}

int statetime_open(const struct cpumask *cpus, struct statetime **ret)
{
	_cleanup_(statetime) struct statetime *states = calloc(1, sizeof(*states));
	int r = 0;

	if (!states)
		return -ENOMEM;
	if (cpumask_weight(cpus) <= STATETIME_CPUS_MAX) {
		r = add_idle_states(states, cpus);
		if (r == 0)
			r = add_policies(states, cpus);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(states);
	return 0;
}

void statetime_free(struct statetime *states)
{
	if (!states)
		return;
	for (size_t i = 0; i < states->n; i++)
		free(states->counters[i].tables);
	free(states->counters);
	free(states);
}

size_t statetime_count(const struct statetime *states)
{
	return states->n;
}

const char *statetime_path(
	const struct statetime *states, size_t index, char buf[static CPUFREQ_PATH_SIZE])
{
	const struct counter *counter = &states->counters[index];

	_Static_assert((int)CPUIDLE_PATH_SIZE <= (int)CPUFREQ_PATH_SIZE, "one buffer for both");
	if (counter->kind == KIND_IDLE)
		return cpuidle_path(counter->cpu, counter->state, "time", buf);
	return cpufreq_path(counter->cpu,
		counter->kind == KIND_TABLE ? "stats/time_in_state" : "stats/total_trans", buf);
}

int statetime_parse_table(const char *text, struct statetime_table *ret)
{
	ret->n = 0;
	while (*text) {
		uint64_t khz, ticks;

		if (parse_next_u64(&text, &khz) < 0 || *text != ' ' ||
			parse_next_u64(&text, &ticks) < 0 || (*text != '\n' && *text != '\0'))
			return -EBADMSG;
		text += *text == '\n';
		if (ret->n == CPUFREQ_TABLE_MAX)
			return -ENOBUFS;
		ret->khz[ret->n] = khz;
		ret->ticks[ret->n++] = ticks;
	}
	return ret->n > 0 ? 0 : -EBADMSG;
}

void statetime_begin(struct statetime *states)
{
	states->now = !states->now;
	for (size_t i = 0; i < states->n; i++)
		states->counters[i].known[states->now] = false;
}

void statetime_add(struct statetime *states, size_t index, const char *text)
{
	struct counter *counter = &states->counters[index];
	unsigned now = states->now;

	counter->known[now] = (counter->tables ? statetime_parse_table(text, &counter->tables[now])
					       : parse_attr_u64(text, &counter->values[now])) == 0;
}

/* By how much the counters of a kind have grown together; -1 where there are none, or one of them
 * is not known. */
static int64_t sum_growth(const struct statetime *states, enum kind kind)
{
	unsigned now = states->now, before = !now;
	int64_t sum = -1;

	for (size_t i = 0; i < states->n; i++) {
		const struct counter *c = &states->counters[i];
		uint64_t growth = c->values[now] - c->values[before];

		if (c->kind != kind)
			continue;
		/* A counter that has begun anew, as one of a policy that was removed and made
		 * again, tells nothing. */
		if (!c->known[before] || !c->known[now] || c->values[now] < c->values[before] ||
			growth > (uint64_t)INT64_MAX / NSEC_PER_SEC)
			return -1;
		sum = MAX(sum, (int64_t)0) + (int64_t)growth;
	}
	return sum;
}

/* What the tables of all policies tell of the time between two readings. */
struct ticks {
	unsigned n_policies;
	double total;
	double weighted; /* by the frequency in kHz */
	uint64_t lowest; /* of all frequencies in the tables, in kHz */
	uint64_t highest;
};

/* Returns false when the tables of a policy do not tell. */
static bool add_ticks(struct ticks *ticks, const struct counter *c, unsigned newest)
{
	const struct statetime_table *before = &c->tables[!newest], *now = &c->tables[newest];

	if (!c->known[0] || !c->known[1] || before->n != now->n)
		return false;
	ticks->n_policies++;
	for (size_t i = 0; i < now->n; i++) {
		double growth = (double)now->ticks[i] - (double)before->ticks[i];

		if (now->khz[i] != before->khz[i] || now->ticks[i] < before->ticks[i])
			return false;
		ticks->total += growth;
		ticks->weighted += growth * (double)now->khz[i];
		ticks->lowest = MIN(ticks->lowest, now->khz[i]);
		ticks->highest = MAX(ticks->highest, now->khz[i]);
	}
	return true;
}

static int64_t find_mean(const struct statetime *states, int64_t changes)
{
	struct ticks ticks = { .lowest = UINT64_MAX };

	for (size_t i = 0; i < states->n; i++)
		if (states->counters[i].tables &&
			!add_ticks(&ticks, &states->counters[i], states->now))
			return -1;
	if (ticks.total <= 0 ||
		(changes != 0 &&
			(double)(ticks.highest - ticks.lowest) * ticks.n_policies *
					RESOLUTION_PART >
				ticks.weighted))
		return -1;
	return (int64_t)(ticks.weighted / ticks.total + 0.5);
}

void statetime_compare(const struct statetime *states, struct statetime_change *ret)
{
	int64_t deep_us = sum_growth(states, KIND_IDLE);

	ret->deep_idle_ns = deep_us < 0 ? -1 : deep_us * NSEC_PER_USEC;
	ret->frequency_changes = sum_growth(states, KIND_CHANGES);
	ret->mean_khz = find_mean(states, ret->frequency_changes);
}
