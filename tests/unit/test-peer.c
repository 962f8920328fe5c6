// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine/tasks.h"
#include "base/macro.h"
#include "quiet/benchmark-join/peer.h"

static void test_status(void **state)
{
	static const struct {
		const char *status;
		bool is_ours;
	} cases[] = {
		{ "Name:\tcat\nUid:\t1000\t1000\t1000\t1000\nGid:\t0\t0\t0\t0\n", true },
		/* A program that is somebody else's, or was. */
		{ "Name:\tcat\nUid:\t1000\t0\t0\t0\nGid:\t0\t0\t0\t0\n", false },
		{ "Name:\tcat\nUid:\t0\t1000\t1000\t1000\nGid:\t0\t0\t0\t0\n", false },
		{ "Name:\tcat\nUid:\t1000\t1000\t0\t1000\nGid:\t0\t0\t0\t0\n", false },
		{ "Name:\tcat\nUid:\t10000\t10000\t10000\t10000\n", false },
		{ "Name:\tcat\nUid:\t1000\n", false },
		{ "Name:\tcat\nGid:\t1000\t1000\t1000\t1000\n", false },
		{ "", false },
		/* The kernel writes a newline in a name as \n, in two characters. */
		{ "Name:\t\\nUid:\t1000\t1000\t1000\nUid:\t0\t0\t0\t0\n", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(tasks_status_is_of(cases[i].status, 1000), cases[i].is_ours);
}

static void test_threads(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_int_equal(peer_parse_threads("Name:\tcat\nThreads:\t12\nSigQ:\t1/2\n", &n), 0);
	assert_int_equal(n, 12);
	assert_int_equal(peer_parse_threads("Name:\tcat\n", &n), -EBADMSG);
	assert_int_equal(peer_parse_threads("Name:\tThreads:\t3\n", &n), -EBADMSG);
	assert_int_equal(peer_parse_threads("Name:\tcat\nThreads:\t\n", &n), -EBADMSG);
	assert_int_equal(n, 12);
}

static void test_self(void **state)
{
	struct peer peer;
	int sockets[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	/* What is sent is no matter. */
	assert_int_equal(send(sockets[1], "1", 1, 0), 1);
	assert_int_equal(peer_open(sockets[0], &peer), 0);
	assert_int_equal(peer.pid, getpid());
	assert_int_equal(peer.uid, geteuid());
	assert_true(peer.pidfd >= 0);
	assert_int_equal(fcntl(peer.pidfd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(peer_check_alive(&peer), 0);
	peer_close(&peer);
	close(sockets[0]);
	close(sockets[1]);
}

/* Listens at an abstract address of this process. */
static int listen_here(struct sockaddr_un *address, socklen_t *ret_size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "quiesce-test-%d", getpid());
	*ret_size = sizeof(*address);
	assert_int_equal(bind(fd, (const struct sockaddr *)address, *ret_size), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

/* A child connects, and the connection outlives it: nobody is to be taken for it. */
static void test_ended(void **state)
{
	struct sockaddr_un address;
	struct peer peer = { .pidfd = -EBADF };
	socklen_t size;
	int listener = listen_here(&address, &size), fd, status, go[2];
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		close(go[1]);
		if (connect(own, (const struct sockaddr *)&address, size) < 0)
			_exit(1);
		/* Until the other end goes away. */
		_exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(go[0]);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(peer_open(fd, &peer), 0);
	assert_int_equal(peer.pid, pid);
	assert_int_equal(peer_check_alive(&peer), 0);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(peer_check_alive(&peer), -ESRCH);
	peer_close(&peer);
	assert_int_equal(peer_open(fd, &peer), -ESRCH);
	close(fd);
	close(listener);
}

static void test_no_peer(void **state)
{
	struct peer peer = { .pid = 7 };
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(peer_open(fd, &peer), -ENOTSOCK);
	close(fd);
	/* Not connected: nobody. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(peer_open(fd, &peer), -ENODATA);
	close(fd);
	assert_int_equal(peer.pid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_no_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
