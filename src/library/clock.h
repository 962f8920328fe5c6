/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses a reliable clock and determines the length of its ticks. */
#ifndef QUIESCE_LIBRARY_CLOCK_H
#define QUIESCE_LIBRARY_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "library/private.h"
#include "quiesce/sampler.h"

struct clock {
	enum qs_clock kind;
	const char *why_no_counter; /* static text, NULL with a counter */
	clockid_t clockid;	    /* the kernel's clock, which is read instead of the counter */
	double ticks_per_second;    /* 0 where it has to be measured */
};

/* The counter and CLOCK_MONOTONIC_RAW, read within `gap` ticks. */
struct clock_pair {
	uint64_t ticks;
	uint64_t raw_ns;
	uint64_t gap;
};

/* stamps as in qs_open_as(). -EOPNOTSUPP and -EPERM as in the public header. */
int clock_choose(int stamps, struct clock *ret);
/* Whether a chosen clock would still be chosen. */
int clock_is_sound(const struct clock *clock);
const char *clock_name(enum qs_clock kind);

uint64_t clock_read_ns(clockid_t clockid);
/* Reads several pairs and returns the one with the smallest gap. */
void clock_read_pair(struct clock_pair *ret);

#endif
