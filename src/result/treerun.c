// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/macro.h"
#include "result/tree.h"

/* Nanoseconds as a number of seconds. */
static json_t *make_seconds(int64_t ns)
{
	return json_real((double)ns / (double)NSEC_PER_SEC);
}

/* Local time, as pyperf has it: datetime.isoformat(' '). */
static int set_date(json_t *metadata, const struct series *series, const struct sample *sample)
{
	int64_t ns = series->start_realtime_ns + sample->start_ns;
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	struct tm tm;
	char date[64];
	size_t n;

	if (series->start_realtime_ns <= 0 || ns <= 0 || !localtime_r(&seconds, &tm))
		return 0;
	n = strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	if (n == 0)
		return 0;
	snprintf(date + n, sizeof(date) - n, ".%06lld", (long long)(ns % NSEC_PER_SEC / 1000));
	return tree_set_new(metadata, "date", json_string(date));
}

static int set_evidence(json_t *metadata, const struct series *series, size_t index)
{
	const struct evidence *evidence = &series->evidence[index];
	_cleanup_free_ char *lines = series_irq_text(series, index);
	_cleanup_free_ char *softirqs = series_softirq_text(series, index);
	const struct {
		const char *key;
		float celsius;
	} temperatures[] = {
		{ "quiesce_temperature_before", evidence->temperature_before },
		{ "quiesce_temperature_after", evidence->temperature_after },
	};
	char text[64];
	int r = 0;

	if (!lines || !softirqs)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < evidence_n_fields; i++) {
		const struct evidence_field *field = &evidence_fields[i];
		int64_t value;

		if (!evidence_get(evidence, field, &value))
			continue;
		snprintf(text, sizeof(text), "quiesce_%s", field->name);
		r = tree_set_new(
			metadata, text, field->seconds ? make_seconds(value) : json_integer(value));
	}
	if (r >= 0)
		r = tree_set_string(metadata, "quiesce_irq_lines", lines);
	if (r >= 0)
		r = tree_set_string(metadata, "quiesce_softirqs", softirqs);
	if (r >= 0 && evidence->runnable >= 0)
		r = tree_set_new(metadata, "runnable_threads", json_integer(evidence->runnable));
	/* A float has 7 digits: rounded to what the kernel shows, it stays what it was. */
	if (r >= 0 && isfinite(evidence->load1) && evidence->load1 >= 0)
		r = tree_set_new(metadata, "load_avg_1min",
			json_real(round((double)evidence->load1 * 100) / 100));
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(temperatures); i++) {
		if (!isfinite(temperatures[i].celsius))
			continue;
		r = tree_set_new(metadata, temperatures[i].key,
			json_real(round((double)temperatures[i].celsius * 100) / 100));
	}
	if (r >= 0 && isfinite(evidence->temperature_after)) {
		snprintf(text, sizeof(text), "package=%.0f C", (double)evidence->temperature_after);
		r = tree_set_new(metadata, "cpu_temp", json_string(text));
	}
	return r;
}

static int set_counters(json_t *metadata, const struct series *series, size_t index)
{
	for (size_t i = 0; i < series->n_events; i++) {
		double value = series->counters[index * series->n_events + i];
		_cleanup_free_ char *key = NULL;
		int r;

		/* Scaled counts are estimates: a fraction of an event says nothing. */
		if (!isfinite(value) || fabs(value) >= 9e18)
			continue;
		if (asprintf(&key, "quiesce_event_%s", series->event_names[i]) < 0) {
			key = NULL;
			return -ENOMEM;
		}
		r = tree_set_new(metadata, key, json_integer(llround(value)));
		if (r < 0)
			return r;
	}
	return 0;
}

static int set_run_metadata(json_t *metadata, const struct new_runs *runs, size_t index)
{
	const struct series *series = runs->series;
	const struct sample *sample = &series->samples[index];
	_cleanup_free_ char *flags = sample_flags_text(sample->flags);
	int r;

	if (!flags)
		return -ENOMEM;
	r = set_date(metadata, series, sample);
	if (r >= 0 && sample->warmup)
		r = tree_set_new(
			metadata, "calibrate_warmups", json_integer((json_int_t)series->n_warmups));
	if (r >= 0 && sample->user_ns > 0)
		r = tree_set_new(metadata, "duration", make_seconds(sample->user_ns));
	if (r >= 0 && sample->max_rss_kib > 0)
		r = tree_set_new(metadata, "command_max_rss",
			json_integer((json_int_t)sample->max_rss_kib * 1024));
	if (r >= 0)
		r = tree_set_new(metadata, "quiesce_start", make_seconds(sample->start_ns));
	if (r >= 0 && sample->kernel_ns > 0)
		r = tree_set_new(
			metadata, "quiesce_window_kernel", make_seconds(sample->kernel_ns));
	if (r >= 0 && sample->user_ns > 0)
		r = tree_set_new(metadata, "quiesce_window_user", make_seconds(sample->user_ns));
	if (r >= 0)
		r = tree_set_string(metadata, "quiesce_flags", flags);
	if (r >= 0 && sample->status != 0)
		r = tree_set_new(metadata, "quiesce_status", json_integer(sample->status));
	if (r >= 0 && runs->with_env_pad)
		r = tree_set_new(metadata, "quiesce_env_pad", json_integer(sample->env_pad));
	if (r >= 0 && series->with_evidence)
		r = set_evidence(metadata, series, index);
	if (r >= 0)
		r = set_counters(metadata, series, index);
	return r;
}

/* The window as the one value, or the one warm-up. */
static int set_window_value(json_t *run, const struct new_runs *runs, size_t index)
{
	json_t *value = json_real(series_value(runs->series, index));

	if (!value)
		return -ENOMEM;
	if (runs->series->samples[index].warmup)
		return tree_set_new(run, "warmups", json_pack("[[i,o]]", 1, value));
	return tree_set_new(run, "values", json_pack("[o]", value));
}

/* Where the warm-ups of a run begin that was measured inside. */
static size_t first_warmup(const struct benchmark *inside, size_t index)
{
	return index > 0 ? inside->runs[index - 1].warmup_end : 0;
}

bool new_runs_has(const struct new_runs *runs, size_t index)
{
	const struct benchmark *inside = runs->inside;
	size_t first, n;

	if (!inside)
		return true;
	benchmark_run_values(inside, index, &first, &n);
	/* A run without a value is worth a line only as a warm-up: that is what pyperf knows. */
	if (inside->series->samples[index].warmup)
		return inside->runs[index].warmup_end > first_warmup(inside, index);
	return n > 0;
}

static int set_inside_values(json_t *run, const struct benchmark *inside, size_t index)
{
	size_t first, n, warmup = first_warmup(inside, index);
	json_t *list;
	int r = 0;

	benchmark_run_values(inside, index, &first, &n);
	if (inside->runs[index].warmup_end > warmup) {
		list = json_array();
		r = tree_set_new(run, "warmups", list);
		for (; r >= 0 && warmup < inside->runs[index].warmup_end; warmup++)
			r = json_array_append_new(list,
				    json_pack("[I,f]", (json_int_t)inside->warmups[warmup].loops,
					    inside->warmups[warmup].value)) < 0
				? -ENOMEM
				: 0;
	}
	if (r >= 0 && n > 0) {
		list = json_array();
		r = tree_set_new(run, "values", list);
		for (size_t i = first; r >= 0 && i < first + n; i++)
			r = json_array_append_new(list, json_real(inside->values[i])) < 0 ? -ENOMEM
											  : 0;
	}
	return r;
}

json_t *new_runs_make(const struct new_runs *runs, size_t index)
{
	_cleanup_json_ json_t *run = json_object();
	json_t *metadata;
	int r;

	if (!run)
		return NULL;
	r = runs->inside ? set_inside_values(run, runs->inside, index)
			 : set_window_value(run, runs, index);
	if (r < 0)
		return NULL;
	metadata = tree_make_merged(runs->run_metadata, NULL);
	if (tree_set_new(run, "metadata", metadata) < 0 ||
		set_run_metadata(metadata, runs, index) < 0)
		return NULL;
	if (runs->inside &&
		tree_set_new(metadata, "loops",
			json_integer((json_int_t)runs->inside->runs[index].loops)) < 0)
		return NULL;
	return TAKE_PTR(run);
}
