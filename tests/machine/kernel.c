// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload: what is written to a described machine goes through a kernel.
 *
 * The machine's files are plain: they take every text, and nothing else changes with them. With
 * this, what would be written below /sys and /proc/irq, and a mkdir() or rmdir() there, is asked of
 * server.py instead, at the socket TEST_KERNEL. It changes the machine's files as a kernel would,
 * and answers with the errno of the call, 0 for none. TEST_MOUNTINFO, if set, is opened for
 * /proc/self/mountinfo, TEST_OWN_CGROUP for /proc/self/cgroup, and TEST_CGROUP for
 * /proc/NUMBER/cgroup; or the file NUMBER of the folder TEST_CGROUPS_FOLDER.
 */
/* Here open() and open64() are two functions, and both are to be ours. */
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "marks.h"

#define PUBLIC __attribute__((visibility("default")))

enum {
	PACKET_MAX = 1 << 17, /* as in server.py */
};

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
	const char *folder = getenv("TEST_CGROUPS_FOLDER"), *own = getenv("TEST_OWN_CGROUP");
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	char path_in_folder[PATH_MAX];

	if (mountinfo && strcmp(path, "/proc/self/mountinfo") == 0)
		path = mountinfo;
	if (own && strcmp(path, "/proc/self/cgroup") == 0)
		path = own;
	if (cgroup && is_cgroup_of_process(path))
		path = cgroup;
	if (folder && is_cgroup_of_process(path)) {
		path += strlen("/proc/");
		snprintf(path_in_folder, sizeof(path_in_folder), "%s/%.*s", folder,
			(int)strcspn(path, "/"), path);
		path = path_in_folder;
	}
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
DEFINE_OPENAT(openat)
/* One with the others in the C library musl, by macros. */
#ifndef open64
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat64)
#endif

/* A connection to server.py, or -1. */
static int connect_to_kernel(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("TEST_KERNEL"));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The errno of the kernel for the system call of that number, 0 for none. To crash.c, send() and
 * recv() are one call; to faults.c, all is one call of that number. */
static int ask_kernel(
	const char *path, const char *text, size_t length, const char *call, long number)
{
	size_t before = strlen(path) + 1, behind = strlen(call),
	       size = before + length + 1 + behind;
	/* Not malloc(), which is the setter's to fail. */
	char packet[PACKET_MAX];
	int fd, answer, error = mark(MARK_KERNEL, number);

	if (error)
		return error;
	error = size <= sizeof(packet) ? EFAULT : EFBIG;
	fd = size <= sizeof(packet) ? connect_to_kernel() : -1;
	if (fd >= 0) {
		memcpy(packet, path, before);
		memcpy(packet + before, text, length);
		packet[before + length] = '\0';
		memcpy(packet + before + length + 1, call, behind);
		if (send(fd, packet, size, MSG_NOSIGNAL) == (ssize_t)size &&
			recv(fd, &answer, sizeof(answer), 0) == (ssize_t)sizeof(answer))
			error = answer;
	}
	if (fd >= 0)
		close(fd);
	(void)mark(MARK_BACK, 0);
	return error;
}

PUBLIC ssize_t write(int fd, const void *data, size_t size)
{
	char link[64], path[PATH_MAX];
	ssize_t n;
	int error;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	(void)mark(MARK_PAUSE, 0);
	n = readlink(link, path, sizeof(path) - 1);
	(void)mark(MARK_BACK, 0);
	if (n <= 0)
		return syscall(SYS_write, fd, data, size);
	path[n] = '\0';
	if (!is_kernels(path))
		return syscall(SYS_write, fd, data, size);
	error = ask_kernel(path, data, size, "", SYS_write);
	if (error) {
		errno = error;
		return -1;
	}
	return (ssize_t)size;
}

static int call_kernel(const char *path, const char *call, long number)
{
	int error = ask_kernel(path, "", 0, call, number);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

PUBLIC int mkdir(const char *path, mode_t mode)
{
	return is_kernels(path) ? call_kernel(path, "mkdir", SYS_mkdirat)
				: (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

PUBLIC int rmdir(const char *path)
{
	return is_kernels(path) ? call_kernel(path, "rmdir", SYS_unlinkat)
				: (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
