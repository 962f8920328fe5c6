/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load generators that are known by their name, beyond what their harness file says
 * (judge/harness/harness.h). */
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
 * Adds the figures of the generator that this word names: those of the harness of that name, unless
 * there are rules or a harness already; and the number of requests, where it is known how the
 * generator prints it. -EINVAL after saying what is wrong.
 */
int loads_add_figures(const char *word, struct figure_rules *rules);

#endif
