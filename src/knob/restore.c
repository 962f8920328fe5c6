// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "knob/inspect.h"
#include "knob/order.h"
#include "knob/restore.h"

#define PRESENT "/sys/devices/system/cpu/present"

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
	char *rest;  /* what was there before without CPUs that are no more; NULL for all of it */
};

struct restoring {
	const struct engine *engine;
	struct journal *journal;
	struct restore_state *states; /* of its entries */
	struct cpumask *present;      /* NULL until somebody asks for it */
	size_t writes;
};

/* Whether a text means what was there before, as far as that is still to be had. */
static bool is_as_before(const struct restoring *restoring, size_t index, const char *text)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	const struct restore_state *state = &restoring->states[index];

	return knob_equal(entry->kind, text, entry->old) ||
		(state->rest && knob_equal(entry->kind, text, state->rest));
}

/* The CPUs that are plugged in, online or not (Documentation/admin-guide/cputopology.rst). */
static int read_present(struct restoring *restoring)
{
	_cleanup_(cpumask) struct cpumask *present = NULL;
	int r;

	if (restoring->present)
		return 0;
	r = cpumask_new(&present);
	if (r == 0)
		r = cpumask_read_list(AT_FDCWD, PRESENT, present);
	if (r < 0)
		return r;
	restoring->present = TAKE_PTR(present);
	return 0;
}

/*
 * Takes CPUs that were unplugged since out of what is to be put back: 1, 0 when there are none, and
 * -ENODATA when no other is left. For what the kernel did not take, only: most masks have bits of
 * CPUs that never were.
 */
static int forget_lost_cpus(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	bool is_mask = entry->kind == KNOB_MASK;
	char *rest;
	int r;

	if ((!is_mask && entry->kind != KNOB_LIST) || restoring->states[index].rest)
		return 0;
	r = cpumask_new(&cpus);
	if (r < 0)
		return r;
	r = knob_parse_cpus(entry->kind, entry->old, cpus);
	if (r < 0 || read_present(restoring) < 0 || cpumask_subset(cpus, restoring->present))
		return 0;
	cpumask_and(cpus, cpus, restoring->present);
	if (cpumask_is_empty(cpus))
		return -ENODATA;
	rest = is_mask ? cpumask_format_hex(cpus, 1) : cpumask_format_list(cpus);
	if (!rest)
		return -ENOMEM;
	restoring->states[index].rest = rest;
	return 1;
}

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
		if (state->now && !restoring->engine->force &&
			inspect_is_foreign(restoring->engine, e, state->now)) {
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

static int write_text(
	struct restoring *restoring, const struct journal_entry *entry, const char *value)
{
	_cleanup_free_ char *text = knob_writable(entry->kind, value);

	restoring->writes++;
	return text ? knob_write(restoring->engine->backends, entry->path, text) : -ENOMEM;
}

static void write_old(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	int r, lost = 0;

	r = write_text(restoring, entry, state->rest ? state->rest : entry->old);
	if (r < 0 && r != -ENOENT)
		lost = forget_lost_cpus(restoring, index);
	if (lost > 0)
		r = write_text(restoring, entry, state->rest);
	state->error = r < 0 && lost != -ENODATA ? -r : 0;
	if (r == 0)
		state->word = RESTORE_DONE;
	else if (r == -ENOENT || lost == -ENODATA)
		state->word = RESTORE_GONE;
	else
		state->word = engine_may_stay(restoring->engine, entry->path, r) ? RESTORE_REFUSED
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

static void read_entry_back(struct restoring *restoring, size_t index, int64_t deadline)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	char *after;
	int r;

	r = knob_read_back(restoring->engine->backends, entry->kind, entry->path, entry->old,
		deadline, &after);
	if (r < 0) {
		state->error = r == -ENOENT ? 0 : -r;
		state->word = r == -ENOENT ? RESTORE_GONE : RESTORE_FAILED;
		return;
	}
	free(state->now);
	state->now = after;
	state->seen = restoring->writes;
	if (!is_as_before(restoring, index, after) &&
		(forget_lost_cpus(restoring, index) <= 0 || !is_as_before(restoring, index, after)))
		state->word = RESTORE_FAILED;
}

/* All of a group: first written, each at its turn, then read back, because what comes late comes
 * for all of them at the same time. */
static void restore_group(struct restoring *restoring, const struct order_place *places, size_t n)
{
	int64_t deadline;

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
	}
}

/* What was put back, or had not changed, may have been moved by a knob that came after it: compares
 * all once more, and writes those once more. */
static void restore_moved(struct restoring *restoring)
{
	int64_t deadline;

	for (size_t i = 0; i < restoring->journal->n; i++) {
		const struct restore_state *state = &restoring->states[i];

		if (state->leave ||
			(state->word != RESTORE_DONE && state->word != RESTORE_UNCHANGED) ||
			read_now(restoring, i) < 0 || is_as_before(restoring, i, state->now))
			continue;
		write_old(restoring, i);
	}
	deadline = knob_deadline();
	for (size_t i = 0; i < restoring->journal->n; i++) {
		const struct restore_state *state = &restoring->states[i];

		if (!state->leave && state->word == RESTORE_DONE &&
			!is_as_before(restoring, i, state->now))
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
		.again = entry->left && word == RESTORE_FOREIGN,
		.error = error,
		.fleeting = backend && backend->fleeting != NULL,
	};
	rows->n++;
	return items[rows->n - 1].path && items[rows->n - 1].name && items[rows->n - 1].original
		? 0
		: -ENOMEM;
}

/* The row of an entry, and what is left over into `left`. Takes the state's text over. */
static int note_restored(const struct engine *engine, const struct journal_entry *e,
	struct restore_state *state, struct journal *left, struct restore_rows *rows)
{
	char *now = TAKE_PTR(state->now);
	int r;

	if (state->word == RESTORE_FAILED || state->word == RESTORE_FOREIGN) {
		r = journal_add(left, e->group, e->kind, e->path, e->name, e->old, e->new);
		if (r < 0) {
			free(now);
			return r;
		}
		left->entries[left->n - 1].left = state->word == RESTORE_FOREIGN;
	}
	return add_row(engine, rows, e, state->word, now, state->error);
}

/* All entries; those that are left over go into `left`. */
static int restore_entries(const struct engine *engine, struct journal *journal,
	struct journal *left, struct restore_rows *rows)
{
	_cleanup_free_ struct order_place *places = calloc(journal->n + 1, sizeof(*places));
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
		places[i] = (struct order_place){ .group = journal->entries[i].group, .index = i };
	order_sort_backwards(places, journal->n);
	judge_entries(&restoring);
	for (size_t i = 0, end; i < journal->n; i = end) {
		end = order_find_group_end(places, journal->n, i);
		restore_group(&restoring, &places[i], end - i);
	}
	restore_moved(&restoring);
	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[places[i].index];
		struct restore_state *state = &restoring.states[places[i].index];

		if (state->word == RESTORE_FAILED && result == 0)
			result = state->error ? -state->error : -EINVAL;
		r = note_restored(engine, e, state, left, rows);
	}
	for (size_t i = 0; i < journal->n; i++) {
		free(restoring.states[i].now);
		free(restoring.states[i].rest);
	}
	free(restoring.states);
	cpumask_free(restoring.present);
	return r < 0 ? r : result;
}

int restore_journal(
	const struct engine *engine, struct restore_rows *ret, struct engine_failure *failure)
{
	_cleanup_(journal) struct journal *journal = NULL, *left = NULL;
	struct restore_rows rows = { 0 };
	int result, r;

	r = engine_load_journal(engine, &journal, failure);
	if (r == -ENOENT)
		return journal_remove(engine->tool); /* one of another boot */
	if (r < 0)
		return r;
	r = journal_new(engine->tool, &left);
	if (r < 0)
		return r;
	result = restore_entries(engine, journal, left, &rows);
	/* Memory that ran out half-way: the journal stays, and restoring can be repeated. */
	if (result == -ENOMEM) {
		restore_rows_clear(&rows);
		return result;
	}
	r = left->n > 0 ? journal_save(left) : journal_remove(engine->tool);
	*ret = rows;
	if (r < 0)
		engine_failure_set(failure, NULL, "cannot write the journal");
	return r < 0 ? r : result;
}
