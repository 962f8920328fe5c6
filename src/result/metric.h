/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else can be judged of a run than its values: the processor time of the program and its
 * children, the most memory it had, its page faults, switches and interrupts, and the events that
 * were counted. Less is better for each of them. A metric is of the run as a whole, so it is one
 * number a run, however many values the run has.
 */
#ifndef QUIESCE_RESULT_METRIC_H
#define QUIESCE_RESULT_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/units.h"
#include "result/benchmark.h"

struct metric {
	/* "max_rss"; else the name of the evidence ("user_cpu") or of the event, borrowed. */
	const char *name;
	enum unit unit;
	size_t index;
};

/* The metrics that the runs of a series may have, from index 0 on; false beyond the last one. The
 * series needs evidence. */
bool metric_get(const struct series *series, size_t index, struct metric *ret);
/* Whether it is known of a run that counts. */
bool metric_is_known(const struct series *series, const struct metric *metric);

/*
 * Makes the metric of that name the only value of each run, and `metric` of the benchmark its name.
 * Runs of which it is not known do not count any more. -ENODATA, and all is as before, when it is
 * known of no run that counts.
 */
int benchmark_choose_metric(struct benchmark *benchmark, const char *name);

#endif
