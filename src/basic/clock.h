/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A clock as one number. A header of its own, because the launcher links no library of ours. */
#ifndef QUIESCE_BASIC_CLOCK_H
#define QUIESCE_BASIC_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "basic/macro.h"

/* Nanoseconds on that clock; the clocks of clock_gettime(2) that we use cannot fail. */
static inline int64_t clock_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#endif
