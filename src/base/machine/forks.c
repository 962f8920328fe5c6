// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/forks.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/wait.h"

/* Reads some memory of each process, by /proc/PID/cmdline. */
static void read_memories(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[64], text[FILE_ATTR_SIZE];
		int pid;

		if (parse_int(entry->d_name, 1, INT_MAX, &pid) < 0)
			continue;
		snprintf(path, sizeof(path), "%d/cmdline", pid);
		/* The text, and whether reading it fails, does not matter: only the wait does. */
		(void)file_read_attr(dirfd(dir), path, text, sizeof(text));
	}
}

/*
 * fork(2) holds the lock of the memory that it copies (dup_mmap() in kernel/fork.c), and a reader
 * of the process's memory by /proc/PID/cmdline waits for that lock (access_remote_vm() in
 * mm/memory.c, from 2.6 to 6.18). A call that hangs, such as one on a file system whose server is
 * gone, may hold the lock as well, and only the death of the reader ends the wait for it: so a
 * child reads. The child may outlive this process, so it keeps no descriptor open: neither the lock
 * of the setters nor the pipe that somebody reads the table from.
 */
void forks_wait(int64_t deadline_ns)
{
	struct wait wait = wait_until(deadline_ns, NSEC_PER_MSEC / 4, 10 * NSEC_PER_MSEC);
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		return;
	if (child == 0) {
		file_close_from(STDIN_FILENO);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
			read_memories();
		_exit(0);
	}
	do {
		if (RETRY_INTERRUPTED(waitpid(child, NULL, WNOHANG)) != 0)
			return;
	} while (wait_step(&wait));
	kill(child, SIGKILL);
	/* Before 5.8 not even SIGKILL ended the wait for the lock, so there is no waiting for the
	 * child either: init reaps it. */
	(void)RETRY_INTERRUPTED(waitpid(child, NULL, WNOHANG));
}
