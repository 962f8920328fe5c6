// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/survive.h"
#include "base/tell.h"
#include "base/text.h"
#include "base/where/cpulist.h"
#include "base/where/running.h"
#include "quiet/engine/apply.h"
#include "quiet/engine/inspect.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/restore.h"
#include "quiet/engine/threads.h"
#include "quiet/setter/arguments.h"
#include "quiet/setter/leftover.h"
#include "quiet/setter/setter.h"
#include "quiet/setter/show.h"

static void say_failure(int error, struct engine_failure *failure)
{
	if (failure->path && failure->what)
		say_errno(error, "%s (%s)", failure->what, failure->path);
	else if (failure->what && error != -EBADMSG)
		say_errno(error, "%s", failure->what);
	else if (failure->what)
		say("%s", failure->what);
	else
		say_errno(error, "failed");
	engine_failure_clear(failure);
}

/* Half a change is worse than a late answer to Ctrl-C. SIGPIPE comes when nobody reads the
 * messages. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Takes the lock of the machine, and then blocks signals; while it waits for the lock, signals
 * still end it. Returns a descriptor, for journal_unlock(). Says what is wrong. */
static int lock_machine(void)
{
	struct engine_failure failure = { 0 };
	int fd = engine_lock(&failure);

	if (fd < 0)
		say_failure(fd, &failure);
	else
		block_signals();
	return fd;
}

/* Whether this user may apply and restore; says why not. */
static bool may_turn(const struct setter *setter, const char *verb)
{
	if (geteuid() == 0 || journal_is_own())
		return true;
	if (setter->serves_users)
		say("%s needs root, or for your own processes a directory for the journal: XDG_RUNTIME_DIR "
		    "names none of yours",
			verb);
	else
		say("%s needs root; `%s status`%s", verb, setter->engine.tool,
			strcmp(verb, "apply") == 0 ? " and --dry-run do not" : " does not");
	return false;
}

/* Makes a knob of the plan that was settled beforehand show what an earlier apply did with it. */
static int unsettle(struct knob *knob, const struct journal_entry *entry)
{
	int r = text_replace(&knob->wanted, entry->new ? entry->new : entry->old);

	if (r < 0)
		return r;
	free(TAKE_PTR(knob->note));
	knob->group = entry->group;
	knob->kind = entry->kind;
	knob->word = KNOB_NONE;
	knob->settled = false;
	return 0;
}

/* Whether the knob of a thread, or of anything else that ends all the time, is gone. *ret_fold as
 * in struct knob. */
static bool has_ended(const struct setter *setter, const char *path, const char **ret_fold)
{
	_cleanup_free_ char *now = NULL;
	const struct knob_backend *backend;
	const char *rest;

	backend = knob_find_backend(setter->engine.backends, path, &rest);
	*ret_fold = backend ? backend->fleeting : NULL;
	return *ret_fold && knob_read(setter->engine.backends, path, &now) == -ENOENT;
}

/* Gives the knobs of the plan what an earlier apply has written into the journal, and adds those
 * that are in the journal alone. `specific`: the user has given a WHAT. */
static int add_journal_rows(
	const struct setter *setter, struct journal *journal, bool specific, struct knob_plan *plan)
{
	_cleanup_free_ bool *planned = NULL; /* for each entry of the journal */
	int r = 0;

	planned = calloc(journal->n + 1, sizeof(*planned));
	if (!planned)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		const struct journal_entry *e = journal_find(journal, knob->path);

		if (!e)
			continue;
		planned[e - journal->entries] = true;
		if (knob->settled)
			r = unsettle(knob, e);
		/* Without a WHAT, the wanted value is that of the last apply. */
		else if (knob->wanted && !knob->suffices && e->new && e->role != JOURNAL_KEPT &&
			!specific)
			r = text_replace(&knob->wanted, e->new);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[i];
		const char *fold, *wanted;
		struct knob *knob;

		if (planned[i] || has_ended(setter, e->path, &fold))
			continue;
		wanted = e->role == JOURNAL_KEPT ? NULL : e->new ? e->new : e->old;
		r = knob_plan_add(plan, e->group, e->kind, e->path, wanted, &knob, "%s", e->name);
		if (r < 0)
			return r;
		knob->fold = fold;
		r = knob_find_cpus(e->path, &knob->cpu, &knob->cpus);
		if (r < 0)
			return r;
	}
	return 0;
}

static size_t count_turned(const struct knob_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++)
		n += plan->knobs[i].turned && knob_went_well(&plan->knobs[i]);
	return n;
}

/* *ret_status: as of show_brief(); EXIT_DONE without --brief. */
static int print_plan(const struct setter *setter, const struct arguments *a,
	const struct knob_plan *plan, enum exit_status *ret_status)
{
	int r;

	*ret_status = EXIT_DONE;
	if (a->brief)
		r = show_brief(
			plan, setter->headline ? setter->headline(plan) : NULL, stdout, ret_status);
	else
		r = show_plan(plan, a->json, a->verbose, stdout);
	/* A user who typed only the name of a setter has changed the machine, and may not know yet
	 * how to undo that. */
	if (r == 0 && a->verb == SETTER_APPLY && !a->brief && !a->json && count_turned(plan) > 0)
		print(stdout, "\n`%s restore` puts this back.\n", setter->engine.tool);
	if (r == 0)
		r = print_finish(stdout);
	if (r < 0)
		say_errno(r, "cannot print the table");
	return r;
}

/* For `status` without CPUs, where they are needed and nothing was changed. */
static enum exit_status print_unchanged(const struct setter *setter, bool brief)
{
	enum exit_status status;

	print(stdout, "nothing was changed; `%s status -c LIST` shows what apply would change\n",
		setter->engine.tool);
	status = print_conclude();
	return brief && status == EXIT_DONE ? EXIT_FINDING : status;
}

/* Whether at least one knob of the plan now has the wanted value. */
static bool did_anything(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if ((knob->wanted || knob->settled) && knob_went_well(knob))
			return true;
	}
	return false;
}

/* The context of verify(), which the engine calls. */
struct verification {
	const struct setter *setter;
	struct setter_target *target;
	bool strict_refused;
	bool failed;  /* the reason has been said */
	bool no_plan; /* a further plan could not be made, and the reason has been said */
};

/* The first knob that refused although the apply succeeded; NULL for none. Interrupts do not count:
 * isol-check finds those that cannot be moved, and knows whether they occur at all. */
static const struct knob *find_denied(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (knob->word == KNOB_DENIED && !text_starts_with(knob->path, "/proc/irq/"))
			return knob;
	}
	return NULL;
}

/* "governor (/sys/...): Read-only file system", malloc'd; NULL without memory. */
static char *format_denied(const struct knob *knob)
{
	const char *why = knob->note ? knob->note
		: knob->error	     ? strerror(knob->error)
				     : "it refuses";
	char *text;

	return asprintf(&text, "%s (%s): %s", knob->name, knob->path, why) < 0 ? NULL : text;
}

/* For --strict=refused: -EPERM if a knob refused; says so. */
static int check_refused(const struct knob_plan *plan)
{
	const struct knob *knob = find_denied(plan);
	_cleanup_free_ char *text = knob ? format_denied(knob) : NULL;

	if (!knob)
		return 0;
	say("%s", text ? text : knob->name);
	return -EPERM;
}

/* Tells systemd, as the status of the service, which knob refused: the verdict on benchmark.target
 * has it. */
static void tell_refused(const struct knob_plan *plan)
{
	const struct knob *knob = find_denied(plan);
	_cleanup_free_ char *text = knob ? format_denied(knob) : NULL;

	tell_status(text);
}

static int verify(struct knob_plan *plan, void *context)
{
	struct verification *v = context;
	int r = v->setter->verify ? v->setter->verify(v->target, plan, v->setter->state) : 0;

	if (r == 0 && v->strict_refused)
		r = check_refused(plan);
	v->failed = r < 0;
	return r;
}

/* Whether an apply failed because the machine refused, and not for a reason in this process, nor
 * because systemd was executed anew and broke off what it was asked for. */
static bool is_refusal(
	int error, const struct verification *v, const struct engine_failure *failure)
{
	return !errno_is_ours(-error) && !errno_is_disconnect(-error) && !failure->not_undone &&
		(v->failed || failure->path);
}

/* For --strict: -EPERM if a knob is known to refuse before it is written, such as interrupts of
 * newer kernels; says so. */
static int check_denied_beforehand(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (!knob->settled || knob->word != KNOB_DENIED)
			continue;
		say("%s (%s): %s", knob->name, knob->path,
			knob->note ? knob->note : "it would be refused");
		return -EPERM;
	}
	return 0;
}

/* Loads what applies have set until now: target->journal, which stays NULL when there is nothing.
 * Says what is wrong, except for -ENOMEM. */
static int load_journal(const struct setter *setter, struct setter_target *target)
{
	struct engine engine = setter->engine;
	struct engine_failure failure = { 0 };
	int r;

	engine.lines = target->lines;
	r = engine_load_journal(&engine, &target->journal, &failure);
	if (r == 0 || r == -ENOENT)
		return 0;
	if (r == -ENOMEM)
		engine_failure_clear(&failure);
	else
		say_failure(r, &failure);
	/* -EINVAL is a wrong use. */
	return r == -EINVAL ? -EIO : r;
}

/* Makes a plan by what the journal says now, which an earlier plan of this call may have changed.
 * Says what is wrong, except for -ENOMEM. */
static int make_plan(
	const struct setter *setter, struct setter_target *target, struct knob_plan *plan)
{
	int r;

	journal_free(TAKE_PTR(target->journal));
	irqlines_clear(target->lines);
	r = load_journal(setter, target);
	return r < 0 ? r : setter->plan(target, plan, setter->state);
}

static int more(struct knob_plan *ret, struct journal **ret_journal, void *context)
{
	struct verification *v = context;
	int r;

	if (!v->setter->shows_more || !v->setter->shows_more(v->setter->state))
		return 0;
	r = make_plan(v->setter, v->target, ret);
	v->failed = r < 0;
	if (r < 0) {
		knob_plan_clear(ret);
		return r;
	}
	*ret_journal = TAKE_PTR(v->target->journal);
	return 1;
}

/* Makes another plan, and applies that. */
static int apply_next(const struct engine *engine, struct verification *v, struct knob_plan *plan,
	struct engine_failure *failure)
{
	int r = make_plan(v->setter, v->target, plan);

	v->no_plan = r < 0;
	return r < 0 ? r : apply_plan(engine, TAKE_PTR(v->target->journal), plan, failure);
}

/* Applies the plan, and another plan where setter->has_substitute() says so. */
static int apply_or_substitute(const struct engine *engine, struct verification *v,
	struct knob_plan *plan, struct engine_failure *failure)
{
	int r = apply_plan(engine, TAKE_PTR(v->target->journal), plan, failure);
	struct restore_rows rows = { 0 };

	if (r == 0 || failure->not_undone || !v->setter->has_substitute ||
		!v->setter->has_substitute(plan, v->setter->state))
		return r;
	engine_failure_clear(failure);
	/* An earlier apply that was killed may have left knobs of the first plan turned. */
	r = restore_journal(engine, &rows, failure);
	restore_rows_clear(&rows);
	if (r < 0) {
		engine_failure_set(failure, NULL, "cannot put back what an earlier apply has set");
		return r;
	}
	knob_plan_clear(plan);
	return apply_next(engine, v, plan, failure);
}

/* Repeats the apply where setter->repeats() says so. Knobs that only the later plans have are not
 * shown, because they are more of the same kind. */
static int apply_again(const struct engine *engine, struct verification *v,
	const struct knob_plan *first, struct engine_failure *failure)
{
	struct threads_walks walks = threads_walks_begin();
	size_t n_turned = count_turned(first);
	int r = 0;

	while (r == 0 && threads_walks_go_on(&walks, n_turned > 0)) {
		struct knob_plan plan = { 0 };

		r = apply_next(engine, v, &plan, failure);
		n_turned = count_turned(&plan);
		knob_plan_clear(&plan);
	}
	return r;
}

/* For --strict: a knob that an apply could not even read. Where this user is not root, a refusal
 * says nothing about an apply by root. NULL for none. */
static const struct knob *find_unreadable(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (!knob->settled && knob->wanted && !knob->now &&
			(knob->word == KNOB_UNAVAILABLE || geteuid() == 0))
			return knob;
	}
	return NULL;
}

/* Whether an apply may do something: a knob is as wanted or would be written, or this user cannot
 * read one that root may. */
static bool may_do_anything(const struct knob_plan *plan)
{
	if (did_anything(plan))
		return true;
	for (size_t i = 0; i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (knob->wanted && !knob->settled &&
			(knob->word == KNOB_NONE || (knob->word == KNOB_DENIED && geteuid() != 0)))
			return true;
	}
	return false;
}

/* The exit status of an apply that finds nothing that it could do; says so. */
static enum exit_status conclude_nothing(const struct setter *setter, const struct arguments *a)
{
	/* The brief line has just said so. */
	if (!a->brief)
		say("nothing to do: this machine has none of these knobs, or does not let us turn them");
	if (a->strict)
		return EXIT_FAILED;
	return setter->is_by_name && setter->is_by_name(setter->state) ? EXIT_FINDING : EXIT_DONE;
}

/* For --dry-run: the exit status that apply would have, as far as that is known before anything is
 * written. Says why it would fail. */
static enum exit_status foresee_apply(
	const struct setter *setter, const struct arguments *a, const struct knob_plan *plan)
{
	const struct knob *unreadable = a->strict ? find_unreadable(plan) : NULL;

	if (a->strict && check_denied_beforehand(plan) < 0)
		return EXIT_FAILED;
	if (unreadable) {
		say("cannot read %s (%s): %s", unreadable->name, unreadable->path,
			strerror(unreadable->error));
		return EXIT_FAILED;
	}
	if (a->strict_refused && geteuid() == 0 && check_refused(plan) < 0)
		return a->strict ? EXIT_FAILED : EXIT_FINDING;
	return may_do_anything(plan) ? EXIT_DONE : conclude_nothing(setter, a);
}

/* For `status` of an ordinary user: what only root can read, such as what irqbalance bans, is shown
 * as the journal has it. */
static int trust_journal(struct knob_plan *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];

		if (!knob->wanted || !knob->original || knob->now ||
			(knob->error != EACCES && knob->error != EPERM))
			continue;
		knob->word = knob_equal(knob->kind, knob->original, knob->wanted) ? KNOB_ALREADY
										  : KNOB_APPLIED;
		knob->error = 0;
		r = knob_set_note(knob, "was set so; only root can ask whether it still is");
	}
	return r;
}

static int run_status(const struct setter *setter, const struct arguments *a,
	struct setter_target *target, struct knob_plan *plan)
{
	struct engine engine = setter->engine;
	struct engine_failure failure = { 0 };
	enum exit_status status;
	bool unchanged;
	int r;

	engine.lines = target->lines;
	if (a->verb == SETTER_STATUS && target->journal) {
		r = add_journal_rows(setter, target->journal, a->what, plan);
		if (r < 0) {
			say_errno(r, "cannot show the settings in the journal");
			return EXIT_FAILED;
		}
	}
	unchanged = plan->n == 0 && setter->needs_cpus && !a->json;
	r = inspect_plan(&engine, target->journal, plan, &failure);
	if (r == 0 && a->verb == SETTER_STATUS && geteuid() != 0)
		r = trust_journal(plan);
	if (r < 0) {
		say_failure(r, &failure);
		return EXIT_FAILED;
	}
	if (unchanged)
		return print_unchanged(setter, a->brief);
	if (print_plan(setter, a, plan, &status) < 0)
		return EXIT_FAILED;
	if (a->dry_run)
		return foresee_apply(setter, a, plan);
	return status;
}

/* *ret_set is set when knobs stay turned whatever the exit status is. */
static int run_apply(const struct setter *setter, const struct arguments *a,
	struct setter_target *target, struct knob_plan *plan, bool *ret_set)
{
	struct verification verification = {
		.setter = setter,
		.target = target,
		.strict_refused = a->strict_refused,
	};
	struct engine engine = setter->engine;
	struct engine_failure failure = { 0 };
	enum exit_status shown;
	size_t n_gone;
	int r;

	if (a->strict && check_denied_beforehand(plan) < 0)
		return EXIT_FAILED;
	engine.lines = target->lines;
	engine.verify = verify;
	engine.more = more;
	engine.context = &verification;
	engine.strict = a->strict;
	r = apply_or_substitute(&engine, &verification, plan, &failure);
	*ret_set = r == 0 && count_turned(plan) > 0;
	if (r == 0 && setter->repeats && setter->repeats(plan))
		r = apply_again(&engine, &verification, plan, &failure);
	*ret_set = *ret_set || failure.not_undone;
	if (r < 0) {
		int status = !a->strict && is_refusal(r, &verification, &failure) ? EXIT_FINDING
										  : EXIT_FAILED;

		/* If it has been said why, say only what went wrong after it, such as turning
		 * back. */
		if ((!verification.failed && !verification.no_plan) || failure.what || r == -ENOMEM)
			say_failure(r, &failure);
		return status;
	}
	if (print_plan(setter, a, plan, &shown) < 0)
		return EXIT_FAILED;
	tell_refused(plan);
	n_gone = leftover_say_gone(setter, plan);
	if (!did_anything(plan) && n_gone > 0)
		return EXIT_FAILED;
	return did_anything(plan) ? EXIT_DONE : conclude_nothing(setter, a);
}

static bool any_failed(const struct restore_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->items[i].word == RESTORE_FAILED)
			return true;
	return false;
}

/* Restores, with the machine locked. Says what is wrong. */
static int restore(const struct setter *setter, const struct arguments *a, struct restore_rows *ret)
{
	_cleanup_(irqlines) struct irqlines lines = { 0 };
	struct engine engine = setter->engine;
	struct engine_failure failure = { 0 };
	_cleanup_unlock_ int lock = -EBADF;
	int r;

	/* Without a directory there is no journal, and nothing to lock. */
	if (access(journal_directory(), F_OK) < 0 && errno == ENOENT)
		return 0;
	lock = lock_machine();
	if (lock < 0)
		return lock;
	engine.lines = &lines;
	engine.force = a->force;
	r = restore_journal(&engine, ret, &failure);
	leftover_say(setter, ret, a->once);
	/* leftover_say() has reported knobs that failed. */
	if (r < 0 && (failure.what || !any_failed(ret)))
		say_failure(r, &failure);
	return r;
}

/* Whether root has set something and this user, who has a journal of his own, nothing. */
static bool is_set_by_root_only(const struct setter *setter)
{
	bool exists;

	if (!journal_is_own() || journal_exists(setter->engine.tool))
		return false;
	journal_use_root_directory();
	exists = journal_exists(setter->engine.tool);
	(void)journal_use_own_directory();
	return exists;
}

static int run_restore(const struct setter *setter, const struct arguments *a)
{
	struct restore_rows rows = { 0 };
	int r, status = EXIT_DONE;

	if (!may_turn(setter, "restore"))
		return EXIT_FAILED;
	if (is_set_by_root_only(setter)) {
		say("what root has set only root can put back");
		return EXIT_FAILED;
	}
	r = restore(setter, a, &rows);
	if (r < 0)
		status = EXIT_FAILED;
	r = a->verbose || a->json ? show_restored(&rows, a->json, stdout) : 0;
	if (r < 0) {
		say_errno(r, "cannot print the table");
		status = EXIT_FAILED;
	}
	restore_rows_clear(&rows);
	return status;
}

/* Without -c: the CPUs of the running target. *ret stays NULL if none runs. It is a failure if its
 * file cannot be used, because its CPUs are then not known. */
static int find_target_cpus(
	const struct setter *setter, const struct arguments *a, struct cpumask **ret)
{
	int r;

	if (a->cpus)
		return 0;
	r = running_read_cpus(ret);
	if (r < 0 && r != -ENOENT) {
		say_errno(r,
			"cannot find out which CPUs benchmark.target has chosen (" TARGET_FILE ")");
		return -EIO;
	}
	if (r == -ENOENT && setter->needs_cpus && a->verb == SETTER_APPLY) {
		say("-c LIST is needed (the CPUs that are to be quiet), as no benchmark.target runs");
		return -EINVAL;
	}
	return 0;
}

/* The exit status for an error that has been reported, except for -ENOMEM, which this function
 * reports. */
static int get_failure_status(int r)
{
	if (r == -ENOMEM)
		say_errno(r, "failed");
	return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* What plans are made from besides the CPUs; says what is wrong. */
static int read_topology(const struct setter *setter, struct topology **ret)
{
	_cleanup_(topology) struct topology *topology = NULL;
	int r;

	r = setter->needs_cores ? topology_read_cores(&topology) : topology_read_masks(&topology);
	if (r < 0)
		say_errno(r, "cannot read which CPUs this machine has");
	else if (topology->cores_error < 0)
		say_errno(topology->cores_error, "cannot read which CPUs share a core");
	else
		*ret = TAKE_PTR(topology);
	return *ret ? 0 : -EIO;
}

/* The CPUs of -c, where it was given; says what is wrong, except for -ENOMEM. */
static int parse_cpus(
	const struct arguments *a, const struct topology *topology, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *why = NULL;
	int r;

	if (!a->cpus)
		return 0;
	r = cpumask_new(&cpus);
	if (r == 0)
		r = cpulist_parse(a->cpus, topology, cpus, &why);
	if (r == -EINVAL)
		say("-c: %s", why);
	if (r == 0)
		*ret = TAKE_PTR(cpus);
	return r;
}

/* Apply, with the machine locked, and status, which needs no lock: which CPUs are meant, what there
 * is, what is to be done with it, and then that. *ret_set: as of run_apply(). */
static int run_with_plan(const struct setter *setter, const struct arguments *a, bool *ret_set)
{
	_cleanup_(topology) struct topology *topology = NULL;
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_(irqlines) struct irqlines lines = { 0 };
	bool turns = a->verb == SETTER_APPLY && !a->dry_run;
	_cleanup_unlock_ int lock = -EBADF;
	struct knob_plan plan = { 0 };
	struct setter_target target = {
		.verb = a->verb,
		.verbose = a->verbose,
		.lines = &lines,
	};
	int r, status;

	r = find_target_cpus(setter, a, &cpus);
	if (r < 0)
		return get_failure_status(r);
	target.cpus_of_target = cpus != NULL;
	if (turns && may_turn(setter, "apply"))
		lock = lock_machine();
	if (turns && lock < 0)
		return EXIT_FAILED;
	r = read_topology(setter, &topology);
	if (r == 0)
		r = parse_cpus(a, topology, &cpus);
	target.topology = topology;
	target.cpus = cpus;
	if (r == 0)
		r = make_plan(setter, &target, &plan);
	if (r < 0)
		status = get_failure_status(r);
	else if (turns)
		status = run_apply(setter, a, &target, &plan, ret_set);
	else
		status = run_status(setter, a, &target, &plan);
	knob_plan_clear(&plan);
	journal_free(target.journal);
	return status;
}

/* An ordinary user has a journal of his own, for setters that can turn what is his. `status` shows
 * what root has done, unless there is such a journal. */
static void choose_journal(const struct setter *setter, enum setter_verb verb)
{
	if (geteuid() == 0 || !setter->serves_users || journal_use_own_directory() < 0)
		return;
	if (verb == SETTER_STATUS && !journal_exists(setter->engine.tool))
		journal_use_root_directory();
}

/* *ret_left is set when an apply has failed and has left something set. A plan that fails is turned
 * back, but earlier plans are not, and neither is a plan whose table could not be printed. */
static int run(const struct setter *setter, int argc, char *argv[], bool *ret_left)
{
	struct arguments arguments;
	bool had_journal, set = false;
	int r, status;

	r = arguments_parse(setter, argc, argv, &arguments);
	if (r < 0)
		return get_failure_status(r);
	if (r > 0)
		return print_conclude();
	choose_journal(setter, arguments.own ? SETTER_STATUS : arguments.verb);
	if (arguments.own)
		return arguments.own->run(
			&(struct setter_verb_use){
				.cpus = arguments.cpus,
				.words = arguments.words,
				.json = arguments.json,
			},
			setter->state);
	if (arguments.verb == SETTER_RESTORE)
		return run_restore(setter, &arguments);
	had_journal = arguments.verb != SETTER_APPLY || journal_exists(setter->engine.tool);
	status = run_with_plan(setter, &arguments, &set);
	*ret_left = status != EXIT_DONE && !arguments.brief && (set || !had_journal) &&
		journal_exists(setter->engine.tool);
	return status;
}

int setter_main(const struct setter *setter, int argc, char *argv[])
{
	bool left = false;
	int status;

	survive_closed_streams();
	/* A journal that may not be written (`ulimit -f`) is an error like others. */
	survive_signal(SIGXFSZ);
	status = run(setter, argc, argv, &left);
	if (status == EXIT_DONE)
		return status;
	/* The verdict on benchmark.target shows the last message of a setter that failed. */
	tell_status(say_last());
	if (left)
		say("`%s restore` puts back what is still set", setter->engine.tool);
	return status;
}
