// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/stats/stats.h"
#include "measure/decide.h"
#include "measure/ranking.h"
#include "measure/report.h"
#include "measure/serve/bottleneck.h"
#include "measure/serve/loads.h"
#include "measure/serve/report.h"

enum {
	COLUMN = 12, /* characters of a figure, and of a name above it */
	CHANGE = 9,
	LABEL = 14,
	QUANTILES_MAX = 4,
};

/* Of the CPU time: what is counted in larger steps is not shown. */
#define STEP_SHOWN 0.05

#define NOT_WARM                                                                       \
	"it still took less from slice to slice: have longer slices, or more of them " \
	"before those that count (--warm-slices)"

/* "2.14 us", "22600", "0.12" */
static const char *format_value(const struct tally *tally, double value, char buf[UNITS_TEXT_SIZE])
{
	if (!isfinite(value))
		return "-";
	if (tally_is_time(tally->unit))
		return units_format_seconds(value, buf);
	if (value >= 1000)
		snprintf(buf, UNITS_TEXT_SIZE, "%.0f", value);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%.3g", value);
	return buf;
}

/* The median of the sittings' ratios. */
static double find_change(const struct account *old, const struct account *new, const char *name)
{
	const struct tally *a = account_find(old, name), *b = account_find(new, name);
	size_t n = MIN(account_count_sittings(old), account_count_sittings(new)), n_known = 0;
	_cleanup_free_ double *ratios = xptr(calloc(n + 1, sizeof(*ratios)));

	for (size_t i = 0; a && b && i < n; i++) {
		double ratio = account_of_sitting(new, b, i) / account_of_sitting(old, a, i);

		if (isfinite(ratio) && ratio > 0)
			ratios[n_known++] = ratio;
	}
	stats_sort(ratios, n_known);
	return n_known > 0 ? stats_median(ratios, n_known) : NAN;
}

/* A line with the figure of each service; with two of them, how it has changed, or why nothing
 * follows from that. */
static void append_figure(struct text *t, const struct sittings *s, const struct commands *commands,
	const char *label, const char *name)
{
	const struct tally *tally = account_find(&s->seats[0].account, name);
	struct bottleneck found;
	char value[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];
	double ratio;

	if (!tally || !isfinite(account_median(&s->seats[0].account, name)))
		return;
	text_appendf(t, "  %-*s", LABEL, label);
	for (size_t i = 0; i < s->n; i++)
		text_appendf(t, " %*s", COLUMN,
			format_value(tally, account_median(&s->seats[i].account, name), value));
	ratio = s->n == 2 ? find_change(&s->seats[0].account, &s->seats[1].account, name) : NAN;
	if (isfinite(ratio))
		text_appendf(t, " %*s", CHANGE, units_format_change(ratio - 1, change));
	if (!bottleneck_find(s, commands, name, tally->unit, &found) && s->n > 1 &&
		!bottleneck_is_part(name))
		text_appendf(t, "  (%s)", found.brief);
	bottleneck_clear(&found);
	text_append(t, "\n");
}

static void append_names(struct text *t, const struct sittings *s, const struct commands *commands)
{
	text_appendf(t, "  %-*s", LABEL, "");
	for (size_t i = 0; i < s->n; i++) {
		_cleanup_free_ char *name = xptr(text_escape_control(commands->items[i].name));

		text_appendf(t, " %*s", COLUMN, name);
	}
	if (s->n == 2)
		text_appendf(t, " %*s", CHANGE, "change");
	text_append(t, "\n");
}

/* What the others do meanwhile. */
static const char *describe_rest(const struct seat *seat)
{
	if (strcmp(seat->rest, "none") == 0)
		return "all go on at rest";
	return strcmp(seat->rest, "freeze") == 0 ? "frozen at rest" : "stopped at rest";
}

static void append_head(struct text *t, const struct sittings *s, const struct commands *commands,
	const struct place *place)
{
	const struct asked *asked = s->asked;
	_cleanup_free_ char *load = xptr(text_escape_control(asked->load_words[0]));
	size_t n = commands->items[0].measurement->n_runs;
	double requests = 0;

	for (size_t i = 0; i < s->n; i++) {
		_cleanup_free_ char *name = xptr(text_escape_control(commands->items[i].name));

		text_appendf(t, "%s%s", i > 0 ? ", " : "", name);
		requests += s->seats[i].requests;
	}
	text_appendf(t, ": %zu sitting%s of %u slice%s%s, CPU %s", n, n == 1 ? "" : "s",
		asked->slices, asked->slices == 1 ? "" : "s", s->n > 1 ? " each" : "",
		place->cpus_text);
	if (s->n > 1)
		text_appendf(t, ", order drawn, %s", describe_rest(&s->seats[0]));
	text_appendf(t, "\n  load: %s, ", load);
	if (asked->rate > 0)
		text_appendf(t, "open loop of %.15g requests/s", asked->rate);
	else
		text_append(t, "closed loop");
	text_appendf(t, ", CPU %s; %.0f requests, none failed\n",
		s->load_place ? s->load_place->cpus_text : place->cpus_text, requests);
}

/* The parts of the CPU time, where they are counted finely enough. */
static void append_parts(struct text *t, const struct sittings *s, const struct commands *commands)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct account *account = &s->seats[i].account;
		const struct tally *user = account_find(account, SEAT_USER);

		if (!user || user->step > STEP_SHOWN * account_median(account, SEAT_CPU))
			return;
	}
	append_figure(t, s, commands, "  user", SEAT_USER);
	append_figure(t, s, commands, "  system", SEAT_SYSTEM);
}

/* The quantiles that the load tells, and what else it has that is a time. */
static void append_latencies(
	struct text *t, const struct sittings *s, const struct commands *commands)
{
	const struct account *account = &s->seats[0].account;
	size_t n = 0;

	for (size_t i = 0; i < account->n_tallies && n < QUANTILES_MAX; i++) {
		const struct tally *tally = &account->tallies[i];

		if (!tally_is_time(tally->unit) || strcmp(tally->name, SEAT_CPU) == 0 ||
			bottleneck_is_part(tally->name))
			continue;
		append_figure(t, s, commands, tally->name, tally->name);
		n++;
	}
}

/* A line of parts of the time; nothing where it is known of no service. */
static void append_part(
	struct text *t, const struct sittings *s, const char *label, const char *name)
{
	if (!isfinite(account_median(&s->seats[0].account, name)))
		return;
	text_appendf(t, "  %-*s", LABEL, label);
	for (size_t i = 0; i < s->n; i++)
		text_appendf(t, " %*.0f %%", COLUMN - 2,
			100 * account_median(&s->seats[i].account, name));
}

/* Who was the bottleneck. */
static void append_busy(struct text *t, const struct sittings *s)
{
	_cleanup_free_ char *escaped = xptr(text_escape_control(s->limit));
	double load = bottleneck_get_load_busy(s);

	append_part(t, s, "busy", SEAT_BUSY);
	if (isfinite(load))
		text_appendf(t, "%*s  load %.0f %%", s->n == 2 ? CHANGE + 1 : 0, "", 100 * load);
	text_append(t, "\n");
	append_part(t, s, "waits for CPU", SEAT_WAITS);
	if (isfinite(account_median(&s->seats[0].account, SEAT_WAITS)))
		text_append(t, "\n");
	text_appendf(t, "  %-*s %s\n", LABEL, "limit", escaped);
}

static void append_spread(struct text *t, const struct sittings *s)
{
	double sittings = 0, slices = 0;

	for (size_t i = 0; i < s->n; i++) {
		double of_sittings, of_slices;

		account_deviations(&s->seats[i].account, SEAT_CPU, &of_sittings, &of_slices);
		sittings = fmax(sittings, of_sittings);
		slices = fmax(slices, of_slices);
	}
	if (sittings > 0) {
		char between[UNITS_TEXT_SIZE], within[UNITS_TEXT_SIZE];

		text_appendf(t,
			"  deviation      %s from start to start, %s from slice to slice, of "
			"CPU a request\n",
			units_format_percent(sittings, between),
			slices > 0 ? units_format_percent(slices, within) : "unknown");
	}
}

static void append_ready(struct text *t, const struct sittings *s, const struct commands *commands)
{
	text_append(t, "  ready         ");
	for (size_t i = 0; i < s->n; i++) {
		const struct seat *seat = &s->seats[i];
		_cleanup_free_ char *name = xptr(text_escape_control(commands->items[i].name));
		char time[UNITS_TEXT_SIZE];

		text_appendf(t, "%s%s after %s", i > 0 ? ", " : " ", name,
			units_format_seconds((double)seat->ready_ns_sum /
					(double)MAX(seat->n_started, (size_t)1) / NSEC_PER_SEC,
				time));
	}
	text_append(t, "\n");
}

static void append_warm(struct text *t, const struct sittings *s)
{
	text_appendf(t, "  warm           after %u slice%s that do%s not count%s\n", s->warm_slices,
		s->warm_slices > 1 ? "s" : "", s->warm_slices > 1 ? "" : "es",
		s->is_cold ? ", and not yet: " NOT_WARM : "");
}

static void append_disturbed(struct text *t, const struct commands *commands)
{
	size_t n_disturbed = 0, n = 0;
	uint32_t flags = 0;

	for (size_t i = 0; i < commands->n; i++) {
		const struct series *series = commands->items[i].measurement->series;

		for (size_t k = 0; k < series->n_samples; k++) {
			n++;
			n_disturbed += series->samples[k].flags != 0;
			flags |= series->samples[k].flags;
		}
	}
	if (n_disturbed > 0) {
		_cleanup_free_ char *names = xptr(sample_flags_text(flags));

		text_appendf(t, "  disturbed      %zu of %zu starts (%s)\n", n_disturbed, n, names);
	}
}

/* What follows from the figure that decides. */
static int print_verdict(const struct sittings *s, const struct commands *commands,
	const struct options *options, FILE *stream)
{
	_cleanup_free_ char *nothing = bottleneck_tell_nothing(s);

	if (s->n < 2)
		return 0;
	if (nothing)
		return xprint_report(
			stream, "\n%s says nothing, because %s\n", commands->metric, nothing);
	if (options->decide > 0)
		return decide_print(stream, commands);
	return ranking_print(stream, options, commands);
}

/* The answer, and a line for each service. */
static int add_to_brief(struct brief *brief, const struct sittings *s,
	const struct commands *commands, const struct options *options, const struct place *place)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < commands->n; i++)
		r = report_print(NULL, brief,
			&(struct report_input){
				.name = commands->items[i].name,
				.cpus = place->cpus_text,
				.series = commands->items[i].measurement->series,
				.facts = &commands->items[i].facts,
				.unit = options->unit,
				/* One from which nothing follows is no figure of the result. */
				.metric = s->nothing ? SEAT_CPU : options->metric,
				.floor_seconds = NAN,
				.shell_seconds = NAN,
				.decided = options->decide > 0,
			});
	if (s->is_cold)
		brief_add(brief, BRIEF_DOUBT, "  warm       not after %u slices: %s",
			s->warm_slices, NOT_WARM);
	if (r < 0 || s->n < 2)
		return r;
	if (!s->nothing)
		return options->decide > 0 ? decide_add(brief, options, commands)
					   : ranking_add(brief, options, commands);
	brief_add(
		brief, BRIEF_VERDICT, "%s says nothing, because %s", commands->metric, s->nothing);
	if (s->remedy)
		brief_add(brief, BRIEF_ADVICE, "  instead    %s", s->remedy);
	return 0;
}

int report_sittings(const struct rounds *rounds, const struct commands *commands,
	const struct options *options, const struct place *place, FILE *stream, struct brief *brief)
{
	const struct sittings *s = (const struct sittings *)rounds;
	_cleanup_text_ struct text t = { 0 };
	int r;

	if (commands->items[0].measurement->n_runs == 0)
		return 0;
	if (brief)
		return add_to_brief(brief, s, commands, options, place);
	append_head(&t, s, commands, place);
	append_names(&t, s, commands);
	append_figure(&t, s, commands, "CPU a request", SEAT_CPU);
	append_parts(&t, s, commands);
	append_figure(&t, s, commands, "requests/s", LOAD_RATE);
	append_latencies(&t, s, commands);
	append_figure(&t, s, commands, "switches each", SEAT_SWITCHES);
	for (size_t i = 0; s->counting && i < s->counting->n_events; i++)
		append_figure(
			&t, s, commands, s->counting->event_names[i], s->counting->event_names[i]);
	append_figure(&t, s, commands, "bytes each", SEAT_BYTES);
	append_busy(&t, s);
	append_spread(&t, s);
	append_ready(&t, s, commands);
	append_warm(&t, s);
	append_disturbed(&t, commands);
	if (t.failed)
		xalloc_fail();
	r = xprint_report(stream, "%s", t.data);
	return r < 0 ? r : print_verdict(s, commands, options, stream);
}
