/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries the system's systemd about units, and starts and stops units, over D-Bus (sd-bus).
 *
 * The methods and properties are those of org.freedesktop.systemd1(5). They are called on the
 * system bus; without a bus, root uses the private socket that systemctl uses. When the connection
 * is lost, or systemd leaves the bus, as it does when it re-executes itself, these functions
 * reconnect and repeat the call until it is back.
 */
#ifndef QUIESCE_BASE_SYSTEMD_UNIT_H
#define QUIESCE_BASE_SYSTEMD_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct unit_manager;

/* Whether systemd started this machine (or container), sd_booted(3). Needs neither a connection nor
 * libsystemd. */
bool unit_is_booted(void);

/*
 * Connects. -EOPNOTSUPP in a build without libsystemd, -ESRCH where systemd did not start the
 * machine, else the errno of the failed connection.
 */
int unit_open(struct unit_manager **ret);
void unit_close(struct unit_manager *manager);
DEFINE_CLEANUP(unit_manager, unit_close);

/* systemd's message about the last failed call, for a person: "Unit x.service not found."; NULL
 * when there was none. Valid until the next call. */
const char *unit_why(const struct unit_manager *manager);

/* Whether the last call was certainly answered by systemd. If not, systemd may have done what the
 * failed call has asked for, or may do it later. */
bool unit_has_answered(const struct unit_manager *manager);

/* ActiveState: "active", "inactive", "activating", "deactivating", "failed", ...; malloc'd. -ENOENT
 * when there is no such unit. */
int unit_read_state(struct unit_manager *manager, const char *unit, char **ret);
/* Whether a unit in this ActiveState runs, is about to, or reloads ("refreshing": systemd 257). */
bool unit_state_is_running(const char *state);
/* The outcome of a service. */
struct unit_outcome {
	char *result; /* "success", "exit-code", "signal", "timeout", ... (systemd.exec(5)) */
	/* The exit status of its last main process; -1 if it did not exit normally. */
	int exit_status;
	char *status_text; /* set by tell_status() in the service; "" when not set */
};
int unit_read_outcome(struct unit_manager *manager, const char *service, struct unit_outcome *ret);
void unit_outcome_clear(struct unit_outcome *outcome);

/* Whether this systemd has a property for this type of unit (slice, service, ...), such as
 * CPUSetPartition from 261 on: 1, 0, or an error. */
int unit_has_property(struct unit_manager *manager, const char *unit, const char *property);

/* Reads a property of this type of unit that is a number or a limit (TasksMax); UINT64_MAX means no
 * limit. Works for inactive units too. */
int unit_read_number(
	struct unit_manager *manager, const char *unit, const char *property, uint64_t *ret);

/* Whether a job of this unit is queued or running: 1, 0, or an error. */
int unit_has_job(struct unit_manager *manager, const char *unit);
/* Whether the files of a unit have changed since systemd read them: 1, 0, or an error. */
int unit_needs_reload(struct unit_manager *manager, const char *unit);
/* Reads a property of all types of units that is a list of units: "Conflicts". The list is empty
 * for a unit that does not exist. To be freed by unit_names_free(). */
int unit_read_names(
	struct unit_manager *manager, const char *unit, const char *property, char ***ret);
void unit_names_free(char **names);

/* daemon-reload: reads all unit files again, and applies changed settings to running units. */
int unit_reload(struct unit_manager *manager);

/* As `systemctl start` and `systemctl stop`, with the time limit of a target; `alone` leaves out
 * the units that the unit needs, or that need it (--job-mode=ignore-dependencies). */
enum unit_job {
	UNIT_START,
	UNIT_STOP,
};
int unit_do_job(struct unit_manager *manager, enum unit_job job, const char *unit, bool alone);

/*
 * These functions wait until the job is done. -ENOENT for a unit that does not exist, -EACCES when
 * permission is denied, -EIO when the job failed (the unit's own log says why), -ECANCELED when
 * another job replaced it, -ETIMEDOUT. It is not an error when the unit is already started or
 * stopped.
 */
int unit_start(struct unit_manager *manager, const char *unit);
int unit_stop(struct unit_manager *manager, const char *unit);
/* Requests the stop of a unit and does not wait for it. */
int unit_request_stop(struct unit_manager *manager, const char *unit);
/* As unit_start(), but never replaces a conflicting queued job: then -EBUSY. While the machine
 * shuts down, all starts conflict. */
int unit_start_unless_conflict(struct unit_manager *manager, const char *unit);

/* A transient unit: it has no file, and is removed when it ends. */
struct unit_new {
	const char *name;
	const char *description;
	const char *slice; /* for a scope: its slice */
	/* Numeric properties of the unit: TasksMax and the like. */
	const struct unit_number {
		const char *property;
		uint64_t value;
	} * numbers;
	size_t n_numbers;
	bool shared; /* for a scope: unit_attach() can move more processes into it */
};

/* Errors as above, and -EEXIST when the unit already exists (a slice: when it has a file). A scope
 * begins with a process, and ends with its last one; a slice stays until it is stopped. systemd is
 * given the pidfd of the process, which no other process can get; before 254 it takes only the PID
 * (org.freedesktop.systemd1(5): PIDFDs), which is enough for the caller itself: pidfd is negative
 * then. */
int unit_start_scope(
	struct unit_manager *manager, const struct unit_new *scope, pid_t pid, int pidfd);
int unit_start_slice(struct unit_manager *manager, const struct unit_new *slice);
/* Moves another process into a shared scope. There is no call that takes a pidfd: when the process
 * ends meanwhile, another one that got its PID is moved. */
int unit_attach(struct unit_manager *manager, const char *scope, pid_t pid);

#endif
