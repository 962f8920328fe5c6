/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a service: it is started, waited for until it is ready, stopped and continued, and
 * ended. A keeper (measure/keeper.h) stands between it and runserved. It ends the whole family when
 * the service ends, and when runserved is gone, for whatever reason: SIGKILL reaches stopped
 * processes as well.
 *
 * The service stays in the foreground: one whose first process ends has ended.
 */
#ifndef QUIESCE_MEASURE_SERVE_SERVICE_H
#define QUIESCE_MEASURE_SERVE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/stop.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/serve/family.h"
#include "measure/serve/group.h"
#include "measure/serve/listener.h"

struct service;

/* What it does while others are under load. */
enum service_rest {
	SERVICE_REST_AUTO,   /* frozen where it can have a cgroup of its own, else stopped */
	SERVICE_REST_FREEZE, /* frozen; an error where that cannot be */
	SERVICE_REST_STOP,   /* stopped by SIGSTOP */
	SERVICE_REST_NONE,   /* it goes on */
};

enum service_ready {
	SERVICE_READY_PORT,   /* it listens at its address */
	SERVICE_READY_NOTIFY, /* it says READY=1 to $NOTIFY_SOCKET (sd_notify(3)), and listens */
	SERVICE_READY_PROBE,  /* it listens, and a command succeeds */
};

struct service_plan {
	const char *name;
	const char *program; /* the file that is executed */
	char *const *argv;
	const char *const *variables; /* "NAME=VALUE", NULL-terminated */
	const struct place *place;
	struct address address;
	/* The file for its UNIX socket, {socket} and $SOCKET, in a folder of its own, which is made
	 * and removed with all that is in it; NULL: nobody wants one. */
	const char *socket;
	/* The socket that listens at the address is made before, and handed to the service
	 * (sd_listen_fds(3)). Ready by the port is one then that has accepted a connection. */
	bool listen_fds;
	enum service_ready ready;
	char *const *probe; /* the words of the command, with SERVICE_READY_PROBE */
	const struct options *options;
	enum service_rest rest;
	int64_t ready_ns; /* how long it may take until it is ready */
	int64_t end_ns;	  /* how long it may take to end after SIGTERM */
};

/*
 * Starts it and waits until it is ready. Says what is wrong, with the last words of the service,
 * and returns a negative errno; then nothing is left of it. -ECANCELED, without a word, when a
 * signal asks to stop.
 */
int service_start(const struct service_plan *plan, struct stop *stop, struct service **ret);
/* Has it rest, as the plan says, and go on. Says what is wrong. */
int service_let_rest(struct service *service);
int service_let_go_on(struct service *service);
/* How it rests: "freeze", "stop" or "none". */
const char *service_get_rest(const struct service *service);

/* The folder of its cgroup; NULL: it has none of its own. */
const char *service_get_folder(const struct service *service);

/* What it has used until a moment. */
struct service_reading {
	struct family family;
	struct group_cpu group; /* of all processes, also of those that have ended; -1: not known */
};

/* Says what is wrong. */
int service_ask(const struct service *service, struct service_reading *ret);
void service_reading_clear(struct service_reading *reading);
/* What it has used in between. Says what is wrong; -ENODATA where a process has ended meanwhile,
 * and there is no cgroup that has counted it. */
int service_compare(const struct service *service, const struct service_reading *before,
	const struct service_reading *after, struct family_use *ret);

/* Its first process. */
pid_t service_get_pid(const struct service *service);
/* A descriptor that is readable once its first process has ended. */
int service_get_end_fd(const struct service *service);
/* How long it took until it was ready. */
int64_t service_get_ready_ns(const struct service *service);
/*
 * Whether it lives, is the only one to listen at its address, and is the one that was started: that
 * it listens with none of its sockets of before, or that its first process has executed another
 * program, is a restart, which costs what no request does. Workers may come and go. Says what is
 * wrong, and returns a negative errno.
 */
int service_check(struct service *service);
/* Says how it has ended, if it has, and what its last words were; returns whether it has. */
bool service_tell_end(struct service *service);
/* Prints its last words. */
void service_print_stderr(const struct service *service);
/* Ends it: SIGTERM, and SIGKILL to all of the family where that does not do in time, or where
 * another signal asks to stop meanwhile. */
void service_free(struct service *service);

DEFINE_CLEANUP(service, service_free);

static inline void cleanup_service_reading(struct service_reading *reading)
{
	service_reading_clear(reading);
}
#define _cleanup_service_reading_ __attribute__((cleanup(cleanup_service_reading)))

#endif
