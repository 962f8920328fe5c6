// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/report/sense.h"

enum {
	COUNTED_MIN = 3, /* letters of what is counted; "ms" and "ops" are as long as that */
};

const struct sense sense_of_time = {
	.better = "faster",
	.worse = "slower",
	.is_speed = true,
};

/* Whether a unit is a word for what is counted, in the plural: "requests/s", "events", not "MIPS",
 * "1/s" or "ms". */
static bool is_counted(const char *unit)
{
	size_t n = strspn(unit, "abcdefghijklmnopqrstuvwxyz");

	return n >= COUNTED_MIN && unit[n - 1] == 's' && (unit[n] == '\0' || unit[n] == '/');
}

void sense_find(const struct benchmark *benchmark, struct sense *ret)
{
	const char *unit = benchmark->unit ? benchmark->unit->name : "";
	bool is_gain = benchmark_is_gain(benchmark);
	struct sense sense = {
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
	} else if (is_counted(unit)) {
		sense.better = is_gain ? "more" : "fewer";
		sense.worse = is_gain ? "fewer" : "more";
		snprintf(sense.of, sizeof(sense.of), "%s", unit);
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

void sense_append_whole(struct text *t, const struct sense *sense, bool is_worse)
{
	sense_append(t, sense, is_worse);
	if (!*sense->of && *sense->metric)
		text_appendf(t, " %s", sense->metric);
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
