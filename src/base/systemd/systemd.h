/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries the system's systemd about units, and starts and stops units, over D-Bus (sd-bus).
 *
 * The methods and properties are those of org.freedesktop.systemd1(5). They are called on the
 * system bus; without a bus, root uses the private socket that systemctl uses. When the connection
 * is lost, or systemd leaves the bus, as it does when it re-executes itself, these functions
 * reconnect and repeat the call until it is back.
 */
#ifndef QUIESCE_BASE_SYSTEMD_SYSTEMD_H
#define QUIESCE_BASE_SYSTEMD_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct systemd;

/*
 * Connects. -EOPNOTSUPP in a build without libsystemd, -ESRCH where systemd did not start the
 * machine, else the errno of the failed connection.
 */
int systemd_open(struct systemd **ret);
void systemd_close(struct systemd *manager);
DEFINE_CLEANUP(systemd, systemd_close);

/* systemd's message about the last failed call, for a person: "Unit x.service not found."; NULL
 * when there was none. Valid until the next call. */
const char *systemd_why(const struct systemd *manager);

/* Whether the last call was certainly answered by systemd. If not, systemd may have done what the
 * failed call has asked for, or may do it later. */
bool systemd_has_answered(const struct systemd *manager);

/* ActiveState: "active", "inactive", "activating", "deactivating", "failed", ...; malloc'd. -ENOENT
 * when there is no such unit. */
int systemd_read_state(struct systemd *manager, const char *unit, char **ret);
/* Whether a unit in this ActiveState runs, is about to, or reloads ("refreshing": systemd 257). */
bool systemd_state_is_running(const char *state);
/* The outcome of a service. */
struct systemd_outcome {
	char *result; /* "success", "exit-code", "signal", "timeout", ... (systemd.exec(5)) */
	/* The exit status of its last main process; -1 if it did not exit normally. */
	int exit_status;
	char *status_text; /* set by tell_status() in the service; "" when not set */
};
int systemd_read_outcome(struct systemd *manager, const char *service, struct systemd_outcome *ret);
void systemd_outcome_clear(struct systemd_outcome *outcome);

/* Whether this systemd has a property for this type of unit (slice, service, ...), such as
 * CPUSetPartition from 261 on: 1, 0, or an error. */
int systemd_has_property(struct systemd *manager, const char *unit, const char *property);

/* Reads a property of this type of unit that is a number or a limit (TasksMax); UINT64_MAX means no
 * limit. Works for inactive units too. */
int systemd_read_number(
	struct systemd *manager, const char *unit, const char *property, uint64_t *ret);

/* Whether a job of this unit is queued or running: 1, 0, or an error. */
int systemd_has_job(struct systemd *manager, const char *unit);
/* Whether the files of a unit have changed since systemd read them: 1, 0, or an error. */
int systemd_needs_reload(struct systemd *manager, const char *unit);
/* Reads a property of all types of units that is a list of units: "Conflicts". The list is empty
 * for a unit that does not exist. To be freed by systemd_names_free(). */
int systemd_read_names(
	struct systemd *manager, const char *unit, const char *property, char ***ret);
void systemd_names_free(char **names);

/* daemon-reload: reads all unit files again, and applies changed settings to running units. */
int systemd_reload(struct systemd *manager);

/* As `systemctl start` and `systemctl stop`, with the time limit of a target; `alone` leaves out
 * the units that the unit needs, or that need it (--job-mode=ignore-dependencies). */
enum systemd_job {
	SYSTEMD_START,
	SYSTEMD_STOP,
};
int systemd_do_job(struct systemd *manager, enum systemd_job job, const char *unit, bool alone);

/*
 * These functions wait until the job is done. -ENOENT for a unit that does not exist, -EACCES when
 * permission is denied, -EIO when the job failed (the unit's own log says why), -ECANCELED when
 * another job replaced it, -ETIMEDOUT. It is not an error when the unit is already started or
 * stopped.
 */
int systemd_start(struct systemd *manager, const char *unit);
int systemd_stop(struct systemd *manager, const char *unit);
/* Requests the stop of a unit and does not wait for it. */
int systemd_request_stop(struct systemd *manager, const char *unit);
/* As systemd_start(), but never replaces a conflicting queued job: then -EBUSY. While the machine
 * shuts down, all starts conflict. */
int systemd_start_unless_conflict(struct systemd *manager, const char *unit);

/* A transient unit: it has no file, and is removed when it ends. */
struct systemd_new {
	const char *name;
	const char *description;
	const char *slice; /* for a scope: its slice */
	/* Numeric properties of the unit: TasksMax and the like. */
	const struct systemd_number {
		const char *property;
		uint64_t value;
	} * numbers;
	size_t n_numbers;
	bool shared; /* for a scope: systemd_attach() can move more processes into it */
};

/* Errors as above, and -EEXIST when the unit already exists (a slice: when it has a file). A scope
 * begins with a process, and ends with its last one; a slice stays until it is stopped. systemd is
 * given the pidfd of the process, which no other process can get; before 254 it takes only the PID
 * (org.freedesktop.systemd1(5): PIDFDs), which is enough for the caller itself: pidfd is negative
 * then. */
int systemd_start_scope(
	struct systemd *manager, const struct systemd_new *scope, pid_t pid, int pidfd);
int systemd_start_slice(struct systemd *manager, const struct systemd_new *slice);
/* Moves another process into a shared scope. There is no call that takes a pidfd: when the process
 * ends meanwhile, another one that got its PID is moved. */
int systemd_attach(struct systemd *manager, const char *scope, pid_t pid);

#endif
