// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/parse.h"
#include "basic/text.h"
#include "result/metadata.h"
#include "result/rundata.h"

#define OWN_PREFIX "quiesce_"
#define EVENT_PREFIX "quiesce_event_"
/* 9e9 seconds in nanoseconds; llround() is exact for it. */
#define NS_MAX (INT64_C(9000000000) * NSEC_PER_SEC)

static const struct {
	const char *name;
	int kind;
} fields[] = {
	{ "loops", RUN_LOOPS },
	{ "inner_loops", RUN_INNER_LOOPS },
	{ "date", RUN_DATE },
	{ "duration", RUN_DURATION },
	{ "command_max_rss", RUN_MAX_RSS },
	{ "mem_max_rss", RUN_MAX_RSS },
	{ "load_avg_1min", RUN_LOAD },
	{ "runnable_threads", RUN_RUNNABLE },
	{ "cpu_temp", RUN_CPU_TEMP },
	{ "cpu_freq", RUN_CPU_FREQ },
	{ "quiesce_window_kernel", RUN_WINDOW_KERNEL },
	{ "quiesce_window_user", RUN_WINDOW_USER },
	{ "quiesce_flags", RUN_FLAGS },
	{ "quiesce_status", RUN_STATUS },
	{ "quiesce_env_pad", RUN_ENV_PAD },
	{ "quiesce_order_seed", RUN_ORDER_SEED },
	{ "quiesce_turn", RUN_TURN },
	{ "quiesce_temperature_before", RUN_TEMPERATURE_BEFORE },
	{ "quiesce_temperature_after", RUN_TEMPERATURE_AFTER },
	{ "quiesce_irq_lines", RUN_IRQ_LINES },
	{ "quiesce_softirqs", RUN_SOFTIRQS },
};

static const char *const provenance_names[SITTING_N_TEXTS] = {
	[SITTING_ID] = METADATA_SITTING,
	[SITTING_GIVEN_NODE] = METADATA_GIVEN_NODE,
	[SITTING_NODE] = METADATA_NODE,
	[SITTING_OWN_HOSTNAME] = OWN_PREFIX "hostname",
	[SITTING_HOSTNAME] = "hostname",
	[SITTING_OWN_MODEL] = OWN_PREFIX "cpu_model_name",
	[SITTING_MODEL] = "cpu_model_name",
};

void run_data_clear(struct run_data *data)
{
	memset(data, 0, sizeof(*data));
	evidence_clear(&data->evidence);
	for (size_t i = 0; i < RUN_EVENTS_MAX; i++)
		data->counters[i] = NAN;
	data->duration_ns = -1;
	data->turn = -1;
}

static int find_event(struct series *series, const char *name, struct run_field *ret)
{
	int r;

	if (!series->with_evidence)
		return 0;
	for (size_t i = 0; i < series->n_events; i++) {
		if (strcmp(series->event_names[i], name) == 0) {
			*ret = (struct run_field){ .kind = RUN_EVENT, .index = i };
			return 0;
		}
	}
	if (series->n_events == RUN_EVENTS_MAX)
		return 0;
	r = series_add_event(series, name);
	if (r >= 0)
		*ret = (struct run_field){ .kind = RUN_EVENT, .index = series->n_events - 1 };
	return r;
}

int run_field_find(struct series *series, const char *name, struct run_field *ret)
{
	*ret = (struct run_field){ .kind = RUN_OTHER };
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].name, name) == 0) {
			ret->kind = fields[i].kind;
			return 0;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(provenance_names); i++) {
		if (strcmp(provenance_names[i], name) == 0) {
			*ret = (struct run_field){ .kind = RUN_PROVENANCE, .index = i };
			return 0;
		}
	}
	if (text_starts_with(name, EVENT_PREFIX))
		return find_event(series, name + strlen(EVENT_PREFIX), ret);
	if (!text_starts_with(name, OWN_PREFIX))
		return 0;
	for (size_t i = 0; i < evidence_n_fields; i++) {
		if (strcmp(evidence_fields[i].name, name + strlen(OWN_PREFIX)) == 0)
			*ret = (struct run_field){ .kind = RUN_EVIDENCE, .index = i };
	}
	return 0;
}

static bool get_number(const struct fact *value, double *ret)
{
	if (value->type != FACT_INTEGER && value->type != FACT_REAL)
		return false;
	*ret = value->type == FACT_INTEGER ? (double)value->integer : value->real;
	return true;
}

/* A number that is written divided by `per`: not negative, and at most `max`. */
static bool get_quotient(const struct fact *value, int64_t per, int64_t max, int64_t *ret)
{
	double number;

	if (!get_number(value, &number) || !(number >= 0) || number > (double)max / (double)per)
		return false;
	*ret = llround(number * (double)per);
	return true;
}

/* Not negative, and within what an int64_t of nanoseconds holds. */
static bool get_ns(const struct fact *value, int64_t *ret)
{
	return get_quotient(value, NSEC_PER_SEC, NS_MAX, ret);
}

static bool get_integer(const struct fact *value, int64_t max, int64_t *ret)
{
	if (value->type != FACT_INTEGER || value->integer < 0 || value->integer > max)
		return false;
	*ret = value->integer;
	return true;
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
static void set_temperature(struct evidence *evidence, const struct fact *value)
{
	const char *package;
	double celsius;

	if (value->type != FACT_STRING)
		return;
	package = strstr(value->string, "ackage");
	if (get_reading(package ? package : value->string, " C", &celsius) &&
		isnan(evidence->temperature_after))
		evidence->temperature_after = (float)celsius;
}

static void set_frequency(struct evidence *evidence, const struct fact *value)
{
	double figure;

	/* Where CPUs differ in frequency, the text does not tell which one ran the benchmark. */
	if (value->type != FACT_STRING ||
		strchr(value->string, '=') != strrchr(value->string, '=') ||
		evidence->frequency_khz >= 0)
		return;
	if (get_reading(value->string, " MHz", &figure))
		evidence->frequency_khz = llround(figure * 1e3);
	else if (get_reading(value->string, " GHz", &figure))
		evidence->frequency_khz = llround(figure * 1e6);
}

/* The next entry of "38: virtio2-input.0 x3, 40: nvme0q1 x1": a name, malloc'd, and a count. 0 at
 * the end, or where the text is not such a list. */
static int next_count(const char **cursor, char **ret_name, int64_t *ret_count)
{
	const char *p = *cursor;

	for (const char *x = strstr(p, " x"); x; x = strstr(x + 1, " x")) {
		const char *end = x + 2;
		uint64_t count;

		if (parse_next_u64(&end, &count) < 0 || (*end && *end != ',') || count > INT32_MAX)
			continue;
		*ret_name = strndup(p, (size_t)(x - p));
		if (!*ret_name)
			return -ENOMEM;
		*ret_count = (int64_t)count;
		*cursor = end + (*end == ',') + (*end == ',' && end[1] == ' ');
		return 1;
	}
	return 0;
}

static int set_irq_lines(struct evidence *evidence, struct series *series, const char *text)
{
	evidence->n_irq_lines = 0;
	while (*text && evidence->n_irq_lines < EVIDENCE_N_IRQ_LINES) {
		_cleanup_free_ char *name = NULL;
		int64_t count;
		int r;

		r = next_count(&text, &name, &count);
		if (r <= 0)
			return r;
		r = series_intern_irq(series, name, &evidence->irq_line[evidence->n_irq_lines]);
		if (r == -ENOSPC)
			return 0;
		if (r < 0)
			return r;
		evidence->irq_count[evidence->n_irq_lines++] = (int32_t)count;
	}
	return 0;
}

static int set_softirqs(struct evidence *evidence, const char *text)
{
	memset(evidence->softirqs, 0, sizeof(evidence->softirqs));
	while (*text) {
		_cleanup_free_ char *name = NULL;
		int64_t count;
		int r;

		r = next_count(&text, &name, &count);
		if (r <= 0)
			return r;
		for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
			if (strcmp(name, series_softirq_name(i)) == 0)
				evidence->softirqs[i] = (int32_t)count;
	}
	return 0;
}

static void set_evidence_field(
	struct evidence *evidence, const struct evidence_field *field, const struct fact *value)
{
	char *at = (char *)evidence + field->offset;
	int64_t number, max = !field->wide ? INT32_MAX : field->per > 0 ? NS_MAX : INT64_MAX;

	if (field->per > 0 ? !get_quotient(value, field->per, max, &number)
			   : !get_integer(value, max, &number))
		return;
	if (field->wide)
		*(int64_t *)at = number;
	else
		*(int32_t *)at = (int32_t)number;
}

/* A field of the evidence. */
static int set_evidence(struct run_data *data, struct series *series, const struct run_field *field,
	const struct fact *value)
{
	struct evidence *evidence = &data->evidence;
	int64_t integer;
	double number;

	switch (field->kind) {
	case RUN_EVIDENCE:
		set_evidence_field(evidence, &evidence_fields[field->index], value);
		break;
	case RUN_EVENT:
		if (get_number(value, &number))
			data->counters[field->index] = number;
		break;
	case RUN_LOAD:
		if (get_number(value, &number))
			evidence->load1 = (float)number;
		break;
	case RUN_RUNNABLE:
		if (get_integer(value, INT32_MAX, &integer))
			evidence->runnable = (int32_t)integer;
		break;
	case RUN_CPU_TEMP:
		set_temperature(evidence, value);
		break;
	case RUN_CPU_FREQ:
		set_frequency(evidence, value);
		break;
	case RUN_TEMPERATURE_BEFORE:
		if (get_number(value, &number))
			evidence->temperature_before = (float)number;
		break;
	case RUN_TEMPERATURE_AFTER:
		if (get_number(value, &number))
			evidence->temperature_after = (float)number;
		break;
	case RUN_IRQ_LINES:
		if (value->type == FACT_STRING)
			return set_irq_lines(evidence, series, value->string);
		break;
	case RUN_SOFTIRQS:
		if (value->type == FACT_STRING)
			return set_softirqs(evidence, value->string);
		break;
	default:
		break;
	}
	return 0;
}

int run_data_set(struct run_data *data, struct series *series, const struct run_field *field,
	const struct fact *value)
{
	struct sample *sample = &data->sample;
	int64_t integer;

	switch (field->kind) {
	case RUN_OTHER:
		break;
	case RUN_LOOPS:
		if (get_integer(value, INT64_MAX, &integer))
			data->loops = (uint64_t)integer;
		break;
	case RUN_INNER_LOOPS:
		if (get_integer(value, INT64_MAX, &integer))
			data->inner_loops = (uint64_t)integer;
		break;
	case RUN_DATE:
		data->has_date = value->type == FACT_STRING &&
			metadata_parse_time(value->string, &data->date_ns) >= 0;
		break;
	case RUN_DURATION:
		(void)get_ns(value, &data->duration_ns);
		break;
	case RUN_WINDOW_KERNEL:
		(void)get_ns(value, &sample->kernel_ns);
		break;
	case RUN_WINDOW_USER:
		(void)get_ns(value, &sample->user_ns);
		break;
	case RUN_FLAGS:
		if (value->type == FACT_STRING)
			sample->flags = (uint16_t)sample_flags_parse(value->string);
		break;
	case RUN_STATUS:
		if (get_integer(value, INT32_MAX, &integer))
			sample->status = (int32_t)integer;
		break;
	case RUN_ENV_PAD:
		if (get_integer(value, UINT32_MAX, &integer))
			sample->env_pad = (uint32_t)integer;
		break;
	case RUN_MAX_RSS:
		if (get_integer(value, (int64_t)UINT32_MAX * 1024, &integer))
			sample->max_rss_kib = (uint32_t)(integer / 1024);
		break;
	case RUN_ORDER_SEED:
		if (value->type != FACT_INTEGER)
			break;
		data->provenance.has_order_seed = true;
		data->provenance.order_seed = value->integer;
		break;
	case RUN_TURN:
		if (get_integer(value, UINT32_MAX, &integer))
			data->turn = integer;
		break;
	case RUN_PROVENANCE:
		if (value->type == FACT_STRING)
			return series_keep_text(series, (enum sitting_text)field->index,
				value->string, &data->provenance.texts[field->index]);
		break;
	default:
		return series->with_evidence ? set_evidence(data, series, field, value) : 0;
	}
	return 0;
}

bool run_data_has(const struct run_data *data, const struct run_field *field)
{
	const struct evidence *evidence = &data->evidence;
	int64_t value;

	switch (field->kind) {
	case RUN_LOOPS:
		return data->loops > 0;
	case RUN_INNER_LOOPS:
		return data->inner_loops > 0;
	case RUN_DATE:
		return data->has_date;
	case RUN_DURATION:
		return data->duration_ns >= 0;
	case RUN_WINDOW_KERNEL:
		return data->sample.kernel_ns > 0;
	case RUN_WINDOW_USER:
		return data->sample.user_ns > 0;
	case RUN_FLAGS:
		return data->sample.flags != 0;
	case RUN_STATUS:
		return data->sample.status != 0;
	case RUN_ENV_PAD:
		return data->sample.env_pad > 0;
	case RUN_ORDER_SEED:
		return data->provenance.has_order_seed;
	case RUN_TURN:
		return data->turn >= 0;
	case RUN_PROVENANCE:
		return data->provenance.texts[field->index];
	case RUN_MAX_RSS:
		return data->sample.max_rss_kib > 0;
	case RUN_EVIDENCE:
		return evidence_get(evidence, &evidence_fields[field->index], &value);
	case RUN_EVENT:
		return !isnan(data->counters[field->index]);
	case RUN_LOAD:
		return !isnan(evidence->load1);
	case RUN_RUNNABLE:
		return evidence->runnable >= 0;
	case RUN_CPU_TEMP:
	case RUN_TEMPERATURE_AFTER:
		return !isnan(evidence->temperature_after);
	case RUN_CPU_FREQ:
		return evidence->frequency_khz >= 0;
	case RUN_TEMPERATURE_BEFORE:
		return !isnan(evidence->temperature_before);
	case RUN_IRQ_LINES:
		return evidence->n_irq_lines > 0;
	case RUN_SOFTIRQS:
		return evidence->softirqs[0] >= 0;
	default:
		return true;
	}
}
