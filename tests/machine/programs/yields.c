// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command and tells who of it and its descendants gives up the CPU by sched_yield(2), which
 * is what those do that look again and again:
 *
 *	yields FILE COMMAND [ARGUMENT...]
 *
 * FILE gets a line "PID NAME" for each such call, in their order. The calls are made as ever. Ends
 * as the command does; 77 where the kernel does not let us watch (Linux 5.5 and later do).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	EXIT_BAD_USAGE = 2,
	EXIT_SKIP = 77,
	EXIT_NO_COMMAND = 127,
};

/* The descriptor at which the calls of this process and of those that it starts arrive. */
static int watch(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void read_name(pid_t pid, char *name, size_t size)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, size - 1);
		close(fd);
	}
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/* The process of a call may have ended meanwhile: ENOENT. */
static int pass_on(int listener, FILE *file)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp answer = { 0 };
	char name[64];

	if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -errno;
	read_name((pid_t)call.pid, name, sizeof(name));
	fprintf(file, "%u %s\n", call.pid, name);
	answer.id = call.id;
	answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

/* Until the command has ended. Its status. */
static int serve(int listener, int pidfd, pid_t pid, FILE *file)
{
	struct pollfd fds[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = pidfd, .events = POLLIN },
	};
	int status;

	while (!fds[1].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return EXIT_SKIP;
		if (fds[0].revents & POLLIN && pass_on(listener, file) < 0)
			return EXIT_SKIP;
	}
	if (waitpid(pid, &status, 0) < 0)
		return EXIT_SKIP;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char *argv[])
{
	int listener, pidfd, status;
	FILE *file;
	pid_t pid;

	if (argc < 3)
		return EXIT_BAD_USAGE;
	file = fopen(argv[1], "we");
	if (!file) {
		perror(argv[1]);
		return EXIT_BAD_USAGE;
	}
	listener = watch();
	if (listener < 0) {
		perror("yields: seccomp");
		return EXIT_SKIP;
	}
	pid = fork();
	if (pid == 0) {
		close(listener);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(EXIT_NO_COMMAND);
	}
	pidfd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		perror("yields");
		return EXIT_SKIP;
	}
	status = serve(listener, pidfd, pid, file);
	return fclose(file) == 0 ? status : 1;
}
