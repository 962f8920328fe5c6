// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/extract.h"
#include "judge/result/metric.h"
#include "judge/stats/steady.h"
#include "measure/figures.h"
#include "measure/host.h"
#include "measure/session.h"
#include "measure/user.h"

#define refuse(ret_why, ...) xcheck(text_refuse(ret_why, -EBADMSG, __VA_ARGS__))

enum {
	OUTPUT_MAX = 16 * 1024 * 1024, /* more is no output of a harness */
	TICKS_NS = 20 * 1000 * 1000,
	FIGURES_MAX = 48, /* of a program; a reader has room for 64 events */
};

/* A file of the program's, and what is known of it before a run. */
struct figure_file {
	const char *path; /* borrowed from its rule */
	bool is_there;
	struct stat before;
	struct file_buffer text;
};

struct figure_files {
	const struct options *options;
	const struct figurepad *pad;
	struct file_buffer streams[2]; /* standard output, standard error */
	bool is_read[2];	       /* since the run has ended */
	struct figure_file *items;
	size_t n;
	/* Of the run that was taken last (figures_get_values()). */
	double *values;
	size_t n_values;
	int32_t before_level;
	size_t n_before; /* of so many values */
};

struct figure_files *figure_files_new(const struct options *options, const struct figurepad *pad)
{
	const struct figure_rules *rules = &options->figures;
	struct figure_files *files = xptr(calloc(1, sizeof(*files)));

	files->options = options;
	files->pad = pad;
	files->items = xptr(calloc(figure_rules_count(rules) + 1, sizeof(*files->items)));
	for (size_t i = 0; i < figure_rules_count(rules); i++) {
		const char *path = figure_rules_get(rules, i)->file;
		size_t k = 0;

		while (path && k < files->n && strcmp(files->items[k].path, path) != 0)
			k++;
		if (path && k == files->n)
			files->items[files->n++].path = path;
	}
	return files;
}

void figure_files_free(struct figure_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++)
		file_buffer_clear(&files->items[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(files->streams); i++)
		file_buffer_clear(&files->streams[i]);
	free(files->items);
	free(files->values);
	free(files);
}

/* Kernels before 6.13 stamp a file by the tick (up to 10 ms): what is written again within the
 * tick, with as many bytes, looks like what was there. */
static void let_tick_pass(const struct timespec *written)
{
	struct timespec now;
	int64_t age_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	age_ns = (now.tv_sec - written->tv_sec) * NSEC_PER_SEC + now.tv_nsec - written->tv_nsec;
	if (age_ns >= 0 && age_ns < TICKS_NS)
		nanosleep(&(struct timespec){ .tv_nsec = TICKS_NS - age_ns }, NULL);
}

int figure_files_look(struct figure_files *files)
{
	int r = files->options->host ? host_empty_folder(files->options->host) : 0;

	if (r < 0 || files->n == 0)
		return r;
	user_enter(files->options->user);
	for (size_t i = 0; i < files->n; i++) {
		struct figure_file *file = &files->items[i];

		file->is_there = stat(file->path, &file->before) == 0;
		if (file->is_there)
			let_tick_pass(&file->before.st_mtim);
	}
	user_leave(files->options->user);
	return 0;
}

static bool is_same_state(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
		a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
		a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads all of a regular file; *ret is valid until its buffer is read into again. */
static int read_all(
	int fd, struct file_buffer *buffer, const char *name, struct output *ret, char **ret_why)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return refuse(ret_why, "%s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(ret_why, "%s is not a file", name);
	if (st.st_size > OUTPUT_MAX)
		return refuse(ret_why, "%s has more than %d MiB", name, OUTPUT_MAX / 1024 / 1024);
	r = xcheck(file_reread(fd, buffer));
	if (r < 0)
		return refuse(ret_why, "%s: %s", name, strerror(-r));
	*ret = (struct output){ buffer->data, buffer->length };
	return 0;
}

static int read_stream(const struct command *command, enum figure_source source,
	struct figure_files *files, struct output *ret, char **ret_why)
{
	struct file_buffer *buffer = &files->streams[source];
	int r;

	if (files->is_read[source]) {
		*ret = (struct output){ buffer->data, buffer->length };
		return 0;
	}
	if (source == FIGURE_STDOUT)
		r = read_all(command->streams.output, buffer, "standard output", ret, ret_why);
	else
		r = read_all(session_get_stderr(command->session), buffer, "standard error", ret,
			ret_why);
	files->is_read[source] = r == 0;
	return r;
}

static int read_file(
	struct figure_files *files, const char *path, struct output *ret, char **ret_why)
{
	struct figure_file *file = files->items;
	_cleanup_close_ int fd = -EBADF;
	struct stat now;

	while (strcmp(file->path, path) != 0)
		file++;
	user_enter(files->options->user);
	fd = file_open_at_once(path, O_RDONLY);
	user_leave(files->options->user);
	if (fd < 0)
		return refuse(ret_why, "%s: %s", path, strerror(-fd));
	if (fstat(fd, &now) < 0)
		return refuse(ret_why, "%s: %s", path, strerror(errno));
	if (file->is_there && is_same_state(&file->before, &now))
		return refuse(ret_why, "%s was not written", path);
	return read_all(fd, &file->text, path, ret, ret_why);
}

static int read_source(const struct command *command, const struct rule *rule,
	struct figure_files *files, struct output *ret, char **ret_why)
{
	return rule->source == FIGURE_FILE
		? read_file(files, rule->file, ret, ret_why)
		: read_stream(command, rule->source, files, ret, ret_why);
}

/* Whether a line says that the run has failed. */
static int find_failure(const struct harness *harness, const struct command *command,
	struct figure_files *files, char **ret_why)
{
	int r = 0;

	if (harness->n_fails == 0)
		return 0;
	for (enum figure_source source = FIGURE_STDOUT; r >= 0 && source <= FIGURE_STDERR;
		source++) {
		struct output output;

		r = read_stream(command, source, files, &output, ret_why);
		if (r >= 0)
			r = extract_check(harness, &output, ret_why);
	}
	return r;
}

/* Finds the event of a figure, or adds it, where no run before had others, or none. */
static int find_event(struct series *series, const struct figure *figure, bool had_others,
	size_t *ret, char **ret_why)
{
	size_t event = series_find_event(series, figure->name);
	int r;

	if (event == series->n_events) {
		if (figure_name_is_taken(figure->name))
			return refuse(ret_why, "a figure cannot be called %s", figure->name);
		if (event == FIGURES_MAX)
			return refuse(ret_why, "more than %d figures and events", FIGURES_MAX);
		if (had_others)
			return refuse(ret_why, "a value of %s, which the runs before had not",
				figure->name);
		series_add_event(series, figure->name);
	} else if (!series->event_kinds[event].own) {
		return refuse(ret_why, "an event is called %s as well", figure->name);
	}
	r = xcheck(
		series_declare_figure(series, event, figure->unit, figure->better, figure->step));
	if (r < 0)
		return refuse(ret_why, "%s is in %s, and was in another unit before", figure->name,
			*figure->unit ? figure->unit : "no unit");
	series->event_kinds[event].is_exact = figure->is_exact;
	*ret = event;
	return 0;
}

/* What is exact is as it was in the run before. */
static int check_exact(
	const struct series *series, const struct figure *figure, size_t event, char **ret_why)
{
	double before;

	for (size_t i = series->n_samples; figure->is_exact && i > 0; i--) {
		before = series->counters[(i - 1) * series->n_events + event];
		if (isnan(before))
			continue;
		return before == figure->value ? 0
					       : refuse(ret_why,
							 "%s is to be exact, and is %.15g after "
							 "%.15g in the run before",
							 figure->name, figure->value, before);
	}
	return 0;
}

/* The counted events, in an array for all events, with NAN for figures. */
static double *copy_events(const struct series *series, const double *events, size_t n_more)
{
	double *values = xptr(calloc(series->n_events + n_more + 1, sizeof(*values)));

	for (size_t i = 0; i < series->n_events; i++)
		values[i] = series->event_kinds[i].own ? NAN : events[i];
	return values;
}

void figures_leave_out(const struct series *series, double **events)
{
	double *values = copy_events(series, *events, 0);

	free(*events);
	*events = values;
}

/* Whether there was a run before that had, or could have had, figures. */
static bool had_runs(const struct series *series)
{
	for (size_t i = 0; i < series->n_samples; i++)
		if (!(series->samples[i].flags & SAMPLE_FAILED))
			return true;
	return false;
}

/* Each run has the figures that the runs before had. */
static int keep(
	struct series *series, const struct figures *figures, double **events, char **ret_why)
{
	_cleanup_free_ double *values = copy_events(series, *events, figures->n);
	bool had_others = series_first_figure(series) ? series->n_samples > 0 : had_runs(series);

	for (size_t i = 0; i < figures->n; i++) {
		size_t event = 0;
		int r = find_event(series, &figures->items[i], had_others, &event, ret_why);

		if (r >= 0)
			r = check_exact(series, &figures->items[i], event, ret_why);
		if (r < 0)
			return r;
		values[event] = figures->items[i].value;
	}
	for (size_t i = 0; i < series->n_events; i++)
		if (series->event_kinds[i].own && isnan(values[i]))
			return refuse(ret_why, "no value of %s, which the runs before had",
				series->event_names[i]);
	for (size_t i = 0; i < figures->n; i++)
		series_add_within(series, series_find_event(series, figures->items[i].name),
			figures->items[i].value, figures->items[i].n, figures->items[i].squares);
	free(*events);
	*events = TAKE_PTR(values);
	return 0;
}

/* The values of the first figure that is a time, all of which a time can be. */
static int keep_values(struct figure_files *files, struct figures *figures, char **ret_why)
{
	for (size_t i = 0; i < figures->n; i++) {
		struct figure *figure = &figures->items[i];

		if (!quantity_is_time(figure->unit))
			continue;
		if (figure->n_values == 0) {
			figure->values = xptr((double *)malloc(sizeof(*figure->values)));
			figure->values[figure->n_values++] = figure->value;
		}
		for (size_t k = 0; k < figure->n_values; k++)
			if (!(figure->values[k] > 0))
				return refuse(
					ret_why, "%s is %.15g", figure->name, figure->values[k]);
		files->values = TAKE_PTR(figure->values);
		files->n_values = figure->n_values;
		return 0;
	}
	return 0;
}

/* Makes the figure the mean of its values from `first` on. */
static void leave_out(struct figure *figure, size_t first)
{
	double mean = 0, squares = 0;
	size_t n = figure->n_values - first;

	for (size_t i = first; i < figure->n_values; i++)
		mean += figure->values[i] / (double)n;
	for (size_t i = first; i < figure->n_values; i++)
		squares += (figure->values[i] - mean) * (figure->values[i] - mean);
	figure->value = mean;
	figure->n = n;
	figure->squares = squares;
}

/* Finds where the values of the first figure that has enough settle; with --warmup auto those of
 * all figures, and leaves out what comes before. */
static void settle(struct figure_files *files, struct figures *figures)
{
	bool leaves_out = files->options->warmup_auto;

	for (size_t i = 0; i < figures->n && (leaves_out || files->before_level < 0); i++) {
		struct figure *figure = &figures->items[i];
		struct steady steady;

		if (steady_find(figure->values, figure->n_values, &steady) < 0)
			continue;
		if (files->before_level < 0) {
			files->before_level = (int32_t)steady.first;
			files->n_before = figure->n_values;
		}
		if (leaves_out && steady.first > 0 && steady.first < figure->n_values)
			leave_out(figure, steady.first);
	}
}

int32_t figures_get_before_level(const struct figure_files *files, size_t *ret_n)
{
	if (files->before_level >= 0)
		*ret_n = files->n_before;
	return files->before_level;
}

size_t figures_get_values(const struct figure_files *files, const double **ret)
{
	*ret = files->values;
	return files->n_values;
}

/* All but what is kept of them. */
static int read_all_figures(const struct command *command, struct figure_files *files,
	bool has_said, struct figures *ret, char **ret_why)
{
	const struct figure_rules *rules = &files->options->figures;
	int r = 0;

	files->is_read[FIGURE_STDOUT] = files->is_read[FIGURE_STDERR] = false;
	free(TAKE_PTR(files->values));
	files->n_values = 0;
	if (rules->harness)
		r = find_failure(rules->harness, command, files, ret_why);
	for (size_t i = 0; r >= 0 && i < figure_rules_count(rules); i++) {
		const struct rule *rule = figure_rules_get(rules, i);
		struct output output;

		r = read_source(command, rule, files, &output, ret_why);
		if (r >= 0)
			r = extract_figures(rule, &output, ret, ret_why);
	}
	if (r >= 0 && rules->harness && ret->n == 0)
		r = refuse(
			ret_why, "its output has none of the figures of %s", rules->harness->name);
	if (r >= 0 && has_said)
		r = figurepad_read(files->pad, ret, ret_why);
	return r;
}

int figures_read(const struct command *command, struct figure_files *files, struct figures *ret,
	char **ret_why)
{
	return read_all_figures(command, files, false, ret, ret_why);
}

int figures_take(const struct command *command, struct figure_files *files, bool has_said,
	struct series *series, double **events, char **ret_why)
{
	struct figures figures = { 0 };
	int r;

	files->before_level = -1;
	if (!figure_rules_are_there(&files->options->figures) && !has_said &&
		!series_first_figure(series))
		return 0;
	r = read_all_figures(command, files, has_said, &figures, ret_why);
	if (r >= 0)
		settle(files, &figures);
	if (r >= 0 && files->options->host)
		r = keep_values(files, &figures, ret_why);
	if (r >= 0)
		r = keep(series, &figures, events, ret_why);
	figures_clear(&figures);
	return r;
}
