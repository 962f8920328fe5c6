// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "measure/cpulock.h"

enum {
	/* How often the wait for a lock looks for a signal to stop. */
	LOOK_NS = 100 * 1000 * 1000,
};

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

static void wake(int signal)
{
	(void)signal;
}

int cpulock_wait(int cpu, int64_t ns, struct stop *stop)
{
	/* Not SIGALRM: the caller may have set an alarm for this process. */
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec times = {
		.it_value = { .tv_nsec = LOOK_NS },
		.it_interval = { .tv_nsec = LOOK_NS },
	};
	int64_t deadline = clock_now_ns(CLOCK_MONOTONIC) + ns;
	struct sigaction before, action = { .sa_handler = wake };
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
	r = timer_settime(timer, 0, &times, NULL) < 0 ? -errno : -EINTR;
	while (r == -EINTR && stop_check(stop) == 0 && clock_now_ns(CLOCK_MONOTONIC) < deadline)
		r = flock(fd, LOCK_EX) < 0 ? -errno : 0;
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
