// SPDX-License-Identifier: GPL-2.0-or-later
/* runpinned: runs a program again and again on a CPU of its own and times it from outside. And
 * runserved, of which the loads are the programs (tool.h). */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/machine/counter.h"
#include "base/machine/quota.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/stop.h"
#include "base/survive.h"
#include "base/systemd/booted.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config.h"
#include "measure/calibrate.h"
#include "measure/command.h"
#include "measure/conclude.h"
#include "measure/counting.h"
#include "measure/cpulock.h"
#include "measure/decide.h"
#include "measure/describe.h"
#include "measure/ending.h"
#include "measure/evidence.h"
#include "measure/hooks.h"
#include "measure/host.h"
#include "measure/hostlist.h"
#include "measure/hostloops.h"
#include "measure/meanwhile.h"
#include "measure/measure.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/quiesce.h"
#include "measure/rounds.h"
#include "measure/save.h"
#include "measure/session.h"
#include "measure/tool.h"
#include "measure/tries.h"
#include "measure/vary.h"

enum {
	/* How often those who wait for a CPU ask who has it. */
	HOLDER_NS = NSEC_PER_SEC,
	/* Not an exit status: the CPUs are locked now, but everything was chosen and described
	 * before another process had released them. */
	HAS_WAITED = -1,
};

/* Describes the process that has locked a CPU. */
static void describe_holder(const struct cpuholder *holder, char *buf, size_t size)
{
	const struct passwd *user = holder->pid > 0 ? getpwuid(holder->uid) : NULL;

	if (holder->pid <= 0)
		snprintf(buf, size, "a process that cannot be seen from here");
	else if (user)
		snprintf(buf, size, "%s (process %d of %s)", holder->comm, holder->pid,
			user->pw_name);
	else
		snprintf(buf, size, "%s (process %d of user %u)", holder->comm, holder->pid,
			(unsigned)holder->uid);
}

/* Whether the holder of the lock keeps it until this process has ended. Another ancestor may give
 * it up before. */
static bool waits_for_us(const struct cpuholder *holder)
{
	return (strcmp(holder->comm, "runpinned") == 0 || strcmp(holder->comm, "runserved") == 0 ||
		       strcmp(holder->comm, "flock") == 0) &&
		cpuholder_is_ancestor(holder);
}

/* In a sandbox the files by which CPUs are locked may be missing. */
static void warn_if_not_locked(const struct cpulock *lock)
{
	int cpu, error = cpulock_get_missing(lock, &cpu);

	if (error < 0)
		say_errno(error,
			"warning: another benchmark may run on the same CPU: "
			"cannot lock /sys/devices/system/cpu/cpu%d",
			cpu);
}

static int try_lock(const struct cpumask *cpus, struct cpulock **ret, struct cpuholder *ret_holder)
{
	int r = cpulock_try(cpus, ret, ret_holder);

	if (r == 0)
		warn_if_not_locked(*ret);
	return r;
}

/* As lock_cpus(). */
static int wait_for_cpus(const struct options *options, const struct cpumask *cpus,
	struct stop *stop, struct cpulock **ret)
{
	_cleanup_free_ char *list = NULL;
	struct cpuholder holder;
	pid_t said = -1;
	char who[256];
	int r;

	for (;;) {
		r = try_lock(cpus, ret, &holder);
		if (r == 0)
			return said >= 0;
		if (r != -EAGAIN) {
			list = xptr(cpumask_format_list(cpus));
			say_errno(r, "cannot lock CPU %s", list);
			return r;
		}
		describe_holder(&holder, who, sizeof(who));
		if (waits_for_us(&holder)) {
			say("CPU %d is taken by %s, which waits for this one to end: give it another "
			    "CPU (-c)",
				holder.cpu, who);
			return r;
		}
		if (options->no_wait) {
			say("CPU %d is taken by %s", holder.cpu, who);
			return r;
		}
		if (said != holder.pid)
			say("CPU %d is taken by %s: waiting", holder.cpu, who);
		said = holder.pid;
		if (cpulock_wait(holder.cpu, HOLDER_NS, stop) < 0)
			(void)stop_sleep(stop, HOLDER_NS);
		if (stop_check(stop) != 0)
			return -ECANCELED;
	}
}

/* Waits until the CPUs are free, and locks them; on other CPUs, if this process may use any,
 * because what wakes up there now and then would be in the times of those who measure. Returns 1
 * after waiting, else 0; -ECANCELED when a signal ended the waiting; -EAGAIN where it would wait
 * for ever, or --no-wait was given. */
static int lock_cpus(const struct options *options, const struct cpumask *cpus, struct stop *stop,
	struct cpulock **ret)
{
	_cleanup_(cpumask) struct cpumask *before = NULL;
	int r;

	xcheck(cpumask_new(&before));
	if (cpumask_get_self(before) == 0)
		(void)xcheck(cpumask_leave(cpus));
	r = wait_for_cpus(options, cpus, stop, ret);
	(void)cpumask_bind_self(before);
	return r;
}

/* Prints "KEY: VALUE", on one line whatever the value holds. */
static void print_field(const char *key, const char *value)
{
	_cleanup_free_ char *escaped = xptr(text_escape_control(value));

	print(stdout, "%s: %s\n", key, escaped);
}

static void print_command(const struct command *command, unsigned control_length)
{
	_cleanup_free_ char *quoted = xptr(text_quote_argv(command->argv));
	_cleanup_free_ char *words = xptr(text_escape_control(quoted));

	if (command->is_shipped && control_length > 0)
		print(stdout, "command: %s %u\n", command->argv[0], control_length);
	else if (command->is_shipped)
		print(stdout, "command: %s, as long as the first program\n", command->argv[0]);
	else
		print(stdout, "command: %s\n", words);
	for (size_t i = 0; command->variables[i]; i++)
		print_field("env", command->variables[i]);
	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		if (command->hooks[kind])
			print_field(options_hook_name(kind), command->hooks[kind]);
	}
	/* --setup may make it. */
	if (command->program)
		print_field("program", command->program);
}

/* How many runs there will be, as far as that is known before. */
static void print_runs(const struct options *o)
{
	print(stdout, "runs: %u", o->runs);
	if (o->max_runs == OPTIONS_MAX_RUNS)
		print(stdout, " or more");
	else if (o->max_runs > 0)
		print(stdout, " to %u", o->max_runs);
	if (o->warmup_auto)
		print(stdout, " after up to %u warm-ups, until the level has begun",
			o->max_warmups);
	else
		print(stdout, " after %u warm-up", o->warmups);
	if (o->decide > 0)
		print(stdout, ", until %g %%%s is settled%s%s", o->decide,
			o->improve > 0 ? " faster" : "", o->metric ? " of " : "",
			o->metric ? o->metric : "");
	if (o->rel_error > 0)
		print(stdout, ", until the median%s%s is known to %g %%", o->metric ? " of " : "",
			o->metric ? o->metric : "", o->rel_error);
	if (o->min_time_ns > 0)
		print(stdout, ", %s %g s are over", o->rel_error > 0 ? "and" : "until",
			(double)o->min_time_ns / NSEC_PER_SEC);
	if (o->max_time_ns > 0)
		print(stdout, ", none begins after %g s", (double)o->max_time_ns / NSEC_PER_SEC);
	print(stdout, "%s\n", o->n_commands > 1 ? ", of each in turn" : "");
}

static void print_place(const struct place *place)
{
	_cleanup_free_ char *housekeeping = xptr(cpumask_format_list(place->housekeeping));

	print(stdout, "cpus: %s (%s)\n", place->cpus_text,
		place->reason ? place->reason : "as asked for");
	if (place->join)
		print(stdout, "joins: benchmark.slice\n");
	print(stdout, "housekeeping: %s\n", *housekeeping ? housekeeping : "none left");
}

/* With --quiesce the target may choose the CPUs, which is known only when it has started. */
static int print_quiet_place(const struct options *options, const struct place *place)
{
	_cleanup_(cpumask) struct cpumask *wanted = NULL;
	int r = place_foresee("-c", options->cpus, &wanted);

	if (r < 0)
		return r;
	if (wanted)
		print_place(place);
	else
		print(stdout, "cpus: those that benchmark.target chooses (benchmark.conf)\n");
	print(stdout,
		systemd_is_booted()
			? "quiesce: benchmark.target is started before, and stopped after\n"
			: "quiesce: the setters are run before, and restored after (no systemd)\n");
	return 0;
}

/* Prints what --dry-run shows. */
static int print_plan(const struct options *options, const struct place *place,
	const struct commands *commands, const struct counting *counting)
{
	int paranoid;

	for (size_t i = 0; i < commands->n; i++) {
		if (commands->n > 1)
			print(stdout, "name: %s\n", commands->items[i].name);
		print_command(&commands->items[i], options->control_length);
	}
	if (!options->quiesce) {
		print_place(place);
	} else {
		int r = print_quiet_place(options, place);

		if (r < 0)
			return r;
	}
	print_runs(options);
	if (options->user)
		print(stdout, "user: %s\n", options->user->name);
	if (options->shell)
		print(stdout, "shell: %s\n", options->shell);
	if (options->input)
		print(stdout, "input: %s\n", options->input);
	if (options->stdout_to != OUTPUT_NULL)
		print(stdout, "stdout: %s\n",
			options->output_file ? options->output_file : options_stdout_name(options));
	if (perf_paranoid_read(&paranoid) == 0)
		print(stdout, "perf_event_paranoid: %d\n", paranoid);
	for (size_t i = 0; i < counting->n_events; i++)
		print(stdout, "event: %s\n", counting->event_names[i]);
	print(stdout, "evidence: %s\n", options_evidence_name(options));
	if (commands->rounds)
		commands->rounds->print_plan(commands->rounds);
	if (options->output)
		print(stdout, "output: %s%s\n", options->output,
			options->append ? " (appended)" : "");
	return 0;
}

static int exit_status(const struct options *options, const struct commands *commands,
	const struct stop *stop, int error)
{
	switch (commands->items[0].measurement->end) {
	case MEASURE_STOPPED:
		return 128 + stop->signal;
	case MEASURE_COMPLETE:
		if (error < 0)
			return EXIT_FAILED;
		return options->decide > 0 ? decide_status(commands) : EXIT_DONE;
	default:
		return EXIT_FAILED;
	}
}

/* Whether a hook may make a program that is not there yet. */
static bool has_setup(const struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		if (commands->items[i].hooks[HOOK_SETUP])
			return true;
	}
	return false;
}

/* Finds the programs with the rights of who runs them. */
static int resolve(const struct options *options, struct commands *commands)
{
	int r;

	user_enter(options->user);
	r = commands_resolve(commands);
	user_leave(options->user);
	return r;
}

/* Says where the runs have more CPUs than the quota of their cgroup. Tasks of SCHED_FIFO have
 * none. */
static void say_quota(
	const struct options *options, const struct place *place, const struct commands *commands)
{
	unsigned n_cpus = cpumask_weight(place->cpus);
	char text[QUOTA_TEXT_SIZE];
	struct quota quota;

	if (options->fifo_priority > 0 || !facts_find(&commands->items[0].facts, "cpu_quota"))
		return;
	xcheck(quota_read(session_find_limited(&commands->items[0], place), &quota));
	if (quota.cpus < n_cpus)
		say("warning: the runs have %u CPU%s, and a quota of %s together with all else in "
		    "their cgroup (%s): when that is used up, they are stopped until the next period",
			n_cpus, n_cpus == 1 ? "" : "s", quota_format(quota.cpus, text),
			quota.limit);
	quota_clear(&quota);
}

/* What the setters had done may have been undone by others during the runs. That it cannot be found
 * out does not end the measurement. */
static void look_again(struct commands *commands, const struct quiesce *quiesce, struct stop *stop)
{
	_cleanup_(quiesce) struct quiesce *after = NULL;

	(void)xcheck(quiesce_ask(stop, &after));
	describe_lost_parts(commands, quiesce, after);
}

/* Tells what one CPU changes in the programs of a hosted harness, and finds how many loops they
 * make. */
static int find_hosted_loops(
	const struct launch_inputs *in, struct commands *commands, struct stop *stop)
{
	const struct harness *harness = in->options->host->harness;

	if (harness->hosting.one_cpu && cpumask_weight(in->place->cpus) == 1 && !in->options->quiet)
		say("note: %s", harness->hosting.one_cpu);
	return hostloops_find(commands, in, stop);
}

static int begin_to_vary(const struct options *options, struct command *command, struct vary **ret)
{
	const struct vary_program program = {
		.argv = command->argv,
		.file = command->program,
		.hidden = command->hidden,
		.variables = command->variables,
	};
	int r = vary_new(options, &program, ret);

	if (r == 0)
		vary_describe(*ret, &command->facts);
	return r;
}

/* Makes the runs of programs that are set up. The outcome is in their measurements. */
static int make_runs(struct launch_inputs *in, const struct quiesce *quiesce,
	struct commands *commands, const struct save *save, struct stop *stop)
{
	const struct options *options = in->options;
	const struct place *place = in->place;
	_cleanup_(meanwhile) struct meanwhile *meanwhile = NULL;
	int r;

	if (has_setup(commands)) {
		r = resolve(options, commands);
		if (r < 0)
			return r;
	}
	/* First the loops: the length of the control is found by runs of the first program. */
	r = options->host ? find_hosted_loops(in, commands, stop) : 0;
	if (r == 0)
		r = calibrate_control(commands, in, save_get_control(save), stop);
	if (r < 0)
		return r;
	describe_control(commands);
	if (options->vary) {
		r = begin_to_vary(options, &commands->items[0], &commands->vary);
		if (r < 0)
			return r;
		in->vary = commands->vary;
	}
	r = save_check_control(save, &commands->items[0].facts);
	if (r == 0 && !commands->rounds)
		r = sessions_start(commands, in, stop);
	if (r < 0)
		return r;
	if (place->join && !commands->rounds)
		describe_quota(place, commands);
	say_quota(options, place, commands);
	/* runpinned itself leaves the benchmark's CPUs, if there are others. */
	if (!cpumask_is_empty(place->housekeeping))
		(void)cpumask_bind_self(place->housekeeping);
	if (quiesce && in->evidence)
		meanwhile = meanwhile_begin(place->cpus);
	r = commands->tries ? tries_begin(commands->tries, options, commands) : 0;
	if (r < 0)
		return r;
	r = measure(in, commands, stop, save_wants_user_clock(save));
	/* While the launchers are there: what they took is not that of others. */
	if (r == 0)
		describe_quiesce(commands, quiesce, meanwhile);
	if (r == 0 && quiesce)
		look_again(commands, quiesce, stop);
	/* The quota of a launcher that has joined the target is asked for once more. */
	if (!place->join)
		sessions_end(commands);
	if (commands->tracepoints)
		tracepoints_end(commands->tracepoints);
	if (r < 0)
		say_errno(r, "cannot measure");
	return r;
}

static struct evidence_reader *open_evidence(const struct place *place)
{
	return evidence_open(place->cpus, place->renumbered, place->one_package);
}

static int check_rounds(struct commands *commands)
{
	return commands->rounds ? commands->rounds->check(commands->rounds) : 0;
}

/* Describes the commands and opens the files of the result. Says what is wrong, and returns the
 * exit status. */
static enum exit_status prepare_result(const struct options *options, const struct place *place,
	const struct facts *moving, struct commands *commands, struct save **ret)
{
	_cleanup_facts_ struct facts machine = { 0 };

	describe_machine(place, moving, &machine);
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];

		facts_clear(&command->facts);
		if (describe_setup(options, command, place, &machine, &command->facts) < 0)
			return EXIT_USAGE;
		if (commands->rounds)
			commands->rounds->describe(commands->rounds, i, &command->facts);
	}
	if (!commands->tries && tries_open(options, &commands->tries) < 0)
		return EXIT_FAILED;
	return save_open(options, commands, ret) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/*
 * Lets a launcher get ready while the machine is described. Nothing is said: what fails here is
 * tried again when its time has come. There have to be other CPUs, on which the machine is
 * described from here on, and what the launcher is told must not change any more: by --setup, by
 * the length of the control, by the loops of a hosted harness, by what --vary makes, or by CPUs
 * that it joins.
 */
static void begin_early(const struct launch_inputs *given, struct commands *commands,
	const struct stop *stop, struct evidence_reader **evidence)
{
	const struct place *place = given->place;
	struct launch_inputs in = *given;

	if (place->join || commands->rounds || has_setup(commands) || in.options->vary ||
		commands->items[commands->n - 1].is_shipped || in.options->host ||
		cpumask_is_empty(place->housekeeping))
		return;
	sessions_begin(commands, &in, stop);
	(void)cpumask_bind_self(place->housekeeping);
	if (!in.options->no_evidence)
		*evidence = open_evidence(place);
	in.evidence = *evidence;
	sessions_prepare(commands, &in, stop);
}

/* The exit status after an error that has been said, or a signal. */
static int failure_status(int error, const struct stop *stop)
{
	return error == -ECANCELED ? 128 + stop->signal : EXIT_FAILED;
}

/*
 * Begins what takes a moment, and makes the place where programs may say figures of their own. Not
 * before the CPUs are locked: the keeper, which takes that away when runpinned is killed, starts
 * soon after, and to wait may take hours.
 */
static void begin_all(
	const struct options *options, struct commands *commands, struct launch_inputs *in)
{
	commands_attach(commands, options);
	commands->figurepad = figurepad_new(options->user);
	in->figurepad = commands->figurepad;
}

/* Makes the runs on the chosen CPUs, and writes the result. Locks `cpus`, which are all that are
 * measured on, unless *lock is a lock on them already. HAS_WAITED if another process had the CPUs;
 * errors that must be known before such a wait were found before it. `options` get the stamper of a
 * file that is appended to. */
static int measure_commands(struct options *options, const struct place *place,
	const struct cpumask *cpus, const struct quiesce *quiesce, struct commands *commands,
	const struct counting *counting, struct stop *stop, struct cpulock **lock)
{
	_cleanup_(save) struct save *save = NULL;
	_cleanup_(evidence_reader) struct evidence_reader *evidence = NULL;
	_cleanup_facts_ struct facts moving = { 0 };
	struct launch_inputs in = {
		.options = options,
		.place = place,
		.counting = counting,
	};
	const struct measurement *first;
	enum exit_status prepared;
	struct cpuholder holder;
	bool early;
	int r, cleaned;

	/* Attaching takes as long as the preparations, and goes on beside them if the CPUs are
	 * free. Else those who are waited for would pay for it; and whether tracepoints may stamp
	 * can depend on the file that is appended to. */
	if (!*lock)
		(void)try_lock(cpus, lock, &holder);
	early = *lock && !options->append && !commands->rounds;
	if (early)
		begin_all(options, commands, &in);
	describe_moving(place, &moving);
	if (early)
		begin_early(&in, commands, stop, &evidence);
	prepared = prepare_result(options, place, &moving, commands, &save);
	if (prepared != EXIT_DONE)
		return prepared;
	options_follow_stamper(options, save_get_stamper(save));
	r = *lock ? 0 : lock_cpus(options, cpus, stop, lock);
	if (r < 0)
		return failure_status(r, stop);
	if (r > 0)
		return HAS_WAITED;
	if (!early)
		begin_all(options, commands, &in);
	counting_say_notes(counting);
	if (!options->no_evidence && !evidence)
		evidence = open_evidence(place);
	if (evidence && options->cooldown >= 0 && !isfinite(evidence_first_temperature(evidence)))
		say("note: %s: --cooldown has no effect",
			HAVE_LIBSENSORS ? "no CPU temperature can be read here"
					: "built without libsensors, which reads the temperature");
	in.evidence = evidence;
	r = check_rounds(commands);
	if (r == 0)
		r = hooks_set_up(options, place, commands, stop);
	if (r == 0)
		r = make_runs(&in, quiesce, commands, save, stop);
	cleaned = hooks_clean_up(options, place, commands, stop);
	if (r < 0)
		return failure_status(r, stop);
	first = commands->items[0].measurement;
	if (first->end == MEASURE_STOPPED)
		say("%s", first->incomplete ? first->incomplete : "stopped");
	else if (cleaned == -ECANCELED)
		say("stopped in --cleanup, after all runs");
	r = conclude(options, place, commands, evidence, save);
	if (cleaned == -ECANCELED && r == 0)
		return 128 + stop->signal;
	if (r == 0)
		r = cleaned;
	return exit_status(options, commands, stop, r);
}

/* Refuses what the runs would refuse, and else prints the plan. */
static enum exit_status dry_run(const struct options *options, const struct place *place,
	struct commands *commands, const struct counting *counting)
{
	_cleanup_(save) struct save *save = NULL;
	_cleanup_facts_ struct facts moving = { 0 };
	enum exit_status status;
	int r;

	describe_moving(place, &moving);
	status = prepare_result(options, place, &moving, commands, &save);
	if (status != EXIT_DONE)
		return status;
	counting_say_notes(counting);
	r = check_rounds(commands);
	if (r == 0)
		r = print_plan(options, place, commands, counting);
	return r < 0 ? EXIT_FAILED : print_conclude();
}

/* Chooses CPUs: the place, and all that are measured on, which may be more. Says what is wrong, and
 * returns the exit status. */
static enum exit_status choose_place(const char *list, const struct commands *commands,
	struct place **ret, struct cpumask **ret_cpus)
{
	_cleanup_(cpumask) struct cpumask *others = NULL, *cpus = NULL;
	_cleanup_(place) struct place *place = NULL;
	int r = place_choose("-c", list, &place);

	if (r == 0)
		r = xcheck(cpumask_copy(place->cpus, &cpus));
	if (r == 0 && commands->rounds)
		r = commands->rounds->choose(commands->rounds, place, cpus);
	if (r < 0)
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	/* We ourselves keep out of the way of all of them, if there are others. */
	xcheck(cpumask_copy(place->housekeeping, &others));
	cpumask_andnot(others, others, cpus);
	if (!cpumask_is_empty(others))
		cpumask_assign(place->housekeeping, others);
	*ret = TAKE_PTR(place);
	*ret_cpus = TAKE_PTR(cpus);
	return EXIT_DONE;
}

/* Measures on the machine in its present state. `quiesce`: NULL unless it was made quiet. `cpus`,
 * `lock` and HAS_WAITED: as in measure_commands(). */
static int run_here(const struct options *given, const struct place *place,
	const struct cpumask *cpus, const struct quiesce *quiesce, struct commands *commands,
	struct stop *stop, struct cpulock **lock)
{
	_cleanup_(counting) struct counting *counting = NULL;
	/* On the heap, because the stack may be small. They outlive `commands`, which refer to
	 * them. */
	_cleanup_free_ struct options *options = xptr(malloc(sizeof(*options)));
	int r, status;

	*options = *given;
	r = counting_open(
		options->events, cpumask_first(place->cpus), !options->no_evidence, &counting);
	if (r < 0)
		return EXIT_USAGE;
	if (options->drop_caches && access("/proc/sys/vm/drop_caches", W_OK) < 0) {
		say_errno(errno, "cannot drop the page cache (--drop-caches)");
		return EXIT_FAILED;
	}
	if (options->dry_run)
		return dry_run(options, place, commands, counting);
	ending_set_runs(options, place, commands, stop);
	status = measure_commands(options, place, cpus, quiesce, commands, counting, stop, lock);
	/* The launchers end while signals are still blocked and while the CPUs are still locked. */
	if (status != HAS_WAITED) {
		sessions_free(commands);
		tries_free(commands->tries);
		commands_clear(commands);
	}
	ending_clear_runs();
	return status;
}

/* Measures on the machine as it is. While it waits for the CPUs, a benchmark.target may come and
 * go: then everything is chosen and described anew. */
static int run_as_it_is(const struct options *options, struct commands *commands, struct stop *stop)
{
	_cleanup_(cpumask) struct cpumask *locked = NULL;
	_cleanup_(cpulock) struct cpulock *lock = NULL;
	int status;

	do {
		_cleanup_(place) struct place *place = NULL;
		_cleanup_(cpumask) struct cpumask *cpus = NULL;

		status = choose_place(options->cpus, commands, &place, &cpus);
		if (status != EXIT_DONE)
			return status;
		if (locked && !cpumask_equal(locked, cpus))
			cpulock_free(TAKE_PTR(lock));
		status = run_here(options, place, cpus, NULL, commands, stop, &lock);
		cpumask_free(locked);
		locked = TAKE_PTR(cpus);
	} while (status == HAS_WAITED);
	return status;
}

/* Says what has been done, a line for each part. -EPERM where --strict wants more. */
static int tell_quiesce(const struct options *options, const struct quiesce *quiesce)
{
	const struct quiesce_part *parts;
	bool complete;
	size_t n = quiesce_get_parts(quiesce, &parts, &complete);

	for (size_t i = 0; !options->quiet && i < n; i++)
		say("%s: %s", parts[i].name, parts[i].done);
	if (complete || !options->strict)
		return 0;
	say("--strict: the setters have not done all that benchmark.conf asks for, so nothing is run");
	return -EPERM;
}

/* The resources of a measurement on a quiet machine. */
struct quiet {
	struct place *place;
	struct cpumask *cpus; /* all that are measured on */
	struct cpulock *lock;
	struct quiesce *quiesce;
};

/* Releases them in this order, because another measurement has to wait for the CPUs until the
 * machine is put back. */
static int quiet_end(struct quiet *quiet)
{
	int r = quiesce_end(quiet->quiesce);

	cpulock_free(quiet->lock);
	place_free(quiet->place);
	cpumask_free(quiet->cpus);
	*quiet = (struct quiet){ 0 };
	return r;
}

/* Makes the machine quiet, and chooses the CPUs. `list`: the CPUs that are asked for, or NULL. */
static int make_quiet(const struct options *options, const char *list,
	const struct commands *commands, struct stop *stop, struct quiet *quiet)
{
	enum exit_status status;
	int r;

	r = xcheck(quiesce_begin(list, stop, &quiet->quiesce));
	if (r < 0)
		return failure_status(r, stop);
	status = choose_place(options->cpus, commands, &quiet->place, &quiet->cpus);
	if (status != EXIT_DONE)
		return status;
	return quiesce_check(quiet->place->cpus) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/*
 * Locks the CPUs and makes the machine quiet, in this order, so that the machine is not quiet while
 * this waits for another measurement. The target may choose the CPUs only when it starts. If
 * somebody measures on these CPUs, the machine is put back, and made quiet for the same CPUs once
 * they are locked.
 */
static int begin_quietly(const struct options *options, const struct commands *commands,
	struct stop *stop, struct quiet *quiet)
{
	_cleanup_(cpumask) struct cpumask *wanted = NULL;
	_cleanup_free_ char *list = NULL;
	struct cpuholder holder;
	int r, status;

	/* Without root nothing can be changed: quiesce_begin() says what is missing. */
	r = geteuid() == 0 ? place_foresee("-c", options->cpus, &wanted) : 0;
	if (r == 0 && wanted && options->cpus && commands->rounds) {
		r = commands->rounds->foresee(commands->rounds, wanted);
		list = xptr(cpumask_format_list(wanted));
	}
	if (r < 0)
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	r = wanted ? lock_cpus(options, wanted, stop, &quiet->lock) : 0;
	if (r < 0)
		return failure_status(r, stop);
	status = make_quiet(options, list ? list : options->cpus, commands, stop, quiet);
	while (status == EXIT_DONE && !(wanted && cpumask_equal(wanted, quiet->cpus))) {
		cpulock_free(TAKE_PTR(quiet->lock));
		cpumask_free(TAKE_PTR(wanted));
		r = cpulock_try(quiet->cpus, &quiet->lock, &holder);
		if (r != -EAGAIN)
			break;
		/* Those that were not asked for need not be quiet. */
		if (!list)
			list = TAKE_PTR(quiet->place->cpus_text);
		wanted = TAKE_PTR(quiet->cpus);
		r = quiet_end(quiet);
		if (r == 0)
			r = lock_cpus(options, wanted, stop, &quiet->lock);
		if (r < 0)
			return failure_status(r, stop);
		status = make_quiet(options, list, commands, stop, quiet);
	}
	return status;
}

static int run_quietly(const struct options *options, struct commands *commands, struct stop *stop)
{
	struct quiet quiet = { 0 };
	int r, status;

	ending_set_quiesce(&quiet.quiesce);
	status = begin_quietly(options, commands, stop, &quiet);
	if (status == EXIT_DONE && tell_quiesce(options, quiet.quiesce) < 0)
		status = EXIT_FAILED;
	if (status == EXIT_DONE)
		status = run_here(options, quiet.place, quiet.cpus, quiet.quiesce, commands, stop,
			&quiet.lock);
	r = quiet_end(&quiet);
	ending_set_quiesce(NULL);
	/* A verdict of --decide does not hide that the machine could not be put back. */
	if (r < 0 && (status == EXIT_DONE || status == EXIT_FINDING || status == EXIT_UNSETTLED))
		return EXIT_FAILED;
	return status;
}

/* Whether something is looked for in what programs write to standard output. */
static bool reads_output(const struct options *options)
{
	const struct rule *loops = options->host ? &options->host->harness->hosting.loops : NULL;

	return figure_rules_read(&options->figures, FIGURE_STDOUT) ||
		(loops && loops->pattern && loops->source == FIGURE_STDOUT);
}

static int open_streams(const struct options *options, struct commands *commands)
{
	int r = 0;

	if (!options->input)
		streams_warn_of_unread_input();
	user_enter(options->user);
	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		struct command *command = &commands->items[i];

		r = streams_open(command->input, command->output_file, !options->dry_run,
			reads_output(options) && !command->is_control, &command->streams);
	}
	user_leave(options->user);
	return r;
}

static int run_commands(const struct options *options, struct commands *commands)
{
	struct stop stop;
	int r, status;

	commands_take(options, commands);
	commands->rounds = tool.get_rounds ? tool.get_rounds() : NULL;
	if (!has_setup(commands) && resolve(options, commands) < 0)
		return EXIT_FAILED;
	if (!options->quiet) {
		commands_note_rival(options, commands);
		commands_note_options(options, commands);
	}
	if (open_streams(options, commands) < 0)
		return EXIT_FAILED;
	r = stop_open(&stop);
	if (r < 0) {
		say_errno(r, "cannot take signals");
		return EXIT_FAILED;
	}
	if (options->quiesce && !options->dry_run)
		status = run_quietly(options, commands, &stop);
	else if (options->quiesce && quiesce_check_permission() < 0)
		status = EXIT_FAILED;
	else
		status = run_as_it_is(options, commands, &stop);
	stop_close(&stop);
	return status;
}

/* Opens /dev/null for each standard stream that the caller has closed. Otherwise a file that we
 * open would get its descriptor, and would become our standard output, for example. */
static bool have_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd) {
			say_errno(errno, "cannot open /dev/null for a stream that is closed");
			return false;
		}
	}
	return true;
}

/* When the reader of our output has closed the pipe, as head(1) does, or a file may not become as
 * large as it has to (`ulimit -f`), that must not kill us before the clean-up is done and the
 * result is saved: the write fails instead, and is reported as an error. */
static void survive_failed_writes(void)
{
	survive_signal(SIGPIPE);
	survive_signal(SIGXFSZ);
}

/* Finds the user of --user. Says what is wrong. */
static int find_user(struct options *options)
{
	int r = user_find(options->user_name, &options->user);

	if (r < 0)
		return r;
	r = user_take_place(options->user);
	if (r < 0)
		say_errno(r, "cannot take the place of %s (--user)", options->user->name);
	return r;
}

/* Returns the exit status. */
static int expand_and_run(struct options *options, struct commands *commands)
{
	int signal = 0, r, status;

	ending_set_host(&options->host);
	r = options->host ? hostlist_begin(options, &signal) : 0;
	if (r == -ECANCELED)
		status = 128 + signal;
	else if (r < 0)
		status = r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	else if (tool.expand(options) < 0)
		status = EXIT_USAGE;
	else
		status = run_commands(options, commands);
	ending_set_host(NULL);
	return status;
}

int main(int argc, char *argv[])
{
	bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
	/* 250 KB, which a small stack limit would not hold. */
	static struct options options;
	static struct commands commands;
	int r;

	if (!have_standard_streams())
		return EXIT_FAILED;
	survive_failed_writes();
	/* For the width of characters in texts that the user typed. Numbers always use '.'. */
	setlocale(LC_CTYPE, "");
	ending_prepare();
	r = tool.parse(argc, argv, &options);
	if (r < 0)
		return EXIT_USAGE;
	if (r > 0 && !has_output) {
		say_errno(EBADF, "cannot write to standard output");
		return EXIT_FAILED;
	}
	if (r > 0)
		return print_conclude();
	if (options.json && !has_output) {
		say("--json: standard output is closed, so the result would be lost");
		options_clear(&options);
		return EXIT_FAILED;
	}
	/* Where they are too few, it is said when programs start. */
	(void)sessions_raise_limit(1);
	r = options.as_user ? find_user(&options) : 0;
	if (r < 0) {
		options_clear(&options);
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	r = expand_and_run(&options, &commands);
	tries_free(commands.tries);
	commands_clear(&commands);
	options_clear(&options);
	if (tool.clear)
		tool.clear();
	return r;
}
