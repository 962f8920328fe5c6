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

/* The CPUs that a variable of the environment lists; none of a variable that is not set. It is read
 * once a call, not once for each CPU, because programs ask for every thread of the machine. */
struct listed {
	const char *digits;
	size_t n;
};

static struct listed read_list(const char *variable)
{
	const char *digits = getenv(variable);

	return (struct listed){ .digits = digits, .n = digits ? strlen(digits) : 0 };
}

static bool is_listed(const struct listed *list, size_t cpu)
{
	return cpu < list->n && list->digits[cpu] == '1';
}

__attribute__((visibility("default"))) int sched_getaffinity(
	pid_t pid, size_t size, cpu_set_t *mask)
{
	struct listed list = read_list("TEST_AFFINITY");

	(void)pid;
	if (!list.digits)
		list = read_list("TEST_ALLOWED_CPUS");
	memset(mask, 0, size);
	for (size_t cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!(bound ? affinity[cpu] : is_listed(&list, cpu)))
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
	struct listed allowed = read_list("TEST_ALLOWED_CPUS");
	bool wanted[MAX_CPUS] = { false };
	bool any = false;

	(void)pid;
	for (size_t cpu = 0; cpu < allowed.n && cpu < MAX_CPUS && cpu / 8 < size; cpu++) {
		wanted[cpu] = is_listed(&allowed, cpu) && CPU_ISSET_S(cpu, size, mask);
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
