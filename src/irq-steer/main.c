// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * irq-steer: moves interrupts away from CPUs.
 *
 * Kernel contract (Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c
 * in 6.1, 6.12, 7.2):
 * - /proc/irq/N/smp_affinity_list is the wish, effective_affinity_list what the chip really uses. A
 *   move may wait for the line's next interrupt, and shows in the latter only then.
 * - Interrupts that cannot be moved (per-CPU ones, those that the kernel manages itself) answer EIO
 * up to 6.11; from 6.12 on the file has no mode bit for writing, and EPERM behind it.
 * - ENOSPC: no CPU of the mask has a vector left. EINVAL: no CPU of it is online.
 * - default_smp_affinity is for lines that are set up later, and hexadecimal only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/file.h"
#include "basic/macro.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/text.h"
#include "irq-steer/irqbalance.h"
#include "irq-steer/service.h"
#include "machine/irqline.h"
#include "setter/setter.h"
#include "state/journal.h"

#define IRQ_DIRECTORY "/proc/irq/"

enum {
	/* irqbalance first, so that it does not undo what follows; undone last. */
	GROUP_IRQBALANCE = 0,
	GROUP_IRQS = 1,
};

static const struct knob_backend backends[] = {
	{ IRQBALANCE_SCHEME, irqbalance_read, irqbalance_write, .late = true,
		.is_ours = irqbalance_is_ours },
	{ SERVICE_SCHEME, service_read, service_write, .late = true, .is_ours = service_is_ours },
	{ 0 },
};

struct steering {
	const struct irqlines *lines;
	const struct cpumask *quiet;
	struct cpumask *housekeeping;
	struct cpumask *scratch;
};

/* Where a line shall go that may go to `now`: the same without the quiet CPUs, or to all others
 * where nothing would be left. NULL without memory. */
static char *steer_list(const struct steering *s, const struct cpumask *now)
{
	cpumask_andnot(s->scratch, now, s->quiet);
	if (!cpumask_intersects(s->scratch, s->housekeeping))
		return cpumask_format_list(s->housekeeping);
	return cpumask_format_list(s->scratch);
}

/* Whether the line really goes to one of the quiet CPUs; `untold` where the chip does not tell. */
static bool touches_quiet(const struct steering *s, unsigned number, bool untold)
{
	if (irqline_read_effective(s->lines, number, s->scratch) < 0)
		return untold;
	return cpumask_intersects(s->scratch, s->quiet);
}

static int plan_line(struct knob_plan *plan, const struct steering *s, const struct irqline *line)
{
	_cleanup_(cpumask) struct cpumask *now = NULL;
	_cleanup_free_ char *wanted = NULL, *name = NULL;
	char path[64], text[FILE_ATTR_SIZE];
	struct knob *knob;
	int r;

	snprintf(path, sizeof(path), "/proc/irq/%u/smp_affinity_list", line->number);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	/* Lines come and go with drivers. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = cpumask_new(&now);
	if (r < 0)
		return r;
	if (cpumask_parse_list(text, 0, now, NULL) < 0)
		return 0;
	if (asprintf(&name, "irq %u%s%s%s", line->number, line->action ? " (" : "",
		    line->action ? line->action : "", line->action ? ")" : "") < 0) {
		name = NULL;
		return -ENOMEM;
	}
	if (cpumask_intersects(now, s->quiet) && !irqline_is_movable(s->lines, line->number)) {
		/* It may go there, so it does for all that is known. */
		if (!touches_quiet(s, line->number, true))
			return 0;
		return knob_plan_add_word(plan, GROUP_IRQS, KNOB_DENIED, path,
			"managed by the kernel, or per CPU", "%s", name);
	}
	wanted = cpumask_intersects(now, s->quiet) ? steer_list(s, now) : strdup(text);
	if (!wanted)
		return -ENOMEM;
	r = knob_plan_add(plan, GROUP_IRQS, KNOB_LIST, path, wanted, &knob, "%s", name);
	if (r < 0)
		return r;
	knob->fold = "interrupts";
	knob->may_be_refused = true;
	return 0;
}

/* A knob that holds a hexadecimal mask, and is to lose the quiet CPUs (or to gain them). */
static int plan_mask(struct knob_plan *plan, const struct steering *s, unsigned group,
	const char *path, bool gain, const char *name)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	_cleanup_free_ char *now = NULL, *wanted = NULL;
	struct knob *knob;
	int r;

	r = cpumask_new(&mask);
	if (r < 0)
		return r;
	r = knob_read(backends, path, &now);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || cpumask_parse_hex(now, mask, NULL) < 0)
		return knob_plan_add_word(plan, group,
			r == -EACCES || r == -EPERM ? KNOB_DENIED : KNOB_UNAVAILABLE, path,
			r < 0 ? strerror(-r) : "it cannot be understood", "%s", name);
	if (gain) {
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
	if (r == 0)
		knob->may_be_refused = group == GROUP_IRQBALANCE;
	return r;
}

#define BANNED IRQBALANCE_SCHEME ":banned"
#define SERVICE SERVICE_SCHEME ":" SERVICE_IRQBALANCE

/* What an earlier apply found of it, malloc'd; NULL where it did nothing with it. */
static int find_noted(const char *path, char **ret)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	const struct journal_entry *entry = NULL;
	int r;

	r = journal_load("irq-steer", &journal, &why);
	if (r == 0)
		entry = journal_find(journal, path);
	/* The engine says what there is to say of a journal that cannot be used. */
	if (r < 0 && knob_error_is_ours(-r))
		return r;
	*ret = entry ? strdup(entry->old) : NULL;
	return entry && !*ret ? -ENOMEM : 0;
}

/* Whether an earlier apply has stopped it: 1, 0, or an error. */
static int has_stopped_service(void)
{
	_cleanup_free_ char *old = NULL;
	int r = find_noted(SERVICE, &old);

	return r < 0 ? r : old && strcmp(old, "running") == 0;
}

/* Interrupts are where irqbalance sends them, while it runs beside us: among the other CPUs. */
static int is_moved(const char *path)
{
	/* A machine may have thousands. */
	static int is_told = -1;

	if (!text_starts_with(path, IRQ_DIRECTORY) || !strchr(path + strlen(IRQ_DIRECTORY), '/'))
		return 0;
	if (is_told < 0) {
		_cleanup_free_ char *old = NULL;
		int r = find_noted(BANNED, &old);

		if (r < 0)
			return r;
		is_told = old != NULL;
	}
	return is_told;
}

/* An irqbalance that has no socket, or does not answer there: it is stopped, and started again when
 * all is put back, by whoever started it. */
static int plan_service(struct knob_plan *plan)
{
	_cleanup_free_ char *now = NULL;
	bool runs = irqbalance_is_running();
	struct knob *knob;
	int r;

	r = runs ? 1 : has_stopped_service();
	if (r <= 0)
		return r;
	/* Its socket is closed to others, so they cannot tell whether it would answer. */
	if (runs && geteuid() != 0)
		return knob_plan_add_word(plan, GROUP_IRQBALANCE, KNOB_DENIED, BANNED,
			"only root can ask it which CPUs it leaves alone",
			"irqbalance banned CPUs");
	r = service_read(SERVICE_IRQBALANCE, &now);
	if (r == -ENOMEM)
		return r;
	if (runs && (r < 0 || strcmp(now, "running") != 0))
		return knob_plan_add_word(plan, GROUP_IRQBALANCE, KNOB_DENIED, BANNED,
			"irqbalance does not answer on a socket, and is no service of systemd's "
			"that could be stopped: stop it, or it moves interrupts back",
			"irqbalance banned CPUs");
	r = knob_plan_add(
		plan, GROUP_IRQBALANCE, KNOB_WORD, SERVICE, "stopped", &knob, "irqbalance");
	if (r < 0)
		return r;
	knob->may_be_refused = true;
	return 0;
}

static int plan_irqbalance(struct knob_plan *plan, const struct steering *s)
{
	_cleanup_free_ char *now = NULL;
	int r;

	r = irqbalance_read("", &now);
	if (r == -ENOMEM)
		return r;
	if (r == 0)
		return plan_mask(plan, s, GROUP_IRQBALANCE, BANNED, true, "irqbalance banned CPUs");
	return plan_service(plan);
}

static int plan_all(struct knob_plan *plan, const struct steering *s)
{
	int r;

	r = plan_irqbalance(plan, s);
	if (r == 0)
		r = plan_mask(plan, s, GROUP_IRQS, "/proc/irq/default_smp_affinity", false,
			"default affinity");
	for (size_t i = 0; r == 0 && i < s->lines->n; i++)
		r = plan_line(plan, s, &s->lines->items[i]);
	return r;
}

static int make_plan(
	const struct setter_target *target, struct knob_plan *plan, void *state _unused_)
{
	_cleanup_(cpumask) struct cpumask *none = NULL, *housekeeping = NULL, *scratch = NULL;
	struct irqlines lines = { 0 };
	struct steering s;
	int r;

	r = cpumask_new(&none);
	if (r == 0)
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
		.lines = &lines,
		.quiet = target->cpus,
		.housekeeping = housekeeping,
		.scratch = scratch,
	};
	r = irqlines_read(&lines);
	if (r == -ENOENT) {
		/* A machine, or a container, without /proc/irq. */
		r = knob_plan_add_word(plan, GROUP_IRQS, KNOB_UNAVAILABLE, "/proc/irq",
			"this machine shows no interrupts", "interrupts");
	} else if (r == 0) {
		r = irqlines_name(&lines);
		if (r == 0)
			r = plan_all(plan, &s);
	}
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot look at the interrupts");
	irqlines_clear(&lines);
	return r;
}

/* What errno means for an interrupt. */
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

/* Why a line is not where it shall be, as far as that has a reason to be told; NULL: there is
 * none. */
static const char *explain(const struct steering *s, const struct knob *knob, unsigned number)
{
	if (knob->word == KNOB_DENIED)
		return explain_refusal(knob->error);
	/* Where the chip does not tell, the line is where it was sent. */
	if (knob->word == KNOB_APPLIED && s->quiet && touches_quiet(s, number, false))
		return "a move shows with the next interrupt of the line";
	return NULL;
}

static int verify_lines(struct knob_plan *plan, const struct steering *s)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct knob *knob = &plan->knobs[i];
		const char *cursor = knob->path + strlen(IRQ_DIRECTORY), *why;
		uint64_t number;
		int r;

		if (!knob->fold || parse_next_u64(&cursor, &number) < 0)
			continue;
		why = explain(s, knob, (unsigned)number);
		if (!why)
			continue;
		r = knob_set_note(knob, "%s", why);
		if (r < 0)
			return r;
		/* Not one of those that need no word. */
		if (knob->word == KNOB_APPLIED)
			knob->fold = "interrupts, pending";
	}
	return 0;
}

/* The wish is not the truth: looks where each moved line really goes. */
static int verify(const struct setter_target *target, struct knob_plan *plan, void *state _unused_)
{
	_cleanup_(cpumask) struct cpumask *scratch = NULL;
	struct irqlines lines = { 0 };
	struct steering s;
	int r;

	r = cpumask_new(&scratch);
	if (r == 0)
		r = irqlines_open(&lines);
	/* Then no line was moved. */
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		if (r != -ENOMEM)
			say_errno(r, "cannot look where the interrupts go");
		return r;
	}
	s = (struct steering){ .lines = &lines, .quiet = target->cpus, .scratch = scratch };
	r = verify_lines(plan, &s);
	irqlines_clear(&lines);
	return r;
}

int main(int argc, char *argv[])
{
	static const struct setter setter = {
		.name = "irq-steer",
		.summary = "Move interrupts away from CPUs, and back again.",
		.needs_cpus = true,
		.backends = backends,
		.plan = make_plan,
		.verify = verify,
		.is_moved = is_moved,
	};

	return setter_main(&setter, argc, argv);
}
