// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/wait.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"

enum {
	/* The kernel's error number for "not supported by this driver" (include/linux/errno.h),
	 * which has no name in user space. nmi_watchdog returns it in virtual machines. */
	KERNEL_ENOTSUPP = 524,
	READ_BACK_MS = 340,
	READ_BACK_FIRST_STEP_NS = 100 * 1000,
	READ_BACK_LAST_STEP_NS = 10 * 1000 * 1000,
};

static void knob_clear(struct knob *knob)
{
	free(knob->path);
	free(knob->name);
	free(knob->wanted);
	free(knob->seen);
	free(knob->now);
	free(knob->with_offline);
	free(knob->before_apply);
	free(knob->earlier_outcome);
	free(knob->foreign_from);
	free(knob->original);
	free(knob->note);
	cpumask_free(knob->cpus);
	*knob = (struct knob){ 0 };
}

static int plan_append(struct knob_plan *plan, struct knob *knob, const char *path,
	struct knob **ret, const char *name, va_list ap) _printf_(5, 0);

/* Sets the name (a printf format) and the path of the knob, and adds it to the plan. The strings
 * that the knob already has belong to the plan afterwards; they are freed when this fails. */
static int plan_append(struct knob_plan *plan, struct knob *knob, const char *path,
	struct knob **ret, const char *name, va_list ap)
{
	int r;

	if (vasprintf(&knob->name, name, ap) < 0)
		knob->name = NULL;
	knob->path = strdup(path);
	r = knob->name && knob->path
		? array_grow(&plan->knobs, sizeof(*plan->knobs), plan->n, &plan->capacity)
		: -ENOMEM;
	if (r < 0) {
		knob_clear(knob);
		return r;
	}
	plan->knobs[plan->n] = *knob;
	if (ret)
		*ret = &plan->knobs[plan->n];
	plan->n++;
	return 0;
}

int knob_plan_add(struct knob_plan *plan, unsigned group, enum knob_kind kind, const char *path,
	const char *wanted, struct knob **ret, const char *name, ...)
{
	struct knob knob = { .group = group, .kind = kind, .cpu = -1 };
	va_list ap;
	int r;

	r = text_replace(&knob.wanted, wanted);
	if (r < 0)
		return r;
	va_start(ap, name);
	r = plan_append(plan, &knob, path, ret, name, ap);
	va_end(ap);
	return r;
}

int knob_plan_add_word(struct knob_plan *plan, unsigned group, enum knob_word word,
	const char *path, const char *note, const char *name, ...)
{
	struct knob knob = { .group = group, .cpu = -1, .word = word, .settled = true };
	va_list ap;
	int r;

	r = text_replace(&knob.note, note);
	if (r < 0)
		return r;
	va_start(ap, name);
	r = plan_append(plan, &knob, path, NULL, name, ap);
	va_end(ap);
	return r;
}

int knob_set_note(struct knob *knob, const char *format, ...)
{
	va_list ap;
	int n;

	free(TAKE_PTR(knob->note));
	va_start(ap, format);
	n = vasprintf(&knob->note, format, ap);
	va_end(ap);
	if (n < 0)
		knob->note = NULL;
	return n < 0 ? -ENOMEM : 0;
}

struct knob *knob_plan_find(const struct knob_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (strcmp(plan->knobs[i].path, path) == 0)
			return &plan->knobs[i];
	}
	return NULL;
}

void knob_plan_clear(struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		knob_clear(&plan->knobs[i]);
	free(plan->knobs);
	*plan = (struct knob_plan){ 0 };
}

const struct knob_backend *knob_find_backend(
	const struct knob_backend *backends, const char *path, const char **ret_rest)
{
	const char *colon = strchr(path, ':');

	/* An absolute path may contain a colon, too. */
	if (!backends || !colon || path[0] == '/')
		return NULL;
	for (; backends->scheme; backends++) {
		if (strlen(backends->scheme) == (size_t)(colon - path) &&
			strncmp(backends->scheme, path, (size_t)(colon - path)) == 0) {
			*ret_rest = colon + 1;
			return backends;
		}
	}
	return NULL;
}

int knob_read(const struct knob_backend *backends, const char *path, char **ret)
{
	const struct knob_backend *backend;
	const char *rest;
	int r;

	backend = knob_find_backend(backends, path, &rest);
	if (backend)
		return backend->read(rest, ret);
	if (path[0] != '/')
		return -ENOENT;
	r = file_read_long_attr(AT_FDCWD, path, ret);
	return MIN(r, 0);
}

int knob_read_with_offline(const struct knob_backend *backends, const char *path, char **ret)
{
	const struct knob_backend *backend;
	const char *rest;

	backend = knob_find_backend(backends, path, &rest);
	return backend && backend->read_with_offline ? backend->read_with_offline(rest, ret)
						     : -ENOENT;
}

static int write_file(const char *path, const char *text)
{
	_cleanup_free_ char *line = NULL;

	/* With a newline, as echo(1) writes it: an empty write would not reach the kernel. */
	if (text_format(&line, "%s\n", text) < 0)
		return -ENOMEM;
	return file_write_attr(path, line);
}

int knob_write(const struct knob_backend *backends, const char *path, const char *text)
{
	const struct knob_backend *backend;
	const char *rest;
	int r;

	backend = knob_find_backend(backends, path, &rest);
	if (backend)
		return backend->write(rest, text);
	if (path[0] != '/')
		return -ENOENT;
	r = write_file(path, text);
	if (r == -EBUSY)
		r = write_file(path, text);
	return r;
}

bool knob_comes_late(const struct knob_backend *backends, enum knob_kind kind, const char *path)
{
	const struct knob_backend *backend;
	const char *rest;

	backend = knob_find_backend(backends, path, &rest);
	return kind == KNOB_FREQUENCY || (backend && backend->late);
}

bool knob_moves_threads(const struct knob_backend *backends, const char *path)
{
	const struct knob_backend *backend;
	const char *rest;

	backend = knob_find_backend(backends, path, &rest);
	if (backend)
		return backend->moves_threads;
	return knob_find_switched_cpu(path) >= 0 || journal_path_is_cpuset(path) ||
		strcmp(path, "/sys/devices/system/cpu/smt/control") == 0;
}

int64_t knob_deadline(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) + READ_BACK_MS * NSEC_PER_MSEC;
}

int knob_read_back(const struct knob_backend *backends, enum knob_kind kind, const char *path,
	const char *wanted, int64_t deadline, char **ret)
{
	/* Most often the kernel's work item runs immediately. */
	struct wait wait = wait_until(deadline, READ_BACK_FIRST_STEP_NS, READ_BACK_LAST_STEP_NS);
	char *now = NULL;
	int r;

	do {
		free(TAKE_PTR(now));
		r = knob_read(backends, path, &now);
		if (r < 0)
			return r;
	} while (kind == KNOB_FREQUENCY && !knob_equal(kind, now, wanted) && wait_step(&wait));
	*ret = now;
	return 0;
}

/* The number 7 in "/sys/devices/system/cpu/NAME7/...", -1 for any other path. *ret_rest points
 * behind it. */
static int parse_cpu_path(const char *path, const char *name, const char **ret_rest)
{
	static const char directory[] = "/sys/devices/system/cpu/";
	uint64_t number;

	if (!text_starts_with(path, directory))
		return -1;
	path += strlen(directory);
	if (!text_starts_with(path, name))
		return -1;
	path += strlen(name);
	if (!(*path >= '0' && *path <= '9') || parse_next_u64(&path, &number) < 0 || *path != '/' ||
		number >= CPUMASK_CAPACITY)
		return -1;
	*ret_rest = path;
	return (int)number;
}

int knob_find_switched_cpu(const char *path)
{
	const char *rest;
	int cpu = parse_cpu_path(path, "cpu", &rest);

	return cpu >= 0 && strcmp(rest, "/online") == 0 ? cpu : -1;
}

/* A policy without an online CPU returns EBUSY instead. */
static int read_related_cpus(int policy, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	char path[96], text[FILE_ATTR_SIZE];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpufreq/policy%d/related_cpus",
		policy);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	cpumask_add_numbers(cpus, text);
	if (cpumask_weight(cpus) > 1)
		*ret = TAKE_PTR(cpus);
	return 0;
}

int knob_find_policy(const char *path)
{
	const char *rest;

	return parse_cpu_path(path, "cpufreq/policy", &rest);
}

int knob_read_policy(int cpu, int *ret)
{
	char path[64], target[256];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq", cpu);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return errno_is_ours(errno) ? -errno : -ENOENT;
	target[n] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (!text_starts_with(name, "policy"))
		return -ENOENT;
	return parse_int(name + strlen("policy"), 0, CPUMASK_CAPACITY - 1, ret) < 0 ? -ENOENT : 0;
}

int knob_find_cpus(const char *path, int *ret_cpu, struct cpumask **ret_cpus)
{
	struct cpumask *cpus = NULL;
	const char *rest;
	int cpu = parse_cpu_path(path, "cpu", &rest), r = 0;

	if (cpu < 0) {
		cpu = knob_find_policy(path);
		if (cpu >= 0)
			r = read_related_cpus(cpu, &cpus);
	}
	if (r < 0)
		return r;
	*ret_cpu = cpu;
	*ret_cpus = cpus;
	return 0;
}

bool knob_went_well(const struct knob *knob)
{
	return knob->word == KNOB_APPLIED || knob->word == KNOB_ALREADY;
}

const char *knob_word_name(enum knob_word word)
{
	switch (word) {
	case KNOB_NONE:
		return "-";
	case KNOB_APPLIED:
		return "applied";
	case KNOB_ALREADY:
		return "already";
	case KNOB_UNAVAILABLE:
		return "unavailable";
	case KNOB_DENIED:
		return "denied";
	case KNOB_HOST_CONTROLLED:
		return "host-controlled";
	}
	return "?";
}

bool knob_error_is_unavailable(int error)
{
	return error == ENOENT || error == ENODEV || error == ENXIO || error == EOPNOTSUPP ||
		error == ENOTDIR || error == KERNEL_ENOTSUPP;
}
