// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/machine/isolation.h"
#include "base/macro.h"
#include "base/text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define CGROUP_DIR "/sys/fs/cgroup"

enum {
	/* Remote partitions (6.7 and later) may be anywhere in the tree. Deeper trees are not
	 * known; each level holds a descriptor. */
	PARTITION_DEPTH = 16,
	/* Enough for the services and sessions of a large host; bounds the time on a host with far
	 * too many cgroups. */
	PARTITION_DIRS_MAX = 8192,
	PROC_CGROUP_MAX = 256 * 1024,
};

/* Only the root has this file, on hybrid systems too. */
const char *isolation_find_v2_mount(void)
{
	if (access(CGROUP_DIR "/cgroup.controllers", F_OK) == 0)
		return CGROUP_DIR;
	if (access(CGROUP_DIR "/unified/cgroup.controllers", F_OK) == 0)
		return CGROUP_DIR "/unified";
	return NULL;
}

struct partition_walk {
	struct isolation_partitions found;
	size_t capacity;
	struct text path; /* of the current cgroup */
	struct cpumask *scratch;
	unsigned dirs_left;
	int error;
};

/* Adds the current cgroup, with the CPUs in `scratch`. */
static void add_partition(struct partition_walk *walk, const char *state)
{
	struct isolation_partitions *found = &walk->found;
	struct isolation_partition *item;

	if (array_grow(&found->items, sizeof(*item), found->n, &walk->capacity) < 0) {
		walk->error = -ENOMEM;
		return;
	}
	item = &found->items[found->n++];
	*item = (struct isolation_partition){
		.path = strdup(walk->path.length > 0 ? walk->path.data : "/"),
		.state = strdup(state),
	};
	if (!item->path || !item->state || cpumask_copy(walk->scratch, &item->cpus) < 0)
		walk->error = -ENOMEM;
}

/* Reads cpuset.cpus.partition: "" for a member; negative where there is no such file. */
static int read_v2_state(int fd, char state[FILE_ATTR_SIZE])
{
	int r = file_read_line(fd, "cpuset.cpus.partition", state, FILE_ATTR_SIZE);

	if (r >= 0 && strcmp(state, "member") == 0)
		*state = '\0';
	else if (r >= 0 && !text_starts_with(state, "root") && !text_starts_with(state, "isolated"))
		return -EBADMSG;
	return r;
}

/* v1 (Documentation/admin-guide/cgroup-v1/cpusets.rst). note_balancing() adds whether the root
 * balances load. */
static int read_v1_state(int fd, char state[FILE_ATTR_SIZE])
{
	uint64_t exclusive;
	int r = file_read_attr_u64(fd, "cpuset.cpu_exclusive", &exclusive);

	snprintf(state, FILE_ATTR_SIZE, "%s", r == 0 && exclusive ? "exclusive" : "");
	return r;
}

static void read_partition(struct partition_walk *walk, int fd, int depth, bool v1)
{
	char state[FILE_ATTR_SIZE];
	int r = v1 ? read_v1_state(fd, state) : read_v2_state(fd, state);

	/* The root has no such file in v2, and its state is not of interest in v1. -ENODEV: the
	 * cgroup has been removed (fs/kernfs/file.c). */
	if (r < 0 && r != -ENOENT && r != -ENODEV && depth > 0)
		walk->found.n_unread++;
	if (r < 0 || !*state || depth == 0)
		return;
	cpumask_clear_all(walk->scratch);
	r = cpumask_read_list(fd, v1 ? "cpuset.cpus" : "cpuset.cpus.effective", walk->scratch);
	if (r < 0 && r != -ENODEV)
		walk->found.n_unread++;
	add_partition(walk, state);
}

/* Closes fd. */
static void walk_cgroups(struct partition_walk *walk, int fd, int depth, bool v1)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;

	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	read_partition(walk, fd, depth, v1);
	/* Where a v2 cgroup lacks this file, its descendants lack it too: the controller is enabled
	 * level by level. */
	if (!v1 && depth > 0 && faccessat(fd, "cpuset.cpus.partition", F_OK, 0) < 0)
		return;
	if (depth == PARTITION_DEPTH)
		return;
	while (walk->error == 0 && (errno = 0, entry = readdir(dir))) {
		size_t length = walk->path.length;
		int child;

		if (entry->d_name[0] == '.' ||
			(entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (walk->dirs_left == 0) {
			walk->found.n_unread++;
			return;
		}
		child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0) {
			walk->found.n_unread += errno != ENOENT;
			continue;
		}
		walk->dirs_left--;
		text_appendf(&walk->path, "/%s", entry->d_name);
		if (walk->path.failed) {
			walk->error = -ENOMEM;
			close(child);
			return;
		}
		walk_cgroups(walk, child, depth + 1, v1);
		walk->path.length = length;
		walk->path.data[length] = '\0';
	}
	if (walk->error == 0 && errno > 0)
		walk->found.n_unread++;
}

static void walk_mount(struct partition_walk *walk, const char *mount, bool v1)
{
	int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		walk_cgroups(walk, fd, 0, v1);
}

/* In v1 the root balances load over all CPUs unless cpuset.sched_load_balance is 0. */
static int note_balancing(struct isolation_partitions *found, size_t first)
{
	uint64_t balance;
	int r;

	if (found->n == first)
		return 0;
	r = file_read_attr_u64(AT_FDCWD, CGROUP_DIR "/cpuset/cpuset.sched_load_balance", &balance);
	if (r == 0 && balance == 0)
		return 0;
	found->n_unread += r < 0;
	for (size_t i = first; i < found->n; i++) {
		char *state = strdup(r < 0 ? "exclusive, perhaps balanced" : "exclusive, balanced");

		if (!state)
			return -ENOMEM;
		free(found->items[i].state);
		found->items[i].state = state;
	}
	return 0;
}

int isolation_read_partitions(struct isolation_partitions *ret)
{
	struct partition_walk walk = { .dirs_left = PARTITION_DIRS_MAX };
	const char *mount = isolation_find_v2_mount();
	size_t n_v2;

	if (cpumask_new(&walk.scratch) < 0)
		return -ENOMEM;
	if (mount)
		walk_mount(&walk, mount, false);
	n_v2 = walk.found.n;
	if (walk.error == 0)
		walk_mount(&walk, CGROUP_DIR "/cpuset", true);
	if (walk.error == 0)
		walk.error = note_balancing(&walk.found, n_v2);
	text_clear(&walk.path);
	cpumask_free(walk.scratch);
	if (walk.error < 0) {
		isolation_partitions_clear(&walk.found);
		return walk.error;
	}
	*ret = walk.found;
	return 0;
}

void isolation_partitions_clear(struct isolation_partitions *partitions)
{
	for (size_t i = 0; i < partitions->n; i++) {
		free(partitions->items[i].path);
		free(partitions->items[i].state);
		cpumask_free(partitions->items[i].cpus);
	}
	free(partitions->items);
	*partitions = (struct isolation_partitions){ 0 };
}

/* The CPUs of all isolated partitions of v2. *ret_error: 0, or -EACCES when there may be more. */
static int read_isolated_partitions(struct cpumask *ret, int *ret_error)
{
	struct isolation_partitions partitions = { 0 };
	_cleanup_free_ char *root = NULL;
	const char *mount = isolation_find_v2_mount();
	int r;

	if (!mount)
		return 0;
	if (text_format(&root, "%s/cpuset.cpus.isolated", mount) < 0)
		return -ENOMEM;
	if (cpumask_read_list(AT_FDCWD, root, ret) == 0)
		return 0;
	r = isolation_read_partitions(&partitions);
	if (r < 0)
		return r;
	for (size_t i = 0; i < partitions.n; i++) {
		/* "isolated invalid (reason)" is not a partition. */
		if (strcmp(partitions.items[i].state, "isolated") == 0)
			cpumask_or(ret, ret, partitions.items[i].cpus);
	}
	if (partitions.n_unread > 0)
		*ret_error = -EACCES;
	isolation_partitions_clear(&partitions);
	return 0;
}

int isolation_read(struct isolation **ret)
{
	_cleanup_(isolation) struct isolation *isolation = NULL;

	isolation = calloc(1, sizeof(*isolation));
	if (!isolation || cpumask_new(&isolation->boot) < 0 ||
		cpumask_new(&isolation->nohz_full) < 0 || cpumask_new(&isolation->partitions) < 0 ||
		cpumask_new(&isolation->isolated) < 0)
		return -ENOMEM;
	isolation->boot_error = cpumask_read_list(AT_FDCWD, CPU_DIR "/isolated", isolation->boot);
	isolation->nohz_full_error =
		cpumask_read_list(AT_FDCWD, CPU_DIR "/nohz_full", isolation->nohz_full);
	if (isolation->boot_error == -ENOMEM || isolation->nohz_full_error == -ENOMEM ||
		read_isolated_partitions(isolation->partitions, &isolation->partitions_error) < 0)
		return -ENOMEM;
	cpumask_or(isolation->isolated, isolation->boot, isolation->partitions);
	isolation->isolated_error =
		isolation->boot_error ? isolation->boot_error : isolation->partitions_error;
	*ret = TAKE_PTR(isolation);
	return 0;
}

void isolation_free(struct isolation *isolation)
{
	if (!isolation)
		return;
	cpumask_free(isolation->boot);
	cpumask_free(isolation->nohz_full);
	cpumask_free(isolation->partitions);
	cpumask_free(isolation->isolated);
	free(isolation);
}

/* Whether a list of n characters such as "cpu,cpuset" contains the controller. */
static bool has_controller(const char *list, size_t n, const char *controller)
{
	while (n > 0) {
		const char *comma = memchr(list, ',', n);
		size_t length = comma ? (size_t)(comma - list) : n;

		if (length == strlen(controller) && memcmp(list, controller, length) == 0)
			return true;
		n -= length;
		list += length;
		if (n > 0) {
			n--;
			list++;
		}
	}
	return false;
}

static bool leaves_namespace(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3) {
		if (p[3] == '/' || p[3] == '\0')
			return true;
	}
	return false;
}

int isolation_parse_cgroup_of(
	const char *text, const char *controller, struct isolation_cpuset *ret)
{
	struct isolation_cpuset cpuset = { 0 };

	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *end = text + length;
		const char *controllers = memchr(text, ':', length);
		const char *path = controllers
			? memchr(controllers + 1, ':', (size_t)(end - controllers - 1))
			: NULL;

		if (path) {
			size_t n = (size_t)(path - ++controllers);
			bool v1 = controller && has_controller(controllers, n, controller);
			bool v2 = n == 0 && text_starts_with(text, "0:");

			path++;
			/* The v1 line is preferred, wherever it is. */
			if (v1 || (v2 && !cpuset.v1)) {
				isolation_cpuset_clear(&cpuset);
				cpuset.v1 = v1;
				cpuset.path = strndup(path, (size_t)(end - path));
				if (v1)
					cpuset.controllers = strndup(controllers, n);
				if (!cpuset.path || (v1 && !cpuset.controllers)) {
					isolation_cpuset_clear(&cpuset);
					return -ENOMEM;
				}
			}
		}
		text = *end ? end + 1 : end;
	}
	if (!cpuset.path || cpuset.path[0] != '/' || leaves_namespace(cpuset.path)) {
		isolation_cpuset_clear(&cpuset);
		return -ENODATA;
	}
	*ret = cpuset;
	return 0;
}

int isolation_parse_cgroup(const char *text, struct isolation_cpuset *ret)
{
	return isolation_parse_cgroup_of(text, "cpuset", ret);
}

void isolation_cpuset_clear(struct isolation_cpuset *cpuset)
{
	free(cpuset->controllers);
	free(cpuset->path);
	*cpuset = (struct isolation_cpuset){ 0 };
}

static bool is_closed(int r)
{
	return r == -EACCES || r == -EPERM;
}

/* Reads the list of the cgroup at mount + path or of its nearest ancestor that has one. *path is
 * truncated to the cgroup where the list was found. */
static int read_effective(
	const char *mount, char *path, const char *const files[], struct cpumask *ret)
{
	_cleanup_free_ char *dir = NULL;
	int r = -ENODATA;

	if (text_format(&dir, "%s%s", mount, path) < 0)
		return -ENOMEM;
	/* If the cgroup is not visible below this mount (a container with its own mount), the
	 * ancestors there are not ours either. If it is only hidden because somebody has closed a
	 * directory on the way, they are ours. */
	if (access(dir, F_OK) < 0 && !is_closed(-errno))
		return -errno;
	for (;;) {
		char *slash;

		for (size_t i = 0; files[i]; i++) {
			_cleanup_free_ char *file = NULL;

			if (text_format(&file, "%s%s/%s", mount, path, files[i]) < 0)
				return -ENOMEM;
			r = cpumask_read_list(AT_FDCWD, file, ret);
			if (r == 0)
				return cpumask_is_empty(ret) ? -ENODATA : 0;
		}
		slash = strrchr(path, '/');
		if (!slash)
			return is_closed(r) ? -ENODATA : r;
		*slash = '\0';
	}
}

int isolation_read_cpuset_of(const char *cgroup, struct cpumask *ret, char **ret_path)
{
	static const char *const v1_files[] = { "cpuset.effective_cpus", "cpuset.cpus", NULL };
	static const char *const v2_files[] = { "cpuset.cpus.effective", NULL };
	struct isolation_cpuset cpuset = { 0 };
	_cleanup_free_ char *mount = NULL;
	int r;

	r = isolation_parse_cgroup(cgroup, &cpuset);
	if (r < 0)
		return r;
	if (cpuset.v1) {
		if (asprintf(&mount, CGROUP_DIR "/%s", cpuset.controllers) < 0)
			mount = NULL;
	} else {
		const char *v2 = isolation_find_v2_mount();

		if (!v2) {
			r = -ENODATA;
			goto out;
		}
		mount = strdup(v2);
	}
	if (!mount) {
		r = -ENOMEM;
		goto out;
	}
	r = read_effective(mount, cpuset.path, cpuset.v1 ? v1_files : v2_files, ret);
	if (r == 0 && ret_path) {
		*ret_path = *cpuset.path ? TAKE_PTR(cpuset.path) : strdup("/");
		if (!*ret_path)
			r = -ENOMEM;
	}
out:
	isolation_cpuset_clear(&cpuset);
	return r;
}

int isolation_read_cgroup(pid_t pid, char **ret)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/%d/cgroup", (int)pid);
	return file_read_all(pid ? proc : "/proc/self/cgroup", PROC_CGROUP_MAX, ret, NULL);
}

int isolation_read_cpuset(pid_t pid, struct cpumask *ret, char **ret_path)
{
	_cleanup_free_ char *cgroup = NULL;
	int r;

	r = isolation_read_cgroup(pid, &cgroup);
	return r < 0 ? r : isolation_read_cpuset_of(cgroup, ret, ret_path);
}

/* Requests all CPUs from the kernel and reads back what it granted. */
static int probe_allowed(struct cpumask *ret)
{
	unsigned long former[CPUMASK_BYTES / sizeof(unsigned long)];
	unsigned long all[CPUMASK_BYTES / sizeof(unsigned long)];
	int r;

	if (sched_getaffinity(0, sizeof(former), (cpu_set_t *)former) < 0)
		return -errno;
	memset(all, 0xff, sizeof(all));
	/* Where a sandbox forbids changing the affinity, the process can have only its present
	 * affinity. */
	if (sched_setaffinity(0, sizeof(all), (cpu_set_t *)all) < 0)
		return errno == EPERM ? cpumask_get_self(ret) : -errno;
	r = cpumask_get_self(ret);
	if (sched_setaffinity(0, sizeof(former), (cpu_set_t *)former) < 0 && r == 0)
		r = -errno;
	return r;
}

/* Reads the CPUs of this process's cgroup. A thread's affinity is never larger than its cpuset, so
 * a list that lacks CPUs of our affinity is another process's cgroup (a container that sees the
 * host's cgroups, or the reverse): -ENODATA. */
static int read_own_cpuset(struct cpumask *ret, char **ret_path)
{
	_cleanup_(cpumask) struct cpumask *self = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	if (cpumask_new(&self) < 0)
		return -ENOMEM;
	r = cpumask_get_self(self);
	if (r < 0)
		return r;
	r = isolation_read_cpuset(0, ret, &path);
	if (r < 0)
		return r;
	if (!cpumask_subset(self, ret))
		return -ENODATA;
	*ret_path = TAKE_PTR(path);
	return 0;
}

/* As isolation_read_allowed(); *ret_path is the cgroup, or NULL after a probe. */
static int read_allowed(struct cpumask *ret, char **ret_path)
{
	_cleanup_(cpumask) struct cpumask *allowed = NULL;
	char *path = NULL;
	int r;

	if (cpumask_new(&allowed) < 0)
		return -ENOMEM;
	r = read_own_cpuset(allowed, &path);
	if (r < 0 && r != -ENOMEM)
		r = probe_allowed(allowed);
	if (r < 0)
		return r;
	cpumask_assign(ret, allowed);
	*ret_path = path;
	return 0;
}

int isolation_read_allowed(struct cpumask *ret)
{
	_cleanup_free_ char *path = NULL;

	return read_allowed(ret, &path);
}

int isolation_find_denied(const struct cpumask *mask, int *ret_cpu)
{
	_cleanup_(cpumask) struct cpumask *denied = NULL;
	int r;

	if (cpumask_new(&denied) < 0)
		return -ENOMEM;
	r = isolation_read_allowed(denied);
	if (r < 0)
		return r;
	cpumask_andnot(denied, mask, denied);
	if (cpumask_is_empty(denied))
		return 0;
	*ret_cpu = cpumask_first(denied);
	return 1;
}

int isolation_explain_denied(int cpu, char **ret)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	_cleanup_free_ char *path = NULL, *list = NULL;
	bool denied;
	int r;

	if (cpumask_new(&mask) < 0)
		return -ENOMEM;
	r = read_allowed(mask, &path);
	if (r < 0)
		return r;
	denied = !cpumask_isset(mask, cpu);
	if (!denied) {
		r = cpumask_get_self(mask);
		if (r < 0)
			return r;
		if (cpumask_isset(mask, cpu))
			return -ENODATA;
	}
	list = cpumask_format_list(mask);
	if (!list)
		return -ENOMEM;
	if (!denied)
		return text_format(ret, "its affinity mask has %s (taskset?)", list);
	if (path)
		return text_format(ret, "cpuset %s has %s", path, list);
	return text_format(ret, "a cpuset that cannot be seen from here has %s", list);
}
