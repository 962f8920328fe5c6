/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of runserved. */
#ifndef QUIESCE_MEASURE_SERVE_REPORT_H
#define QUIESCE_MEASURE_SERVE_REPORT_H

#include "measure/serve/seats.h"

/* As `report` of struct rounds. */
int report_sittings(const struct rounds *rounds, const struct commands *commands,
	const struct options *options, const struct place *place, FILE *stream,
	struct brief *brief);

#endif
