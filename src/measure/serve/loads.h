/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load generators, which are known by their harness files (judge/harness/harness.h). */
#ifndef QUIESCE_MEASURE_SERVE_LOADS_H
#define QUIESCE_MEASURE_SERVE_LOADS_H

#include "measure/figurerules.h"

/* The figure that tells how many requests were answered. */
#define LOAD_REQUESTS "requests"
/* How many bytes were read. */
#define LOAD_BYTES "bytes"
/* And how many requests were answered in a second. */
#define LOAD_RATE "rps"

/*
 * Keeps the figures of the harness that was asked for that a load has. Without one, adds those of
 * the harness that is called as this word; of that only LOAD_REQUESTS and LOAD_BYTES where the user
 * has said where figures are. -EINVAL after saying what is wrong.
 */
int loads_add_figures(const char *word, struct figure_rules *rules);

#endif
