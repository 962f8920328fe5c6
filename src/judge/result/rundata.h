/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the metadata of a run back into the sample and the evidence that they were written from
 * (judge/result/runfact.h has the names, judge/result/runwrite.h writes them). Of pyperf's own
 * metadata, cpu_temp and cpu_freq are used where they name one package and one frequency.
 */
#ifndef QUIESCE_JUDGE_RESULT_RUNDATA_H
#define QUIESCE_JUDGE_RESULT_RUNDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"
#include "judge/result/runfact.h"

/* The meaning of a name, so that names are looked up once for a file and not once for each run. */
struct run_field {
	const struct run_fact *fact; /* NULL: what is not kept */
	size_t event;		     /* event_names[event] of the series, where it is one */
};

#define RUN_EVENTS_MAX 64

/* A run that is being read. Not to be copied: `place` points into it. */
struct run_data {
	struct sample sample; /* start_ns: since 1970; negative: unknown */
	struct provenance provenance;
	struct evidence evidence;
	double counters[RUN_EVENTS_MAX];
	struct benchmark_run values; /* 0 loops: the metadata do not have them */
	struct run_place place;
};

/* Makes everything unknown. */
void run_data_clear(struct run_data *data);
/* Finds the field of a name. A new event is added to the series. What is evidence is not kept where
 * the series has none. */
void run_field_find(struct series *series, const char *name, struct run_field *ret);
/* Is the value of that field known? */
bool run_field_is_known(const struct run_field *field, const struct run_place *place);
/* A value of a type or range that the field cannot have is ignored: other tools may write anything
 * under these names. */
void run_field_read(const struct run_field *field, struct run_place *place, struct series *series,
	const struct fact *value);

#endif
