// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/random.h"
#include "measure/serve/family.h"
#include "measure/serve/listener.h"

enum {
	TABLE_MAX = 64 * 1024 * 1024,
	FIELDS = 10,
	UNIX_FIELDS = 7, /* before the path */
	/* Ports of well-known services are below. */
	PORT_FIRST = 10000,
	PORT_LAST = 32767, /* where the kernel does not tell its own range */
	PORT_TRIES = 200,
};

/* The fields of a line, "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000
 * 1000 0 41234 ...": the local address, the other one, the state; the tenth is the inode. */
static bool split(char *line, char *fields[static FIELDS])
{
	char *save = NULL;

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
		if (!fields[i])
			return false;
	}
	return true;
}

static bool parse_listener(char *line, uint16_t *ret_port, uint64_t *ret_inode)
{
	char *fields[FIELDS];
	const char *colon = split(line, fields) ? strrchr(fields[1], ':') : NULL;
	uint64_t number;

	if (!colon || strcmp(fields[3], "0A") != 0 ||
		parse_hex_u64(colon + 1, UINT16_MAX, &number) < 0)
		return false;
	*ret_port = (uint16_t)number;
	return parse_u64(fields[9], 1, UINT64_MAX, ret_inode) == 0;
}

static bool is_port_listener(char *line, uint16_t port, uint64_t *ret_inode)
{
	uint16_t found;

	return parse_listener(line, &found, ret_inode) && found == port;
}

/* The inode of a line that is a listener at the path, "ffff9c0c4c8e1000: 00000002 00000000 00010000
 * 0001 01 21404 /run/x": the flags are those of the kernel's struct socket, of which __SO_ACCEPTCON
 * is the only one that is shown (net/unix/af_unix.c). The path is all of the rest. */
static bool is_unix_listener(const char *line, const char *path, uint64_t *ret_inode)
{
	char fields[UNIX_FIELDS][32];
	const char *cursor = line;

	for (size_t i = 0; i < UNIX_FIELDS; i++) {
		size_t length;

		cursor += strspn(cursor, " ");
		length = strcspn(cursor, " ");
		if (length == 0 || length >= sizeof(fields[i]))
			return false;
		memcpy(fields[i], cursor, length);
		fields[i][length] = '\0';
		cursor += length;
	}
	return *cursor == ' ' && strcmp(cursor + 1, path) == 0 &&
		strcmp(fields[3], "00010000") == 0 &&
		parse_u64(fields[6], 1, UINT64_MAX, ret_inode) == 0;
}

size_t listener_parse(const char *text, const struct address *address,
	uint64_t inodes[static LISTENER_MAX], size_t n)
{
	while (*text && n < LISTENER_MAX) {
		size_t length = strcspn(text, "\n");
		char line[512];

		if (length < sizeof(line)) {
			memcpy(line, text, length);
			line[length] = '\0';
			n += address->socket ? is_unix_listener(line, address->socket, &inodes[n])
					     : is_port_listener(line, address->port, &inodes[n]);
		}
		text += length + (text[length] == '\n');
	}
	return n;
}

static int read_table(const char *path, const struct address *address,
	uint64_t inodes[static LISTENER_MAX], size_t *n)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = file_read_all(path, TABLE_MAX, &text, &length);

	if (r == 0)
		*n = listener_parse(text, address, inodes, *n);
	return r;
}

static int read_tables(
	const struct address *address, uint64_t inodes[static LISTENER_MAX], size_t *n)
{
	int r;

	if (address->socket)
		return read_table("/proc/net/unix", address, inodes, n);
	r = read_table("/proc/net/tcp", address, inodes, n);
	if (r == 0)
		r = read_table("/proc/net/tcp6", address, inodes, n);
	/* A kernel without IPv6 has no tcp6. */
	return r == -ENOENT ? 0 : r;
}

/* Takes the sockets that the process has open out of the list. -EACCES where it is somebody
 * else's. */
static int take_held(pid_t pid, uint64_t inodes[], size_t *n)
{
	_cleanup_closedir_ DIR *folder = NULL;
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	if (!folder)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	while ((entry = readdir(folder))) {
		char target[64], wanted[64];
		ssize_t length =
			readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);

		if (length < 0)
			continue;
		target[length] = '\0';
		for (size_t i = 0; i < *n; i++) {
			snprintf(wanted, sizeof(wanted), "socket:[%llu]",
				(unsigned long long)inodes[i]);
			if (strcmp(target, wanted) == 0)
				inodes[i--] = inodes[--*n];
		}
	}
	return 0;
}

/* Some process that has one of the sockets; 0 where none is seen. */
static pid_t find_holder(const uint64_t inodes[], size_t n)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	const struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		uint64_t left[LISTENER_MAX];
		size_t n_left = n;
		unsigned pid;

		if (parse_uint(entry->d_name, 1, INT_MAX, &pid) < 0)
			continue;
		memcpy(left, inodes, n * sizeof(*left));
		if (take_held((pid_t)pid, left, &n_left) == 0 && n_left < n)
			return (pid_t)pid;
	}
	return 0;
}

int listener_find(const struct address *address, pid_t keeper, struct listeners *ret)
{
	_cleanup_family_ struct family family = { 0 };
	struct listeners found = { 0 };
	uint64_t inodes[LISTENER_MAX];
	size_t n = 0;
	int r = read_tables(address, inodes, &n);

	if (r < 0)
		return r;
	memcpy(found.inodes, inodes, n * sizeof(*inodes));
	found.n = n;
	/* Only now: until a service is ready nobody listens, and all processes of the machine are
	 * many to read. */
	r = n > 0 ? family_read(keeper, &family) : 0;
	for (size_t i = 0; r == 0 && n > 0 && i < family.n; i++)
		r = take_held(family.items[i].pid, inodes, &n);
	if (r < 0)
		return r;
	found.who = found.n == 0 ? LISTENING_NOBODY : n == 0 ? LISTENING_OURS : LISTENING_OTHERS;
	found.other = n > 0 ? find_holder(inodes, n) : 0;
	*ret = found;
	return 0;
}

uint16_t listener_find_port(pid_t keeper)
{
	static const char *const paths[] = { "/proc/net/tcp", "/proc/net/tcp6" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_free_ char *text = NULL;
		char *save = NULL;
		size_t length;

		if (file_read_all(paths[i], TABLE_MAX, &text, &length) < 0)
			continue;
		for (char *line = strtok_r(text, "\n", &save); line;
			line = strtok_r(NULL, "\n", &save)) {
			struct address address = { 0 };
			struct listeners found;
			uint64_t inode;

			if (parse_listener(line, &address.port, &inode) &&
				listener_find(&address, keeper, &found) == 0 &&
				found.who == LISTENING_OURS)
				return address.port;
		}
	}
	return 0;
}

bool listener_has_one_of(const struct listeners *listeners, const struct listeners *others)
{
	for (size_t i = 0; i < listeners->n; i++)
		for (size_t k = 0; k < others->n; k++)
			if (listeners->inodes[i] == others->inodes[k])
				return true;
	return false;
}

/* Returns its size. */
static socklen_t fill_in(const struct address *address, struct sockaddr_storage *ret)
{
	struct sockaddr_un *local = (struct sockaddr_un *)ret;
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;

	*ret = (struct sockaddr_storage){ 0 };
	if (address->socket) {
		local->sun_family = AF_UNIX;
		snprintf(local->sun_path, sizeof(local->sun_path), "%s", address->socket);
		return sizeof(*local);
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(address->port);
	v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(*v4);
}

int listener_open(const struct address *address)
{
	struct sockaddr_storage where;
	socklen_t size = fill_in(address, &where);
	_cleanup_close_ int fd = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* The kernel makes less of it where it allows less (net.core.somaxconn). */
	if (fd < 0 || bind(fd, (const struct sockaddr *)&where, size) < 0 ||
		listen(fd, INT_MAX) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int listener_call(const struct address *address)
{
	struct sockaddr_storage where;
	socklen_t size = fill_in(address, &where);
	_cleanup_close_ int fd =
		socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 ||
		(connect(fd, (const struct sockaddr *)&where, size) < 0 && errno != EINPROGRESS))
		return -errno;
	return TAKE_FD(fd);
}

/* Whether the port can be bound at all addresses, without SO_REUSEADDR: also none that is in
 * TIME_WAIT. Nothing is left behind, because nobody listens. */
static bool is_free(uint16_t port)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};

	return fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

/* The last port below those of clients. */
static uint16_t find_last(void)
{
	char text[64];
	const char *cursor = text;
	uint64_t low;

	if (file_read_attr(AT_FDCWD, "/proc/sys/net/ipv4/ip_local_port_range", text, sizeof(text)) <
			0 ||
		parse_next_u64(&cursor, &low) < 0 || low <= PORT_FIRST || low > UINT16_MAX)
		return PORT_LAST;
	return (uint16_t)(low - 1);
}

int listener_choose_port(uint64_t *random_state, uint16_t *ret)
{
	uint64_t last = find_last();

	for (int i = 0; i < PORT_TRIES; i++) {
		uint16_t port = (uint16_t)(PORT_FIRST +
			random_next(random_state) % (last - PORT_FIRST + 1));

		if (!is_free(port))
			continue;
		*ret = port;
		return 0;
	}
	return -EADDRINUSE;
}
