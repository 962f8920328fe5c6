/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which way is a benchmark better, and what is a change called? A time is faster or slower. A
 * figure of a program (judge/result/metric.h) has words of its own: of one in "requests/s" there
 * are "fewer requests/s", one that is a time is longer or shorter, runserved's CPU time of a
 * service is "more CPU time a request", of any other it is "lower score". Of what nobody says a
 * direction (counters of google-benchmark, page faults) there is less or more.
 */
#ifndef QUIESCE_JUDGE_REPORT_SENSE_H
#define QUIESCE_JUDGE_REPORT_SENSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "judge/result/benchmark.h"

#define SENSE_NAME_SIZE 256

struct sense {
	const char *better, *worse;   /* static: "faster", "slower" */
	char metric[SENSE_NAME_SIZE]; /* "" of a time, and of what is no metric */
	char of[SENSE_NAME_SIZE];     /* what there is more or less of: "requests/s", or "" */
	const char *has;	      /* static: what the better one does, "has", "takes" or "is" */
	bool is_speed;
	bool is_length; /* a figure that is a time */
	bool is_known;	/* somebody has said which way the metric is better */
	bool is_gain;	/* more is better */
	bool is_exact;	/* a single difference tells (struct event_kind) */
};

/* Of times that are no metric. */
extern const struct sense sense_of_time;
void sense_find(const struct benchmark *benchmark, struct sense *ret);

/* "slower", "fewer requests/s", "longer", "higher", "more". */
void sense_append(struct text *t, const struct sense *sense, bool is_worse);
/* What a decision says: "slower by more than 1 %", "p99 longer by more than 1 %", "more than 1 %
 * fewer requests/s", "takes more than 1 % more CPU time a request", "more than 1 % higher score".
 */
void sense_append_more_than(
	struct text *t, const struct sense *sense, bool is_worse, double percent);
/* "not slower by 2 %", "p99 not longer by 2 %", "not 2 % fewer requests/s", "does not take 2 % more
 * CPU time a request". */
void sense_append_not(struct text *t, const struct sense *sense, bool is_worse, double percent);

/* Whether it is the CPU time that a service takes for a request. */
bool sense_is_cpu_time(const struct benchmark *benchmark);
/* Whether the machine's speed is in the values: of the figures of a program it is taken to be in
 * times, and in all but sizes of which more is better. */
bool sense_follows_machine(const struct benchmark *benchmark);

/* A ratio of values, new / old, as one of costs, which grows when it becomes worse; and back. */
double sense_cost(const struct sense *sense, double ratio);
/* The ratio of costs of what is worse, or better, by this part: 0.02 is a time that is longer by 2
 * %, and a rate that is lower by 2 %. */
double sense_worse_by(const struct sense *sense, double part);
double sense_better_by(const struct sense *sense, double part);

#endif
