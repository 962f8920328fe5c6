// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/text.h"
#include "knob/hotplug.h"
#include "knob/inspect.h"
#include "knob/layers.h"
#include "knob/order.h"
#include "knob/restore.h"

enum {
	NOTHING_FAILED = -1, /* in place of a group */
};

void restore_rows_clear(struct restore_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->items[i].path);
		free(rows->items[i].name);
		free(rows->items[i].original);
		free(rows->items[i].now);
	}
	free(rows->items);
	free(rows->awaited_cpus);
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
	case RESTORE_HANDED:
		return "handed-over";
	case RESTORE_GONE:
		return "gone";
	case RESTORE_REFUSED:
		return "refused";
	case RESTORE_WAITING:
		return "waiting";
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
	bool outcome_known; /* the journal said what the knob had become */
	bool turned;	    /* by this process, which wants it back also where it cannot be read */
	bool leave_alone;   /* it is not ours to put back */
	bool has_layer_above;	 /* another setter has turned it since */
	size_t writes_when_read; /* how much had been written when it was read last */
	char *partial_old; /* what was there before without CPUs that are not there; NULL for all of
			      it */
	bool waits_for_cpu; /* some of these are offline, and may come back */
};

struct restoring {
	const struct engine *engine;
	struct journal *journal;
	struct restore_state *states; /* of its entries */
	struct layers *layers;	      /* of the other setters */
	struct hotplug *hotplug;      /* as it is since the last group was put back */
	struct cpumask *awaited;      /* all CPUs that are waited for */
	struct cpumask *absent;	      /* offline at some time since restoring began */
	struct order_place *places;   /* of the journal's entries, in the order of the walk */
	struct knob_plan narrowed;    /* find_narrowed() */
	size_t writes;
};

static void cleanup_restoring(struct restoring *restoring)
{
	for (size_t i = 0; restoring->states && i < restoring->journal->n; i++) {
		free(restoring->states[i].now);
		free(restoring->states[i].partial_old);
	}
	free(restoring->states);
	free(restoring->places);
	knob_plan_clear(&restoring->narrowed);
	layers_free(restoring->layers);
	hotplug_free(restoring->hotplug);
	cpumask_free(restoring->awaited);
	cpumask_free(restoring->absent);
}

static void fail_entry(struct restore_state *state, int r)
{
	state->word = RESTORE_FAILED;
	state->error = -r;
}

/* Whether a knob whose whole text that is has every CPU, and had not before: then that is no choice
 * any more, though nothing shows of it until the CPUs that are offline are back. */
static int was_widened_to_all(const struct restoring *restoring, const struct journal_entry *entry,
	const char *with_offline)
{
	const struct hotplug *hotplug = restoring->hotplug;
	_cleanup_(cpumask) struct cpumask *now = NULL, *old = NULL;
	int r;

	if (cpumask_subset(hotplug->present, hotplug->online))
		return false;
	r = cpumask_new(&now);
	if (r == 0)
		r = cpumask_new(&old);
	if (r < 0)
		return r;
	return knob_parse_cpus(entry->kind, with_offline, now) == 0 &&
		knob_parse_cpus(entry->kind, entry->old, old) == 0 &&
		cpumask_subset(hotplug->present, now) && !cpumask_subset(hotplug->present, old);
}

/* Whether a text of the knob, which was read just now, means what was there before, as far as that
 * is still to be had: 1 or 0, and an errno when that cannot be told. */
static int matches_old(const struct restoring *restoring, size_t index, const char *text)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	const struct restore_state *state = &restoring->states[index];
	_cleanup_free_ char *with_offline = NULL;
	int r;

	/* With CPUs that are offline, of which the text of some knobs does not tell. */
	r = knob_read_with_offline(restoring->engine->backends, entry->path, &with_offline);
	if (r < 0 && r != -ENOENT)
		return r;
	if (!knob_equal(entry->kind, text, entry->old) &&
		!(state->partial_old && knob_equal(entry->kind, text, state->partial_old)))
		return with_offline && knob_equal(entry->kind, with_offline, entry->old);
	r = with_offline ? was_widened_to_all(restoring, entry, with_offline) : 0;
	return r < 0 ? r : !r;
}

/* Whether what was written down of a knob may have CPUs that were offline then already, which
 * others take from it all the same. */
static bool tells_offline_cpus(const struct restoring *restoring, const struct journal_entry *entry)
{
	_cleanup_free_ char *with_offline = NULL;

	return knob_read_with_offline(restoring->engine->backends, entry->path, &with_offline) == 0;
}

/* Has it wait for those CPUs of the set that are offline, if there are any. `was_offline`: those
 * that were so when the journal was begun; NULL: they do not count. */
static void wait_for_cpus(struct restoring *restoring, size_t index, const struct cpumask *cpus,
	const struct cpumask *was_offline)
{
	const struct hotplug *hotplug = restoring->hotplug;
	const struct cpumask *const offline[] = { hotplug->missing, hotplug->taken, was_offline };

	for (size_t i = 0; i < ARRAY_SIZE(offline) && offline[i]; i++) {
		cpumask_for_each (cpu, offline[i]) {
			if (cpumask_isset(cpus, cpu)) {
				restoring->states[index].waits_for_cpu = true;
				(void)cpumask_set(restoring->awaited, cpu);
			}
		}
	}
}

/*
 * Takes CPUs that are not there out of what is to be put back: those that were unplugged since, and
 * those that went offline. 1, 0 when there are none, and -ENODATA when no other is left. For what
 * the kernel did not take, only: most masks have bits of CPUs that never were, and many files take
 * those that are offline.
 */
static int drop_absent_cpus(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	const struct hotplug *hotplug = restoring->hotplug;
	_cleanup_(cpumask) struct cpumask *cpus = NULL, *there = NULL;
	bool is_mask = entry->kind == KNOB_MASK, tells_offline;
	char *partial;
	int r;

	if ((!is_mask && entry->kind != KNOB_LIST) || restoring->states[index].partial_old ||
		cpumask_is_empty(hotplug->present))
		return 0;
	r = cpumask_new(&cpus);
	if (r == 0)
		r = cpumask_new(&there);
	if (r < 0)
		return r;
	cpumask_andnot(there, hotplug->present, hotplug->missing);
	cpumask_andnot(there, there, hotplug->taken);
	tells_offline = tells_offline_cpus(restoring, entry);
	if (tells_offline && !cpumask_is_empty(hotplug->online))
		cpumask_and(there, there, hotplug->online);
	if (knob_parse_cpus(entry->kind, entry->old, cpus) < 0 || cpumask_subset(cpus, there))
		return 0;
	wait_for_cpus(restoring, index, cpus, tells_offline ? hotplug->offline_before : NULL);
	cpumask_and(cpus, cpus, there);
	if (cpumask_is_empty(cpus))
		return -ENODATA;
	partial = is_mask ? cpumask_format_hex(cpus, 1) : cpumask_format_list(cpus);
	if (!partial)
		return -ENOMEM;
	restoring->states[index].partial_old = partial;
	return 1;
}

/* Nothing was written since it was read last, so that it need not be read again. */
static bool is_read_since_last_write(
	const struct restoring *restoring, const struct restore_state *state)
{
	return state->writes_when_read == restoring->writes && state->now;
}

static int read_now(const struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	int r;

	if (is_read_since_last_write(restoring, state))
		return 0;
	free(TAKE_PTR(state->now));
	r = knob_read(restoring->engine->backends, entry->path, &state->now);
	state->writes_when_read = restoring->writes;
	state->error = r < 0 ? -r : 0;
	if (r < 0)
		state->word = knob_error_is_unavailable(-r) ? RESTORE_GONE : RESTORE_FAILED;
	return r;
}

/* Whether another setter has turned the knob since, 1 or 0: then it is that one's to put back, and
 * this is to be judged by what that one has found. */
static int judge_layer(struct restoring *restoring, size_t index)
{
	const struct journal_entry *e = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	const struct journal_entry *above = layers_find_above(restoring->layers, e);
	int r = 0;

	if (!above)
		return 0;
	if (!restoring->engine->force)
		r = inspect_is_foreign(restoring->engine, restoring->hotplug, e, above->old);
	if (r < 0 && knob_error_is_ours(-r))
		return r;
	state->leave_alone = true;
	state->has_layer_above = true;
	state->word = r > 0 ? RESTORE_FOREIGN : RESTORE_HANDED;
	if (state->word == RESTORE_FOREIGN)
		r = text_replace(&state->now, above->old);
	else
		r = text_replace(&state->now, above->new);
	if (r == 0 && state->word == RESTORE_HANDED)
		r = layers_hand_over(restoring->layers, e);
	return r < 0 ? r : 1;
}

/* Whether somebody else changed what was read just now: 1 or 0, and an errno that is ours when that
 * cannot be told. Of a knob that itself refuses to tell, nobody can say that it is another's. */
static int judge_value(const struct restoring *restoring, size_t index)
{
	const struct journal_entry *e = &restoring->journal->entries[index];
	const char *now = restoring->states[index].now;
	int r;

	if (!now || restoring->engine->force)
		return 0;
	r = inspect_is_foreign(restoring->engine, restoring->hotplug, e, now);
	return r < 0 && !knob_error_is_ours(-r) ? 0 : r;
}

/*
 * Tells what somebody else changed from what is to be put back, before the first knob is: from then
 * on a value may also have been moved by another knob that was put back. For the same reason the
 * journal forgets what the knobs had become, so that whoever goes on after a crash does not take
 * half of our work for somebody else's. That it cannot be written keeps nobody from restoring. An
 * error, before anything is touched, for want of what this process needs to look.
 */
static int judge_entries(struct restoring *restoring)
{
	bool anything = false;
	int r;

	for (size_t i = 0; i < restoring->journal->n; i++) {
		struct journal_entry *e = &restoring->journal->entries[i];
		struct restore_state *state = &restoring->states[i];
		bool same;

		state->outcome_known = e->new != NULL;
		r = judge_layer(restoring, i);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		r = read_now(restoring, i);
		if (r < 0 && knob_error_is_ours(-r))
			return r;
		same = r == 0 && knob_equal(e->kind, state->now, e->old);
		r = judge_value(restoring, i);
		if (r < 0)
			return r;
		if (r > 0) {
			state->leave_alone = true;
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
	return 0;
}

static int write_text(
	struct restoring *restoring, const struct journal_entry *entry, const char *value)
{
	_cleanup_free_ char *text = knob_writable(entry->kind, value);

	restoring->writes++;
	return text ? knob_write(restoring->engine->backends, entry->path, text) : -ENOMEM;
}

/*
 * Whether that may be the kernel's answer (0 or a negative errno) to CPUs that are not there:
 * without one that is online, beyond those that it knows, or, in a cpuset of cgroup v1, beyond
 * those of its parent (validate_change() in kernel/cgroup/cpuset.c). Any other error would come for
 * CPUs that are there as well.
 */
static bool is_about_cpus(const char *path, int r)
{
	return r == -EINVAL || r == -ERANGE || r == -EOVERFLOW ||
		(r == -EACCES && path[0] == '/' && strcmp(strrchr(path, '/'), "/cpuset.cpus") == 0);
}

static void write_old(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	int r, lost = 0;

	r = write_text(restoring, entry, state->partial_old ? state->partial_old : entry->old);
	if (is_about_cpus(entry->path, r))
		lost = drop_absent_cpus(restoring, index);
	if (lost > 0)
		r = write_text(restoring, entry, state->partial_old);
	state->error = r < 0 && lost != -ENODATA ? -r : 0;
	if (r == 0)
		state->word = RESTORE_DONE;
	else if (lost == -ENODATA && state->waits_for_cpu)
		state->word = RESTORE_WAITING;
	else if (r == -ENOENT || lost == -ENODATA)
		state->word = RESTORE_GONE;
	else
		state->word = engine_may_stay(restoring->engine, entry->path, r) ? RESTORE_REFUSED
										 : RESTORE_FAILED;
}

/* What somebody else has set, and another knob that was put back has moved: smt/control=on brings
 * also those CPUs online that he has taken offline. */
static void keep_foreign(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	_cleanup_free_ char *now = NULL;

	if (entry->kind == KNOB_NUMBER && !is_read_since_last_write(restoring, state) &&
		knob_read(restoring->engine->backends, entry->path, &now) == 0 &&
		!knob_equal(entry->kind, now, state->now))
		(void)write_text(restoring, entry, state->now);
}

/* Whether what it waited for has come without us, and more: another tool knew more of it, or
 * somebody has chosen. What the kernel gives to one that has lost its choice is neither. */
static int was_widened_by_others(const struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	const char *now = restoring->states[index].now, *rest;
	_cleanup_(cpumask) struct cpumask *n = NULL, *old = NULL;
	const struct knob_backend *backend;
	int r;

	backend = knob_find_backend(restoring->engine->backends, entry->path, &rest);
	if (!entry->waits_for_cpu || entry->kind != KNOB_LIST || !backend ||
		!backend->made_by_kernel)
		return 0;
	r = cpumask_new(&n);
	if (r == 0)
		r = cpumask_new(&old);
	if (r < 0)
		return r;
	if (knob_parse_cpus(entry->kind, now, n) < 0 ||
		knob_parse_cpus(entry->kind, entry->old, old) < 0 || !cpumask_subset(old, n))
		return 0;
	r = backend->made_by_kernel(rest, entry->old, "", now);
	return r < 0 ? r : !r;
}

/* Puts one knob back; it remains to be read back. */
static void restore_entry(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	int r;

	if (state->leave_alone && !state->has_layer_above)
		keep_foreign(restoring, index);
	if (state->leave_alone)
		return;
	if (read_now(restoring, index) < 0) {
		if (state->turned && state->word == RESTORE_FAILED)
			(void)write_text(restoring, entry, entry->old);
		return;
	}
	r = was_widened_by_others(restoring, index);
	if (r != 0) {
		state->leave_alone = true;
		state->word = RESTORE_UNCHANGED;
		if (r < 0)
			fail_entry(state, r);
		return;
	}
	r = matches_old(restoring, index, state->now);
	if (r < 0)
		fail_entry(state, r);
	/* Where the apply did not live to see what became of what comes late, what shows of it may
	 * be from before that. */
	else if (r > 0 &&
		(state->outcome_known ||
			!knob_comes_late(restoring->engine->backends, entry->kind, entry->path)))
		state->word = RESTORE_UNCHANGED;
	else
		write_old(restoring, index);
}

static void read_entry_back(struct restoring *restoring, size_t index, int64_t deadline)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	char *after;
	int r;

	r = knob_read_back(restoring->engine->backends, entry->kind, entry->path, entry->old,
		deadline, &after);
	if (r < 0) {
		fail_entry(state, r);
		if (r == -ENOENT) {
			state->word = RESTORE_GONE;
			state->error = 0;
		}
		return;
	}
	free(state->now);
	state->now = after;
	state->writes_when_read = restoring->writes;
	r = matches_old(restoring, index, after);
	if (r == 0) {
		r = drop_absent_cpus(restoring, index);
		if (r > 0)
			r = matches_old(restoring, index, after);
	}
	if (r <= 0)
		fail_entry(state, r == -ENODATA ? 0 : r);
}

/* What could not be reached, for it goes and comes with a CPU. */
static void wait_for_lost_file(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	_cleanup_(cpumask) struct cpumask *cpus = NULL;

	if ((state->word != RESTORE_FAILED && state->word != RESTORE_GONE) ||
		hotplug_find_cpu_of_file(restoring->hotplug, entry->path, &cpus) <= 0)
		return;
	/* It is a file, and no file tells offline CPUs. */
	wait_for_cpus(restoring, index, cpus, NULL);
	state->word = RESTORE_WAITING;
	state->error = 0;
}

/* Nothing of a group is put back, for a reason that is none of its knobs'. */
static void fail_group(
	struct restoring *restoring, const struct order_place *places, size_t n, int r)
{
	for (size_t i = 0; i < n; i++) {
		struct restore_state *state = &restoring->states[places[i].index];

		if (state->leave_alone)
			continue;
		state->leave_alone = true;
		fail_entry(state, r);
	}
}

/* Looks at the CPUs again, which come and go while knobs are put back. */
static int read_hotplug(struct restoring *restoring)
{
	struct hotplug *hotplug;
	int r;

	r = hotplug_read(restoring->journal, &hotplug);
	if (r < 0)
		return r;
	cpumask_or(restoring->absent, restoring->absent, hotplug->missing);
	cpumask_or(restoring->absent, restoring->absent, hotplug->offline_before);
	hotplug_free(restoring->hotplug);
	restoring->hotplug = hotplug;
	return 0;
}

/* All of a group: first written, each at its turn, then read back, because what comes late comes
 * for all of them at the same time. */
static void restore_group(struct restoring *restoring, const struct order_place *places, size_t n)
{
	int64_t deadline;
	int r;

	/* The group before may have brought CPUs back. */
	r = read_hotplug(restoring);
	if (r < 0) {
		fail_group(restoring, places, n, r);
		return;
	}
	for (size_t i = 0; i < n; i++)
		restore_entry(restoring, places[i].index);
	for (size_t i = 0; i < n; i++) {
		size_t index = places[i].index;
		const struct restore_state *state = &restoring->states[index];

		if (state->word == RESTORE_FAILED &&
			order_is_to_write_again(
				restoring->journal->entries[index].kind, -state->error))
			write_old(restoring, index);
	}
	deadline = knob_deadline();
	for (size_t i = 0; i < n; i++) {
		if (restoring->states[places[i].index].word == RESTORE_DONE)
			read_entry_back(restoring, places[i].index, deadline);
		wait_for_lost_file(restoring, places[i].index);
	}
}

/* What was put back, or had not changed, may have been moved by a knob that came after it: compares
 * all once more, and writes those once more. */
static void restore_moved(struct restoring *restoring)
{
	int64_t deadline;

	for (size_t i = 0; i < restoring->journal->n; i++) {
		struct restore_state *state = &restoring->states[i];
		int r;

		if (state->leave_alone ||
			(state->word != RESTORE_DONE && state->word != RESTORE_UNCHANGED) ||
			read_now(restoring, i) < 0)
			continue;
		r = matches_old(restoring, i, state->now);
		if (r < 0)
			fail_entry(state, r);
		else if (r == 0)
			write_old(restoring, i);
	}
	deadline = knob_deadline();
	for (size_t i = 0; i < restoring->journal->n; i++) {
		const struct restore_state *state = &restoring->states[i];

		if (!state->leave_alone && state->word == RESTORE_DONE &&
			matches_old(restoring, i, state->now) <= 0)
			read_entry_back(restoring, i, deadline);
	}
}

static int add_row(const struct engine *engine, struct restore_rows *rows,
	const struct journal_entry *entry, enum restore_word word, char *now, int error)
{
	const struct knob_backend *backend;
	const char *rest;
	struct restore_row *items = reallocarray(rows->items, rows->n + 1, sizeof(*items));

	if (!items) {
		free(now);
		return -ENOMEM;
	}
	backend = knob_find_backend(engine->backends, entry->path, &rest);
	rows->items = items;
	items[rows->n] = (struct restore_row){
		.kind = entry->kind,
		.path = strdup(entry->path),
		.name = strdup(entry->name),
		.original = strdup(entry->old),
		.now = now,
		.word = word,
		.again = (entry->left_alone &&
				 (word == RESTORE_FOREIGN || word == RESTORE_REFUSED)) ||
			(entry->waits_for_cpu && word == RESTORE_WAITING),
		.error = error,
		.fleeting = backend && backend->fleeting != NULL,
	};
	rows->n++;
	return items[rows->n - 1].path && items[rows->n - 1].name && items[rows->n - 1].original
		? 0
		: -ENOMEM;
}

/*
 * Whether an entry stays in the journal. So does one that was put back, or had not changed, while a
 * knob of a group that is undone before its own has failed: it may be moved when that is put back,
 * as it was when that was turned.
 */
static bool stays_in_journal(
	const struct journal_entry *e, const struct restore_state *state, int64_t failed_group)
{
	if (state->word == RESTORE_DONE || state->word == RESTORE_UNCHANGED)
		return !state->leave_alone && e->group < failed_group;
	/* What is refused because it is busy, others use by now. Any other refusal may come to an
	 * end. */
	return state->word == RESTORE_FAILED || state->word == RESTORE_FOREIGN ||
		state->word == RESTORE_WAITING ||
		(state->word == RESTORE_REFUSED && state->error != EBUSY);
}

/* What is left over of an entry goes into `left`, and its row to the rows, if these are wanted.
 * Takes the state's text over. */
static int note_restored(const struct engine *engine, const struct journal_entry *e,
	struct restore_state *state, int64_t failed_group, struct journal *remaining,
	struct restore_rows *rows)
{
	_cleanup_free_ char *now = TAKE_PTR(state->now);
	int r;

	if (state->waits_for_cpu && state->word == RESTORE_DONE)
		state->word = RESTORE_WAITING;
	if (stays_in_journal(e, state, failed_group)) {
		bool well = state->word == RESTORE_DONE || state->word == RESTORE_UNCHANGED;

		r = journal_add(remaining, e->group, e->kind, e->path, e->name, e->old,
			well ? now : e->new);
		if (r < 0)
			return r;
		remaining->entries[remaining->n - 1].since = e->since;
		remaining->entries[remaining->n - 1].left_alone =
			state->word == RESTORE_FOREIGN || state->word == RESTORE_REFUSED;
		remaining->entries[remaining->n - 1].waits_for_cpu = state->word == RESTORE_WAITING;
	}
	return rows ? add_row(engine, rows, e, state->word, TAKE_PTR(now), state->error) : 0;
}

/* What lost CPUs, though the journal does not say so, or because of what was put back. Also to CPUs
 * that have come back in the meantime, which the kernel does not give back either: what can be
 * widened at once is, and the plan has what waits. */
static int find_narrowed(struct restoring *restoring)
{
	const struct engine *engine = restoring->engine;
	struct knob_plan *plan = &restoring->narrowed;
	int r;

	if (!engine->find_narrowed)
		return 0;
	r = read_hotplug(restoring);
	if (r < 0 || cpumask_is_empty(restoring->absent))
		return r;
	r = engine->find_narrowed(restoring->absent, restoring->journal, plan);
	if (r == 0 && plan->n > 0)
		cpumask_or(restoring->awaited, restoring->awaited, restoring->absent);
	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct journal_entry *entry =
			journal_find(restoring->journal, plan->knobs[i].path);

		if (entry)
			restoring->states[entry - restoring->journal->entries].word =
				RESTORE_WAITING;
	}
	return r;
}

/* Those of them that are not in the journal. */
static int note_narrowed(
	const struct restoring *restoring, struct journal *remaining, struct restore_rows *rows)
{
	const struct knob_plan *plan = &restoring->narrowed;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];
		const struct journal_entry entry = {
			.group = knob->group,
			.kind = knob->kind,
			.path = knob->path,
			.name = knob->name,
			.old = knob->wanted,
		};
		struct restore_state state = { .word = RESTORE_WAITING };

		if (!journal_find(restoring->journal, knob->path))
			r = note_restored(
				restoring->engine, &entry, &state, NOTHING_FAILED, remaining, rows);
	}
	return r;
}

static int restoring_begin(
	const struct engine *engine, struct journal *journal, struct restoring *ret)
{
	int r = 0;

	*ret = (struct restoring){
		.engine = engine,
		.journal = journal,
		.states = calloc(journal->n + 1, sizeof(*ret->states)),
		.places = calloc(journal->n + 1, sizeof(*ret->places)),
	};
	if (!ret->places || !ret->states)
		return -ENOMEM;
	for (size_t i = 0; i < journal->n; i++)
		ret->places[i] =
			(struct order_place){ .group = journal->entries[i].group, .index = i };
	order_sort_backwards(ret->places, journal->n);
	r = cpumask_new(&ret->absent);
	if (r == 0)
		r = cpumask_new(&ret->awaited);
	return r < 0 ? r : read_hotplug(ret);
}

/* Puts back all entries that are not to be left as they are. What cannot be put back, its state
 * says; an error is one of the whole. */
static int restore_groups(struct restoring *restoring)
{
	const struct order_place *places = restoring->places;
	size_t n = restoring->journal->n;

	for (size_t i = 0, end; i < n; i = end) {
		end = order_find_group_end(places, n, i);
		restore_group(restoring, &places[i], end - i);
	}
	restore_moved(restoring);
	return find_narrowed(restoring);
}

/* What has become of the entries: rows, unless these are NULL, and in `left` what is left over.
 * *ret_result is the error of the first entry that failed, else 0. */
static int collect_outcome(struct restoring *restoring, struct journal *remaining,
	struct restore_rows *rows, int *ret_result)
{
	const struct journal *journal = restoring->journal;
	int64_t failed_group = NOTHING_FAILED;
	int result = 0, r = 0;

	for (size_t i = 0; i < journal->n && result == 0; i++) {
		size_t index = restoring->places[i].index;
		const struct restore_state *state = &restoring->states[index];

		if (state->word != RESTORE_FAILED)
			continue;
		result = state->error ? -state->error : -EINVAL;
		/* Backwards: the first one has the highest group. */
		failed_group = journal->entries[index].group;
	}
	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		size_t index = restoring->places[i].index;

		r = note_restored(restoring->engine, &journal->entries[index],
			&restoring->states[index], failed_group, remaining, rows);
	}
	if (r == 0)
		r = note_narrowed(restoring, remaining, rows);
	if (r == 0 && rows && !cpumask_is_empty(restoring->awaited)) {
		rows->awaited_cpus = cpumask_format_list(restoring->awaited);
		r = rows->awaited_cpus ? 0 : -ENOMEM;
	}
	if (r == 0)
		*ret_result = result;
	return r;
}

/* All entries; those that are left over go into `left`. *ret_result is the error of the first that
 * failed. An error of the with_offline, such as memory that ran out, says nothing of the entries.
 */
static int restore_entries(const struct engine *engine, struct journal *journal,
	struct journal *remaining, struct restore_rows *rows, int *ret_result)
{
	_cleanup_(restoring) struct restoring restoring = { 0 };
	int r;

	r = restoring_begin(engine, journal, &restoring);
	if (r == 0)
		r = layers_read(engine->tool, &restoring.layers);
	if (r == 0)
		r = judge_entries(&restoring);
	if (r == 0)
		r = layers_save(restoring.layers);
	if (r == 0)
		r = restore_groups(&restoring);
	return r < 0 ? r : collect_outcome(&restoring, remaining, rows, ret_result);
}

/* What an apply has turned, or may have moved, as the entries of a journal. */
static int add_turned(struct journal *journal, const struct knob_plan *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (knob->before_apply)
			r = journal_add(journal, knob->group, knob->kind, knob->path, knob->name,
				knob->with_offline ? knob->with_offline : knob->before_apply, NULL);
	}
	return r;
}

/* Whether what shows of a knob may be from before it was written just now. The kernel has refused a
 * frequency for good. */
static bool may_show_late(const struct knob *knob)
{
	return knob->turned && (knob->kind != KNOB_FREQUENCY || knob->error == 0);
}

int restore_turned(const struct engine *engine, const struct knob_plan *plan, const char *online,
	struct journal *remaining)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_(restoring) struct restoring restoring = { 0 };
	int result = 0, r;

	r = journal_new(engine->tool, &journal);
	if (r == 0)
		r = text_replace(&journal->online, online);
	if (r == 0)
		r = add_turned(journal, plan);
	if (r == 0)
		r = restoring_begin(engine, journal, &restoring);
	for (size_t i = 0, n = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (!knob->before_apply)
			continue;
		restoring.states[n].turned = knob->turned;
		restoring.states[n++].outcome_known = !may_show_late(knob);
	}
	if (r == 0)
		r = text_replace(&remaining->online, online);
	if (r == 0)
		r = restore_groups(&restoring);
	if (r == 0)
		r = collect_outcome(&restoring, remaining, NULL, &result);
	return r < 0 ? r : result;
}

int restore_journal(
	const struct engine *engine, struct restore_rows *ret, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL, *remaining = NULL;
	struct restore_rows rows = { 0 };
	int result = 0, r;

	r = engine_load_journal(engine, &journal, failure);
	if (r == -ENOENT)
		return journal_remove(engine->tool); /* one of another boot */
	if (r < 0)
		return r;
	r = journal_new(engine->tool, &remaining);
	if (r == 0)
		r = text_replace(&remaining->online, journal->online);
	if (r == 0)
		r = restore_entries(engine, journal, remaining, &rows, &result);
	/* The journal stays, and restoring can be repeated. */
	if (r < 0) {
		restore_rows_clear(&rows);
		engine_failure_set(failure, NULL,
			"cannot restore what the journal " JOURNAL_DIRECTORY "/%s.journal says",
			engine->tool);
		return r;
	}
	r = remaining->n > 0 ? journal_save(remaining) : journal_remove(engine->tool);
	*ret = rows;
	if (r < 0)
		engine_failure_set(failure, NULL, "cannot write the journal");
	return r < 0 ? r : result;
}
