/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting for what nobody tells of: looking again and again until a deadline.
 *
 *	struct wait wait = wait_until(deadline, first_step, last_step);
 *
 *	do {
 *		look, and leave when it is there
 *	} while (wait_step(&wait));
 */
#ifndef QUIESCE_BASIC_WAIT_H
#define QUIESCE_BASIC_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct wait {
	int64_t deadline_ns; /* on CLOCK_MONOTONIC */
	int64_t step_ns;
	int64_t last_step_ns;
	bool over;
};

/* Steps begin with the first and double up to the last. With a deadline that has passed, there is
 * one look and no sleep. */
struct wait wait_until(int64_t deadline_ns, int64_t first_step_ns, int64_t last_step_ns);
/* Sleeps for a step. True when it is worth another look: the last one is never before the deadline,
 * however late the sleeper was woken. */
bool wait_step(struct wait *wait);

#endif
