// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/wait.h"
#include "measure/orphans.h"

enum {
	/* A process that does not end in this time hangs in the kernel. */
	END_SECONDS = 2,
	FIRST_STEP_NS = 100 * 1000,
	LAST_STEP_NS = 10 * 1000 * 1000,
	HIGHEST_PID = 4194304, /* PID_MAX_LIMIT (include/linux/threads.h) */
};

bool orphans_reap(pid_t pid, int *ret_status)
{
	bool gone = false;
	pid_t ended;
	int status;

	while ((ended = RETRY_INTERRUPTED(waitpid(-1, &status, WNOHANG | __WALL))) > 0) {
		gone = gone || ended == pid;
		if (ended == pid && ret_status)
			*ret_status = status;
	}
	return gone || (ended < 0 && errno == ECHILD);
}

/* The parent and the state of a process from /proc/PID/stat. It comes after the name, which may
 * contain any character: "7 (a) b) S 1 ..." (proc(5)). 0 when the process has ended. -EPERM or
 * -EACCES when it belongs to somebody else and /proc is mounted with hidepid=1. */
static pid_t read_parent(int proc, const char *name, char *ret_state)
{
	char path[32], text[512];
	const char *cursor;
	uint64_t parent;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/stat", name) >= (int)sizeof(path))
		return 0;
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	n = RETRY_INTERRUPTED(read(fd, text, sizeof(text) - 1));
	if (n < 0) {
		int r = errno == ESRCH ? 0 : -errno;

		close(fd);
		return r;
	}
	close(fd);
	text[n] = '\0';
	cursor = strrchr(text, ')');
	if (!cursor || strlen(cursor) < sizeof(") S "))
		return -EBADMSG;
	*ret_state = cursor[strlen(") ")];
	cursor += strlen(") S ");
	return parse_next_u64(&cursor, &parent) < 0 ? -EBADMSG : (pid_t)parent;
}

/* Kills or reaps the process if it is a child of this one. Returns whether it did either.
 * *ret_found becomes true if the child was alive. */
static bool kill_child(pid_t pid, bool *ret_found)
{
	pid_t reaped = waitpid(pid, NULL, WNOHANG | __WALL);

	if (reaped < 0)
		return false;
	if (reaped == pid)
		return true;
	*ret_found = true;
	return kill(pid, SIGKILL) == 0;
}

bool orphans_have_proc(void)
{
	char self[16] = "", number[16];

	snprintf(number, sizeof(number), "%d", (int)getpid());
	return readlink("/proc/self", self, sizeof(self) - 1) > 0 && strcmp(self, number) == 0;
}

/* The kernel gives numbers in rising order, and begins with the low ones again when it has come to
 * the highest one: those of all that this process has descended from it lie between its own and the
 * one that is given now. Returns how many children were killed or found dead. */
static int kill_by_number(pid_t except, bool *ret_found)
{
	pid_t first = getpid() + 1, newest = fork();
	int n = 0;

	if (newest < 0)
		return -errno;
	if (newest == 0)
		_exit(0);
	(void)RETRY_INTERRUPTED(waitpid(newest, NULL, 0));
	for (pid_t pid = first; pid != newest; pid = pid < HIGHEST_PID ? pid + 1 : 1) {
		if (pid != except)
			n += kill_child(pid, ret_found);
	}
	return n;
}

/* Looks at all processes once, and kills the children of this process. Returns how many children
 * were killed or found dead. The children of those become children of this process, and may come
 * too late for this look. *ret_found becomes true if a child was alive. */
static int kill_children(pid_t except, bool *ret_found)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	pid_t self = getpid();
	int n = 0;

	if (!orphans_have_proc())
		return kill_by_number(except, ret_found);
	if (!proc)
		return -errno;
	for (;;) {
		const struct dirent *entry;
		unsigned pid;
		pid_t parent;
		char state;

		errno = 0;
		entry = readdir(proc);
		if (!entry)
			return errno ? -errno : n;
		if (parse_uint(entry->d_name, 1, INT_MAX, &pid) < 0 || (pid_t)pid == except)
			continue;
		parent = read_parent(dirfd(proc), entry->d_name, &state);
		if (parent < 0 && parent != -EPERM && parent != -EACCES)
			return parent;
		/* Where /proc does not tell the parent, only a child can be waited for. The number
		 * of a child is not reused before this process has reaped the child. */
		if (parent < 0 || parent == self)
			n += kill_child((pid_t)pid, ret_found);
	}
}

bool orphans_are_alive(const char *list, pid_t except)
{
	char path[32], state = 'X';
	uint64_t pid;

	/* The last number may not be whole. */
	while (parse_next_u64(&list, &pid) == 0 && *list == ' ') {
		snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
		if (pid != (uint64_t)except && read_parent(AT_FDCWD, path, &state) > 0 &&
			state != 'Z' && state != 'X')
			return true;
	}
	return false;
}

int orphans_end(pid_t except)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + END_SECONDS * NSEC_PER_SEC,
		FIRST_STEP_NS, LAST_STEP_NS);
	bool found = false;

	do {
		int n;

		/* When there are no children left, there is no need to read /proc. */
		if (except == 0 && orphans_reap(0, NULL))
			break;
		n = kill_children(except, &found);
		if (n < 0)
			return n;
		if (n == 0)
			break;
	} while (wait_step(&wait));
	return found;
}
