// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * irq-steer: moves interrupts away from CPUs.
 *
 * Kernel contract (Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c
 * in 6.1, 6.12, 7.2):
 * - /proc/irq/N/smp_affinity_list is the affinity that was asked for, and
 *   effective_affinity_list the CPU that the chip uses. A move may wait for the next interrupt
 *   of the line, and shows in effective_affinity_list only then.
 * - Writing the affinity of an interrupt that cannot be moved (per-CPU ones, and those that
 *   the kernel manages) gives EIO up to 6.11; from 6.12 on the file has no write permission,
 *   and a write by root gives EPERM.
 * - ENOSPC: no CPU of the mask has a free vector. EINVAL: no CPU of the mask is online.
 * - default_smp_affinity is for lines that are set up later. It is a hexadecimal mask; there is no
 *   file with a list.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/irqline.h"
#include "base/machine/netqueue.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/systemd/dropin.h"
#include "base/text.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/journal.h"
#include "quiet/irq-steer/irqbalance.h"
#include "quiet/irq-steer/service.h"
#include "quiet/setter/setter.h"

#define QUEUES_FOLD "queues of network cards"

enum {
	/* irqbalance first, so that it does not undo the moves; restored last. */
	GROUP_IRQBALANCE = 0,
	GROUP_IRQS = 1,
};

static const struct knob_backend backends[] = {
	{ IRQBALANCE_SCHEME, irqbalance_read, irqbalance_write, .late = true,
		.is_ours = irqbalance_is_ours },
	{ SERVICE_SCHEME, service_read, service_write, .late = true, .is_ours = service_is_ours },
	{ DROPIN_SCHEME, dropin_read, service_write_ban, .is_ours = service_is_ours },
	{ 0 },
};

struct steering {
	const struct irqlines *lines;
	const struct cpumask *quiet;
	struct cpumask *housekeeping;
	struct cpumask *scratch;
	struct journal *journal; /* NULL when there is none */
	bool only_looks;	 /* for `status` */
};

/* Whether the line refused an earlier apply, on a kernel where only an attempt tells which lines
 * cannot be moved. The journal has all lines that the apply could move, and those that were away
 * from the quiet CPUs already. Lines that were set up since go where the default affinity lets
 * them. */
static bool has_refused(const struct steering *s, const char *path)
{
	return s->only_looks && s->journal && s->lines->old_kernel == 1 &&
		!journal_find(s->journal, path);
}

/* The affinity list to write for a line with the affinity `now`: `now` without the quiet CPUs, or
 * all housekeeping CPUs if no CPU would be left. malloc'd; NULL without memory. */
static char *format_steered_list(const struct steering *s, const struct cpumask *now)
{
	cpumask_andnot(s->scratch, now, s->quiet);
	if (!cpumask_intersects(s->scratch, s->housekeeping))
		return cpumask_format_list(s->housekeeping);
	return cpumask_format_list(s->scratch);
}

/* Whether the effective affinity has a quiet CPU; `if_unknown` where there is no effective
 * affinity. */
static bool touches_quiet(const struct steering *s, unsigned number, bool if_unknown)
{
	if (irqline_read_effective(s->lines, number, s->scratch) < 0)
		return if_unknown;
	return cpumask_intersects(s->scratch, s->quiet);
}

static int plan_line(struct knob_plan *plan, const struct steering *s, const struct irqline *line)
{
	_cleanup_(cpumask) struct cpumask *now = NULL;
	_cleanup_free_ char *wanted = NULL, *name = NULL, *text = NULL;
	char path[IRQLINE_PATH_SIZE];
	const char *why;
	struct knob *knob;
	bool is_here;
	int r;

	r = irqline_belongs_to_cpu(s->lines, line);
	if (r != 0)
		return r < 0 ? r : 0;
	irqline_affinity_path(line->number, path);
	r = file_read_long_attr(AT_FDCWD, path, &text);
	/* The line is gone, as when a driver is unloaded. */
	if (r == -ENOENT)
		return 0;
	if (r < 0 && errno_is_ours(-r))
		return r;
	why = r < 0 ? strerror(-r) : NULL;
	r = why ? 0 : cpumask_from_list(text, &now);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		why = "not a list of CPUs";
	if (text_format(&name, "irq %u%s%s%s", line->number, line->action ? " (" : "",
		    line->action ? line->action : "", line->action ? ")" : "") < 0)
		return -ENOMEM;
	if (why)
		return knob_plan_add_word(plan, GROUP_IRQS, KNOB_DENIED, path, why, "%s", name);
	/* The kernel may give its own lines other CPUs at any time, as it does after a suspend, and
	 * nobody could put these back. */
	is_here = cpumask_intersects(now, s->quiet);
	if (!is_here && irqline_is_fixed(s->lines, line) == 1)
		return 0;
	if (is_here && (!irqline_is_movable(s->lines, line->number) || has_refused(s, path))) {
		/* Without an effective affinity, assume that the line uses a quiet CPU. */
		if (!touches_quiet(s, line->number, true))
			return 0;
		return knob_plan_add_word(plan, GROUP_IRQS, KNOB_DENIED, path,
			"managed by the kernel, or per CPU", "%s", name);
	}
	wanted = is_here ? format_steered_list(s, now) : strdup(text);
	if (!wanted)
		return -ENOMEM;
	r = knob_plan_add(plan, GROUP_IRQS, KNOB_LIST, path, wanted, &knob, "%s", name);
	if (r < 0)
		return r;
	knob->fold = "interrupts";
	knob->suffices = !is_here;
	knob->may_be_refused = true;
	knob->seen = TAKE_PTR(text);
	return 0;
}

/* A hexadecimal mask, and what a plan does to it. */
enum mask {
	MASK_BANNED,   /* of irqbalance: the quiet CPUs are added */
	MASK_AFFINITY, /* the quiet CPUs are removed */
	/* The CPUs to which packets of a queue are handed, for their work in the network stack
	 * (Documentation/networking/scaling.rst, "RPS"): the same, but a mask without CPUs means
	 * that this is done where the queue's interrupt is. Which CPU sends by which queue
	 * (xps_cpus) brings no work of others to it. */
	MASK_QUEUE,
};

static int plan_mask(struct knob_plan *plan, const struct steering *s, enum mask kind,
	const char *path, const char *name)
{
	unsigned group = kind == MASK_BANNED ? GROUP_IRQBALANCE : GROUP_IRQS;
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	_cleanup_free_ char *now = NULL, *wanted = NULL;
	struct knob *knob;
	int r;

	if (cpumask_new(&mask) < 0)
		return -ENOMEM;
	r = knob_read(backends, path, &now);
	/* The card is gone. */
	if (r < 0 && kind == MASK_QUEUE && knob_error_is_unavailable(-r))
		return 0;
	if (r < 0 && errno_is_ours(-r))
		return r;
	if (r < 0 || cpumask_parse_hex(now, mask) < 0)
		return knob_plan_add_word(plan, group,
			r == -EACCES || r == -EPERM ? KNOB_DENIED : KNOB_UNAVAILABLE, path,
			r < 0 ? strerror(-r) : "not a hexadecimal mask", "%s", name);
	if (kind == MASK_QUEUE && cpumask_is_empty(mask))
		return 0;
	if (kind == MASK_BANNED) {
		cpumask_or(mask, mask, s->quiet);
	} else {
		cpumask_andnot(mask, mask, s->quiet);
		if (!cpumask_intersects(mask, s->housekeeping))
			cpumask_assign(mask, s->housekeeping);
	}
	wanted = cpumask_format_hex(mask, (unsigned)MAX(cpumask_last(mask) + 1, 1));
	if (!wanted)
		return -ENOMEM;
	r = knob_plan_add(plan, group, KNOB_MASK, path, wanted, &knob, "%s", name);
	if (r < 0)
		return r;
	knob->may_be_refused = kind != MASK_AFFINITY;
	knob->fold = kind == MASK_QUEUE ? QUEUES_FOLD : NULL;
	knob->seen = TAKE_PTR(now);
	return 0;
}

static int plan_queues(struct knob_plan *plan, const struct steering *s)
{
	struct netqueues queues = { 0 };
	int r;

	r = netqueues_read("rx-*", "rps_cpus", &queues);
	for (size_t i = 0; r == 0 && i < queues.n; i++)
		r = plan_mask(plan, s, MASK_QUEUE, queues.items[i].path, queues.items[i].name);
	netqueues_clear(&queues);
	return r;
}

#define BANNED IRQBALANCE_SCHEME ":banned"
#define SERVICE SERVICE_SCHEME ":" SERVICE_IRQBALANCE
#define DROPIN DROPIN_SCHEME ":" SERVICE_IRQBALANCE

/* Whether an earlier apply has stopped the service. */
static bool has_stopped_service(struct journal *journal)
{
	const struct journal_entry *entry = journal ? journal_find(journal, SERVICE) : NULL;

	return entry && strcmp(entry->old, "running") == 0;
}

/* Whether an earlier apply has told irqbalance which CPUs are banned: 1, 0, or an error. */
static int has_banned_cpus(void)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	int r = journal_load("irq-steer", &journal, &why);

	/* A damaged journal is reported by the engine. */
	if (journal_error_counts(r))
		return r;
	return r == 0 && journal_find(journal, BANNED);
}

/* An irqbalance whose banned CPUs we have set still moves interrupts, among the other CPUs. So does
 * an irqbalance whose ban a restore has lifted, while a line still waits for an offline CPU. */
static int is_moved(const struct journal_entry *entry, const char *now _unused_)
{
	/* This is found out only once, because a machine may have thousands of interrupts. */
	static int is_balanced = -1;
	unsigned number;

	if (irqline_parse_path(entry->path, &number) < 0)
		return 0;
	if (is_balanced < 0) {
		int r = has_banned_cpus();

		if (r == 0)
			r = irqs_are_balanced();
		if (r < 0)
			return r;
		is_balanced = r;
	}
	return is_balanced;
}

/* An irqbalance that has no socket, or does not answer there, is stopped by systemd, and started
 * again by restore. */
static int plan_service(struct knob_plan *plan, const struct steering *s)
{
	_cleanup_free_ char *now = NULL, *why = NULL;
	struct knob *knob;
	bool runs;
	int r;

	r = irqs_are_balanced();
	if (r < 0)
		return r;
	runs = r > 0;
	r = runs || has_stopped_service(s->journal);
	if (r <= 0)
		return r;
	/* Only root can connect to the socket, so others cannot know whether irqbalance answers. */
	if (runs && geteuid() != 0)
		return knob_plan_add_word(plan, GROUP_IRQBALANCE, KNOB_DENIED, BANNED,
			"only root can ask irqbalance which CPUs are banned",
			"irqbalance banned CPUs");
	r = service_read(SERVICE_IRQBALANCE, &now);
	if (r < 0 && errno_is_ours(-r))
		return r;
	if (runs && r < 0 && r != -ENOENT) {
		if (text_format(&why,
			    "irqbalance does not answer on a socket, and systemd does not tell "
			    "whether it could stop it (%s): stop it, or it moves interrupts back",
			    strerror(-r)) < 0)
			return -ENOMEM;
		return knob_plan_add_word(
			plan, GROUP_IRQBALANCE, KNOB_DENIED, BANNED, why, "irqbalance banned CPUs");
	}
	if (runs && (r < 0 || strcmp(now, "running") != 0))
		return knob_plan_add_word(plan, GROUP_IRQBALANCE, KNOB_DENIED, BANNED,
			"irqbalance does not answer on a socket, and is no systemd service "
			"that could be stopped: stop it, or it moves interrupts back",
			"irqbalance banned CPUs");
	r = knob_plan_add(
		plan, GROUP_IRQBALANCE, KNOB_WORD, SERVICE, "stopped", &knob, "irqbalance");
	if (r < 0)
		return r;
	knob->may_be_refused = true;
	return 0;
}

/* An irqbalance that systemd starts again bans the quiet CPUs, too. `now`: what it bans. */
static int plan_ban(struct knob_plan *plan, const struct steering *s, const char *now)
{
	_cleanup_free_ char *state = NULL, *wanted = NULL;
	struct knob *knob;
	int r;

	r = service_read(SERVICE_IRQBALANCE, &state);
	if (r < 0 && errno_is_ours(-r))
		return r;
	/* Somebody else has started it, who may start it again as well. */
	if (r < 0 || strcmp(state, "running") != 0 || cpumask_parse_hex(now, s->scratch) < 0)
		return 0;
	cpumask_or(s->scratch, s->scratch, s->quiet);
	wanted = service_format_ban(s->scratch);
	if (!wanted)
		return -ENOMEM;
	r = knob_plan_add(plan, GROUP_IRQBALANCE, KNOB_WORD, DROPIN, wanted, &knob,
		"settings of " SERVICE_IRQBALANCE);
	if (r == 0)
		knob->may_be_refused = true;
	return r;
}

static int plan_irqbalance(struct knob_plan *plan, const struct steering *s)
{
	_cleanup_free_ char *now = NULL;
	int r;

	r = irqbalance_read("", &now);
	if (r < 0 && errno_is_ours(-r))
		return r;
	if (r < 0)
		return plan_service(plan, s);
	r = plan_ban(plan, s, now);
	return r < 0 ? r : plan_mask(plan, s, MASK_BANNED, BANNED, "irqbalance banned CPUs");
}

static int plan_all(struct knob_plan *plan, const struct steering *s)
{
	int r;

	r = plan_irqbalance(plan, s);
	if (r == 0)
		r = plan_mask(plan, s, MASK_AFFINITY, IRQLINE_DEFAULT_AFFINITY, "default affinity");
	for (size_t i = 0; r == 0 && i < s->lines->n; i++)
		r = plan_line(plan, s, &s->lines->items[i]);
	return r < 0 ? r : plan_queues(plan, s);
}

static int make_plan(
	const struct setter_target *target, struct knob_plan *plan, void *state _unused_)
{
	_cleanup_(cpumask) struct cpumask *housekeeping = NULL, *scratch = NULL;
	struct steering s;
	int r;

	r = cpumask_new(&scratch);
	if (r == 0)
		r = cpumask_copy(target->topology->online, &housekeeping);
	if (r < 0)
		return r;
	/* `status` without -c shows what the journal has. */
	if (!target->cpus)
		return 0;
	cpumask_andnot(housekeeping, housekeeping, target->cpus);
	if (cpumask_is_empty(housekeeping)) {
		say("-c names all CPUs that are online: interrupts need one to go to");
		return -EINVAL;
	}
	s = (struct steering){
		.lines = target->lines,
		.quiet = target->cpus,
		.housekeeping = housekeeping,
		.scratch = scratch,
		.journal = target->journal,
		.only_looks = target->verb == SETTER_STATUS,
	};
	r = irqlines_read_named(target->lines);
	/* A machine, or a container, without /proc/irq. */
	if (r == -ENOENT)
		r = knob_plan_add_word(plan, GROUP_IRQS, KNOB_UNAVAILABLE, "/proc/irq",
			"this machine shows no interrupts", "interrupts");
	else if (r == 0)
		r = plan_all(plan, &s);
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot read the interrupts");
	return r;
}

/* What an errno of a write to smp_affinity_list means; NULL for an errno that explains itself. */
static const char *explain_refusal(int error)
{
	switch (error) {
	case EIO:
	case EPERM:
	case EACCES:
		return "managed by the kernel, or per CPU";
	case ENOSPC:
		return "no interrupt vector is left on the other CPUs";
	case ENOENT:
		return "it is gone";
	default:
		return NULL;
	}
}

/* Why a line still uses a quiet CPU; NULL if it does not, or the reason is not known. */
static const char *explain_line(const struct steering *s, const struct knob *knob, unsigned number)
{
	if (knob->word == KNOB_DENIED)
		return explain_refusal(knob->error);
	/* Without an effective affinity, assume that the move is done. */
	if (knob->word == KNOB_APPLIED && s->quiet && touches_quiet(s, number, false))
		return "a move shows with the next interrupt of the line";
	return NULL;
}

static int verify_lines(struct knob_plan *plan, const struct steering *s)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		const char *why;
		unsigned number;
		int r;

		if (!knob->fold || irqline_parse_path(knob->path, &number) < 0)
			continue;
		why = explain_line(s, knob, number);
		if (!why)
			continue;
		r = knob_set_note(knob, "%s", why);
		if (r < 0)
			return r;
		/* In a row of its own, apart from interrupts that have moved. */
		if (knob->word == KNOB_APPLIED)
			knob->fold = "interrupts, pending";
	}
	return 0;
}

/* A write that succeeded does not prove the move: reads the effective affinity of each line. */
static int verify(const struct setter_target *target, struct knob_plan *plan, void *state _unused_)
{
	_cleanup_(cpumask) struct cpumask *scratch = NULL;
	struct steering s;

	/* There is no /proc/irq, so no line was moved. */
	if (!target->lines->directory)
		return 0;
	if (cpumask_new(&scratch) < 0)
		return -ENOMEM;
	s = (struct steering){ .lines = target->lines, .quiet = target->cpus, .scratch = scratch };
	return verify_lines(plan, &s);
}

int main(int argc, char *argv[])
{
	static const struct setter setter = {
		.engine = {
			.tool = "irq-steer",
			.backends = backends,
			.is_moved = is_moved,
		},
		.summary = "Move interrupts away from CPUs, and back again.",
		.needs_cpus = true,
		.plan = make_plan,
		.verify = verify,
	};

	return setter_main(&setter, argc, argv);
}
