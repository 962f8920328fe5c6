/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef QUIESCE_SAMPLER_MEASURE_H
#define QUIESCE_SAMPLER_MEASURE_H

#include "quiesce/benchmark.h"
#include "sampler/private.h"

/*
 * As qs_measure(). *ret_by_setup tells, of an error, whether the benchmark's setup() returned it:
 * such a value means what it means to its program, and qs_error_text() has nothing to say of it.
 */
int measure_benchmark(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, struct qs_values **ret, int *ret_by_setup);

#endif
