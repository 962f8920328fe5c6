// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "measure/serve/counts.h"

struct counts {
	size_t n_events;
	size_t n_cpus;
	int *fds; /* of each event on each CPU; -1: none */
};

static int open_event(const struct perf_event_attr *event, int cgroup, int cpu)
{
	struct perf_event_attr attr = *event;
	int fd;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, cgroup, cpu, -1,
		PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int counts_begin(const struct counting *counting, const char *folder, const struct cpumask *cpus,
	struct counts **ret)
{
	_cleanup_(counts) struct counts *counts = xptr(calloc(1, sizeof(*counts)));
	_cleanup_close_ int cgroup = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (cgroup < 0)
		return -errno;
	counts->n_events = counting->n_events;
	counts->n_cpus = (size_t)MAX(n_cpus, (long)cpumask_last(cpus) + 1);
	counts->fds = xptr(calloc(counts->n_events * counts->n_cpus, sizeof(*counts->fds)));
	for (size_t i = 0; i < counts->n_events * counts->n_cpus; i++)
		counts->fds[i] = -1;
	for (size_t event = 0; event < counts->n_events; event++) {
		const struct perf_event_attr *attr =
			&counting->attrs[counting->first_event + event];

		for (size_t cpu = 0; cpu < counts->n_cpus; cpu++) {
			int fd = open_event(attr, cgroup, (int)cpu);

			/* Another CPU may be offline, or of another kind, with events of its own.
			 */
			if (fd < 0 && cpumask_isset(cpus, (int)cpu))
				return fd;
			counts->fds[event * counts->n_cpus + cpu] = fd;
		}
	}
	for (size_t i = 0; i < counts->n_events * counts->n_cpus; i++)
		if (counts->fds[i] >= 0 && ioctl(counts->fds[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			return -errno;
	*ret = TAKE_PTR(counts);
	return 0;
}

/* Of one CPU. */
static double read_event(int fd)
{
	struct launch_counter counter; /* as attr.read_format has it */

	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0 ||
		read(fd, &counter, sizeof(counter)) != (ssize_t)sizeof(counter))
		return NAN;
	/* No task of the cgroup was there. */
	return counter.enabled_ns == 0 ? 0 : counting_scale(&counter);
}

void counts_end(struct counts *counts, double *ret)
{
	for (size_t event = 0; event < counts->n_events; event++) {
		ret[event] = 0;
		for (size_t cpu = 0; cpu < counts->n_cpus; cpu++) {
			int fd = counts->fds[event * counts->n_cpus + cpu];

			if (fd >= 0)
				ret[event] += read_event(fd);
		}
	}
}

void counts_free(struct counts *counts)
{
	if (!counts)
		return;
	for (size_t i = 0; counts->fds && i < counts->n_events * counts->n_cpus; i++)
		if (counts->fds[i] >= 0)
			close(counts->fds[i]);
	free(counts->fds);
	free(counts);
}
