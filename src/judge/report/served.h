/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a result of runserved says of a service under load, beside the figure that is judged. */
#ifndef QUIESCE_JUDGE_REPORT_SERVED_H
#define QUIESCE_JUDGE_REPORT_SERVED_H

#include <stdbool.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/result/benchmark.h"

/* Its figures as texts, "" where they are not known. */
struct served {
	char cpu[UNITS_TEXT_SIZE]; /* CPU time a request */
	char rate[UNITS_TEXT_SIZE];
	char latency[2 * UNITS_TEXT_SIZE]; /* "0.52/1.20 ms": of the two quantiles */
	const char *latency_name;	   /* "p50/p99", a static text; "" where it is not known */
	char busy[UNITS_TEXT_SIZE];
};

/* Whether the benchmark is a figure of a service that runserved has measured. */
bool served_is(const struct benchmark *benchmark);
/* Whether it is the one that was to decide, with which the rest is told. */
bool served_is_first(const struct benchmark *benchmark);
/* The name of the service, malloc'd, where it is the CPU time of a request, which its figure need
 * not be called; else that of the benchmark. */
char *served_name(const struct benchmark *benchmark);
void served_find(const struct benchmark *benchmark, struct served *ret);
/* Appends "  load ..." and "  limit ...", as far as they are known. with_requests: how many there
 * were. */
void served_append_load(struct text *t, const struct benchmark *benchmark, bool with_requests);

#endif
