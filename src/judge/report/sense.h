/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which way is a benchmark better, and what is a change called? A time is faster or slower. A
 * figure of a program (judge/result/metric.h) has words of its own: of one in "requests/s" there
 * are "fewer requests/s", of any other it is "lower p99". Of what nobody says a direction (counters
 * of google-benchmark, page faults) there is less or more.
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
	bool is_speed;
	bool is_known; /* somebody has said which way the metric is better */
	bool is_gain;  /* more is better */
	bool is_exact; /* a single difference tells (struct event_kind) */
};

/* Of times that are no metric. */
extern const struct sense sense_of_time;
void sense_find(const struct benchmark *benchmark, struct sense *ret);

/* "slower", "fewer requests/s", "higher", "more". */
void sense_append(struct text *t, const struct sense *sense, bool is_worse);
/* The same with its name, where it stands alone: "higher p99". */
void sense_append_whole(struct text *t, const struct sense *sense, bool is_worse);

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
