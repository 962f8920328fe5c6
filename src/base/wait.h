/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting by polling, where no notification exists: checks again and again until a deadline.
 *
 *	struct wait wait = wait_until(deadline, first_step, last_step);
 *
 *	do {
 *		check, and leave the loop when the condition is true
 *	} while (wait_step(&wait));
 */
#ifndef QUIESCE_BASE_WAIT_H
#define QUIESCE_BASE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct wait {
	int64_t deadline_ns; /* on CLOCK_MONOTONIC */
	int64_t step_ns;
	int64_t last_step_ns;
	bool over;
};

/* The time between checks begins with first_step_ns and doubles up to last_step_ns. With a deadline
 * that has passed there is one check and no sleep. */
struct wait wait_until(int64_t deadline_ns, int64_t first_step_ns, int64_t last_step_ns);
/* Sleeps for a step. Returns true when the caller is to check again: there is always a check at or
 * after the deadline, however late the thread woke up. */
bool wait_step(struct wait *wait);

#endif
