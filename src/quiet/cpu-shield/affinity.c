// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/tasks.h"
#include "base/say.h"
#include "base/text.h"
#include "quiet/cpu-shield/affinity.h"
#include "quiet/engine/cleared.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/threads.h"

#define KEPT "kept"
#define FREE "free"

enum {
	NAMES_SHOWN = 3,
};

/* Whether this process has freed the threads that had inherited a narrow affinity. The journal does
 * not tell: it has the knob until all knobs are put back. */
static bool were_freed;

static int load_journal(struct journal **ret)
{
	_cleanup_free_ char *why = NULL;

	return journal_load(CLEARED_TOOL, ret, &why);
}

bool inheritors_is_ours(const char *list)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;

	return cpumask_from_list(list, &cpus) == 0;
}

int inheritors_read(const char *list, char **ret)
{
	_cleanup_(journal) struct journal *journal = NULL;
	const struct journal_entry *entry = NULL;
	const char *kept = NULL;
	char *word;
	int r = load_journal(&journal);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0)
		entry = cleared_find(journal, &kept);
	word = strdup(entry && strcmp(kept, list) == 0 && !were_freed ? KEPT : FREE);
	if (!word)
		return -ENOMEM;
	*ret = word;
	return 0;
}

int inheritors_write(const char *list, const char *text)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_(cpumask) struct cpumask *quiet = NULL;
	const struct journal_entry *entry;
	const char *kept;
	int r;

	/* The word is "kept" as long as the journal has this knob, and the journal has just been
	 * written: only the clock has to be waited for. */
	if (strcmp(text, KEPT) == 0)
		return threads_wait_tick();
	r = load_journal(&journal);
	if (r < 0)
		return r;
	entry = cleared_find(journal, &kept);
	if (!entry || strcmp(kept, list) != 0)
		return -ENOENT;
	r = cpumask_from_list(list, &quiet);
	if (r == 0)
		r = threads_widen_inheritors(journal, entry->since, quiet);
	if (r == 0)
		were_freed = true;
	return r;
}

int affinity_add(struct knob_plan *plan, unsigned first, const struct cpumask *online,
	const struct cpumask *quiet, const char *why)
{
	_cleanup_free_ char *list = cpumask_format_list(quiet), *path = NULL, *have = NULL;
	_cleanup_(cpumask) struct cpumask *shielded = NULL;
	struct knob *knob;
	int r;

	if (!list)
		return -ENOMEM;
	r = cleared_read(&shielded);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && !cpumask_equal(shielded, quiet)) {
		have = cpumask_format_list(shielded);
		say("CPU %s is kept clear by affinities already: `cpu-shield restore` first",
			have ? have : "?");
		return -ECANCELED;
	}
	if (text_format(&path, CLEARED_SCHEME ":%s", list) < 0)
		return -ENOMEM;
	r = knob_plan_add(plan, first, KNOB_WORD, path, KEPT, &knob, "shield by affinities");
	if (r == 0 && why)
		r = knob_set_note(knob, "%s", why);
	return r < 0
		? r
		: threads_add_all(plan, first + 1, CLEARED_TOOL, online, quiet, shielded != NULL);
}

static struct knob *find_knob(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (text_starts_with(plan->knobs[i].path, CLEARED_SCHEME ":"))
			return &plan->knobs[i];
	return NULL;
}

bool affinity_is_plan(const struct knob_plan *plan)
{
	return find_knob(plan);
}

bool affinity_is_up(const struct knob_plan *plan)
{
	const struct knob *knob = find_knob(plan);

	return knob && knob_went_well(knob);
}

/* Whether the knob is of a thread that was to be moved. */
static bool is_thread(const struct knob *knob)
{
	return text_starts_with(knob->path, THREAD_SCHEME ":") ||
		text_starts_with(knob->path, FOLLOWER_SCHEME ":");
}

int affinity_verify(struct knob_plan *plan, const struct cpumask *quiet)
{
	_cleanup_text_ struct text names = { 0 };
	_cleanup_free_ char *list = NULL;
	struct knob *knob = find_knob(plan);
	size_t n_moved = 0, n_refused = 0;
	int error = 0;

	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *thread = &plan->knobs[i];

		if (!is_thread(thread))
			continue;
		n_moved += knob_went_well(thread);
		if (thread->word != KNOB_DENIED)
			continue;
		error = error ? error : thread->error;
		text_append_name(&names, n_refused++, NAMES_SHOWN, "%s",
			thread->name + strlen("affinity of "));
	}
	text_append_rest(&names, n_refused, NAMES_SHOWN);
	if (names.failed)
		return -ENOMEM;
	if (n_refused > 0 && n_moved == 0) {
		list = cpumask_format_list(quiet);
		say("no thread could be moved away from CPU %s, so that nothing is shielded: %s (%s)",
			list ? list : "?", names.data,
			error ? strerror(error) : "they stayed there");
		return -EPERM;
	}
	return n_refused > 0 ? knob_set_note(knob, "these threads did not move: %s", names.data)
			     : 0;
}
