// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/cpuidle.h"
#include "base/machine/isolation.h"
#include "base/machine/kernelversion.h"
#include "base/machine/swap.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/paths.h"
#include "base/say.h"
#include "base/text.h"
#include "quiet/engine/journal.h"
#include "quiet/noise-off/knobs.h"
#include "quiet/noise-off/swapping.h"

#define WORKQUEUES "/sys/devices/virtual/workqueue"
#define THP "/sys/kernel/mm/transparent_hugepage"
#define KSM_RUN "/sys/kernel/mm/ksm/run"
#define MIN_FREE "/proc/sys/vm/min_free_kbytes"
#define SYSCTL "/proc/sys/kernel"
#define PERF_CPU_PERCENT SYSCTL "/perf_cpu_time_max_percent"
#define PERF_SAMPLE_RATE SYSCTL "/perf_event_max_sample_rate"
#define RT_RUNTIME SYSCTL "/sched_rt_runtime_us"
#define FAIR_SERVER "/sys/kernel/debug/sched/fair_server"
#define ASLR SYSCTL "/randomize_va_space"

enum {
	/* The kernel accepts a sample rate only while perf_cpu_percent is neither 0 nor 100: so the
	 * rate is set after it, and put back before it. */
	GROUP_ALL,
	GROUP_PERF_RATE,
	GROUP_SWAP, /* the first of the groups for swap areas: each area has one */

	STAT_SECONDS = 120,
	/* The kernel's default (kernel/events/core.c: DEFAULT_CPU_TIME_MAX_PERCENT). */
	PERF_CPU_DEFAULT_PERCENT = 25,
	/* The memory that must remain available after all swapped-out pages have come back. */
	MEMORY_LEFT_KIB = 64 * 1024,
};

const struct noise_knob noise_knobs[] = {
	[NOISE_WORKQUEUE] = { "workqueue", NOISE_WITH_CPUS, "the others",
		"unbound work runs on other CPUs" },
	[NOISE_WRITEBACK] = { "writeback", NOISE_WITH_CPUS, "the others",
		"dirty pages are written elsewhere" },
	[NOISE_WATCHDOG_CPUMASK] = { "watchdog_cpumask", NOISE_WITH_CPUS, "the others",
		"no lockup checks on the quiet CPUs" },
	[NOISE_PM_QOS] = { "pm_qos", NOISE_WITH_CPUS, "halt only",
		"no deep idle, so no slow waking up" },
	[NOISE_NMI_WATCHDOG] = { "nmi_watchdog", NOISE_ALWAYS, "0",
		"frees a counter, ends its NMIs", SYSCTL "/nmi_watchdog" },
	[NOISE_SOFT_WATCHDOG] = { "soft_watchdog", NOISE_IF_NAMED, "0",
		"no lockup check every few seconds", SYSCTL "/soft_watchdog" },
	[NOISE_TIMER_MIGRATION] = { "timer_migration", NOISE_ALWAYS, "0",
		"timers stay where they were armed", SYSCTL "/timer_migration", { 6, 9 },
		"since 6.9 timers of idle CPUs still come" },
	[NOISE_STAT_INTERVAL] = { "stat_interval", NOISE_ALWAYS, "120",
		"memory statistics seldom interrupt" },
	[NOISE_NUMA_BALANCING] = { "numa_balancing", NOISE_ALWAYS, "0",
		"no page faults to watch accesses", SYSCTL "/numa_balancing" },
	[NOISE_KSM] = { "ksm", NOISE_ALWAYS, "0", "no merging of equal pages" },
	[NOISE_THP] = { "thp", NOISE_ALWAYS, "madvise", "huge pages for who asks for them" },
	[NOISE_PERF_CPU_PERCENT] = { "perf_cpu_percent", NOISE_ALWAYS, "1-99",
		"profilers have a limit of CPU time" },
	[NOISE_PERF_SAMPLE_RATE] = { "perf_sample_rate", NOISE_ALWAYS, "1",
		"profilers take a sample now and then",
		.remains = "events with a period: one a tick" },
	[NOISE_RT_RUNTIME] = { "rt_runtime", NOISE_IF_NAMED, "-1",
		"real-time programs go unthrottled", NULL, { 6, 12 },
		"the fair server gives others 5 % of a second" },
	[NOISE_ASLR] = { "aslr", NOISE_IF_NAMED, "0", "one memory layout for all runs", ASLR },
	[NOISE_SWAP] = { "swap", NOISE_IF_NAMED, "off", "no run waits for swapped-out pages" },
};

/* Whether the running kernel is one on which the knob has no effect of the kind, or not the whole.
 * Where the kernel does not tell its version, the knob is told what it can be. */
static bool has_remains(const struct noise_knob *knob)
{
	return knob->remains &&
		(knob->until.major == 0 ||
			kernelversion_is_before(knob->until.major, knob->until.minor) == 0);
}

void noise_format_kernels(const struct noise_knob *knob, char *buf, size_t size)
{
	if (knob->until.major == 0)
		snprintf(buf, size, "all");
	else
		snprintf(buf, size, "<%u.%u", knob->until.major, knob->until.minor);
}

static_assert(ARRAY_SIZE(noise_knobs) == NOISE_N, "a knob without a row");

/*
 * The global mask of unbound workqueues. From 6.12 on `cpumask` is the mask in effect, without the
 * CPUs of isolated partitions. The mask that was asked for, which has to be put back, is
 * `cpumask_requested`, which cannot be written (kernel/workqueue.c: wq_unbound_cpumask_show(),
 * workqueue_set_unbound_cpumask()). Older kernels, such as 6.1, have only `cpumask`.
 */
static int read_unbound(const char *name _unused_, char **ret)
{
	int r;

	r = knob_read(NULL, WORKQUEUES "/cpumask_requested", ret);
	return r == -ENOENT ? knob_read(NULL, WORKQUEUES "/cpumask", ret) : r;
}

static int write_unbound(const char *name _unused_, const char *text)
{
	return knob_write(NULL, WORKQUEUES "/cpumask", text);
}

#define UNBOUND "workqueue:cpumask"

const struct knob_backend noise_backends[] = {
	{ "workqueue", read_unbound, write_unbound },
	{ SWAPPING_SCHEME, swapping_read, swapping_write },
	{ 0 },
};

struct planning {
	const struct setter_target *target;
	struct knob_plan *plan;
	const enum noise_wish *wishes;
	const char *container;	      /* NULL outside of containers */
	struct cpumask *housekeeping; /* online CPUs that are not in -c; NULL without -c */
};

static bool is_chosen(const struct planning *p, enum noise_id id)
{
	switch (p->wishes[id]) {
	case NOISE_NAMED:
		return true;
	case NOISE_EXCEPTED:
		return false;
	case NOISE_DEFAULT:
		break;
	}
	switch (noise_knobs[id].use) {
	case NOISE_ALWAYS:
		return true;
	case NOISE_WITH_CPUS:
		return p->target->cpus != NULL;
	case NOISE_IF_NAMED:
		break;
	}
	return false;
}

/* The file that writing a knob writes to. */
static const char *knob_file(const char *path)
{
	return strcmp(path, UNBOUND) == 0 ? WORKQUEUES "/cpumask" : path;
}

/* Whether the container denies writing to this file: it is mounted read-only, or the container's
 * root has no permission. The latter only root can find out. */
static bool is_closed(const struct planning *p, const char *path)
{
	struct statvfs st;

	if (!p->container || statvfs(knob_file(path), &st) < 0)
		return false;
	if (st.f_flag & ST_RDONLY)
		return true;
	return geteuid() == 0 && access(knob_file(path), W_OK) < 0 &&
		(errno == EACCES || errno == EPERM || errno == EROFS);
}

/* Adds a row that shows a value and turns nothing. */
static int add_shown(struct planning *p, enum knob_word word, const char *path, const char *now,
	const char *note, const char *name)
{
	struct knob *knob;
	int r;

	r = knob_plan_add_word(p->plan, GROUP_ALL, word, path, note, "%s", name);
	if (r < 0 || !now)
		return r;
	knob = &p->plan->knobs[p->plan->n - 1];
	knob->now = strdup(now);
	return knob->now ? 0 : -ENOMEM;
}

/* Adds a knob, or a row that says that the container cannot turn it. cpu is -1 for none. A closed
 * file that has the wanted value is a knob like any other: the kernel closes nmi_watchdog to
 * everybody where there is no such watchdog (kernel/watchdog.c, from 6.5 on). */
static int add_knob(struct planning *p, enum noise_id id, unsigned group, enum knob_kind kind,
	const char *path, const char *wanted, int cpu, const char *name)
{
	_cleanup_free_ char *now = NULL, *note = NULL;
	bool closed = is_closed(p, path);
	struct knob *knob;
	int r;

	if (closed) {
		r = knob_read(noise_backends, path, &now);
		if (r < 0 && errno_is_ours(-r))
			return r;
		closed = r < 0 || !knob_equal(kind, now, wanted);
	}
	if (!closed) {
		r = knob_plan_add(p->plan, group, kind, path, wanted, &knob, "%s", name);
		if (r < 0)
			return r;
		knob->cpu = cpu;
		knob->may_be_refused = p->wishes[id] != NOISE_NAMED;
		if (has_remains(&noise_knobs[id]))
			knob->caveat = noise_knobs[id].remains;
		return 0;
	}
	if (text_format(&note, "closed by %s", p->container) < 0)
		return -ENOMEM;
	r = add_shown(p, KNOB_HOST_CONTROLLED, path, now, note, name);
	if (r < 0)
		return r;
	knob = &p->plan->knobs[p->plan->n - 1];
	knob->kind = kind;
	knob->cpu = cpu;
	return 0;
}

static int add_plain(struct planning *p, enum noise_id id, const char *path, const char *wanted)
{
	return add_knob(p, id, GROUP_ALL, KNOB_NUMBER, path, wanted, -1, noise_knobs[id].name);
}

/* Reads a file that holds one number: 1; 0 if there is no such file or number, which the engine
 * reports; or an error. */
static int read_number(const char *path, int64_t *ret)
{
	char text[FILE_ATTR_SIZE];
	int r;

	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r < 0)
		return knob_error_is_unavailable(-r) ? 0 : r;
	return parse_attr_s64(text, ret) == 0;
}

/* Adds a row for a knob that is not turned, because its wanted value depends on its present value,
 * which cannot be read. Fails with r if it was asked for by name, or if r does not concern the
 * knob. */
static int add_unreadable(
	struct planning *p, enum noise_id id, const char *path, int r, const char *name)
{
	if (errno_is_ours(-r) || p->wishes[id] == NOISE_NAMED)
		return r;
	return add_shown(p, KNOB_DENIED, path, NULL, strerror(-r), name);
}

/* --- Masks of CPUs. --- */

/*
 * Takes the quiet CPUs out of a mask. CPUs are never added to it, since the kernel's default may
 * leave out the nohz_full CPUs; but a mask that would have no online CPU left gets all other CPUs.
 * -EINVAL if there is no other online CPU.
 */
static int remove_quiet_cpus(const struct planning *p, struct cpumask *mask)
{
	cpumask_andnot(mask, mask, p->target->cpus);
	if (!cpumask_intersects(mask, p->housekeeping))
		cpumask_andnot(mask, p->target->topology->possible, p->target->cpus);
	return cpumask_intersects(mask, p->housekeeping) ? 0 : -EINVAL;
}

/*
 * Takes the CPUs of isolated partitions out of the workqueues' mask: the kernel puts a mask that is
 * written into effect even on them (kernel/workqueue.c: workqueue_set_unbound_cpumask()).
 */
static int remove_isolated_cpus(const struct planning *p, struct cpumask *mask)
{
	_cleanup_(cpumask) struct cpumask *isolated = NULL;
	char text[FILE_ATTR_SIZE];

	if (file_read_attr(AT_FDCWD, WORKQUEUES "/cpumask_isolated", text, sizeof(text)) < 0)
		return 0;
	if (cpumask_new(&isolated) < 0)
		return -ENOMEM;
	if (cpumask_parse_hex(text, isolated) < 0)
		return 0;
	cpumask_andnot(isolated, mask, isolated);
	if (cpumask_intersects(isolated, p->housekeeping))
		cpumask_assign(mask, isolated);
	return 0;
}

static int plan_mask(struct planning *p, enum noise_id id, enum knob_kind kind, const char *path)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	_cleanup_free_ char *now = NULL, *wanted = NULL;
	int r;

	r = cpumask_copy(p->target->topology->possible, &mask);
	if (r < 0)
		return r;
	r = knob_read(noise_backends, path, &now);
	if (r < 0 && !knob_error_is_unavailable(-r))
		return add_unreadable(p, id, path, r, noise_knobs[id].name);
	/* The engine reports a mask that does not exist. */
	if (r == 0 && knob_parse_cpus(kind, now, mask) == -ENOMEM)
		return -ENOMEM;
	r = remove_quiet_cpus(p, mask);
	if (r == 0 && id == NOISE_WORKQUEUE)
		r = remove_isolated_cpus(p, mask);
	if (r < 0)
		return r;
	wanted = kind == KNOB_MASK ? cpumask_format_hex(mask, p->target->topology->n_cpus)
				   : cpumask_format_list(mask);
	if (!wanted)
		return -ENOMEM;
	return add_knob(p, id, GROUP_ALL, kind, path, wanted, -1, noise_knobs[id].name);
}

/* --- Idle states. --- */

/* *ret: the exit latency of the shallowest idle state other than polling, in microseconds: at least
 * 1, or UINT64_MAX if there is no such state. Errors as of cpuidle_read(), and -EBADMSG also if
 * there may be such a state among those that cannot be read. */
static int read_halt_latency(int cpu, uint64_t *ret)
{
	const struct cpuidle_state *halt;
	struct cpuidle cpuidle;
	int r;

	r = cpuidle_read(cpu, &cpuidle);
	if (r < 0)
		return r;
	halt = cpuidle_find_halt(&cpuidle);
	if (!halt && cpuidle.unread)
		return -EBADMSG;
	*ret = halt ? MAX(halt->latency_us, (uint64_t)1) : UINT64_MAX;
	return 0;
}

/*
 * The text to write to pm_qos_resume_latency_us. There, "0" means no limit, and "n/a" a limit of
 * zero, that is, polling (Documentation/ABI/testing/sysfs-devices-power). A polling CPU heats its
 * package and takes issue slots from its sibling, while leaving a halt state takes only a
 * microsecond or two; so the limit is the latency of the halt state, if there is one. A limit that
 * is already as tight is kept.
 */
static const char *format_latency_limit(uint64_t halt_us, const char *now, char *buf, size_t size)
{
	uint64_t limit;

	if (halt_us > CPUIDLE_HALT_US)
		return "n/a";
	if (now && strncmp(now, "n/a", 3) == 0)
		return now;
	if (now && parse_attr_u64(now, &limit) == 0 && limit > 0 && limit <= halt_us)
		return now;
	snprintf(buf, size, "%" PRIu64, halt_us);
	return buf;
}

static int plan_pm_qos(struct planning *p)
{
	const char *hypervisor;
	bool guest;
	int r;

	r = virtualization_read_hypervisor(&hypervisor, NULL);
	if (r < 0)
		return r;
	guest = hypervisor != NULL;
	cpumask_for_each (cpu, p->target->cpus) {
		_cleanup_free_ char *now = NULL;
		char path[96], buf[32];
		uint64_t halt_us;

		snprintf(path, sizeof(path),
			"/sys/devices/system/cpu/cpu%d/power/pm_qos_resume_latency_us", cpu);
		r = knob_read(NULL, path, &now);
		if (r < 0 && !knob_error_is_unavailable(-r)) {
			r = add_unreadable(
				p, NOISE_PM_QOS, path, r, noise_knobs[NOISE_PM_QOS].name);
			if (r < 0)
				return r;
			p->plan->knobs[p->plan->n - 1].cpu = cpu;
			continue;
		}
		r = read_halt_latency(cpu, &halt_us);
		if (r < 0 && r != -ENOENT && r != -EOPNOTSUPP) {
			r = add_unreadable(
				p, NOISE_PM_QOS, path, r, noise_knobs[NOISE_PM_QOS].name);
			if (r < 0)
				return r;
			p->plan->knobs[p->plan->n - 1].cpu = cpu;
			r = knob_set_note(
				&p->plan->knobs[p->plan->n - 1], "its idle states cannot be read");
		} else if (r == 0) {
			r = add_knob(p, NOISE_PM_QOS, GROUP_ALL, KNOB_WORD, path,
				format_latency_limit(halt_us, now, buf, sizeof(buf)), cpu,
				noise_knobs[NOISE_PM_QOS].name);
		} else {
			bool hosted = guest && r == -ENOENT;
			const char *why =
				hosted ? "the hypervisor puts it to sleep" : "no idle states";

			if (r == -EOPNOTSUPP)
				why = "built without libcpupower, which reads the idle states";
			r = add_shown(p, hosted ? KNOB_HOST_CONTROLLED : KNOB_UNAVAILABLE, path,
				now, why, noise_knobs[NOISE_PM_QOS].name);
			if (r == 0)
				p->plan->knobs[p->plan->n - 1].cpu = cpu;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- Memory. --- */

/* Whether a file like "always [madvise] never" has chosen this word: 1, 0, or an error. 0 if there
 * is no such file, which the engine reports. */
static int is_choice(const char *path, const char *word)
{
	_cleanup_free_ char *now = NULL;
	int r;

	r = knob_read(NULL, path, &now);
	if (r < 0)
		return knob_error_is_unavailable(-r) ? 0 : r;
	return knob_equal(KNOB_CHOICE, now, word);
}

/* `never` is kept: it is quieter than `madvise`, and somebody has decided so. */
static int add_thp(struct planning *p, const char *path, const char *name)
{
	int never = is_choice(path, "never");

	if (never < 0)
		return add_unreadable(p, NOISE_THP, path, never, name);
	return add_knob(
		p, NOISE_THP, GROUP_ALL, KNOB_CHOICE, path, never ? "never" : "madvise", -1, name);
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int add_thp_size(struct planning *p, const char *path, const char *name)
{
	int r;

	r = is_choice(path, "inherit");
	if (r == 0)
		r = is_choice(path, "never");
	if (r < 0)
		return add_unreadable(p, NOISE_THP, path, r, name);
	return r == 0 ? add_thp(p, path, name) : 0;
}

/* From 6.8 on each size of huge pages has its own `enabled` file
 * (Documentation/admin-guide/mm/transhuge.rst). Those with `inherit` or `never` are left alone. A
 * size that only shared memory can have, such as 8 KiB, has none (mm/huge_memory.c, from 6.11 on).
 */
static int plan_thp_sizes(struct planning *p)
{
	static const char sizes[] = THP "/hugepages-";
	_cleanup_paths_ struct paths files = { 0 };
	int r = paths_list(THP, "hugepages-*", "enabled", &files);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (files.n > 0)
		qsort(files.items, files.n, sizeof(*files.items), compare_names);
	for (size_t i = 0; r == 0 && i < files.n; i++) {
		const char *size = files.items[i] + strlen(sizes);
		_cleanup_free_ char *name = NULL;

		if (text_format(&name, "thp %.*s", (int)strcspn(size, "/"), size) < 0)
			return -ENOMEM;
		r = add_thp_size(p, files.items[i], name);
	}
	return r;
}

/* Whenever one of the files `enabled` is written, and huge pages are on then, the kernel raises
 * vm.min_free_kbytes to what it recommends for them, also over a value that somebody has chosen,
 * and never lowers it again (mm/khugepaged.c: set_recommended_min_free_kbytes()). So it is kept for
 * restore, and put back after these files. */
static int keep_min_free(struct planning *p, size_t first)
{
	for (size_t i = first; i < p->plan->n; i++) {
		if (!p->plan->knobs[i].settled)
			return knob_plan_add(p->plan, GROUP_ALL, KNOB_NUMBER, MIN_FREE, NULL, NULL,
				"min_free_kbytes");
	}
	return 0;
}

static int plan_thp(struct planning *p)
{
	size_t first = p->plan->n;
	int r;

	r = add_thp(p, THP "/enabled", "thp");
	if (r == 0)
		r = add_thp(p, THP "/defrag", "thp defrag");
	if (r == 0)
		r = plan_thp_sizes(p);
	return r < 0 ? r : keep_min_free(p, first);
}

/* A value of 2 is left alone. It stops merging, too, and takes all merged pages apart; writing 2
 * again, as restore would, may take long and fail without memory
 * (Documentation/admin-guide/mm/ksm.rst). */
static int plan_ksm(struct planning *p)
{
	int64_t now;
	int r = read_number(KSM_RUN, &now);

	if (r < 0)
		return add_unreadable(p, NOISE_KSM, KSM_RUN, r, noise_knobs[NOISE_KSM].name);
	if (r > 0 && now == 2)
		return add_shown(p, KNOB_ALREADY, KSM_RUN, "2", "stopped, and nothing is merged",
			noise_knobs[NOISE_KSM].name);
	return add_plain(p, NOISE_KSM, KSM_RUN, "0");
}

static int plan_stat_interval(struct planning *p)
{
	static const char path[] = "/proc/sys/vm/stat_interval";
	int64_t now, wanted = STAT_SECONDS;
	char text[32];
	int r = read_number(path, &now);

	if (r < 0)
		return add_unreadable(
			p, NOISE_STAT_INTERVAL, path, r, noise_knobs[NOISE_STAT_INTERVAL].name);
	if (r > 0 && now > wanted)
		wanted = now;
	snprintf(text, sizeof(text), "%" PRId64, wanted);
	return add_plain(p, NOISE_STAT_INTERVAL, path, text);
}

static int show_swap(struct planning *p)
{
	uint64_t size, used;
	char now[80];
	int r;

	r = swap_read(&size, &used);
	if (r <= 0)
		return errno_is_ours(-r) ? r : 0;
	snprintf(now, sizeof(now), "%" PRIu64 " of %" PRIu64 " MiB", (used + 1023) / 1024,
		size / 1024);
	return add_shown(p, KNOB_NONE, "/proc/swaps", now,
		used > 0 ? "a run may wait for it" : "not in use", noise_knobs[NOISE_SWAP].name);
}

/* Whether all swapped-out pages fit into memory; says so and returns -ENOBUFS if not. */
static int check_memory(const struct planning *p, const struct swap_areas *areas)
{
	uint64_t used = 0, available;

	for (size_t i = 0; i < areas->n; i++)
		used += areas->items[i].used_kib;
	/* Kernels before 3.14 do not tell what is available: there swapoff(2) fails if memory does
	 * not suffice. */
	if (p->target->verb != SETTER_APPLY || swap_read_available(&available) < 0 ||
		available >= used + MEMORY_LEFT_KIB)
		return 0;
	say("swap: %" PRIu64 " MiB are swapped out, and %" PRIu64
	    " MiB of memory are available: not enough to take them back and leave %d MiB",
		(used + 1023) / 1024, available / 1024, MEMORY_LEFT_KIB / 1024);
	return -ENOBUFS;
}

static int add_swap(struct planning *p, size_t order, const char *path)
{
	_cleanup_free_ char *full = NULL;

	if (text_format(&full, SWAPPING_SCHEME ":%s", path) < 0)
		return -ENOMEM;
	return knob_plan_add(p->plan, GROUP_SWAP + (unsigned)order, KNOB_WORD, full, "off", NULL,
		"swap %s", path);
}

/* Adds the areas that an earlier apply has switched off. */
static int add_swaps_of_journal(struct planning *p)
{
	struct journal *journal = p->target->journal;
	int r = 0;

	for (size_t i = 0; r == 0 && journal && i < journal->n; i++) {
		const char *path = journal->entries[i].path;

		if (text_starts_with(path, SWAPPING_SCHEME ":") && !knob_plan_find(p->plan, path))
			r = add_swap(p, 0, path + strlen(SWAPPING_SCHEME ":"));
	}
	return r;
}

/*
 * Each area is a group, so that the area with the lowest priority is switched off first and on
 * last. Priorities that the kernel chose are then restored also where an area could not be switched
 * off.
 */
static int plan_swap(struct planning *p)
{
	/* swapon(2) and swapoff(2) need this capability. */
	bool closed = p->container && prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 0;
	struct swap_areas areas = { 0 };
	size_t before = p->plan->n;
	int r;

	r = swap_areas_read(&areas);
	/* A kernel without swap has no such file. */
	if (r < 0 && r != -ENOENT)
		return add_unreadable(
			p, NOISE_SWAP, "/proc/swaps", r, noise_knobs[NOISE_SWAP].name);
	r = check_memory(p, &areas);
	for (size_t i = areas.n; r == 0 && i-- > 0;) {
		const char *path = areas.items[i].path, *deleted = strstr(path, " (deleted)");

		if (closed)
			r = add_shown(p, KNOB_HOST_CONTROLLED, path, "on",
				"the host's, and this container may not touch it",
				noise_knobs[NOISE_SWAP].name);
		else if (deleted && strcmp(deleted, " (deleted)") == 0)
			r = add_shown(p, KNOB_DENIED, path, "on",
				"its file was deleted: it could not be switched on again",
				noise_knobs[NOISE_SWAP].name);
		else
			r = add_swap(p, areas.n - i, path);
	}
	swap_areas_clear(&areas);
	if (r == 0)
		r = add_swaps_of_journal(p);
	if (r == 0 && p->plan->n == before)
		r = knob_plan_add_word(p->plan, GROUP_SWAP, KNOB_ALREADY, "/proc/swaps",
			"there is none", "%s", noise_knobs[NOISE_SWAP].name);
	return r;
}

/* --- perf. --- */

static bool is_perf_limited(int64_t percent)
{
	return percent > 0 && percent < 100;
}

/*
 * At 0 and at 100 the kernel does not limit profilers, and refuses a write of the sample rate. Any
 * value in between is kept: together with a sample rate of 1 it has no other effect, and without
 * it, a lower value would make the kernel lower the sample rate for good.
 */
static int plan_perf_cpu_percent(struct planning *p)
{
	int64_t now, wanted = PERF_CPU_DEFAULT_PERCENT;
	char text[32];
	int r;

	r = read_number(PERF_CPU_PERCENT, &now);
	if (r < 0)
		return add_unreadable(p, NOISE_PERF_CPU_PERCENT, PERF_CPU_PERCENT, r,
			noise_knobs[NOISE_PERF_CPU_PERCENT].name);
	if (r > 0 && is_perf_limited(now))
		wanted = now;
	snprintf(text, sizeof(text), "%" PRId64, wanted);
	r = add_plain(p, NOISE_PERF_CPU_PERCENT, PERF_CPU_PERCENT, text);
	if (r < 0 || is_chosen(p, NOISE_PERF_SAMPLE_RATE))
		return r;
	/* With a limit, the kernel may lower the sample rate (kernel/events/core.c:
	 * perf_sample_event_took()): so the rate is kept for restore. */
	return knob_plan_add(p->plan, GROUP_PERF_RATE, KNOB_RATE, PERF_SAMPLE_RATE, NULL, NULL,
		"%s", noise_knobs[NOISE_PERF_SAMPLE_RATE].name);
}

static int plan_perf_sample_rate(struct planning *p)
{
	const char *name = noise_knobs[NOISE_PERF_SAMPLE_RATE].name;
	int64_t percent;
	int r;

	r = is_chosen(p, NOISE_PERF_CPU_PERCENT) ? 0 : read_number(PERF_CPU_PERCENT, &percent);
	if (r < 0)
		return add_unreadable(p, NOISE_PERF_SAMPLE_RATE, PERF_SAMPLE_RATE, r, name);
	if (r > 0 && !is_perf_limited(percent)) {
		if (p->wishes[NOISE_PERF_SAMPLE_RATE] == NOISE_NAMED &&
			p->target->verb == SETTER_APPLY) {
			say("perf_sample_rate can only be set together with perf_cpu_percent: the "
			    "kernel refuses it while kernel.perf_cpu_time_max_percent is %" PRId64,
				percent);
			return -EINVAL;
		}
		return add_shown(p, KNOB_DENIED, PERF_SAMPLE_RATE, NULL,
			"refused while perf_cpu_percent is 0 or 100", name);
	}
	/* The kernel never lowers a rate of 1: one sample a second is within any limit. */
	return add_knob(p, NOISE_PERF_SAMPLE_RATE, GROUP_PERF_RATE, KNOB_RATE, PERF_SAMPLE_RATE,
		"1", -1, name);
}

/* --- Real time. --- */

/*
 * From 6.12 on real-time programs are no longer throttled (kernel/sched/rt.c): a deadline server
 * for ordinary programs has the CPU for 50 ms of each second in which these wait beside real-time
 * ones (fair_server_init() in kernel/sched/deadline.c). Its time is in debugfs alone, by CPU; 0
 * switches it off. sched_rt_runtime_us then only says how much real-time programs with deadlines
 * may reserve, and is left alone.
 */
static int plan_fair_server(struct planning *p)
{
	const struct cpumask *cpus =
		p->target->cpus ? p->target->cpus : p->target->topology->online;
	const char *name = noise_knobs[NOISE_RT_RUNTIME].name;

	if (access(FAIR_SERVER, F_OK) < 0) {
		_cleanup_free_ char *note = NULL;

		if (text_format(&note, "%s; %s", noise_knobs[NOISE_RT_RUNTIME].remains,
			    errno == ENOENT ? "debugfs, which has its switch, is not there"
					    : strerror(errno)) < 0)
			return -ENOMEM;
		return add_shown(p, KNOB_UNAVAILABLE, FAIR_SERVER, NULL, note, name);
	}
	cpumask_for_each (cpu, cpus) {
		char path[sizeof(FAIR_SERVER) + 32];
		struct knob *knob;
		int r;

		snprintf(path, sizeof(path), FAIR_SERVER "/cpu%d/runtime", cpu);
		r = knob_plan_add(p->plan, GROUP_ALL, KNOB_NUMBER, path, "0", &knob, "%s", name);
		if (r < 0)
			return r;
		knob->cpu = cpu;
		/* EBUSY where the kernel counts more time for deadlines than there is: 6.12 does
		 * after a partition has changed (dl_server_apply_params(); seen). */
		knob->may_be_refused = true;
	}
	return 0;
}

/* From 7.0 on timers of other CPUs do not come to isolated ones, whatever this knob is. */
static int plan_timer_migration(struct planning *p)
{
	_cleanup_(isolation) struct isolation *isolation = NULL;
	int r;

	r = add_plain(p, NOISE_TIMER_MIGRATION, noise_knobs[NOISE_TIMER_MIGRATION].file,
		noise_knobs[NOISE_TIMER_MIGRATION].sets);
	if (r < 0 || !p->target->cpus || kernelversion_is_before(7, 0) != 0)
		return r;
	r = isolation_read(&isolation);
	if (r == 0 && cpumask_subset(p->target->cpus, isolation->isolated))
		p->plan->knobs[p->plan->n - 1].caveat = NULL;
	return r;
}

static int plan_rt_runtime(struct planning *p)
{
	return has_remains(&noise_knobs[NOISE_RT_RUNTIME])
		? plan_fair_server(p)
		: add_plain(p, NOISE_RT_RUNTIME, RT_RUNTIME, "-1");
}

/* --- The plan. --- */

static int show_aslr(struct planning *p)
{
	_cleanup_free_ char *now = NULL;
	int r;

	r = knob_read(NULL, ASLR, &now);
	if (r < 0)
		return errno_is_ours(-r) ? r : 0;
	return add_shown(p, KNOB_NONE, ASLR, now,
		knob_equal(KNOB_NUMBER, now, "0") ? "off" : "left on",
		noise_knobs[NOISE_ASLR].name);
}

static int plan_one(struct planning *p, enum noise_id id)
{
	switch (id) {
	case NOISE_WORKQUEUE:
		return plan_mask(p, id, KNOB_MASK, UNBOUND);
	case NOISE_WRITEBACK:
		return plan_mask(p, id, KNOB_MASK, WORKQUEUES "/writeback/cpumask");
	case NOISE_WATCHDOG_CPUMASK:
		return plan_mask(p, id, KNOB_LIST, SYSCTL "/watchdog_cpumask");
	case NOISE_PM_QOS:
		return plan_pm_qos(p);
	case NOISE_STAT_INTERVAL:
		return plan_stat_interval(p);
	case NOISE_KSM:
		return plan_ksm(p);
	case NOISE_THP:
		return plan_thp(p);
	case NOISE_PERF_CPU_PERCENT:
		return plan_perf_cpu_percent(p);
	case NOISE_PERF_SAMPLE_RATE:
		return plan_perf_sample_rate(p);
	case NOISE_TIMER_MIGRATION:
		return plan_timer_migration(p);
	case NOISE_RT_RUNTIME:
		return plan_rt_runtime(p);
	case NOISE_SWAP:
		return plan_swap(p);
	default:
		return add_plain(p, id, noise_knobs[id].file, noise_knobs[id].sets);
	}
}

/* -EINVAL for options that contradict each other or the machine; says so. */
static int check_wishes(const struct planning *p)
{
	bool masks = false;

	for (int id = 0; id < NOISE_N; id++) {
		bool named = p->wishes[id] == NOISE_NAMED;

		if (named && noise_knobs[id].use == NOISE_WITH_CPUS && !p->target->cpus &&
			p->target->verb == SETTER_APPLY) {
			say("%s needs -c LIST: the CPUs that are to be quiet",
				noise_knobs[id].name);
			return -EINVAL;
		}
		if (noise_knobs[id].use == NOISE_WITH_CPUS && id != NOISE_PM_QOS)
			masks = masks || is_chosen(p, id);
	}
	if (masks && p->housekeeping && cpumask_is_empty(p->housekeeping)) {
		say("-c names all CPUs that are online: the kernel needs one for its own work");
		return -EINVAL;
	}
	return 0;
}

static int plan_all(struct planning *p)
{
	int r;

	if (p->target->cpus) {
		r = cpumask_copy(p->target->topology->online, &p->housekeeping);
		if (r < 0)
			return r;
		cpumask_andnot(p->housekeeping, p->housekeeping, p->target->cpus);
	}
	r = check_wishes(p);
	for (int id = 0; r == 0 && id < NOISE_N; id++) {
		/* `status` without -c shows these knobs from the journal. */
		if (noise_knobs[id].use == NOISE_WITH_CPUS && !p->target->cpus)
			continue;
		if (is_chosen(p, id))
			r = plan_one(p, id);
		else if (id == NOISE_ASLR && p->wishes[id] != NOISE_EXCEPTED)
			r = show_aslr(p);
		else if (id == NOISE_SWAP && p->wishes[id] != NOISE_EXCEPTED)
			r = show_swap(p);
	}
	return r;
}

int noise_make_plan(
	const struct setter_target *target, const enum noise_wish *wishes, struct knob_plan *plan)
{
	_cleanup_free_ char *container = NULL;
	struct planning p = { .target = target, .plan = plan, .wishes = wishes };
	int r;

	r = virtualization_read_container(&container);
	if (r == 0) {
		p.container = container;
		r = plan_all(&p);
	}
	cpumask_free(p.housekeeping);
	if (r < 0 && r != -EINVAL && r != -ENOBUFS && r != -ENOMEM)
		say_errno(r, "cannot read the kernel's settings");
	return r;
}
