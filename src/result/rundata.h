/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the metadata of a run back into the sample and the evidence that they were written from
 * (result/document.h has the names, result/runwrite.h writes them). Of pyperf's own metadata,
 * cpu_temp and cpu_freq are used where they name one package and one frequency.
 */
#ifndef QUIESCE_RESULT_RUNDATA_H
#define QUIESCE_RESULT_RUNDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/facts.h"
#include "result/series.h"

/* The meaning of a name, so that names are looked up once for a file and not once for each run. */
struct run_field {
	enum {
		RUN_OTHER, /* data that are not kept */
		RUN_LOOPS,
		RUN_INNER_LOOPS,
		RUN_DATE,
		RUN_DURATION,
		RUN_WINDOW_KERNEL,
		RUN_WINDOW_USER,
		RUN_FLAGS,
		RUN_STATUS,
		RUN_ENV_PAD,
		RUN_MAX_RSS,
		RUN_ORDER_SEED,
		RUN_TURN,
		RUN_PROVENANCE, /* enum sitting_text: index */
		/* Evidence: */
		RUN_EVIDENCE, /* evidence_fields[index] */
		RUN_EVENT,    /* event_names[index] of the series */
		RUN_LOAD,
		RUN_RUNNABLE,
		RUN_CPU_TEMP,
		RUN_CPU_FREQ,
		RUN_TEMPERATURE_BEFORE,
		RUN_TEMPERATURE_AFTER,
		RUN_IRQ_LINES,
		RUN_SOFTIRQS,
	} kind;
	size_t index;
};

#define RUN_EVENTS_MAX 64

struct run_data {
	struct sample sample;
	struct provenance provenance;
	struct evidence evidence;
	double counters[RUN_EVENTS_MAX];
	uint64_t loops; /* 0: the metadata do not have the loops */
	uint64_t inner_loops;
	int64_t turn; /* negative: unknown */
	bool has_date;
	int64_t date_ns;     /* since 1970; a date without a zone is taken for UTC */
	int64_t duration_ns; /* negative: unknown */
};

/* Makes everything unknown. */
void run_data_clear(struct run_data *data);
/* Finds the field of a name. A new event is added to the series, if the series has evidence.
 * -ENOMEM. */
int run_field_find(struct series *series, const char *name, struct run_field *ret);
/* Whether the field is part of struct provenance. */
static inline bool run_field_is_provenance(const struct run_field *field)
{
	return field->kind == RUN_PROVENANCE || field->kind == RUN_ORDER_SEED;
}
/* Whether the field is pyperf's own, and tells of the CPUs that the run was given. */
static inline bool run_field_is_of_cpus(const struct run_field *field)
{
	return field->kind == RUN_CPU_TEMP || field->kind == RUN_CPU_FREQ;
}
/* Is the value of that field known? */
bool run_data_has(const struct run_data *data, const struct run_field *field);
/* A value of a type or range that the field cannot have is ignored: other tools may write anything
 * under these names. -ENOMEM. */
int run_data_set(struct run_data *data, struct series *series, const struct run_field *field,
	const struct fact *value);

#endif
