// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/machine/irqline.h"
#include "base/macro.h"
#include "base/text.h"
#include "quiet/engine/apply.h"
#include "quiet/engine/hotplug.h"
#include "quiet/engine/inspect.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/layers.h"
#include "quiet/engine/order.h"
#include "quiet/engine/pins.h"
#include "quiet/engine/restore.h"

/* Whether this knob is to be written. */
static bool is_to_write(const struct knob *knob)
{
	return !knob->settled && knob->wanted && knob->now && knob->word == KNOB_NONE;
}

/* Whether this knob is only to be kept: turning another knob may change it as a side effect. */
static bool is_to_keep(const struct knob *knob)
{
	return !knob->settled && !knob->wanted && knob->now;
}

/* Whether this knob has the wanted value already, which another knob may change as a side effect.
 */
static bool is_to_guard(const struct knob *knob)
{
	return !knob->settled && knob->wanted && knob->now &&
		(knob->word == KNOB_ALREADY || knob->word == KNOB_APPLIED);
}

/* The value that restore has to put back. */
static const char *value_to_put_back(const struct knob *knob)
{
	return knob->with_offline ? knob->with_offline : knob->now;
}

/*
 * Whether the value that the knob has now is to be put back later, instead of the one that the
 * journal has. That is so if a restore has left the knob to somebody else, and if another setter
 * has turned the knob since: then that one takes over our old value, and we become the topmost
 * layer. A knob that has the wanted value already will have it in the end as well, so that its
 * layers stay.
 */
static int begin_anew(struct layers *layers, const struct journal_entry *entry,
	const struct knob *knob, bool *ret)
{
	bool is_covered = !is_to_guard(knob) && layers_find_above(layers, entry);
	int r = is_covered && !entry->left_alone ? layers_hand_over(layers, entry) : 0;

	if (r == 0)
		*ret = is_covered || entry->left_alone;
	return r;
}

static enum journal_role find_role(const struct knob *knob)
{
	return is_to_write(knob) ? JOURNAL_TURNED : is_to_guard(knob) ? JOURNAL_SAME : JOURNAL_KEPT;
}

/* Notes a knob that the journal does not have yet. */
static int note_new(const struct engine *engine, struct journal *earlier, struct journal *journal,
	struct knob *knob)
{
	_cleanup_free_ char *original = NULL;
	struct journal_entry *entry;
	int r;

	r = engine_is_at_limit(engine, knob->path, knob->now);
	if (r < 0)
		return r;
	knob->at_limit = r > 0;
	r = irqs_find_original(earlier, engine->lines, knob->path, &original);
	if (r == 0)
		r = journal_add(journal, knob->group, knob->kind, knob->path, knob->name,
			original ? original : value_to_put_back(knob), NULL);
	if (r < 0)
		return r;
	entry = &journal->entries[journal->n - 1];
	entry->role = find_role(knob);
	entry->free = knob->at_limit;
	return 0;
}

/*
 * Notes all knobs that may change, with the values that they have now. What they will become is not
 * known until they have been read back. If the journal has an old value of a knob already, that one
 * stays, unless begin_anew().
 */
static int note_in_journal(const struct engine *engine, struct layers *layers,
	struct journal *earlier, struct journal *journal, struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		struct journal_entry *entry;
		bool anew = false;
		int r;

		if (!is_to_write(knob) && !is_to_keep(knob) && !is_to_guard(knob))
			continue;
		/* The journal began as a copy of the earlier one. Entries are looked up in the
		 * earlier one, because the journal would be sorted again after each addition. */
		entry = earlier ? journal_find(earlier, knob->path) : NULL;
		if (entry) {
			entry = &journal->entries[entry - earlier->entries];
			/* An apply that was killed may have written it, because it was moved. */
			if (!entry->new && entry->role == JOURNAL_SAME)
				entry->role = JOURNAL_TURNED;
			free(knob->earlier_outcome);
			knob->earlier_outcome = TAKE_PTR(entry->new);
			r = begin_anew(layers, entry, knob, &anew);
			if (r == 0 && (anew || is_to_write(knob)))
				free(TAKE_PTR(knob->earlier_outcome));
			if (r == 0 && anew) {
				r = engine_is_at_limit(engine, knob->path, knob->now);
				entry->free = r > 0;
				if (r >= 0)
					r = journal_set_old(entry, value_to_put_back(knob));
			}
			if (r < 0)
				return r;
			entry->left_alone = false;
			entry->waits_for_cpu = false;
			entry->role = anew ? find_role(knob) : MIN(entry->role, find_role(knob));
			continue;
		}
		r = note_new(engine, earlier, journal, knob);
		if (r < 0)
			return r;
	}
	return engine->rank ? journal_sort(journal, engine->rank) : 0;
}

/* Notes that the knob did not take the wanted value. Returns the error if the apply has to fail
 * because of that: always if the value may still arrive later in spite of the refusal. */
static int note_refusal(
	const struct engine *engine, struct knob *knob, int error, struct engine_failure *failure)
{
	bool late = knob->kind != KNOB_FREQUENCY &&
		knob_comes_late(engine->backends, knob->kind, knob->path);

	knob->error = -error;
	knob->word = knob_error_is_unavailable(-error) ? KNOB_UNAVAILABLE : KNOB_DENIED;
	if (knob->word == KNOB_UNAVAILABLE && !engine->strict)
		return 0;
	if (knob->may_be_refused && !engine->strict && !late)
		return 0;
	engine_failure_set(failure, knob->path, "cannot set %s to %s", knob->name, knob->wanted);
	return error;
}

/*
 * Notes that the knob cannot be read back, so that its value is not known. The journal keeps the
 * old value. Returns the error if the apply has to fail because of that: it need not if the knob is
 * gone, because its setting is gone with it.
 */
static int note_unreadable(
	const struct engine *engine, struct knob *knob, int error, struct engine_failure *failure)
{
	free(TAKE_PTR(knob->now));
	knob->error = -error;
	knob->word = knob_error_is_unavailable(-error) ? KNOB_UNAVAILABLE : KNOB_DENIED;
	if (knob->word == KNOB_UNAVAILABLE && !engine->strict)
		return 0;
	engine_failure_set(failure, knob->path, "cannot read %s back", knob->name);
	return error;
}

/* Writes limits again that were refused, now that the other limits of their group are set. */
static int write_refused_limits_again(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		int r;

		if (!knob->before_apply || !order_is_to_write_again(knob->kind, -knob->error))
			continue;
		knob->error = 0;
		r = engine_write(engine, knob->path, knob->wanted);
		if (r < 0)
			r = note_refusal(engine, knob, r, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Writes knobs that had the wanted value until another knob was turned. */
static int write_moved(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		_cleanup_free_ char *now = NULL;
		int r;

		if (!knob->before_apply || !is_to_guard(knob))
			continue;
		r = knob_read(engine->backends, knob->path, &now);
		if (r == 0 && knob_equal(knob->kind, now, knob->wanted))
			continue;
		knob->turned = true;
		if (r < 0)
			r = note_unreadable(engine, knob, r, failure);
		else
			r = engine_write(engine, knob->path, knob->wanted);
		if (r < 0 && knob->now)
			r = note_refusal(engine, knob, r, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Writes the knobs in the order of the plan. Stops at the first failure that fails the apply. */
static int write_knobs(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	int r;

	/* This is noted for all knobs before the first write: a write that fails may already have
	 * moved knobs that come later in the plan. */
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];

		if (!is_to_keep(knob) && !is_to_guard(knob) && !is_to_write(knob))
			continue;
		r = text_replace(&knob->before_apply, knob->now);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];

		if (!is_to_write(knob))
			continue;
		knob->turned = true;
		r = engine_write(engine, knob->path, knob->wanted);
		if (order_is_to_write_again(knob->kind, r)) {
			knob->error = -r;
			continue;
		}
		if (r < 0) {
			r = note_refusal(engine, knob, r, failure);
			if (r < 0)
				return r;
		}
	}
	r = write_refused_limits_again(engine, plan, failure);
	return r < 0 ? r : write_moved(engine, plan, failure);
}

/* Whether a knob that had the wanted value already had to be written after all. */
static bool any_guarded_turned(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (plan->knobs[i].turned && is_to_guard(&plan->knobs[i]))
			return true;
	}
	return false;
}

/* Checks whether a knob that accepted the wanted value has it now. Returns an error if it has not
 * and the apply has to fail because of that. */
static int judge_knob(
	const struct engine *engine, struct knob *knob, struct engine_failure *failure)
{
	if (knob_equal(knob->kind, knob->now, knob->wanted)) {
		if (knob->word != KNOB_ALREADY)
			knob->word = KNOB_APPLIED;
		return 0;
	}
	if (knob->kind == KNOB_FREQUENCY &&
		!knob_equal(knob->kind, knob->now, knob->before_apply)) {
		knob->word = KNOB_APPLIED;
		(void)knob_set_note(knob, "the driver made it %s", knob->now);
		return 0;
	}
	knob->word = KNOB_DENIED;
	(void)knob_set_note(knob, "the kernel kept %s", knob->now);
	if (knob->may_be_refused && !engine->strict)
		return 0;
	engine_failure_set(failure, knob->path, "%s was set to %s, but the kernel kept %s",
		knob->name, knob->wanted, knob->now);
	return -EINVAL;
}

/* Reads all knobs back that were written or may have moved, and judges them. A knob that had the
 * wanted value already was checked after the last write, and is not read again unless its value may
 * change late. */
static int read_knobs_back(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	bool look_at_all = any_guarded_turned(plan);
	int64_t deadline = knob_deadline();

	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		char *now;
		int r;

		if (!knob->before_apply ||
			(!look_at_all && is_to_guard(knob) && knob->kind != KNOB_FREQUENCY))
			continue;
		r = knob->wanted && knob->error == 0
			? knob_read_back(engine->backends, knob->kind, knob->path, knob->wanted,
				  deadline, &now)
			: knob_read(engine->backends, knob->path, &now);
		if (r < 0 && !knob->wanted) {
			/* Another knob has removed the file, for example by taking a CPU offline.
			 */
			free(TAKE_PTR(knob->now));
			continue;
		}
		if (r < 0) {
			r = note_unreadable(engine, knob, r, failure);
			if (r < 0)
				return r;
			continue;
		}
		free(knob->now);
		knob->now = now;
		if (!knob->wanted || knob->error != 0)
			continue;
		r = judge_knob(engine, knob, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Whether a value was written that does not show yet, and may still arrive. */
static bool may_arrive(const struct engine *engine, const struct knob *knob)
{
	return knob->word == KNOB_DENIED && knob->error == 0 &&
		knob_comes_late(engine->backends, knob->kind, knob->path);
}

/* Whether a knob that could not be set still has its old value, and nothing that we wrote can
 * arrive late. Then there is nothing to put back. This does not hold for a knob that went well:
 * even if it had the wanted value already, putting back another knob may move it. */
static bool is_untouched(const struct engine *engine, const struct knob *knob, const char *old)
{
	return knob->wanted && !knob_went_well(knob) && knob_equal(knob->kind, knob->now, old) &&
		!may_arrive(engine, knob);
}

/* Whether somebody has given a thread that is only kept other CPUs while this apply was at work: 1,
 * 0 or an error. Then the apply has not changed them, and restore must not either. */
static int was_chosen_meanwhile(
	const struct engine *engine, const struct knob *knob, const struct journal_entry *entry)
{
	const char *rest;
	const struct knob_backend *backend = knob_find_backend(engine->backends, knob->path, &rest);
	int r;

	if (knob->wanted || knob->turned || !knob->now || !backend || !backend->fleeting ||
		!backend->made_by_kernel || knob_equal(knob->kind, knob->now, knob->before_apply))
		return 0;
	/* Where the kernel forgets what threads have chosen, the pins know that, and the thread has
	 * what its cpuset allows of its choice. */
	if (engine->pins) {
		r = pins_is_chosen_anew(engine->pins, knob->path, entry->old);
		return r == -ENOENT ? 0 : r;
	}
	r = backend->made_by_kernel(rest, knob->before_apply, "", knob->now);
	return r < 0 ? r : !r;
}

/* Writes into the journal what the knobs have become, as far as that is known. */
static int note_outcome(const struct engine *engine, const struct layers *layers,
	struct journal *journal, struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		const struct journal_entry *above;
		struct journal_entry *entry;
		const char *now;
		int r;

		entry = knob->before_apply ? journal_find(journal, knob->path) : NULL;
		if (!entry)
			continue;
		/* A knob that had the wanted value may have been turned by another setter since.
		 * Then the value now is that setter's, and ours is the one that it found. */
		above = layers_find_above(layers, entry);
		now = above ? above->old : may_arrive(engine, knob) ? NULL : knob->now;
		/* A knob that this apply did not write or move, but that differs from what the
		 * earlier apply left, was changed by somebody else in between. Keep the earlier
		 * outcome, so that restore sees that change. */
		if (!above && now && knob->earlier_outcome &&
			knob_equal(knob->kind, now, knob->before_apply))
			now = knob->earlier_outcome;
		r = above ? 0 : was_chosen_meanwhile(engine, knob, entry);
		if (r < 0) {
			engine_failure_set(
				failure, NULL, "cannot find out who has changed %s", knob->name);
			return r;
		}
		if (r > 0)
			now = entry->old;
		if (knob->turned)
			entry->role = JOURNAL_TURNED;
		r = text_replace(&knob->original, entry->old);
		if (r == 0 && now)
			r = text_replace(&entry->new, now);
		if (r < 0)
			return r;
		entry->drop = knob->now && is_untouched(engine, knob, entry->old);
		if (entry->drop)
			free(TAKE_PTR(knob->original));
	}
	journal_drop(journal);
	return 0;
}

/* Adds to the failure that not everything could be put back. */
static void say_not_undone(struct engine_failure *failure, const char *tool)
{
	char *both;

	failure->not_undone = true;
	if (asprintf(&both, "%s%snot everything could be put back, see `%s restore`",
		    failure->what ? failure->what : "", failure->what ? "; and " : "", tool) < 0)
		return;
	free(failure->what);
	failure->what = both;
}

/* Makes the journals what they were before an apply. The layers keep our old values until our own
 * journal has them again. */
static void put_journals_back(const struct journal *earlier, const struct layers *earlier_layers)
{
	if (journal_save(earlier) == 0 && earlier_layers)
		(void)layers_save_all(earlier_layers);
}

/* After a failed apply, makes the knobs and the journals what they were before it. If some knob
 * cannot be put back, the journals keep the old values, and a later `restore` may succeed. */
static void undo_apply(const struct engine *engine, struct knob_plan *plan,
	const struct journal *journal, const struct journal *earlier,
	const struct layers *earlier_layers, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *remaining = NULL;
	int r;

	r = journal_new(engine->tool, &remaining);
	if (r == 0)
		r = restore_turned(engine, plan, journal->online, remaining);
	if (r < 0 || remaining->n > 0) {
		/* If there was no earlier journal, only what remains is still to be done. */
		if (r == 0 && !earlier)
			(void)journal_save(remaining);
		say_not_undone(failure, engine->tool);
		return;
	}
	if (earlier)
		put_journals_back(earlier, earlier_layers);
	else
		(void)journal_remove(engine->tool);
}

/* With --strict: fails if a knob is not there or cannot be read. Rows that the plan has settled are
 * the setter's own business. */
static int refuse_unreadable(
	const struct engine *engine, const struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; engine->strict && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (knob->settled || !knob->wanted || knob->now)
			continue;
		engine_failure_set(failure, knob->path, "cannot read %s", knob->name);
		return -knob->error;
	}
	return 0;
}

/* Whether there is a knob to turn, or one whose outcome the journal does not know because an apply
 * was killed before it could write it down. */
static bool is_anything_to_do(struct journal *earlier, const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		const struct journal_entry *entry;

		if (is_to_write(knob))
			return true;
		if (!earlier || !knob->now)
			continue;
		entry = journal_find(earlier, knob->path);
		if (entry && !entry->new)
			return true;
	}
	return false;
}

/* Whether the plan has the affinity of an interrupt, which other journals may have as well. */
static bool has_interrupt(const struct knob_plan *plan)
{
	unsigned number;

	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (!knob->settled && irqline_parse_path(knob->path, &number) == 0)
			return true;
	}
	return false;
}

/* Writes the journal that is needed to put the knobs back, and before it those of other setters
 * that have taken over old values. *ret_earlier: these as they were; NULL if there are none. */
static int write_journals(const struct engine *engine, struct journal *earlier,
	struct layers *layers, struct knob_plan *plan, struct journal **ret,
	struct layers **ret_earlier)
{
	_cleanup_(layers) struct layers *earlier_layers = NULL;
	_cleanup_(journal) struct journal *journal = NULL;
	int r;

	r = earlier ? journal_copy(earlier, &journal) : journal_new(engine->tool, &journal);
	if (r == 0)
		r = hotplug_note_online(journal);
	if (r == 0)
		r = note_in_journal(engine, layers, earlier, journal, plan);
	if (r == 0 && layers_are_changed(layers))
		r = layers_read(engine->tool, NULL, &earlier_layers);
	if (r == 0)
		r = layers_save(layers);
	if (r == 0)
		r = journal_save(journal);
	if (r < 0) {
		if (earlier_layers)
			put_journals_back(earlier, earlier_layers);
		return r;
	}
	*ret = TAKE_PTR(journal);
	*ret_earlier = TAKE_PTR(earlier_layers);
	return 0;
}

/* Notes what is known of threads, where turning these knobs makes the kernel move them. */
static int hold_threads(const struct knob_plan *plan, struct engine *engine,
	struct journal *earlier, struct engine_failure *failure)
{
	bool any = false;
	int r;

	for (size_t i = 0; !any && i < plan->n; i++)
		any = is_to_write(&plan->knobs[i]) &&
			knob_moves_threads(engine->backends, plan->knobs[i].path);
	r = engine_hold_threads(engine, any, earlier);
	if (r < 0)
		engine_failure_set(failure, NULL, "cannot find out which CPUs threads may run on");
	return r;
}

/* Gives all threads what they have chosen, and notes in the journal which have less of it now. */
static int settle_threads(
	const struct engine *engine, struct journal *journal, struct engine_failure *failure)
{
	int r = engine_settle_threads(engine);

	if (r == 0 && engine->pins)
		r = pins_add_to_journal(engine->pins, journal, engine->threads_group);
	if (r < 0)
		engine_failure_set(
			failure, NULL, "cannot give threads back the CPUs that they had");
	return r;
}

/* Turns the knobs, checks them, and writes into the journal what they have become. */
static int turn_knobs(const struct engine *engine, const struct layers *layers,
	struct journal *journal, struct knob_plan *plan, struct engine_failure *failure)
{
	int r;

	r = write_knobs(engine, plan, failure);
	if (r == 0)
		r = settle_threads(engine, journal, failure);
	if (r == 0)
		r = read_knobs_back(engine, plan, failure);
	if (r == 0 && engine->verify)
		r = engine->verify(plan, engine->context);
	if (r < 0)
		return r;
	r = note_outcome(engine, layers, journal, plan, failure);
	if (r == 0)
		r = journal->n > 0 ? journal_save(journal) : journal_remove(engine->tool);
	if (r < 0)
		engine_refuse_journal(engine, "", failure);
	return r;
}

/* The knobs that either plan has turned are those of the apply. */
static void take_over(struct knob_plan *plan, struct knob_plan *more)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = knob_plan_find(more, plan->knobs[i].path);

		if (knob && plan->knobs[i].turned)
			knob->turned = true;
	}
	knob_plan_clear(plan);
	*plan = *more;
}

/* What the first plan found changed by somebody else looks like its own work to the second one. */
static void pass_foreign_on(struct knob_plan *plan, struct knob_plan *more)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *first = &plan->knobs[i];
		struct knob *knob = first->foreign_from ? knob_plan_find(more, first->path) : NULL;

		if (knob)
			knob->foreign_from = TAKE_PTR(first->foreign_from);
	}
}

static int apply_more(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	struct engine once = *engine;
	struct knob_plan more = { 0 };
	struct journal *journal = NULL;
	int r;

	once.more = NULL;
	r = engine->more ? engine->more(&more, &journal, engine->context) : 0;
	if (r <= 0)
		return r;
	pass_foreign_on(plan, &more);
	r = apply_plan(&once, journal, &more, failure);
	if (r == 0)
		take_over(plan, &more);
	else
		knob_plan_clear(&more);
	return r;
}

int apply_plan(const struct engine *setter, struct journal *before, struct knob_plan *plan,
	struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL, *earlier = before;
	_cleanup_(layers) struct layers *layers = NULL, *earlier_layers = NULL;
	struct engine with_threads = *setter;
	const struct engine *engine = &with_threads;
	int r;

	r = inspect_knobs(engine, earlier, plan, failure);
	if (r == 0)
		r = refuse_unreadable(engine, plan, failure);
	if (r < 0)
		return r;
	if (!is_anything_to_do(earlier, plan))
		return engine->verify ? engine->verify(plan, engine->context) : 0;

	r = layers_read(engine->tool, has_interrupt(plan) ? engine->lines : NULL, &layers);
	if (r < 0) {
		engine_failure_set(
			failure, NULL, "cannot read the journals in %s", journal_directory());
		return r;
	}
	r = write_journals(engine, earlier, layers, plan, &journal, &earlier_layers);
	if (r < 0) {
		engine_refuse_journal(engine, ", so nothing is touched", failure);
		return r;
	}
	r = hold_threads(plan, &with_threads, earlier, failure);
	if (r == 0)
		r = turn_knobs(engine, layers, journal, plan, failure);
	if (r == 0)
		r = apply_more(setter, plan, failure);
	/* What could not be put back of the second plan is in the journal. */
	if (r < 0 && !failure->not_undone)
		undo_apply(engine, plan, journal, earlier, earlier_layers, failure);
	engine_release_threads(&with_threads);
	return r;
}
