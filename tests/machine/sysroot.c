// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command on a machine that is described by files:
 *
 *	sysroot [--root] DIRECTORY -- COMMAND [ARGUMENT...]
 *
 * In a mount namespace of its own each entry E of DIRECTORY/sys is bound over /sys/E and each entry
 * of DIRECTORY/proc over /proc/E, then the command is executed. One level down, because the roots
 * must stay what they are: libsensors asks statfs(2) whether /sys is sysfs, and the sanitizers need
 * /proc/self. For the same reason numbers, `self` and `thread-self` below DIRECTORY/proc are left
 * out. /sys/E must exist, as a file for a file and a directory for a directory: sysfs and procfs
 * take no new names. DIRECTORY/run, if there is one, is bound over /run as a whole: what a command
 * keeps there is the machine's own.
 *
 * Only files follow: the scheduler, perf and the clock are still this machine's.
 *
 * An ordinary user gets a user namespace as well, in which he stays himself, or with --root is
 *root: over his own files. Exit status: that of the command; 77 where the kernel does not allow or
 *does not have what it takes, which a test reports as skipped; 2 for bad usage; 1 when DIRECTORY is
 *not as described above; 127 when the command cannot be executed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EXIT_BAD_MACHINE = 1,
	EXIT_BAD_USAGE = 2,
	EXIT_SKIP = 77,
	EXIT_NO_COMMAND = 127,
};

__attribute__((format(printf, 2, 3), noreturn)) static void die(int status, const char *format, ...)
{
	va_list ap;

	fputs("sysroot: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

static void write_own(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(EXIT_SKIP, "cannot write %s: %s", path, strerror(errno));
	close(fd);
}

static void enter_namespaces(bool as_root)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			die(EXIT_SKIP, "no namespaces here: %s", strerror(errno));
		/* user_namespaces(7): without this an ordinary user may not map his group. */
		write_own("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", as_root ? 0 : uid, uid);
		write_own("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%u %u 1", as_root ? 0 : gid, gid);
		write_own("/proc/self/gid_map", map);
	}
	/* Not of the root directory, which in a chroot is no mount. */
	if (mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die(EXIT_SKIP, "cannot have mounts of our own: %s", strerror(errno));
}

/* A mount over /run shows to others if the mount that it is put on is shared (mount_namespaces(7)).
 * That is /run itself, or the root; and where the root is a mere directory of a mount that cannot
 * be seen from here, in a chroot, it is made one. */
static void own_run(void)
{
	char cwd[PATH_MAX];

	if (mount(NULL, "/run", NULL, MS_PRIVATE, NULL) == 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return;
	if (!getcwd(cwd, sizeof(cwd)) || mount("/", "/sys", NULL, MS_BIND | MS_REC, NULL) < 0 ||
		mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || chroot("/sys") < 0 ||
		chdir(cwd) < 0)
		die(EXIT_SKIP, "cannot have a /run of our own: %s", strerror(errno));
}

static bool is_process(const char *name)
{
	return strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0 ||
		strspn(name, "0123456789") == strlen(name);
}

static void bind_entry(const char *from, const char *over)
{
	struct stat from_st, over_st;

	if (stat(from, &from_st) < 0)
		die(EXIT_BAD_MACHINE, "%s: %s", from, strerror(errno));
	if (stat(over, &over_st) < 0)
		die(EXIT_SKIP, "nothing to bind over: %s: %s", over, strerror(errno));
	if (S_ISDIR(from_st.st_mode) != S_ISDIR(over_st.st_mode))
		die(EXIT_BAD_MACHINE, "%s and %s: one is a directory", from, over);
	if (mount(from, over, NULL, MS_BIND, NULL) < 0)
		die(EXIT_SKIP, "cannot bind %s over %s: %s", from, over, strerror(errno));
}

/* Returns how many entries were bound. */
static unsigned bind_all(const char *directory, const char *root)
{
	char path[PATH_MAX], from[PATH_MAX + 256], over[512];
	const struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", directory, root) >= sizeof(path))
		die(EXIT_BAD_MACHINE, "%s: name too long", directory);
	dir = opendir(path);
	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		die(EXIT_BAD_MACHINE, "%s: %s", path, strerror(errno));
	while (errno = 0, (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (strcmp(root, "/proc") == 0 && is_process(name))
			continue;
		snprintf(from, sizeof(from), "%s/%s", path, name);
		snprintf(over, sizeof(over), "%s/%s", root, name);
		bind_entry(from, over);
		n++;
	}
	if (errno)
		die(EXIT_BAD_MACHINE, "%s: %s", path, strerror(errno));
	closedir(dir);
	return n;
}

static bool has_run(const char *directory, char path[PATH_MAX])
{
	struct stat st;

	if (snprintf(path, PATH_MAX, "%s/run", directory) >= PATH_MAX)
		die(EXIT_BAD_MACHINE, "%s: name too long", directory);
	if (stat(path, &st) == 0)
		return true;
	if (errno != ENOENT)
		die(EXIT_BAD_MACHINE, "%s: %s", path, strerror(errno));
	return false;
}

int main(int argc, char *argv[])
{
	char run[PATH_MAX];
	bool as_root = argc > 1 && strcmp(argv[1], "--root") == 0;

	if (as_root) {
		argv++;
		argc--;
	}
	if (argc < 4 || strcmp(argv[2], "--") != 0)
		die(EXIT_BAD_USAGE, "usage: sysroot [--root] DIRECTORY -- COMMAND [ARGUMENT...]");
	enter_namespaces(as_root);
	if (has_run(argv[1], run))
		own_run();
	if (bind_all(argv[1], "/sys") + bind_all(argv[1], "/proc") == 0)
		die(EXIT_BAD_MACHINE, "%s: neither sys/ nor proc/ has an entry", argv[1]);
	/* Last, for DIRECTORY itself may lie below /run. */
	if (has_run(argv[1], run))
		bind_entry(run, "/run");
	execvp(argv[3], argv + 3);
	die(EXIT_NO_COMMAND, "%s: %s", argv[3], strerror(errno));
}
