// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "measure/cpulock.h"

struct cpulock {
	size_t n;
	int *fds;
	int missing; /* a CPU that cannot be locked; valid where `error` is not 0 */
	int error;
};

int cpulock_try(const struct cpumask *cpus, struct cpulock **ret, struct cpuholder *ret_holder)
{
	_cleanup_(cpulock) struct cpulock *lock = NULL;

	lock = xptr(calloc(1, sizeof(*lock)));
	lock->fds = xptr(calloc(cpumask_weight(cpus), sizeof(*lock->fds)));
	cpumask_for_each (cpu, cpus) {
		struct cpuholder holder;
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
			return -errno;
		if (fd < 0 && lock->error == 0) {
			lock->error = -errno;
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
