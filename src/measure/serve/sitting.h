/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sittings: in each, all services are started anew, each gets a slice of load that does not count,
 * then some that do, in an order that is drawn anew for each, while the others are stopped, and all
 * are ended. A sitting is one run of each service in the result.
 */
#ifndef QUIESCE_MEASURE_SERVE_SITTING_H
#define QUIESCE_MEASURE_SERVE_SITTING_H

#include "measure/serve/seats.h"

/* `asked` is borrowed. n: of the services. */
void sittings_begin(struct sittings *sittings, const struct asked *asked, size_t n);
void sittings_clear(struct sittings *sittings);

#endif
