// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload: sched_getaffinity(2) answers with the CPUs of a described machine.
 *
 * sysroot.c makes files follow a description, but the scheduler goes on answering for the machine
 * that the test runs on, and a tool that keeps to the CPUs it is allowed would then choose among
 * those. TEST_ALLOWED_CPUS holds a digit per CPU from 0 on: '1' is allowed. Only for tests that
 * look at what a tool would do: to pin to such a CPU still fails.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int sched_getaffinity(
	pid_t pid, size_t size, cpu_set_t *mask)
{
	const char *allowed = getenv("TEST_ALLOWED_CPUS");
	size_t n;

	(void)pid;
	if (!allowed) {
		errno = ENOSYS;
		return -1;
	}
	n = strlen(allowed);
	if (size * 8 < n) {
		errno = EINVAL;
		return -1;
	}
	memset(mask, 0, size);
	for (size_t cpu = 0; cpu < n; cpu++) {
		if (allowed[cpu] == '1')
			CPU_SET_S(cpu, size, mask);
	}
	return 0;
}
