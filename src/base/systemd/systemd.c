// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/systemd/booted.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "base/wait.h"
#include "config.h"

#if HAVE_LIBSYSTEMD
#include <systemd/sd-bus.h>
#endif

bool systemd_state_is_running(const char *state)
{
	static const char *const running[] = { "active", "activating", "reloading", "refreshing" };

	for (size_t i = 0; i < ARRAY_SIZE(running); i++) {
		if (strcmp(state, running[i]) == 0)
			return true;
	}
	return false;
}

void systemd_names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

void systemd_outcome_clear(struct systemd_outcome *outcome)
{
	free(outcome->result);
	free(outcome->status_text);
	*outcome = (struct systemd_outcome){ 0 };
}

#if HAVE_LIBSYSTEMD

#define SERVICE "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT_INTERFACE "org.freedesktop.systemd1.Unit"
#define SERVICE_INTERFACE "org.freedesktop.systemd1.Service"
#define PRIVATE_SOCKET "unix:path=/run/systemd/private"

enum {
	/* More than the 90 s that systemd itself allows a unit for starting or stopping. */
	JOB_SECONDS = 120,
	/* A target starts its units one after the other, and each has its own time limit. */
	TARGET_SECONDS = 1800,
	/* A reload reads every unit file of the machine before it answers. */
	RELOAD_SECONDS = 120,
	/* While systemd re-executes itself nobody listens, and the old connections are closed. */
	RECONNECT_SECONDS = 60,
	RECONNECT_FIRST_NS = 10 * 1000 * 1000,
	RECONNECT_LAST_NS = 500 * 1000 * 1000,
	/* The same on the bus, which systemd leaves meanwhile. Shorter, because systemd may stay
	 * away for ever. */
	REPEAT_SECONDS = 10,
};

struct systemd {
	sd_bus *bus;
	char *why;
	bool answered;
};

#define _cleanup_message_ __attribute__((cleanup(sd_bus_message_unrefp)))

/* As systemctl does as root on machines without a D-Bus daemon. */
static int open_private(sd_bus **ret)
{
	sd_bus *bus;
	int r;

	r = sd_bus_new(&bus);
	if (r < 0)
		return r;
	r = sd_bus_set_address(bus, PRIVATE_SOCKET);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

static int open_bus(sd_bus **ret)
{
	sd_bus *bus = NULL;
	int r;

	r = sd_bus_open_system(&bus);
	if (r < 0 && geteuid() == 0)
		r = open_private(&bus);
	/* The default timeout of 25 s is too short: on a busy or emulated machine systemd may take
	 * longer to answer while it reloads. */
	if (r >= 0)
		r = sd_bus_set_method_call_timeout(bus, RELOAD_SECONDS * UINT64_C(1000000));
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

/* Retries while systemd is about to listen again at its private socket, which only root may use. */
static int open_with_retries(sd_bus **ret)
{
	struct wait wait =
		wait_until(clock_now_ns(CLOCK_MONOTONIC) + RECONNECT_SECONDS * NSEC_PER_SEC,
			RECONNECT_FIRST_NS, RECONNECT_LAST_NS);
	int r;

	do {
		r = open_bus(ret);
	} while (errno_is_disconnect(-r) && geteuid() == 0 && wait_step(&wait));
	return r;
}

int systemd_open(struct systemd **ret)
{
	struct systemd *manager;
	int r;

	if (!systemd_is_booted())
		return -ESRCH;
	manager = calloc(1, sizeof(*manager));
	if (!manager)
		return -ENOMEM;
	r = open_with_retries(&manager->bus);
	if (r < 0) {
		free(manager);
		return r;
	}
	*ret = manager;
	return 0;
}

void systemd_close(struct systemd *manager)
{
	if (!manager)
		return;
	sd_bus_flush_close_unref(manager->bus);
	free(manager->why);
	free(manager);
}

const char *systemd_why(const struct systemd *manager)
{
	return manager->why;
}

bool systemd_has_answered(const struct systemd *manager)
{
	return manager->answered;
}

/* After a failed call: whether the connection was lost and has been made again. Then the call is to
 * be repeated; repeating any call of this file is harmless. *wait is {0} before the first call, and
 * its time begins with the first loss. */
static bool reconnect(struct systemd *manager, int r, struct wait *wait)
{
	sd_bus *bus;

	if (!errno_is_disconnect(-r))
		return false;
	if (wait->deadline_ns == 0)
		*wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + REPEAT_SECONDS * NSEC_PER_SEC,
			RECONNECT_FIRST_NS, RECONNECT_LAST_NS);
	if (!wait_step(wait) || open_with_retries(&bus) < 0)
		return false;
	sd_bus_close_unref(manager->bus);
	manager->bus = bus;
	return true;
}

#define RETRY_LOST(manager, call)                      \
	__extension__({                                \
		struct wait wait_ = { 0 };             \
		int r_ = (call);                       \
		while (reconnect(manager, r_, &wait_)) \
			r_ = (call);                   \
		r_;                                    \
	})

/*
 * Whether the call failed because systemd was not on the bus, or left it before it answered. Then
 * dbus-daemon answers by NoReply; to the next call, until systemd is back, it answers as
 * /usr/share/dbus-1/system-services/org.freedesktop.systemd1.service has it: starts /bin/false, and
 * says that it has ended. A time limit of sd-bus's own is SD_BUS_ERROR_TIMEOUT.
 */
static bool is_lost(const sd_bus_error *error)
{
	static const char *const names[] = {
		SD_BUS_ERROR_DISCONNECTED,
		SD_BUS_ERROR_NAME_HAS_NO_OWNER,
		SD_BUS_ERROR_NO_REPLY,
		SD_BUS_ERROR_SERVICE_UNKNOWN,
		"org.freedesktop.DBus.Error.Spawn.ChildExited",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (sd_bus_error_has_name(error, names[i]))
			return true;
	}
	return false;
}

/* Maps the result of a call to an errno, keeps its message for systemd_why(), and frees the error.
 */
static int take_error(struct systemd *manager, int r, sd_bus_error *error)
{
	free(TAKE_PTR(manager->why));
	/* All other names may also come from sd-bus, for a failure of its own. */
	manager->answered = r >= 0 ||
		(sd_bus_error_is_set(error) && text_starts_with(error->name, SERVICE "."));
	if (r < 0 && sd_bus_error_is_set(error) && error->message)
		manager->why = strdup(error->message);
	if (r < 0 && is_lost(error))
		r = -ECONNRESET;
	else if (r < 0 &&
		(sd_bus_error_has_name(error, "org.freedesktop.systemd1.NoSuchUnit") ||
			sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_PROPERTY) ||
			sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_INTERFACE)))
		r = -ENOENT;
	else if (r < 0 &&
		(sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED) ||
			sd_bus_error_has_name(
				error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED)))
		r = -EACCES;
	else if (r < 0 &&
		sd_bus_error_has_name(error, "org.freedesktop.systemd1.TransactionIsDestructive"))
		r = -EBUSY;
	else if (r < 0 && sd_bus_error_has_name(error, "org.freedesktop.systemd1.UnitExists"))
		r = -EEXIST;
	sd_bus_error_free(error);
	return r < 0 ? r : 0;
}

/* Reads a property of a unit. `type` is its D-Bus type, and NULL for any; *ret is the message from
 * which the value is to be read. Reading a property makes systemd load the unit. */
static int read_property(struct systemd *manager, const char *unit, const char *interface,
	const char *property, const char *type, sd_bus_message **ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	r = sd_bus_path_encode(MANAGER_PATH "/unit", unit, &path);
	if (r < 0)
		return r;
	r = RETRY_LOST(manager,
		take_error(manager,
			sd_bus_call_method(manager->bus, SERVICE, path,
				"org.freedesktop.DBus.Properties", "Get", &error, &reply, "ss",
				interface, property),
			&error));
	if (r == 0 && type)
		r = sd_bus_message_enter_container(reply, 'v', type);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(reply);
	return 0;
}

/* As read_property(), for a type of one letter, which determines what *ret is. */
static int read_basic(struct systemd *manager, const char *unit, const char *interface,
	const char *property, const char *type, void *ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	int r;

	r = read_property(manager, unit, interface, property, type, &reply);
	if (r == 0)
		r = sd_bus_message_read_basic(reply, *type, ret);
	return r < 0 ? r : 0;
}

/* As read_property(), for a string, which is malloc'd. */
static int read_string(struct systemd *manager, const char *unit, const char *interface,
	const char *property, char **ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	const char *value;
	int r;

	r = read_property(manager, unit, interface, property, "s", &reply);
	if (r == 0)
		r = sd_bus_message_read_basic(reply, 's', &value);
	return r < 0 ? r : text_format(ret, "%s", value);
}

int systemd_read_state(struct systemd *manager, const char *unit, char **ret)
{
	_cleanup_free_ char *loaded = NULL;
	int r;

	r = read_string(manager, unit, UNIT_INTERFACE, "LoadState", &loaded);
	if (r < 0)
		return r;
	if (strcmp(loaded, "not-found") == 0)
		return -ENOENT;
	return read_string(manager, unit, UNIT_INTERFACE, "ActiveState", ret);
}

int systemd_read_outcome(struct systemd *manager, const char *service, struct systemd_outcome *ret)
{
	struct systemd_outcome outcome = { 0 };
	int code, r;

	r = read_string(manager, service, SERVICE_INTERFACE, "Result", &outcome.result);
	if (r == 0)
		r = read_string(
			manager, service, SERVICE_INTERFACE, "StatusText", &outcome.status_text);
	if (r == 0)
		r = read_basic(manager, service, SERVICE_INTERFACE, "ExecMainCode", "i", &code);
	if (r == 0)
		r = read_basic(manager, service, SERVICE_INTERFACE, "ExecMainStatus", "i",
			&outcome.exit_status);
	if (r < 0) {
		systemd_outcome_clear(&outcome);
		return r;
	}
	if (code != CLD_EXITED)
		outcome.exit_status = -1;
	*ret = outcome;
	return 0;
}

/* The D-Bus interface of a unit's type, malloc'd: "org.freedesktop.systemd1.Slice". */
static int name_interface(const char *unit, char **ret)
{
	const char *suffix = strrchr(unit, '.');

	if (!suffix || !suffix[1])
		return -EINVAL;
	return text_format(ret, SERVICE ".%c%s", suffix[1] - 'a' + 'A', suffix + 2);
}

int systemd_has_property(struct systemd *manager, const char *unit, const char *property)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_free_ char *interface = NULL;
	int r;

	r = name_interface(unit, &interface);
	if (r == 0)
		r = read_property(manager, unit, interface, property, NULL, &reply);
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int systemd_read_number(
	struct systemd *manager, const char *unit, const char *property, uint64_t *ret)
{
	_cleanup_free_ char *interface = NULL;
	uint64_t value;
	int r;

	r = name_interface(unit, &interface);
	if (r < 0)
		return r;
	r = read_basic(manager, unit, interface, property, "t", &value);
	if (r == 0)
		*ret = value;
	return r;
}

int systemd_needs_reload(struct systemd *manager, const char *unit)
{
	int needs, r = read_basic(manager, unit, UNIT_INTERFACE, "NeedDaemonReload", "b", &needs);

	return r < 0 ? r : needs != 0;
}

int systemd_has_job(struct systemd *manager, const char *unit)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	const char *job;
	uint32_t id;
	int r;

	r = read_property(manager, unit, UNIT_INTERFACE, "Job", "(uo)", &reply);
	if (r == 0)
		r = sd_bus_message_read(reply, "(uo)", &id, &job);
	return r < 0 ? r : id != 0;
}

int systemd_read_names(struct systemd *manager, const char *unit, const char *property, char ***ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	char **names = NULL;
	int r;

	r = read_property(manager, unit, UNIT_INTERFACE, property, "as", &reply);
	if (r == 0)
		r = sd_bus_message_read_strv(reply, &names);
	if (r < 0)
		return r;
	/* sd-bus gives NULL for no names. */
	if (!names)
		names = calloc(1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	*ret = names;
	return 0;
}

int systemd_reload(struct systemd *manager)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;

	return RETRY_LOST(manager,
		take_error(manager,
			sd_bus_call_method(manager->bus, SERVICE, MANAGER_PATH, MANAGER_INTERFACE,
				"Reload", &error, NULL, NULL),
			&error));
}

/* --- Jobs. --- */

/* The state of waiting for the JobRemoved signal of one job. */
struct waiting {
	const char *job; /* its object path; NULL while not known */
	bool done;
	int result;
};

/* The errno of a job's result, see org.freedesktop.systemd1(5). */
static int job_errno(const char *result)
{
	if (strcmp(result, "done") == 0 || strcmp(result, "skipped") == 0)
		return 0;
	if (strcmp(result, "canceled") == 0)
		return -ECANCELED;
	if (strcmp(result, "timeout") == 0)
		return -ETIMEDOUT;
	return -EIO;
}

static int on_job_removed(sd_bus_message *message, void *userdata, sd_bus_error *error _unused_)
{
	struct waiting *waiting = userdata;
	const char *job, *unit, *result;
	uint32_t id;

	if (sd_bus_message_read(message, "uoss", &id, &job, &unit, &result) < 0)
		return 0;
	if (waiting->job && strcmp(job, waiting->job) == 0) {
		waiting->done = true;
		waiting->result = job_errno(result);
	}
	return 0;
}

static int wait_for_job(struct systemd *manager, struct waiting *waiting, int64_t seconds)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC, left;
	int r;

	while (!waiting->done) {
		r = sd_bus_process(manager->bus, NULL);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		left = end - clock_now_ns(CLOCK_MONOTONIC);
		if (left <= 0)
			return -ETIMEDOUT;
		r = sd_bus_wait(manager->bus, (uint64_t)left / 1000);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return waiting->result;
}

/* Makes a call that returns a job, and waits for the job. systemd sends JobRemoved to the client
 * that requested the job even without a subscription. */
static int call_and_wait(struct systemd *manager, sd_bus_message *call, int64_t seconds)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	struct waiting waiting = { 0 };
	_cleanup_message_ sd_bus_message *reply = NULL;
	sd_bus_slot *slot = NULL;
	int r;

	/* The match is installed before the call, because the job may end before its reply is read.
	 * Signals stay in the queue until sd_bus_process(). */
	r = sd_bus_match_signal(manager->bus, &slot, SERVICE, MANAGER_PATH, MANAGER_INTERFACE,
		"JobRemoved", on_job_removed, &waiting);
	if (r >= 0)
		r = sd_bus_call(manager->bus, call, 0, &error, &reply);
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &waiting.job);
	r = take_error(manager, r, &error);
	if (r == 0)
		r = wait_for_job(manager, &waiting, seconds);
	manager->answered = manager->answered && (r == 0 || waiting.done);
	sd_bus_slot_unref(slot);
	return r;
}

static int try_start_or_stop(struct systemd *manager, const char *method, const char *unit,
	const char *mode, int64_t seconds)
{
	_cleanup_message_ sd_bus_message *call = NULL;
	int r;

	r = sd_bus_message_new_method_call(
		manager->bus, &call, SERVICE, MANAGER_PATH, MANAGER_INTERFACE, method);
	if (r >= 0)
		r = sd_bus_message_append(call, "ss", unit, mode);
	if (r >= 0)
		r = call_and_wait(manager, call, seconds);
	return r;
}

static int start_or_stop(struct systemd *manager, const char *method, const char *unit,
	const char *mode, int64_t seconds)
{
	return RETRY_LOST(manager, try_start_or_stop(manager, method, unit, mode, seconds));
}

static int64_t job_seconds(const char *unit)
{
	const char *suffix = strrchr(unit, '.');

	return suffix && strcmp(suffix, ".target") == 0 ? TARGET_SECONDS : JOB_SECONDS;
}

int systemd_do_job(struct systemd *manager, enum systemd_job job, const char *unit, bool alone)
{
	const char *method = job == SYSTEMD_START ? "StartUnit" : "StopUnit";
	const char *mode = alone ? "ignore-dependencies" : "replace";

	return start_or_stop(manager, method, unit, mode, TARGET_SECONDS);
}

int systemd_start(struct systemd *manager, const char *unit)
{
	return start_or_stop(manager, "StartUnit", unit, "replace", job_seconds(unit));
}

int systemd_start_unless_conflict(struct systemd *manager, const char *unit)
{
	return start_or_stop(manager, "StartUnit", unit, "fail", job_seconds(unit));
}

int systemd_stop(struct systemd *manager, const char *unit)
{
	return start_or_stop(manager, "StopUnit", unit, "replace", job_seconds(unit));
}

int systemd_request_stop(struct systemd *manager, const char *unit)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;

	return RETRY_LOST(manager,
		take_error(manager,
			sd_bus_call_method(manager->bus, SERVICE, MANAGER_PATH, MANAGER_INTERFACE,
				"StopUnit", &error, NULL, "ss", unit, "replace"),
			&error));
}

/* Starts a transient unit with these properties and its numeric ones, and waits for the job. */
static int try_start_new(struct systemd *manager, const struct systemd_new *unit, const char *types,
	va_list properties)
{
	_cleanup_message_ sd_bus_message *call = NULL;
	va_list ap;
	int r;

	r = sd_bus_message_new_method_call(manager->bus, &call, SERVICE, MANAGER_PATH,
		MANAGER_INTERFACE, "StartTransientUnit");
	if (r >= 0)
		r = sd_bus_message_append(call, "ss", unit->name, "fail");
	if (r >= 0)
		r = sd_bus_message_open_container(call, 'a', "(sv)");
	va_copy(ap, properties);
	if (r >= 0)
		r = sd_bus_message_appendv(call, types, ap);
	va_end(ap);
	for (size_t i = 0; i < unit->n_numbers && r >= 0; i++)
		r = sd_bus_message_append(
			call, "(sv)", unit->numbers[i].property, "t", unit->numbers[i].value);
	if (r >= 0)
		r = sd_bus_message_close_container(call);
	if (r >= 0)
		r = sd_bus_message_append(call, "a(sa(sv))", 0);
	if (r >= 0)
		r = call_and_wait(manager, call, JOB_SECONDS);
	return r;
}

static int start_new(
	struct systemd *manager, const struct systemd_new *unit, const char *types, ...)
{
	struct wait wait = { 0 };
	va_list ap;
	int r;

	va_start(ap, types);
	r = try_start_new(manager, unit, types, ap);
	while (reconnect(manager, r, &wait)) {
		r = try_start_new(manager, unit, types, ap);
		/* The previous call had succeeded, and only its reply was lost. */
		if (r == -EEXIST)
			r = systemd_start(manager, unit->name);
	}
	va_end(ap);
	return r;
}

/* `process`: a number as `property` has it, in an array of this type. */
static int start_scope(struct systemd *manager, const struct systemd_new *scope,
	const char *property, const char *type, int process)
{
	static const char common[] = "(sv)(sv)(sv)(sv)", with_others[] = "(sv)(sv)(sv)(sv)(sv)";

	return start_new(manager, scope, scope->shared ? with_others : common, "Description", "s",
		scope->description, "Slice", "s", scope->slice, property, type, 1, process,
		/* Removed when it ends, also after a failure. */
		"CollectMode", "s", "inactive-or-failed",
		/* systemd moves processes only into a running unit with delegation. This delegates
		 * no controller and sets no user: the files stay root's. */
		"DelegateControllers", "as", 0);
}

int systemd_start_scope(
	struct systemd *manager, const struct systemd_new *scope, pid_t pid, int pidfd)
{
	int r = pidfd < 0 ? -EROFS : start_scope(manager, scope, "PIDFDs", "ah", pidfd);

	/* systemd calls a property that it does not know read-only. */
	return r == -EROFS ? start_scope(manager, scope, "PIDs", "au", pid) : r;
}

int systemd_start_slice(struct systemd *manager, const struct systemd_new *slice)
{
	return start_new(manager, slice, "(sv)(sv)", "Description", "s", slice->description,
		"CollectMode", "s", "inactive-or-failed");
}

int systemd_attach(struct systemd *manager, const char *scope, pid_t pid)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;

	return RETRY_LOST(manager,
		take_error(manager,
			sd_bus_call_method(manager->bus, SERVICE, MANAGER_PATH, MANAGER_INTERFACE,
				"AttachProcessesToUnit", &error, NULL, "ssau", scope, "", 1,
				(uint32_t)pid),
			&error));
}

#else /* HAVE_LIBSYSTEMD */

int systemd_open(struct systemd **ret _unused_)
{
	return -EOPNOTSUPP;
}

void systemd_close(struct systemd *manager _unused_)
{
}

const char *systemd_why(const struct systemd *manager _unused_)
{
	return NULL;
}

bool systemd_has_answered(const struct systemd *manager _unused_)
{
	return false;
}

/* systemd_open() gives nobody a manager, so nobody calls these. */
#define UNSUPPORTED(function, ...)                                    \
	int function(struct systemd *manager _unused_, ##__VA_ARGS__) \
	{                                                             \
		return -EOPNOTSUPP;                                   \
	}
#define UNIT const char *unit _unused_
#define NEW const struct systemd_new *unit _unused_

UNSUPPORTED(systemd_read_state, UNIT, char **ret _unused_)
UNSUPPORTED(systemd_read_outcome, UNIT, struct systemd_outcome *ret _unused_)
UNSUPPORTED(systemd_has_property, UNIT, const char *property _unused_)
UNSUPPORTED(systemd_read_number, UNIT, const char *property _unused_, uint64_t *ret _unused_)
UNSUPPORTED(systemd_has_job, UNIT)
UNSUPPORTED(systemd_needs_reload, UNIT)
UNSUPPORTED(systemd_read_names, UNIT, const char *property _unused_, char ***ret _unused_)
UNSUPPORTED(systemd_reload)
UNSUPPORTED(systemd_do_job, enum systemd_job job _unused_, UNIT, bool alone _unused_)
UNSUPPORTED(systemd_start, UNIT)
UNSUPPORTED(systemd_stop, UNIT)
UNSUPPORTED(systemd_request_stop, UNIT)
UNSUPPORTED(systemd_start_unless_conflict, UNIT)
UNSUPPORTED(systemd_start_scope, NEW, pid_t pid _unused_, int pidfd _unused_)
UNSUPPORTED(systemd_start_slice, NEW)
UNSUPPORTED(systemd_attach, UNIT, pid_t pid _unused_)

#endif
