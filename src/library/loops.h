/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef QUIESCE_LIBRARY_LOOPS_H
#define QUIESCE_LIBRARY_LOOPS_H

#include "library/private.h"
#include "quiesce/benchmark.h"

/*
 * As qs_measure(), but no value that counts is begun, after the first one, that would not end
 * within max_time seconds, with the calibration and the warm-ups; 0: no bound. After an error,
 * *ret_by_setup tells whether the benchmark's setup() returned it: the meaning of such a value is
 * defined by the benchmark and not by this library, so qs_error_text() does not apply.
 */
int loops_measure(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, double max_time, struct qs_values **ret, int *ret_by_setup);

#endif
