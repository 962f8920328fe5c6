// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "quiet/engine/inspect.h"

int inspect_is_foreign(const struct engine *engine, const struct hotplug *hotplug,
	const struct journal_entry *entry, const char *now)
{
	const struct knob_backend *backend;
	const char *outcome = entry->new, *rest;
	int r;

	if (!outcome || knob_equal(entry->kind, now, entry->old) ||
		!knob_is_foreign(entry->kind, now, outcome))
		return 0;
	r = entry->free ? engine_is_at_limit(engine, entry->path, now) : 0;
	if (r != 0)
		return r < 0 ? r : 0;
	r = hotplug_made_value(hotplug, entry, now);
	if (r == 0 && engine->is_moved)
		r = engine->is_moved(entry, now);
	if (r != 0)
		return r < 0 ? r : 0;
	backend = knob_find_backend(engine->backends, entry->path, &rest);
	if (!backend || !backend->made_by_kernel)
		return 1;
	r = backend->made_by_kernel(rest, entry->old, outcome, now);
	/* If CPUs went offline, the kernel may have forgotten the value that was set. */
	if (r == 0 && !cpumask_is_empty(hotplug->missing))
		r = backend->made_by_kernel(rest, entry->old, "", now);
	return r < 0 ? r : !r;
}

/* Reads the value with offline CPUs, which may be online again when the knob is put back. */
static int inspect_with_offline(const struct engine *engine, struct knob *knob)
{
	_cleanup_free_ char *with_offline = NULL;
	int r;

	free(TAKE_PTR(knob->with_offline));
	r = knob_read_with_offline(engine->backends, knob->path, &with_offline);
	if (r == 0 && !knob_equal(knob->kind, knob->now, with_offline))
		knob->with_offline = TAKE_PTR(with_offline);
	return errno_is_ours(-r) ? r : 0;
}

static int inspect_knob(const struct engine *engine, struct journal *journal,
	const struct hotplug *hotplug, struct knob *knob)
{
	const struct journal_entry *entry;
	int r;

	if (knob->settled)
		return 0;
	entry = journal ? journal_find(journal, knob->path) : NULL;
	r = text_replace(&knob->original, entry ? entry->old : NULL);
	if (r < 0)
		return r;
	free(knob->now);
	knob->now = TAKE_PTR(knob->seen);
	r = knob->now ? 0 : knob_read(engine->backends, knob->path, &knob->now);
	/* If a knob cannot be read, it could not be put back. So neither this knob may be turned,
	 * nor another one that changes this one as a side effect. But if the knob is in the
	 * journal, its old value is known, and the knob may be turned: for example, the files of a
	 * CPU that went offline since then return EBUSY. */
	if (r < 0 &&
		(errno_is_ours(-r) ||
			(!knob->wanted &&
				(r == -EIO || (!entry && !knob_error_is_unavailable(-r))))))
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
	r = entry ? inspect_is_foreign(engine, hotplug, entry, knob->now) : 0;
	if (r < 0)
		return r;
	if (r > 0 && text_replace(&knob->foreign_from, entry->new) < 0)
		return -ENOMEM;
	if (knob->foreign_from)
		(void)knob_set_note(knob, "changed by somebody else since: it was set to %s",
			knob->foreign_from);
	return inspect_with_offline(engine, knob);
}

int inspect_knobs(const struct engine *engine, struct journal *journal, struct knob_plan *plan,
	struct engine_failure *failure)
{
	_cleanup_(hotplug) struct hotplug *hotplug = NULL;
	int r;

	r = hotplug_read(journal, &hotplug);
	if (r < 0)
		engine_failure_set(failure, NULL, "cannot read which CPUs are online");
	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		r = inspect_knob(engine, journal, hotplug, &plan->knobs[i]);
		if (r < 0)
			engine_failure_set(failure, plan->knobs[i].path, "cannot read %s",
				plan->knobs[i].name);
	}
	return r;
}

/* Whether the only difference of the knob from the wanted value is that offline CPUs are missing:
 * 1, 0 or an error. */
static int lacks_offline_only(const struct engine *engine, const struct knob *knob)
{
	const struct knob_backend *backend;
	const char *rest;

	backend = knob_find_backend(engine->backends, knob->path, &rest);
	if (!backend || !backend->lacks_offline_only || knob->word != KNOB_NONE || !knob->wanted ||
		!knob->now)
		return 0;
	return backend->lacks_offline_only(knob->wanted, knob->now);
}

int inspect_plan(const struct engine *engine, struct journal *journal, struct knob_plan *plan,
	struct engine_failure *failure)
{
	int r;

	r = inspect_knobs(engine, journal, plan, failure);
	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		r = lacks_offline_only(engine, &plan->knobs[i]);
		if (r > 0) {
			plan->knobs[i].word = KNOB_APPLIED;
			r = 0;
		}
	}
	for (size_t i = 0; r == 0 && journal && i < plan->n; i++) {
		const struct journal_entry *entry = journal_find(journal, plan->knobs[i].path);

		if (entry && entry->waits_for_cpu && !plan->knobs[i].note)
			r = knob_set_note(&plan->knobs[i],
				"was not put back, because a CPU of it was offline");
	}
	return r;
}
