// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's own work. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/swap.h"
#include "base/parse.h"
#include "base/paths.h"
#include "base/text.h"
#include "look/isol-check/subjects.h"

#define WORKQUEUES "/sys/devices/virtual/workqueue"
#define MM "/sys/kernel/mm"
#define THP MM "/transparent_hugepage"
#define KSM_RUN MM "/ksm/run"
#define SYSCTL "/proc/sys/kernel"
#define CPU_DIR "/sys/devices/system/cpu"

/* Adds the path, and reads its number. False, without another finding, where there is none. */
static bool read_number(struct finding *f, const char *path, int64_t *ret)
{
	char text[FILE_ATTR_SIZE];

	finding_add_path(f, "%s", path);
	return host_read(path, text) >= 0 && parse_attr_s64(text, ret) == 0;
}

/* Whether this kernel does not have the knob. Not known if its directory does not exist either. */
static bool is_absent(const struct host *host, const char *path, const char *directory)
{
	char text[FILE_ATTR_SIZE];

	return host_is_whole(host) && host_read(path, text) == -ENOENT &&
		access(directory, F_OK) == 0;
}

static void advise_noise_off(struct host *host, struct finding *f, const char *name, bool with_cpus)
{
	if (with_cpus)
		finding_add_fix(f, "noise-off -c %s --only %s", host_cpus_text(host), name);
	else
		finding_add_fix(f, "noise-off --only %s", name);
}

/* --- Masks. --- */

static void look_at_mask(
	struct host *host, struct finding *f, const char *path, const char *what, const char *name)
{
	_cleanup_free_ char *list = NULL;
	int r = finding_add_mask(f, host, path, &list);

	if (r < 0)
		return;
	if (r == 0) {
		finding_add(f, VERDICT_OK, "%s runs on other CPUs", what);
		return;
	}
	finding_add(f, VERDICT_NOISE, "%s may run on %s", what, list);
	advise_noise_off(host, f, name, true);
}

static void look_at_workqueue(struct host *host, struct finding *f)
{
	look_at_mask(host, f, WORKQUEUES "/cpumask", "unbound kernel work", "workqueue");
}

static void look_at_writeback(struct host *host, struct finding *f)
{
	look_at_mask(
		host, f, WORKQUEUES "/writeback/cpumask", "writing of dirty pages", "writeback");
}

/* --- Watchdogs and timers. --- */

static void look_at_watchdogs(struct host *host, struct finding *f)
{
	static const char nmi_path[] = SYSCTL "/nmi_watchdog",
			  soft_path[] = SYSCTL "/soft_watchdog";
	static const char mask_path[] = SYSCTL "/watchdog_cpumask";
	_cleanup_(cpumask) struct cpumask *mask = host_new_mask();
	int64_t nmi = 0, soft = 0;
	int r;

	/* A kernel may be built without one of the two watchdogs. */
	if (!is_absent(host, nmi_path, SYSCTL) && !read_number(f, nmi_path, &nmi))
		return;
	if (!is_absent(host, soft_path, SYSCTL) && !read_number(f, soft_path, &soft)) {
		finding_add(f, VERDICT_UNKNOWN, "it is not known whether the soft watchdog runs");
		return;
	}
	if (nmi == 0 && soft == 0) {
		finding_add(f, VERDICT_OK, "off");
		return;
	}
	/* Before Linux 4.3 there was no such file, and watchdogs ran on all CPUs. */
	r = xcheck(cpumask_read_list(AT_FDCWD, mask_path, mask));
	finding_add_path(f, "%s", mask_path);
	if (r == 0 && !cpumask_intersects(mask, host_cpus(host))) {
		finding_add(f, VERDICT_OK, "on, but not on these CPUs");
		return;
	}
	if (r < 0 && !is_absent(host, mask_path, SYSCTL)) {
		finding_add(f, VERDICT_UNKNOWN, "on; on which CPUs cannot be seen");
		return;
	}
	if (nmi != 0)
		finding_add(f, VERDICT_NOISE, "the NMI watchdog takes a hardware counter");
	if (soft != 0)
		finding_add(f, VERDICT_NOISE, "the soft watchdog runs every few seconds");
	advise_noise_off(
		host, f, nmi != 0 ? "watchdog_cpumask,nmi_watchdog" : "watchdog_cpumask", true);
}

/* Whether this kernel has at least that release and leaves these CPUs out because they are
 * isolated: 1 or 0. -ENODATA where this is unknown; *ret_path is then the file that does not tell
 * it. */
static int are_left_out(struct host *host, const struct isolation *isolation, uint64_t since_major,
	uint64_t since_minor, const char **ret_path)
{
	bool isolated = cpumask_subset(host_cpus(host), isolation->isolated);
	int r;

	if (!isolated && isolation->isolated_error == 0)
		return 0;
	r = host_is_since(host, since_major, since_minor);
	if (r < 0)
		*ret_path = SYSCTL "/osrelease";
	if (r <= 0)
		return r;
	*ret_path = CPU_DIR "/isolated";
	return isolated ? 1 : -ENODATA;
}

static void look_at_timers(struct host *host, struct finding *f)
{
	static const char path[] = SYSCTL "/timer_migration";
	const struct isolation *isolation = host_isolation(host);
	const char *unread = NULL;
	int64_t value;
	int left_out, of_few;

	if (!read_number(f, path, &value))
		return;
	left_out = are_left_out(host, isolation, 7, 0, &unread);
	of_few = host_is_since(host, 6, 9);
	if (left_out > 0) {
		finding_add(f, VERDICT_OK, "this kernel leaves isolated CPUs out");
	} else if (of_few > 0 && left_out == 0) {
		finding_add(f, VERDICT_INFO,
			"timers of idle CPUs may be handed to these, whatever that file says");
	} else if (value == 0 && of_few == 0) {
		finding_add(f, VERDICT_OK, "timers stay where they were armed");
	} else if (value == 0 && of_few < 0) {
		finding_add(f, VERDICT_UNKNOWN,
			"timers stay where they were armed if the kernel is older than 6.9, which "
			"is not told");
		finding_add_path(f, SYSCTL "/osrelease");
	} else if (left_out < 0) {
		finding_add(f, VERDICT_UNKNOWN,
			"timers of idle CPUs may be handed to these, unless these CPUs are "
			"isolated and the kernel is 7.0 or newer, which is not told");
		finding_add_path(f, "%s", unread);
	} else {
		finding_add(f, VERDICT_RISK, "timers of idle CPUs may be handed to these");
		advise_noise_off(host, f, "timer_migration", false);
	}
}

static void look_at_statistics(struct host *host, struct finding *f)
{
	enum {
		OFTEN = 10
	};
	const struct isolation *isolation = host_isolation(host);
	const char *unread;
	int64_t seconds;
	int r;

	if (!read_number(f, "/proc/sys/vm/stat_interval", &seconds))
		return;
	r = are_left_out(host, isolation, 6, 12, &unread);
	if (r > 0) {
		finding_add(f, VERDICT_OK, "this kernel leaves isolated CPUs out");
		return;
	}
	if (r < 0 && seconds < OFTEN) {
		finding_add(f, VERDICT_UNKNOWN,
			"every %" PRId64
			" s, unless these CPUs are isolated and the kernel is 6.12 "
			"or newer, which is not told",
			seconds);
		finding_add_path(f, "%s", unread);
		return;
	}
	finding_add(f, seconds < OFTEN ? VERDICT_NOISE : VERDICT_OK,
		"memory is counted up every %" PRId64 " s", seconds);
	if (seconds < OFTEN)
		advise_noise_off(host, f, "stat_interval", false);
}

static void look_at_realtime(struct host *host, struct finding *f)
{
	int64_t runtime;

	if (!read_number(f, SYSCTL "/sched_rt_runtime_us", &runtime))
		return;
	if (host_is_since(host, 6, 12) > 0)
		finding_add(f, VERDICT_INFO,
			"real-time tasks leave 5 %% of the CPU to others that wait");
	else if (runtime < 0)
		finding_add(f, VERDICT_INFO, "real-time tasks are never held back");
	else
		finding_add(f, VERDICT_INFO,
			"real-time tasks get %" PRId64 " us of a period (runpinned --fifo)",
			runtime);
}

/* --- Memory. --- */

/* The chosen word of "always [madvise] never"; false if it is not one of `words`. */
static bool read_choice(const char *path, const char *words, char choice[FILE_ATTR_SIZE])
{
	if (host_read(path, choice) < 0)
		return false;
	text_pick_choice(choice);
	return text_has_word(words, choice, " ");
}

enum thp {
	THP_NONE, /* no size of huge pages was seen */
	THP_NEVER,
	THP_MADVISE,
	THP_ALWAYS,
};

static enum thp rank_thp(const char *word)
{
	if (strcmp(word, "always") == 0)
		return THP_ALWAYS;
	return strcmp(word, "madvise") == 0 ? THP_MADVISE : THP_NEVER;
}

/*
 * The strongest setting among the sizes of huge pages. From 6.8 on each size has its own switch,
 * and the common switch, `all`, holds only for sizes with `inherit`. *ret_path: the switch of the
 * size that decides, malloc'd; NULL for the common switch.
 */
static enum thp look_at_thp_sizes(struct finding *f, enum thp all, char **ret_path)
{
	static const char words[] = "always inherit madvise never";
	enum thp most = THP_NONE;
	const char *path = NULL;
	_cleanup_paths_ struct paths found = { 0 };
	int r;

	*ret_path = NULL;
	/* Sizes that only shared memory has, such as 8 KiB on x86, have no such file. */
	r = xcheck(paths_list(THP, "hugepages-*", "enabled", &found));
	if (r < 0 && r != -ENOENT)
		finding_add(f, VERDICT_UNKNOWN, "the sizes of huge pages cannot be read");
	if (found.n == 0)
		return all;
	for (size_t i = 0; i < found.n; i++) {
		char word[FILE_ATTR_SIZE];
		bool inherits;

		if (!read_choice(found.items[i], words, word)) {
			finding_add(f, VERDICT_UNKNOWN, "the setting of one size cannot be read");
			finding_add_path(f, "%s", found.items[i]);
			continue;
		}
		inherits = strcmp(word, "inherit") == 0;
		if ((inherits ? all : rank_thp(word)) <= most)
			continue;
		most = inherits ? all : rank_thp(word);
		path = inherits ? NULL : found.items[i];
	}
	if (path)
		*ret_path = xptr(strdup(path));
	return most;
}

static void look_at_thp(struct host *host, struct finding *f)
{
	static const char thp_words[] = "always madvise never";
	static const char defrag_words[] = "always defer defer+madvise madvise never";
	static const char *const shown[] = {
		[THP_NEVER] = "never", [THP_MADVISE] = "madvise", [THP_ALWAYS] = "always"
	};
	char enabled[FILE_ATTR_SIZE], defrag[FILE_ATTR_SIZE], of[64] = "";
	_cleanup_free_ char *path = NULL;
	enum thp most;

	if (is_absent(host, THP "/enabled", MM)) {
		finding_add(f, VERDICT_OK, "this kernel has none");
		return;
	}
	finding_add_path(f, THP "/enabled");
	if (!read_choice(THP "/enabled", thp_words, enabled))
		return;
	most = look_at_thp_sizes(f, rank_thp(enabled), &path);
	if (most == THP_NONE)
		return;
	if (path) {
		const char *size = path + strlen(THP "/hugepages-");

		snprintf(of, sizeof(of), " for pages of %.*s", (int)strcspn(size, "/"), size);
		finding_add_path(f, "%s", path);
	}
	if (most == THP_MADVISE && !read_choice(THP "/defrag", defrag_words, defrag)) {
		finding_add(
			f, VERDICT_UNKNOWN, "madvise%s; defrag, and so the cost, is not known", of);
		finding_add_path(f, THP "/defrag");
		return;
	}
	if (most == THP_ALWAYS) {
		finding_add(f, VERDICT_RISK, "always%s: whether a run gets huge pages is luck", of);
		advise_noise_off(host, f, "thp", false);
	} else if (most == THP_MADVISE && strcmp(defrag, "always") == 0) {
		finding_add(f, VERDICT_RISK, "madvise%s, but defrag always", of);
		finding_add_path(f, THP "/defrag");
		advise_noise_off(host, f, "thp", false);
	} else {
		finding_add(f, VERDICT_OK, "%s%s", shown[most], of);
	}
}

static void look_at_ksm(struct host *host, struct finding *f)
{
	int64_t run;

	if (is_absent(host, KSM_RUN, MM)) {
		finding_add(f, VERDICT_OK, "this kernel has none");
		return;
	}
	if (!read_number(f, KSM_RUN, &run))
		return;
	if (run == 1) {
		finding_add(f, VERDICT_NOISE, "ksmd scans and merges pages");
		advise_noise_off(host, f, "ksm", false);
	} else {
		finding_add(f, VERDICT_OK, run == 0 ? "stopped" : "stopped, nothing is merged");
	}
}

static void look_at_numa(struct host *host, struct finding *f)
{
	static const char path[] = SYSCTL "/numa_balancing";
	int64_t value;

	if (is_absent(host, path, SYSCTL)) {
		finding_add(f, VERDICT_OK, "this kernel has none");
		return;
	}
	if (!read_number(f, path, &value))
		return;
	if (value == 0) {
		finding_add(f, VERDICT_OK, "off");
		return;
	}
	finding_add(f, VERDICT_NOISE, "on (%" PRId64 "): page faults are made to watch accesses",
		value);
	advise_noise_off(host, f, "numa_balancing", false);
}

static void look_at_swap(struct host *host, struct finding *f)
{
	uint64_t size, used;
	int r = xcheck(swap_read(&size, &used));

	finding_add_path(f, "/proc/swaps");
	if (r < 0)
		return;
	if (r == 0) {
		finding_add(f, VERDICT_OK, "there is none");
		return;
	}
	if (used == 0) {
		finding_add(f, VERDICT_OK, "not in use");
		return;
	}
	finding_add(f, VERDICT_RISK, "%" PRIu64 " of %" PRIu64 " MiB in use: a run may wait for it",
		(used + 1023) / 1024, size / 1024);
	/* The advice is not swapoff and swapon, which would lose areas that are not in fstab(5). */
	advise_noise_off(host, f, "swap", false);
}

static void look_at_aslr(struct host *host _unused_, struct finding *f)
{
	int64_t value;

	if (!read_number(f, SYSCTL "/randomize_va_space", &value))
		return;
	if (value != 0) {
		finding_add(
			f, VERDICT_INFO, "on (%" PRId64 "): another layout in each process", value);
		return;
	}
	finding_add(f, VERDICT_RISK, "off: all runs have one layout, which may be a lucky one");
	finding_add_fix(f, "sysctl kernel.randomize_va_space=2");
}

/* --- perf. --- */

static void look_at_sampling(struct host *host _unused_, struct finding *f)
{
	int64_t rate, percent = -1;

	if (!read_number(f, SYSCTL "/perf_event_max_sample_rate", &rate))
		return;
	finding_add(f, VERDICT_INFO, "a profiler may take %" PRId64 " samples a second", rate);
	if (read_number(f, SYSCTL "/perf_cpu_time_max_percent", &percent) &&
		(percent == 0 || percent == 100))
		finding_add(f, VERDICT_INFO, "however long that takes");
}

static void look_at_paranoid(struct host *host _unused_, struct finding *f)
{
	enum {
		WITHOUT_KERNEL = 2
	};
	int64_t value;

	if (!read_number(f, SYSCTL "/perf_event_paranoid", &value))
		return;
	if (value <= WITHOUT_KERNEL) {
		finding_add(f, VERDICT_OK, "%" PRId64 ": lets everybody have the kernel's stamps",
			value);
		return;
	}
	finding_add(f, VERDICT_INFO, "%" PRId64 ": only root gets the kernel's time stamps", value);
	finding_add_fix(f, "sysctl kernel.perf_event_paranoid=2");
}

const struct check kernel_checks[] = {
	{ "workqueue", look_at_workqueue,
		"Deferred work of the kernel that is bound to no CPU is done by threads\n"
		"(kworker/u) on the CPUs of this mask: microseconds to milliseconds each time.\n"
		"Source: Documentation/core-api/workqueue.rst." },
	{ "writeback", look_at_writeback,
		"Workers with a mask of their own write dirty pages to disk: for milliseconds at\n"
		"a time, after any program has written much.\n"
		"Source: Documentation/core-api/workqueue.rst; mm/backing-dev.c." },
	{ "watchdogs", look_at_watchdogs,
		"The NMI watchdog occupies one hardware counter, which a profiler and `runpinned\n"
		"-e` then lack, and interrupts a busy CPU about every ten seconds. The soft\n"
		"watchdog wakes a thread of highest priority on each CPU every four seconds.\n"
		"Both run only on the CPUs of watchdog_cpumask.\n"
		"Source: Documentation/admin-guide/lockup-watchdogs.rst." },
	{ "timer-migration", look_at_timers,
		"A CPU that becomes idle hands its timers to a busy one. The CPU of a benchmark\n"
		"is busy, so it gets them, and runs work of others. timer_migration=0 prevents\n"
		"that up to 6.8; since then it holds for high-resolution timers alone. From 7.0\n"
		"on isolated CPUs are left out.\n"
		"Source: kernel/time/timer_migration.c;\n"
		"Documentation/admin-guide/sysctl/kernel.rst." },
	{ "vmstat", look_at_statistics,
		"Each CPU adds up its memory statistics every vm.stat_interval seconds, for some\n"
		"microseconds. From 6.12 on isolated CPUs are left out.\n"
		"Source: Documentation/admin-guide/sysctl/vm.rst (stat_interval); mm/vmstat.c." },
	{ "rt-throttling", look_at_realtime,
		"Real-time tasks may use only so much of each second (of sched_rt_period_us). A\n"
		"program under runpinned --fifo that never sleeps is stopped for the rest of it:\n"
		"up to 6.11 always; from 6.12 on only if an ordinary task waits for the CPU, and\n"
		"whatever sched_rt_runtime_us says: for 50 ms (fair_server in debugfs).\n"
		"Ordinary programs are not affected.\n"
		"Source: Documentation/scheduler/sched-rt-group.rst; kernel/sched/deadline.c." },
	{ "thp", look_at_thp,
		"Transparent huge pages make a program faster by up to 30 per cent if it gets\n"
		"any. With `always` that depends on how fragmented memory is, so two runs of one\n"
		"program differ. To make huge pages (khugepaged, compaction) takes further time.\n"
		"With `madvise` only programs that ask for huge pages get them. From 6.8 on each\n"
		"size of huge pages has a switch of its own (hugepages-64kB/enabled), and the\n"
		"common one holds only for sizes with `inherit`.\n"
		"Source: Documentation/admin-guide/mm/transhuge.rst." },
	{ "ksm", look_at_ksm,
		"ksmd reads memory and merges equal pages. It takes CPU time and memory\n"
		"bandwidth, and the first write to a merged page costs a page fault and a copy.\n"
		"Source: Documentation/admin-guide/mm/ksm.rst." },
	{ "numa-balancing", look_at_numa,
		"The kernel unmaps pages of a program for a moment to see which node uses them,\n"
		"and moves them between nodes: page faults of some microseconds, and migrations,\n"
		"during a run.\n"
		"Source: Documentation/admin-guide/sysctl/kernel.rst (numa_balancing)." },
	{ "swap", look_at_swap,
		"A page that was swapped out has to be read when it is used: the program waits\n"
		"for a disk for milliseconds, once. runpinned shows that as major faults.\n"
		"Source: proc(5) (/proc/swaps)." },
	{ "aslr", look_at_aslr,
		"Each process has its stack, heap and code at other addresses, so that other\n"
		"cache lines and branch predictor entries conflict: some per cent, for the whole\n"
		"run. Switching ASLR off does not remove that: it selects one layout of many,\n"
		"the same each time, which may be a good or a bad one. Many processes (runpinned\n"
		"-n) sample the layouts, and their median is useful.\n"
		"Source: Documentation/admin-guide/sysctl/kernel.rst (randomize_va_space);\n"
		"Mytkowicz and others, Producing Wrong Data Without Doing Anything Obviously\n"
		"Wrong, ASPLOS 2009." },
	{ "perf-sampling", look_at_sampling,
		"How often a profiler (perf record, of any user) may interrupt. No effect while\n"
		"none runs. noise-off limits it to one sample a second, or to one a tick for a\n"
		"profiler that has a period instead of a frequency, or that runs already.\n"
		"Source: Documentation/admin-guide/sysctl/kernel.rst\n"
		"(perf_event_max_sample_rate)." },
	{ "perf-paranoid", look_at_paranoid,
		"Above 2, which is Debian's default, an ordinary user may not use any event of\n"
		"perf. runpinned then takes time stamps itself, instead of those of the kernel\n"
		"at exec and exit of the program, and says so. With 0 or less it has events of\n"
		"the CPUs, which cost nothing at a switch of the program; root has BPF.\n"
		"Source: Documentation/admin-guide/perf-security.rst." },
	{ 0 },
};
