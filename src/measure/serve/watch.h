/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine did on the CPUs of a service while it was under load: the evidence of
 * measure/evidence.h. A launcher reads that for its own runs, which are those of the load, on CPUs
 * that may be others. Of the services runserved itself reads the same files, before and after the
 * slice.
 */
#ifndef QUIESCE_MEASURE_SERVE_WATCH_H
#define QUIESCE_MEASURE_SERVE_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

#include "judge/result/series.h"
#include "measure/evidence.h"
#include "measure/serve/family.h"

/* Readings that belong to one slice. */
struct watch;

/* Reads before the slice. `pid`: a process of the service, whose quota counts. */
struct watch *watch_begin(struct evidence_reader *reader, pid_t pid);
/* Reads after the slice. */
void watch_end(struct watch *watch);
/* The evidence, with what the service has used. `load`: the report of a load on the same CPUs,
 * which has looked at their core; NULL where it has others. Returns whether a CPU has raised a
 * thermal interrupt. */
bool watch_take(struct watch *watch, const struct family_use *use, const struct launch_report *load,
	struct series *series, struct evidence *ret);
void watch_free(struct watch *watch);

DEFINE_CLEANUP(watch, watch_free);

#endif
