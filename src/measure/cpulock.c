// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "measure/cpulock.h"

struct cpulock {
	size_t n;
	int *fds;
	int missing; /* a CPU that cannot be locked; valid where `error` is not 0 */
	int error;
};

static int open_cpu(int cpu)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cpulock_try(const struct cpumask *cpus, struct cpulock **ret, struct cpuholder *ret_holder)
{
	_cleanup_(cpulock) struct cpulock *lock = NULL;

	lock = xptr(calloc(1, sizeof(*lock)));
	lock->fds = xptr(calloc(cpumask_weight(cpus), sizeof(*lock->fds)));
	cpumask_for_each (cpu, cpus) {
		struct cpuholder holder;
		int fd = open_cpu(cpu);

		if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
			return fd;
		if (fd < 0 && lock->error == 0) {
			lock->error = fd;
			lock->missing = cpu;
		}
		if (fd < 0)
			continue;
		lock->fds[lock->n++] = fd;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			continue;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (cpuholder_find(cpu, &holder) < 0)
			holder = (struct cpuholder){ .cpu = cpu };
		*ret_holder = holder;
		return -EAGAIN;
	}
	*ret = TAKE_PTR(lock);
	return 0;
}

static void end_wait(int signal)
{
	(void)signal;
}

int cpulock_wait(int cpu, int64_t ns)
{
	/* Not SIGALRM: the caller may have set an alarm for this process. */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	/* Again and again, because the first one may come before flock() waits. */
	struct itimerspec times = {
		.it_value = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC },
		.it_interval = { .tv_nsec = 10 * 1000 * 1000 },
	};
	struct sigaction before, action = { .sa_handler = end_wait };
	_cleanup_close_ int fd = open_cpu(cpu);
	sigset_t only, mask;
	timer_t timer;
	int r;

	if (fd < 0)
		return fd;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return -errno;
	sigemptyset(&only);
	sigaddset(&only, SIGRTMIN);
	sigaction(SIGRTMIN, &action, &before);
	sigprocmask(SIG_UNBLOCK, &only, &mask);
	r = timer_settime(timer, 0, &times, NULL) < 0 || flock(fd, LOCK_EX) < 0 ? -errno : 0;
	timer_delete(timer);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGRTMIN, &before, NULL);
	return r == -EINTR ? 0 : r;
}

int cpulock_get_missing(const struct cpulock *lock, int *ret_cpu)
{
	if (lock->error < 0)
		*ret_cpu = lock->missing;
	return lock->error;
}

void cpulock_free(struct cpulock *lock)
{
	if (!lock)
		return;
	for (size_t i = 0; i < lock->n; i++)
		close(lock->fds[i]);
	free(lock->fds);
	free(lock);
}
