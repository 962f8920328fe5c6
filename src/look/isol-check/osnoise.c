// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "look/isol-check/osnoise.h"

enum {
	TRACE_MAX = 256 * 1024 * 1024,
	PATH_SIZE = 256,
	COMM_SIZE = 16, /* TASK_COMM_LEN */
	/* The size of the ring buffer of each CPU; an event takes some 50 bytes. When it is full,
	 * on a busy CPU after some minutes, the oldest events are overwritten. */
	BUFFER_KIB = 4096,
};

/* --- Parsing the trace. --- */

void osnoise_clear(struct osnoise *osnoise)
{
	for (size_t i = 0; i < osnoise->n; i++)
		free(osnoise->items[i].name);
	free(osnoise->items);
	*osnoise = (struct osnoise){ 0 };
}

static struct osnoise_source *find_source(struct osnoise *osnoise, int cpu, const char *name)
{
	for (size_t i = 0; i < osnoise->n; i++)
		if (osnoise->items[i].cpu == cpu && strcmp(osnoise->items[i].name, name) == 0)
			return &osnoise->items[i];
	return NULL;
}

static void add(struct osnoise *osnoise, int cpu, const char *name, uint64_t ns)
{
	struct osnoise_source *source = find_source(osnoise, cpu, name);

	if (!source) {
		xcheck(array_grow(
			&osnoise->items, sizeof(*source), osnoise->n, &osnoise->capacity));
		source = &osnoise->items[osnoise->n++];
		*source = (struct osnoise_source){ .cpu = cpu, .name = xptr(strdup(name)) };
	}
	source->count++;
	source->total_ns += ns;
	source->longest_ns = MAX(source->longest_ns, ns);
}

/* Finds "[008]" in "[008] d.h.  5789.857532" before the event at `end`: the last match, because the
 * name of a task, which comes before it, may contain anything. */
static int parse_cpu(const char *line, const char *end, int *ret)
{
	for (const char *at = end; at > line; at--) {
		const char *cursor = at + 1;
		uint64_t cpu;

		if (at[0] == '[' && parse_next_u64(&cursor, &cpu) == 0 && *cursor == ']' &&
			cpu < CPUMASK_CAPACITY) {
			*ret = (int)cpu;
			return 0;
		}
	}
	return -EBADMSG;
}

/* A thread as "comm:pid". */
static bool is_ours_or_idle(const char *thread, const char *own)
{
	const char *colon = strrchr(thread, ':');

	if (!colon || strcmp(colon, ":0") == 0)
		return true;
	return strlen(own) == (size_t)(colon - thread) &&
		strncmp(thread, own, (size_t)(colon - thread)) == 0;
}

static void parse_line(char *line, const char *own, uint64_t limit_ns, struct osnoise *osnoise)
{
	static const struct {
		const char *event;
		const char *kind;
	} events[] = {
		{ ": irq_noise: ", "irq" },
		{ ": softirq_noise: ", "softirq" },
		{ ": thread_noise: ", "thread" },
		{ ": nmi_noise: ", "nmi" },
	};
	static const char start[] = "start ", duration[] = " duration ";

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		_cleanup_free_ char *safe = NULL, *name = NULL;
		char *at = strstr(line, events[i].event), *source, *match, *last = NULL;
		const char *cursor;
		uint64_t ns;
		int cpu;

		if (!at || parse_cpu(line, at, &cpu) < 0)
			continue;
		source = at + strlen(events[i].event);
		source += strspn(source, " "); /* printed as "%8s:%d" */
		/* The last match, because a thread may be named " start ". */
		for (match = source; (match = strstr(match, start)); match++)
			last = match;
		match = last ? strstr(last, duration) : NULL;
		if (!match)
			continue;
		cursor = match + strlen(duration);
		if (parse_next_u64(&cursor, &ns) < 0 || strcmp(cursor, " ns") != 0)
			continue;
		/* The tracer has a wrong beginning for an event that began before tracing. */
		if (ns > limit_ns)
			return;
		while (last > source && last[-1] == ' ')
			last--;
		*last = '\0';
		if (strcmp(events[i].kind, "thread") == 0 && is_ours_or_idle(source, own))
			return;
		safe = xptr(text_escape_control(source));
		xcheck(text_format(&name, "%s%s%s", events[i].kind, *safe ? " " : "", safe));
		add(osnoise, cpu, name, ns);
		return;
	}
}

static int compare_sources(const void *a, const void *b)
{
	const struct osnoise_source *x = a, *y = b;

	if (x->cpu != y->cpu)
		return (x->cpu > y->cpu) - (x->cpu < y->cpu);
	if (x->total_ns != y->total_ns)
		return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
	return strcmp(x->name, y->name);
}

void osnoise_parse(const char *text, const char *own, uint64_t limit_ns, struct osnoise *osnoise)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		_cleanup_free_ char *line = xptr(strndup(text, length));

		parse_line(line, own, limit_ns, osnoise);
		text += length + (text[length] == '\n');
	}
	if (osnoise->n > 0)
		qsort(osnoise->items, osnoise->n, sizeof(*osnoise->items), compare_sources);
}

int osnoise_parse_overrun(const char *text, uint64_t *ret)
{
	static const char key[] = "overrun: ";

	/* Another line ends in these words: "commit overrun: 0". */
	while (!text_starts_with(text, key)) {
		text = strchr(text, '\n');
		if (!text)
			return -EBADMSG;
		text++;
	}
	text += strlen(key);
	return parse_next_u64(&text, ret) < 0 ? -EBADMSG : 0;
}

/* --- The tracer. --- */

struct osnoise_tracer {
	const char *tracefs;
	char instance[PATH_SIZE]; /* the directory of our instance; "" when it is removed */
	int64_t began_ns;
	bool workload; /* OSNOISE_WORKLOAD was set, and has to be put back */
};

static const char *find_tracefs(void)
{
	static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[PATH_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(path, sizeof(path), "%s/available_tracers", mounts[i]);
		if (access(path, R_OK) == 0)
			return mounts[i];
	}
	return NULL;
}

static int read_word(const char *directory, const char *name, char text[FILE_ATTR_SIZE])
{
	char path[PATH_SIZE];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return file_read_attr(AT_FDCWD, path, text, FILE_ATTR_SIZE);
}

static int write_word(const char *directory, const char *name, const char *text)
{
	char path[PATH_SIZE];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return file_write_attr(path, text);
}

static bool traces_noise(const char *directory)
{
	char text[FILE_ATTR_SIZE];

	return read_word(directory, "current_tracer", text) > 0 &&
		(strcmp(text, "osnoise") == 0 || strcmp(text, "timerlat") == 0);
}

/* Whether the tracer is used in any instance: its options are common to all instances. */
static bool is_in_use(const char *tracefs)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	char path[PATH_SIZE];

	if (traces_noise(tracefs))
		return true;
	snprintf(path, sizeof(path), "%s/instances", tracefs);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
			(size_t)snprintf(path, sizeof(path), "%s/instances/%s", tracefs,
				entry->d_name) >= sizeof(path))
			continue;
		if (traces_noise(path))
			return true;
	}
	return false;
}

/* Why the tracer cannot be used; NULL when it can. */
static const char *find_obstacle(const char *tracefs, bool *ret_workload)
{
	char text[FILE_ATTR_SIZE];

	if (!tracefs)
		return geteuid() == 0 ? "tracefs is not mounted" : "only root may use it";
	if (read_word(tracefs, "available_tracers", text) < 0)
		return "tracefs cannot be read";
	if (!text_has_word(text, "osnoise", " \n"))
		return "the kernel was built without it";
	if (read_word(tracefs, "osnoise/options", text) < 0)
		return "before 6.1 it starts spinning threads of its own";
	*ret_workload = text_has_word(text, "OSNOISE_WORKLOAD", " \n");
	return is_in_use(tracefs) ? "somebody else uses it" : NULL;
}

static int set_up(struct osnoise_tracer *tracer, const struct cpumask *cpus)
{
	static const char *const events[] = { "irq_noise", "softirq_noise", "thread_noise",
		"nmi_noise" };
	_cleanup_free_ char *mask = xptr(cpumask_format_hex(cpus, 1));
	char text[32];
	int r;

	snprintf(tracer->instance, sizeof(tracer->instance), "%s/instances/isol-check-%d",
		tracer->tracefs, getpid());
	if (mkdir(tracer->instance, 0700) < 0) {
		tracer->instance[0] = '\0';
		return -errno;
	}
	snprintf(text, sizeof(text), "%d", BUFFER_KIB);
	r = write_word(tracer->instance, "tracing_cpumask", mask);
	if (r == 0)
		r = write_word(tracer->instance, "buffer_size_kb", text);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(events); i++) {
		char name[64];

		snprintf(name, sizeof(name), "events/osnoise/%s/enable", events[i]);
		r = write_word(tracer->instance, name, "1");
	}
	if (r == 0 && tracer->workload)
		r = write_word(tracer->tracefs, "osnoise/options", "NO_OSNOISE_WORKLOAD");
	tracer->began_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (r == 0)
		r = write_word(tracer->instance, "current_tracer", "osnoise");
	return r;
}

/* Puts everything back, continuing after a failure. Returns the first error. A second call does
 * nothing. */
static int put_back(struct osnoise_tracer *tracer)
{
	int r, first;

	if (!tracer->instance[0])
		return 0;
	first = write_word(tracer->instance, "current_tracer", "nop");
	/* The option can only be set while no instance uses the tracer. */
	if (tracer->workload) {
		r = write_word(tracer->tracefs, "osnoise/options", "OSNOISE_WORKLOAD");
		first = first < 0 ? first : r;
	}
	r = rmdir(tracer->instance) < 0 ? -errno : 0;
	tracer->instance[0] = '\0';
	return first < 0 ? first : r;
}

int osnoise_start(const struct cpumask *cpus, struct osnoise_tracer **ret, char **ret_why)
{
	_cleanup_(osnoise_tracer) struct osnoise_tracer *tracer = xptr(calloc(1, sizeof(*tracer)));
	const char *obstacle;
	int r;

	tracer->tracefs = find_tracefs();
	obstacle = find_obstacle(tracer->tracefs, &tracer->workload);
	if (obstacle) {
		*ret_why = xptr(strdup(obstacle));
		return -EOPNOTSUPP;
	}
	r = set_up(tracer, cpus);
	if (r < 0) {
		(void)put_back(tracer);
		xcheck(text_format(ret_why, "it cannot be set up: %s", strerror(-r)));
		return -EOPNOTSUPP;
	}
	*ret = TAKE_PTR(tracer);
	return 0;
}

/* The events that were overwritten because a buffer was full. */
static int read_lost(const struct osnoise_tracer *tracer, const struct cpumask *cpus, uint64_t *ret)
{
	uint64_t lost = 0, one;

	cpumask_for_each (cpu, cpus) {
		char name[64], text[FILE_ATTR_SIZE];
		int r;

		snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
		r = read_word(tracer->instance, name, text);
		if (r >= 0)
			r = osnoise_parse_overrun(text, &one);
		if (r < 0)
			return r;
		lost += one;
	}
	*ret = lost;
	return 0;
}

int osnoise_stop(struct osnoise_tracer *tracer, const struct cpumask *cpus, struct osnoise *osnoise,
	uint64_t *ret_lost)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_SIZE + 16], own[COMM_SIZE] = "";
	uint64_t lost = 0;
	int64_t ended_ns;
	int r, back;

	r = write_word(tracer->instance, "tracing_on", "0");
	ended_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (r == 0) {
		snprintf(path, sizeof(path), "%s/trace", tracer->instance);
		r = file_read_all(path, TRACE_MAX, &text, NULL);
	}
	if (r == 0)
		r = read_lost(tracer, cpus, &lost);
	back = put_back(tracer);
	if (r == 0 && prctl(PR_GET_NAME, own) < 0)
		r = -errno;
	if (r == 0)
		osnoise_parse(text, own, (uint64_t)(ended_ns - tracer->began_ns), osnoise);
	if (r == 0)
		*ret_lost = lost;
	return xcheck(r < 0 ? r : back);
}

void osnoise_tracer_free(struct osnoise_tracer *tracer)
{
	if (!tracer)
		return;
	(void)put_back(tracer);
	free(tracer);
}
