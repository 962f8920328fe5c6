// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/where/reserved.h"

int reserved_read_cpus(struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	uint64_t exclusive;
	struct stat st;
	int r;

	if (stat(RESERVED_DOOR, &st) < 0 || access(RESERVED_OTHERS, F_OK) < 0)
		return -errno;
	if (!(st.st_mode & S_IWOTH))
		return -ENOENT;
	r = file_read_attr_u64(AT_FDCWD, RESERVED_CPUSET "/cpuset.cpu_exclusive", &exclusive);
	if (r == 0 && !exclusive)
		r = -ENOENT;
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r == 0)
		r = cpumask_read_list(AT_FDCWD, RESERVED_CPUSET "/cpuset.cpus", cpus);
	/* Empty once all its CPUs have gone offline. */
	if (r == 0 && cpumask_is_empty(cpus))
		r = -ENOENT;
	if (r == 0)
		*ret = TAKE_PTR(cpus);
	return r;
}
