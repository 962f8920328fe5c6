// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/machine/cpuload.h"
#include "base/machine/isolation.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/where/autochoice.h"

enum {
	BUSY_STEPS = 10,
	/* Long enough for 20 ticks of /proc/stat, too short to be noticed. */
	WATCH_NS = 200 * 1000 * 1000,
};

/* A CPU that is busier is taken only for want of others. */
#define BUSY_LIMIT 0.5

/* The properties by which a CPU is judged. */
struct candidate {
	int cpu;
	const struct topology_cpu *facts;
	bool is_sibling_of_zero; /* a sibling of CPU 0 */
	double busy;		 /* negative: unknown */
	double sibling_busy;
	unsigned n_siblings; /* online siblings, the CPU itself not counted */
	uint64_t interrupts;
	uint64_t fixed; /* of the interrupts, those that cannot be kept away */
};

/* What the chosen CPUs have in common. */
enum spread {
	SPREAD_LLC,
	SPREAD_NODE,
	SPREAD_PACKAGE,
	SPREAD_MACHINE,
	SPREAD_SHARED, /* too few cores: CPUs share cores */
};

struct choice {
	struct candidate *candidates; /* best first */
	size_t n_candidates;
	bool *chosen; /* indexed like candidates */
	size_t n;
	bool zero_left_out; /* candidates on CPU 0's core have been left out */
	enum spread spread;
	/* Only cores of this kind, and no last resort; UNIFORM: all of them. */
	enum topology_kind only;
};

static double busy_of(const struct autochoice_input *input, int cpu)
{
	double busy;

	if (!input->busy || (size_t)cpu >= input->n_cpus)
		return -1;
	busy = input->busy[cpu];
	return busy >= 0 ? MIN(busy, 1.0) : -1;
}

static uint64_t count_of(const struct autochoice_input *input, const uint64_t *counts, int cpu)
{
	return counts && (size_t)cpu < input->n_cpus ? counts[cpu] : 0;
}

/* 0 is idle, up to and including one step; unknown counts as idle. Subtracting the small number
 * keeps 0.1 * 10, which may be slightly above 1, in its step. */
static int busy_step(double busy)
{
	return busy < 0 ? 0 : (int)(busy * BUSY_STEPS - 1e-6);
}

/* The fastest first; a kind that is not known comes behind it. */
static int kind_order(enum topology_kind kind)
{
	return kind == TOPOLOGY_KIND_UNIFORM ? 2 * TOPOLOGY_KIND_PERFORMANCE + 1 : 2 * (int)kind;
}

#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* CPU 0, or a CPU that is more than half busy: worse than any other. */
static bool is_last_resort(const struct candidate *candidate)
{
	return candidate->cpu == 0 || candidate->busy > BUSY_LIMIT;
}

/* Negative when a is better by kind, load and core. */
static int compare_load(const struct candidate *a, const struct candidate *b)
{
	int r;

	r = COMPARE(is_last_resort(a), is_last_resort(b));
	if (r == 0)
		r = COMPARE(kind_order(a->facts->kind), kind_order(b->facts->kind));
	if (r == 0)
		r = COMPARE(busy_step(a->sibling_busy), busy_step(b->sibling_busy));
	if (r == 0)
		r = COMPARE(busy_step(a->busy), busy_step(b->busy));
	if (r == 0)
		r = COMPARE(a->cpu == 0, b->cpu == 0);
	if (r == 0)
		r = COMPARE(a->is_sibling_of_zero, b->is_sibling_of_zero);
	return r;
}

/* Negative when a is better, 0 when only the CPU number differs. */
static int compare_quality(const struct candidate *a, const struct candidate *b)
{
	int r = compare_load(a, b);

	if (r == 0)
		r = COMPARE(a->fixed, b->fixed);
	if (r == 0)
		r = COMPARE(a->interrupts, b->interrupts);
	if (r == 0)
		r = COMPARE(b->facts->rank, a->facts->rank);
	return r;
}

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	int r = compare_quality(a, b);

	return r != 0 ? r : COMPARE(b->cpu, a->cpu);
}

static struct candidate make_candidate(const struct topology *topology,
	const struct autochoice_input *input, int cpu, struct cpumask *scratch)
{
	struct candidate candidate = {
		.cpu = cpu,
		.facts = topology_get_cpu(topology, cpu),
		.busy = busy_of(input, cpu),
		.sibling_busy = -1,
		.interrupts = count_of(input, input->interrupts, cpu),
		.fixed = count_of(input, input->fixed, cpu),
	};

	topology_get_siblings(topology, cpu, scratch);
	candidate.is_sibling_of_zero = cpu != 0 && cpumask_isset(scratch, 0);
	cpumask_and(scratch, scratch, topology->online);
	cpumask_clear(scratch, cpu);
	candidate.n_siblings = cpumask_weight(scratch);
	cpumask_for_each (sibling, scratch) {
		double busy = busy_of(input, sibling);

		candidate.sibling_busy = MAX(candidate.sibling_busy, busy);
	}
	return candidate;
}

static bool same_group(
	const struct topology_cpu *a, const struct topology_cpu *b, enum spread spread)
{
	switch (spread) {
	case SPREAD_LLC:
		return a->node == b->node && a->package == b->package && a->llc == b->llc &&
			a->llc_level == b->llc_level;
	case SPREAD_NODE:
		return a->node == b->node && a->package == b->package;
	case SPREAD_PACKAGE:
		return a->package == b->package;
	case SPREAD_MACHINE:
	case SPREAD_SHARED:
		break;
	}
	return true;
}

static bool is_skipped(const struct choice *choice, const struct candidate *candidate)
{
	return choice->only != TOPOLOGY_KIND_UNIFORM &&
		(is_last_resort(candidate) || candidate->facts->kind != choice->only);
}

/* Chooses the best candidate of each core in the group of `like`, at most n. Returns how many it
 * has chosen. */
static size_t choose_in_group(struct choice *choice, const struct candidate *like,
	enum spread spread, struct cpumask *cores)
{
	size_t n = 0;

	cpumask_clear_all(cores);
	for (size_t i = 0; i < choice->n_candidates; i++) {
		const struct topology_cpu *facts = choice->candidates[i].facts;

		choice->chosen[i] = n < choice->n && !is_skipped(choice, &choice->candidates[i]) &&
			same_group(facts, like->facts, spread) &&
			!cpumask_isset(cores, facts->core);
		if (choice->chosen[i]) {
			(void)cpumask_set(cores, facts->core);
			n++;
		}
	}
	return n;
}

/*
 * The candidates are sorted, best first, so the first group that reaches n cores in this order is
 * the one whose worst chosen CPU is the best. group_of has room for two numbers per candidate.
 */
static bool choose_one_group(
	struct choice *choice, enum spread spread, size_t *group_of, struct cpumask *cores)
{
	size_t *counts = group_of + choice->n_candidates;

	/* A group is identified by its best candidate. */
	for (size_t i = 0; i < choice->n_candidates; i++) {
		counts[i] = 0;
		for (group_of[i] = 0; group_of[i] < i; group_of[i]++) {
			size_t first = group_of[i];

			if (group_of[first] == first &&
				same_group(choice->candidates[first].facts,
					choice->candidates[i].facts, spread))
				break;
		}
	}
	cpumask_clear_all(cores);
	for (size_t i = 0; i < choice->n_candidates; i++) {
		const struct candidate *candidate = &choice->candidates[i];

		if (is_skipped(choice, candidate) || cpumask_isset(cores, candidate->facts->core))
			continue;
		(void)cpumask_set(cores, candidate->facts->core);
		if (++counts[group_of[i]] == choice->n) {
			choice->spread = spread;
			(void)choose_in_group(choice, candidate, spread, cores);
			return true;
		}
	}
	return false;
}

static bool is_on_zero(const struct candidate *candidate)
{
	return candidate->cpu == 0 || candidate->is_sibling_of_zero;
}

/* Removes the candidates on CPU 0's core, if there are enough other cores. */
static void spare_zero(struct choice *choice, struct cpumask *cores)
{
	size_t n = 0;

	cpumask_clear_all(cores);
	for (size_t i = 0; i < choice->n_candidates; i++) {
		if (!is_on_zero(&choice->candidates[i]))
			(void)cpumask_set(cores, choice->candidates[i].facts->core);
	}
	if (cpumask_weight(cores) < choice->n)
		return;
	for (size_t i = 0; i < choice->n_candidates; i++) {
		if (!is_on_zero(&choice->candidates[i]))
			choice->candidates[n++] = choice->candidates[i];
	}
	choice->zero_left_out = n < choice->n_candidates;
	choice->n_candidates = n;
}

static int choose(struct choice *choice)
{
	_cleanup_(cpumask) struct cpumask *cores = NULL;
	_cleanup_free_ size_t *group_of = NULL;
	size_t n;

	group_of = calloc(choice->n_candidates, 2 * sizeof(*group_of));
	if (!group_of || cpumask_new(&cores) < 0)
		return -ENOMEM;
	/* Different kinds of cores matter more than different caches, and more than speed. */
	for (unsigned i = 1; i <= TOPOLOGY_N_KINDS; i++) {
		choice->only = (enum topology_kind)(i % TOPOLOGY_N_KINDS);
		for (enum spread spread = SPREAD_LLC; spread <= SPREAD_MACHINE; spread++) {
			if (choose_one_group(choice, spread, group_of, cores))
				return 0;
		}
	}
	choice->spread = SPREAD_SHARED;
	n = choose_in_group(choice, &choice->candidates[0], SPREAD_MACHINE, cores);
	for (size_t i = 0; n < choice->n; i++) {
		n += !choice->chosen[i];
		choice->chosen[i] = true;
	}
	return 0;
}

/* A reason is a list of parts, separated by commas. */
struct reason {
	struct text text;
	bool begun;
};

static void reason_add(struct reason *reason, const char *format, ...) _printf_(2, 3);

static void reason_add(struct reason *reason, const char *format, ...)
{
	_cleanup_free_ char *part = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&part, format, ap);
	va_end(ap);
	if (n < 0) {
		part = NULL;
		reason->text.failed = true;
		return;
	}
	text_append(&reason->text, reason->begun ? ", " : " ");
	text_append(&reason->text, part);
	reason->begun = true;
}

static int percent(double busy)
{
	return (int)(busy * 100 + 0.5);
}

/* Why it is not CPU 0, or why it is; and what kind of core it has. */
static void explain_kind(
	struct reason *reason, const struct topology *topology, const struct choice *choice)
{
	const struct candidate *best = &choice->candidates[0];
	bool alone = choice->n_candidates == 1 && !choice->zero_left_out;

	if (!alone && best->cpu != 0)
		reason_add(reason, "not CPU 0");
	if (!alone && best->cpu == 0)
		reason_add(reason,
			best->busy >= 0 && busy_step(best->busy) > 0 ? "the others are busier"
								     : "the others are busy");
	if (best->facts->kind != TOPOLOGY_KIND_UNIFORM)
		reason_add(reason, "a%s %s core%s",
			best->facts->kind == TOPOLOGY_KIND_EFFICIENCY ? "n" : "",
			topology_kind_name(best->facts->kind),
			best->facts->kind == TOPOLOGY_KIND_PERFORMANCE &&
					topology->kind_source == TOPOLOGY_KIND_FROM_FREQUENCY
				? " by its maximum frequency"
				: "");
}

static void explain_load(struct reason *reason, const struct topology *topology,
	const struct candidate *best, struct cpumask *scratch)
{
	_cleanup_free_ char *list = NULL;
	bool several = best->n_siblings > 1;

	if (best->busy >= 0 && busy_step(best->busy) == 0)
		reason_add(reason, "idle");
	else if (best->busy >= 0)
		reason_add(reason, "%d %% busy", percent(best->busy));
	if (best->n_siblings == 0)
		reason_add(reason,
			best->facts->core_told ? "no sibling beside it"
					       : "what shares its core is not known");
	if (best->n_siblings == 0 || best->sibling_busy < 0)
		return;
	topology_get_siblings(topology, best->cpu, scratch);
	cpumask_and(scratch, scratch, topology->online);
	cpumask_clear(scratch, best->cpu);
	list = cpumask_format_list(scratch);
	if (!list)
		reason->text.failed = true;
	else if (busy_step(best->sibling_busy) == 0)
		reason_add(reason, "its sibling%s CPU %s %s idle", several ? "s" : "", list,
			several ? "are" : "is");
	else
		reason_add(reason, "its sibling%s CPU %s up to %d %% busy", several ? "s" : "",
			list, percent(best->sibling_busy));
}

/* In what the best candidate is better than the others. "Its like" are those with as little load.
 */
struct standing {
	bool fewer_fixed;  /* of interrupts that cannot be moved: fewer than one of its like has */
	bool fewest_fixed; /* nobody has fewer */
	bool counted;	   /* not all have the same number of interrupts */
	bool fewest;
	bool fewer; /* interrupts than one of its like has that is as good until there */
	bool ranked;
	size_t n_alike; /* itself included */
};

static struct standing find_standing(const struct choice *choice)
{
	const struct candidate *best = &choice->candidates[0];
	struct standing s = { .fewest_fixed = true, .fewest = true, .n_alike = 1 };

	for (size_t i = 1; i < choice->n_candidates; i++) {
		const struct candidate *other = &choice->candidates[i];
		bool like = compare_load(best, other) == 0;

		s.fewer_fixed = s.fewer_fixed || (like && best->fixed < other->fixed);
		s.fewest_fixed = s.fewest_fixed && best->fixed <= other->fixed;
		like = like && best->fixed == other->fixed;
		s.counted = s.counted || best->interrupts != other->interrupts;
		s.fewest = s.fewest && best->interrupts <= other->interrupts;
		s.fewer = s.fewer || (like && best->interrupts < other->interrupts);
		s.ranked = s.ranked ||
			(like && best->interrupts == other->interrupts &&
				best->facts->rank > other->facts->rank);
		s.n_alike += compare_quality(best, other) == 0;
	}
	return s;
}

static void explain_one(struct reason *reason, const struct topology *topology,
	const struct choice *choice, struct cpumask *scratch)
{
	const struct candidate *best = &choice->candidates[0];
	struct standing s = find_standing(choice);

	explain_kind(reason, topology, choice);
	explain_load(reason, topology, best, scratch);
	if (s.fewer_fixed)
		reason_add(reason, "fewest interrupts%s that cannot be moved (%" PRIu64 ")",
			s.fewest_fixed ? "" : " of its like", best->fixed);
	else if (best->fixed > 0)
		reason_add(reason, "%" PRIu64 " interrupts since boot that cannot be moved",
			best->fixed);
	if (s.counted && s.fewest)
		reason_add(reason, "fewest interrupts (%" PRIu64 ")", best->interrupts);
	else if (s.fewer)
		reason_add(reason, "fewest interrupts of its like (%" PRIu64 ")", best->interrupts);
	if (s.ranked)
		reason_add(reason, "ranked best by the firmware (%" PRIi64 ")", best->facts->rank);
	if (s.n_alike > 1)
		reason_add(reason, "the last of %zu alike", s.n_alike);
}

/* What the chosen CPUs have in common, or the worst of each. Loads are negative when unknown. */
struct common {
	size_t n_cores;
	size_t n_siblings;
	size_t n_of_kind[TOPOLOGY_N_KINDS];
	double busy;
	double sibling_busy;
	uint64_t interrupts;
	uint64_t fixed;
	bool counted; /* a candidate has interrupts */
	bool zero;
	bool packages;			  /* of several */
	const struct topology_cpu *facts; /* of the last one */
};

static struct common find_common(const struct choice *choice)
{
	struct common c = { .n_cores = choice->n, .busy = -1, .sibling_busy = -1 };

	for (size_t i = 0; i < choice->n_candidates; i++) {
		const struct candidate *candidate = &choice->candidates[i];

		c.counted = c.counted || candidate->interrupts > 0;
		if (!choice->chosen[i])
			continue;
		c.packages =
			c.packages || (c.facts && c.facts->package != candidate->facts->package);
		c.facts = candidate->facts;
		c.zero = c.zero || candidate->cpu == 0;
		c.n_of_kind[c.facts->kind]++;
		c.n_siblings += candidate->n_siblings;
		c.busy = MAX(c.busy, candidate->busy);
		c.sibling_busy = MAX(c.sibling_busy, candidate->sibling_busy);
		c.interrupts = MAX(c.interrupts, candidate->interrupts);
		c.fixed = MAX(c.fixed, candidate->fixed);
		for (size_t j = 0; j < i; j++) {
			if (choice->chosen[j] &&
				choice->candidates[j].facts->core == c.facts->core) {
				c.n_cores--;
				break;
			}
		}
	}
	return c;
}

/* "performance cores", or "2 on performance and 3 on efficiency cores". */
static void explain_kinds(struct reason *reason, const struct common *c)
{
	_cleanup_text_ struct text kinds = { 0 };
	const char *first = NULL;
	size_t n = 0;

	for (unsigned kind = TOPOLOGY_KIND_PERFORMANCE; kind < TOPOLOGY_N_KINDS; kind++) {
		const char *name = topology_kind_name((enum topology_kind)kind);

		if (c->n_of_kind[kind] == 0)
			continue;
		text_appendf(&kinds, "%s%zu on %s", n > 0 ? " and " : "", c->n_of_kind[kind], name);
		if (n++ == 0)
			first = name;
	}
	if (kinds.failed)
		reason->text.failed = true;
	else if (n > 0)
		reason_add(reason, "%s cores", n == 1 ? first : kinds.data);
}

static void explain_many(struct reason *reason, const struct choice *choice)
{
	struct common c = find_common(choice);

	if (choice->spread == SPREAD_LLC && c.facts->llc >= 0)
		reason_add(reason, "%zu cores of one last-level cache", c.n_cores);
	else if (choice->spread <= SPREAD_NODE && c.facts->node >= 0)
		reason_add(reason, "%zu cores of node %d", c.n_cores, c.facts->node);
	else if (choice->spread <= SPREAD_PACKAGE && c.facts->package >= 0)
		reason_add(reason, "%zu cores of package %d", c.n_cores, c.facts->package);
	else if (choice->spread == SPREAD_SHARED)
		reason_add(reason, "sharing %zu cores, for want of more", c.n_cores);
	else
		reason_add(
			reason, "%zu cores%s", c.n_cores, c.packages ? " of several packages" : "");
	reason_add(reason, c.zero ? "CPU 0 among them" : "not CPU 0");
	explain_kinds(reason, &c);
	if (c.busy >= 0 && busy_step(c.busy) == 0)
		reason_add(reason, "idle");
	else if (c.busy >= 0)
		reason_add(reason, "up to %d %% busy", percent(c.busy));
	if (c.n_siblings > 0 && choice->spread != SPREAD_SHARED && c.sibling_busy >= 0) {
		if (busy_step(c.sibling_busy) == 0)
			reason_add(reason, "siblings idle");
		else
			reason_add(reason, "siblings up to %d %% busy", percent(c.sibling_busy));
	}
	if (c.counted)
		reason_add(reason, "interrupts up to %" PRIu64, c.interrupts);
	if (c.fixed > 0)
		reason_add(reason, "up to %" PRIu64 " of them cannot be moved", c.fixed);
}

/* "CPU 5:" or "CPUs 2-3:" */
static void reason_begin(struct reason *reason, const struct cpumask *mask)
{
	_cleanup_free_ char *list = cpumask_format_list(mask);

	if (!list) {
		reason->text.failed = true;
		return;
	}
	text_appendf(&reason->text, "CPU%s %s:", cpumask_weight(mask) > 1 ? "s" : "", list);
}

/* Takes all isolated CPUs. */
static int take_isolated(
	const struct cpumask *isolated, unsigned n_busy, struct cpumask *ret, char **ret_reason)
{
	struct reason reason = { 0 };
	char *text;

	reason_begin(&reason, isolated);
	reason_add(&reason,
		cpumask_weight(isolated) > 1 ? "all isolated CPUs that are allowed here"
					     : "the isolated CPU that is allowed here");
	if (n_busy > 0)
		reason_add(&reason, "but %u that %s busy", n_busy, n_busy > 1 ? "are" : "is");
	text = text_steal(&reason.text);
	if (!text)
		return -ENOMEM;
	cpumask_assign(ret, isolated);
	*ret_reason = text;
	return 0;
}

/* Removes CPUs that are busy with somebody's programs, which were isolated for these. */
static unsigned remove_busy(const struct autochoice_input *input, struct cpumask *cpus)
{
	unsigned n = 0;

	cpumask_for_each (cpu, cpus) {
		if (busy_of(input, cpu) <= BUSY_LIMIT)
			continue;
		cpumask_clear(cpus, cpu);
		n++;
	}
	return n;
}

int autochoice_choose(const struct topology *topology, const struct autochoice_input *input,
	unsigned n, struct cpumask *ret, char **ret_reason)
{
	_cleanup_(cpumask) struct cpumask *usable = NULL, *isolated = NULL, *scratch = NULL;
	_cleanup_free_ struct candidate *candidates = NULL;
	_cleanup_free_ bool *chosen = NULL;
	struct choice choice = { .n = MAX(n, 1u) };
	struct reason reason = { 0 };
	unsigned n_isolated, n_busy;
	char *text;
	int r;

	if (cpumask_new(&usable) < 0 || cpumask_new(&isolated) < 0 || cpumask_new(&scratch) < 0)
		return -ENOMEM;
	cpumask_and(usable, topology->online, input->allowed);
	if (cpumask_is_empty(usable))
		return -ENODEV;
	if (choice.n > cpumask_weight(usable))
		return -ERANGE;
	if (input->isolated)
		cpumask_and(isolated, usable, input->isolated);
	cpumask_assign(scratch, isolated);
	n_busy = remove_busy(input, isolated);
	n_isolated = cpumask_weight(isolated);
	cpumask_andnot(scratch, scratch, isolated);
	cpumask_andnot(scratch, usable, scratch);
	if (cpumask_weight(scratch) >= choice.n)
		cpumask_assign(usable, scratch);
	if (n == 0 && n_isolated > 0)
		return take_isolated(isolated, n_busy, ret, ret_reason);
	if (n_isolated >= choice.n)
		cpumask_assign(usable, isolated);

	candidates = calloc(cpumask_weight(usable), sizeof(*candidates));
	chosen = calloc(cpumask_weight(usable), sizeof(*chosen));
	if (!candidates || !chosen)
		return -ENOMEM;
	choice.candidates = candidates;
	choice.chosen = chosen;
	cpumask_for_each (cpu, usable)
		candidates[choice.n_candidates++] = make_candidate(topology, input, cpu, scratch);
	qsort(candidates, choice.n_candidates, sizeof(*candidates), compare_candidates);
	if (input->spare_zero)
		spare_zero(&choice, scratch);
	r = choose(&choice);
	if (r < 0)
		return r;

	/* The usable CPUs are in `candidates` now; from here on the mask is the result. */
	cpumask_clear_all(usable);
	for (size_t i = 0; i < choice.n_candidates; i++) {
		if (chosen[i])
			(void)cpumask_set(usable, candidates[i].cpu);
	}
	reason_begin(&reason, usable);
	if (choice.n_candidates == choice.n && !choice.zero_left_out)
		reason_add(&reason, "the only %sCPU%s allowed here",
			n_isolated >= choice.n ? "isolated " : "", choice.n > 1 ? "s" : "");
	else if (n_isolated >= choice.n)
		reason_add(&reason, "isolated");
	else if (n_isolated > 0)
		reason_add(&reason, "%u isolated ones are too few", n_isolated);
	if (n_busy > 0)
		reason_add(&reason, "%u isolated one%s busy", n_busy, n_busy > 1 ? "s are" : " is");
	if (choice.n == 1)
		explain_one(&reason, topology, &choice, scratch);
	else
		explain_many(&reason, &choice);
	text = text_steal(&reason.text);
	if (!text)
		return -ENOMEM;
	cpumask_assign(ret, usable);
	*ret_reason = text;
	return 0;
}

/* Describes an error of autochoice_choose() that has a description; returns the error. */
static int explain_failure(const struct topology *topology, const struct cpumask *allowed,
	unsigned n, int error, char **ret_why)
{
	_cleanup_(cpumask) struct cpumask *usable = NULL;

	if (error == -ENODEV)
		return text_refuse(ret_why, error, "no CPU is both online and allowed here");
	if (error != -ERANGE)
		return error;
	if (cpumask_new(&usable) < 0)
		return -ENOMEM;
	cpumask_and(usable, topology->online, allowed);
	return text_refuse(ret_why, error, "only %u CPUs are online and allowed here, not %u",
		cpumask_weight(usable), n);
}

int autochoice_now(const struct topology *topology, const struct cpumask *allowed, bool spare_zero,
	unsigned n, struct cpumask *ret, char **ret_reason, char **ret_why)
{
	_cleanup_(isolation) struct isolation *isolation = NULL;
	_cleanup_(cpuload) struct cpuload *load = NULL;
	struct autochoice_input input;
	int r;

	r = isolation_read(&isolation);
	if (r == 0)
		r = cpuload_watch(topology, WATCH_NS, &load);
	if (r != 0)
		return r;
	input = (struct autochoice_input){
		.allowed = allowed,
		.isolated = isolation->isolated,
		.busy = load->busy,
		.interrupts = load->interrupts,
		.fixed = load->fixed,
		.n_cpus = load->n_cpus,
		.spare_zero = spare_zero,
	};
	r = autochoice_choose(topology, &input, n, ret, ret_reason);
	return explain_failure(topology, allowed, n, r, ret_why);
}

int autochoice_housekeeping(const struct topology *topology, const struct cpumask *allowed,
	const struct cpumask *benchmark, struct cpumask *ret)
{
	_cleanup_(cpumask) struct cpumask *rest = NULL, *siblings = NULL, *without_siblings = NULL;

	if (cpumask_new(&rest) < 0 || cpumask_new(&siblings) < 0)
		return -ENOMEM;
	cpumask_and(rest, topology->online, allowed);
	cpumask_andnot(rest, rest, benchmark);
	if (cpumask_is_empty(rest))
		return -ENODATA;
	if (cpumask_copy(rest, &without_siblings) < 0)
		return -ENOMEM;
	cpumask_for_each (cpu, benchmark) {
		topology_get_siblings(topology, cpu, siblings);
		cpumask_andnot(without_siblings, without_siblings, siblings);
	}
	cpumask_assign(ret, cpumask_is_empty(without_siblings) ? rest : without_siblings);
	return 0;
}
