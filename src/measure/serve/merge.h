/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The evidence of a sitting, from that of its slices. */
#ifndef QUIESCE_MEASURE_SERVE_MERGE_H
#define QUIESCE_MEASURE_SERVE_MERGE_H

#include <stdbool.h>

#include "judge/result/series.h"

/*
 * Adds what the machine did in one slice. What is told of the program of a run, its times, faults
 * and switches, is left out: it is the load, and not the service. So are the softirqs of the
 * network. `first`: nothing is in *sum but absent values.
 */
void merge_evidence(struct evidence *sum, const struct evidence *slice, bool first);

#endif
