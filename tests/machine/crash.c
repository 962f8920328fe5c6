// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kills a setter at every system call that writes, and looks whether it gives the machine back:
 *
 *	crash apply|again|restore DIRECTORY TOOL [ARGUMENT...]
 *
 * To be run on the described machine in DIRECTORY (under sysroot, as root, with a /run of its own).
 * A first run counts the N calls that write; then for each of them the tool is killed with SIGKILL
 * before the call and, another time, after it, 2 N kills in all:
 *
 *	apply	`TOOL apply ARGUMENT...` is killed, then `TOOL restore` runs;
 *	again	`TOOL apply ARGUMENT...` is killed, then it runs again, to the same machine as if it
 *		had not been killed, then `TOOL restore`;
 *	restore	`TOOL apply ARGUMENT...` runs, `TOOL restore` is killed, and runs again.
 *
 * Afterwards DIRECTORY/sys and DIRECTORY/proc must be as at the beginning, byte for byte,
 * /run/quiesce hold nothing but the lock, and this program have the CPUs that it had. Prints
 * "N KILLS FAILURES", and a line for each failure on standard error. Exit status: 0 without
 * failures, 1 with some, 2 for bad usage, 77 where the kernel does not let us trace.
 *
 * With a kernel behind these files (kernel.c), to ask it by sendto(2) is a call that writes, which
 * lasts until recvfrom(2) has its answer.
 *
 * The machine's files are plain, where those of the kernel ignore O_TRUNC and take a write as a
 * whole: so a file that was opened for writing and not written yet gets its text back.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

#define TRACE(name)                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)

/* Which calls write; openat(2) when it makes or empties a file. Low words first is for little
 * endian; the flags of openat are its third argument. */
static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	TRACE(write),
	TRACE(pwrite64),
	TRACE(writev),
	TRACE(pwritev),
	TRACE(pwritev2),
	TRACE(sendto),
	TRACE(recvfrom),
	TRACE(sendmsg),
	TRACE(linkat),
	TRACE(symlinkat),
	TRACE(unlinkat),
	TRACE(mkdirat),
	TRACE(mknodat),
	TRACE(renameat2),
	TRACE(ftruncate),
	TRACE(truncate),
	TRACE(fchmod),
	TRACE(fchmodat),
	TRACE(fchown),
	TRACE(fchownat),
	TRACE(fsync),
	TRACE(fdatasync),
	TRACE(kill),
	TRACE(sched_setaffinity),
	TRACE(setpriority),
	TRACE(mount),
#ifdef __NR_renameat
	TRACE(renameat),
#endif
#ifdef __NR_rename
	TRACE(rename),
	TRACE(link),
	TRACE(symlink),
	TRACE(unlink),
	TRACE(mkdir),
	TRACE(rmdir),
	TRACE(chmod),
	TRACE(chown),
	TRACE(creat),
	TRACE(open),
#endif
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, args[2]) + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0)),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void become_traced(const char *verb, bool with_arguments)
{
	struct sock_fprog program = {
		.len = N_ELEMENTS(filter),
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};

	redirect();
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(EXIT_SKIP);
	raise(SIGSTOP);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(EXIT_SKIP);
	execv(tool, command(verb, with_arguments));
	_exit(127);
}

/* A file that was opened with O_TRUNC and not written yet: its text, and how to give it back. */
struct emptied {
	int fd; /* -1: none */
	char *text;
	size_t length;
};

static void forget_emptied(struct emptied *emptied)
{
	if (emptied->fd >= 0)
		close(emptied->fd);
	free(emptied->text);
	*emptied = (struct emptied){ .fd = -1 };
}

static void refill_emptied(struct emptied *emptied)
{
	if (emptied->fd >= 0 &&
		(ftruncate(emptied->fd, 0) < 0 ||
			pwrite(emptied->fd, emptied->text, emptied->length, 0) !=
				(ssize_t)emptied->length))
		die(1, "cannot refill: %s", strerror(errno));
	forget_emptied(emptied);
}

static void remember_emptied(pid_t pid, uint64_t address, struct emptied *emptied)
{
	char path[PATH_MAX] = "";
	struct iovec local = { .iov_base = path, .iov_len = sizeof(path) - 1 };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
		.iov_len = sizeof(path) - 1 };
	ssize_t n;

	forget_emptied(emptied);
	/* The text may end with its page. */
	for (n = -1; n < 0 && remote.iov_len > 16; remote.iov_len /= 2)
		n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/proc/", 6) != 0)
		return;
	emptied->fd = open(path, O_RDWR | O_CLOEXEC);
	if (emptied->fd >= 0)
		emptied->text = read_file(path, &emptied->length);
}

struct outcome {
	unsigned calls; /* that write, which were begun */
	bool killed;
	int status; /* as a shell has it */
};

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid)
		die(1, "waitpid: %s", strerror(errno));
	return status;
}

/* Runs the tool and kills it before (or after) its call number kill_at; 0: never. */
static struct outcome run_traced(
	const char *verb, bool with_arguments, unsigned kill_at, bool after)
{
	struct outcome outcome = { 0 };
	struct emptied emptied = { .fd = -1 };
	bool inside = false, is_answer;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die(1, "fork: %s", strerror(errno));
	if (pid == 0)
		become_traced(verb, with_arguments);
	status = wait_for(pid);
	if (WIFSTOPPED(status) &&
		ptrace(PTRACE_SETOPTIONS, pid, NULL,
			PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD) < 0)
		die(EXIT_SKIP, "cannot trace: %s", strerror(errno));
	while (WIFSTOPPED(status)) {
		int event = status >> 16, signal = WSTOPSIG(status);
		struct __ptrace_syscall_info info;
		long next = 0;

		if (event == PTRACE_EVENT_SECCOMP) {
			if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
				die(EXIT_SKIP, "no PTRACE_GET_SYSCALL_INFO: %s", strerror(errno));
			is_answer = info.seccomp.nr == __NR_recvfrom;
			if (!is_answer)
				outcome.calls++;
			if (info.seccomp.nr == __NR_openat && (info.seccomp.args[2] & O_TRUNC))
				remember_emptied(pid, info.seccomp.args[1], &emptied);
			inside = true;
			if (outcome.calls == kill_at && !after && !is_answer) {
				/* Not executed: what it would have emptied is full. */
				outcome.killed = true;
				break;
			}
		} else if (signal == (SIGTRAP | 0x80) && inside) {
			inside = false;
			/* Only a write fills what an open has emptied. */
			if (info.seccomp.nr == __NR_write)
				forget_emptied(&emptied);
			if (outcome.calls == kill_at && after && info.seccomp.nr != __NR_sendto) {
				outcome.killed = true;
				break;
			}
		} else if (event == 0 && signal != SIGSTOP && signal != SIGTRAP &&
			signal != (SIGTRAP | 0x80)) {
			next = signal;
		}
		if (ptrace(inside ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, next) < 0)
			die(1, "cannot go on tracing: %s", strerror(errno));
		status = wait_for(pid);
	}
	if (outcome.killed) {
		kill(pid, SIGKILL);
		do
			status = wait_for(pid);
		while (WIFSTOPPED(status));
		refill_emptied(&emptied);
	}
	forget_emptied(&emptied);
	outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (!outcome.killed && outcome.status == EXIT_SKIP)
		die(EXIT_SKIP, "the kernel does not let us trace");
	return outcome;
}

int main(int argc, char *argv[])
{
	const char *mode, *directory;
	bool killing_restore, again;
	struct tree before, applied;
	struct outcome whole;
	unsigned kills = 0;
	char what[64];

	if (argc < 4 ||
		(strcmp(argv[1], "apply") != 0 && strcmp(argv[1], "again") != 0 &&
			strcmp(argv[1], "restore") != 0))
		die(EXIT_BAD_USAGE,
			"usage: crash apply|again|restore DIRECTORY TOOL [ARGUMENT...]");
	mode = argv[1];
	directory = argv[2];
	tool = argv[3];
	arguments = argv + 4;
	again = strcmp(mode, "again") == 0;
	killing_restore = strcmp(mode, "restore") == 0;

	/* A run that nobody kills: how many calls there are, and what it comes to. */
	watch_tree(directory);
	read_tree(directory, &before);
	note_own_cpus();
	adopt_orphans();
	whole = run_traced("apply", true, 0, false);
	if (whole.status != 0) {
		fail("at first", "apply", whole.status);
		die(1, "apply: status %d", whole.status);
	}
	read_tree(directory, &applied);
	prove_watch(&before, &applied);
	if (killing_restore)
		whole = run_traced("restore", false, 0, false);
	else
		run_well("restore", false, "at first");
	check_tree(directory, &before, true, "at first");

	for (unsigned call = 1; call <= whole.calls; call++) {
		for (int after = 0; after <= 1; after++) {
			struct outcome outcome;

			snprintf(what, sizeof(what), "%s killed %s write %u of %u",
				killing_restore ? "restore" : "apply", after ? "after" : "before",
				call, whole.calls);
			if (killing_restore)
				run_well("apply", true, what);
			outcome = run_traced(killing_restore ? "restore" : "apply",
				!killing_restore, call, after);
			if (!outcome.killed)
				fail(what, "it had ended before", outcome.status);
			else
				kills++;
			if (again) {
				run_well("apply", true, what);
				check_tree(directory, &applied, false, what);
			}
			run_well("restore", false, what);
			check_tree(directory, &before, true, what);
		}
	}
	printf("%u %u %u\n", whole.calls, kills, failures);
	free_tree(&before);
	free_tree(&applied);
	return failures > 0;
}
