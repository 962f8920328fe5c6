/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking the system's systemd about units, and having it start and stop them, over D-Bus (sd-bus).
 *
 * The methods and properties are those of org.freedesktop.systemd1(5). They are called on the
 * system bus; root can do without one, over the socket that systemctl uses. A connection that is
 * lost, as all are when systemd executes itself anew, is made again, and the call repeated.
 */
#ifndef QUIESCE_UNIT_UNIT_H
#define QUIESCE_UNIT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/cleanup.h"

struct unit_manager;

/* Whether systemd is what started this machine (or container), sd_booted(3). Needs no connection,
 * and no libsystemd. */
bool unit_is_booted(void);

/*
 * Connects. -EOPNOTSUPP where this was built without libsystemd, -ESRCH where systemd did not start
 * the machine, else why there is no connection.
 */
int unit_open(struct unit_manager **ret);
void unit_close(struct unit_manager *manager);
DEFINE_CLEANUP(unit_manager, unit_close);

/* What systemd said of the call that failed last, for a person: "Unit x.service not found."; NULL
 * when it said nothing. Holds until the next call. */
const char *unit_why(const struct unit_manager *manager);

/* ActiveState: "active", "inactive", "activating", "deactivating", "failed", ...; malloc'd. -ENOENT
 * when there is no such unit. */
int unit_read_state(struct unit_manager *manager, const char *unit, char **ret);
/* What a service has come to. */
struct unit_outcome {
	char *result; /* "success", "exit-code", "signal", "timeout", ... (systemd.exec(5)) */
	/* The exit status of what it ran last; -1 where that did not exit. */
	int exit_status;
	char *status_text; /* what that has told by tell_status(); "" for nothing */
};
int unit_read_outcome(struct unit_manager *manager, const char *service, struct unit_outcome *ret);
void unit_outcome_clear(struct unit_outcome *outcome);

/* Whether this systemd knows a property of units of that kind (slice, service, ...), such as
 * CPUSetPartition from 261 on: 1, 0, or an error. */
int unit_has_property(struct unit_manager *manager, const char *unit, const char *property);

/* A property of units of that kind that is a number or a limit (TasksMax), UINT64_MAX for no limit.
 * systemd tells it also of units that are not up. */
int unit_read_number(
	struct unit_manager *manager, const char *unit, const char *property, uint64_t *ret);

/* Whether the files of a unit have changed since systemd read them: 1, 0, or an error. */
int unit_needs_reload(struct unit_manager *manager, const char *unit);
/* A property of all kinds of units that is a list of units: "Conflicts". An empty list for a unit
 * that is not there. To be freed by unit_names_free(). */
int unit_read_names(
	struct unit_manager *manager, const char *unit, const char *property, char ***ret);
void unit_names_free(char **names);

/* daemon-reload: reads all unit files again, and gives running units what is new in them. */
int unit_reload(struct unit_manager *manager);

/* As `systemctl start` and `systemctl stop`, for as long as a target may take; `alone` leaves the
 * units out that the unit needs, or that need it (--job-mode=ignore-dependencies). */
enum unit_job {
	UNIT_START,
	UNIT_STOP,
};
int unit_do_job(struct unit_manager *manager, enum unit_job job, const char *unit, bool alone);

/*
 * These wait until the job is done. -ENOENT for a unit that is not there, -EACCES when it is not
 * allowed, -EIO when the job failed (the unit's own log says why), -ECANCELED when another job took
 * its place, -ETIMEDOUT. A unit that is as wanted already is no error.
 */
int unit_start(struct unit_manager *manager, const char *unit);
int unit_stop(struct unit_manager *manager, const char *unit);
/* Has it stopped, and does not wait for that. */
int unit_stop_soon(struct unit_manager *manager, const char *unit);
/* As unit_start(), but gives way: -EBUSY where that would undo a job that is queued, as all do
 * while the machine goes down. */
int unit_start_gently(struct unit_manager *manager, const char *unit);

/* A unit that has no file, and is forgotten when it ends. */
struct unit_new {
	const char *name;
	const char *description;
	const char *slice; /* of a scope: which it is to be in */
	/* Properties of it that are numbers: TasksMax and the like. */
	const struct unit_number {
		const char *property;
		uint64_t value;
	} * numbers;
	size_t n_numbers;
	bool shared; /* of a scope: others can be moved into it, by unit_attach() */
};

/* As above, and -EEXIST when there is such a unit already (a slice: when it has a file). A scope
 * has that process in it, and ends with its last process; a slice stays until it is stopped. */
int unit_start_scope(struct unit_manager *manager, const struct unit_new *scope, pid_t pid);
int unit_start_slice(struct unit_manager *manager, const struct unit_new *slice);
/* Moves one more process into a shared scope. */
int unit_attach(struct unit_manager *manager, const char *scope, pid_t pid);

#endif
