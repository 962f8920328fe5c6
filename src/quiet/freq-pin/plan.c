// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/tunables.h"
#include "quiet/freq-pin/freq-pin.h"
#include "quiet/freq-pin/limit.h"

#define NO_TURBO "/sys/devices/system/cpu/intel_pstate/no_turbo"
#define DYNAMIC_BOOST "/sys/devices/system/cpu/intel_pstate/hwp_dynamic_boost"
#define MIN_PERF_PCT "/sys/devices/system/cpu/intel_pstate/min_perf_pct"
#define MAX_PERF_PCT "/sys/devices/system/cpu/intel_pstate/max_perf_pct"

enum {
	GROUP = 0,
};

unsigned plan_rank(const char *path)
{
	/* The files of one row have the same rank. The global boost comes before that of the
	 * policies, which cannot be written while the global one is off. */
	static const char *const order[][4] = {
		{ "scaling_governor" },
		{ "no_turbo", "hwp_dynamic_boost" },
		{ "cpufreq/boost" },
		{ "boost", "cpb" },
		{ "energy_performance_preference", "energy_perf_bias" },
		{ "max_perf_pct" },
		{ "min_perf_pct" },
		{ "scaling_min_freq", "scaling_max_freq" },
		{ "scaling_setspeed" },
	};
	size_t length = strlen(path), n;

	/* In the plan they come behind all governors, which make their files. */
	if (tunables_find_governor(path, &n))
		return 0;
	for (unsigned rank = 0; rank < ARRAY_SIZE(order); rank++) {
		for (size_t i = 0; i < ARRAY_SIZE(order[rank]) && order[rank][i]; i++) {
			n = strlen(order[rank][i]);
			if (length > n && path[length - n - 1] == '/' &&
				strcmp(path + length - n, order[rank][i]) == 0)
				return rank;
		}
	}
	return ARRAY_SIZE(order);
}

/* True also if that cannot be found out: then the engine says why the file cannot be read. */
static bool exists(const char *path)
{
	return access(path, F_OK) == 0 || !knob_error_is_unavailable(errno);
}

static bool is_driver(const struct policy *policy, const char *name)
{
	return strcmp(policy->info.driver, name) == 0;
}

static bool is_intel(const struct policy *policy)
{
	return is_driver(policy, "intel_pstate") || is_driver(policy, "intel_cpufreq");
}

static int set_cpus(struct knob *knob, const struct cpumask *cpus)
{
	knob->cpu = cpumask_first(cpus);
	return cpumask_copy(cpus, &knob->cpus);
}

/* Adds a knob of a policy if the file exists; *ret is NULL if not. wanted as in struct knob: with
 * NULL the value is only kept for restore. */
static int add_policy_knob(struct knob_plan *plan, const struct policy *policy, enum knob_kind kind,
	const char *file, const char *name, const char *wanted, struct knob **ret)
{
	char path[POLICY_PATH_SIZE];
	struct knob *knob;
	int r;

	*ret = NULL;
	if (!exists(policy_path(policy, file, path)))
		return 0;
	r = knob_plan_add(plan, GROUP, kind, path, wanted, &knob, "%s", name);
	if (r == 0)
		r = set_cpus(knob, policy->cpus);
	if (r == 0)
		*ret = knob;
	return r;
}

/* As knob_plan_add_word(), for CPUs. */
static int add_word(struct knob_plan *plan, enum knob_word word, const struct cpumask *cpus,
	const char *path, const char *name, const char *note)
{
	int r;

	r = knob_plan_add_word(plan, GROUP, word, path, note, "%s", name);
	if (r == 0 && cpus)
		r = set_cpus(&plan->knobs[plan->n - 1], cpus);
	return r;
}

static int add_governor(struct knob_plan *plan, const struct policy *policy,
	const struct setter_target *target _unused_)
{
	struct knob *knob;
	int r;

	r = add_policy_knob(
		plan, policy, KNOB_WORD, "scaling_governor", "governor", "performance", &knob);
	/* The kernel may be built without this governor; with minimum = maximum any other one holds
	 * the frequency, too. */
	if (knob)
		knob->may_be_refused = true;
	return r;
}

/* Keeps what the governors were told, which they forget when no policy uses them any more. */
static int add_tunables(struct knob_plan *plan, const struct policies *policies)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		if (policy_is_active(&policies->items[i]))
			r = tunables_add(plan, GROUP, policies->items[i].id);
	}
	return r;
}

/* --- Boost. --- */

/* The state of a boost switch that all selected policies share: on if one of them needs boost. */
static enum wanted_boost combine_boost(const struct policies *policies, bool intel)
{
	enum wanted_boost boost = WANTED_BOOST_UNCHANGED;

	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (policy_is_active(policy) && is_intel(policy) == intel)
			boost = MAX(boost, policy->target.boost);
	}
	return boost;
}

static int add_no_turbo(struct knob_plan *plan, const struct policies *policies)
{
	enum wanted_boost boost = combine_boost(policies, true);
	int r = 0;

	if (boost != WANTED_BOOST_UNCHANGED)
		r = knob_plan_add(plan, GROUP, KNOB_NUMBER, NO_TURBO,
			boost == WANTED_BOOST_OFF ? "1" : "0", NULL, "no_turbo");
	/* hwp_dynamic_boost raises the minimum for a while after I/O; only in active mode. */
	if (r == 0 && exists(DYNAMIC_BOOST))
		r = knob_plan_add(
			plan, GROUP, KNOB_NUMBER, DYNAMIC_BOOST, "0", NULL, "hwp_dynamic_boost");
	return r;
}

static bool has_file(const struct policy *policy, const char *file)
{
	char path[POLICY_PATH_SIZE];

	return exists(policy_path(policy, file, path));
}

/* Whether boost is to be set by the switches of the policies rather than by the global one: some
 * policies are not selected, and each selected one has a switch of its own, which works only while
 * the global switch is on. */
static bool boost_is_per_policy(const struct policies *policies, bool has_global)
{
	bool others = false;
	uint64_t on;

	if (!has_global)
		return true;
	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (!policy->selected)
			others = true;
		else if (policy->cpu >= 0 && !has_file(policy, "boost"))
			return false;
	}
	return others && file_read_attr_u64(AT_FDCWD, KNOB_GLOBAL_BOOST, &on) == 0 && on != 0;
}

static const char *boost_text(enum wanted_boost boost)
{
	switch (boost) {
	case WANTED_BOOST_OFF:
		return "0";
	case WANTED_BOOST_ON:
		return "1";
	case WANTED_BOOST_UNCHANGED:
		break;
	}
	return NULL;
}

static bool has_entry(struct journal *journal, const struct policy *policy, const char *file)
{
	char path[POLICY_PATH_SIZE];

	return journal && journal_find(journal, policy_path(policy, file, path));
}

/* Adds the policy's own switch. Where the global switch sets it as a side effect, it is only kept
 * for restore. */
static int add_policy_boost(struct knob_plan *plan, const struct policy *policy, bool per_policy,
	enum wanted_boost global, struct journal *journal)
{
	const char *wanted = NULL;
	struct knob *knob;
	int r;

	/* A policy whose CPUs were offline when the global switch was turned has what that made of
	 * it, and gets what it had with the original of that switch. */
	if (!per_policy && journal && journal_find(journal, KNOB_GLOBAL_BOOST) &&
		!has_entry(journal, policy, "boost") && !has_entry(journal, policy, "cpb"))
		return 0;
	if (policy_is_active(policy) && (per_policy || global == WANTED_BOOST_ON))
		wanted = boost_text(per_policy ? policy->target.boost : global);
	r = add_policy_knob(plan, policy, KNOB_NUMBER, "boost", "boost", wanted, &knob);
	/* Only where there is no `boost`: reading `cpb` gives the state of the global switch, but
	 * writing it changes the policy alone (drivers/cpufreq/acpi-cpufreq.c). */
	if (r == 0 && !knob)
		r = add_policy_knob(plan, policy, KNOB_NUMBER, "cpb", "boost",
			per_policy ? wanted : NULL, &knob);
	return r;
}

static int add_no_boost(struct knob_plan *plan, const struct policies *policies)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (!policy_is_active(policy) || is_intel(policy) || has_file(policy, "boost") ||
			has_file(policy, "cpb"))
			continue;
		r = add_word(plan, KNOB_UNAVAILABLE, policy->cpus, KNOB_GLOBAL_BOOST, "boost",
			"no switch: only the maximum keeps boost away");
	}
	return r;
}

static int add_boost(
	struct knob_plan *plan, const struct policies *policies, const struct setter_target *target)
{
	enum wanted_boost global = combine_boost(policies, false);
	bool has_global = exists(KNOB_GLOBAL_BOOST), per_policy, intel = false, other = false;
	int r = 0;

	for (size_t i = 0; i < policies->n; i++) {
		if (policy_is_active(&policies->items[i]))
			*(is_intel(&policies->items[i]) ? &intel : &other) = true;
	}
	if (intel)
		r = add_no_turbo(plan, policies);
	if (r < 0 || !other)
		return r;
	per_policy = boost_is_per_policy(policies, has_global);
	if (has_global && !per_policy && global != WANTED_BOOST_UNCHANGED)
		r = knob_plan_add(plan, GROUP, KNOB_NUMBER, KNOB_GLOBAL_BOOST, boost_text(global),
			NULL, "boost");
	/* The global switch also changes those of policies that were not selected. */
	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (policy_is_active(policy) || (policy->cpu >= 0 && !per_policy))
			r = add_policy_boost(plan, policy, per_policy, global, target->journal);
	}
	return r < 0 || has_global ? r : add_no_boost(plan, policies);
}

/* --- EPP, EPB and percentages. --- */

static bool has_epp(const struct policy *policy, const char *preference)
{
	char path[POLICY_PATH_SIZE], text[FILE_ATTR_SIZE], *state, *one;

	if (file_read_attr(AT_FDCWD,
		    policy_path(policy, "energy_performance_available_preferences", path), text,
		    sizeof(text)) < 0)
		return false;
	for (one = strtok_r(text, " \t\n", &state); one; one = strtok_r(NULL, " \t\n", &state)) {
		if (strcmp(one, preference) == 0)
			return true;
	}
	return false;
}

static int add_epp(struct knob_plan *plan, const struct policy *policy,
	const struct setter_target *target _unused_)
{
	const char *wanted = NULL;
	struct knob *knob;
	int r;

	/* Under governor `performance`, drivers in active mode set the EPP to `performance` and
	 * refuse a write. */
	if (!cpufreq_is_active_driver(policy->info.driver) && has_epp(policy, "performance"))
		wanted = "performance";
	r = add_policy_knob(
		plan, policy, KNOB_WORD, "energy_performance_preference", "EPP", wanted, &knob);
	if (knob)
		knob->may_be_refused = true;
	return r;
}

static int add_epb(
	struct knob_plan *plan, const struct policy *policy, const struct setter_target *target)
{
	cpumask_for_each (cpu, policy->cpus) {
		char path[POLICY_PATH_SIZE];
		struct knob *knob;
		int r;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/power/energy_perf_bias",
			cpu);
		if (!cpumask_isset(target->topology->online, cpu) || !exists(path))
			continue;
		r = knob_plan_add(plan, GROUP, KNOB_NUMBER, path, "0", &knob, "EPB");
		if (r < 0)
			return r;
		knob->cpu = cpu;
		knob->may_be_refused = true;
	}
	return 0;
}

/*
 * intel_pstate's percentages limit all policies, as a share of the highest turbo frequency. They
 * are written only where they would keep a policy from its frequency, and kept for restore in any
 * case, because turning turbo off may lower the minimum.
 */
static int add_percentages(struct knob_plan *plan, const struct policies *policies)
{
	uint64_t needed = 0, allowed = 100, now;
	bool is_concerned = false;
	char text[24];
	int r;

	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];
		uint64_t max = wanted_find_max(&policy->info, &policy->range);

		if (!policy_is_active(policy) || !is_intel(policy))
			continue;
		is_concerned = true;
		if (policy->target.khz == 0 || max == 0)
			continue;
		needed = MAX(needed, (policy->target.khz * 100 + max - 1) / max);
		allowed = MIN(allowed, policy->target.khz * 100 / max);
	}
	if (!is_concerned || !exists(MAX_PERF_PCT) || !exists(MIN_PERF_PCT))
		return 0;
	if (file_read_attr_u64(AT_FDCWD, MAX_PERF_PCT, &now) < 0)
		now = 100;
	r = knob_plan_add(plan, GROUP, KNOB_NUMBER, MAX_PERF_PCT, now < needed ? "100" : NULL, NULL,
		"max_perf_pct");
	if (r < 0)
		return r;
	if (file_read_attr_u64(AT_FDCWD, MIN_PERF_PCT, &now) < 0)
		now = 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)allowed);
	return knob_plan_add(plan, GROUP, KNOB_NUMBER, MIN_PERF_PCT, now > allowed ? text : NULL,
		NULL, "min_perf_pct");
}

/* --- Limits. --- */

static int add_limit(struct knob_plan *plan, const struct policy *policy, bool maximum)
{
	const struct wanted *target = &policy->target;
	struct knob *knob;
	char text[24];
	int r;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)target->khz);
	r = add_policy_knob(plan, policy, KNOB_FREQUENCY,
		maximum ? "scaling_max_freq" : "scaling_min_freq", maximum ? "maximum" : "minimum",
		text, &knob);
	if (r < 0 || !knob)
		return r;
	if (target->firmware_limits) {
		knob->may_be_refused = true;
		if (maximum) {
			knob->note = strdup("the firmware allows no more (bios_limit)");
			if (!knob->note)
				return -ENOMEM;
		}
	}
	return 0;
}

/* In the order in which the minimum is never above the maximum. */
static int add_limits(
	struct knob_plan *plan, const struct policy *policy, const struct setter_target *target)
{
	bool raise = target->verb == SETTER_APPLY && policy->target.khz > policy->info.max_khz;
	int r;

	if (policy->target.khz == 0)
		return add_word(plan, KNOB_UNAVAILABLE, policy->cpus,
			"/sys/devices/system/cpu/cpufreq", "frequency",
			wanted_shows_base_without_boost(&policy->info)
				? "the base frequency shows only while boost is off"
				: "the base frequency is not known: only boost is turned off");
	r = add_limit(plan, policy, raise);
	return r < 0 ? r : add_limit(plan, policy, !raise);
}

/* Whether the plan writes another value to one of the files, which all CPUs share: 1, 0, or an
 * error of this process. */
static int changes_any(const struct knob_plan *plan, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct knob *knob = knob_plan_find(plan, paths[i]);
		char now[FILE_ATTR_SIZE];
		int r;

		if (!knob || !knob->wanted)
			continue;
		r = file_read_attr(AT_FDCWD, knob->path, now, sizeof(now));
		if (r < 0 && errno_is_ours(-r))
			return r;
		if (r >= 0 && !knob_equal(knob->kind, now, knob->wanted))
			return 1;
	}
	return 0;
}

/* Whether the plan changes something that moves the limits of all policies: with boost, the
 * hardware's maximum moves, and in passive mode intel_pstate makes requests of its percentages
 * (update_qos_requests() in drivers/cpufreq/intel_pstate.c). */
static int moves_limits(const struct knob_plan *plan)
{
	static const char *const shared[] = { NO_TURBO, KNOB_GLOBAL_BOOST, MAX_PERF_PCT,
		MIN_PERF_PCT };

	return changes_any(plan, shared, ARRAY_SIZE(shared));
}

/* The same for the switch of a policy alone, and its limits. */
static int moves_own_limits(const struct knob_plan *plan, const struct policy *policy)
{
	char boost[POLICY_PATH_SIZE], cpb[POLICY_PATH_SIZE];
	const char *const own[] = { policy_path(policy, "boost", boost),
		policy_path(policy, "cpb", cpb) };

	return changes_any(plan, own, ARRAY_SIZE(own));
}

/*
 * Keeps a value of a policy that this apply does not set: where the apply moves it (`moved`), so
 * that a later apply does not take what it has become for the original, and where an earlier apply
 * has it, because what this one makes of it must not look like another program's change.
 */
static int keep(struct knob_plan *plan, const struct policy *policy,
	const struct setter_target *target, bool moved, const char *file, const char *name)
{
	struct knob *knob;

	if (!moved && !has_entry(target->journal, policy, file))
		return 0;
	return add_policy_knob(plan, policy, KNOB_FREQUENCY, file, name, NULL, &knob);
}

static int has_turned(struct journal *journal, const char *path, uint64_t value)
{
	uint64_t now;
	int r;

	if (!journal || !journal_find(journal, path))
		return 0;
	r = file_read_attr_u64(AT_FDCWD, path, &now);
	if (r < 0)
		return errno_is_ours(-r) ? r : 0;
	return now == value;
}

/* Whether the maximum that a policy shows, and that no journal has, may be less than what somebody
 * has asked for: a cooling device is at work, or boost was switched off by an earlier apply, when
 * the CPUs of the policy were offline. 1, 0, or an error of this process. */
static int hides_maximum(struct journal *journal, const struct policy *policy)
{
	char path[POLICY_PATH_SIZE];
	uint64_t maximum, hardware;
	int r;

	if (has_entry(journal, policy, "scaling_max_freq"))
		return 0;
	policy_path(policy, "scaling_max_freq", path);
	r = limit_read_beside(path, "scaling_max_freq", &maximum);
	if (r == 0)
		r = limit_read_beside(path, "cpuinfo_max_freq", &hardware);
	if (r < 0)
		return r;
	if (maximum < hardware)
		return limit_is_throttled(path);
	r = has_turned(journal, NO_TURBO, 1);
	return r != 0 ? r : has_turned(journal, KNOB_GLOBAL_BOOST, 0);
}

/* Keeps the limits of policies that were not asked for, or whose base frequency is not known. A
 * maximum that is hidden shows by itself when boost has its original again: to put back what shows
 * now would overwrite it. */
static int keep_limits(struct knob_plan *plan, const struct policies *policies,
	const struct setter_target *target, bool moved)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];
		int is_lost, hides;

		if (policy->cpu < 0 || (policy_is_active(policy) && policy->target.khz > 0))
			continue;
		is_lost = moved ? 1 : moves_own_limits(plan, policy);
		hides = is_lost > 0 ? hides_maximum(target->journal, policy) : is_lost;
		r = MIN(hides, 0);
		if (r == 0)
			r = keep(plan, policy, target, is_lost, "scaling_min_freq", "minimum");
		if (r == 0)
			r = keep(plan, policy, target, is_lost && !hides, "scaling_max_freq",
				"maximum");
	}
	return r;
}

static int keep_speeds(struct knob_plan *plan, const struct policies *policies,
	const struct setter_target *target, bool moved)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];
		bool is_lost = policy_is_active(policy) || moved;

		if (policy->cpu >= 0)
			r = keep(plan, policy, target, is_lost && tunables_has_speed(policy->id),
				"scaling_setspeed", "speed");
	}
	return r;
}

/* --- The whole plan. --- */

/* A complaint that several policies have in common is printed once, with all their CPUs. */
struct complaint {
	char *text;
	struct cpumask *cpus;
};

struct complaints {
	struct complaint *items;
	size_t n;
};

static void complaints_clear(struct complaints *complaints)
{
	for (size_t i = 0; i < complaints->n; i++) {
		free(complaints->items[i].text);
		cpumask_free(complaints->items[i].cpus);
	}
	free(complaints->items);
}

/* Owns the text from now on, also when it fails; NULL is -ENOMEM. */
static int complaints_add(struct complaints *complaints, char *text, const struct cpumask *cpus)
{
	struct complaint *items;
	int r;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < complaints->n; i++) {
		struct complaint *c = &complaints->items[i];

		if (strcmp(c->text, text) == 0) {
			cpumask_or(c->cpus, c->cpus, cpus);
			free(text);
			return 0;
		}
	}
	items = reallocarray(complaints->items, complaints->n + 1, sizeof(*items));
	if (!items) {
		free(text);
		return -ENOMEM;
	}
	complaints->items = items;
	items[complaints->n] = (struct complaint){ .text = text };
	r = cpumask_copy(cpus, &items[complaints->n].cpus);
	complaints->n++;
	return r;
}

static void complaints_say(const struct complaints *complaints)
{
	for (size_t i = 0; i < complaints->n; i++) {
		const struct complaint *complaint = &complaints->items[i];
		_cleanup_free_ char *cpus = cpumask_format_list(complaint->cpus);

		say("CPU%s %s: %s", cpumask_weight(complaint->cpus) == 1 ? "" : "s",
			cpus ? cpus : "?", complaint->text);
	}
}

/* -EINVAL when a policy does not have the frequency; says for all such policies what they have. */
static int choose_targets(const struct wanted_request *request, struct policies *policies)
{
	struct complaints complaints = { 0 };
	char buf[WANTED_TEXT_SIZE];
	int r = 0;

	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		struct policy *policy = &policies->items[i];

		if (!policy_is_active(policy))
			continue;
		if (wanted_choose(request, &policy->info, &policy->range, &policy->target) < 0)
			r = complaints_add(&complaints,
				wanted_format_range(&policy->info, &policy->range), policy->cpus);
	}
	for (size_t i = 0; r == 0 && i < complaints.n; i++) {
		_cleanup_free_ char *cpus = cpumask_format_list(complaints.items[i].cpus);

		say("%s is not among the frequencies of CPU%s %s: %s",
			wanted_format(request->khz, buf),
			cpumask_weight(complaints.items[i].cpus) == 1 ? "" : "s", cpus ? cpus : "?",
			complaints.items[i].text);
	}
	if (r == 0 && complaints.n > 0)
		r = -EINVAL;
	complaints_clear(&complaints);
	return r;
}

/* Whether the plan changes a switch that CPUs outside of the selected policies share: 1, 0, or an
 * error of this process. */
static int changes_others(const struct knob_plan *plan, const struct policies *policies)
{
	static const char *const switches[] = { NO_TURBO, KNOB_GLOBAL_BOOST };
	bool others = false;

	for (size_t i = 0; i < policies->n; i++)
		others = others || !policies->items[i].selected;
	return others ? changes_any(plan, switches, ARRAY_SIZE(switches)) : 0;
}

/* With -c: says which other CPUs are set as well, and which may still raise a shared clock. */
static int say_scope(const struct setter_target *target, const struct knob_plan *plan,
	const struct policies *policies)
{
	_cleanup_(cpumask) struct cpumask *beside = NULL, *sharing = NULL;
	_cleanup_free_ char *text = NULL, *domain = NULL;
	int changes;

	if (!target->cpus || target->verb != SETTER_APPLY)
		return 0;
	if (cpumask_new(&beside) < 0 || cpumask_new(&sharing) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (!policy_is_active(policy))
			continue;
		cpumask_or(beside, beside, policy->cpus);
		/* A policy that is held at its base cannot be made faster by another one without
		 * boost. */
		if (policy->domain &&
			policy->target.khz < wanted_find_base(&policy->info, &policy->range))
			cpumask_or(sharing, sharing, policy->domain);
	}
	cpumask_andnot(sharing, sharing, beside);
	cpumask_andnot(beside, beside, target->cpus);
	text = cpumask_format_list(beside);
	domain = cpumask_format_list(sharing);
	if (!text || !domain)
		return -ENOMEM;
	if (!cpumask_is_empty(beside))
		say("%s a policy with CPUs of -c, and %s set together with them: %s",
			cpumask_weight(beside) == 1 ? "this CPU shares" : "these CPUs share",
			cpumask_weight(beside) == 1 ? "is" : "are", text);
	if (!cpumask_is_empty(sharing))
		say("%s a clock with CPUs of -c, and may still ask for a higher frequency: %s",
			cpumask_weight(sharing) == 1 ? "this CPU shares" : "these CPUs share",
			domain);
	changes = changes_others(plan, policies);
	if (changes > 0)
		say("boost has one switch for all CPUs: it also changes for CPUs outside of -c");
	return MIN(changes, 0);
}

static int say_firmware(const struct setter_target *target, const struct policies *policies)
{
	struct complaints complaints = { 0 };
	char buf[WANTED_TEXT_SIZE];
	int r = 0;

	if (target->verb != SETTER_APPLY)
		return 0;
	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];
		char *text = NULL;
		int hides = 0;

		if (!policy_is_active(policy))
			continue;
		if (policy->target.firmware_limits) {
			(void)text_format(&text, "the firmware allows no more than %s (bios_limit)",
				wanted_format(policy->range.bios_limit_khz, buf));
			r = complaints_add(&complaints, text, policy->cpus);
		}
		if (r == 0)
			hides = hides_maximum(target->journal, policy);
		if (hides < 0)
			r = hides;
		if (hides > 0)
			r = complaints_add(&complaints,
				strdup("something else limits the frequency at present, so that a "
				       "maximum that was set does not show: restore will leave "
				       "none"),
				policy->cpus);
		if (r == 0 && policy->auto_select)
			r = complaints_add(&complaints,
				strdup("the firmware picks the frequency by itself (auto_select), "
				       "so it is not pinned"),
				policy->cpus);
	}
	if (r == 0)
		complaints_say(&complaints);
	complaints_clear(&complaints);
	return r;
}

/* Adds a row for the CPUs that are offline, and one for those without a policy. */
static int add_unsettable_cpus(
	struct knob_plan *plan, const struct policies *policies, const struct topology *topology)
{
	_cleanup_(cpumask) struct cpumask *offline = NULL, *none = NULL;
	char note[128] = "no cpufreq driver: the kernel does not set it";
	const char *hypervisor = NULL;
	bool hosted;
	int r;

	r = cpumask_new(&offline);
	if (r == 0)
		r = cpumask_copy(policies->without_policy, &none);
	if (r < 0)
		return r;
	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (policy->selected && policy->cpu < 0)
			cpumask_or(offline, offline, policy->cpus);
	}
	cpumask_for_each (cpu, policies->without_policy) {
		if (cpumask_isset(topology->online, cpu))
			continue;
		cpumask_clear(none, cpu);
		(void)cpumask_set(offline, cpu);
	}
	if (!cpumask_is_empty(none))
		r = virtualization_read_hypervisor(&hypervisor, NULL);
	if (r < 0)
		return r;
	hosted = hypervisor && strcmp(hypervisor, "lpar") != 0;
	if (hosted)
		snprintf(note, sizeof(note), "the host decides (hypervisor: %s)", hypervisor);
	if (!cpumask_is_empty(none))
		r = add_word(plan, hosted ? KNOB_HOST_CONTROLLED : KNOB_UNAVAILABLE, none,
			"/sys/devices/system/cpu/cpufreq", "frequency", note);
	if (r == 0 && !cpumask_is_empty(offline))
		r = add_word(plan, KNOB_UNAVAILABLE, offline, "/sys/devices/system/cpu/cpufreq",
			"frequency",
			policies->unread ? "built without libcpupower, which reads what they can"
					 : "offline");
	return r;
}

/* Adds the same knobs of every policy that is to be set. */
static int add_for_each(struct knob_plan *plan, const struct policies *policies,
	const struct setter_target *target,
	int (*add)(struct knob_plan *plan, const struct policy *policy,
		const struct setter_target *target))
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policies->n; i++) {
		if (policy_is_active(&policies->items[i]))
			r = add(plan, &policies->items[i], target);
	}
	return r;
}

static int add_all(
	struct knob_plan *plan, const struct policies *policies, const struct setter_target *target)
{
	int r;

	/* In the order of plan_rank(). */
	r = add_for_each(plan, policies, target, add_governor);
	if (r == 0)
		r = add_tunables(plan, policies);
	if (r == 0)
		r = add_boost(plan, policies, target);
	if (r == 0)
		r = add_for_each(plan, policies, target, add_epp);
	if (r == 0)
		r = add_for_each(plan, policies, target, add_epb);
	if (r == 0)
		r = add_percentages(plan, policies);
	if (r == 0)
		r = add_for_each(plan, policies, target, add_limits);
	if (r == 0 && target->verb == SETTER_APPLY) {
		int moved = moves_limits(plan);

		r = moved < 0 ? moved : keep_limits(plan, policies, target, moved);
		if (r == 0)
			r = keep_speeds(plan, policies, target, moved);
	}
	return r < 0 ? r : add_unsettable_cpus(plan, policies, target->topology);
}

int plan_make(const struct setter_target *target, struct knob_plan *plan, void *state)
{
	struct freq_pin *pin = state;
	bool is_first = !pin->policies;
	int r;

	policies_free(TAKE_PTR(pin->policies));
	r = policies_read(target->topology, target->cpus, &pin->policies);
	if (r == 0) {
		r = choose_targets(&pin->request, pin->policies);
		if (r == -EINVAL)
			return r;
	}
	if (r == 0)
		r = add_all(plan, pin->policies, target);
	if (r == 0 && is_first)
		r = say_scope(target, plan, pin->policies);
	if (r == 0 && is_first)
		r = say_firmware(target, pin->policies);
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot find out what to set");
	return r == -EINVAL ? -EIO : r;
}

/* Drivers whose maximum follows the switch of boost tell the base frequency only while it is off,
 * and some the maximum with boost only while it is on. */
bool plan_shows_more(const void *state)
{
	const struct freq_pin *pin = state;

	for (size_t i = 0; i < pin->policies->n; i++) {
		const struct policy *policy = &pin->policies->items[i];
		struct cpufreq_policy_info info;
		struct cpufreq_range range;
		struct wanted wanted;

		/* A minimum, a frequency that was asked for, and a base that was told stay what
		 * they are. */
		if (pin->request.kind != WANTED_MAX &&
			(pin->request.kind != WANTED_BASE || policy->target.khz > 0))
			continue;
		if (policy_is_active(policy) && cpufreq_read_policy(policy->cpu, &info) == 0 &&
			cpufreq_read_range(policy->cpu, info.driver, &range) == 0 &&
			wanted_choose(&pin->request, &info, &range, &wanted) == 0 &&
			wanted.khz > 0 && wanted.khz != policy->target.khz)
			return true;
	}
	return false;
}
