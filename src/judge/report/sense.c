// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/report/sense.h"

enum {
	COUNTED_MIN = 3, /* letters of what is counted; "ms" and "ops" are as long as that */
};

/* What runserved calls the CPU time of a service (measure/serve/seats.h), and its unit. */
#define CPU_METRIC "cpu"
#define CPU_UNIT "s/request"

const struct sense sense_of_time = {
	.better = "faster",
	.worse = "slower",
	.has = "is",
	.is_speed = true,
};

/* Whether a unit is a word for what is counted, in the plural: "requests/s", "events", not "MIPS",
 * "1/s" or "ms". */
static bool is_counted(const char *unit)
{
	size_t n = strspn(unit, "abcdefghijklmnopqrstuvwxyz");

	return n >= COUNTED_MIN && unit[n - 1] == 's' && (unit[n] == '\0' || unit[n] == '/');
}

/* The unit of a figure as it was said: of a time, struct unit no longer has it. */
static const char *find_own_unit(const struct benchmark *benchmark)
{
	const struct series *series = benchmark->series;
	size_t event = series ? series_find_event(series, benchmark->metric) : 0;

	if (!series || event == series->n_events || !series->event_kinds[event].own)
		return "";
	return series->event_kinds[event].own->name;
}

bool sense_is_cpu_time(const struct benchmark *benchmark)
{
	return benchmark->metric && strcmp(benchmark->metric, CPU_METRIC) == 0 &&
		strcmp(find_own_unit(benchmark), CPU_UNIT) == 0;
}

void sense_find(const struct benchmark *benchmark, struct sense *ret)
{
	const char *unit = benchmark->unit ? benchmark->unit->name : "";
	bool is_gain = benchmark_is_gain(benchmark);
	struct sense sense = {
		.has = "is",
		.is_known = benchmark->metric && benchmark->better != BETTER_UNKNOWN,
		.is_gain = is_gain,
		.is_exact = benchmark->is_exact,
	};

	if (benchmark_is_of_speed(benchmark)) {
		*ret = sense_of_time;
		return;
	}
	if (benchmark->metric)
		snprintf(sense.metric, sizeof(sense.metric), "%s", benchmark->metric);
	if (!sense.is_known) {
		sense.better = is_gain ? "more" : "less";
		sense.worse = is_gain ? "less" : "more";
		sense.has = "has";
	} else if (sense_is_cpu_time(benchmark)) {
		sense.better = "less";
		sense.worse = "more";
		sense.has = "takes";
		snprintf(sense.of, sizeof(sense.of), "%s", "CPU time a request");
	} else if (is_counted(unit)) {
		sense.better = is_gain ? "more" : "fewer";
		sense.worse = is_gain ? "fewer" : "more";
		sense.has = "has";
		snprintf(sense.of, sizeof(sense.of), "%s", unit);
	} else if (unit_is_time(benchmark->unit) && !is_gain) {
		sense.better = "shorter";
		sense.worse = "longer";
		sense.is_length = true;
	} else {
		sense.better = is_gain ? "higher" : "lower";
		sense.worse = is_gain ? "lower" : "higher";
	}
	*ret = sense;
}

void sense_append(struct text *t, const struct sense *sense, bool is_worse)
{
	text_appendf(t, "%s%s%s", is_worse ? sense->worse : sense->better, *sense->of ? " " : "",
		sense->of);
}

/* With its name, where it stands alone: "higher score". */
static void append_whole(struct text *t, const struct sense *sense, bool is_worse)
{
	sense_append(t, sense, is_worse);
	if (!*sense->of && *sense->metric)
		text_appendf(t, " %s", sense->metric);
}

static bool is_taken(const struct sense *sense)
{
	return strcmp(sense->has, "takes") == 0;
}

void sense_append_more_than(
	struct text *t, const struct sense *sense, bool is_worse, double percent)
{
	if (sense->is_speed || sense->is_length) {
		text_appendf(t, "%s%s%s by more than %g %%", sense->metric,
			*sense->metric ? " " : "", is_worse ? sense->worse : sense->better,
			percent);
		return;
	}
	text_appendf(t, "%smore than %g %% ", is_taken(sense) ? "takes " : "", percent);
	append_whole(t, sense, is_worse);
}

void sense_append_not(struct text *t, const struct sense *sense, bool is_worse, double percent)
{
	if (sense->is_speed || sense->is_length) {
		text_appendf(t, "%s%snot %s by %g %%", sense->metric, *sense->metric ? " " : "",
			is_worse ? sense->worse : sense->better, percent);
		return;
	}
	text_appendf(t, "%s %g %% ", is_taken(sense) ? "does not take" : "not", percent);
	append_whole(t, sense, is_worse);
}

bool sense_follows_machine(const struct benchmark *benchmark)
{
	if (benchmark->is_exact)
		return false;
	return unit_is_time(benchmark->unit) ||
		(benchmark_is_gain(benchmark) && benchmark->unit != &unit_byte);
}

double sense_cost(const struct sense *sense, double ratio)
{
	return sense->is_gain ? 1 / ratio : ratio;
}

double sense_worse_by(const struct sense *sense, double part)
{
	if (!sense->is_gain)
		return 1 + part;
	return part < 1 ? 1 / (1 - part) : INFINITY;
}

double sense_better_by(const struct sense *sense, double part)
{
	return sense->is_gain ? 1 / (1 + part) : 1 - part;
}
