/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Under which conditions something follows from a figure of a service under load.
 *
 * Its CPU time for a request may always be compared. Requests a second only tell of the service
 * where it was the limit: where it waited for the load, a service with 5 % more work was measured
 * to be 2 % faster. Latencies only tell where the requests come when they are meant to, whatever
 * the service does (an open loop): in a closed one, a service that stalls gets fewer requests.
 */
#ifndef QUIESCE_MEASURE_SERVE_BOTTLENECK_H
#define QUIESCE_MEASURE_SERVE_BOTTLENECK_H

#include <stdbool.h>

#include "measure/serve/seats.h"

/* Why nothing follows from this figure; all NULL where something does. */
struct bottleneck {
	const char *brief;  /* "the load has the same CPU"; a static text */
	char *why;	    /* the same with its numbers */
	const char *remedy; /* what to do about it; a static text, or NULL */
};

/* `unit`: that of its tally. Returns whether something follows. */
bool bottleneck_find(const struct sittings *sittings, const struct commands *commands,
	const char *name, const char *unit, struct bottleneck *ret);
void bottleneck_clear(struct bottleneck *bottleneck);
/* Whether it is a part of the CPU time, which is shown beside it and says no more. */
bool bottleneck_is_part(const char *name);
/* For which part of the time the load had its CPUs; NAN where it is not known. */
double bottleneck_get_load_busy(const struct sittings *sittings);
/* Who was at its limit, and kept the others waiting: "the load, busy 97 % of the time", malloc'd.
 */
char *bottleneck_tell_limit(const struct sittings *sittings, const struct commands *commands);
/* After some sittings: whether the figure that decides will not do so. */
bool bottleneck_is_hopeless(const struct sittings *sittings, const struct commands *commands,
	const struct options *options);
/* After the last sitting: takes back what was decided by a figure from which nothing follows, and
 * sets `nothing` and `remedy`. */
void bottleneck_judge(struct sittings *sittings, struct commands *commands);
/* Both together, "WHY: REMEDY", malloc'd; NULL where something follows. */
char *bottleneck_tell_nothing(const struct sittings *sittings);

#endif
