// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "basic/text.h"
#include "knob/order.h"
#include "knob/rollback.h"

/* Whether it is as it was, with CPUs that are offline as well where it was known. */
static bool is_back(const struct engine *engine, const struct knob *knob)
{
	_cleanup_free_ char *now = NULL, *whole = NULL;

	if (knob_read(engine->backends, knob->path, &now) < 0 ||
		!knob_equal(knob->kind, now, knob->before))
		return false;
	return !knob->whole ||
		(knob_read_whole(engine->backends, knob->path, &whole) == 0 &&
			knob_equal(knob->kind, whole, knob->whole));
}

/* Whether what shows of it may be from before it was written just now. The kernel has refused a
 * frequency for good. */
static bool may_come_yet(const struct engine *engine, const struct knob *knob)
{
	return knob->turned && knob_comes_late(engine->backends, knob->kind, knob->path) &&
		(knob->kind != KNOB_FREQUENCY || knob->error == 0);
}

/* Turns one knob back that this call has turned, or that others may have moved. */
static int roll_back_knob(const struct engine *engine, struct knob *knob)
{
	_cleanup_free_ char *text = NULL;
	int r;

	if (knob->word == KNOB_APPLIED)
		knob->word = KNOB_NONE;
	if (!may_come_yet(engine, knob) && is_back(engine, knob))
		return 0;
	text = knob_writable(knob->kind, knob->whole ? knob->whole : knob->before);
	if (!text)
		return -ENOMEM;
	(void)text_replace(&knob->now, knob->before);
	r = knob_write(engine->backends, knob->path, text);
	return engine_may_stay(engine, knob->path, r) ? 0 : r;
}

/* Whether all are as they were; what a knob that came later has moved is written once more. */
static int verify_rolled_back(const struct engine *engine, const struct knob_plan *plan)
{
	int64_t deadline = knob_deadline();
	int result = 0;

	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		_cleanup_free_ char *now = NULL, *text = NULL, *after = NULL;
		int r;

		if (!knob->before)
			continue;
		r = knob_read_back(
			engine->backends, knob->kind, knob->path, knob->before, deadline, &now);
		if (r == 0 && knob_equal(knob->kind, now, knob->before))
			continue;
		text = knob_writable(knob->kind, knob->before);
		r = text ? knob_write(engine->backends, knob->path, text) : -ENOMEM;
		if (r == 0)
			r = knob_read_back(engine->backends, knob->kind, knob->path, knob->before,
				knob_deadline(), &after);
		if (r == 0 && !knob_equal(knob->kind, after, knob->before))
			r = -EINVAL;
		if (r < 0 && result == 0 && !engine_may_stay(engine, knob->path, r))
			result = r;
	}
	return result;
}

/* All of a group; the first error. */
static int roll_back_group(const struct engine *engine, const struct knob_plan *plan,
	const struct order_place *places, size_t n)
{
	bool again = false;
	int result = 0, r;

	for (size_t i = 0; i < n; i++) {
		struct knob *knob = &plan->knobs[places[i].index];

		if (!knob->before)
			continue;
		r = roll_back_knob(engine, knob);
		if (order_is_to_write_again(knob->kind, r))
			again = true;
		else if (r < 0 && result == 0)
			result = r;
	}
	for (size_t i = 0; again && i < n; i++) {
		struct knob *knob = &plan->knobs[places[i].index];

		if (!knob->before || knob->kind != KNOB_FREQUENCY)
			continue;
		r = roll_back_knob(engine, knob);
		if (r < 0 && result == 0)
			result = r;
	}
	return result;
}

int rollback_plan(const struct engine *engine, const struct knob_plan *plan)
{
	_cleanup_free_ struct order_place *places = calloc(plan->n + 1, sizeof(*places));
	int result = 0, r;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n; i++)
		places[i] = (struct order_place){ .group = plan->knobs[i].group, .index = i };
	order_sort_backwards(places, plan->n);
	for (size_t i = 0, end; i < plan->n; i = end) {
		end = order_find_group_end(places, plan->n, i);
		r = roll_back_group(engine, plan, &places[i], end - i);
		if (r < 0 && result == 0)
			result = r;
	}
	r = verify_rolled_back(engine, plan);
	return result < 0 ? result : r;
}
