// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/virtualization.h"
#include "base/systemd/booted.h"
#include "base/text.h"
#include "base/where/reserved.h"
#include "quiet/cpu-shield/affinity.h"
#include "quiet/cpu-shield/shield.h"
#include "quiet/engine/cleared.h"

#define IN_CONTAINER "a container has no partitions: what runs outside of it is not moved"

static struct shield_way by_affinities(const char *why)
{
	return (struct shield_way){ .kind = SHIELD_BY_AFFINITIES, .why = why };
}

/* Only the root of a hierarchy of cgroup v1 has release_agent (cgroup1_base_files[] in
 * kernel/cgroup/cgroup-v1.c): a container may see a cpuset of the host there. */
static int find_v1(struct shield_way *ret)
{
	if (access(RESERVED_ROOT "/release_agent", F_OK) == 0)
		*ret = (struct shield_way){ .kind = SHIELD_BY_CPUSET };
	else if (errno == ENOENT)
		*ret = by_affinities(IN_CONTAINER);
	else
		return -errno;
	return 0;
}

/* cgroup v2 with these controllers: false where it has no cpusets. */
static bool find_v2(const char *controllers, struct shield_way *ret)
{
	if (access(CGROUP_ROOT "/cgroup.type", F_OK) == 0)
		*ret = by_affinities(IN_CONTAINER);
	else if (text_has_word(controllers, "cpuset", " "))
		*ret = (struct shield_way){ .kind = systemd_is_booted() ? SHIELD_BY_SYSTEMD
									: SHIELD_BY_CGROUP };
	else
		return false;
	return true;
}

int shield_find_way(struct shield_way *ret)
{
	_cleanup_free_ char *container = NULL;
	char text[FILE_ATTR_SIZE];
	bool has_v2;
	int r;

	r = file_read_attr(AT_FDCWD, CGROUP_ROOT "/cgroup.controllers", text, sizeof(text));
	if (r < 0 && r != -ENOENT)
		return r;
	has_v2 = r >= 0;
	if (has_v2 && find_v2(text, ret))
		return 0;
	if (access(RESERVED_ROOT, F_OK) == 0)
		return find_v1(ret);
	/* What cannot be looked at may be there. */
	if (errno != ENOENT)
		return -errno;
	r = has_v2 ? 0 : virtualization_read_container(&container);
	if (r < 0)
		return r;
	*ret = by_affinities(has_v2 ? "this kernel's cgroup v2 has no cpusets"
			: container ? IN_CONTAINER
				    : "no cpusets are mounted at " CGROUP_ROOT);
	return 0;
}

/* Reads a list of CPUs; -ENOENT for an empty one. */
static int read_cpus(const char *path, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	int r;

	r = cpumask_new(&cpus);
	if (r == 0)
		r = cpumask_read_list(AT_FDCWD, path, cpus);
	if (r == 0 && cpumask_is_empty(cpus))
		r = -ENOENT;
	if (r == 0)
		*ret = TAKE_PTR(cpus);
	return r;
}

int shield_read_cpus(struct cpumask **ret)
{
	char text[FILE_ATTR_SIZE];
	int r = file_read_attr(AT_FDCWD, SHIELD_PARTITION, text, sizeof(text));

	if (r < 0 && r != -ENOENT)
		return r;
	if (r >= 0 && strcmp(text, "isolated") == 0)
		return read_cpus(SHIELD_EFFECTIVE, ret);
	r = reserved_read_cpus(ret);
	return r == -ENOENT ? cleared_read(ret) : r;
}

int shield_check_empty(void)
{
	int r = running_has_programs();

	return r > 0 ? -EBUSY : r;
}
