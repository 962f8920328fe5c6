// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command on a machine that is described by files:
 *
 *	sysroot [--root] DIRECTORY -- COMMAND [ARGUMENT...]
 *
 * It binds each entry E of DIRECTORY/sys over /sys/E, each entry of DIRECTORY/proc over
 * /proc/E, and DIRECTORY/run, if it exists, over /run as a whole. An ordinary user stays
 * himself, or is root over his own files with --root.
 *
 * /sys and /proc themselves are not bound over: libsensors asks statfs(2) whether /sys is sysfs,
 * and the sanitizers need /proc/self. For the same reason, names that are numbers, `self` and
 * `thread-self` below DIRECTORY/proc are left out, but for self/cgroup, which is shown to the
 * command alone, and to no process that it starts. /sys/E must exist, and be a directory if E is
 * one, because sysfs and procfs accept no new names. Entries that DIRECTORY does not have are those
 * of this machine. The directory is trusted: its links are followed wherever they lead.
 *
 * Exit status: that of the command; 77 where the kernel does not allow or does not have what it
 * takes, which a test reports as skipped; 2 for bad usage; 1 when DIRECTORY is not as described
 * above; 127 when the command cannot be executed.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/say.h"
#include "base/text.h"
#include "look/recording/mounts.h"

enum {
	EXIT_BAD_MACHINE = 1,
	EXIT_SKIP = 77,
	EXIT_NO_COMMAND = 127,
};

struct binding {
	const char *root; /* "/sys" */
	const char *from;
	unsigned n;
};

static int bind_name(const char *name, void *data, char **ret_why)
{
	struct binding *binding = data;
	char from[PATH_MAX], over[PATH_MAX];
	int r;

	if (strcmp(binding->root, "/proc") == 0 && mounts_is_process(name))
		return 0;
	r = mounts_join_path(from, binding->from, name, ret_why);
	if (r < 0)
		return r;
	snprintf(over, sizeof(over), "%s/%s", binding->root, name);
	r = mounts_bind(from, over, ret_why);
	if (r == 0)
		binding->n++;
	return r;
}

/* Makes mounts over /run private: other processes see them if the mount below is shared
 * (mount_namespaces(7)). That is /run, or the root. In a chroot neither may be a mount; then the
 * root is bound over /sys, which makes it one. */
static int make_run_private(char **ret_why)
{
	char cwd[PATH_MAX];

	if (mount(NULL, "/run", NULL, MS_PRIVATE, NULL) == 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return 0;
	if (!getcwd(cwd, sizeof(cwd)) || mount("/", "/sys", NULL, MS_BIND | MS_REC, NULL) < 0 ||
		mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || chroot("/sys") < 0 ||
		chdir(cwd) < 0)
		return text_refuse(
			ret_why, -EPERM, "cannot make a private /run: %s", strerror(errno));
	return 0;
}

static int bind_cgroup(const char *proc, char **ret_why)
{
	char from[PATH_MAX];
	int r = mounts_join_path(from, proc, "self/cgroup", ret_why);

	return r < 0 || access(from, F_OK) < 0 ? r
					       : mounts_bind(from, "/proc/self/cgroup", ret_why);
}

static int bind_machine(const char *directory, bool as_root, char **ret_why)
{
	char path[PATH_MAX], run[PATH_MAX];
	struct binding sys = { .root = "/sys", .from = path };
	struct binding proc = { .root = "/proc", .from = path };
	bool has_run;
	int r;

	r = mounts_unshare(as_root, ret_why);
	if (r == 0)
		r = mounts_join_path(run, directory, "run", ret_why);
	if (r < 0)
		return r;
	has_run = access(run, F_OK) == 0;
	if (has_run)
		r = make_run_private(ret_why);
	if (r == 0)
		r = mounts_join_path(path, directory, "sys", ret_why);
	if (r == 0)
		r = mounts_for_each_name(path, bind_name, &sys, ret_why);
	if (r == 0)
		r = mounts_join_path(path, directory, "proc", ret_why);
	if (r == 0)
		r = mounts_for_each_name(path, bind_name, &proc, ret_why);
	if (r == 0)
		r = bind_cgroup(path, ret_why);
	if (r < 0)
		return r;
	if (sys.n + proc.n == 0)
		return text_refuse(
			ret_why, -EINVAL, "%s: neither sys/ nor proc/ has an entry", directory);
	/* Last, because the directory itself may be below /run. */
	return has_run ? mounts_bind(run, "/run", ret_why) : 0;
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *why = NULL;
	bool as_root = argc > 1 && strcmp(argv[1], "--root") == 0;
	int r;

	if (as_root) {
		argv++;
		argc--;
	}
	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		say("usage: sysroot [--root] DIRECTORY -- COMMAND [ARGUMENT...]");
		return EXIT_USAGE;
	}
	r = bind_machine(argv[1], as_root, &why);
	if (r < 0) {
		say("%s", why ? why : strerror(-r));
		return r == -EINVAL ? EXIT_BAD_MACHINE : EXIT_SKIP;
	}
	execvp(argv[3], argv + 3);
	say_errno(errno, "%s", argv[3]);
	return EXIT_NO_COMMAND;
}
