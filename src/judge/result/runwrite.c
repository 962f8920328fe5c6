// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/runfact.h"
#include "judge/result/runwrite.h"

/* --- Metadata --- */

static void set_events(struct facts *facts, const char *prefix, const struct run_place *place)
{
	const struct series *series = place->series;
	const double *counters = place->parts[PART_COUNTERS];

	for (size_t i = 0; i < series->n_events; i++) {
		bool is_figure = series->event_kinds[i].own;
		_cleanup_free_ char *name = NULL;

		if (!isfinite(counters[i]) || (!is_figure && fabs(counters[i]) >= 9e18))
			continue;
		name = xformat("%s%s", prefix, series->event_names[i]);
		/* Scaled counts are estimates: a fraction of an event says nothing. */
		if (is_figure)
			facts_set_real(facts, name, counters[i]);
		else
			facts_set_integer(facts, name, llround(counters[i]));
	}
}

static void set_fact(struct facts *facts, const struct run_fact *fact,
	const struct run_place *place, bool with_zero)
{
	struct fact value;
	bool is_known = run_fact_get(fact, place, &value);

	if (is_known && value.type == FACT_STRING)
		metadata_set_string(facts, fact->key, value.string);
	else if (is_known)
		facts_set_copy(facts, fact->key, &value);
	else if (with_zero && fact->zero == ZERO_USUAL_OF_ALL)
		facts_set_integer(facts, fact->key, 0);
	if (is_known)
		run_fact_clear(&value);
}

/* with_env_pad: some run of the series has a padding. */
static void set_facts(struct facts *facts, const struct run_place *place, bool with_env_pad)
{
	for (size_t i = 0; i < run_n_facts; i++) {
		if (run_facts[i].kind == KIND_EVENT)
			set_events(facts, run_facts[i].key, place);
		else if (run_facts[i].key && !run_facts[i].only_read)
			set_fact(facts, &run_facts[i], place, with_env_pad);
	}
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

void runs_write_values(struct emit *emit, const struct benchmark *inside, size_t index)
{
	size_t first, n;

	benchmark_run_warmups(inside, index, &first, &n);
	if (n > 0) {
		emit_array(emit, "warmups");
		for (size_t i = first; i < first + n; i++)
			write_warmup(emit, inside->warmups[i].loops, inside->warmups[i].value);
		emit_close(emit, ']');
	}
	benchmark_run_values(inside, index, &first, &n);
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
	if (inside->series->samples[index].warmup)
		benchmark_run_warmups(inside, index, &first, &n);
	else
		benchmark_run_values(inside, index, &first, &n);
	return n > 0;
}

/* turn: negative where the position of the run in the file tells it. */
static void write_run(struct emit *emit, const struct series *series, size_t index,
	const struct benchmark *inside, const struct facts *carried, bool with_env_pad,
	int64_t turn)
{
	struct benchmark_run values = { .has_turn = turn >= 0,
		.turn = (uint32_t)turn,
		.before_level = inside ? inside->runs[index].before_level : -1 };
	struct run_place place = run_place_of(series, index, inside ? &values : NULL);
	struct facts facts = { 0 };

	if (inside)
		values.loops = inside->runs[index].loops;
	facts_copy(&facts, carried);
	set_facts(&facts, &place, with_env_pad);

	emit_object(emit, NULL);
	if (inside)
		runs_write_values(emit, inside, index);
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
