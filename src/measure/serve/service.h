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
#include "measure/place.h"
#include "measure/serve/family.h"

struct service;

enum service_ready {
	SERVICE_READY_PORT,   /* it listens on its port */
	SERVICE_READY_NOTIFY, /* it says READY=1 to $NOTIFY_SOCKET (sd_notify(3)), and listens */
};

struct service_plan {
	const char *name;
	const char *program; /* the file that is executed */
	char *const *argv;
	const char *const *variables; /* "NAME=VALUE", NULL-terminated */
	const struct place *place;
	uint16_t port;
	enum service_ready ready;
	int64_t ready_ns; /* how long it may take until it is ready */
	int64_t end_ns;	  /* how long it may take to end after SIGTERM */
};

/*
 * Starts it and waits until it is ready. Says what is wrong, with the last words of the service,
 * and returns a negative errno; then nothing is left of it. -ECANCELED, without a word, when a
 * signal asks to stop.
 */
int service_start(const struct service_plan *plan, struct stop *stop, struct service **ret);
/* How long it took until it was ready. */
int64_t service_get_ready_ns(const struct service *service);
/* The keeper, of which all processes of the service descend. */
pid_t service_get_keeper(const struct service *service);
/* Whether it lives, and is the only one to listen on its port. Says what is wrong, and returns a
 * negative errno. */
int service_check(struct service *service);
/* Says how it has ended, if it has, and what its last words were; returns whether it has. */
bool service_tell_end(struct service *service);
/* Prints its last words. */
void service_print_stderr(const struct service *service);
/* Ends it: SIGTERM, and SIGKILL to all of the family where that does not do. */
void service_free(struct service *service);

DEFINE_CLEANUP(service, service_free);

#endif
