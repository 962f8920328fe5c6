// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "knob/engine.h"

enum {
	LOCK_SECONDS = 30,
};

void engine_failure_clear(struct engine_failure *failure)
{
	free(failure->what);
	free(failure->path);
	*failure = (struct engine_failure){ 0 };
}

/* Sets the failure unless one is set already: the first is the one that explains the rest. */
static void set_failure(struct engine_failure *failure, const char *path, const char *format, ...)
	_printf_(3, 4);

static void set_failure(struct engine_failure *failure, const char *path, const char *format, ...)
{
	va_list ap;

	if (failure->what)
		return;
	va_start(ap, format);
	if (vasprintf(&failure->what, format, ap) < 0)
		failure->what = NULL;
	va_end(ap);
	failure->path = path ? strdup(path) : NULL;
}

/* The machine is not as it was: that is said, too. */
static void say_left(struct engine_failure *failure, const char *tool)
{
	char *both;

	if (asprintf(&both, "%s%snot everything could be put back, see `%s restore`",
		    failure->what ? failure->what : "", failure->what ? "; and " : "", tool) < 0)
		return;
	free(failure->what);
	failure->what = both;
}

static void set_note(struct knob *knob, const char *format, ...) _printf_(2, 3);

static void set_note(struct knob *knob, const char *format, ...)
{
	va_list ap;

	free(TAKE_PTR(knob->note));
	va_start(ap, format);
	if (vasprintf(&knob->note, format, ap) < 0)
		knob->note = NULL;
	va_end(ap);
}

static int replace_text(char **text, const char *by)
{
	char *copy = by ? strdup(by) : NULL;

	if (by && !copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/* -ENOENT is no failure: there is nothing in the journal then. */
static int load_journal(
	const struct engine *engine, struct journal **ret, struct engine_failure *failure)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = journal_load(engine->tool, ret, &why);
	if (r == -EBADMSG)
		set_failure(failure, NULL,
			"the journal " JOURNAL_DIRECTORY "/%s.journal cannot be used, "
			"and nothing is touched: %s",
			engine->tool, why ? why : "it is damaged");
	else if (r < 0 && r != -ENOENT)
		set_failure(failure, NULL,
			"cannot read the journal " JOURNAL_DIRECTORY "/%s.journal", engine->tool);
	return r;
}

/* Whether somebody else changed it. */
static bool is_foreign(const struct journal_entry *entry, const char *now)
{
	const char *become = entry->new;

	return become && !knob_equal(entry->kind, now, entry->old) &&
		knob_is_foreign(entry->kind, now, become);
}

static int inspect_knob(const struct engine *engine, struct journal *journal, struct knob *knob)
{
	const struct journal_entry *entry;
	int r;

	if (knob->settled)
		return 0;
	entry = journal ? journal_find(journal, knob->path) : NULL;
	r = replace_text(&knob->original, entry ? entry->old : NULL);
	if (r < 0)
		return r;
	free(TAKE_PTR(knob->now));
	r = knob_read(engine->backends, knob->path, &knob->now);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		knob->error = -r;
		knob->word = knob_error_is_unavailable(-r) ? KNOB_UNAVAILABLE : KNOB_DENIED;
		return 0;
	}
	if (knob->wanted && knob_equal(knob->kind, knob->now, knob->wanted))
		knob->word = entry && !knob_equal(knob->kind, entry->old, knob->wanted)
			? KNOB_APPLIED
			: KNOB_ALREADY;
	else
		knob->word = KNOB_NONE;
	if (entry && is_foreign(entry, knob->now))
		set_note(knob, "changed by somebody else since: it was set to %s", entry->new);
	return 0;
}

static int inspect_plan(
	const struct engine *engine, struct journal *journal, struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		int r = inspect_knob(engine, journal, &plan->knobs[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

int engine_inspect(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL;
	int r;

	r = load_journal(engine, &journal, failure);
	if (r < 0 && r != -ENOENT)
		return r;
	return inspect_plan(engine, journal, plan);
}

/* Whether the engine is to write this one. */
static bool is_to_write(const struct knob *knob)
{
	return !knob->settled && knob->wanted && knob->now && knob->word == KNOB_NONE;
}

/* Whether another knob may change this one as a side effect. */
static bool is_to_keep(const struct knob *knob)
{
	return !knob->settled && !knob->wanted && knob->now;
}

/* Whether this one is as wanted, and another knob may move it as a side effect. */
static bool is_to_guard(const struct knob *knob)
{
	return !knob->settled && knob->wanted && knob->now &&
		(knob->word == KNOB_ALREADY || knob->word == KNOB_APPLIED);
}

/* All that is going to change, with what it is now; what it will be is not known until it has been
 * read back. What the journal says already of how a knob was before stays. */
static int note_in_journal(const struct engine *engine, struct journal *before,
	struct journal *journal, const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		struct journal_entry *entry;
		int r;

		if (!is_to_write(knob) && !is_to_keep(knob) && !is_to_guard(knob))
			continue;
		/* The journal begins as a copy of the one before, which need not be sorted anew
		 * for each addition. */
		entry = before ? journal_find(before, knob->path) : NULL;
		if (entry) {
			entry = &journal->entries[entry - before->entries];
			free(TAKE_PTR(entry->new));
			continue;
		}
		r = journal_add(
			journal, knob->group, knob->kind, knob->path, knob->name, knob->now, NULL);
		if (r < 0)
			return r;
	}
	return engine->rank ? journal_sort(journal, engine->rank) : 0;
}

/* The kernel did not take it. Returns the error when that is a failure of the whole. */
static int refuse(
	const struct engine *engine, struct knob *knob, int error, struct engine_failure *failure)
{
	knob->error = -error;
	knob->word = knob_error_is_unavailable(-error) ? KNOB_UNAVAILABLE : KNOB_DENIED;
	if (knob->word == KNOB_UNAVAILABLE && !engine->strict)
		return 0;
	if (knob->may_be_refused && !engine->strict)
		return 0;
	set_failure(failure, knob->path, "cannot set %s to %s", knob->name, knob->wanted);
	return error;
}

/*
 * Kernels before 5.3 refuse a minimum above the maximum, and the order that avoids it depends on
 * where the limits come from: there and back again it is never the same one. So a limit that was
 * refused is written once more when the others stand (later kernels take any order:
 * drivers/cpufreq/cpufreq.c, store_one()).
 */
static bool is_to_write_again(enum knob_kind kind, int error)
{
	return kind == KNOB_FREQUENCY && error == -EINVAL;
}

static int write_again(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		int r;

		if (!knob->before || !is_to_write_again(knob->kind, -knob->error))
			continue;
		knob->error = 0;
		r = knob_write(engine->backends, knob->path, knob->wanted);
		if (r < 0)
			r = refuse(engine, knob, r, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Knobs that were as wanted until another one was turned. */
static int write_moved(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		_cleanup_free_ char *now = NULL;
		int r;

		if (!knob->before || !is_to_guard(knob))
			continue;
		r = knob_read(engine->backends, knob->path, &now);
		if (r == 0 && knob_equal(knob->kind, now, knob->wanted))
			continue;
		knob->turned = true;
		if (r == 0)
			r = knob_write(engine->backends, knob->path, knob->wanted);
		if (r < 0)
			r = refuse(engine, knob, r, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Writes in the plan's order, and stops at the first failure of the whole. */
static int write_knobs(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	int r;

	/* All of them first: one that fails may have moved others, whose turn has not come. */
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];

		if (!is_to_keep(knob) && !is_to_guard(knob) && !is_to_write(knob))
			continue;
		r = replace_text(&knob->before, knob->now);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];

		if (!is_to_write(knob))
			continue;
		knob->turned = true;
		r = knob_write(engine->backends, knob->path, knob->wanted);
		if (is_to_write_again(knob->kind, r)) {
			knob->error = -r;
			continue;
		}
		if (r < 0) {
			r = refuse(engine, knob, r, failure);
			if (r < 0)
				return r;
		}
	}
	r = write_again(engine, plan, failure);
	return r < 0 ? r : write_moved(engine, plan, failure);
}

/* Whether knobs that were as wanted had to be written after all. */
static bool any_guarded_turned(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (plan->knobs[i].turned && is_to_guard(&plan->knobs[i]))
			return true;
	}
	return false;
}

/* Reads everything back that was written or may have moved, and judges. What was only guarded, and
 * found to be in its place after the last write, is not read once more, unless it may come late. */
static int read_knobs_back(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	bool look_at_all = any_guarded_turned(plan);
	int64_t deadline = knob_deadline();

	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		char *now;
		int r;

		if (!knob->before ||
			(!look_at_all && is_to_guard(knob) && knob->kind != KNOB_FREQUENCY))
			continue;
		r = knob->wanted && knob->error == 0
			? knob_read_back(engine->backends, knob->kind, knob->path, knob->wanted,
				  deadline, &now)
			: knob_read(engine->backends, knob->path, &now);
		if (r < 0) {
			/* A file that another knob took away, such as that of an offline CPU. */
			if (!knob->wanted) {
				free(TAKE_PTR(knob->now));
				continue;
			}
			r = refuse(engine, knob, r, failure);
			if (r < 0)
				return r;
			continue;
		}
		free(knob->now);
		knob->now = now;
		if (!knob->wanted || knob->error != 0)
			continue;
		if (knob_equal(knob->kind, now, knob->wanted)) {
			if (knob->word != KNOB_ALREADY)
				knob->word = KNOB_APPLIED;
		} else if (knob->kind == KNOB_FREQUENCY &&
			!knob_equal(knob->kind, now, knob->before)) {
			knob->word = KNOB_APPLIED;
			set_note(knob, "the driver made it %s", now);
		} else {
			set_note(knob, "the kernel kept %s", now);
			knob->word = KNOB_DENIED;
			if (knob->may_be_refused && !engine->strict)
				continue;
			set_failure(failure, knob->path, "%s was set to %s, but the kernel kept %s",
				knob->name, knob->wanted, now);
			return -EINVAL;
		}
	}
	return 0;
}

/* What the knobs have become, into the journal. */
static int note_outcome(struct journal *journal, struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		struct journal_entry *entry;
		int r;

		if (!knob->before || !knob->now)
			continue;
		entry = journal_find(journal, knob->path);
		if (!entry)
			return -ENOMEM;
		r = replace_text(&knob->original, entry->old);
		if (r < 0)
			return r;
		r = replace_text(&entry->new, knob->now);
		if (r < 0)
			return r;
		/* One that the kernel refused stands as before: there is nothing to put back. But
		 * one that was as wanted already may be moved by another that is put back. */
		entry->drop = knob->wanted && knob->word != KNOB_APPLIED &&
			knob->word != KNOB_ALREADY && knob_equal(knob->kind, knob->now, entry->old);
		if (entry->drop)
			free(TAKE_PTR(knob->original));
	}
	journal_drop(journal);
	return 0;
}

/* An item of a plan or of a journal: its group, and where it stands. */
struct place {
	unsigned group;
	size_t index;
};

/* Groups backwards, and inside of one as they stand. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Behind the last place of the group that begins at places[begin]. */
static size_t find_group_end(const struct place *places, size_t n, size_t begin)
{
	size_t end = begin + 1;

	while (end < n && places[end].group == places[begin].group)
		end++;
	return end;
}

static bool may_stay(const struct engine *engine, const char *path, int error)
{
	return error < 0 && engine->may_stay && engine->may_stay(path, -error);
}

/* Turns one knob back that this call has turned, or that others may have moved. */
static int roll_back_knob(const struct engine *engine, struct knob *knob)
{
	_cleanup_free_ char *now = NULL, *text = NULL;
	int r;

	if (knob->word == KNOB_APPLIED)
		knob->word = KNOB_NONE;
	/* What shows of a limit may be from before it was written just now, unless that failed. */
	if ((knob->kind != KNOB_FREQUENCY || !knob->turned || knob->error != 0) &&
		knob_read(engine->backends, knob->path, &now) == 0 &&
		knob_equal(knob->kind, now, knob->before))
		return 0;
	text = knob_writable(knob->kind, knob->before);
	if (!text)
		return -ENOMEM;
	(void)replace_text(&knob->now, knob->before);
	r = knob_write(engine->backends, knob->path, text);
	return may_stay(engine, knob->path, r) ? 0 : r;
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
		if (r < 0 && result == 0 && !may_stay(engine, knob->path, r))
			result = r;
	}
	return result;
}

/* All of a group; the first error. */
static int roll_back_group(const struct engine *engine, const struct knob_plan *plan,
	const struct place *places, size_t n)
{
	bool again = false;
	int result = 0, r;

	for (size_t i = 0; i < n; i++) {
		struct knob *knob = &plan->knobs[places[i].index];

		if (!knob->before)
			continue;
		r = roll_back_knob(engine, knob);
		if (is_to_write_again(knob->kind, r))
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

/* Turns back what this call has turned, as far as it goes. */
static int roll_back(const struct engine *engine, const struct knob_plan *plan)
{
	_cleanup_free_ struct place *places = calloc(plan->n + 1, sizeof(*places));
	int result = 0, r;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n; i++)
		places[i] = (struct place){ .group = plan->knobs[i].group, .index = i };
	qsort(places, plan->n, sizeof(*places), compare_places);
	for (size_t i = 0, end; i < plan->n; i = end) {
		end = find_group_end(places, plan->n, i);
		r = roll_back_group(engine, plan, &places[i], end - i);
		if (r < 0 && result == 0)
			result = r;
	}
	r = verify_rolled_back(engine, plan);
	return result < 0 ? result : r;
}

/* After a failed apply: knobs and journal as they were before it. */
static void undo_apply(const struct engine *engine, struct knob_plan *plan,
	const struct journal *before, struct engine_failure *failure)
{
	if (roll_back(engine, plan) < 0) {
		/* The journal knows how it was: `restore` may have more luck. */
		say_left(failure, engine->tool);
		return;
	}
	if (before)
		(void)journal_save(before);
	else
		(void)journal_remove(engine->tool);
}

int engine_lock(struct engine_failure *failure)
{
	int fd = journal_lock(LOCK_SECONDS);

	if (fd == -EAGAIN)
		set_failure(failure, NULL,
			"another tool of quiesce is at work (it holds " JOURNAL_DIRECTORY "/lock)");
	else if (fd == -EPERM)
		set_failure(failure, NULL, JOURNAL_DIRECTORY " is not a directory of root's alone");
	else if (fd < 0)
		set_failure(failure, NULL, "cannot lock " JOURNAL_DIRECTORY "/lock");
	return fd;
}

/* A knob that is not there, or cannot even be read. What the plan has settled is for whoever made
 * the plan to refuse. */
static int refuse_unreadable(
	const struct engine *engine, const struct knob_plan *plan, struct engine_failure *failure)
{
	for (size_t i = 0; engine->strict && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (knob->settled || !knob->wanted || knob->now)
			continue;
		set_failure(failure, knob->path, "cannot read %s", knob->name);
		return -knob->error;
	}
	return 0;
}

/* Whether there is a knob to turn, or one of which the journal does not know what it has become:
 * an apply was killed before it could write that down. */
static bool is_anything_to_do(struct journal *before, const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		const struct journal_entry *entry;

		if (is_to_write(knob))
			return true;
		if (!before || !knob->now)
			continue;
		entry = journal_find(before, knob->path);
		if (entry && !entry->new)
			return true;
	}
	return false;
}

int engine_apply(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL, *before = NULL;
	_cleanup_close_ int lock = -EBADF;
	int r;

	if (!engine->locked) {
		lock = engine_lock(failure);
		if (lock < 0)
			return lock;
	}
	r = load_journal(engine, &before, failure);
	if (r < 0 && r != -ENOENT)
		return r;
	r = inspect_plan(engine, before, plan);
	if (r == 0)
		r = refuse_unreadable(engine, plan, failure);
	if (r < 0)
		return r;
	if (!is_anything_to_do(before, plan))
		return engine->verify ? engine->verify(plan, engine->context) : 0;

	r = before ? journal_copy(before, &journal) : journal_new(engine->tool, &journal);
	if (r == 0)
		r = note_in_journal(engine, before, journal, plan);
	if (r == 0)
		r = journal_save(journal);
	if (r < 0) {
		set_failure(failure, NULL, "cannot write the journal, so nothing is touched");
		return r;
	}

	r = write_knobs(engine, plan, failure);
	if (r == 0)
		r = read_knobs_back(engine, plan, failure);
	if (r == 0 && engine->verify)
		r = engine->verify(plan, engine->context);
	if (r == 0) {
		r = note_outcome(journal, plan);
		if (r == 0)
			r = journal->n > 0 ? journal_save(journal) : journal_remove(engine->tool);
		if (r < 0)
			set_failure(failure, NULL, "cannot write the journal");
	}
	if (r < 0)
		undo_apply(engine, plan, before, failure);
	return r;
}

void restore_rows_clear(struct restore_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->items[i].path);
		free(rows->items[i].name);
		free(rows->items[i].original);
		free(rows->items[i].now);
	}
	free(rows->items);
	*rows = (struct restore_rows){ 0 };
}

const char *restore_word_name(enum restore_word word)
{
	switch (word) {
	case RESTORE_DONE:
		return "restored";
	case RESTORE_UNCHANGED:
		return "unchanged";
	case RESTORE_FOREIGN:
		return "foreign";
	case RESTORE_GONE:
		return "gone";
	case RESTORE_REFUSED:
		return "refused";
	case RESTORE_FAILED:
		return "failed";
	}
	return "?";
}

/* What restoring has done with an entry so far. */
struct restore_state {
	enum restore_word word;
	int error; /* positive errno */
	char *now;
	bool known;  /* the journal said what the knob had become */
	bool leave;  /* it is not ours to put back */
	size_t seen; /* how much had been written when it was read last */
};

struct restoring {
	const struct engine *engine;
	struct journal *journal;
	struct restore_state *states; /* of its entries */
	size_t writes;
};

/* Nothing was written since it was read last, so that it need not be read again. */
static bool is_fresh(const struct restoring *restoring, const struct restore_state *state)
{
	return state->seen == restoring->writes && state->now;
}

static int read_now(const struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	int r;

	if (is_fresh(restoring, state))
		return 0;
	free(TAKE_PTR(state->now));
	r = knob_read(restoring->engine->backends, entry->path, &state->now);
	state->seen = restoring->writes;
	state->error = r < 0 ? -r : 0;
	if (r < 0)
		state->word = knob_error_is_unavailable(-r) ? RESTORE_GONE : RESTORE_FAILED;
	return r;
}

/*
 * Tells what somebody else changed from what is to be put back, before the first knob is: from then
 * on a value may also have been moved by another knob that was put back. For the same reason the
 * journal forgets what the knobs had become, so that whoever goes on after a crash does not take
 * half of our work for somebody else's. That it cannot be written keeps nobody from restoring.
 */
static void judge_entries(const struct restoring *restoring)
{
	bool anything = false;

	for (size_t i = 0; i < restoring->journal->n; i++) {
		struct journal_entry *e = &restoring->journal->entries[i];
		struct restore_state *state = &restoring->states[i];
		bool same;

		state->known = e->new != NULL;
		if (read_now(restoring, i) < 0)
			same = false;
		else
			same = knob_equal(e->kind, state->now, e->old);
		if (state->now && !restoring->engine->force && is_foreign(e, state->now)) {
			state->leave = true;
			/* What was only looked after, and stayed as it was, nobody has to miss. */
			state->word = knob_equal(e->kind, e->old, e->new) ? RESTORE_UNCHANGED
									  : RESTORE_FOREIGN;
			continue;
		}
		anything = anything || (!same && e->new);
		free(TAKE_PTR(e->new));
	}
	if (anything)
		(void)journal_save(restoring->journal);
}

static void write_old(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	_cleanup_free_ char *text = knob_writable(entry->kind, entry->old);
	int r;

	restoring->writes++;
	r = text ? knob_write(restoring->engine->backends, entry->path, text) : -ENOMEM;
	state->error = r < 0 ? -r : 0;
	if (r == 0)
		state->word = RESTORE_DONE;
	else
		state->word = may_stay(restoring->engine, entry->path, r) ? RESTORE_REFUSED
									  : RESTORE_FAILED;
}

/* Puts one knob back; it remains to be read back. */
static void restore_entry(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];

	if (state->leave || read_now(restoring, index) < 0)
		return;
	/* Where the apply did not live to see what became of a limit, what shows of it may be from
	 * before it was written. */
	if (knob_equal(entry->kind, state->now, entry->old) &&
		(entry->kind != KNOB_FREQUENCY || state->known))
		state->word = RESTORE_UNCHANGED;
	else
		write_old(restoring, index);
}

static void read_entry_back(const struct restoring *restoring, size_t index, int64_t deadline)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	char *after;
	int r;

	r = knob_read_back(restoring->engine->backends, entry->kind, entry->path, entry->old,
		deadline, &after);
	if (r < 0) {
		state->error = -r;
		state->word = RESTORE_FAILED;
		return;
	}
	free(state->now);
	state->now = after;
	state->seen = restoring->writes;
	if (!knob_equal(entry->kind, after, entry->old))
		state->word = RESTORE_FAILED;
}

/* All of a group: first written, each at its turn, then read back, because what comes late comes
 * for all of them at the same time. */
static void restore_group(struct restoring *restoring, const struct place *places, size_t n)
{
	int64_t deadline;

	for (size_t i = 0; i < n; i++)
		restore_entry(restoring, places[i].index);
	for (size_t i = 0; i < n; i++) {
		size_t index = places[i].index;
		const struct restore_state *state = &restoring->states[index];

		if (state->word == RESTORE_FAILED &&
			is_to_write_again(restoring->journal->entries[index].kind, -state->error))
			write_old(restoring, index);
	}
	deadline = knob_deadline();
	for (size_t i = 0; i < n; i++) {
		if (restoring->states[places[i].index].word == RESTORE_DONE)
			read_entry_back(restoring, places[i].index, deadline);
	}
}

/* What was put back, or had not changed, may have been moved by a knob that came after it: compares
 * all once more, and writes those once more. */
static void restore_moved(struct restoring *restoring)
{
	int64_t deadline;

	for (size_t i = 0; i < restoring->journal->n; i++) {
		const struct journal_entry *e = &restoring->journal->entries[i];
		const struct restore_state *state = &restoring->states[i];

		if (state->leave ||
			(state->word != RESTORE_DONE && state->word != RESTORE_UNCHANGED) ||
			read_now(restoring, i) < 0 || knob_equal(e->kind, state->now, e->old))
			continue;
		write_old(restoring, i);
	}
	deadline = knob_deadline();
	for (size_t i = 0; i < restoring->journal->n; i++) {
		const struct restore_state *state = &restoring->states[i];

		if (!state->leave && state->word == RESTORE_DONE &&
			!knob_equal(restoring->journal->entries[i].kind, state->now,
				restoring->journal->entries[i].old))
			read_entry_back(restoring, i, deadline);
	}
}

static int add_row(struct restore_rows *rows, const struct journal_entry *entry,
	enum restore_word word, char *now, int error)
{
	struct restore_row *items = reallocarray(rows->items, rows->n + 1, sizeof(*items));

	if (!items) {
		free(now);
		return -ENOMEM;
	}
	rows->items = items;
	items[rows->n] = (struct restore_row){
		.kind = entry->kind,
		.path = strdup(entry->path),
		.name = strdup(entry->name),
		.original = strdup(entry->old),
		.now = now,
		.word = word,
		.error = error,
	};
	rows->n++;
	return items[rows->n - 1].path && items[rows->n - 1].name && items[rows->n - 1].original
		? 0
		: -ENOMEM;
}

/* The row of an entry, and what is left over into `left`. Takes the state's text over. */
static int note_restored(const struct journal_entry *e, struct restore_state *state,
	struct journal *left, struct restore_rows *rows)
{
	char *now = TAKE_PTR(state->now);
	int r;

	if (state->word == RESTORE_FAILED || state->word == RESTORE_FOREIGN) {
		r = journal_add(left, e->group, e->kind, e->path, e->name, e->old, e->new);
		if (r < 0) {
			free(now);
			return r;
		}
	}
	return add_row(rows, e, state->word, now, state->error);
}

/* All entries; those that are left over go into `left`. */
static int restore_entries(const struct engine *engine, struct journal *journal,
	struct journal *left, struct restore_rows *rows, struct engine_failure *failure)
{
	_cleanup_free_ struct place *places = calloc(journal->n + 1, sizeof(*places));
	struct restoring restoring = {
		.engine = engine,
		.journal = journal,
		.states = calloc(journal->n + 1, sizeof(*restoring.states)),
	};
	int result = 0, r = 0;

	if (!places || !restoring.states) {
		free(restoring.states);
		return -ENOMEM;
	}
	for (size_t i = 0; i < journal->n; i++)
		places[i] = (struct place){ .group = journal->entries[i].group, .index = i };
	qsort(places, journal->n, sizeof(*places), compare_places);
	judge_entries(&restoring);
	for (size_t i = 0, end; i < journal->n; i = end) {
		end = find_group_end(places, journal->n, i);
		restore_group(&restoring, &places[i], end - i);
	}
	restore_moved(&restoring);
	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[places[i].index];
		struct restore_state *state = &restoring.states[places[i].index];

		if (state->word == RESTORE_FAILED && result == 0) {
			result = state->error ? -state->error : -EINVAL;
			set_failure(failure, e->path, "cannot put %s back to %s", e->name, e->old);
		}
		r = note_restored(e, state, left, rows);
	}
	for (size_t i = 0; i < journal->n; i++)
		free(restoring.states[i].now);
	free(restoring.states);
	return r < 0 ? r : result;
}

int engine_restore(
	const struct engine *engine, struct restore_rows *ret, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL, *left = NULL;
	struct restore_rows rows = { 0 };
	_cleanup_close_ int lock = -EBADF;
	int result, r;

	/* Without a directory there is no journal, and nothing to lock. */
	if (access(JOURNAL_DIRECTORY, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (!engine->locked) {
		lock = engine_lock(failure);
		if (lock < 0)
			return lock;
	}
	r = load_journal(engine, &journal, failure);
	if (r == -ENOENT)
		return journal_remove(engine->tool); /* one of another boot */
	if (r < 0)
		return r;
	r = journal_new(engine->tool, &left);
	if (r < 0)
		return r;
	result = restore_entries(engine, journal, left, &rows, failure);
	/* Memory that ran out half-way: the journal stays, and restoring can be repeated. */
	if (result == -ENOMEM) {
		restore_rows_clear(&rows);
		return result;
	}
	r = left->n > 0 ? journal_save(left) : journal_remove(engine->tool);
	if (r < 0 && result == 0) {
		set_failure(failure, NULL, "cannot write the journal");
		result = r;
	}
	*ret = rows;
	return result;
}
