// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads which frequency the CPUs show after they were pinned. The result is a note, at most a
 * warning, never a failure: cpufreq_open_current() tells why a shown frequency is no proof.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/wait.h"
#include "quiet/freq-pin/freq-pin.h"

enum {
	STEP_MS = 20,
	/* A CPU that shows less is mostly idle, and a longer wait does not change that. */
	WAIT_LESS_MS = 100,
	WAIT_MORE_MS = 500,
};

enum shown_word {
	SHOWN_NOTHING, /* there is no such file */
	SHOWN_TARGET,  /* within 1 % */
	SHOWN_LESS,
	SHOWN_MORE,
};

struct shown {
	const struct policy *policy;
	uint64_t khz;
	enum shown_word word;
};

/* In kHz, 0 for none. cpuinfo_avg_freq (x86 and Arm since 6.16) is measured; reading it gives
 * EAGAIN while the CPU is idle. */
static uint64_t read_shown_khz(const struct policy *policy)
{
	static const char *const names[] = { "cpuinfo_avg_freq", "scaling_cur_freq" };
	char path[POLICY_PATH_SIZE];
	uint64_t khz;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (file_read_attr_u64(AT_FDCWD, policy_path(policy, names[i], path), &khz) == 0 &&
			khz > 0)
			return khz;
	}
	return 0;
}

static void read_shown(struct shown *shown)
{
	uint64_t target = shown->policy->target.khz;

	shown->khz = read_shown_khz(shown->policy);
	if (shown->khz == 0)
		shown->word = SHOWN_NOTHING;
	else if (shown->khz > target + target / 100)
		shown->word = SHOWN_MORE;
	else if (shown->khz < target - target / 100)
		shown->word = SHOWN_LESS;
	else
		shown->word = SHOWN_TARGET;
}

/* Reads until all policies show the frequency they were set to, at most for WAIT_MORE_MS. */
static void wait_for_targets(struct shown *shown, size_t n)
{
	int64_t began = clock_now_ns(CLOCK_MONOTONIC);
	struct wait wait = wait_until(began + WAIT_MORE_MS * NSEC_PER_MSEC, STEP_MS * NSEC_PER_MSEC,
		STEP_MS * NSEC_PER_MSEC);
	bool first = true, less, more, waited;

	do {
		less = more = false;
		waited = clock_now_ns(CLOCK_MONOTONIC) - began >= WAIT_LESS_MS * NSEC_PER_MSEC;
		for (size_t i = 0; i < n; i++) {
			if (first || shown[i].word == SHOWN_LESS || shown[i].word == SHOWN_MORE)
				read_shown(&shown[i]);
			less = less || shown[i].word == SHOWN_LESS;
			more = more || shown[i].word == SHOWN_MORE;
		}
		first = false;
	} while ((more || (less && !waited)) && wait_step(&wait));
}

static int add_note(struct knob_plan *plan, const struct shown *shown, bool verbose)
{
	char path[POLICY_PATH_SIZE], text[64];
	struct knob *knob =
		knob_plan_find(plan, policy_path(shown->policy, "scaling_max_freq", path));
	char *both;

	if (!knob || shown->word == SHOWN_NOTHING)
		return 0;
	/* Rows with equal notes become one row of the table. So only the verbose table tells exact
	 * values, which differ between CPUs by a MHz or more. */
	if (verbose)
		snprintf(text, sizeof(text), "shows %.2f GHz", (double)shown->khz / 1e6);
	else if (shown->word == SHOWN_TARGET)
		snprintf(text, sizeof(text), "shows %.2f GHz",
			(double)shown->policy->target.khz / 1e6);
	else
		snprintf(text, sizeof(text), "%s",
			shown->word == SHOWN_LESS ? "shows less (idle?)" : "shows more");
	if (asprintf(&both, "%s%s%s", knob->note ? knob->note : "", knob->note ? "; " : "", text) <
		0)
		return -ENOMEM;
	free(knob->note);
	knob->note = both;
	return 0;
}

/* Says in one line which CPUs are too fast. */
static int warn_of_fast(const struct shown *shown, size_t n, const struct wanted_request *request)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *list = NULL;
	const struct shown *worst = NULL;
	char buf[WANTED_TEXT_SIZE];
	uint64_t base;

	/* Some drivers do not know the maximum with boost, and the CPU exceeds what they show. */
	if (request->kind == WANTED_MAX)
		return 0;
	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (shown[i].word != SHOWN_MORE)
			continue;
		cpumask_or(cpus, cpus, shown[i].policy->cpus);
		if (!worst || shown[i].khz > worst->khz)
			worst = &shown[i];
	}
	if (!worst)
		return 0;
	list = cpumask_format_list(cpus);
	base = wanted_find_base(&worst->policy->info, &worst->policy->range);
	say("CPU%s %s: the kernel shows up to %.2f GHz instead of %s%s",
		cpumask_weight(cpus) == 1 ? "" : "s", list ? list : "?", (double)worst->khz / 1e6,
		wanted_format(worst->policy->target.khz, buf),
		base > 0 && worst->khz > base + base / 100 ? "; is boost still on?" : "");
	return 0;
}

int verify_shown(const struct setter_target *target, struct knob_plan *plan, void *state)
{
	const struct freq_pin *pin = state;
	const struct policies *policies = pin->policies;
	_cleanup_free_ struct shown *shown = calloc(policies->n + 1, sizeof(*shown));
	size_t n = 0;
	int r = 0;

	if (!shown)
		return 0;
	for (size_t i = 0; i < policies->n; i++) {
		const struct policy *policy = &policies->items[i];

		if (policy_is_active(policy) && policy->target.khz > 0)
			shown[n++].policy = policy;
	}
	wait_for_targets(shown, n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_note(plan, &shown[i], target->verbose);
	if (r == 0)
		r = warn_of_fast(shown, n, &pin->request);
	if (r < 0)
		say_errno(r, "cannot compare the frequencies that the CPUs show");
	return 0;
}
