// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/stats/stats.h"
#include "measure/serve/bottleneck.h"
#include "measure/serve/loads.h"

/* Where the service had its CPUs for less of the time, it was not the limit. */
#define BUSY_ENOUGH 0.85
/* Where it had them for more, requests wait for one another for a time that the smallest difference
 * multiplies. */
#define BUSY_TOO_MUCH 0.7
/* Services and load together had so much of the CPUs that they share. */
#define CPUS_FULL 0.9
/* The rate that the load has to reach, of the one that it was told. */
#define RATE_HELD 0.98

enum {
	SITTINGS_ENOUGH = 3, /* to see that nothing will follow from the others either */
};

/* NAN where it is not known. */
static double get_busy(const struct sittings *s, size_t i)
{
	return account_median(&s->seats[i].account, SEAT_BUSY);
}

/* The least and the most busy service. */
static void find_busy(const struct sittings *s, size_t *ret_least, size_t *ret_most)
{
	*ret_least = *ret_most = 0;
	for (size_t i = 1; i < s->n; i++) {
		if (get_busy(s, i) < get_busy(s, *ret_least))
			*ret_least = i;
		if (get_busy(s, i) > get_busy(s, *ret_most))
			*ret_most = i;
	}
}

static void set(struct bottleneck *ret, const char *brief, char *why, const char *remedy)
{
	*ret = (struct bottleneck){ brief, why ? why : xptr(strdup(brief)), remedy };
}

static void find_of_throughput(
	const struct sittings *s, const struct commands *commands, struct bottleneck *ret)
{
	size_t least, most;

	find_busy(s, &least, &most);
	if (s->asked->rate > 0)
		set(ret, "open loop", xptr(strdup("the load is an open loop, whose rate is given")),
			"leave out --rate");
	else if (sittings_share_cpus(s))
		set(ret, "the load has the same CPU",
			xptr(strdup(
				"the load has the same CPU, and takes its time from the service")),
			"give it others by --load-cpus");
	else if (!(get_busy(s, least) >= BUSY_ENOUGH))
		set(ret, "the service is not the limit",
			xformat("%s was busy %.0f %% of the time, so it was not the limit",
				commands->items[least].name, 100 * get_busy(s, least)),
			"give the load more connections, or more CPUs");
}

/* Whether the figure is known of each slice. */
static bool is_whole(const struct account *account, const char *name)
{
	const struct tally *tally = account_find(account, name);

	for (size_t i = 0; tally && i < account->n_slices; i++)
		if (!isfinite(tally->values[i]))
			return false;
	return tally;
}

static void find_of_latency(const struct sittings *s, const struct commands *commands,
	const char *name, struct bottleneck *ret)
{
	size_t least, most;

	find_busy(s, &least, &most);
	if (!(s->asked->rate > 0)) {
		set(ret, "closed loop",
			xptr(strdup("the load is a closed loop, where a service that stalls gets "
				    "fewer requests")),
			"have a load that keeps a rate, and tell it by --rate");
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		double rate = account_median(&s->seats[i].account, LOAD_RATE);

		if (rate < RATE_HELD * s->asked->rate) {
			set(ret, "the rate was not held",
				xformat("the rate was not held: %s got %.0f of %.0f requests/s",
					commands->items[i].name, rate, s->asked->rate),
				"give a lower --rate, or the load more CPUs");
			return;
		}
		if (!is_whole(&s->seats[i].account, name)) {
			set(ret, "fewer than 10 requests lie beyond it",
				xptr(strdup("fewer than 10 requests of a slice lie beyond it")),
				"have longer slices");
			return;
		}
	}
	if (!(get_busy(s, most) <= BUSY_TOO_MUCH))
		set(ret, "the service is too busy",
			xformat("%s was busy %.0f %% of the time, so that requests wait for one "
				"another",
				commands->items[most].name, 100 * get_busy(s, most)),
			"give a lower --rate");
}

static bool is_rate(const char *unit)
{
	size_t n = strlen(unit);

	return n >= 2 && strcmp(unit + n - 2, "/s") == 0;
}

bool bottleneck_is_part(const char *name)
{
	return strcmp(name, SEAT_USER) == 0 || strcmp(name, SEAT_SYSTEM) == 0;
}

double bottleneck_get_load_busy(const struct sittings *s)
{
	_cleanup_free_ double *scratch = xptr(calloc(s->n_load_busy + 1, sizeof(*scratch)));

	return s->n_load_busy > 0 ? stats_find_median(s->load_busy, s->n_load_busy, scratch) : NAN;
}

/* Where half of the answers take 40 ms while the CPUs are idle, the service writes an answer in two
 * parts, and its kernel keeps the second one until the first is acknowledged, which the client's
 * kernel delays by TCP_DELACK_MIN (include/net/tcp.h). */
static const char *tell_delay(const struct sittings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		double p50 = account_median(&s->seats[i].account, "p50");

		if (p50 >= 0.039 && p50 <= 0.05)
			return "; answers wait 40 ms for TCP: TCP_NODELAY is missing";
	}
	return "";
}

static char *tell_limit_of_same(const struct sittings *s, double busy, double load)
{
	const char *cpus = "the CPUs, which services and load have together";

	if (busy + load >= CPUS_FULL)
		return xptr(strdup(cpus));
	if (busy + load + account_median(&s->seats[0].account, SEAT_WAITS) >= CPUS_FULL)
		return xformat("%s, and others take them as well", cpus);
	return xformat("nobody: the CPUs were idle for %.0f %% of the time%s",
		100 * (1 - busy - load), tell_delay(s));
}

char *bottleneck_tell_limit(const struct sittings *s, const struct commands *commands)
{
	double load = bottleneck_get_load_busy(s), waits;
	size_t least, most;

	find_busy(s, &least, &most);
	waits = account_median(&s->seats[least].account, SEAT_WAITS);
	if (sittings_share_cpus(s))
		return tell_limit_of_same(s, get_busy(s, least), load);
	if (get_busy(s, least) >= BUSY_ENOUGH)
		return xformat("the services, busy %.0f %% of the time and more",
			100 * get_busy(s, least));
	if (load >= BUSY_ENOUGH)
		return xformat("the load, busy %.0f %% of the time", 100 * load);
	if (get_busy(s, least) + waits >= BUSY_ENOUGH)
		return xformat(
			"others on the CPUs of the services: %s waited for %.0f %% of the time",
			commands->items[least].name, 100 * waits);
	if (s->asked->rate > 0)
		return xptr(strdup("the rate, which is given"));
	return xformat("nobody: services and load wait for one another, or sleep%s", tell_delay(s));
}

bool bottleneck_find(const struct sittings *sittings, const struct commands *commands,
	const char *name, const char *unit, struct bottleneck *ret)
{
	*ret = (struct bottleneck){ 0 };
	if (strcmp(name, SEAT_CPU) == 0)
		return true;
	if (bottleneck_is_part(name))
		set(ret, "a part of the CPU time", NULL, NULL);
	else if (strcmp(name, SEAT_BUSY) == 0 || strcmp(name, SEAT_WAITS) == 0)
		set(ret, "it tells of the load as much as of the service", NULL, NULL);
	else if (is_rate(unit))
		find_of_throughput(sittings, commands, ret);
	else if (tally_is_time(unit))
		find_of_latency(sittings, commands, name, ret);
	return !ret->brief;
}

void bottleneck_clear(struct bottleneck *bottleneck)
{
	free(bottleneck->why);
	*bottleneck = (struct bottleneck){ 0 };
}

/* Whether something follows from the figure that decides. */
static bool find_of_metric(
	const struct sittings *s, const struct commands *commands, struct bottleneck *ret)
{
	const struct tally *tally = account_find(&s->seats[0].account, commands->metric);

	*ret = (struct bottleneck){ 0 };
	return !tally || bottleneck_find(s, commands, commands->metric, tally->unit, ret);
}

bool bottleneck_is_hopeless(const struct sittings *sittings, const struct commands *commands,
	const struct options *options)
{
	struct bottleneck found;
	bool is_hopeless;

	if (options->decide == 0 ||
		account_count_sittings(&sittings->seats[0].account) < SITTINGS_ENOUGH)
		return false;
	is_hopeless = !find_of_metric(sittings, commands, &found);
	bottleneck_clear(&found);
	return is_hopeless;
}

void bottleneck_judge(struct sittings *sittings, struct commands *commands)
{
	struct bottleneck found;

	free(sittings->nothing);
	(void)find_of_metric(sittings, commands, &found);
	sittings->nothing = found.why;
	sittings->remedy = found.remedy;
	for (size_t i = 0; sittings->nothing && i < commands->n; i++) {
		struct measurement *m = commands->items[i].measurement;
		size_t event = series_find_event(m->series, commands->metric);

		m->decision.verdict = DECISION_NOT_SETTLED;
		m->decision.settled_after = 0;
		/* Nobody is to compare it later. */
		if (event < m->series->n_events)
			series_remove_event(m->series, event);
	}
}

char *bottleneck_tell_nothing(const struct sittings *sittings)
{
	if (!sittings->nothing)
		return NULL;
	return sittings->remedy ? xformat("%s: %s", sittings->nothing, sittings->remedy)
				: xptr(strdup(sittings->nothing));
}
