// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "look/recording/copy.h"
#include "look/recording/mounts.h"
#include "look/recording/sysroot.h"
#include "look/recording/tarball.h"

/* The new root is mounted over /proc, of which only the entry of this process is still needed. */
#define ROOT "/proc"
#define EMPTY ROOT "/empty"
#define RECORDING ROOT "/recording"
/* A copy of the machine in it, where one is needed. */
#define COPY ROOT "/copy"

static int build_failed(const char *what, char **ret_why)
{
	return text_refuse(ret_why, -EPERM, "cannot build a view of the recording: %s: %s", what,
		strerror(errno));
}

static int make_file(const char *path, const char *content)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, content, strlen(content)) != (ssize_t)strlen(content))
		return -1;
	return 0;
}

/* Makes ROOT with the kernel's sysfs, this process, /dev/null, and an empty directory for the
 * recording. */
static int build_root(char **ret_why)
{
	char self[32], over[64], thread[80], cgroup[80];

	snprintf(self, sizeof(self), "%d", getpid());
	snprintf(over, sizeof(over), ROOT "/proc/%s", self);
	snprintf(thread, sizeof(thread), "%s/task/%s", self, self);
	snprintf(cgroup, sizeof(cgroup), "%s/cgroup", over);
	/* The old /proc stays reachable as the working directory. */
	if (chdir("/proc") < 0 ||
		mount("quiesce", ROOT, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755") < 0)
		return build_failed("tmpfs", ret_why);
	if (mkdir(ROOT "/sys", 0755) < 0 || mkdir(ROOT "/proc", 0755) < 0 ||
		mkdir(ROOT "/dev", 0755) < 0 || mkdir(EMPTY, 0755) < 0 ||
		mkdir(RECORDING, 0755) < 0 || mkdir(over, 0755) < 0 ||
		make_file(ROOT "/dev/null", "") < 0 ||
		/* The cgroup of this process does not exist in the recording: show the root, in a
		 * line that has no end, or what the recording has (show_cgroup()). */
		make_file(ROOT "/cgroup", "0::/") < 0)
		return build_failed("directories", ret_why);
	if (mount("/sys", ROOT "/sys", NULL, MS_BIND | MS_REC, NULL) < 0)
		return build_failed("/sys", ret_why);
	if (mount(self, over, NULL, MS_BIND | MS_REC, NULL) < 0 ||
		symlink(self, ROOT "/proc/self") < 0 ||
		symlink(thread, ROOT "/proc/thread-self") < 0)
		return build_failed("/proc/self", ret_why);
	if (access(cgroup, F_OK) == 0 && mount(ROOT "/cgroup", cgroup, NULL, MS_BIND, NULL) < 0)
		return build_failed("/proc/self/cgroup", ret_why);
	if (mount("/dev/null", ROOT "/dev/null", NULL, MS_BIND, NULL) < 0)
		return build_failed("/dev/null", ret_why);
	return 0;
}

/* The directory with sys/ or proc/: RECORDING, or the only such directory in it. */
struct machine {
	char path[PATH_MAX];
	bool found;
};

/* False for a link to a directory, which may lead to one of this machine. */
static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_machine(const char *path)
{
	static const char *const tops[] = { "/sys", "/proc" };
	char below[PATH_MAX];

	for (size_t i = 0; is_directory(path) && i < ARRAY_SIZE(tops); i++)
		if ((size_t)snprintf(below, sizeof(below), "%s%s", path, tops[i]) < sizeof(below) &&
			is_directory(below))
			return true;
	return false;
}

static int check_candidate(const char *name, void *data, char **ret_why)
{
	struct machine *machine = data;
	char path[PATH_MAX];
	int r;

	r = mounts_join_path(path, RECORDING, name, ret_why);
	if (r < 0 || !is_machine(path))
		return r;
	if (machine->found)
		return text_refuse(ret_why, -EINVAL, "there are several machines in it");
	memcpy(machine->path, path, sizeof(path));
	machine->found = true;
	return 0;
}

static int find_machine(struct machine *ret, char **ret_why)
{
	int r;

	if (is_machine(RECORDING)) {
		*ret = (struct machine){ .path = RECORDING, .found = true };
		return 0;
	}
	*ret = (struct machine){ 0 };
	r = mounts_for_each_name(RECORDING, check_candidate, ret, ret_why);
	if (r == 0 && !ret->found)
		return text_refuse(ret_why, -EINVAL, "there is neither a sys/ nor a proc/ in it");
	return r;
}

/* --- Inspecting the recording. --- */

enum {
	/* Deeper than any directory of the kernel. */
	DEPTH_MAX = 64,
	ATTEMPTS_MAX = 100 * 1000,
	REMOVED_SHOWN = 3,
};

/* Links that were removed. */
struct removed {
	struct text names; /* of the first ones */
	size_t n;
};

/* One of the two trees, sys or proc. */
struct inspection {
	int top;
	const char *top_name;
	char path[PATH_MAX]; /* of the present entry, relative to top */
	size_t n_entries;
	unsigned depth;
	/* Where links that lead out are removed and listed; NULL where they only set leads_out,
	 * because the files are somebody else's. */
	struct removed *removed;
	bool leads_out;
};

static int remove_link(const struct inspection *i, char **ret_why)
{
	if (unlinkat(i->top, i->path, 0) < 0)
		return text_refuse(
			ret_why, -EINVAL, "%s/%s: %s", i->top_name, i->path, strerror(errno));
	text_append_name(
		&i->removed->names, i->removed->n++, REMOVED_SHOWN, "%s/%s", i->top_name, i->path);
	return 0;
}

static int refuse_entry(const struct inspection *i, const char *what, char **ret_why)
{
	return text_refuse(
		ret_why, -EINVAL, "%s%s%s %s", i->top_name, *i->path ? "/" : "", i->path, what);
}

/*
 * Finds or removes a link that leads out of its tree, even through other links, each of which may
 * look harmless by its text: so the kernel has to resolve it. A link that leads nowhere does no
 * harm. RESOLVE_BENEATH exists from Linux 5.6 on (openat2(2)); a seccomp filter may refuse the
 * call.
 */
static int inspect_link(struct inspection *i, char **ret_why)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int fd = -EBADF;

	/* EAGAIN: something was renamed or mounted anywhere on the system while the kernel resolved
	 * a "..". Try again. */
	for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		fd = (int)syscall(SYS_openat2, i->top, i->path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EACCES)
		return 0;
	if (errno == EXDEV) {
		i->leads_out = true;
		return i->removed ? remove_link(i, ret_why) : 0;
	}
	if (errno == ENOSYS || errno == EPERM)
		return text_refuse(ret_why, -EPERM,
			"this system cannot tell where its links lead: openat2: %s",
			strerror(errno));
	return text_refuse(ret_why, -EINVAL, "%s/%s: %s", i->top_name, i->path, strerror(errno));
}

static int inspect_directory(int parent, const char *name, struct inspection *i, char **ret_why);

/* Inspects the entry i->path, which is `name` in `directory`. Other types than those below are
 * refused: a device is dangerous, and opening a FIFO may block. */
static int inspect_entry(
	int directory, const char *name, unsigned char type, struct inspection *i, char **ret_why)
{
	struct stat st;

	if (++i->n_entries > TARBALL_ENTRIES_MAX)
		return text_refuse(ret_why, -EINVAL, TARBALL_TOO_MANY);
	if (type == DT_UNKNOWN) {
		if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return refuse_entry(i, strerror(errno), ret_why);
		type = IFTODT(st.st_mode);
	}
	switch (type) {
	case DT_REG:
		return 0;
	case DT_DIR:
		return inspect_directory(directory, name, i, ret_why);
	case DT_LNK:
		return inspect_link(i, ret_why);
	default:
		return refuse_entry(
			i, "is neither a file, a directory nor a symbolic link", ret_why);
	}
}

static int inspect_directory(int parent, const char *name, struct inspection *i, char **ret_why)
{
	_cleanup_close_ int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	size_t length = strlen(i->path);
	const struct dirent *entry;
	int r = 0;

	/* A directory that cannot be opened now cannot be read later, either. */
	if (!dir && errno == EACCES)
		return 0;
	if (!dir)
		return text_refuse(ret_why, -EINVAL, "%s%s%s: %s", i->top_name,
			length > 0 ? "/" : "", i->path, strerror(errno));
	(void)TAKE_FD(fd);
	if (++i->depth > DEPTH_MAX)
		return refuse_entry(i, "is too deep", ret_why);
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(i->path + length, sizeof(i->path) - length, "%s%s",
			    length > 0 ? "/" : "", entry->d_name) >= sizeof(i->path) - length)
			r = refuse_entry(i, "is too long", ret_why);
		else
			r = inspect_entry(dirfd(dir), entry->d_name, entry->d_type, i, ret_why);
		i->path[length] = '\0';
	}
	i->depth--;
	if (r == 0 && errno > 0)
		return text_refuse(ret_why, -EINVAL, "%s: %s", i->top_name, strerror(errno));
	return r;
}

static const char *const tops[] = { "sys", "proc" };

/*
 * Refuses anything but files, directories and links, and removes links that do not stay in their
 * tree; or returns 1 where there are such links and `removed` is NULL. sys and proc are two trees,
 * and not one, because each may have entries of this machine beside those of the recording, such as
 * /proc/self. The check is not atomic: somebody who can write to the recording can change it later.
 */
static int inspect_machine(const char *machine, struct removed *removed, char **ret_why)
{
	bool leads_out = false;

	for (size_t k = 0; k < ARRAY_SIZE(tops); k++) {
		struct inspection inspection = { .top_name = tops[k], .removed = removed };
		char path[PATH_MAX];
		int r;

		r = mounts_join_path(path, machine, tops[k], ret_why);
		if (r < 0)
			return r;
		inspection.top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inspection.top < 0 && errno == ENOENT)
			continue;
		if (inspection.top < 0)
			return text_refuse(ret_why, -EINVAL, "%s: %s", tops[k], strerror(errno));
		r = inspect_directory(inspection.top, ".", &inspection, ret_why);
		close(inspection.top);
		if (r < 0)
			return r;
		leads_out = leads_out || inspection.leads_out;
	}
	return leads_out && !removed;
}

static int copy_top(const char *machine, const char *top, char **ret_why)
{
	_cleanup_close_ int from = -EBADF, to = -EBADF;
	char path[PATH_MAX], copy[PATH_MAX];
	int r;

	r = mounts_join_path(path, machine, top, ret_why);
	if (r == 0)
		r = mounts_join_path(copy, COPY, top, ret_why);
	if (r < 0)
		return r;
	from = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0 && errno == ENOENT)
		return 0;
	if (from < 0)
		return text_refuse(ret_why, -EINVAL, "%s: %s", top, strerror(errno));
	if (mkdir(copy, 0755) < 0)
		return build_failed(copy, ret_why);
	to = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Beginning below the recording's top, whose path ends with the slash that is left out. */
	return to < 0 ? build_failed(copy, ret_why)
		      : copy_tree(TAKE_FD(from), to, path + strlen(RECORDING) + 1, ret_why);
}

/* Copies the machine into memory, and goes on with the copy. */
static int copy_machine(struct machine *machine, char **ret_why)
{
	if (mkdir(COPY, 0755) < 0)
		return build_failed(COPY, ret_why);
	for (size_t k = 0; k < ARRAY_SIZE(tops); k++) {
		int r = copy_top(machine->path, tops[k], ret_why);

		if (r < 0)
			return r;
	}
	snprintf(machine->path, sizeof(machine->path), COPY);
	return 0;
}

struct hiding {
	const char *machine;
	struct text missing;
};

/* Binds the recording's entry, or an empty directory, over an entry of this machine's /sys. */
static int show_or_hide(const char *name, void *data, char **ret_why)
{
	const struct hiding *hiding = data;
	char from[PATH_MAX], over[PATH_MAX];
	struct stat st;
	int r;

	r = mounts_join_path(over, ROOT "/sys", name, ret_why);
	if (r < 0)
		return r;
	if ((size_t)snprintf(from, sizeof(from), "%s/sys/%s", hiding->machine, name) >=
			sizeof(from) ||
		lstat(from, &st) < 0 || !S_ISDIR(st.st_mode))
		snprintf(from, sizeof(from), EMPTY);
	return mounts_bind(from, over, ret_why);
}

static int note_missing(const char *name, void *data, char **ret_why)
{
	struct hiding *hiding = data;
	char over[PATH_MAX];
	int r;

	r = mounts_join_path(over, ROOT "/sys", name, ret_why);
	if (r < 0)
		return r;
	if (access(over, F_OK) < 0)
		text_appendf(&hiding->missing, "%s/sys/%s", hiding->missing.length > 0 ? ", " : "",
			name);
	return 0;
}

/* Links an entry of the recording into /proc of the new root, which is a plain directory, so that
 * the names need not exist on this machine. */
static int link_proc(const char *name, void *data, char **ret_why)
{
	const struct hiding *hiding = data;
	char target[PATH_MAX], path[PATH_MAX];

	if (mounts_is_process(name))
		return 0;
	/* The path after chroot(ROOT). */
	if ((size_t)snprintf(target, sizeof(target), "%s/proc/%s", hiding->machine + strlen(ROOT),
		    name) >= sizeof(target) ||
		(size_t)snprintf(path, sizeof(path), ROOT "/proc/%s", name) >= sizeof(path))
		return text_refuse(ret_why, -EINVAL, "%s: name too long", name);
	if (symlink(target, path) < 0)
		return build_failed(path, ret_why);
	return 0;
}

/* Shows the cgroup of who made the recording, if it is in there. */
static int show_cgroup(const char *machine, char **ret_why)
{
	char from[PATH_MAX], over[64];
	struct stat st;
	int r;

	snprintf(over, sizeof(over), ROOT "/proc/%d/cgroup", getpid());
	r = mounts_join_path(from, machine, "proc/self/cgroup", ret_why);
	if (r < 0 || lstat(from, &st) < 0 || !S_ISREG(st.st_mode) || access(over, F_OK) < 0)
		return r;
	return mounts_bind(from, over, ret_why);
}

/* is_ours: the recording was unpacked, and nobody else has it. */
static int show_machine(bool is_ours, struct removed *removed, char **ret_missing, char **ret_why)
{
	struct machine machine;
	struct hiding hiding = { .machine = machine.path };
	char path[PATH_MAX];
	int r;

	r = find_machine(&machine, ret_why);
	if (r == 0)
		r = inspect_machine(machine.path, is_ours ? removed : NULL, ret_why);
	if (r > 0) {
		r = copy_machine(&machine, ret_why);
		if (r == 0)
			r = inspect_machine(machine.path, removed, ret_why);
	}
	if (r == 0)
		r = mounts_for_each_name(ROOT "/sys", show_or_hide, &hiding, ret_why);
	if (r == 0)
		r = show_cgroup(machine.path, ret_why);
	if (r == 0)
		r = mounts_join_path(path, machine.path, "proc", ret_why);
	if (r == 0)
		r = mounts_for_each_name(path, link_proc, &hiding, ret_why);
	if (r == 0)
		r = mounts_join_path(path, machine.path, "sys", ret_why);
	if (r == 0)
		r = mounts_for_each_name(path, note_missing, &hiding, ret_why);
	if (r == 0 && (chroot(ROOT) < 0 || chdir("/") < 0))
		r = build_failed("chroot", ret_why);
	if (r == 0)
		*ret_missing = hiding.missing.length > 0 || hiding.missing.failed
			? xptr(text_steal(&hiding.missing))
			: NULL;
	text_clear(&hiding.missing);
	return r;
}

static int unpack_recording(int fd, char **ret_why)
{
	_cleanup_close_ int directory = open(RECORDING, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return build_failed(RECORDING, ret_why);
	return tarball_unpack(fd, directory, ret_why);
}

int sysroot_enter(const char *recording, char **ret_missing, char **ret_removed, char **ret_why)
{
	/* An absolute path, because build_root() changes the working directory. */
	_cleanup_free_ char *path = realpath(recording, NULL);
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	struct removed removed = { 0 };
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return text_refuse(ret_why, -EINVAL, "%s", strerror(errno));
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return text_refuse(ret_why, -EINVAL, "it is neither a directory nor an archive");
	r = mounts_unshare(false, ret_why);
	if (r == 0)
		r = build_root(ret_why);
	if (r < 0)
		return r;
	if (S_ISREG(st.st_mode))
		r = unpack_recording(fd, ret_why);
	else if (mount(path, RECORDING, NULL, MS_BIND | MS_REC, NULL) < 0)
		r = build_failed(path, ret_why);
	if (r == 0)
		r = show_machine(S_ISREG(st.st_mode), &removed, ret_missing, ret_why);
	text_append_rest(&removed.names, removed.n, REMOVED_SHOWN);
	if (r == 0)
		*ret_removed = removed.n > 0 ? xptr(text_steal(&removed.names)) : NULL;
	text_clear(&removed.names);
	return r;
}
