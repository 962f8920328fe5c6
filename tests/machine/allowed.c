// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload: the scheduler allows the CPUs of a described machine.
 *
 * sysroot.c makes files follow a description, but the scheduler goes on answering for the machine
 * that the test runs on, and a tool that keeps to the CPUs it is allowed would then choose among
 * those. TEST_ALLOWED_CPUS holds a digit per CPU from 0 on: '1' is allowed. sched_setaffinity(2)
 * takes what of that is wanted, as a cpuset makes it, and sched_getaffinity(2) gives it back.
 * TEST_AFFINITY, in the same form, is what a parent has bound this program to.
 * Nothing is really bound: this is for tests that look at what a tool would do.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CPUS = 8192,
};

static bool bound;
static bool affinity[MAX_CPUS];

static bool is_listed(const char *digits, size_t cpu)
{
	return digits && cpu < strlen(digits) && digits[cpu] == '1';
}

static bool is_allowed(size_t cpu)
{
	return is_listed(getenv("TEST_ALLOWED_CPUS"), cpu);
}

static bool in_affinity(size_t cpu)
{
	const char *inherited = getenv("TEST_AFFINITY");

	return bound ? affinity[cpu] : inherited ? is_listed(inherited, cpu) : is_allowed(cpu);
}

__attribute__((visibility("default"))) int sched_getaffinity(
	pid_t pid, size_t size, cpu_set_t *mask)
{
	(void)pid;
	memset(mask, 0, size);
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!in_affinity(cpu))
			continue;
		if (cpu / 8 >= size) {
			errno = EINVAL;
			return -1;
		}
		CPU_SET_S(cpu, size, mask);
	}
	return 0;
}

__attribute__((visibility("default"))) int sched_setaffinity(
	pid_t pid, size_t size, const cpu_set_t *mask)
{
	bool wanted[MAX_CPUS] = { false };
	bool any = false;

	(void)pid;
	for (size_t cpu = 0; cpu < MAX_CPUS && cpu / 8 < size; cpu++) {
		wanted[cpu] = is_allowed(cpu) && CPU_ISSET_S(cpu, size, mask);
		any |= wanted[cpu];
	}
	if (!any) {
		errno = EINVAL;
		return -1;
	}
	memcpy(affinity, wanted, sizeof(affinity));
	bound = true;
	return 0;
}
