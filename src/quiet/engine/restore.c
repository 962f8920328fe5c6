// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule of what restore does with an entry of the journal. An entry has two values: `old`, which
 * the knob had before the setter turned it, and `new`, which it had afterwards. If the journal of
 * another setter says that it has turned the knob since, that journal takes over our `old`, and the
 * knob is not touched (HANDED). If the knob is neither at `old` nor at `new`, and the kernel has
 * not made that value by itself, then somebody else has changed the knob, and it stays as it is
 * unless the user forces it (FOREIGN); the same holds if another setter has found such a value. All
 * other knobs are ours to put back, the last group first: a knob that is at `old` already is not
 * written (UNCHANGED), the others are written and read back (DONE). If the kernel refuses a list of
 * CPUs because some of them are offline or unplugged, the list is written without these, and the
 * entry waits for those that are offline; an entry whose file is gone with an offline CPU waits,
 * too (WAITING). A knob that no longer exists, or all of whose CPUs are unplugged, is given up
 * (GONE). If the kernel refuses a write and the setter expects that, the knob is REFUSED; any other
 * error is FAILED. When all groups are done, every knob is compared once more, because putting one
 * knob back may have moved another. The journal keeps the entries that are FOREIGN, WAITING,
 * FAILED, or REFUSED with another error than EBUSY, for the next restore. If one FAILED, the
 * journal also keeps the entries of all lower groups, although they were put back. A waiting entry
 * keeps the present value of the knob as its `new`, so that a change by somebody else is noticed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/irqline.h"
#include "base/macro.h"
#include "base/text.h"
#include "quiet/engine/hotplug.h"
#include "quiet/engine/inspect.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/layers.h"
#include "quiet/engine/order.h"
#include "quiet/engine/pins.h"
#include "quiet/engine/restore.h"
#include "quiet/engine/thread.h"
#include "quiet/engine/tunables.h"

enum {
	NOTHING_FAILED = -1, /* stands in place of the number of a group that failed */
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
	int error;	      /* positive errno */
	char *now;	      /* what the knob was when it was read last */
	bool outcome_known;   /* the journal said what the knob had become */
	bool turned;	      /* this process wrote the knob: it is put back even if unreadable */
	bool leave_alone;     /* the knob is not ours to put back */
	bool has_layer_above; /* another setter has turned the knob since */
	/* Of an interrupt that is left to that one: where it was before restoring began. */
	char *before;
	size_t writes_when_read; /* restoring.writes at the time of that reading */
	size_t moves_when_read;
	/* The old value without the CPUs that are absent now; NULL: the old value is used. */
	char *partial_old;
	bool waits_for_cpu; /* some CPUs of the old value are offline, and may come back */
};

struct restoring {
	const struct engine *engine;
	struct journal *journal;
	struct restore_state *states; /* one for each entry of the journal */
	struct layers *layers;	      /* the journals of the other setters */
	struct hotplug *hotplug;      /* read again before each group */
	struct cpumask *awaited;      /* all CPUs for which some knob waits */
	struct cpumask *absent; /* CPUs that were offline at some time since restoring began */
	/* The CPUs that new interrupts got until restoring began; NULL where the journal does not
	 * have their default affinity. */
	struct cpumask *given;
	struct order_place *places; /* the entries, in the order in which they are put back */
	struct knob_plan narrowed;  /* what find_narrowed() found */
	size_t writes;		    /* how many writes were tried */
	size_t moves;		    /* how many of them may have moved other knobs */
};

static void cleanup_restoring(struct restoring *restoring)
{
	for (size_t i = 0; restoring->states && i < restoring->journal->n; i++) {
		free(restoring->states[i].now);
		free(restoring->states[i].before);
		free(restoring->states[i].partial_old);
	}
	free(restoring->states);
	free(restoring->places);
	knob_plan_clear(&restoring->narrowed);
	layers_free(restoring->layers);
	hotplug_free(restoring->hotplug);
	cpumask_free(restoring->awaited);
	cpumask_free(restoring->absent);
	cpumask_free(restoring->given);
}

static void fail_entry(struct restore_state *state, int r)
{
	state->word = RESTORE_FAILED;
	state->error = -r;
}

/* Whether the knob, whose value with offline CPUs is given, now allows every CPU although its old
 * value did not. The kernel has then forgotten the old value. This cannot be seen from the online
 * CPUs alone. 1, 0 or -ENOMEM. */
static int was_widened_to_all(const struct restoring *restoring, const struct journal_entry *entry,
	const char *with_offline)
{
	const struct hotplug *hotplug = restoring->hotplug;
	_cleanup_(cpumask) struct cpumask *now = NULL, *old = NULL;

	if (cpumask_subset(hotplug->present, hotplug->online))
		return false;
	if (cpumask_new(&now) < 0 || cpumask_new(&old) < 0)
		return -ENOMEM;
	return knob_parse_cpus(entry->kind, with_offline, now) == 0 &&
		knob_parse_cpus(entry->kind, entry->old, old) == 0 &&
		cpumask_subset(hotplug->present, now) && !cpumask_subset(hotplug->present, old);
}

/* Whether a text that was just read from the knob means the old value, or as much of the old value
 * as can be had now: 1 or 0, or an errno if that cannot be found out. */
static int matches_old(const struct restoring *restoring, size_t index, const char *text)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	const struct restore_state *state = &restoring->states[index];
	_cleanup_free_ char *with_offline = NULL;
	int r;

	/* The text of some knobs leaves out the CPUs that are offline. */
	r = knob_read_with_offline(restoring->engine->backends, entry->path, &with_offline);
	if (r < 0 && r != -ENOENT)
		return r;
	if (!knob_equal(entry->kind, text, entry->old) &&
		!(state->partial_old && knob_equal(entry->kind, text, state->partial_old))) {
		r = entry->free ? engine_is_at_limit(restoring->engine, entry->path, text) : 0;
		if (r < 0)
			return r;
		if (r == 0)
			return with_offline && knob_equal(entry->kind, with_offline, entry->old);
	}
	r = with_offline ? was_widened_to_all(restoring, entry, with_offline) : 0;
	return r < 0 ? r : !r;
}

/* Whether the knob can be read with its offline CPUs. The old value of such a knob may hold CPUs
 * that were offline already when it was read, and that the kernel has taken from the knob since. */
static bool tells_offline_cpus(const struct restoring *restoring, const struct journal_entry *entry)
{
	_cleanup_free_ char *with_offline = NULL;

	return knob_read_with_offline(restoring->engine->backends, entry->path, &with_offline) == 0;
}

/* Makes the entry wait for those of the given CPUs that are offline, if there are any.
 * `was_offline` are CPUs that were offline already when the journal was begun; NULL: they do not
 * count. */
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
 * Leaves out of the old value the CPUs that were unplugged or went offline since it was read, and
 * keeps the result as partial_old. 1, 0 if there are no such CPUs, -ENODATA if no other CPU
 * remains. To be called only after the kernel has refused the old value: most masks have bits of
 * CPUs that never existed, and many files accept CPUs that are offline.
 */
static int drop_absent_cpus(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	const struct hotplug *hotplug = restoring->hotplug;
	_cleanup_(cpumask) struct cpumask *cpus = NULL, *there = NULL;
	bool is_mask = entry->kind == KNOB_MASK, tells_offline;
	char *partial;

	if ((!is_mask && entry->kind != KNOB_LIST) || restoring->states[index].partial_old ||
		cpumask_is_empty(hotplug->present))
		return 0;
	if (cpumask_new(&cpus) < 0 || cpumask_new(&there) < 0)
		return -ENOMEM;
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

/* Whether nothing was written since the knob was read, so that it need not be read again. */
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
	state->moves_when_read = restoring->moves;
	state->error = r < 0 ? -r : 0;
	if (r < 0)
		state->word = knob_error_is_unavailable(-r) ? RESTORE_GONE : RESTORE_FAILED;
	return r;
}

/* Whether another setter has turned the knob since: 1, 0 or an errno. If so, that setter will put
 * the knob back, and whether somebody else changed our value is judged by the value that the other
 * setter found. */
static int judge_layer(struct restoring *restoring, size_t index)
{
	const struct journal_entry *e = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	const struct journal_entry *above;
	int r = layers_add_side_effect(restoring->layers, e);

	above = r == 0 ? layers_find_above(restoring->layers, e) : NULL;
	if (!above)
		return r;
	if (!restoring->engine->force)
		r = inspect_is_foreign(restoring->engine, restoring->hotplug, e, above->old);
	if (r < 0 && errno_is_ours(-r))
		return r;
	state->leave_alone = true;
	state->has_layer_above = true;
	if (text_starts_with(e->path, "/proc/irq/"))
		(void)knob_read(restoring->engine->backends, e->path, &state->before);
	state->word = r > 0 ? RESTORE_FOREIGN : RESTORE_HANDED;
	r = text_replace(&state->now, state->word == RESTORE_FOREIGN ? above->old : above->new);
	if (r == 0 && state->word == RESTORE_HANDED)
		r = layers_hand_over(restoring->layers, e);
	return r < 0 ? r : 1;
}

/* Whether somebody else changed the knob, by the value that was just read: 1 or 0, or an errno of
 * ours if this process cannot find out. If the knob itself refuses to tell, the answer is 0. */
static int judge_value(const struct restoring *restoring, size_t index)
{
	const struct journal_entry *e = &restoring->journal->entries[index];
	const char *now = restoring->states[index].now;
	int r;

	if (!now || restoring->engine->force)
		return 0;
	r = inspect_is_foreign(restoring->engine, restoring->hotplug, e, now);
	return r < 0 && !errno_is_ours(-r) ? 0 : r;
}

/*
 * Decides for all entries which knobs somebody else has changed. This comes before the first knob
 * is put back, because putting back one knob may change the value of another. For the same reason
 * the journal forgets what the knobs had become: after a crash, the next restore must not take our
 * half-done work for changes by somebody else. If the journal cannot be saved, restoring goes on.
 * Returns an error, before anything is touched, if this process cannot look (for example without
 * memory).
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
		if (r < 0 && errno_is_ours(-r))
			return r;
		same = r == 0 && knob_equal(e->kind, state->now, e->old);
		r = judge_value(restoring, i);
		if (r < 0)
			return r;
		if (r > 0) {
			state->leave_alone = true;
			/* Our apply did not change this knob, so nothing of ours is lost. */
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
	/* Where one interrupt goes, or one that is set up later, moves no knob that there is. */
	restoring->moves += !text_starts_with(entry->path, "/proc/irq/");
	return text ? engine_write(restoring->engine, entry->path, text) : -ENOMEM;
}

/*
 * Whether the kernel may have given this answer (0 or a negative errno) because CPUs are absent:
 * none of them is online, or the kernel does not know them, or the parent of a cpuset of cgroup v1
 * does not have them (validate_change() in kernel/cgroup/cpuset.c). Any other error has nothing to
 * do with absent CPUs.
 */
static bool is_about_cpus(const char *path, int r)
{
	return r == -EINVAL || r == -ERANGE || r == -EOVERFLOW ||
		(r == -EACCES && journal_path_is_cpuset(path));
}

/* Whether what the knob shows says nothing about what it was told. A limit shows what the hardware
 * and other limits leave of what was asked for, so that an apply may have asked for something else
 * than the old value that shows. */
static bool shows_less(const struct journal_entry *entry)
{
	return entry->kind == KNOB_FREQUENCY && entry->role == JOURNAL_TURNED;
}

/* Lifts a limit. Where the knob does not know how, and takes that text for a value, it gets its old
 * value. */
static int lift_limit(struct restoring *restoring, const struct journal_entry *entry)
{
	const struct engine *engine = restoring->engine;
	_cleanup_free_ char *now = NULL;
	int r;

	r = write_text(restoring, entry, engine->no_limit);
	if (r == 0)
		r = knob_read(engine->backends, entry->path, &now);
	return r == 0 && !knob_equal(entry->kind, now, engine->no_limit)
		? 0
		: write_text(restoring, entry, entry->old);
}

/* Leaves an entry to whoever has changed its knob since restoring began, if `r`, the answer to that
 * question, is not 0. Whether it did. */
static bool leave_to_others(struct restore_state *state, int r)
{
	if (r == 0)
		return false;
	state->leave_alone = true;
	state->word = RESTORE_FOREIGN;
	state->error = 0;
	if (r < 0)
		fail_entry(state, r);
	return true;
}

/* The backend that tells whether a value was chosen by somebody else; NULL for none, and where that
 * does not count. */
static const struct knob_backend *find_chooser(
	const struct engine *engine, const char *path, const char **ret_rest)
{
	const struct knob_backend *backend = knob_find_backend(engine->backends, path, ret_rest);

	return backend && backend->is_chosen && !engine->force ? backend : NULL;
}

/* Whether somebody else has changed the CPUs of a thread before we do: 1, 0 or an errno. That can
 * be told where it is known what threads have chosen. */
static int was_chosen_before(const struct restoring *restoring, const struct journal_entry *entry)
{
	const struct engine *engine = restoring->engine;
	const char *rest;
	int r;

	if (!engine->pins || !find_chooser(engine, entry->path, &rest))
		return 0;
	r = pins_is_chosen_anew(engine->pins, entry->path, entry->old);
	return r == -ENOENT ? 0 : r;
}

/* The same since it was written, when it is `now`. */
static int was_chosen_after(
	const struct restoring *restoring, const struct journal_entry *entry, const char *now)
{
	const char *rest;
	const struct knob_backend *backend = find_chooser(restoring->engine, entry->path, &rest);

	return backend ? backend->is_chosen(rest, entry->old, now) : 0;
}

static void write_old(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	int r, lost = 0;

	if (leave_to_others(state, was_chosen_before(restoring, entry)))
		return;

	if (entry->free && restoring->engine->no_limit)
		r = lift_limit(restoring, entry);
	else
		r = write_text(
			restoring, entry, state->partial_old ? state->partial_old : entry->old);
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

/* Sets a knob back to what somebody else has set it to, if another knob that we put back has moved
 * it: smt/control=on also brings those CPUs online that somebody else has taken offline, and boost
 * lifts the limits with some drivers (cpufreq_boost_set_sw() in drivers/cpufreq/cpufreq.c). If that
 * fails, the next restore tries again: their value is the one to put back then, unless that would
 * forget an old value that our apply has changed. */
static void keep_foreign(struct restoring *restoring, size_t index)
{
	struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	bool is_kept_only = state->word == RESTORE_UNCHANGED;
	_cleanup_free_ char *theirs = NULL;
	int r;

	if ((entry->kind != KNOB_NUMBER && entry->kind != KNOB_FREQUENCY) ||
		is_read_since_last_write(restoring, state))
		return;
	theirs = TAKE_PTR(state->now);
	r = read_now(restoring, index);
	if (r == 0 && knob_equal(entry->kind, state->now, theirs))
		return;
	if (r == 0) {
		r = write_text(restoring, entry, theirs);
		if (r < 0)
			fail_entry(state, r);
	}
	if (r == 0) {
		free(state->now);
		state->now = TAKE_PTR(theirs);
		return;
	}
	if (is_kept_only && journal_set_old(entry, theirs) == 0)
		free(TAKE_PTR(entry->new));
}

/* Whether a knob that waited for CPUs has been given all of them, and perhaps more, by somebody
 * else: another tool knew more about it, or a person has chosen. It does not count if the kernel
 * may have widened a knob whose value it had forgotten. 1, 0 or an errno. */
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
	if (cpumask_new(&n) < 0 || cpumask_new(&old) < 0)
		return -ENOMEM;
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

	if (state->leave_alone) {
		if (!state->has_layer_above)
			keep_foreign(restoring, index);
		return;
	}
	/* All are compared once more in the end: restore_moved(). */
	if (!(state->now && state->moves_when_read == restoring->moves) &&
		read_now(restoring, index) < 0) {
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
	r = shows_less(entry) ? 0 : matches_old(restoring, index, state->now);
	if (r < 0)
		fail_entry(state, r);
	/* A change that shows late may still be on its way: then the old value that was read does
	 * not prove that the knob keeps it. This is so if the apply did not get to read the knob
	 * back. */
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
	state->moves_when_read = restoring->moves;
	r = matches_old(restoring, index, after);
	if (r == 0) {
		r = drop_absent_cpus(restoring, index);
		if (r > 0)
			r = matches_old(restoring, index, after);
	}
	if (r == 0 && leave_to_others(state, was_chosen_after(restoring, entry, after)))
		return;
	if (r <= 0)
		fail_entry(state, r == -ENODATA ? 0 : r);
	if (r == 0 && engine_may_stay(restoring->engine, entry->path, -EAGAIN)) {
		state->word = RESTORE_REFUSED;
		state->error = EAGAIN;
	}
}

/* Whether it is a file of a governor that a policy will have again when its CPUs are online: the
 * entry of that policy, which comes first, waits for them. */
static bool waits_for_governor(const struct restoring *restoring, const char *path)
{
	const struct journal *journal = restoring->journal;
	size_t length;
	const char *governor = tunables_find_governor(path, &length);

	for (size_t i = 0; governor && i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[i];

		if (restoring->states[i].word == RESTORE_WAITING &&
			text_ends_with(e->path, "/scaling_governor") && strlen(e->old) == length &&
			strncmp(e->old, governor, length) == 0)
			return true;
	}
	return false;
}

/* If the file of the knob is missing only because its CPU is offline, the entry waits for that CPU.
 */
static void wait_for_lost_file(struct restoring *restoring, size_t index)
{
	const struct journal_entry *entry = &restoring->journal->entries[index];
	struct restore_state *state = &restoring->states[index];
	_cleanup_(cpumask) struct cpumask *cpus = NULL;

	if ((state->word != RESTORE_FAILED && state->word != RESTORE_GONE) ||
		(hotplug_find_cpu_of_file(restoring->hotplug, entry->path, &cpus) <= 0 &&
			!waits_for_governor(restoring, entry->path)))
		return;
	/* It is a file, and no file tells offline CPUs. */
	if (cpus)
		wait_for_cpus(restoring, index, cpus, NULL);
	state->word = RESTORE_WAITING;
	state->error = 0;
	/* The value read before the CPU went offline says nothing about the value that the file
	 * will have. */
	free(TAKE_PTR(state->now));
}

/* Marks all knobs of a group as failed, for a reason that has nothing to do with the knobs. */
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

/* Reads again which CPUs are online: that changes while knobs are put back. */
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

/* Puts back all knobs of a group. All are written before the first is read back, so that changes
 * that show late are waited for once, and not once per knob. */
static void restore_group(struct restoring *restoring, const struct order_place *places, size_t n)
{
	int64_t deadline;
	int r;

	/* Putting back the previous group may have brought CPUs online. */
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
			order_is_to_put_back_again(
				&restoring->journal->entries[index], state->error))
			write_old(restoring, index);
	}
	deadline = knob_deadline();
	for (size_t i = 0; i < n; i++) {
		if (restoring->states[places[i].index].word == RESTORE_DONE)
			read_entry_back(restoring, places[i].index, deadline);
		wait_for_lost_file(restoring, places[i].index);
	}
}

/* Interrupts that are left to another setter go back to where they were before restoring brought
 * CPUs online: a driver may give its interrupts other CPUs then, which the other setter would take
 * for somebody's choice. */
static void keep_of_others(struct restoring *restoring)
{
	for (size_t i = 0; restoring->moves > 0 && i < restoring->journal->n; i++) {
		const struct journal_entry *entry = &restoring->journal->entries[i];
		const char *before = restoring->states[i].before;
		_cleanup_free_ char *now = NULL;

		if (before && knob_read(restoring->engine->backends, entry->path, &now) == 0 &&
			strcmp(now, before) != 0)
			(void)write_text(restoring, entry, before);
	}
}

/* A knob that was put back, or had not changed, may have been moved by a knob that was put back
 * after it. Compares all of them once more, and writes those that have moved. */
static void restore_moved(struct restoring *restoring)
{
	int64_t deadline;

	keep_of_others(restoring);
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
 * Whether an entry stays in the journal. An entry that was put back, or had not changed, stays if a
 * knob of a higher group has failed: a later restore will put that knob back, which may move this
 * one, as turning it may have done.
 */
static bool stays_in_journal(
	const struct journal_entry *e, const struct restore_state *state, int64_t failed_group)
{
	if (state->word == RESTORE_DONE || state->word == RESTORE_UNCHANGED)
		return !state->leave_alone && e->group < failed_group;
	/* A knob that is refused as busy is in use by somebody else by now. Any other refusal may
	 * end some day. */
	return state->word == RESTORE_FAILED || state->word == RESTORE_FOREIGN ||
		state->word == RESTORE_WAITING ||
		(state->word == RESTORE_REFUSED && state->error != EBUSY);
}

/*
 * What the knob of an entry that stays in the journal has become, as far as that is known: the next
 * restore takes any other value for somebody else's choice. It is not known of a waiting thread,
 * because Linux may change its CPUs when the offline ones come back (see was_widened_by_others()).
 */
static char *find_outcome(const struct engine *engine, const struct journal_entry *e,
	const struct restore_state *state, char *now)
{
	const struct knob_backend *backend;
	const char *rest;

	switch (state->word) {
	case RESTORE_DONE:
	case RESTORE_UNCHANGED:
		return now;
	case RESTORE_WAITING:
		backend = knob_find_backend(engine->backends, e->path, &rest);
		return backend && backend->made_by_kernel ? NULL : now;
	default:
		return e->new;
	}
}

/* Adds the entry to the journal `remaining` if there is still something to do for it, and a row for
 * it to the rows unless these are NULL. Takes state->now over. */
static int note_restored(const struct engine *engine, const struct journal_entry *e,
	struct restore_state *state, int64_t failed_group, struct journal *remaining,
	struct restore_rows *rows)
{
	_cleanup_free_ char *now = TAKE_PTR(state->now);

	if (state->waits_for_cpu && state->word == RESTORE_DONE)
		state->word = RESTORE_WAITING;
	if (stays_in_journal(e, state, failed_group)) {
		struct journal_entry kept = *e;

		kept.new = find_outcome(engine, e, state, now);
		kept.left_alone = state->word == RESTORE_FOREIGN || state->word == RESTORE_REFUSED;
		kept.waits_for_cpu = state->word == RESTORE_WAITING;
		if (journal_add_copy(remaining, &kept) < 0)
			return -ENOMEM;
	}
	return rows ? add_row(engine, rows, e, state->word, TAKE_PTR(now), state->error) : 0;
}

/* Finds threads that lost CPUs although the journal does not mention them, or lost them when a knob
 * was put back. A CPU that is online again counts as well, because the kernel does not give it back
 * to such threads. Threads that can be widened are widened at once; those that have to wait are
 * added to the plan. */
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

/* Notes the narrowed threads that are not in the journal: those that are have been noted already.
 */
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

/* Keeps what new interrupts get until now, where the setter may have changed that. */
static int keep_given(struct restoring *restoring)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	int r;

	if (!restoring->engine->lines ||
		!journal_find(restoring->journal, IRQLINE_DEFAULT_AFFINITY))
		return 0;
	r = cpumask_new(&mask);
	if (r == 0)
		r = irqs_read_default(mask);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	cpumask_and(mask, mask, restoring->hotplug->online);
	restoring->given = TAKE_PTR(mask);
	return 0;
}

/* Has interrupts that were set up meanwhile come to the CPUs that they were kept away from. */
static int widen_new_interrupts(struct restoring *restoring)
{
	struct irqlines *lines = restoring->engine->lines;
	int r;

	if (!restoring->given)
		return 0;
	r = irqlines_read_named(lines);
	if (r == 0)
		r = read_hotplug(restoring);
	if (r == 0)
		r = irqs_widen_new(
			restoring->journal, lines, restoring->given, restoring->hotplug->online);
	return r == -ENOENT ? 0 : r;
}

static int restoring_begin(
	const struct engine *engine, struct journal *journal, struct restoring *ret)
{
	int r;

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
	if (r == 0)
		r = read_hotplug(ret);
	return r < 0 ? r : keep_given(ret);
}

/* Puts back all entries but those that are to be left alone. What became of each entry is in its
 * state. An error concerns restoring as a whole, and no single entry. */
static int restore_groups(struct restoring *restoring)
{
	const struct order_place *places = restoring->places;
	size_t n = restoring->journal->n;
	int r;

	for (size_t i = 0, end; i < n; i = end) {
		end = order_find_group_end(places, n, i);
		restore_group(restoring, &places[i], end - i);
	}
	r = engine_settle_threads(restoring->engine);
	restore_moved(restoring);
	if (r == 0)
		r = widen_new_interrupts(restoring);
	return r < 0 ? r : find_narrowed(restoring);
}

/* Adds what is still to do to the journal `remaining`, and a row per entry to the rows unless these
 * are NULL. *ret_result is the error of the first entry that failed, else 0. */
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
		/* The places are in the order of undoing, so this is the highest group. */
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

/* Notes what is known of threads, where putting these knobs back makes the kernel move them. */
static int hold_threads(struct journal *journal, struct engine *engine)
{
	bool any = false;

	for (size_t i = 0; !any && i < journal->n; i++)
		any = knob_moves_threads(engine->backends, journal->entries[i].path);
	return engine_hold_threads(engine, any, journal);
}

static bool has_interrupt(const struct journal *journal)
{
	unsigned number;

	for (size_t i = 0; i < journal->n; i++) {
		if (irqline_parse_path(journal->entries[i].path, &number) == 0)
			return true;
	}
	return false;
}

/* Puts all entries back, and adds what is still to do to `remaining`. *ret_result is the error of
 * the first entry that failed, else 0. If the function itself returns an error, for example because
 * memory ran out, nothing is known about the entries. */
static int restore_entries(const struct engine *engine, struct journal *journal,
	struct journal *remaining, struct restore_rows *rows, int *ret_result)
{
	_cleanup_(restoring) struct restoring restoring = { 0 };
	struct engine with_threads = *engine;
	int r;

	r = hold_threads(journal, &with_threads);
	if (r == 0)
		r = restoring_begin(&with_threads, journal, &restoring);
	if (r == 0)
		r = layers_read(engine->tool, has_interrupt(journal) ? engine->lines : NULL,
			&restoring.layers);
	if (r == 0)
		r = judge_entries(&restoring);
	if (r == 0)
		r = layers_save(restoring.layers);
	if (r == 0)
		r = restore_groups(&restoring);
	engine_release_threads(&with_threads);
	return r < 0 ? r : collect_outcome(&restoring, remaining, rows, ret_result);
}

/* Whether the write of a knob may still show later than now. A frequency that the kernel has
 * refused will not change later. */
static bool may_show_late(const struct knob *knob)
{
	return knob->turned && (knob->kind != KNOB_FREQUENCY || knob->error == 0);
}

/* Adds an entry to the journal for each knob that an apply has turned or may have moved. */
static int add_turned(struct journal *journal, const struct knob_plan *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (!knob->before_apply)
			continue;
		r = journal_add(journal, knob->group, knob->kind, knob->path, knob->name,
			knob->with_offline ? knob->with_offline : knob->before_apply, NULL);
		if (r < 0)
			return r;
		if (!may_show_late(knob))
			journal->entries[journal->n - 1].role = JOURNAL_KEPT;
		journal->entries[journal->n - 1].free = knob->at_limit;
	}
	return 0;
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
		return journal_remove(engine->tool); /* there may be one of another boot */
	if (r < 0)
		return r;
	r = engine->prepare ? engine->prepare(journal) : 0;
	if (r == 0)
		r = journal_new(engine->tool, &remaining);
	if (r == 0)
		r = text_replace(&remaining->online, journal->online);
	if (r == 0)
		r = restore_entries(engine, journal, remaining, &rows, &result);
	/* The journal is kept as it is, so that restoring can be repeated. */
	if (r < 0) {
		restore_rows_clear(&rows);
		engine_failure_set(failure, NULL,
			"cannot restore what the journal %s/%s.journal says", journal_directory(),
			engine->tool);
		return r;
	}
	r = remaining->n > 0 ? journal_save(remaining) : journal_remove(engine->tool);
	*ret = rows;
	if (r < 0)
		engine_refuse_journal(engine, "", failure);
	return r < 0 ? r : result;
}
