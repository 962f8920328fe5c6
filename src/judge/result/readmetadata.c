// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/readmetadata.h"
#include "judge/result/weight.h"

enum {
	NAMES_MAX = 1000,
};
_Static_assert(NAME_SLOTS >= 2 * NAMES_MAX, "a name is found in a few steps");

/* --- While the file is read --- */

int reader_read_metadata(
	struct reader *reader, bool may_be_null, struct facts *facts, struct facts *above)
{
	_cleanup_text_ struct text buffer = { 0 };
	struct json_token token;
	int r;

	r = reader_next(reader, &token);
	if (r >= 0 && may_be_null && token.type == JSON_TOKEN_NULL)
		return 0;
	if (r >= 0)
		r = reader_expect_object(reader, &token, "the value of 'metadata'");
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		/* Not escaped for a terminal, because it is going to be written to a file. */
		_cleanup_free_ char *raw = xptr(strdup(token.string));
		_cleanup_free_ char *name = xptr(strdup(reader_plain(&buffer, raw)));
		struct fact fact;

		reader_begin_raw(reader);
		r = reader_read_fact(reader, name, &buffer, &fact);
		if (r >= 0)
			r = reader_keep_fact(reader, facts, &fact);
		if (r >= 0)
			reader_keep_raw(reader, above, raw);
	}
	return r;
}

/* Finds the record of a name, or makes it. */
static int find_run_name(struct reader *reader, struct pending *pending, struct text *buffer,
	const struct json_token *token, struct run_name **ret)
{
	const char *plain = reader_plain(buffer, token->string);
	size_t slot = token->hash % NAME_SLOTS;
	int r;

	for (; pending->slots[slot] > 0; slot = (slot + 1) % NAME_SLOTS) {
		struct run_name *name = &pending->names[pending->slots[slot] - 1];

		if (name->hash == token->hash && strcmp(name->name, plain) == 0) {
			*ret = name;
			return 0;
		}
	}
	if (pending->n_names == NAMES_MAX)
		return reader_refuse(reader, "more than 1000 different names of metadata");
	pending->names =
		xptr(reallocarray(pending->names, pending->n_names + 1, sizeof(*pending->names)));
	*ret = &pending->names[pending->n_names++];
	**ret = (struct run_name){ .name = xptr(strdup(plain)), .hash = token->hash };
	pending->slots[slot] = (uint16_t)pending->n_names;
	if (reader->keeps) {
		r = kept_add_name(pending->benchmark->kept, token->string, false, &(*ret)->kept);
		if (r < 0)
			return r;
	}
	run_field_find(pending->benchmark->series, (*ret)->name, &(*ret)->field);
	return 0;
}

/* Keeps what is known of a figure. */
static void join_figure(struct run_name *name, const struct fact *fact)
{
	const char *joined = NULL;

	if (fact->type != FACT_STRING || !text_starts_with(name->name, METADATA_FIGURE))
		return;
	if (name->n_seen == 1)
		joined = fact->string;
	else if (name->figure)
		joined = figure_text_join(name->figure, fact->string);
	if (joined == name->figure)
		return;
	free(name->figure);
	name->figure = joined ? xptr(strdup(joined)) : NULL;
}

int reader_read_run_metadata(
	struct reader *reader, struct pending *pending, struct text *buffer, struct run_data *data)
{
	bool first_run = pending->benchmark->series->n_samples == 0;
	struct json_token token;
	int r;

	r = reader_enter_object(reader, "the value of 'metadata'");
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		struct run_name *name = NULL;
		struct fact fact;

		r = find_run_name(reader, pending, buffer, &token, &name);
		if (r < 0 || !name)
			break;
		reader_begin_raw(reader);
		r = reader_read_fact(reader, name->name, buffer, &fact);
		if (r < 0)
			break;
		reader_keep_run_raw(reader, pending, name->kept);
		if (name->n_seen++ == 0) {
			name->in_first_run = first_run;
			r = reader_keep_fact(reader, &name->first, &fact);
		} else if (!name->varies) {
			name->varies = !metadata_equal_facts(&name->first.items[0], &fact);
		}
		join_figure(name, &fact);
		if (r >= 0)
			run_field_read(
				&name->field, &data->place, pending->benchmark->series, &fact);
	}
	return r;
}

/* --- When all is read --- */

static const struct run_name *find_name(const struct pending *pending, const char *name)
{
	for (size_t i = 0; i < pending->n_names; i++)
		if (strcmp(pending->names[i].name, name) == 0)
			return &pending->names[i];
	return NULL;
}

/* Whether the runs, or what is above them, say anything of it. */
static bool is_mentioned(const struct pending *pending, const char *key)
{
	return find_name(pending, key) || facts_find(&pending->metadata, key);
}

/* Whether a fact from above holds for each run: a run may have another value. */
static bool holds_for_all(const struct pending *pending, const struct fact *fact)
{
	const struct run_name *name = find_name(pending, fact->name);

	return !name || (!name->varies && metadata_equal_facts(&name->first.items[0], fact));
}

/* Those metadata that hold for all runs: of the suite, of the benchmark (n_own of those above), and
 * those in which its runs agree. These are copies, one for each benchmark. */
static int merge_metadata(struct reader *reader, const struct pending *pending, size_t n_own)
{
	const struct facts *above = &pending->metadata;
	struct benchmark *b = pending->benchmark;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < above->n; i++) {
		const struct fact *fact = &above->items[(n_own + i) % above->n];

		if (holds_for_all(pending, fact))
			r = reader_keep_fact(reader, &b->metadata, fact);
	}
	for (size_t i = 0; r >= 0 && i < pending->n_names; i++) {
		const struct run_name *name = &pending->names[i];

		if (name->n_seen == b->series->n_samples && !name->varies)
			r = reader_keep_fact(reader, &b->metadata, &name->first.items[0]);
	}
	return r;
}

/* The first run's value: its own, or the one above it. */
static const struct fact *first_fact(const struct pending *pending, const char *key)
{
	const struct run_name *name = find_name(pending, key);

	return name && name->in_first_run ? &name->first.items[0]
					  : facts_find(&pending->metadata, key);
}

static bool is_elsewhere(const struct run_place *place)
{
	const struct evidence *evidence = place->parts[PART_EVIDENCE];

	return evidence && evidence->elsewhere > 0;
}

/* A fact from above that a run, or a sitting, has a place for. */
struct common {
	struct run_field field;
	const struct fact *value; /* borrowed */
};

/* Gives those that it has a place for, and no other value of, to a run or a sitting. What tells of
 * the CPUs is not of a run that was elsewhere. */
static void take_common(
	struct run_place *place, struct series *series, const struct common *common, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct run_field *field = &common[i].field;

		if (place->parts[field->fact->part] && !run_field_is_known(field, place) &&
			!(field->fact->of_given_cpus && is_elsewhere(place)))
			run_field_read(field, place, series, common[i].value);
	}
}

/* Those that are of the CPUs come last: whether a run was elsewhere may be among the others. A turn
 * is of one run. */
static void spread_facts(struct pending *pending)
{
	const struct facts *above = &pending->metadata;
	_cleanup_free_ struct common *common = xptr(calloc(above->n + 1, sizeof(*common)));
	struct benchmark *b = pending->benchmark;
	size_t n = 0;

	for (size_t i = 0; i < 2 * above->n; i++) {
		struct run_field *field = &common[n].field;

		common[n].value = &above->items[i % above->n];
		run_field_find(b->series, common[n].value->name, field);
		n += field->fact && field->fact->kind != KIND_TURN &&
			field->fact->of_given_cpus == (i >= above->n);
	}
	for (size_t k = 0; n > 0 && k < b->series->n_samples; k++) {
		struct run_place place = run_place_of(b->series, k, &b->runs[k]);

		take_common(&place, b->series, common, n);
	}
	for (size_t k = 0; k < b->series->n_sittings; k++) {
		struct run_place place = { .parts[PART_PROVENANCE] =
						   &b->series->sittings[k].provenance };

		take_common(&place, b->series, common, n);
	}
}

/* What cpu_temp and cpu_freq said of the CPUs is not of a run that was elsewhere, which may have
 * been said behind them. */
static void forget_elsewhere(struct pending *pending)
{
	bool has_temperature = is_mentioned(pending, "quiesce_temperature_after");
	bool has_frequency = is_mentioned(pending, "quiesce_frequency_khz");
	const struct series *series = pending->benchmark->series;

	if (!series->with_evidence || !is_mentioned(pending, "quiesce_elsewhere"))
		return;
	for (size_t k = 0; k < series->n_samples; k++) {
		struct evidence *evidence = &series->evidence[k];

		if (evidence->elsewhere > 0 && !has_temperature)
			evidence->temperature_after = NAN;
		if (evidence->elsewhere > 0 && !has_frequency)
			evidence->frequency_khz = -1;
	}
}

/* As in pyperf (_bench.py: Run._get_duration): the duration in the run's metadata, or the sum of
 * its values. */
static double run_seconds(const struct benchmark *b, size_t at)
{
	double sum = 0;
	size_t first, n;

	if (b->series->samples[at].user_ns > 0)
		return (double)b->series->samples[at].user_ns / (double)NSEC_PER_SEC;
	benchmark_run_values(b, at, &first, &n);
	for (size_t i = first; i < first + n; i++)
		sum += b->values[i] * benchmark_raw_factor(b, at);
	benchmark_run_warmups(b, at, &first, &n);
	for (size_t i = first; i < first + n; i++)
		sum += b->warmups[i].value * (double)b->warmups[i].loops *
			(double)b->runs[at].inner_loops;
	return sum;
}

/* Before 1.0, pyperf wrote the time of all loops of a warm-up. */
static void divide_warmups(struct benchmark *b)
{
	for (size_t i = 0, at = 0; i < b->series->n_samples; i++)
		for (; at < b->runs[i].warmup_end; at++)
			b->warmups[at].value /=
				(double)b->warmups[at].loops * (double)b->runs[i].inner_loops;
}

static void settle_times(struct benchmark *b, bool is_old)
{
	int64_t first_ns = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < b->series->n_samples; i++) {
		if (b->runs[i].loops == 0)
			b->runs[i].loops = 1;
		if (b->runs[i].inner_loops == 0)
			b->runs[i].inner_loops = 1;
	}
	if (is_old)
		divide_warmups(b);
	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct sample *sample = &b->series->samples[i];
		double seconds = run_seconds(b, i);

		if (b->unit == UNIT_SECOND || sample->user_ns > 0)
			b->total_seconds += seconds;
		if (sample->start_ns < 0)
			continue;
		first_ns = MIN(first_ns, sample->start_ns);
		last = MAX(
			last, sample->start_ns / NSEC_PER_SEC + (int64_t)ceil(MIN(seconds, 9e9)));
	}
	b->has_dates = first_ns != INT64_MAX;
	if (b->has_dates) {
		b->series->start_realtime_ns = first_ns;
		b->first_date = first_ns / NSEC_PER_SEC;
		b->last_date = last;
	}
	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct sample *sample = &b->series->samples[i];

		if (sample->start_ns >= 0)
			sample->start_ns -= first_ns;
	}
}

/* Whether runs differ in this name, so that pyperf refuses the file. If only some of the runs have
 * a value, it has to be equal to the value above all runs. */
static bool is_disputed(
	const struct pending *pending, const struct run_name *name, const struct fact *above)
{
	if (name->varies)
		return true;
	return name->n_seen < pending->benchmark->series->n_samples &&
		(!above || !metadata_equal_facts(&name->first.items[0], above));
}

static void find_agreement(const struct pending *pending, struct kept *ret)
{
	ret->clock = -1;
	for (size_t i = 0; i <= METADATA_N_AGREED; i++) {
		bool is_clock = i == METADATA_N_AGREED;
		const char *key = is_clock ? METADATA_CLOCK : metadata_agreed_keys[i];
		const struct run_name *name = find_name(pending, key);
		const struct fact *above = facts_find(&pending->metadata, key);

		if (is_clock && (name || above))
			ret->clock = metadata_get_clock(name ? &name->first.items[0] : above);
		/* Runs of pyperf's own do not tell their clock. */
		if (is_clock && name && !above && !name->varies)
			continue;
		if (name && is_disputed(pending, name, above))
			ret->disputed = key;
	}
}

/* What writes evidence and no flags gets the flags that runpinned would have set by it. Of
 * runpinned, a run without flags has none. */
static void derive_flags(struct pending *pending)
{
	struct series *series = pending->benchmark->series;
	/* pyperf's own cpu_freq is of one moment, and says little of the run. */
	bool has_frequency = is_mentioned(pending, "quiesce_frequency_khz");
	struct weight_base base;

	if (!series->with_evidence || is_mentioned(pending, "quiesce_flags") ||
		is_mentioned(pending, "quiesce_version"))
		return;
	weight_base_find(series, &base);
	if (!has_frequency)
		base.frequency_khz = NAN;
	for (size_t i = 0; i < series->n_samples; i++) {
		struct weights weights;

		weights_find(&base, &series->samples[i], &series->evidence[i], &weights);
		series->samples[i].flags |= weight_flags(&series->evidence[i], &weights);
	}
}

/* What all runs say of a figure, or what is above them, but for the step; NULL where it is not the
 * same. */
static const char *find_figure(const struct pending *pending, const char *key)
{
	const struct run_name *name = find_name(pending, key);
	const char *above = facts_find_string(&pending->metadata, key);

	if (!name)
		return above;
	if (!name->figure || name->n_seen == pending->benchmark->series->n_samples)
		return name->figure;
	return above ? figure_text_join(name->figure, above) : NULL;
}

/* The steps may vary from run to run; the metadata that hold for all of them have the largest one.
 */
static void merge_figures(struct pending *pending)
{
	struct benchmark *b = pending->benchmark;

	for (size_t i = 0; i < pending->n_names; i++) {
		const char *key = pending->names[i].name, *text = NULL;

		if (pending->names[i].figure)
			text = find_figure(pending, key);
		if (text)
			facts_set_string(&b->metadata, key, text);
	}
	if (b->metadata.failed)
		xalloc_fail();
}

static void read_within(struct series *series, size_t event, const struct facts *metadata)
{
	struct event_kind *kind = &series->event_kinds[event];
	_cleanup_free_ char *within = xformat(METADATA_WITHIN "%s", series->event_names[event]);
	_cleanup_free_ char *deviation =
		xformat(METADATA_DEVIATION "%s", series->event_names[event]);
	double n = facts_find_real(metadata, within), of = facts_find_real(metadata, deviation);

	if (!(n >= 2 && n <= 1e9))
		return;
	kind->n_within = (size_t)n;
	kind->spread = of * of;
	kind->n_spread = of >= 0 ? 1 : 0;
}

/* A figure whose unit or direction differs from run to run is an event like others. */
static void declare_figures(struct benchmark *b)
{
	for (size_t i = 0; i < b->series->n_events; i++) {
		_cleanup_free_ char *name =
			xformat(METADATA_FIGURE "%s", b->series->event_names[i]);
		const char *text = facts_find_string(&b->metadata, name);

		if (text && series_parse_figure(b->series, i, text) >= 0)
			read_within(b->series, i, &b->metadata);
	}
	for (size_t i = 0; i < b->n_figures; i++) {
		struct benchmark_figure *figure = &b->figures[i];
		_cleanup_free_ char *name = xformat(METADATA_FIGURE "%s", figure->name);
		const char *text = facts_find_string(&b->metadata, name);

		if (text && figure_parse(text, &figure->kind) >= 0)
			figure->unit = figure->kind.unit;
	}
}

/* Values that are no times say what they are. */
static void declare_values(struct benchmark *b)
{
	const char *text = facts_find_string(&b->metadata, METADATA_VALUES_FIGURE);
	struct event_kind kind;

	if (text && figure_parse(text, &kind) >= 0)
		benchmark_set_kind(b, &kind);
}

int reader_finish_benchmark(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	const struct fact *name, *unit, *clock;
	size_t n_own = pending->metadata.n;
	int r;

	/* From here on these are all that is above the runs, with what is nearest to them first. */
	facts_add(&pending->metadata, &reader->suite_metadata);
	if (pending->metadata.failed)
		xalloc_fail();
	name = first_fact(pending, "name");
	unit = first_fact(pending, "unit");
	clock = first_fact(pending, METADATA_CLOCK);
	if (!name || name->type != FACT_STRING)
		return reader_refuse(reader, "no pyperf result: a benchmark without a name");
	b->name = xptr(strdup(name->string));
	/* metadata_judge() has accepted it: one of the three units, or absent. */
	r = unit_parse(unit ? unit->string : NULL, &b->unit);
	if (r < 0)
		return r;
	b->series->clock =
		clock && metadata_get_clock(clock) == WINDOW_KERNEL ? WINDOW_KERNEL : WINDOW_USER;
	r = merge_metadata(reader, pending, n_own);
	if (r < 0)
		return r;
	merge_figures(pending);
	spread_facts(pending);
	forget_elsewhere(pending);
	declare_figures(b);
	declare_values(b);
	derive_flags(pending);
	settle_times(b, reader->is_old);
	if (b->kept) {
		find_agreement(pending, b->kept);
		kept_shrink(b->kept);
		facts_add(&b->kept->above, &reader->suite_above);
		if (b->kept->above.failed)
			xalloc_fail();
	}
	facts_clear(&pending->metadata);
	return 0;
}
