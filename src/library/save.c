// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes the JSON of outcome_save(). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "library/outcome.h"
#include "library/values.h"

enum {
	LINKS_MAX = 40, /* as many as the kernel follows (path_resolution(7)) */
};

struct writer {
	FILE *stream;
	int first;	   /* the next item is the first of its object or array: no comma */
	double whole_core; /* as find_whole_core() */
};

static void put_string(struct writer *writer, const char *text)
{
	fputc('"', writer->stream);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			fprintf(writer->stream, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			fprintf(writer->stream, "\\u%04x", *p);
		else
			fputc(*p, writer->stream);
	}
	fputc('"', writer->stream);
}

/* The shortest text that is parsed as the same number. */
static void put_number(struct writer *writer, double number)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	fputs(text, writer->stream);
}

static void put_comma(struct writer *writer)
{
	if (!writer->first)
		fputs(", ", writer->stream);
	writer->first = 0;
}

static void put_key(struct writer *writer, const char *key)
{
	put_comma(writer);
	put_string(writer, key);
	fputs(": ", writer->stream);
}

static void put_text_fact(struct writer *writer, const char *key, const char *text)
{
	put_key(writer, key);
	put_string(writer, text);
}

static void put_number_fact(struct writer *writer, const char *key, double number)
{
	put_key(writer, key);
	put_number(writer, number);
}

static void put_integer_fact(struct writer *writer, const char *key, int64_t number)
{
	put_key(writer, key);
	fprintf(writer->stream, "%" PRId64, number);
}

static void put_common_facts(struct writer *writer)
{
	struct utsname name;
	char platform[3 * sizeof(name.sysname)];
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (uname(&name) == 0) {
		snprintf(platform, sizeof(platform), "%s-%s-%s", name.sysname, name.release,
			name.machine);
		put_text_fact(writer, "hostname", name.nodename);
		put_text_fact(writer, "platform", platform);
	}
	if (cpus > 0)
		put_integer_fact(writer, "cpu_count", cpus);
	put_text_fact(writer, "unit", "second");
}

/* The counts of all counted values of a process, per unit of work. */
static void put_counters(struct writer *writer, const struct qs_values *values)
{
	for (size_t c = 0; c < values->facts.n_counters; c++) {
		double count = 0, work = 0;
		char key[80];

		values_add_counts(values, c, &count, &work);
		if (values->facts.counters[c].error || work <= 0)
			continue;
		snprintf(key, sizeof(key), "quiesce_event_%s", values->facts.counters[c].name);
		put_number_fact(writer, key, count / work);
	}
}

/* Facts that make the values or the counts of a process doubtful. */
static void put_flaws(struct writer *writer, const struct qs_facts *facts)
{
	const char *between = "";
	int shared = 0;

	if (facts->clock_changed)
		put_integer_fact(writer, "quiesce_clock_changed", 1);
	for (size_t c = 0; c < facts->n_counters; c++)
		shared |= facts->counters[c].shared;
	if (!shared)
		return;
	put_key(writer, "quiesce_shared_counters");
	fputc('"', writer->stream);
	for (size_t c = 0; c < facts->n_counters; c++) {
		if (!facts->counters[c].shared)
			continue;
		fprintf(writer->stream, "%s%s", between, facts->counters[c].name);
		between = " ";
	}
	fputc('"', writer->stream);
}

/* The most additions per cycle that the core did around a value; 0 where nothing is known. */
static double find_whole_core(const struct outcome *outcomes, size_t n)
{
	double best = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < outcomes[i].n_runs; j++) {
			const struct qs_values *values = outcomes[i].runs[j].values;

			for (size_t k = 0; k < values->n_values; k++)
				if (values->values[k].core_adds > best)
					best = values->values[k].core_adds;
		}
	return best;
}

/* Four digits behind the point. */
static double round_share(double share)
{
	return (double)(int)(share * 1e4 + 0.5) / 1e4;
}

/* What the core was like around the counted values of a process, in the mean. */
static void put_core(struct writer *writer, const struct qs_values *values)
{
	double adds = 0, hertz = 0;
	size_t n = 0;

	for (size_t i = 0; i < values->n_values; i++) {
		if (values->values[i].core_adds <= 0)
			continue;
		adds += values->values[i].core_adds;
		hertz += values->values[i].core_hertz;
		n++;
	}
	if (n == 0)
		return;
	put_integer_fact(writer, "quiesce_core_khz", (int64_t)(hertz / (double)n / 1000 + 0.5));
	put_number_fact(writer, "quiesce_core_share_during",
		round_share(adds / (double)n / writer->whole_core));
}

/* The collector's readings over all counted values of a process. */
static void put_readings(struct writer *writer, const struct qs_values *values)
{
	int64_t interrupts = -1, frequency = -1, temperature = -1;

	for (size_t i = 0; i < values->n_values; i++) {
		const struct qs_value *value = &values->values[i];

		if (value->kind != QS_VALUE_COUNTED)
			continue;
		if (value->interrupts >= 0)
			interrupts = (interrupts < 0 ? 0 : interrupts) + value->interrupts;
		if (value->frequency_khz >= 0)
			frequency = value->frequency_khz;
		if (value->temperature_mc >= 0)
			temperature = value->temperature_mc;
	}
	if (interrupts >= 0)
		put_integer_fact(writer, "quiesce_interrupts", interrupts);
	if (frequency >= 0)
		put_integer_fact(writer, "quiesce_frequency_khz", frequency);
	if (temperature >= 0)
		put_number_fact(writer, "quiesce_temperature_after", (double)temperature / 1000);
}

/* The share of waiting in each counted value of a process, in their order, and in all of them. */
static void put_waiting(struct writer *writer, const struct qs_values *values)
{
	double waiting = 0, seconds = 0;
	const char *between = "";

	for (size_t i = 0; i < values->n_values; i++) {
		const struct qs_value *value = &values->values[i];

		if (value->kind != QS_VALUE_COUNTED)
			continue;
		if (value->waiting < 0)
			return;
		waiting += value->waiting * (double)value->picoseconds;
		seconds += (double)value->picoseconds;
	}
	if (seconds <= 0)
		return;
	put_number_fact(writer, "quiesce_waiting", round_share(waiting / seconds));
	put_key(writer, "quiesce_waiting_values");
	fputc('"', writer->stream);
	for (size_t i = 0; i < values->n_values; i++) {
		if (values->values[i].kind != QS_VALUE_COUNTED)
			continue;
		fputs(between, writer->stream);
		put_number(writer, round_share(values->values[i].waiting));
		between = " ";
	}
	fputc('"', writer->stream);
}

static void put_run_facts(struct writer *writer, const struct outcome_run *run)
{
	const struct qs_values *values = run->values;
	const struct qs_value *last = &values->values[values->n_values - 1];
	int64_t n_known = 0, migrated = 0;
	char date[64];
	struct tm tm;

	put_key(writer, "metadata");
	fputc('{', writer->stream);
	writer->first = 1;
	if (localtime_r(&run->began, &tm) &&
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm) > 0)
		put_text_fact(writer, "date", date);
	put_number_fact(writer, "duration", run->seconds);
	put_integer_fact(writer, "loops", (int64_t)values->loops);
	put_flaws(writer, &values->facts);
	if (last->kind == QS_VALUE_CALIBRATION) {
		put_integer_fact(writer, "calibrate_loops", (int64_t)values->loops);
	} else {
		for (size_t i = 0; i < values->n_values; i++) {
			const struct qs_value *value = &values->values[i];
			int known = value->kind == QS_VALUE_COUNTED &&
				value->cpu_begin != QS_CPU_UNKNOWN &&
				value->cpu_end != QS_CPU_UNKNOWN;

			n_known += known;
			migrated += known && value->cpu_begin != value->cpu_end;
		}
		if (n_known > 0)
			put_integer_fact(writer, "quiesce_migrated_values", migrated);
		if (last->cpu_end != QS_CPU_UNKNOWN)
			put_integer_fact(writer, "quiesce_cpu_last", last->cpu_end);
		put_counters(writer, values);
		put_readings(writer, values);
		put_core(writer, values);
		put_waiting(writer, values);
		put_number_fact(writer, "quiesce_stamps_empty_share",
			qs_value_empty_share(values, values->n_values - 1));
	}
	fputc('}', writer->stream);
	writer->first = 0;
}

static void put_run(struct writer *writer, const struct outcome_run *run)
{
	const struct qs_values *values = run->values;
	size_t n_warmups = 0;

	put_comma(writer);
	fputs("\n   {", writer->stream);
	writer->first = 1;
	put_run_facts(writer, run);
	for (size_t i = 0; i < values->n_values; i++)
		n_warmups += values->values[i].kind != QS_VALUE_COUNTED;
	if (n_warmups > 0) {
		put_key(writer, "warmups");
		fputc('[', writer->stream);
		writer->first = 1;
		for (size_t i = 0; i < values->n_values; i++) {
			if (values->values[i].kind == QS_VALUE_COUNTED)
				continue;
			put_comma(writer);
			fprintf(writer->stream, "[%" PRIu64 ", ", values->values[i].loops);
			put_number(writer, qs_value_seconds(values, i));
			fputc(']', writer->stream);
		}
		fputc(']', writer->stream);
	}
	if (n_warmups < values->n_values) {
		put_key(writer, "values");
		fputc('[', writer->stream);
		writer->first = 1;
		for (size_t i = 0; i < values->n_values; i++) {
			if (values->values[i].kind != QS_VALUE_COUNTED)
				continue;
			put_comma(writer);
			put_number(writer, qs_value_seconds(values, i));
		}
		fputc(']', writer->stream);
	}
	fputc('}', writer->stream);
	writer->first = 0;
}

/* What the benchmark says of itself. */
static void put_benchmark_facts(struct writer *writer, const struct outcome *outcome)
{
	const struct qs_benchmark *b = outcome->benchmark;
	struct qs_figure figures[QS_MAX_FIGURES];
	size_t n = outcome_figures(outcome, figures);

	if (b->threads > 1)
		put_integer_fact(writer, "quiesce_threads", b->threads);
	if (outcome->out_of_time)
		put_text_fact(writer, "quiesce_ended_by", "--max-time");
	if (b->family) {
		put_text_fact(writer, "quiesce_family", b->family);
		put_number_fact(writer, "quiesce_size", b->size);
	}
	for (size_t i = 0; i < n; i++) {
		char key[80];

		snprintf(key, sizeof(key), "quiesce_%s_%.39s",
			figures[i].kind == QS_FIGURE_AMOUNT ? "amount" : "figure", figures[i].name);
		put_number_fact(writer, key, figures[i].value);
	}
}

static void put_benchmark(struct writer *writer, const struct outcome *outcome)
{
	const struct qs_facts *facts = &outcome->runs[0].values->facts;

	put_comma(writer);
	fputs("\n  {\"metadata\": {", writer->stream);
	writer->first = 1;
	put_text_fact(writer, "name", outcome->benchmark->name);
	put_integer_fact(writer, "inner_loops", outcome->runs[0].values->inner_loops);
	put_text_fact(writer, "quiesce_stamps", facts->clock_name);
	put_number_fact(
		writer, "quiesce_stamps_empty", facts->empty_mean_ticks / facts->ticks_per_second);
	put_number_fact(writer, "quiesce_stamps_resolution",
		(double)facts->resolution_ticks / facts->ticks_per_second);
	put_benchmark_facts(writer, outcome);
	if (writer->whole_core > 0) {
		put_number_fact(writer, "quiesce_whole_core", writer->whole_core);
		put_text_fact(writer, "quiesce_whole_core_from", "this measurement");
	}
	fputs("},\n  \"runs\": [", writer->stream);
	writer->first = 1;
	for (size_t i = 0; i < outcome->n_runs; i++)
		put_run(writer, &outcome->runs[i]);
	fputs("]}", writer->stream);
	writer->first = 0;
}

static int put_file(FILE *stream, const struct outcome *outcomes, size_t n)
{
	struct writer writer = {
		.stream = stream,
		.first = 1,
		.whole_core = find_whole_core(outcomes, n),
	};
	/* JSON needs '.' as the decimal point, whatever the program's locale. */
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;

	if (!plain)
		return -ENOMEM;
	before = uselocale(plain);
	fputs("{\"version\": \"1.0\",\n \"metadata\": {", stream);
	put_common_facts(&writer);
	fputs("},\n \"benchmarks\": [", stream);
	writer.first = 1;
	for (size_t i = 0; i < n; i++)
		if (outcome_first_counted(&outcomes[i]))
			put_benchmark(&writer, &outcomes[i]);
	fputs("]}\n", stream);
	uselocale(before);
	freelocale(plain);
	if (fflush(stream) != 0)
		return -errno;
	return ferror(stream) ? -EIO : 0;
}

/* The mode of a new file, which mkstemp(3) does not use. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Where a path leads to at which no file is, malloc'd. */
static int follow_links(const char *path, char **ret)
{
	char *at = strdup(path);

	for (int i = 0; at && i < LINKS_MAX; i++) {
		char target[PATH_MAX], *next;
		const char *slash = strrchr(at, '/');
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		int folder;

		if (n < 0) {
			*ret = at;
			return 0;
		}
		target[n] = '\0';
		/* A relative target is seen from the folder of the link. */
		folder = target[0] == '/' || !slash ? 0 : (int)(slash + 1 - at);
		if (asprintf(&next, "%.*s%s", folder, at, target) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	if (!at)
		return -ENOMEM;
	free(at);
	return -ELOOP;
}

/* The path without symbolic links, malloc'd, of a file that can be replaced, or made. */
static int resolve(const char *path, char **ret)
{
	struct stat st;
	char *real;

	/* Devices and directories are not replaced. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
	real = realpath(path, NULL);
	if (!real && errno == ENOENT)
		return follow_links(path, ret);
	if (!real)
		return -errno;
	*ret = real;
	return 0;
}

static int write_and_rename(
	const char *path, char *temporary, const struct outcome *outcomes, size_t n)
{
	FILE *stream;
	struct stat st;
	int fd, r;

	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stream = fdopen(fd, "w");
	if (!stream) {
		r = -errno;
		close(fd);
		unlink(temporary);
		return r;
	}
	r = put_file(stream, outcomes, n);
	if (r == 0 && fchmod(fd, stat(path, &st) == 0 ? st.st_mode & 0777 : usual_mode()) < 0)
		r = -errno;
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (fclose(stream) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

int outcome_try_save(const char *path)
{
	char *real;
	int r;

	r = resolve(path, &real);
	if (r < 0)
		return r;
	r = faccessat(AT_FDCWD, dirname(real), W_OK, AT_EACCESS) < 0 ? -errno : 0;
	free(real);
	return r;
}

int outcome_save(const char *path, const struct outcome *outcomes, size_t n)
{
	size_t with_values = 0;
	char *real, *temporary;
	int r;

	for (size_t i = 0; i < n; i++)
		with_values += outcome_first_counted(&outcomes[i]) != NULL;
	if (with_values == 0)
		return -ENODATA;
	r = resolve(path, &real);
	if (r < 0)
		return r;
	if (asprintf(&temporary, "%s.XXXXXX", real) < 0) {
		free(real);
		return -ENOMEM;
	}
	r = write_and_rename(real, temporary, outcomes, n);
	free(temporary);
	free(real);
	return r;
}
