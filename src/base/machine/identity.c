// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/machine/cpufreq.h"
#include "base/machine/cpuinfo.h"
#include "base/machine/identity.h"
#include "base/machine/isolation.h"
#include "base/machine/power.h"
#include "base/machine/procstat.h"
#include "base/machine/quota.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/paths.h"
#include "base/text.h"

#define CPU_ROOT "/sys/devices/system/cpu/"

enum {
	STAT_MAX_SIZE = 16 * 1024 * 1024,
};

/* --- Texts. */

/* What stands for a setting that is there and cannot be read. */
#define UNKNOWN "unknown"

static bool is_absent(int r)
{
	return r == -ENOENT || r == -ENOTDIR;
}

/* Reads the attribute without outer blanks. 1, or 0 when it is absent, empty or " (null)", or the
 * error of an attribute that is there. */
static int read_word(const char *path, char buf[FILE_ATTR_SIZE])
{
	size_t length, start;
	int r;

	r = file_read_attr(AT_FDCWD, path, buf, FILE_ATTR_SIZE);
	if (r < 0)
		return is_absent(r) ? 0 : r;
	start = strspn(buf, " \t");
	length = strlen(buf + start);
	while (length > 0 && (buf[start + length - 1] == ' ' || buf[start + length - 1] == '\t'))
		length--;
	memmove(buf, buf + start, length);
	buf[length] = '\0';
	/* A metadata value is one line. */
	for (char *at = buf; (at = strpbrk(at, "\r\n")); at++)
		*at = ' ';
	return length > 0 && strcmp(buf, "(null)") != 0;
}

static void set_attr(struct facts *facts, const char *name, const char *path)
{
	char word[FILE_ATTR_SIZE];
	int r = read_word(path, word);

	if (r != 0)
		facts_set_string(facts, name, r < 0 ? UNKNOWN : word);
}

/* --- One text per CPU, and equal ones joined: "0-1=this; 2=that". */

struct per_cpu {
	const struct cpumask *mask;
	char **texts; /* by CPU number; NULL where a CPU has none */
	size_t n;
	bool failed;
};

static void per_cpu_begin(struct per_cpu *per_cpu, const struct cpumask *mask)
{
	*per_cpu = (struct per_cpu){ .mask = mask, .n = (size_t)(cpumask_last(mask) + 1) };
	per_cpu->texts = calloc(per_cpu->n + 1, sizeof(*per_cpu->texts));
	per_cpu->failed = !per_cpu->texts;
}

/* Takes over `text`, which is NULL when memory was short. */
static void per_cpu_set(struct per_cpu *per_cpu, int cpu, char *text)
{
	if (!text || per_cpu->failed) {
		per_cpu->failed = true;
		free(text);
		return;
	}
	free(per_cpu->texts[cpu]);
	per_cpu->texts[cpu] = text;
}

static bool is_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Appends the groups in the order of their first CPUs. With `plain`, a text that all CPUs of the
 * mask have stands for itself. */
static void per_cpu_format(struct per_cpu *per_cpu, bool plain, struct text *out)
{
	_cleanup_(cpumask) struct cpumask *left = NULL, *group = NULL;

	if (per_cpu->failed || cpumask_copy(per_cpu->mask, &left) < 0 || cpumask_new(&group) < 0) {
		out->failed = true;
		return;
	}
	cpumask_for_each (first, left) {
		const char *text = per_cpu->texts[first];
		_cleanup_free_ char *list = NULL;

		cpumask_clear_all(group);
		for (int cpu = first; cpu >= 0; cpu = cpumask_next(left, cpu)) {
			if (is_equal(per_cpu->texts[cpu], text)) {
				cpumask_set(group, cpu);
				cpumask_clear(left, cpu);
			}
		}
		if (!text)
			continue;
		if (plain && cpumask_equal(group, per_cpu->mask)) {
			text_append(out, text);
			return;
		}
		list = cpumask_format_list(group);
		if (!list) {
			out->failed = true;
			return;
		}
		text_appendf(out, "%s%s=%s", out->length > 0 ? "; " : "", list, text);
	}
}

static void per_cpu_end(struct per_cpu *per_cpu)
{
	for (size_t i = 0; per_cpu->texts && i < per_cpu->n; i++)
		free(per_cpu->texts[i]);
	free(per_cpu->texts);
}

/* Sets the fact to the text, unless it is empty, and clears it. */
static void set_text(struct facts *facts, const char *name, struct text *text)
{
	facts->failed |= text->failed;
	if (!text->failed && text->length > 0)
		facts_set_string(facts, name, text->data);
	text_clear(text);
}

static void set_per_cpu(struct facts *facts, const char *name, struct per_cpu *per_cpu, bool plain)
{
	struct text text = { 0 };

	per_cpu_format(per_cpu, plain, &text);
	set_text(facts, name, &text);
	per_cpu_end(per_cpu);
}

/* --- pyperf's constant facts. */

char *identity_format_platform(
	const char *system, const char *release, const char *machine, const char *libc)
{
	_cleanup_text_ struct text joined = { 0 };
	char *name, *out;

	text_appendf(&joined, "%s-%s-%s", system, release, machine);
	if (libc)
		/* Python writes "glibc2.36" for "glibc 2.36". */
		text_appendf(&joined, "-with-%.*s%s", (int)strcspn(libc, " "), libc,
			strchr(libc, ' ') ? strchr(libc, ' ') + 1 : "");
	name = text_steal(&joined);
	if (!name)
		return NULL;
	for (char *at = name; (at = strpbrk(at, " /\\:;\"()")); at++)
		*at = *at == ' ' ? '_' : '-';
	for (char *at = name; (at = strstr(at, "unknown"));)
		memmove(at, at + strlen("unknown"), strlen(at + strlen("unknown")) + 1);
	out = name;
	for (const char *at = name; *at; at++)
		if (*at != '-' || out == name || out[-1] != '-')
			*out++ = *at;
	while (out > name && out[-1] == '-')
		out--;
	*out = '\0';
	return name;
}

static void set_system(struct facts *facts)
{
	_cleanup_free_ char *platform = NULL;
	char hostname[256], *libc = NULL;
	struct utsname uts;

	if (uname(&uts) == 0) {
#ifdef _CS_GNU_LIBC_VERSION
		char version[64];
		size_t n = confstr(_CS_GNU_LIBC_VERSION, version, sizeof(version));

		if (n > 0 && n <= sizeof(version))
			libc = version;
#endif
		platform = identity_format_platform(uts.sysname, uts.release, uts.machine, libc);
		facts->failed |= !platform;
		facts_set_string(facts, "platform", platform);
		facts_set_stringf(facts, "quiesce_kernel", "%s %s", uts.release, uts.version);
	}
	if (gethostname(hostname, sizeof(hostname)) == 0) {
		hostname[sizeof(hostname) - 1] = '\0';
		if (hostname[0])
			facts_set_string(facts, "hostname", hostname);
	}
}

static void set_aslr(struct facts *facts)
{
	static const char *const words[] = {
		"No randomization",
		"Conservative randomization",
		"Full randomization",
	};
	uint64_t value;

	if (file_read_attr_u64(AT_FDCWD, "/proc/sys/kernel/randomize_va_space", &value) == 0 &&
		value < ARRAY_SIZE(words))
		facts_set_string(facts, "aslr", words[value]);
}

static bool read_boot_time(time_t *ret)
{
	_cleanup_free_ char *text = NULL;

	return file_read_all("/proc/stat", STAT_MAX_SIZE, &text, NULL) == 0 &&
		identity_parse_boot_time(text, ret);
}

bool identity_parse_boot_time(const char *text, time_t *ret)
{
	const char *at;
	uint64_t seconds;

	at = text_starts_with(text, "btime ") ? text : strstr(text, "\nbtime ");
	if (!at)
		return false;
	at = strchr(at, ' ');
	if (parse_next_u64(&at, &seconds) < 0 || seconds > INT32_MAX * 1000LL)
		return false;
	*ret = (time_t)seconds;
	return true;
}

static void set_cpu_model(const struct cpumask *mask, const char *text, struct facts *facts)
{
	struct cpuinfo info;

	if (cpuinfo_parse(text, cpumask_first(mask), &info) < 0) {
		facts->failed = true;
		return;
	}
	facts_set_string(facts, "cpu_model_name", info.model);
	facts_set_string(facts, "cpu_machine", info.machine);
	cpuinfo_clear(&info);
}

static void set_cpus(const struct cpumask *mask, struct facts *facts)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	_cleanup_free_ char *list = NULL;

	if (online <= 0)
		return;
	facts_set_integer(facts, "cpu_count", online);
	/* Like pyperf, leave out an affinity that has all CPUs. */
	if (cpumask_is_empty(mask) ||
		(cpumask_weight(mask) == (unsigned long)online && cpumask_last(mask) == online - 1))
		return;
	list = cpumask_format_list(mask);
	facts->failed |= !list;
	facts_set_string(facts, "cpu_affinity", list);
}

int identity_set_quota(pid_t pid, struct facts *facts)
{
	char text[QUOTA_TEXT_SIZE];
	struct quota quota;
	int r;

	r = quota_read(pid, &quota);
	if (r < 0)
		return r;
	if (quota.limit)
		facts_set_string(facts, "cpu_quota", quota_format(quota.cpus, text));
	else
		facts_remove(facts, "cpu_quota");
	quota_clear(&quota);
	return facts->failed ? -ENOMEM : 0;
}

/* --- What cpufreq says of each CPU, pyperf's and ours. */

static void append_config(struct text *config, const char *what, const char *value)
{
	if (value[0])
		text_appendf(config, "%s%s%s", config->length > 0 ? ", " : "", what, value);
}

static char *format_cpu_config(
	int cpu, const struct cpufreq_policy_info *info, const struct isolation *isolation)
{
	_cleanup_text_ struct text config = { 0 };

	append_config(&config, "driver:", info->driver);
	if (strcmp(info->driver, "intel_pstate") == 0 && info->boost != CPUFREQ_BOOST_UNKNOWN)
		append_config(&config,
			"intel_pstate:", info->boost == CPUFREQ_BOOST_ON ? "turbo" : "no turbo");
	append_config(&config, "governor:", info->governor);
	if (cpumask_isset(isolation->nohz_full, cpu))
		append_config(&config, "", "nohz_full");
	if (cpumask_isset(isolation->boot, cpu))
		append_config(&config, "", "isolated");
	return text_steal(&config);
}

/* Like per_cpu_set(); an empty text means that there is nothing. */
static void per_cpu_set_word(struct per_cpu *per_cpu, int cpu, const char *word)
{
	if (word && word[0])
		per_cpu_set(per_cpu, cpu, strdup(word));
}

/* The word that was read from a file of a policy, or what says that the file is there and cannot be
 * read; "" where it is not. */
static const char *word_or_unknown(const char *word, int cpu, const char *file)
{
	char path[CPUFREQ_PATH_SIZE], again[FILE_ATTR_SIZE];

	return *word ? word : read_word(cpufreq_path(cpu, file, path), again) < 0 ? UNKNOWN : "";
}

static const char *boost_word(const struct cpufreq_policy_info *info, int cpu)
{
	char path[CPUFREQ_PATH_SIZE];

	switch (info->boost) {
	case CPUFREQ_BOOST_ON:
		return "on";
	case CPUFREQ_BOOST_OFF:
		return "off";
	case CPUFREQ_BOOST_UNKNOWN:
		break;
	}
	return cpufreq_find_boost_switch(cpu, path) ? UNKNOWN : "";
}

static void set_cpufreq(
	const struct cpumask *mask, const struct isolation *isolation, struct facts *facts)
{
	struct per_cpu configs, governors, boosts, epps;
	struct text config = { 0 };
	char idle[FILE_ATTR_SIZE];

	per_cpu_begin(&configs, mask);
	per_cpu_begin(&governors, mask);
	per_cpu_begin(&boosts, mask);
	per_cpu_begin(&epps, mask);
	cpumask_for_each (cpu, mask) {
		struct cpufreq_policy_info info = { 0 };
		int r = cpufreq_read_policy(cpu, &info);
		char *text;

		text = format_cpu_config(cpu, &info, isolation);
		per_cpu_set_word(&configs, cpu, text);
		configs.failed |= !text;
		free(text);
		/* No policy, one of an offline CPU, or a build that reads none. */
		if (r == -ENOENT || r == -EBUSY || r == -EOPNOTSUPP)
			continue;
		facts->failed |= r == -ENOMEM;
		per_cpu_set_word(&governors, cpu,
			r < 0 ? UNKNOWN : word_or_unknown(info.governor, cpu, "scaling_governor"));
		per_cpu_set_word(&boosts, cpu, boost_word(&info, cpu));
		per_cpu_set_word(&epps, cpu,
			word_or_unknown(info.epp, cpu, "energy_performance_preference"));
	}

	per_cpu_format(&configs, false, &config);
	per_cpu_end(&configs);
	if (read_word(CPU_ROOT "cpuidle/current_driver", idle) > 0)
		text_appendf(&config, "%sidle:%s", config.length > 0 ? "; " : "", idle);
	set_text(facts, "cpu_config", &config);
	set_per_cpu(facts, "quiesce_governor", &governors, true);
	set_per_cpu(facts, "quiesce_boost", &boosts, true);
	set_per_cpu(facts, "quiesce_epp", &epps, true);
}

/* --- Our own facts. */

/* Boot parameters that decide where work runs, how fast a CPU is, what an entry into the kernel
 * costs or how memory is laid out (Documentation/admin-guide/kernel-parameters.txt). */
static const char *const parameters[] = {
	/* isolation, ticks, interrupts */
	"isolcpus",
	"nohz",
	"nohz_full",
	"rcu_nocbs",
	"rcu_nocb_poll",
	"rcutree.kthread_prio",
	"irqaffinity",
	"kthread_cpus",
	"threadirqs",
	"skew_tick",
	"highres",
	"nowatchdog",
	"nmi_watchdog",
	"nosoftlockup",
	"watchdog_thresh",
	"workqueue.unbound_cpus",
	"workqueue.power_efficient",
	"preempt",
	"mce",
	"audit",
	"psi",
	"systemd.unified_cgroup_hierarchy",
	"cgroup_no_v1",
	/* CPUs */
	"maxcpus",
	"nr_cpus",
	"possible_cpus",
	"nosmp",
	"nosmt",
	"l1tf",
	"split_lock_detect",
	/* clocks */
	"tsc",
	"clocksource",
	"hpet",
	"notsc",
	/* frequency and idle */
	"intel_pstate",
	"amd_pstate",
	"amd_prefcore",
	"cpufreq.default_governor",
	"cpufreq.off",
	"cpuidle.off",
	"cpuidle.governor",
	"intel_idle.max_cstate",
	"processor.max_cstate",
	"idle",
	/* mitigations */
	"mitigations",
	"pti",
	"nopti",
	"kpti",
	"nospectre_v1",
	"nospectre_v2",
	"spectre_v2",
	"spectre_v2_user",
	"spectre_bhi",
	"nospec_store_bypass_disable",
	"spec_store_bypass_disable",
	"spec_rstack_overflow",
	"ssbd",
	"mds",
	"tsx",
	"tsx_async_abort",
	"mmio_stale_data",
	"retbleed",
	"srbds",
	"gather_data_sampling",
	"reg_file_data_sampling",
	"indirect_target_selection",
	"tsa",
	"vmscape",
	"kvm.nx_huge_pages",
	"kvm-intel.vmentry_l1d_flush",
	/* memory */
	"transparent_hugepage",
	"hugepages",
	"hugepagesz",
	"default_hugepagesz",
	"numa",
	"numa_balancing",
	"norandmaps",
	"nokaslr",
	"randomize_kstack_offset",
	"init_on_alloc",
	"init_on_free",
	"page_poison",
	"slub_debug",
	"slab_debug",
	"page_alloc.shuffle",
	"iommu",
	"intel_iommu",
	"amd_iommu",
	"iommu.passthrough",
	"iommu.strict",
};

/* The kernel takes - and _ in a parameter's name for the same (kernel/params.c). */
static bool is_parameter(const char *word, size_t length, const char *name)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		char a = word[i] == '-' ? '_' : word[i];
		char b = name[i] == '-' ? '_' : name[i];

		if (a != b)
			return false;
	}
	return true;
}

static bool is_known_parameter(const char *word, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		if (is_parameter(word, length, parameters[i]))
			return true;
	return false;
}

char *identity_pick_parameters(const char *cmdline)
{
	_cleanup_text_ struct text picked = { 0 };

	for (const char *at = cmdline; *at;) {
		const char *word, *name;
		bool quoted = false;
		size_t length;

		at += strspn(at, " \t\n");
		word = at;
		/* Blanks inside of double quotes do not end a parameter. */
		for (; *at && (quoted || !strchr(" \t\n", *at)); at++)
			quoted ^= *at == '"';
		length = (size_t)(at - word);
		/* The parameters after "--" are for init. */
		if (length == 2 && memcmp(word, "--", 2) == 0)
			break;
		name = word + (*word == '"');
		if (!is_known_parameter(name, strcspn(name, "= \t\n\"")))
			continue;
		/* None of these parameters has blanks in its value. After a quote that is never
		 * closed there may be anything. */
		if (strcspn(word, " \t\n") < length)
			continue;
		if (picked.length > 0)
			text_append(&picked, " ");
		text_append_n(&picked, word, length);
	}
	return text_steal(&picked);
}

static void set_cmdline(struct facts *facts)
{
	_cleanup_free_ char *cmdline = NULL, *picked = NULL;

	if (file_read_all("/proc/cmdline", 1024 * 1024, &cmdline, NULL) < 0)
		return;
	picked = identity_pick_parameters(cmdline);
	facts->failed |= !picked;
	if (picked && *picked)
		facts_set_string(facts, "quiesce_cmdline", picked);
}

static void set_virtualization(const char *cpuinfo_text, struct facts *facts)
{
	_cleanup_free_ char *container = NULL;
	const char *hypervisor;
	bool told;
	int r;

	r = virtualization_find_hypervisor(cpuinfo_text, &hypervisor, &told);
	if (r == 0)
		r = virtualization_read_container(&container);
	facts->failed |= r == -ENOMEM;
	/* It is not known, which is not "none". */
	if (r < 0)
		return;
	if (container)
		facts_set_stringf(facts, "quiesce_virtualization", "%s%scontainer %s",
			hypervisor ? hypervisor : "", hypervisor ? ", " : "", container);
	else if (told)
		facts_set_string(facts, "quiesce_virtualization", hypervisor ? hypervisor : "none");
}

static void set_mitigations(struct facts *facts)
{
	_cleanup_paths_ struct paths found = { 0 };
	struct text mitigations = { 0 };
	bool known = false;

	facts->failed |= paths_list(CPU_ROOT "vulnerabilities", "*", NULL, &found) == -ENOMEM;
	for (size_t i = 0; i < found.n; i++) {
		static const char mitigation[] = "Mitigation: ";
		const char *name = strrchr(found.items[i], '/') + 1;
		char word[FILE_ATTR_SIZE];
		const char *value = word;

		if (read_word(found.items[i], word) > 0) {
			known = true;
			if (text_starts_with(word, mitigation))
				value += strlen(mitigation);
			if (strcmp(word, "Not affected") != 0)
				text_appendf(&mitigations, "%s%s: %s",
					mitigations.length > 0 ? " | " : "", name, value);
		} else {
			/* Without an entry the vulnerability would seem to be "not affected". */
			text_appendf(&mitigations, "%s%s: unknown",
				mitigations.length > 0 ? " | " : "", name);
		}
	}
	if (known && mitigations.length == 0)
		text_append(&mitigations, "not affected");
	set_text(facts, "quiesce_mitigations", &mitigations);
}

static void set_smt(struct facts *facts)
{
	char control[FILE_ATTR_SIZE];
	uint64_t active;
	int r;

	r = read_word(CPU_ROOT "smt/control", control);
	if (r == 0)
		return;
	if (r < 0) {
		facts_set_string(facts, "quiesce_smt", UNKNOWN);
		return;
	}
	r = file_read_attr_u64(AT_FDCWD, CPU_ROOT "smt/active", &active);
	if (r == -ENOENT)
		facts_set_string(facts, "quiesce_smt", control);
	else if (r < 0)
		facts_set_stringf(facts, "quiesce_smt", "%s, " UNKNOWN, control);
	else
		facts_set_stringf(
			facts, "quiesce_smt", "%s, %s", control, active ? "active" : "inactive");
}

/* The choice that was made, by the text that was read with the result r. */
static const char *choice_or_unknown(int r, char *text)
{
	if (r < 0)
		return UNKNOWN;
	text_pick_choice(text);
	return text;
}

static void set_thp(struct facts *facts)
{
	char enabled[FILE_ATTR_SIZE], defrag[FILE_ATTR_SIZE];
	const char *when;
	int r = read_word("/sys/kernel/mm/transparent_hugepage/enabled", enabled);

	if (r == 0)
		return;
	when = choice_or_unknown(r, enabled);
	r = read_word("/sys/kernel/mm/transparent_hugepage/defrag", defrag);
	if (r == 0)
		facts_set_string(facts, "quiesce_thp", when);
	else
		facts_set_stringf(
			facts, "quiesce_thp", "%s, defrag %s", when, choice_or_unknown(r, defrag));
}

/* `error` is that of reading the list, which then is empty or lacks something. */
static void set_list(struct facts *facts, const char *name, const struct cpumask *mask, int error)
{
	_cleanup_free_ char *list = NULL;

	if (error < 0 && !is_absent(error)) {
		facts_set_string(facts, name, UNKNOWN);
		return;
	}
	if (cpumask_is_empty(mask))
		return;
	list = cpumask_format_list(mask);
	facts->failed |= !list;
	facts_set_string(facts, name, list);
}

static void set_power(struct facts *facts)
{
	static const char *const words[] = {
		[POWER_NONE] = "none",
		[POWER_AC] = "ac",
		[POWER_BATTERY] = "battery",
		[POWER_UNKNOWN] = UNKNOWN,
	};

	facts_set_string(facts, "quiesce_power_supply", words[power_read_source()]);
}

/* What identity_read_settings() finds. */
static const char *const settings[] = {
	"aslr",
	"cpu_count",
	"cpu_affinity",
	"cpu_quota",
	"cpu_config",
	"quiesce_clocksource",
	"quiesce_smt",
	"quiesce_thp",
	"quiesce_governor",
	"quiesce_boost",
	"quiesce_epp",
	"quiesce_isolated",
	"quiesce_partitions",
	"quiesce_nohz_full",
	"quiesce_power_supply",
};

bool identity_is_setting(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (strcmp(settings[i], name) == 0)
			return true;
	}
	return false;
}

int identity_read_settings(const struct cpumask *mask, pid_t pid, struct facts *facts)
{
	_cleanup_(isolation) struct isolation *isolation = NULL;
	int r;

	r = isolation_read(&isolation);
	if (r < 0)
		return r;
	set_aslr(facts);
	set_cpus(mask, facts);
	r = identity_set_quota(pid, facts);
	if (r < 0)
		return r;
	set_cpufreq(mask, isolation, facts);
	set_attr(facts, "quiesce_clocksource",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	set_smt(facts);
	set_thp(facts);
	set_list(facts, "quiesce_isolated", isolation->boot, isolation->boot_error);
	set_list(facts, "quiesce_partitions", isolation->partitions, isolation->partitions_error);
	set_list(facts, "quiesce_nohz_full", isolation->nohz_full, isolation->nohz_full_error);
	set_power(facts);
	return facts->failed ? -ENOMEM : 0;
}

int identity_read(const struct cpumask *mask, pid_t pid, struct facts *facts)
{
	struct timespec boot_time = { 0 };
	_cleanup_free_ char *cpuinfo_text = NULL;
	int r = cpuinfo_read(&cpuinfo_text);

	set_system(facts);
	if (read_boot_time(&boot_time.tv_sec))
		facts_set_date(facts, "boot_time", &boot_time);
	facts->failed |= r == -ENOMEM;
	if (r == 0)
		set_cpu_model(mask, cpuinfo_text, facts);
	set_cmdline(facts);
	if (r == 0 || !errno_is_ours(-r))
		set_virtualization(cpuinfo_text, facts);
	set_mitigations(facts);
	return identity_read_settings(mask, pid, facts);
}

/* --- Facts that change. */

/* Rounds halves to the even number, like Python's round(). */
static long round_to_even(double value)
{
	long whole = (long)value;
	double rest = value - (double)whole;

	if (rest > 0.5 || (rest >= 0.5 && whole % 2 != 0))
		whole++;
	return whole;
}

static void set_cpu_freq(const struct cpumask *mask, struct facts *facts)
{
	_cleanup_free_ char *text = NULL;
	struct per_cpu frequencies;
	const char *cursor;
	double mhz;
	int cpu;

	if (cpuinfo_read(&text) < 0)
		return;
	per_cpu_begin(&frequencies, mask);
	cursor = text;
	while (cpuinfo_next_mhz(&cursor, &cpu, &mhz)) {
		char *info = NULL;

		if (!cpumask_isset(mask, cpu))
			continue;
		if (asprintf(&info, "%ld MHz", round_to_even(mhz)) < 0)
			info = NULL;
		per_cpu_set(&frequencies, cpu, info);
	}
	set_per_cpu(facts, "cpu_freq", &frequencies, false);
}

static void set_cpu_temp(const struct thermal *thermal, struct facts *facts)
{
	const struct thermal_info *info;
	double celsius;

	if (!thermal || thermal_read(thermal, &celsius) < 0)
		return;
	info = thermal_get_info(thermal);
	facts_set_stringf(facts, "cpu_temp", "%s:%s=%.0f C", info->chip, info->label, celsius);
}

static void set_load(struct facts *facts)
{
	struct procstat_load load;
	char text[128];

	if (file_read_attr(AT_FDCWD, "/proc/loadavg", text, sizeof(text)) < 0 ||
		procstat_parse_load(text, &load) < 0)
		return;
	facts_set_real(facts, "load_avg_1min", load.load1);
	facts_set_integer(facts, "runnable_threads", load.runnable);
}

int identity_read_load(const struct cpumask *mask, struct facts *facts)
{
	set_load(facts);
	set_cpu_freq(mask, facts);
	return facts->failed ? -ENOMEM : 0;
}

int identity_read_moving(
	const struct cpumask *mask, const struct thermal *thermal, struct facts *facts)
{
	struct timespec now;
	time_t boot_time;

	clock_gettime(CLOCK_REALTIME, &now);
	facts_set_date(facts, "date", &now);
	if (read_boot_time(&boot_time))
		facts_set_real(facts, "uptime",
			(double)(now.tv_sec - boot_time) + (double)now.tv_nsec / 1e9);
	(void)identity_read_load(mask, facts);
	set_cpu_temp(thermal, facts);
	return facts->failed ? -ENOMEM : 0;
}
