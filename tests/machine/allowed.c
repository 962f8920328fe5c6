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
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	MAX_CPUS = 8192,
};

/* What this program has bound a thread to, its own or another one: nobody else knows. */
struct binding {
	pid_t tid;
	size_t n;
	bool affinity[MAX_CPUS]; /* the first n */
};
static struct binding **bindings;
static size_t n_bindings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* To be called under the lock. NULL: it has not bound the thread. */
static struct binding *find_binding(pid_t tid)
{
	for (size_t i = 0; i < n_bindings; i++) {
		if (bindings[i]->tid == tid)
			return bindings[i];
	}
	return NULL;
}

static struct binding *add_binding(pid_t tid)
{
	struct binding **more = reallocarray(bindings, n_bindings + 1, sizeof(*more));
	struct binding *binding = calloc(1, sizeof(*binding));

	if (more)
		bindings = more;
	if (!more || !binding) {
		free(binding);
		return NULL;
	}
	binding->tid = tid;
	bindings[n_bindings++] = binding;
	return binding;
}

static pid_t whose(pid_t pid)
{
	return pid != 0 ? pid : (pid_t)syscall(SYS_gettid);
}

/* The CPUs that a variable of the environment lists; none of a variable that is not set. It is read
 * once a call, not once for each CPU, because programs ask for every thread of the machine. */
struct listed {
	const char *digits;
	size_t n;
};

static struct listed read_list(const char *variable)
{
	const char *digits = getenv(variable);

	return (struct listed){ .digits = digits, .n = digits ? strnlen(digits, MAX_CPUS) : 0 };
}

static bool is_listed(const struct listed *list, size_t cpu)
{
	return cpu < list->n && list->digits[cpu] == '1';
}

__attribute__((visibility("default"))) int sched_getaffinity(
	pid_t pid, size_t size, cpu_set_t *mask)
{
	struct listed list = read_list("TEST_AFFINITY");
	const struct binding *binding;
	int r = 0;

	if (!list.digits)
		list = read_list("TEST_ALLOWED_CPUS");
	memset(mask, 0, size);
	pthread_mutex_lock(&lock);
	binding = find_binding(whose(pid));
	for (size_t cpu = 0; cpu < (binding ? binding->n : list.n) && r == 0; cpu++) {
		if (!(binding ? binding->affinity[cpu] : is_listed(&list, cpu)))
			continue;
		if (cpu / 8 < size)
			CPU_SET_S(cpu, size, mask);
		else
			r = -1;
	}
	pthread_mutex_unlock(&lock);
	if (r < 0)
		errno = EINVAL;
	return r;
}

__attribute__((visibility("default"))) int sched_setaffinity(
	pid_t pid, size_t size, const cpu_set_t *mask)
{
	struct listed allowed = read_list("TEST_ALLOWED_CPUS");
	bool wanted[MAX_CPUS] = { false };
	struct binding *binding;
	bool any = false;

	for (size_t cpu = 0; cpu < allowed.n && cpu / 8 < size; cpu++) {
		wanted[cpu] = is_listed(&allowed, cpu) && CPU_ISSET_S(cpu, size, mask);
		any |= wanted[cpu];
	}
	if (!any) {
		errno = EINVAL;
		return -1;
	}
	pthread_mutex_lock(&lock);
	binding = find_binding(whose(pid));
	if (!binding)
		binding = add_binding(whose(pid));
	if (binding) {
		binding->n = allowed.n;
		memcpy(binding->affinity, wanted, sizeof(wanted));
	}
	pthread_mutex_unlock(&lock);
	if (!binding) {
		errno = ENOMEM;
		return -1;
	}
	return 0;
}
