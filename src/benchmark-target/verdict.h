/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has come of the last start of the target, in one line: benchmark-check.service tells it of a
 * target that is up, and of one that is not the service that failed.
 */
#ifndef QUIESCE_BENCHMARK_TARGET_VERDICT_H
#define QUIESCE_BENCHMARK_TARGET_VERDICT_H

#include "unit/unit.h"

#define TARGET_UNIT "benchmark.target"

/* malloc'd. -ENODATA where nothing was started, or somebody stopped it before it was up. */
int verdict_read(struct unit_manager *manager, char **ret);

/* Why a service failed: what it told, else what systemd says of its end. malloc'd. Errors as those
 * of unit_read_outcome(). */
int verdict_explain(struct unit_manager *manager, const char *service, char **ret);

#endif
