// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/metadata.h"
#include "result/runwrite.h"

/* --- Metadata --- */

static void set_seconds(struct facts *facts, const char *name, int64_t ns)
{
	facts_set_real(facts, name, (double)ns / (double)NSEC_PER_SEC);
}

static void set_date(struct facts *facts, int64_t realtime_ns)
{
	struct timespec realtime = { realtime_ns / NSEC_PER_SEC, realtime_ns % NSEC_PER_SEC };

	facts_set_date(facts, "date", &realtime);
}

/* The kernel shows two decimals, which a float holds; more digits would be noise of the float. */
static void set_rounded(struct facts *facts, const char *name, float value)
{
	if (isfinite(value))
		facts_set_real(facts, name, round((double)value * 100) / 100);
}

static void set_evidence(struct facts *facts, const struct series *series, size_t index)
{
	const struct evidence *evidence = &series->evidence[index];
	_cleanup_free_ char *lines = series_irq_text(series, index);
	_cleanup_free_ char *softirqs = series_softirq_text(series, index);

	if (!lines || !softirqs) {
		facts->failed = true;
		return;
	}
	for (size_t i = 0; i < evidence_n_fields; i++) {
		const struct evidence_field *field = &evidence_fields[i];
		char name[64];
		int64_t value;

		if (!evidence_get(evidence, field, &value))
			continue;
		snprintf(name, sizeof(name), "quiesce_%s", field->name);
		if (field->per > 0)
			facts_set_real(facts, name, (double)value / (double)field->per);
		else
			facts_set_integer(facts, name, value);
	}
	metadata_set_string(facts, "quiesce_irq_lines", lines);
	metadata_set_string(facts, "quiesce_softirqs", softirqs);
	if (evidence->runnable >= 0)
		facts_set_integer(facts, "runnable_threads", evidence->runnable);
	if (evidence->load1 >= 0)
		set_rounded(facts, "load_avg_1min", evidence->load1);
	set_rounded(facts, "quiesce_temperature_before", evidence->temperature_before);
	set_rounded(facts, "quiesce_temperature_after", evidence->temperature_after);
	if (isfinite(evidence->temperature_after))
		facts_set_stringf(
			facts, "cpu_temp", "package=%.0f C", (double)evidence->temperature_after);
}

static void set_counters(struct facts *facts, const struct series *series, size_t index)
{
	for (size_t i = 0; i < series->n_events; i++) {
		double value = series->counters[index * series->n_events + i];
		_cleanup_free_ char *name = NULL;

		/* Scaled counts are estimates: a fraction of an event says nothing. */
		if (!isfinite(value) || fabs(value) >= 9e18)
			continue;
		if (text_format(&name, "quiesce_event_%s", series->event_names[i]) < 0) {
			facts->failed = true;
			return;
		}
		facts_set_integer(facts, name, llround(value));
	}
}

static void set_sample(
	struct facts *facts, const struct series *series, size_t index, bool with_env_pad)
{
	const struct sample *sample = &series->samples[index];
	_cleanup_free_ char *flags = sample_flags_text(sample->flags);

	if (!flags) {
		facts->failed = true;
		return;
	}
	if (series->start_realtime_ns > 0 && sample->start_ns >= 0)
		set_date(facts, series->start_realtime_ns + sample->start_ns);
	if (sample->warmup)
		facts_set_integer(facts, "calibrate_warmups", (int64_t)series->n_warmups);
	if (sample->user_ns > 0)
		set_seconds(facts, "duration", sample->user_ns);
	if (sample->max_rss_kib > 0)
		facts_set_integer(facts, "command_max_rss", (int64_t)sample->max_rss_kib * 1024);
	if (sample->start_ns >= 0)
		set_seconds(facts, "quiesce_start", sample->start_ns);
	if (sample->kernel_ns > 0)
		set_seconds(facts, "quiesce_window_kernel", sample->kernel_ns);
	if (sample->user_ns > 0)
		set_seconds(facts, "quiesce_window_user", sample->user_ns);
	metadata_set_string(facts, "quiesce_flags", flags);
	if (sample->status != 0)
		facts_set_integer(facts, "quiesce_status", sample->status);
	if (with_env_pad)
		facts_set_integer(facts, "quiesce_env_pad", sample->env_pad);
}

/* --- Values --- */

static void write_warmup(struct emit *emit, uint64_t loops, double value)
{
	emit_array(emit, NULL);
	emit_integer(emit, NULL, (int64_t)loops);
	emit_real(emit, NULL, value);
	emit_close(emit, ']');
}

/* Writes the window as the only value, or as the only warm-up. */
static void write_window(struct emit *emit, const struct series *series, size_t index)
{
	double value = series_value(series, index);

	if (series->samples[index].warmup) {
		emit_array(emit, "warmups");
		write_warmup(emit, 1, value);
	} else {
		emit_array(emit, "values");
		emit_real(emit, NULL, value);
	}
	emit_close(emit, ']');
}

/* Index of the first warm-up of a run. */
static size_t first_warmup(const struct benchmark *inside, size_t index)
{
	return index > 0 ? inside->runs[index - 1].warmup_end : 0;
}

/* Writes what else was measured with the values, where pyperf does not look. */
static void write_figures(struct emit *emit, const struct benchmark *inside, size_t first, size_t n)
{
	emit_object(emit, BENCHMARK_FIGURES);
	for (size_t i = 0; i < inside->n_figures; i++) {
		emit_array(emit, inside->figures[i].name);
		for (size_t k = first; k < first + n; k++)
			emit_real(emit, NULL, inside->figures[i].values[k]);
		emit_close(emit, ']');
	}
	emit_close(emit, '}');
}

static void write_inside(struct emit *emit, const struct benchmark *inside, size_t index)
{
	size_t first, n, warmup = first_warmup(inside, index);

	benchmark_run_values(inside, index, &first, &n);
	if (inside->runs[index].warmup_end > warmup) {
		emit_array(emit, "warmups");
		for (; warmup < inside->runs[index].warmup_end; warmup++)
			write_warmup(
				emit, inside->warmups[warmup].loops, inside->warmups[warmup].value);
		emit_close(emit, ']');
	}
	if (n > 0) {
		emit_array(emit, "values");
		for (size_t i = first; i < first + n; i++)
			emit_real(emit, NULL, inside->values[i]);
		emit_close(emit, ']');
	}
	if (n > 0 && inside->n_figures > 0)
		write_figures(emit, inside, first, n);
}

/* --- Runs --- */

/* pyperf accepts a run without values only if it has warm-ups. */
static bool has_run(const struct benchmark *inside, size_t index)
{
	size_t first, n;

	if (!inside)
		return true;
	benchmark_run_values(inside, index, &first, &n);
	if (inside->series->samples[index].warmup)
		return inside->runs[index].warmup_end > first_warmup(inside, index);
	return n > 0;
}

/* turn: negative where the position of the run in the file tells it. */
static void write_run(struct emit *emit, const struct series *series, size_t index,
	const struct benchmark *inside, const struct facts *carried, bool with_env_pad,
	int64_t turn)
{
	struct facts facts = { 0 };

	facts_copy(&facts, carried);
	set_sample(&facts, series, index, with_env_pad);
	if (series->with_evidence)
		set_evidence(&facts, series, index);
	set_counters(&facts, series, index);
	if (inside)
		facts_set_integer(&facts, "loops", (int64_t)inside->runs[index].loops);
	if (turn >= 0)
		facts_set_integer(&facts, "quiesce_turn", turn);

	emit_object(emit, NULL);
	if (inside)
		write_inside(emit, inside, index);
	else
		write_window(emit, series, index);
	emit_facts(emit, "metadata", &facts);
	emit_close(emit, '}');
	facts_clear(&facts);
}

void runs_write(struct emit *emit, const struct series *series, const struct benchmark *inside,
	const struct facts *carried, bool others_precede)
{
	bool with_env_pad = false, any_missing = false;
	int64_t turn = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		with_env_pad = with_env_pad || series->samples[i].env_pad > 0;
	for (size_t i = 0; i < series->n_samples && emit->error == 0; i++) {
		bool counts = !series->samples[i].warmup;

		if (has_run(inside, i)) {
			emit_verbatim(emit, others_precede ? ",\n" : "\n", 1 + others_precede);
			others_precede = true;
			write_run(emit, series, i, inside, carried, with_env_pad,
				any_missing && counts ? turn : -1);
		} else {
			any_missing = any_missing || counts;
		}
		turn += counts;
	}
}
