// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/wait.h"

struct wait wait_until(int64_t deadline_ns, int64_t first_step_ns, int64_t last_step_ns)
{
	return (struct wait){
		.deadline_ns = deadline_ns,
		.step_ns = first_step_ns,
		.last_step_ns = last_step_ns,
		.over = clock_now_ns(CLOCK_MONOTONIC) >= deadline_ns,
	};
}

bool wait_step(struct wait *wait)
{
	struct timespec ts;
	int64_t step;

	if (wait->over)
		return false;
	step = MIN(wait->step_ns, wait->deadline_ns - clock_now_ns(CLOCK_MONOTONIC));
	if (step > 0) {
		ts.tv_sec = step / NSEC_PER_SEC;
		ts.tv_nsec = step % NSEC_PER_SEC;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	}
	wait->step_ns = MIN(wait->step_ns * 2, wait->last_step_ns);
	wait->over = clock_now_ns(CLOCK_MONOTONIC) >= wait->deadline_ns;
	return true;
}
