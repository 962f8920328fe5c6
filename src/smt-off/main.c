// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smt-off: no thread beside the chosen CPUs, or on the whole machine.
 *
 * The kernel shows no siblings of a CPU, nor those of its siblings, once they are offline. So what
 * is to go is made out before anything is written, and later known from the journal alone; and what
 * came of it is read from each CPU's own `online`: smt/control and smt/active have other stories to
 * tell (kernel/cpu.c: after an `off` that failed half-way, 6.12 says "1" to whoever asks and does
 * nothing more when told `off` again, and 6.1 goes on saying "on").
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/file.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/text.h"
#include "knob/threads.h"
#include "machine/virtualization.h"
#include "setter/setter.h"
#include "smt-off/kept.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define CONTROL CPU_DIR "/smt/control"

/* Restored backwards: CPUs come back in the reverse of the order in which they went, and what they
 * took along is put back when all are there. */
enum {
	GROUP_THREADS, /* when their cpusets are what they were */
	GROUP_INTERRUPTS,
	GROUP_CPUSETS,
	GROUP_OTHERS, /* CPUs that are not ours, see add_other_cpus() */
	GROUP_CPU,    /* and one for each CPU */
	GROUP_CONTROL = GROUP_CPU + CPUMASK_CAPACITY,
};

struct request {
	bool all;
};

static const struct knob_backend backends[] = {
	{ THREAD_SCHEME, thread_read, thread_write, thread_made_by_kernel, thread_read_with_offline,
		THREADS_FOLD },
	{ FOLLOWER_SCHEME, follower_read, follower_write, NULL, NULL, THREADS_FOLD },
	{ 0 },
};

/* Documentation/ABI/testing/sysfs-devices-system-cpu */
enum control {
	CONTROL_ABSENT,	  /* also notimplemented: nobody but each CPU's own file can do it */
	CONTROL_WITHOUT,  /* notsupported: no core has a second thread */
	CONTROL_ON,	  /* also with a part of the threads (a number, 6.12) */
	CONTROL_HALF_OFF, /* "1" (6.12): an `off` has failed, and `off` would do nothing now */
	CONTROL_OFF,
	CONTROL_FORCED_OFF, /* until the next boot */
};

/* What the plan is made from. */
struct scene {
	const struct setter_target *target;
	enum control control;
	struct cpumask *online; /* as each CPU's own file says */
	struct cpumask *taken;	/* offline, and it was smt-off: from the journal */
	struct cpumask *going;	/* threads that are to go offline */
	bool took_control;	/* the journal has smt/control */
	bool has_journal;
};

static enum control read_control(void)
{
	char text[64];
	uint64_t threads;

	if (file_read_attr(AT_FDCWD, CONTROL, text, sizeof(text)) < 0)
		return CONTROL_ABSENT;
	if (parse_attr_u64(text, &threads) == 0)
		return threads > 1 ? CONTROL_ON : CONTROL_HALF_OFF;
	if (strcmp(text, "on") == 0)
		return CONTROL_ON;
	if (strcmp(text, "off") == 0)
		return CONTROL_OFF;
	if (strcmp(text, "forceoff") == 0)
		return CONTROL_FORCED_OFF;
	if (strcmp(text, "notsupported") == 0)
		return CONTROL_WITHOUT;
	return CONTROL_ABSENT;
}

static void online_path(int cpu, char *buf, size_t size)
{
	snprintf(buf, size, CPU_DIR "/cpu%d/online", cpu);
}

/* 1, 0, or -ENOENT where this CPU cannot be switched. */
static int read_online(int cpu)
{
	char path[sizeof(CPU_DIR) + 32];
	uint64_t online;
	int r;

	online_path(cpu, path, sizeof(path));
	r = file_read_attr_u64(AT_FDCWD, path, &online);
	return r < 0 ? -ENOENT : online != 0;
}

static void read_online_cpus(struct scene *scene)
{
	const struct topology *topology = scene->target->topology;

	cpumask_for_each (cpu, topology->present) {
		int online = read_online(cpu);

		if (online < 0)
			online = cpumask_isset(topology->online, cpu);
		if (online)
			(void)cpumask_set(scene->online, cpu);
	}
}

/* The CPU of ".../cpu12/online"; negative for other paths. */
static int cpu_of_path(const char *path)
{
	_cleanup_free_ char *number = NULL;
	const char *end;
	unsigned cpu;

	if (!text_starts_with(path, CPU_DIR "/cpu"))
		return -EINVAL;
	path += strlen(CPU_DIR "/cpu");
	end = strchr(path, '/');
	if (!end || strcmp(end, "/online") != 0)
		return -EINVAL;
	number = strndup(path, (size_t)(end - path));
	if (!number)
		return -ENOMEM;
	return parse_uint(number, 0, CPUMASK_CAPACITY - 1, &cpu) < 0 ? -EINVAL : (int)cpu;
}

static void read_taken(struct scene *scene)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;

	/* What is wrong with a journal, the engine says. */
	if (journal_load("smt-off", &journal, &why) < 0)
		return;
	scene->has_journal = true;
	for (size_t i = 0; i < journal->n; i++) {
		const struct journal_entry *e = &journal->entries[i];
		int cpu = cpu_of_path(e->path);

		if (strcmp(e->path, CONTROL) == 0)
			scene->took_control = true;
		if (cpu >= 0 && !knob_equal(KNOB_NUMBER, e->old, "0") &&
			cpumask_isset(scene->target->topology->present, cpu) &&
			!cpumask_isset(scene->online, cpu))
			(void)cpumask_set(scene->taken, cpu);
	}
}

static int scene_open(const struct setter_target *target, struct scene *ret)
{
	int r;

	*ret = (struct scene){ .target = target, .control = read_control() };
	r = cpumask_new(&ret->online);
	if (r == 0)
		r = cpumask_new(&ret->taken);
	if (r == 0)
		r = cpumask_new(&ret->going);
	if (r < 0)
		return r;
	read_online_cpus(ret);
	read_taken(ret);
	return 0;
}

static void scene_close(struct scene *scene)
{
	cpumask_free(scene->online);
	cpumask_free(scene->taken);
	cpumask_free(scene->going);
}

/* --- Who is to go. --- */

/* The CPUs of -c stay, one for each core. Who stays is by core, -1 for nobody. */
static int choose_stayers(const struct scene *scene, int *stayers)
{
	const struct topology *topology = scene->target->topology;

	cpumask_for_each (cpu, scene->target->cpus) {
		int *stayer = &stayers[topology->cpus[cpu].core];

		if (cpumask_isset(scene->taken, cpu)) {
			say("-c: CPU %d is offline: smt-off took it (`smt-off restore` brings it back)",
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

/* All online threads but one of each core; of every core without -c. One of each stays, so the last
 * online CPU never goes. */
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
		/* Some kernels let it go, but much is bound to the boot CPU (x86 removed it for
		 * that in 6.5), and much of user space takes it for granted. */
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
	return 0;
}

/* The threads that go, and those that went in an earlier call. */
static int add_threads(const struct scene *scene, struct knob_plan *plan)
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

/* smt/control=on will bring every CPU online, also one that was offline before (cpuhp_smt_enable()
 * in kernel/cpu.c). */
static int add_other_cpus(const struct scene *scene, struct knob_plan *plan)
{
	int r = 0;

	cpumask_for_each (cpu, scene->target->topology->present) {
		if (cpumask_isset(scene->going, cpu) || cpumask_isset(scene->taken, cpu) ||
			read_online(cpu) < 0)
			continue;
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

/* No thread is to go: why. */
static int add_reason(const struct scene *scene, struct knob_plan *plan)
{
	const char *hypervisor = virtualization_read_hypervisor(NULL);
	_cleanup_free_ char *note = NULL;

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
	case CONTROL_WITHOUT:
	case CONTROL_ABSENT:
		break;
	}
	if (!hypervisor || strcmp(hypervisor, "lpar") == 0)
		return knob_plan_add_word(plan, GROUP_CONTROL, KNOB_UNAVAILABLE, CONTROL,
			"the cores of this machine show one thread each", "SMT");
	if (asprintf(&note,
		    "a virtual machine (%s): which of its CPUs share a core, the host knows",
		    hypervisor) < 0) {
		note = NULL;
		return -ENOMEM;
	}
	return knob_plan_add_word(plan, GROUP_CONTROL, KNOB_HOST_CONTROLLED, CONTROL, note, "SMT");
}

static int add_kept(const struct scene *scene, struct knob_plan *plan)
{
	int r;

	r = threads_add(plan, GROUP_THREADS, "smt-off", scene->online, NULL);
	if (r == 0)
		r = kept_add_interrupts(plan, GROUP_INTERRUPTS);
	if (r == 0)
		r = kept_add_cpusets(plan, GROUP_CPUSETS);
	return r;
}

/* What turns in the order of turning; what is kept comes before. */
static int add_knobs(const struct scene *scene, struct knob_plan *plan)
{
	bool nothing = cpumask_is_empty(scene->going) && cpumask_is_empty(scene->taken);
	bool by_control;
	int r;

	r = nothing && !scene->has_journal ? 0 : add_kept(scene, plan);
	if (r < 0)
		return r;
	if (scene->target->cpus)
		by_control = false;
	else if (scene->control == CONTROL_OFF)
		by_control = true;
	else
		by_control = scene->control == CONTROL_ON && !cpumask_is_empty(scene->going);
	if (by_control)
		r = add_control(scene, plan);
	else if (scene->took_control)
		r = add_other_cpus(scene, plan);
	else if (nothing)
		r = add_reason(scene, plan);
	return r < 0 ? r : add_threads(scene, plan);
}

/* What an earlier call has done, for a status that asks for nothing else. */
static int add_done(const struct scene *scene, struct knob_plan *plan)
{
	int r;

	r = add_kept(scene, plan);
	if (r == 0 && scene->took_control)
		r = add_control(scene, plan);
	return r < 0 ? r : add_threads(scene, plan);
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
	if (r == 0 && target->verb == SETTER_STATUS && scene.has_journal && !asks) {
		r = add_done(&scene, plan);
	} else if (r == 0) {
		r = choose_going(&scene);
		if (r == 0)
			r = add_knobs(&scene, plan);
	}
	if (r < 0 && r != -EINVAL && r != -ENOMEM)
		say_errno(r, "cannot make out what is to go offline");
	scene_close(&scene);
	return r;
}

/* Of a core whose first thread was offline, smt/control takes the others as well: said, since it is
 * more than what was asked for. */
static int verify_smt(const struct setter_target *target, struct knob_plan *plan, void *state)
{
	_cleanup_(cpumask) struct cpumask *also = NULL;
	_cleanup_free_ char *list = NULL;
	struct knob *control = knob_plan_find(plan, CONTROL);
	int r;

	(void)target;
	(void)state;
	r = cpumask_new(&also);
	for (size_t i = 0; r == 0 && i < plan->n; i++) {
		const struct knob *knob = &plan->knobs[i];

		if (knob->cpu >= 0 && !knob->wanted && knob->before_apply && knob->now &&
			!knob_equal(KNOB_NUMBER, knob->before_apply, knob->now))
			r = cpumask_set(also, knob->cpu);
	}
	if (r < 0)
		return r;
	if (!control || control->note || cpumask_is_empty(also))
		return 0;
	list = cpumask_format_list(also);
	return list
		? knob_set_note(control,
			  "took %s as well: the first thread of that core was offline before", list)
		: -ENOMEM;
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
		.name = "smt-off",
		.summary =
			"Take the other threads of the cores of -c offline, or every second thread.",
		.options = options,
		.needs_cores = true,
		.backends = backends,
		.plan = plan_smt,
		.verify = verify_smt,
		.may_stay = kept_may_stay,
		.state = &request,
	};

	return setter_main(&setter, argc, argv);
}
