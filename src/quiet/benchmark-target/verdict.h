/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict on the last start of the target, in one line: that of benchmark-check.service if the
 * target is up, else that of the service that failed, and whether everything is put back, which is
 * so only once the target has been stopped again.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_VERDICT_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_VERDICT_H

#include "base/systemd/systemd.h"

#define TARGET_UNIT "benchmark.target"
#define BEGIN_UNIT "benchmark-begin.service"

/* malloc'd. -ENODATA where the target was not started, or was stopped before it was up. */
int verdict_read(struct systemd *manager, char **ret);

/* Why a service failed: its own status text, else the result in systemd. malloc'd. Errors as of
 * systemd_read_outcome(). */
int verdict_explain(struct systemd *manager, const char *service, char **ret);

#endif
