// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command of which one system call fails:
 *
 *	measure-fault REPORT --count -- COMMAND...
 *	measure-fault REPORT ROLE CALL NUMBER ERRNO once|forever -- COMMAND...
 *
 * A role is a process of runpinned's, or of bench-report: the command itself is "0", the keeper
 * that it forks "1", the launcher "2", and the child that is to become the program "3", until it
 * does. CALL is the name of a system call, and NUMBER counts the calls of that name in all
 * processes of the role, from 1. That one fails with ERRNO. With "forever" all further calls of
 * that name fail, too, in all roles. brk(2) and mmap(2) are one call then, so that allocations
 * fail in a static program as well.
 *
 * Nothing is executed in the place of a call that fails, so close(2) is not among them: it closes,
 * whatever it says.
 *
 * --count writes a line "ROLE NUMBER CALL ERRNO..." to the file REPORT for each call that was made,
 * with what it may fail with. The other form writes one line: the call that failed ("-": it never
 * came), the exit status of the command as a shell has it (-1: it did not end), and how many of its
 * descendants outlived it; those are killed then. Exit status: 0; 2 for bad usage; 77 where the
 * kernel does not let us watch.
 *
 * By seccomp's notifications (seccomp_unotify(2)), which go through all descendants, static ones
 * too, and leave waiting and signals as they are, unlike ptrace(2).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "notify.h"

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_BAD_USAGE = 2,
	EXIT_SKIP = 77,
	N_ROLES = 4,
	NO_ROLE = -1,
	MAX_ERRNOS = 6,
	MAX_PROCESSES = 4096,
	/* A program that hangs does so for ever, and runpinned waits for minutes for nobody. */
	COMMAND_SECONDS = 60,
	OUTLIVE_SECONDS = 5,
};

struct kind {
	int number;
	const char *name;
	int errnos[MAX_ERRNOS]; /* ended by 0 */
};

/* Its name where off_t is longer than a register. */
#ifndef __NR_newfstatat
#define __NR_newfstatat __NR_fstatat64
#endif

#define KIND(name, ...)             \
	{                           \
		__NR_##name, #name, \
		{                   \
			__VA_ARGS__ \
		}                   \
	}

/* What can fail, and how. Not in here, and so never asked about, is what cannot (getpid(2)), and
 * what nobody could do anything about (munmap(2), close(2)). */
static const struct kind kinds[] = {
	KIND(read, EIO, EINTR),
	KIND(pread64, EIO, EINTR, ENOMEM),
	KIND(write, EIO, EINTR, ENOSPC),
	KIND(pwrite64, EIO, EINTR, ENOSPC),
	KIND(writev, EIO, EINTR, ENOSPC),
	KIND(openat, EIO, EINTR, ENOMEM, EMFILE, EACCES),
	KIND(newfstatat, EIO, ENOMEM, EACCES),
	KIND(fstat, EIO, ENOMEM),
	KIND(statx, EIO, ENOMEM, EACCES),
	KIND(statfs, EIO, ENOMEM),
	KIND(faccessat, EIO, ENOMEM, EACCES),
	KIND(faccessat2, EIO, ENOMEM, EACCES),
	KIND(readlinkat, EIO, ENOMEM, EACCES),
	KIND(getdents64, EIO, ENOMEM),
	KIND(lseek, EIO),
	KIND(ioctl, EIO, EINTR, ENOMEM),
	KIND(fcntl, EINTR, EMFILE),
	KIND(dup, EMFILE),
	KIND(dup3, EMFILE, EINTR),
	KIND(flock, EINTR, ENOMEM, EWOULDBLOCK),
	KIND(fsync, EIO, EINTR, ENOSPC),
	KIND(fdatasync, EIO, EINTR, ENOSPC),
	KIND(ftruncate, EIO, EINTR, ENOSPC),
	KIND(fallocate, EIO, EINTR, ENOSPC),
	KIND(fchmod, EIO, EROFS, EACCES),
	KIND(fchown, EIO, EROFS, EACCES),
	KIND(linkat, EIO, ENOSPC, EROFS, EACCES, EMFILE),
	KIND(unlinkat, EIO, EBUSY, EROFS, EACCES),
	KIND(renameat2, EIO, EBUSY, ENOSPC, EROFS, EACCES),
	KIND(mkdirat, EIO, ENOSPC, EROFS, EACCES),
	KIND(getxattr, EIO, ENOMEM, EACCES),
	KIND(brk, ENOMEM),
	KIND(mmap, ENOMEM),
	KIND(mremap, ENOMEM),
	KIND(mprotect, ENOMEM),
	KIND(clone, EAGAIN, ENOMEM),
	KIND(clone3, EAGAIN, ENOMEM),
	KIND(execve, EIO, ENOMEM, EMFILE, EACCES),
	KIND(wait4, EINTR),
	KIND(waitid, EINTR),
	KIND(kill, EPERM),
	KIND(prctl, EINVAL, ENOMEM),
	KIND(setpgid, EACCES, EPERM),
	KIND(setpriority, EACCES, EPERM),
	KIND(personality, EINVAL),
	KIND(sched_setaffinity, EINVAL, EPERM, ENOMEM),
	KIND(sched_getaffinity, EINVAL, ENOMEM),
	KIND(socket, EMFILE, ENOMEM, EACCES),
	KIND(socketpair, EMFILE, ENOMEM),
	KIND(connect, EACCES, EINTR, EAGAIN),
	KIND(accept4, EINTR, ENOMEM, EMFILE, ECONNABORTED, EPERM),
	KIND(sendto, EINTR, ENOMEM),
	KIND(recvfrom, EINTR, ENOMEM),
	KIND(sendmsg, EINTR, ENOMEM),
	KIND(recvmsg, EINTR, ENOMEM),
	KIND(setsockopt, ENOMEM),
	/* The last one of kernels without SO_PEERPIDFD. */
	KIND(getsockopt, ENOMEM, EMFILE, ENOPROTOOPT),
	KIND(ppoll, EINTR, ENOMEM),
	KIND(signalfd4, EMFILE, ENOMEM),
	KIND(memfd_create, EMFILE, ENOMEM),
	KIND(timer_create, EAGAIN, ENOMEM),
	KIND(perf_event_open, EACCES, EBUSY, EMFILE, ENOMEM),
	KIND(getrandom, EINTR),
	KIND(clock_nanosleep, EINTR),
	KIND(uname, EIO),
	KIND(sysinfo, EIO),
#ifdef __NR_open
	KIND(open, EIO, EINTR, ENOMEM, EMFILE, EACCES),
	KIND(stat, EIO, ENOMEM, EACCES),
	KIND(lstat, EIO, ENOMEM, EACCES),
	KIND(access, EIO, ENOMEM, EACCES),
	KIND(readlink, EIO, ENOMEM, EACCES),
	KIND(poll, EINTR, ENOMEM),
	KIND(dup2, EMFILE, EINTR),
	KIND(fork, EAGAIN, ENOMEM),
	KIND(vfork, EAGAIN, ENOMEM),
	KIND(link, EIO, ENOSPC, EROFS, EACCES),
	KIND(unlink, EIO, EBUSY, EROFS, EACCES),
	KIND(mkdir, EIO, ENOSPC, EROFS, EACCES),
	KIND(rename, EIO, EBUSY, ENOSPC, EROFS, EACCES),
#endif
#ifdef __NR_renameat
	KIND(renameat, EIO, EBUSY, ENOSPC, EROFS, EACCES),
#endif
};

struct process {
	pid_t pid;
	int role;
};

static struct {
	bool counting;
	bool begun; /* the command runs */
	unsigned heaps;
	int role;
	const struct kind *kind; /* that is to fail */
	unsigned number;
	int error;
	bool forever;
	bool failed; /* it has */
	unsigned calls[N_ROLES][N_ELEMENTS(kinds)];
	struct process processes[MAX_PROCESSES];
	size_t n_processes;
	pid_t command;
	int status; /* -1: it runs */
	FILE *report;
} state = { .status = -1 };

__attribute__((format(printf, 2, 3), noreturn)) static void die(int status, const char *format, ...)
{
	va_list ap;

	fputs("measure-fault: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- Which process --- */

static pid_t read_parent(pid_t pid)
{
	char path[64], text[512] = "";
	const char *cursor;
	uint64_t parent;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	/* "7 (name) S 1 ...": the name may have anything in it. */
	cursor = strrchr(text, ')');
	if (!cursor || strlen(cursor) < sizeof(") S "))
		return 0;
	cursor += strlen(") S ");
	return parse_next_u64(&cursor, &parent) == 0 ? (pid_t)parent : 0;
}

static struct process *find_process(pid_t pid)
{
	for (size_t i = state.n_processes; i > 0; i--) {
		if (state.processes[i - 1].pid == pid)
			return &state.processes[i - 1];
	}
	return NULL;
}

/* By how far it is from the command; a number may come again. */
static struct process *note_process(pid_t pid)
{
	struct process *process = find_process(pid), *parent;

	if (process)
		return process;
	if (state.n_processes == MAX_PROCESSES)
		die(1, "too many processes");
	process = &state.processes[state.n_processes++];
	*process = (struct process){ .pid = pid, .role = NO_ROLE };
	if (pid == state.command) {
		process->role = 0;
		return process;
	}
	parent = find_process(read_parent(pid));
	if (parent && parent->role != NO_ROLE && parent->role + 1 < N_ROLES)
		process->role = parent->role + 1;
	return process;
}

/* --- What happens to a call --- */

static const struct kind *find_kind(int number)
{
	for (size_t i = 0; i < N_ELEMENTS(kinds); i++) {
		if (kinds[i].number == number)
			return &kinds[i];
	}
	return NULL;
}

static const struct kind *find_kind_by_name(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

static bool can_fail(const struct kind *kind, int error)
{
	for (size_t i = 0; i < MAX_ERRNOS; i++) {
		if (kind->errnos[i] == error)
			return true;
	}
	return false;
}

static bool takes_memory(int number)
{
	return number == __NR_brk || number == __NR_mmap || number == __NR_mremap;
}

/* Who cannot say what went wrong cannot be blamed for his silence. */
static bool is_message(const struct seccomp_notif *call)
{
	return (call->data.nr == __NR_write || call->data.nr == __NR_writev) &&
		call->data.args[0] == STDERR_FILENO;
}

/* The errno that the call fails with, 0: it is executed. */
static int judge(const struct seccomp_notif *call)
{
	const struct kind *kind = find_kind(call->data.nr);
	struct process *process = note_process((pid_t)call->pid);
	int role = process->role;
	unsigned number;

	if (role == NO_ROLE || !kind || is_message(call))
		return 0;
	/* Our own, in the child, and what the dynamic loader asks for before it has anything: it
	 * does not look whether it gets that. */
	if (role == 0 && !state.begun) {
		state.begun = call->data.nr != __NR_execve && !takes_memory(call->data.nr);
		if (!state.begun)
			return 0;
	}
	/* The loader's, and the heap's first two: the constructors of libraries (XInitThreads() of
	 * libX11) do not look whether they get memory, either. */
	if (role == 0 && call->data.nr == __NR_brk && state.heaps < 2) {
		state.heaps++;
		return 0;
	}
	/* Whatever follows is the program's. */
	if (role == N_ROLES - 1 && call->data.nr == __NR_execve)
		process->role = NO_ROLE;
	number = ++state.calls[role][kind - kinds];
	if (state.counting) {
		fprintf(state.report, "%d %u %s", role, number, kind->name);
		for (size_t i = 0; i < MAX_ERRNOS && kind->errnos[i]; i++)
			fprintf(state.report, " %d", kind->errnos[i]);
		fputc('\n', state.report);
		return 0;
	}
	if (state.forever && state.failed &&
		(kind == state.kind ||
			(takes_memory(kind->number) && takes_memory(state.kind->number))))
		return state.error;
	if (state.failed || role != state.role || kind != state.kind || number != state.number)
		return 0;
	state.failed = true;
	return state.error;
}

/* The command and what comes to us when its parent ends. True while there is any of them. */
static bool reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		struct process *process = find_process(pid);

		if (process)
			process->pid = -1;
		if (pid == state.command)
			state.status =
				WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return pid == 0;
}

static void serve(int listener)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp answer = { 0 };
	int error;

	if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) {
		/* It was killed meanwhile. */
		if (errno == ENOENT || errno == EINTR)
			return;
		die(1, "SECCOMP_IOCTL_NOTIF_RECV: %s", strerror(errno));
	}
	error = judge(&call);
	answer.id = call.id;
	/* It says no errors, but where the heap ends: not as far as was asked for. */
	answer.error = call.data.nr == __NR_brk ? 0 : -error;
	answer.flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 && errno != ENOENT)
		die(1, "SECCOMP_IOCTL_NOTIF_SEND: %s", strerror(errno));
}

/* Until all have ended, or time is over. */
static void serve_all(int listener)
{
	int64_t over = now_ms() + COMMAND_SECONDS * 1000;
	bool ended = false, listening = true;

	while (reap()) {
		struct pollfd fd = { .fd = listening ? listener : -1, .events = POLLIN };

		if (state.status >= 0 && !ended) {
			ended = true;
			over = now_ms() + OUTLIVE_SECONDS * 1000;
		}
		if (now_ms() >= over)
			return;
		if (poll(&fd, 1, ended || !listening ? 1 : 100) <= 0)
			continue;
		if (fd.revents & POLLIN)
			serve(listener);
		else
			listening = false;
	}
}

/* All that live, one generation after the other. */
static unsigned kill_all(int listener)
{
	unsigned n = 0;

	while (reap()) {
		DIR *proc = opendir("/proc");
		struct dirent *entry;

		while (proc && (entry = readdir(proc)) != NULL) {
			unsigned pid;

			if (parse_uint(entry->d_name, 1, INT_MAX, &pid) < 0 ||
				read_parent((pid_t)pid) != getpid())
				continue;
			kill((pid_t)pid, SIGKILL);
			n += (pid_t)pid != state.command;
		}
		if (proc)
			closedir(proc);
		usleep(1000);
	}
	close(listener);
	return n;
}

/* --- Starting it --- */

/*
 * Whether this program has to hear of every call. Each that it hears of is two switches of
 * processes. It needs all of them to count them, to tell roles, which it learns from the parents of
 * processes while these live, and to leave out what the loader does, see judge(). Where a call of
 * the command itself fails, the calls of that name are enough.
 */
static bool hears_all(void)
{
	return state.counting || state.role != 0 || takes_memory(state.kind->number) ||
		state.kind->number == __NR_execve;
}

static const struct sock_filter watch_all[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	/* Very frequent, and of no interest. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_yield, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

/* The number of the listener in the child, once it has one; negative errno. */
static volatile int *shared;

static void become_command(char **argv)
{
	/* execve(2) because it ends a role, see judge(). */
	const struct sock_filter watch_some[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, state.kind ? (unsigned)state.kind->number : 0,
			1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = hears_all() ? N_ELEMENTS(watch_all) : N_ELEMENTS(watch_some),
		.filter = (struct sock_filter *)(uintptr_t)(hears_all() ? watch_all : watch_some),
	};
	int fd;

	/* Without us no call would be answered any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(127);
	fd = (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	/* From here on each call waits for who takes the listener; so it is told without one. */
	*shared = fd < 0 ? -errno : fd;
	if (fd < 0)
		_exit(EXIT_SKIP);
	execv(argv[0], argv);
	_exit(127);
}

static int start(char **argv)
{
	int pidfd, listener;

	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die(1, "mmap: %s", strerror(errno));
	state.command = fork();
	if (state.command < 0)
		die(1, "fork: %s", strerror(errno));
	if (state.command == 0)
		become_command(argv);
	while (*shared == 0)
		usleep(100);
	pidfd = (int)syscall(SYS_pidfd_open, state.command, 0);
	if (*shared < 0 || pidfd < 0)
		die(EXIT_SKIP, "seccomp's notifications are not allowed here: %s",
			strerror(*shared < 0 ? -*shared : errno));
	listener = (int)syscall(SYS_pidfd_getfd, pidfd, *shared, 0);
	if (listener < 0) {
		int error = errno;

		kill(state.command, SIGKILL);
		die(EXIT_SKIP, "pidfd_getfd: %s", strerror(error));
	}
	close(pidfd);
	keep_on_one_cpu(listener);
	return listener;
}

int main(int argc, char *argv[])
{
	unsigned outlived;
	int listener, command, status;

	if (argc > 4 && strcmp(argv[2], "--count") == 0 && strcmp(argv[3], "--") == 0) {
		state.counting = true;
		command = 4;
	} else if (argc > 8 && strcmp(argv[7], "--") == 0 &&
		parse_int(argv[2], 0, N_ROLES - 1, &state.role) == 0 &&
		(state.kind = find_kind_by_name(argv[3])) != NULL &&
		parse_uint(argv[4], 1, UINT_MAX, &state.number) == 0 &&
		parse_int(argv[5], 1, 4095, &state.error) == 0 &&
		can_fail(state.kind, state.error)) {
		state.forever = strcmp(argv[6], "forever") == 0;
		command = 8;
	} else {
		die(EXIT_BAD_USAGE,
			"usage: measure-fault REPORT --count|ROLE CALL NUMBER ERRNO "
			"once|forever -- COMMAND...");
	}
	state.report = fopen(argv[1], "we");
	if (!state.report)
		die(1, "%s: %s", argv[1], strerror(errno));
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die(EXIT_SKIP, "PR_SET_CHILD_SUBREAPER: %s", strerror(errno));
	listener = start(argv + command);
	serve_all(listener);
	status = state.status;
	outlived = kill_all(listener);
	if (state.counting && status != 0)
		die(1, "the command's status is %d", status);
	if (!state.counting)
		fprintf(state.report, "%s %d %u\n", state.failed ? state.kind->name : "-", status,
			outlived);
	return fclose(state.report) == 0 ? 0 : 1;
}
