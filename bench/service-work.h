/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much a service of bench/service works for a request. */
#ifndef QUIESCE_BENCH_SERVICE_WORK_H
#define QUIESCE_BENCH_SERVICE_WORK_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/parse.h"

#define SERVICE_SEED 88172645463325252U
#define SERVICE_STEPS_MAX 100000000

struct service_work {
	unsigned steps;	       /* of each request */
	unsigned tail_steps;   /* more, of some */
	unsigned tail_percent; /* of the requests */
};

/* Xorshift: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8, 2003. */
static inline uint64_t service_step(uint64_t state)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^ (state << 17);
}

/* "PERCENT,STEPS": so many per cent of the requests have so many steps more. */
static inline int service_read_tail(const char *text, struct service_work *into)
{
	char percent[16];
	const char *comma = strchr(text, ',');
	unsigned number;
	int r;

	if (!comma || (size_t)(comma - text) >= sizeof(percent))
		return -EINVAL;
	memcpy(percent, text, (size_t)(comma - text));
	percent[comma - text] = '\0';
	r = parse_uint(percent, 0, 100, &number);
	if (r == 0)
		r = parse_uint(comma + 1, 0, SERVICE_STEPS_MAX, &into->tail_steps);
	if (r == 0)
		into->tail_percent = number;
	return r;
}

/* Of the next request. */
static inline unsigned service_choose_steps(const struct service_work *work, uint64_t *random)
{
	*random = service_step(*random);
	return work->steps + (*random % 100 < work->tail_percent ? work->tail_steps : 0);
}

#endif
