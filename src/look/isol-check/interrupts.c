// SPDX-License-Identifier: GPL-2.0-or-later
/* The interrupts of the CPUs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/interrupts.h"
#include "base/machine/irqline.h"
#include "base/machine/netqueue.h"
#include "base/text.h"
#include "look/isol-check/cmdline.h"
#include "look/isol-check/subjects.h"
#include "look/isol-check/touching.h"
#include "quiet/engine/journal.h"

enum {
	ENVIRON_MAX = 1024 * 1024, /* of irqbalance */
	/* Interrupts of all kinds except the tick. Fewer cannot be distinguished from the
	 * interrupts that the measurement itself causes. */
	QUIET_PER_SECOND = 10,
};

/* NULL, with a finding, if there are no lines. */
static const struct touching *find_touching(struct host *host, struct finding *f)
{
	const struct touching *t = host_touching(host);

	if (t->error < 0)
		finding_add(
			f, VERDICT_UNKNOWN, "/proc/irq cannot be read: %s", strerror(-t->error));
	else if (t->n_lines == 0)
		finding_add(f, VERDICT_UNKNOWN, "/proc/irq has no interrupts");
	else
		return t;
	return NULL;
}

/* ", ..." to end a list that is not complete. */
static const char *and_more(const struct touching_lines *t)
{
	return t->n > TOUCHING_NAMES_MAX ? ", ..." : "";
}

static void add_unread(struct finding *f, const struct touching *t)
{
	if (t->n_unread == 0)
		return;
	finding_add(f, VERDICT_UNKNOWN, "where %zu of %zu go%s cannot be seen", t->n_unread,
		t->n_lines, t->n_unread == 1 ? "es" : "");
	finding_add_path(f, "/proc/irq/%u/smp_affinity_list", t->first_unread);
}

static void look_at_affinity(struct host *host, struct finding *f)
{
	const struct touching *t = find_touching(host, f);

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
	const struct touching *t = find_touching(host, f);

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
static int read_own_ban(const struct task *irqbalance, struct cpumask *ret)
{
	static const char list[] = "IRQBALANCE_BANNED_CPULIST=", mask[] = "IRQBALANCE_BANNED_CPUS=";
	const char *of_list = NULL, *of_mask = NULL;
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t length;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/environ", irqbalance->pid);
	r = xcheck(file_read_all(path, ENVIRON_MAX, &text, &length));
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
	(void)xcheck(of_list ? cpumask_parse_list(of_list, 0, ret, NULL)
			     : cpumask_parse_hex(of_mask, ret));
	return 1;
}

/* Whether irqbalance leaves the CPUs alone by default: it bans CPUs that are isolated at boot or
 * have no tick, but does not know partitions (irqbalance 1.9: cputree.c). */
static bool bans_by_default(struct host *host, struct cpumask *scratch)
{
	const struct isolation *isolation = host_isolation(host);

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

	if (xcheck(journal_read("irq-steer", &journal, &why)) < 0)
		return false;
	*ret_lasts = journal_find(journal, "dropin:irqbalance.service");
	entry = journal_find(journal, "irqbalance:banned");
	return entry && entry->new &&xcheck(cpumask_parse_hex(entry->new, scratch)) == 0 &&
		cpumask_subset(host_cpus(host), scratch);
}

/* Whether this irqbalance was started after irq-steer last wrote its journal: then it does not know
 * what irq-steer told an earlier irqbalance. */
static bool is_newer_than_ban(const struct task *process)
{
	_cleanup_free_ char *path = xptr(journal_format_path("irq-steer"));
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	int64_t written_ns;
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	written_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec -
		clock_now_ns(CLOCK_REALTIME) + clock_now_ns(CLOCK_BOOTTIME);
	return (int64_t)(process->start * tick_ns) > written_ns;
}

static void look_at_irqbalance(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *banned = host_new_mask();
	const struct task *irqbalance = host_find_process(host, "irqbalance");
	bool lasts = false;
	int own;

	if (!irqbalance) {
		if (!host_tasks(host))
			finding_add_no_tasks(f, host);
		else if (!host_sees_all_tasks(host))
			finding_add_few_tasks(f);
		else
			finding_add(f, VERDICT_OK, "does not run");
		return;
	}
	own = read_own_ban(irqbalance, banned);
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
	} else if (!lasts && is_newer_than_ban(irqbalance)) {
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
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask();
	struct netqueues queues = { 0 };
	size_t n = 0, n_unread = 0;

	if (host_options(host)->recorded && access("/sys/class/net", F_OK) < 0) {
		finding_add(f, VERDICT_UNKNOWN, "a recorded machine does not tell");
		return;
	}
	if (xcheck(netqueues_read("rx-*", "rps_cpus", &queues)) < 0) {
		finding_add(f, VERDICT_UNKNOWN, "the queues of network cards cannot be read");
		return;
	}
	for (size_t i = 0; i < queues.n; i++) {
		const struct netqueue *queue = &queues.items[i];
		char text[FILE_ATTR_SIZE];

		if (host_read(queue->path, text) < 0 || xcheck(cpumask_parse_hex(text, mask)) < 0) {
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
