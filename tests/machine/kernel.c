// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload: what is written to a described machine goes through a kernel.
 *
 * The machine's files are plain: they take every text, and nothing else changes with them. With
 * this, TEST_KERNEL is a program that is run for each write below /sys and /proc/irq instead of the
 * write:
 *
 *	TEST_KERNEL PATH TEXT
 *	TEST_KERNEL PATH "" mkdir|rmdir
 *
 * It changes the machine's files as a kernel would, and its exit status is the errno of the call,
 * 0 for none. TEST_MOUNTINFO, if set, is opened for /proc/self/mountinfo, and TEST_CGROUP for
 * /proc/NUMBER/cgroup.
 */
/* Here open() and open64() are two functions, and both are to be ours. */
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static bool is_kernels(const char *path)
{
	return getenv("TEST_KERNEL") &&
		(strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/proc/irq/", 10) == 0);
}

static bool is_cgroup_of_process(const char *path)
{
	static const char before[] = "/proc/";
	size_t digits;

	if (strncmp(path, before, strlen(before)) != 0)
		return false;
	path += strlen(before);
	digits = strspn(path, "0123456789");
	return digits > 0 && strcmp(path + digits, "/cgroup") == 0;
}

static int do_openat(int dirfd, const char *path, int flags, va_list ap)
{
	const char *mountinfo = getenv("TEST_MOUNTINFO"), *cgroup = getenv("TEST_CGROUP");
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;

	if (mountinfo && strcmp(path, "/proc/self/mountinfo") == 0)
		path = mountinfo;
	if (cgroup && is_cgroup_of_process(path))
		path = cgroup;
	/* The kernel's files cannot be cut, and here they hold what a refused write leaves. */
	if (is_kernels(path))
		flags &= ~O_TRUNC;
	return (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

#define DEFINE_OPEN(name)                                  \
	PUBLIC int name(const char *path, int flags, ...)  \
	{                                                  \
		va_list ap;                                \
		int fd;                                    \
                                                           \
		va_start(ap, flags);                       \
		fd = do_openat(AT_FDCWD, path, flags, ap); \
		va_end(ap);                                \
		return fd;                                 \
	}
#define DEFINE_OPENAT(name)                                          \
	PUBLIC int name(int dirfd, const char *path, int flags, ...) \
	{                                                            \
		va_list ap;                                          \
		int fd;                                              \
                                                                     \
		va_start(ap, flags);                                 \
		fd = do_openat(dirfd, path, flags, ap);              \
		va_end(ap);                                          \
		return fd;                                           \
	}
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* The errno of the kernel, 0 for none. */
static int run_kernel(const char *path, const char *text, const char *call)
{
	char *program = getenv("TEST_KERNEL");
	char *argv[] = { program, (char *)path, (char *)text, (char *)call, NULL };
	size_t n = 0;
	char **environment;
	int status;
	pid_t pid;

	for (char **e = environ; *e; e++)
		n++;
	environment = calloc(n + 1, sizeof(*environment));
	if (!environment)
		return ENOMEM;
	n = 0;
	for (char **e = environ; *e; e++) {
		if (strncmp(*e, "LD_PRELOAD=", 11) != 0)
			environment[n++] = *e;
	}
	status = posix_spawn(&pid, program, NULL, NULL, argv, environment);
	free(environment);
	if (status != 0)
		return status;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
}

PUBLIC ssize_t write(int fd, const void *data, size_t size)
{
	char link[64], path[PATH_MAX], *text;
	ssize_t n;
	int error;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return syscall(SYS_write, fd, data, size);
	path[n] = '\0';
	if (!is_kernels(path))
		return syscall(SYS_write, fd, data, size);
	text = strndup(data, size);
	error = text ? run_kernel(path, text, NULL) : ENOMEM;
	free(text);
	if (error) {
		errno = error;
		return -1;
	}
	return (ssize_t)size;
}

static int call_kernel(const char *path, const char *call)
{
	int error = run_kernel(path, "", call);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

PUBLIC int mkdir(const char *path, mode_t mode)
{
	return is_kernels(path) ? call_kernel(path, "mkdir")
				: (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

PUBLIC int rmdir(const char *path)
{
	return is_kernels(path) ? call_kernel(path, "rmdir")
				: (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
