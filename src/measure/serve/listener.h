/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who listens on a TCP port, by /proc/net/tcp and tcp6 (Documentation/networking/proc_net_tcp.rst,
 * the network namespace of this process), or at the file of a UNIX socket, by /proc/net/unix
 * (proc(5)). That somebody listens proves nothing: the old server may still hold the port, or share
 * it by SO_REUSEPORT. So all sockets that listen there have to be open in processes of the service.
 */
#ifndef QUIESCE_MEASURE_SERVE_LISTENER_H
#define QUIESCE_MEASURE_SERVE_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum listening {
	LISTENING_NOBODY,
	LISTENING_OURS,
	LISTENING_OTHERS, /* also where the service listens as well */
};

enum {
	/* Sockets that listen at one address: a server may have one for each CPU. */
	LISTENER_MAX = 1024,
};

/* Where a service is to listen. */
struct address {
	uint16_t port;
	const char *socket; /* the file of a UNIX socket, in place of the port; NULL: the port */
};

struct listeners {
	enum listening who;
	pid_t other; /* with LISTENING_OTHERS, a process that has such a socket; 0: it cannot be
		      * seen */
	uint64_t inodes[LISTENER_MAX]; /* all sockets that listen there */
	size_t n;
};

/* The inodes of the sockets that listen at the address in the text of such a file: for a port that
 * of tcp or tcp6. They are added behind the n that are there, of at most LISTENER_MAX. Returns
 * their new number. Lines of another form are left out. */
size_t listener_parse(const char *text, const struct address *address,
	uint64_t inodes[static LISTENER_MAX], size_t n);
/* Of the service below this keeper (family.h). Errors are those of reading /proc, and -ENOMEM. */
int listener_find(const struct address *address, pid_t keeper, struct listeners *ret);
/* Some other port that the service listens on; 0: none is seen. */
uint16_t listener_find_port(pid_t keeper);
/* Whether one of the sockets is among the others. */
bool listener_has_one_of(const struct listeners *listeners, const struct listeners *others);
/* A socket that listens at the address, of IPv4 at the loopback, with O_CLOEXEC; or a negative
 * errno.
 */
int listener_open(const struct address *address);
/* Begins a connection to it, and does not wait. Returns the descriptor or a negative errno. */
int listener_call(const struct address *address);
/*
 * A port that nobody has bound, below those that the kernel gives to clients
 * (net.ipv4.ip_local_port_range): one of these could be in use, or in TIME_WAIT, at any moment.
 * -EADDRINUSE where none is found.
 */
int listener_choose_port(uint64_t *random_state, uint16_t *ret);

#endif
