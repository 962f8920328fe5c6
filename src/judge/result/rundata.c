// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/rundata.h"

/* 9e9 seconds in nanoseconds; llround() is exact for it. */
#define NS_MAX (INT64_C(9000000000) * NSEC_PER_SEC)

void run_data_clear(struct run_data *data)
{
	data->sample = (struct sample){ .start_ns = -1 };
	data->provenance = (struct provenance){ 0 };
	data->values = (struct benchmark_run){ .before_level = -1 };
	evidence_clear(&data->evidence);
	for (size_t i = 0; i < RUN_EVENTS_MAX; i++)
		data->counters[i] = NAN;
	data->place = (struct run_place){
		.parts = {
			[PART_SAMPLE] = &data->sample,
			[PART_EVIDENCE] = &data->evidence,
			[PART_COUNTERS] = data->counters,
			[PART_VALUES] = &data->values,
			[PART_PROVENANCE] = &data->provenance,
		},
	};
}

static void find_event(struct series *series, const char *name, struct run_field *field)
{
	field->event = series_find_event(series, name);
	if (field->event < series->n_events)
		return;
	if (series->n_events < RUN_EVENTS_MAX)
		series_add_event(series, name);
	else
		field->fact = NULL;
}

void run_field_find(struct series *series, const char *name, struct run_field *ret)
{
	*ret = (struct run_field){ 0 };
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];
		bool is_event = fact->kind == KIND_EVENT;

		if (!fact->key)
			continue;
		if (is_event ? !text_starts_with(name, fact->key) : strcmp(name, fact->key) != 0)
			continue;
		if (fact->only_written ||
			(!series->with_evidence &&
				(fact->part == PART_EVIDENCE || fact->part == PART_COUNTERS)))
			return;
		ret->fact = fact;
		if (is_event)
			find_event(series, name + strlen(fact->key), ret);
		return;
	}
}

static bool get_number(const struct fact *value, double *ret)
{
	if (value->type != FACT_INTEGER && value->type != FACT_REAL)
		return false;
	*ret = value->type == FACT_INTEGER ? (double)value->integer : value->real;
	return true;
}

/* A number of such a fact, as it stands in the run: not negative, and of nanoseconds as many as an
 * int64_t holds. */
static bool get_stored(const struct run_fact *fact, const struct fact *value, int64_t *ret)
{
	int64_t per = run_fact_per(fact), times = fact->unit == RUN_KIB ? 1024 : 1;
	int64_t max = fact->kind == KIND_INT32 ? INT32_MAX
		: fact->kind == KIND_UINT32    ? UINT32_MAX
		: per > 1		       ? NS_MAX
					       : INT64_MAX;
	double number;

	if (per > 1) {
		if (!get_number(value, &number) || !(number >= 0) ||
			number > (double)max / (double)per)
			return false;
		*ret = llround(number * (double)per);
		return true;
	}
	if (value->type != FACT_INTEGER || value->integer < 0 || value->integer > max * times)
		return false;
	*ret = value->integer / times;
	return true;
}

static void read_number(
	const struct run_fact *fact, struct run_place *place, void *at, const struct fact *value)
{
	struct sample *sample = place->parts[PART_SAMPLE];
	int64_t number;

	if (!get_stored(fact, value, &number))
		return;
	if (fact->kind == KIND_INT32)
		*(int32_t *)at = (int32_t)number;
	else if (fact->kind == KIND_UINT32)
		*(uint32_t *)at = (uint32_t)number;
	/* A run's duration and its window by our own stamps are the same span, and pyperf goes by
	 * the former. */
	else if (fact->kind == KIND_DURATION || at != &sample->user_ns || !sample->has_duration)
		*(int64_t *)at = number;
	if (fact->kind == KIND_DURATION)
		sample->has_duration = number > 0;
}

/* The number in front of `unit` in a text, "58" of "coretemp:Package id 0=58 C, ...". */
static bool get_reading(const char *text, const char *unit, double *ret)
{
	const char *end = strstr(text, unit), *begin;
	char number[32];
	size_t n;

	if (!end)
		return false;
	for (begin = end; begin > text && strchr("0123456789.", begin[-1]); begin--)
		;
	n = (size_t)(end - begin);
	if (n == 0 || n >= sizeof(number))
		return false;
	memcpy(number, begin, n);
	number[n] = '\0';
	return parse_double(number, 0, 1e6, ret) == 0;
}

/* The temperature of the package, else the first temperature in the text. */
static void read_temperature(float *at, const char *text)
{
	const char *package = strstr(text, "ackage");
	double celsius;

	if (isnan(*at) && get_reading(package ? package : text, " C", &celsius))
		*at = (float)celsius;
}

static void read_frequency(int64_t *at, const char *text)
{
	double figure;

	/* Where CPUs differ in frequency, the text does not tell which one ran the benchmark. */
	if (*at >= 0 || strchr(text, '=') != strrchr(text, '='))
		return;
	if (get_reading(text, " MHz", &figure))
		*at = llround(figure * 1e3);
	else if (get_reading(text, " GHz", &figure))
		*at = llround(figure * 1e6);
}

/* The next entry of "38: virtio2-input.0 x3, 40: nvme0q1 x1": a name, malloc'd, and a count. False
 * at the end, or where the text is not such a list. */
static bool next_count(const char **cursor, char **ret_name, int64_t *ret_count)
{
	const char *p = *cursor;

	for (const char *x = strstr(p, " x"); x; x = strstr(x + 1, " x")) {
		const char *end = x + 2;
		uint64_t count;

		if (parse_next_u64(&end, &count) < 0 || (*end && *end != ',') || count > INT32_MAX)
			continue;
		*ret_name = xptr(strndup(p, (size_t)(x - p)));
		*ret_count = (int64_t)count;
		*cursor = end + (*end == ',') + (*end == ',' && end[1] == ' ');
		return true;
	}
	return false;
}

static void read_irq_lines(struct evidence *evidence, struct series *series, const char *text)
{
	evidence->n_irq_lines = 0;
	while (*text && evidence->n_irq_lines < EVIDENCE_N_IRQ_LINES) {
		_cleanup_free_ char *name = NULL;
		uint16_t *line = &evidence->irq_line[evidence->n_irq_lines];
		int64_t count;

		if (!next_count(&text, &name, &count) ||
			xcheck(series_intern_irq(series, name, line)) < 0)
			return;
		evidence->irq_count[evidence->n_irq_lines++] = (int32_t)count;
	}
}

static void read_softirqs(int32_t *softirqs, const char *text)
{
	memset(softirqs, 0, EVIDENCE_N_SOFTIRQS * sizeof(*softirqs));
	while (*text) {
		_cleanup_free_ char *name = NULL;
		int64_t count;

		if (!next_count(&text, &name, &count))
			return;
		for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
			if (strcmp(name, series_softirq_name(i)) == 0)
				softirqs[i] = (int32_t)count;
	}
}

static void keep_text(struct series *series, const char **at, size_t offset, const char *text)
{
	size_t which = (offset - offsetof(struct provenance, texts)) / sizeof(*at);

	*at = series_keep_text(series, (enum sitting_text)which, text);
}

/* Texts that are the only ones of their kind. */
static void read_text(const struct run_fact *fact, struct run_place *place, struct series *series,
	const char *text)
{
	void *at = (char *)place->parts[fact->part] + fact->offset;

	switch (fact->kind) {
	case KIND_DATE:
		if (metadata_parse_time(text, at) < 0)
			*(int64_t *)at = -1;
		break;
	case KIND_FLAGS:
		*(uint16_t *)at = (uint16_t)sample_flags_parse(text);
		break;
	case KIND_IRQ_LINES:
		read_irq_lines(place->parts[PART_EVIDENCE], series, text);
		break;
	case KIND_SOFTIRQS:
		read_softirqs(at, text);
		break;
	case KIND_TEMPERATURE:
		read_temperature(at, text);
		break;
	case KIND_FREQUENCY:
		read_frequency(at, text);
		break;
	default: /* KIND_ORIGIN */
		keep_text(series, at, fact->offset, text);
	}
}

/* Numbers that are the only ones of their kind. */
static void read_other(
	const struct run_field *field, struct run_place *place, const struct fact *value)
{
	struct benchmark_run *values = place->parts[PART_VALUES];
	struct provenance *provenance = place->parts[PART_PROVENANCE];
	double number;

	if (field->fact->kind == KIND_EVENT) {
		if (get_number(value, &number))
			((double *)place->parts[PART_COUNTERS])[field->event] = number;
	} else if (value->type != FACT_INTEGER) {
		return;
	} else if (field->fact->kind == KIND_SEED) {
		provenance->has_order_seed = true;
		provenance->order_seed = value->integer;
	} else if (value->integer >= 0 && value->integer <= UINT32_MAX) { /* KIND_TURN */
		values->has_turn = true;
		values->turn = (uint32_t)value->integer;
	}
}

void run_field_read(const struct run_field *field, struct run_place *place, struct series *series,
	const struct fact *value)
{
	const struct run_fact *fact = field->fact;
	void *at = fact ? (char *)place->parts[fact->part] + fact->offset : NULL;
	double number;

	if (!fact)
		return;
	if (run_fact_is_text(fact)) {
		if (value->type == FACT_STRING)
			read_text(fact, place, series, value->string);
	} else if (fact->kind <= KIND_UINT32) {
		read_number(fact, place, at, value);
	} else if (fact->kind != KIND_FLOAT) {
		read_other(field, place, value);
	} else if (get_number(value, &number)) {
		*(float *)at = (float)number;
	}
}

bool run_field_is_known(const struct run_field *field, const struct run_place *place)
{
	const struct run_fact *fact = field->fact;
	const void *at = (const char *)place->parts[fact->part] + fact->offset;
	int64_t number;

	switch (fact->kind) {
	case KIND_FLOAT:
	case KIND_TEMPERATURE:
		return !isnan(*(const float *)at);
	case KIND_DATE:
	case KIND_FREQUENCY:
		return *(const int64_t *)at >= 0;
	case KIND_FLAGS:
		return *(const uint16_t *)at != 0;
	case KIND_IRQ_LINES:
		return ((const struct evidence *)place->parts[PART_EVIDENCE])->n_irq_lines > 0;
	case KIND_SOFTIRQS:
		return *(const int32_t *)at >= 0;
	case KIND_ORIGIN:
		return *(const char *const *)at;
	case KIND_SEED:
		return ((const struct provenance *)place->parts[PART_PROVENANCE])->has_order_seed;
	case KIND_EVENT:
		return !isnan(((const double *)place->parts[PART_COUNTERS])[field->event]);
	default:
		return run_fact_number(fact, place, &number) &&
			!(number == 0 && fact->zero >= ZERO_USUAL);
	}
}
