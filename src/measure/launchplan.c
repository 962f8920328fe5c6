// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "library/values.h"
#include "measure/launchplan.h"

static uint32_t append_string(struct text *t, const char *s)
{
	uint32_t offset = (uint32_t)t->length;

	text_append_n(t, s, strlen(s) + 1);
	return offset;
}

static uint32_t append_vector(struct text *t, char *const *vector, uint32_t *ret_n)
{
	uint32_t offset = (uint32_t)t->length, n = 0;

	for (; vector[n]; n++)
		append_string(t, vector[n]);
	*ret_n = n;
	return offset;
}

/* The environment of the program: that of the caller, and the variables that say where values and
 * figures can be written. */
static uint32_t append_environment(struct text *t, char *const *env, int values_fd,
	const struct launch_inputs *in, uint32_t *ret_n)
{
	static const char variable[] = VALUES_FD_VARIABLE "=";
	const struct figurepad *pad = in->figurepad;
	uint32_t offset = (uint32_t)t->length, n = 0;

	for (; *env; env++) {
		/* These variables were set by another runpinned that runs this one; the launcher
		 * sets those of the run. */
		if (text_starts_with(*env, variable) ||
			text_starts_with(*env, LAUNCH_FIGURES_VARIABLE "=") ||
			text_starts_with(*env, LAUNCH_RUN_VARIABLE "=") ||
			text_starts_with(*env, LAUNCH_RUN_FILL_VARIABLE "=") ||
			vary_has_variable(in->vary, *env))
			continue;
		append_string(t, *env);
		n++;
	}
	text_appendf(t, "%s%d", variable, values_fd);
	text_append_n(t, "", 1);
	n++;
	if (pad) {
		text_append(t, LAUNCH_FIGURES_VARIABLE "=");
		append_string(t, figurepad_get_path(pad));
		n++;
	}
	*ret_n = n;
	return offset;
}

/* The launcher reads arrays in place, so they must be aligned. */
static uint32_t append_array(struct text *t, const void *array, size_t size)
{
	static const char zeros[sizeof(uint64_t)];
	uint32_t offset;

	if (t->length % sizeof(zeros) != 0)
		text_append_n(t, zeros, sizeof(zeros) - t->length % sizeof(zeros));
	offset = (uint32_t)t->length;
	text_append_n(t, array, size);
	return offset;
}

/* Appends the paths of the files, then the array that refers to them. Places for the files of the
 * quota that are left have an empty path. */
static uint32_t append_files(
	struct text *t, const struct evidence_file *files, size_t n, const struct quota *quota)
{
	_cleanup_free_ struct launch_file *entries = calloc(n + 1, sizeof(*entries));
	size_t n_used = 0;

	if (!entries) {
		t->failed = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		const char *path = files[i].path;

		if (!path)
			path = n_used < quota->n_stats ? quota->stats[n_used++] : "";
		entries[i] = (struct launch_file){
			.path = append_string(t, path),
			.kind = files[i].kind,
			.cpu = files[i].cpu,
		};
	}
	return append_array(t, entries, n * sizeof(*entries));
}

static uint32_t find_flags(const struct options *options)
{
	uint32_t flags = 0;

	if (options->no_aslr)
		flags |= LAUNCH_NO_ASLR;
	if (options->set_nice)
		flags |= LAUNCH_SET_NICE;
	if (options->fifo_priority > 0)
		flags |= LAUNCH_SET_FIFO;
	if (options->env_pad != ENV_PAD_NONE)
		flags |= LAUNCH_ENV_PAD;
	if (options->core_half)
		flags |= LAUNCH_CORE_HALF;
	if (!options->no_evidence)
		flags |= LAUNCH_SCHEDSTAT;
	if (!options->show_output)
		flags |= LAUNCH_KEEP_STDERR;
	if (options->stdout_to == OUTPUT_PIPE)
		flags |= LAUNCH_PIPE;
	if (options->stdout_to == OUTPUT_PIPE_HERE)
		flags |= LAUNCH_PIPE | LAUNCH_READER;
	if (options->stdout_to == OUTPUT_TERMINAL)
		flags |= LAUNCH_TERMINAL;
	return flags;
}

char **launchplan_make_environment(const struct options *options, const char *const variables[])
{
	size_t n = 0, n_variables = 0;
	char **env;

	while (environ[n])
		n++;
	while (variables[n_variables])
		n_variables++;
	env = calloc(n + n_variables + 1, sizeof(*env));
	if (!env)
		return NULL;
	n = 0;
	for (char **one = environ; *one; one++) {
		if ((!options->clear_env || text_starts_with(*one, "PATH=")) &&
			!options_has_variable(variables, *one))
			env[n++] = *one;
	}
	for (size_t i = 0; i < n_variables; i++)
		env[n++] = (char *)variables[i];
	return env;
}

int launchplan_write(int fd, const struct launch_inputs *in, const struct command *command,
	const struct launch_ends *ends, const struct quota *quota)
{
	const struct options *options = in->options;
	const struct counting *counting = in->counting;
	const struct user *user = options->user;
	_cleanup_free_ char **env = launchplan_make_environment(options, command->variables);
	_cleanup_text_ struct text t = { 0 };
	const struct evidence_file *files = NULL;
	size_t n_files = 0;
	struct launch_plan p = {
		.magic = LAUNCH_MAGIC,
		.flags = find_flags(options),
		.nice = options->nice,
		.fifo_priority = options->fifo_priority,
		.clockid = CLOCK_MONOTONIC_RAW,
		.timeout_ns = options->timeout_ns,
		.core_ns = options->core_ns,
		.n_counters = (uint32_t)counting->n,
		.n_evidence_counters = (uint32_t)counting->first_event,
		.n_cpu_counters = (uint32_t)counting->n_cpu_counters,
		.stamps_fd = -1,
		.values_fd = ends->values_fd,
		.kept_fd = ends->kept_fd,
	};

	if (!env)
		return -ENOMEM;
	if (counting->n > LAUNCH_MAX_COUNTERS)
		return -E2BIG;
	if (command->streams.input > 0)
		p.flags |= LAUNCH_INPUT;
	if (command->streams.output > 0)
		p.flags |= LAUNCH_OUTPUT;
	if (in->tracepoints)
		p.stamps_fd = tracepoints_get_fd(in->tracepoints);
	else if (!options->stamper_given || options->stamper == STAMPER_CPU_EVENTS)
		p.flags |= LAUNCH_CPU_EVENTS;
	cpumask_export(in->place->cpus, p.cpus, sizeof(p.cpus));
	memcpy(p.counters, counting->attrs, counting->n * sizeof(p.counters[0]));
	/* The kernel's signal set consists of 64 signals, and glibc's begins with these. */
	memcpy(&p.caller_signals, ends->caller_signals, sizeof(p.caller_signals));

	text_append_n(&t, (const char *)&p, sizeof(p));
	p.program = append_string(&t, command->program);
	p.floor_program = append_string(&t, ends->floor);
	p.argv = append_vector(&t, command->argv, &p.n_argv);
	p.env = append_environment(&t, env, p.values_fd, in, &p.n_env);
	if (in->vary) {
		p.flags |= LAUNCH_ENV_PAD;
		p.n_factors = (uint32_t)vary_count(in->vary);
		vary_append(in->vary, &t, p.factors);
	}
	if (in->figurepad)
		p.figures = append_string(&t, figurepad_get_path(in->figurepad));
	if (in->evidence)
		files = evidence_files(in->evidence, &n_files);
	p.n_files = (uint32_t)n_files;
	p.files = append_files(&t, files, n_files, quota);
	if (user) {
		p.flags |= LAUNCH_SET_USER;
		p.uid = user->uid;
		p.gid = user->gid;
		p.n_groups = (uint32_t)user->n_groups;
		p.groups = append_array(&t, user->groups, p.n_groups * sizeof(user->groups[0]));
	}
	if (t.failed)
		return -ENOMEM;
	if (t.length > UINT32_MAX)
		return -E2BIG;
	p.size = (uint32_t)t.length;
	memcpy(t.data, &p, sizeof(p));
	return file_write_all(fd, t.data, t.length);
}
