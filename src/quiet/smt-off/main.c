// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smt-off: takes the SMT siblings of the chosen CPUs offline, or all but one thread of each core.
 *
 * Once a CPU is offline, the kernel no longer shows it as a sibling, nor its own siblings. So the
 * CPUs that go offline are chosen before anything is written, and later known only from the
 * journal.
 *
 * The result is read from `online` of each CPU, because smt/control may be wrong: after an `off`
 * that failed half-way, 6.12 shows "1" and does nothing when `off` is written again, and 6.1 still
 * shows "on" (kernel/cpu.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "quiet/engine/cleared.h"
#include "quiet/engine/controller.h"
#include "quiet/engine/hotplug.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/threads.h"
#include "quiet/setter/setter.h"
#include "quiet/smt-off/sideeffect.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define CONTROL CPU_DIR "/smt/control"

/* Groups are restored backwards: first the CPUs, in the reverse order, then what the kernel changed
 * because of them (sideeffect.h). */
enum {
	GROUP_THREADS,	  /* after the cpusets, which limit the affinity of threads */
	GROUP_INTERRUPTS, /* and what policies, idle states and network cards forget */
	GROUP_CPUSETS,
	GROUP_OTHERS, /* CPUs that smt-off does not switch, see add_other_cpus() */
	GROUP_CPU,    /* the first of the groups for CPUs: each CPU has one */
	GROUP_CONTROL = GROUP_CPU + CPUMASK_CAPACITY,
};

struct request {
	bool all;
};

static const struct knob_backend backends[] = {
	THREAD_BACKENDS,
	{ CONTROLLER_SCHEME, controller_read, controller_write, .moves_threads = true,
		.is_ours = controller_is_ours },
	{ 0 },
};

/* Documentation/ABI/testing/sysfs-devices-system-cpu */
enum control {
	CONTROL_ABSENT,	     /* also "notimplemented": threads are switched one by one */
	CONTROL_UNSUPPORTED, /* "notsupported": no core has a second thread */
	CONTROL_ON,	     /* also a number of threads per core above 1 (6.12) */
	CONTROL_HALF_OFF,    /* "1" (6.12): an `off` has failed, and another would do nothing */
	CONTROL_OFF,
	CONTROL_FORCED_OFF, /* until the next boot */
};

/* What the plan is made from. */
struct scene {
	const struct setter_target *target;
	enum control control;
	struct cpumask *online; /* from `online` of each CPU */
	struct cpumask *taken;	/* offline CPUs that smt-off has taken offline, by the journal */
	struct cpumask *going;	/* CPUs that are to go offline */
	bool took_control;	/* the journal has smt/control */
};

static enum control parse_control(const char *text)
{
	uint64_t threads;

	if (parse_attr_u64(text, &threads) == 0)
		return threads > 1 ? CONTROL_ON : CONTROL_HALF_OFF;
	if (strcmp(text, "on") == 0)
		return CONTROL_ON;
	if (strcmp(text, "off") == 0)
		return CONTROL_OFF;
	if (strcmp(text, "forceoff") == 0)
		return CONTROL_FORCED_OFF;
	if (strcmp(text, "notsupported") == 0)
		return CONTROL_UNSUPPORTED;
	return CONTROL_ABSENT;
}

static int read_control(enum control *ret)
{
	char text[64];
	int r;

	r = file_read_attr(AT_FDCWD, CONTROL, text, sizeof(text));
	if (r < 0 && !knob_error_is_unavailable(-r))
		return r;
	*ret = r < 0 ? CONTROL_ABSENT : parse_control(text);
	return 0;
}

static void online_path(int cpu, char *buf, size_t size)
{
	snprintf(buf, size, CPU_DIR "/cpu%d/online", cpu);
}

/* 1, 0, -ENOENT where this CPU cannot be switched, or another error. */
static int read_online(int cpu)
{
	char path[sizeof(CPU_DIR) + 32];
	uint64_t online;
	int r;

	online_path(cpu, path, sizeof(path));
	r = file_read_attr_u64(AT_FDCWD, path, &online);
	return r < 0 ? r : online != 0;
}

static int read_online_cpus(struct scene *scene)
{
	const struct topology *topology = scene->target->topology;

	cpumask_for_each (cpu, topology->present) {
		int online = read_online(cpu);

		if (online < 0 && errno_is_ours(-online))
			return online;
		if (online < 0)
			online = cpumask_isset(topology->online, cpu);
		if (online)
			(void)cpumask_set(scene->online, cpu);
	}
	return 0;
}

/* Finds what an earlier apply has taken offline. */
static void find_taken(struct scene *scene)
{
	struct journal *journal = scene->target->journal;

	for (size_t i = 0; journal && i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[i];
		int cpu = hotplug_find_taken_cpu(e);

		if (strcmp(e->path, CONTROL) == 0)
			scene->took_control = true;
		if (cpu >= 0 && cpumask_isset(scene->target->topology->present, cpu) &&
			!cpumask_isset(scene->online, cpu))
			(void)cpumask_set(scene->taken, cpu);
	}
}

static int scene_open(const struct setter_target *target, struct scene *ret)
{
	int r;

	*ret = (struct scene){ .target = target };
	if (cpumask_new(&ret->online) < 0 || cpumask_new(&ret->taken) < 0 ||
		cpumask_new(&ret->going) < 0)
		return -ENOMEM;
	r = read_control(&ret->control);
	if (r == 0)
		r = read_online_cpus(ret);
	if (r == 0)
		find_taken(ret);
	return r;
}

static void scene_close(struct scene *scene)
{
	cpumask_free(scene->online);
	cpumask_free(scene->taken);
	cpumask_free(scene->going);
}

/* --- The CPUs that go offline. --- */

/* The CPUs of -c stay online: at most one for each core. `stayers` has an entry for each core: the
 * CPU that stays, or -1. `status` is also about CPUs that have gone offline since. */
static int choose_stayers(const struct scene *scene, int *stayers)
{
	const struct topology *topology = scene->target->topology;

	cpumask_for_each (cpu, scene->target->cpus) {
		int *stayer = &stayers[topology->cpus[cpu].core];

		if (scene->target->verb == SETTER_STATUS && !cpumask_isset(scene->online, cpu))
			continue;
		if (cpumask_isset(scene->taken, cpu)) {
			say("-c: CPU %d was taken offline by smt-off (`smt-off restore` brings it back)",
				cpu);
			return -EINVAL;
		}
		if (!cpumask_isset(scene->online, cpu)) {
			say("-c: CPU %d is offline", cpu);
			return -EINVAL;
		}
		if (*stayer >= 0) {
			say("-c: CPUs %d and %d are threads of one core: name the one to measure on, "
			    "and the other goes offline",
				*stayer, cpu);
			return -EINVAL;
		}
		*stayer = cpu;
	}
	return 0;
}

/* All online threads but one of each core: of the cores of -c, or of all cores. As one of each
 * stays, the last online CPU never goes. */
static int choose_going(struct scene *scene)
{
	const struct topology *topology = scene->target->topology;
	_cleanup_free_ int *stayers = calloc(topology->n_cpus, sizeof(*stayers));
	int r;

	if (!stayers)
		return -ENOMEM;
	for (unsigned i = 0; i < topology->n_cpus; i++)
		stayers[i] = -1;
	if (scene->target->cpus) {
		r = choose_stayers(scene, stayers);
		if (r < 0)
			return r;
	}
	cpumask_for_each (cpu, scene->online) {
		int *stayer = &stayers[topology->cpus[cpu].core];

		if (*stayer < 0 && !scene->target->cpus)
			*stayer = cpu;
		if (*stayer < 0 || *stayer == cpu)
			continue;
		/* Some kernels can take CPU 0 offline, but much in the kernel is bound to the boot
		 * CPU (x86 cannot since 6.5 for that reason), and many programs expect it. */
		if (cpu == 0) {
			say("-c: CPU 0 is a thread of CPU %d's core, and CPU 0 is never taken offline: "
			    "name CPU 0 instead, or a CPU of another core",
				*stayer);
			return -EINVAL;
		}
		r = cpumask_set(scene->going, cpu);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- The plan. --- */

static int add_online(struct knob_plan *plan, int cpu, const char *wanted)
{
	char path[sizeof(CPU_DIR) + 32];
	struct knob *knob;
	int r;

	online_path(cpu, path, sizeof(path));
	r = knob_plan_add(plan, wanted ? GROUP_CPU + (unsigned)cpu : GROUP_OTHERS, KNOB_NUMBER,
		path, wanted, &knob, "online");
	if (r < 0)
		return r;
	knob->cpu = cpu;
	if (!wanted || read_online(cpu) != -ENOENT)
		return 0;
	return knob_set_note(
		knob, "the kernel does not take this CPU offline: there is no %s", path);
}

/* Adds the CPUs that go offline, and those that an earlier call has taken. */
static int add_siblings(const struct scene *scene, struct knob_plan *plan)
{
	int r = 0;

	cpumask_for_each (cpu, scene->target->topology->present) {
		if (cpumask_isset(scene->going, cpu) || cpumask_isset(scene->taken, cpu))
			r = add_online(plan, cpu, "0");
		if (r < 0)
			return r;
	}
	return 0;
}

/* Keeps `online` of the other CPUs, since smt/control=on brings every CPU online, also one that
 * somebody has taken offline meanwhile (cpuhp_smt_enable() in kernel/cpu.c). */
static int add_other_cpus(const struct scene *scene, struct knob_plan *plan)
{
	int r;

	cpumask_for_each (cpu, scene->target->topology->present) {
		if (cpumask_isset(scene->going, cpu) || cpumask_isset(scene->taken, cpu))
			continue;
		r = read_online(cpu);
		if (r == -ENOENT)
			continue;
		if (r >= 0)
			r = add_online(plan, cpu, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_control(const struct scene *scene, struct knob_plan *plan)
{
	int r;

	r = add_other_cpus(scene, plan);
	if (r < 0)
		return r;
	return knob_plan_add(plan, GROUP_CONTROL, KNOB_WORD, CONTROL, "off", NULL, "smt/control");
}

/* Adds a row that says why no thread goes offline. */
static int add_reason(const struct scene *scene, struct knob_plan *plan)
{
	_cleanup_free_ char *note = NULL;
	const char *hypervisor;
	int r;

	r = virtualization_read_hypervisor(&hypervisor, NULL);
	if (r < 0)
		return r;
	switch (scene->control) {
	case CONTROL_FORCED_OFF:
		return knob_plan_add_word(plan, GROUP_CONTROL, KNOB_ALREADY, CONTROL,
			"forced off until the next boot (nosmt=force)", "SMT");
	case CONTROL_ON:
	case CONTROL_HALF_OFF:
	case CONTROL_OFF:
		return knob_plan_add_word(plan, GROUP_CONTROL, KNOB_ALREADY, CONTROL,
			scene->target->cpus ? "no other thread is online on these cores"
					    : "no core has more than one thread online",
			"SMT");
	case CONTROL_UNSUPPORTED:
	case CONTROL_ABSENT:
		break;
	}
	if (!hypervisor || strcmp(hypervisor, "lpar") == 0)
		return knob_plan_add_word(plan, GROUP_CONTROL, KNOB_UNAVAILABLE, CONTROL,
			"the cores of this machine show one thread each", "SMT");
	if (text_format(&note,
		    "a virtual machine (%s): only the host knows which of its CPUs share a core",
		    hypervisor) < 0)
		return -ENOMEM;
	return knob_plan_add_word(plan, GROUP_CONTROL, KNOB_HOST_CONTROLLED, CONTROL, note, "SMT");
}

/* The CPUs that cpu-shield keeps clear by affinities; -ENOENT when there are none. cpu-shield
 * itself reports a damaged journal. */
static int read_cleared(struct cpumask **ret)
{
	int r = cleared_read(ret);

	return r == -EBADMSG ? -ENOENT : r;
}

/* Whether this apply comes after the CPUs have gone offline. */
static bool have_gone(const struct scene *scene)
{
	return scene->target->verb == SETTER_APPLY && cpumask_is_empty(scene->going) &&
		!cpumask_is_empty(scene->taken);
}

/* Keeps the affinities of threads, or, when the CPUs have gone offline, gives them back: Linux may
 * have sent threads to CPUs that are kept clear (quiet/engine/threads.h). */
static int add_threads(const struct scene *scene, struct knob_plan *plan)
{
	_cleanup_(cpumask) struct cpumask *cleared = NULL;
	int r = have_gone(scene) ? read_cleared(&cleared) : -ENOENT;

	if (r == 0)
		return threads_add_strayed(plan, GROUP_THREADS, "smt-off", scene->online, cleared);
	return r == -ENOENT ? threads_add(plan, GROUP_THREADS, "smt-off", scene->online, NULL) : r;
}

/* Keeps the CPUs of interrupts, or, when the CPUs have gone offline, has those steered again that
 * irq-steer had steered. */
static int add_interrupts(const struct scene *scene, struct knob_plan *plan)
{
	struct irqlines *lines = scene->target->lines;

	return have_gone(scene) ? sideeffect_add_steered(plan, GROUP_INTERRUPTS, lines,
					  scene->target->journal, scene->online)
				: sideeffect_add_interrupts(plan, GROUP_INTERRUPTS, lines);
}

/* Whether threads or interrupts may have been sent to CPUs that are kept clear of them. An error
 * counts as yes: the next plan meets it again, and says so. */
static bool repeats(const struct knob_plan *plan)
{
	_cleanup_(cpumask) struct cpumask *cleared = NULL;
	bool any = false;

	for (size_t i = 0; i < plan->n && !any; i++)
		any = plan->knobs[i].cpu >= 0 && plan->knobs[i].wanted &&
			knob_went_well(&plan->knobs[i]);
	return any && (sideeffect_are_steered() || read_cleared(&cleared) != -ENOENT);
}

/* Adds what the kernel changes because of CPUs that go offline. */
static int add_side_effects(const struct scene *scene, struct knob_plan *plan)
{
	int r;

	r = add_threads(scene, plan);
	if (r == 0)
		r = add_interrupts(scene, plan);
	if (r == 0)
		r = sideeffect_add_policies(plan, GROUP_INTERRUPTS, scene->going);
	if (r == 0)
		r = sideeffect_add_idle_states(plan, GROUP_INTERRUPTS, scene->going);
	if (r == 0)
		r = sideeffect_add_queues(plan, GROUP_INTERRUPTS);
	if (r == 0)
		r = sideeffect_add_cpusets(plan, GROUP_CPUSETS);
	if (r == 0)
		r = sideeffect_add_resctrl(plan, GROUP_CPUSETS);
	return r;
}

/* Kept knobs first, then those that are turned, in the order of turning. */
static int add_knobs(const struct scene *scene, struct knob_plan *plan)
{
	bool nothing = cpumask_is_empty(scene->going) && cpumask_is_empty(scene->taken);
	bool all_online = cpumask_equal(scene->online, scene->target->topology->present);
	bool by_control;
	int r;

	r = nothing && !scene->target->journal ? 0 : add_side_effects(scene, plan);
	if (r < 0)
		return r;
	if (scene->target->cpus)
		by_control = false;
	else if (scene->control == CONTROL_OFF)
		by_control = true;
	else
		/* An `off` leaves the first thread of each core. Where that one is offline, a core
		 * would lose its last CPU, which may be one to measure on. */
		by_control = scene->control == CONTROL_ON && !cpumask_is_empty(scene->going) &&
			all_online;
	if (by_control)
		r = add_control(scene, plan);
	else if (scene->took_control)
		r = add_other_cpus(scene, plan);
	else if (nothing)
		r = add_reason(scene, plan);
	return r < 0 ? r : add_siblings(scene, plan);
}

/* For `status` without -c and --all: what an earlier call has done. */
static int add_done(const struct scene *scene, struct knob_plan *plan)
{
	int r;

	r = add_side_effects(scene, plan);
	if (r == 0 && scene->took_control)
		r = add_control(scene, plan);
	return r < 0 ? r : add_siblings(scene, plan);
}

static int plan_smt(const struct setter_target *target, struct knob_plan *plan, void *state)
{
	const struct request *request = state;
	struct setter_target whole = *target;
	struct scene scene;
	bool asks;
	int r;

	if (request->all && target->cpus && !target->cpus_of_target) {
		say("-c and --all exclude each other");
		return -EINVAL;
	}
	if (request->all) {
		whole.cpus = NULL;
		target = &whole;
	}
	asks = request->all || (target->cpus && !target->cpus_of_target);
	r = scene_open(target, &scene);
	if (r == 0 && target->verb == SETTER_STATUS && target->journal && !asks) {
		r = add_done(&scene, plan);
	} else if (r == 0) {
		r = choose_going(&scene);
		if (r == 0)
			r = add_knobs(&scene, plan);
	}
	if (r < 0 && r != -EINVAL && r != -ENOMEM)
		say_errno(r, "cannot find out which CPUs are to go offline");
	scene_close(&scene);
	return r;
}

static int prepare_restore(struct journal *journal)
{
	return sideeffect_hand_down_cpusets(journal, GROUP_CPUSETS);
}

static const char *get_headline(const struct knob_plan *plan)
{
	bool any = false;

	for (size_t i = 0; i < plan->n; i++) {
		if (plan->knobs[i].wanted && !knob_went_well(&plan->knobs[i]))
			return NULL;
		any = any || plan->knobs[i].wanted;
	}
	return any ? "sibling CPUs are offline" : NULL;
}

int main(int argc, char *argv[])
{
	struct request request = { 0 };
	const struct option_row options[] = {
		{ 0, "all", NULL, "on the whole machine (the default without CPUs)", option_set,
			&request.all },
		{ 0 },
	};
	const struct setter setter = {
		.engine = {
			.tool = "smt-off",
			.backends = backends,
			.threads_group = GROUP_THREADS,
			.may_stay = sideeffect_may_stay,
			.is_moved = sideeffect_is_balanced,
			.prepare = prepare_restore,
		},
		.summary =
			"Keep the CPUs of -c, and take the other threads of their cores offline;\n"
			"without CPUs, all but one thread of every core.",
		.options = options,
		.needs_cores = true,
		.repeats = repeats,
		.headline = get_headline,
		.plan = plan_smt,
		.state = &request,
	};

	return setter_main(&setter, argc, argv);
}
