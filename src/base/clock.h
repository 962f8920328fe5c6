/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A clock as one number. A separate header, because the launcher does not link our libraries. */
#ifndef QUIESCE_BASE_CLOCK_H
#define QUIESCE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/macro.h"

/* The time of the clock in nanoseconds. clock_gettime(2) cannot fail for the clocks that we use. */
static inline int64_t clock_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#endif
