// SPDX-License-Identifier: GPL-2.0-or-later
/* The interrupts of the CPUs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/file.h"
#include "basic/text.h"
#include "isol-check/cmdline.h"
#include "isol-check/subjects.h"
#include "machine/interrupts.h"
#include "machine/irqline.h"
#include "machine/netqueue.h"
#include "state/journal.h"

enum {
	ENVIRON_MAX = 1024 * 1024, /* of irqbalance */
	NAMES_MAX = 4,
	/* Interrupts of all kinds except the tick. Fewer cannot be distinguished from the
	 * interrupts that the measurement itself causes. */
	QUIET_PER_SECOND = 10,
};

/* Some of the lines that go to the checked CPUs. */
struct touching_lines {
	size_t n;
	unsigned first;
	struct text names; /* "27 (nvme0q3), 31", of the first NAMES_MAX */
};

/* The lines that go to the checked CPUs. */
struct irq_touching {
	struct touching_lines movable;
	struct touching_lines managed; /* cannot be moved: queues that the kernel manages */
	struct touching_lines fixed;   /* cannot be moved, and may be managed or not */
	size_t n_elsewhere; /* lines whose affinity allows a checked CPU, but that use others */
	size_t n_unread;    /* lines whose CPUs cannot be read */
	size_t n_untold;    /* lines of which it is not known whether they can be moved */
	unsigned first_unread;
	size_t n_lines;
	int error; /* of reading the lines */
};

void irq_touching_free(struct irq_touching *t)
{
	if (!t)
		return;
	text_clear(&t->movable.names);
	text_clear(&t->managed.names);
	text_clear(&t->fixed.names);
	free(t);
}

/* Reads the action of a line, if it has one that can be read. */
static int read_action(struct irqline *line)
{
	int r = line->action ? 0 : irqline_read_action(line->number, &line->action);

	return r == -ENOMEM ? r : 0;
}

static int add_touching_line(struct touching_lines *t, struct irqline *line)
{
	if (t->n == 0)
		t->first = line->number;
	if (++t->n > NAMES_MAX)
		return 0;
	if (read_action(line) < 0)
		return -ENOMEM;
	text_appendf(&t->names, "%s%u", t->n > 1 ? ", " : "", line->number);
	if (line->action)
		text_appendf(&t->names, " (%.40s)", line->action);
	return 0;
}

static int sort_line(struct host *host, const struct irqlines *lines, struct irqline *line,
	struct cpumask *scratch, struct irq_touching *t)
{
	int r;

	r = irqline_read_affinity(lines, line->number, scratch);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT)
		return 0;
	t->n_lines++;
	if (r == 0 && !cpumask_intersects(scratch, host_cpus(host)))
		return 0;
	if (r == 0)
		r = irqline_read_effective(lines, line->number, scratch);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && r != -ENOENT) {
		if (t->n_unread++ == 0)
			t->first_unread = line->number;
		return 0;
	}
	if (r == 0 && !cpumask_intersects(scratch, host_cpus(host))) {
		t->n_elsewhere++;
		return 0;
	}
	if (irqline_belongs_to_cpu(lines, line))
		return 0;
	r = irqline_is_fixed(lines, line);
	t->n_untold += r < 0;
	if (r <= 0)
		return add_touching_line(&t->movable, line);
	if (read_action(line) < 0)
		return -ENOMEM;
	return add_touching_line(
		line->action && irqline_is_managed_queue(line->action) ? &t->managed : &t->fixed,
		line);
}

static int sort_lines(struct host *host, struct irqlines *lines, struct irq_touching *t)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	int r;

	r = cpumask_new(&mask);
	/* Without /sys/kernel/irq, the names of all lines are read at once. On an old kernel they
	 * tell which lines cannot be moved. */
	if (r == 0 && (lines->old_kernel != 0 || access("/sys/kernel/irq", F_OK) < 0))
		r = irqlines_name(lines);
	for (size_t i = 0; r == 0 && i < lines->n; i++) {
		struct irqline *line = &lines->items[i];

		r = sort_line(host, lines, line, mask, t);
	}
	return r;
}

static int read_touching(struct host *host, struct irq_touching **ret)
{
	struct irq_touching *t = calloc(1, sizeof(*t));
	struct irqlines lines = { 0 };
	int r;

	if (!t)
		return -ENOMEM;
	r = irqlines_read(&lines);
	if (r == 0)
		r = sort_lines(host, &lines, t);
	irqlines_clear(&lines);
	if (r == -ENOMEM) {
		irq_touching_free(t);
		return r;
	}
	t->error = r;
	*ret = t;
	return 0;
}

/* Reads the lines at the first call. NULL, with a finding, if there are none. */
static const struct irq_touching *find_touching(struct host *host, struct finding *f)
{
	struct irq_touching **t = host_irq_touching(host);

	if (!*t && read_touching(host, t) < 0) {
		host_fail(host);
		return NULL;
	}
	if ((*t)->error < 0)
		finding_add(
			f, VERDICT_UNKNOWN, "/proc/irq cannot be read: %s", strerror(-(*t)->error));
	else if ((*t)->n_lines == 0)
		finding_add(f, VERDICT_UNKNOWN, "/proc/irq has no interrupts");
	else
		return *t;
	return NULL;
}

/* ", ..." to end a list that is not complete. */
static const char *and_more(const struct touching_lines *t)
{
	return t->n > NAMES_MAX ? ", ..." : "";
}

static void add_unread(struct finding *f, const struct irq_touching *t)
{
	if (t->n_unread == 0)
		return;
	finding_add(f, VERDICT_UNKNOWN, "where %zu of %zu go%s cannot be seen", t->n_unread,
		t->n_lines, t->n_unread == 1 ? "es" : "");
	finding_add_path(f, "/proc/irq/%u/smp_affinity_list", t->first_unread);
}

static void look_at_affinity(struct host *host, struct finding *f)
{
	const struct irq_touching *t = find_touching(host, f);

	if (!t)
		return;
	if (t->movable.n > 0) {
		finding_add(f, VERDICT_NOISE, "%zu go%s here: %s%s", t->movable.n,
			t->movable.n == 1 ? "es" : "", t->movable.names.data,
			and_more(&t->movable));
		finding_add_path(f, "/proc/irq/%u/effective_affinity_list", t->movable.first);
		finding_add_fix(f, "irq-steer -c %s", host_cpus_text(host));
	} else if (t->n_unread < t->n_lines) {
		finding_add(f, VERDICT_OK, "none that can be moved goes here");
	}
	if (t->n_elsewhere > 0)
		finding_add(
			f, VERDICT_INFO, "%zu may come here, and go elsewhere now", t->n_elsewhere);
	add_unread(f, t);
}

static void add_fixed(
	struct finding *f, enum verdict verdict, const struct touching_lines *t, const char *what)
{
	if (t->n == 0)
		return;
	finding_add(f, verdict, "%zu that %s: %s%s", t->n, what, t->names.data, and_more(t));
	finding_add_path(f, "/proc/irq/%u/smp_affinity_list", t->first);
}

static void look_at_managed(struct host *host, struct finding *f)
{
	const struct bootline *b = host_bootline(host);
	const struct irq_touching *t = find_touching(host, f);

	if (!t)
		return;
	if (b && b->managed_irq && cpumask_subset(host_cpus(host), b->isolcpus.cpus)) {
		add_fixed(f, VERDICT_OK, &t->managed,
			"the kernel manages, for requests from these CPUs only (managed_irq)");
		add_fixed(f, VERDICT_UNKNOWN, &t->fixed,
			"cannot be moved; whether managed_irq keeps them away cannot be seen");
	} else {
		add_fixed(f, VERDICT_RISK, &t->managed, "the kernel manages");
		add_fixed(f, VERDICT_RISK, &t->fixed, "cannot be moved");
		if (f->verdict == VERDICT_RISK)
			cmdline_advise(host, f);
	}
	if (t->managed.n + t->fixed.n == 0 && t->n_unread < t->n_lines)
		finding_add(f, VERDICT_OK, "none that cannot be moved goes here");
	if (t->n_untold > 0) {
		finding_add(f, VERDICT_UNKNOWN, "whether %zu more can be moved cannot be seen",
			t->n_untold);
		finding_add_path(f, "/proc/sys/kernel/osrelease");
	}
	add_unread(f, t);
}

static void look_at_default(struct host *host, struct finding *f)
{
	_cleanup_free_ char *list = NULL;
	int r = finding_add_mask(f, host, IRQLINE_DEFAULT_AFFINITY, &list);

	if (r < 0)
		return;
	if (r == 0) {
		finding_add(f, VERDICT_OK, "interrupts that are set up later stay away");
		return;
	}
	finding_add(f, VERDICT_RISK, "interrupts that are set up later may go to %s", list);
	finding_add_fix(f, "irq-steer -c %s", host_cpus_text(host));
}

/* Which CPUs the environment of irqbalance bans, in place of those that it bans by default: 1, 0
 * where it says nothing of that, or the errno of reading it, which only root and its owner can
 * (irqbalance 1.9: cputree.c: setup_banned_cpus()). What irqbalance cannot parse bans nothing. */
static int read_own_ban(struct host *host, const struct task *irqbalance, struct cpumask *ret)
{
	static const char list[] = "IRQBALANCE_BANNED_CPULIST=", mask[] = "IRQBALANCE_BANNED_CPUS=";
	const char *of_list = NULL, *of_mask = NULL;
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t length;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/environ", irqbalance->pid);
	r = file_read_all(path, ENVIRON_MAX, &text, &length);
	if (r < 0)
		return r;
	for (const char *at = text; at < text + length; at += strlen(at) + 1) {
		if (text_starts_with(at, list))
			of_list = at + strlen(list);
		else if (text_starts_with(at, mask))
			of_mask = at + strlen(mask);
	}
	if (!of_list && !of_mask)
		return 0;
	cpumask_clear_all(ret);
	r = of_list ? cpumask_parse_list(of_list, 0, ret, NULL) : cpumask_parse_hex(of_mask, ret);
	if (r == -ENOMEM)
		host_fail(host);
	return 1;
}

/* Whether irqbalance leaves the CPUs alone by default: it bans CPUs that are isolated at boot or
 * have no tick, but does not know partitions (irqbalance 1.9: cputree.c). */
static bool bans_by_default(struct host *host, struct cpumask *scratch)
{
	const struct isolation *isolation = host_isolation(host);

	if (!isolation)
		return false;
	cpumask_or(scratch, isolation->boot, isolation->nohz_full);
	return cpumask_subset(host_cpus(host), scratch);
}

/* Whether irq-steer has banned the CPUs in irqbalance, according to the journal of irq-steer.
 * Asking irqbalance would need root, and could take long. *ret_lasts: also in each irqbalance that
 * systemd starts from now on. */
static bool is_banned_by_us(struct host *host, struct cpumask *scratch, bool *ret_lasts)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	const struct journal_entry *entry;
	int r;

	r = journal_read("irq-steer", &journal, &why);
	if (r == -ENOMEM)
		host_fail(host);
	if (r < 0)
		return false;
	*ret_lasts = journal_find(journal, "dropin:irqbalance.service");
	entry = journal_find(journal, "irqbalance:banned");
	return entry && entry->new &&cpumask_parse_hex(entry->new, scratch) == 0 &&
		cpumask_subset(host_cpus(host), scratch);
}

/* Whether this irqbalance was started after irq-steer last wrote its journal: then it does not know
 * what irq-steer told an earlier irqbalance. */
static bool is_newer_than_ban(struct host *host, const struct task *process)
{
	_cleanup_free_ char *path = journal_format_path("irq-steer");
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	int64_t written_ns;
	struct stat st;

	if (!path)
		host_fail(host);
	if (!path || stat(path, &st) < 0)
		return false;
	written_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec -
		clock_now_ns(CLOCK_REALTIME) + clock_now_ns(CLOCK_BOOTTIME);
	return (int64_t)(process->start * tick_ns) > written_ns;
}

static void look_at_irqbalance(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *banned = host_new_mask(host);
	const struct task *irqbalance = host_find_process(host, "irqbalance");
	bool lasts = false;
	int own;

	if (!banned)
		return;
	if (!irqbalance) {
		if (!host_tasks(host))
			finding_add_no_tasks(f, host);
		else if (!host_sees_all_tasks(host))
			finding_add_few_tasks(f);
		else
			finding_add(f, VERDICT_OK, "does not run");
		return;
	}
	own = read_own_ban(host, irqbalance, banned);
	if (own > 0 && cpumask_subset(host_cpus(host), banned)) {
		finding_add(f, VERDICT_OK, "runs, and its environment bans these");
		return;
	}
	if (own <= 0 && bans_by_default(host, banned)) {
		if (own == 0) {
			finding_add(
				f, VERDICT_OK, "runs, and leaves isolated CPUs alone by itself");
			return;
		}
		finding_add_path(f, "/proc/%d/environ", irqbalance->pid);
		finding_add(f, VERDICT_UNKNOWN,
			"runs, and leaves isolated CPUs alone if its environment says nothing else");
		return;
	}
	finding_add_path(f, "/proc/%d", irqbalance->pid);
	if (!is_banned_by_us(host, banned, &lasts)) {
		finding_add(f, VERDICT_RISK, "runs (process %d), and may bring interrupts here",
			irqbalance->pid);
	} else if (!lasts && is_newer_than_ban(host, irqbalance)) {
		finding_add(f, VERDICT_RISK,
			"runs (process %d), and is not the one that irq-steer told to leave these alone",
			irqbalance->pid);
	} else {
		finding_add(f, VERDICT_OK, "runs, and irq-steer told it to leave these alone");
		return;
	}
	finding_add_fix(f, "irq-steer -c %s", host_cpus_text(host));
}

/* --- Packets. --- */

/* Recordings are made without network cards, whose names may tell whose they are. */
static void look_at_rps(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask(host);
	struct netqueues queues = { 0 };
	size_t n = 0, n_unread = 0;
	int r;

	if (!mask)
		return;
	if (host_options(host)->recorded && access("/sys/class/net", F_OK) < 0) {
		finding_add(f, VERDICT_UNKNOWN, "a recorded machine does not tell");
		return;
	}
	r = netqueues_read("rx-*", "rps_cpus", &queues);
	if (r == -ENOMEM)
		host_fail(host);
	if (r < 0) {
		finding_add(f, VERDICT_UNKNOWN, "the queues of network cards cannot be read");
		return;
	}
	for (size_t i = 0; i < queues.n; i++) {
		const struct netqueue *queue = &queues.items[i];
		char text[FILE_ATTR_SIZE];

		if (host_read(queue->path, text) < 0 || cpumask_parse_hex(text, mask) < 0) {
			n_unread++;
			continue;
		}
		if (!cpumask_intersects(mask, host_cpus(host)) || n++ > 0)
			continue;
		finding_add(f, VERDICT_RISK, "packets of %s are handed to these CPUs", queue->name);
		finding_add_path(f, "%s", queue->path);
		finding_add_fix(f, "irq-steer -c %s", host_cpus_text(host));
	}
	if (n > 1)
		finding_add(f, VERDICT_RISK, "and of %zu more queues", n - 1);
	if (n_unread > 0)
		finding_add(f, VERDICT_UNKNOWN, "%zu queues cannot be read", n_unread);
	if (n == 0 && n_unread == 0)
		finding_add(f, VERDICT_OK, "no packets are handed to these CPUs");
	netqueues_clear(&queues);
}

/* --- Rates. --- */

struct rates {
	uint64_t of_class[INTERRUPT_OTHER + 1];
	/* The most frequent line, without the tick. */
	const char *busiest;
	uint64_t busiest_delta;
};

static void sum_up(const struct interrupts *interrupts, struct rates *rates)
{
	struct interrupt_delta delta;
	size_t cursor = 0;

	while (interrupts_diff(interrupts, &cursor, &delta)) {
		rates->of_class[delta.class] += delta.delta;
		if (delta.class != INTERRUPT_TIMER && delta.delta > rates->busiest_delta) {
			rates->busiest = delta.name;
			rates->busiest_delta = delta.delta;
		}
	}
}

static double per_second(uint64_t n, int64_t ns)
{
	return (double)n * NSEC_PER_SEC / (double)ns;
}

static void look_at_rate(struct host *host, struct finding *f)
{
	int64_t ns = host_watched_ns(host);
	const struct interrupts *interrupts;
	struct rates rates = { 0 };
	double devices, others;
	int cpu;

	if (host_options(host)->watch_ns == 0) {
		finding_add_not_watched(f, host);
		return;
	}
	interrupts = host_watched_interrupts(host, &cpu);
	if (!interrupts || ns <= 0 || !interrupts_comparable(interrupts))
		return;
	sum_up(interrupts, &rates);
	devices = per_second(rates.of_class[INTERRUPT_DEVICE], ns);
	others = per_second(rates.of_class[INTERRUPT_IPI] + rates.of_class[INTERRUPT_THERMAL] +
			rates.of_class[INTERRUPT_OTHER],
		ns);
	finding_add_path(f, "/proc/interrupts");
	finding_add(f, devices + others >= QUIET_PER_SECOND ? VERDICT_NOISE : VERDICT_OK,
		"CPU %d, a second: %.0f of devices, %.0f of the kernel, %.0f ticks", cpu, devices,
		others, per_second(rates.of_class[INTERRUPT_TIMER], ns));
	finding_set_worst_cpu(f, host, cpu);
	if (f->verdict != VERDICT_NOISE)
		return;
	if (rates.busiest)
		finding_add(f, VERDICT_NOISE, "most: %.60s", rates.busiest);
	if (devices >= 1)
		finding_add_fix(f, "irq-steer -c %s", host_cpus_text(host));
	else
		finding_add_fix(f, "cpu-shield -c %s", host_cpus_text(host));
}

const struct check interrupts_checks[] = {
	{ "irq-affinity", look_at_affinity,
		"Interrupts of devices that go to these CPUs and could go to others. Each takes\n"
		"some microseconds, and more with the softirq after it, and replaces a part of\n"
		"what is in the caches; a busy network card or disk sends thousands a second.\n"
		"Judged by the effective affinity, where the interrupt chip has one.\n"
		"Source: Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c." },
	{ "irq-managed", look_at_managed,
		"Interrupts of devices that nobody can move, such as those that the kernel\n"
		"manages itself: the queues of NVMe disks, one for each CPU. With\n"
		"isolcpus=managed_irq on the boot line such a queue interrupts an isolated CPU\n"
		"only for work that was submitted there; without it, also for work of other CPUs\n"
		"in its mask. Of the lines that cannot be moved, only the queues of NVMe and\n"
		"virtio disks are known, by their names, to be such. Kernels before 6.12 do not\n"
		"show which lines cannot be moved: there only these queues count as unmovable,\n"
		"others as `irq-affinity`, and irq-steer says which it could not move.\n"
		"Source: Documentation/admin-guide/kernel-parameters.txt (isolcpus);\n"
		"kernel/irq/proc.c." },
	{ "irq-default", look_at_default,
		"The affinity of interrupts that are set up later: when a driver is loaded, a\n"
		"network card is brought up, or a disk is plugged in.\n"
		"Source: Documentation/core-api/irq/irq-affinity.rst." },
	{ "rps", look_at_rps,
		"Receive packet steering (RPS) hands packets that a network card has received,\n"
		"or that programs of this machine have sent each other, to the CPUs of a mask\n"
		"for their work in the network stack: a message to that CPU and some\n"
		"microseconds each. Of this network namespace.\n"
		"Source: Documentation/networking/scaling.rst." },
	{ "irqbalance", look_at_irqbalance,
		"irqbalance spreads interrupts over all CPUs every ten seconds, and so undoes\n"
		"affinities that others have set. By default it leaves CPUs alone that were\n"
		"isolated at boot or have no tick (nohz_full); it does not know isolated\n"
		"partitions. irq-steer bans CPUs over the socket of irqbalance. Bans by others\n"
		"(IRQBALANCE_BANNED_CPULIST) are seen where its environment can be read.\n"
		"Source: irqbalance(1); cputree.c of irqbalance 1.9.",
		.of_tasks = true },
	{ "irq-rate", look_at_rate,
		"How many interrupts a CPU really took, from two readings of /proc/interrupts\n"
		"(--watch); of several CPUs, the one that took most. The tick is shown\n"
		"separately: an idle CPU has few, a busy one CONFIG_HZ a second. Interrupts of\n"
		"the kernel are those that one CPU sends to another: to wake a task, to flush a\n"
		"TLB. Ten a second and more, without ticks, count as noise.\n"
		"Source: Documentation/filesystems/proc.rst (interrupts)." },
	{ 0 },
};
