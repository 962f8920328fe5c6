// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parsers of what the kernel writes under libFuzzer, and what takes names out of it before it
 * is sent to somebody. One program for all; the variable FUZZ_TARGET says which. Beside what the
 * sanitizers see, each is held to what its header promises.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/machine/bootline.h"
#include "base/machine/counter.h"
#include "base/machine/cpuinfo.h"
#include "base/machine/cpuload.h"
#include "base/machine/cpumask.h"
#include "base/machine/identity.h"
#include "base/machine/interrupts.h"
#include "base/machine/irqline.h"
#include "base/machine/isolation.h"
#include "base/machine/mountinfo.h"
#include "base/machine/procstat.h"
#include "base/machine/quota.h"
#include "base/machine/statetime.h"
#include "base/machine/swap.h"
#include "base/machine/tasks.h"
#include "base/machine/thermal.h"
#include "base/machine/topology.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/where/cpuholder.h"
#include "base/where/running.h"
#include "library/columns.h"
#include "look/isol-check/osnoise.h"
#include "look/recording/scrub.h"
#include "measure/serve/group.h"
#include "measure/serve/listener.h"
#include "quiet/benchmark-join/peer.h"
#include "quiet/benchmark-target/settings.h"
#include "quiet/engine/journal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	N_CPUS = 256,
};

static void must(bool condition)
{
	if (!condition)
		abort();
}

static struct cpumask *new_mask(void)
{
	struct cpumask *mask = NULL;

	must(cpumask_new(&mask) == 0);
	return mask;
}

/* --- CPU lists and masks. --- */

static void must_say_where(const char *text, const struct cpumask_error *error)
{
	_cleanup_free_ char *words = cpumask_format_error(error);

	must(error->offset <= strlen(text) && error->reason && words);
	must(error->character == text[error->offset]);
}

static void fuzz_lists(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_(cpumask) struct cpumask *mask = new_mask(), *again = new_mask();
	struct cpumask_error error = { 0 };

	must(cpumask_set(mask, 7) == 0);
	for (unsigned n = 0; n <= CPUMASK_CAPACITY; n += CPUMASK_CAPACITY / 2) {
		_cleanup_free_ char *list = NULL;

		if (cpumask_parse_list(text, n, mask, &error) < 0) {
			must_say_where(text, &error);
			continue;
		}
		list = cpumask_format_list(mask);
		must(list && cpumask_parse_list(list, 0, again, NULL) == 0);
		must(cpumask_equal(mask, again));
	}
	cpumask_clear_all(mask);
	must(cpumask_set(mask, 7) == 0);
	if (cpumask_parse_hex(text, mask) < 0) {
		must(cpumask_weight(mask) == 1 && cpumask_isset(mask, 7));
	} else {
		_cleanup_free_ char *hex = cpumask_format_hex(mask, 1);

		must(hex && cpumask_parse_hex(hex, again) == 0);
		must(cpumask_equal(mask, again));
	}
	cpumask_assign(again, mask);
	cpumask_add_numbers(mask, text);
	must(cpumask_subset(again, mask));
}

/* --- Attributes. --- */

static void fuzz_attributes(char *text, const char *second, size_t size _unused_)
{
	const char *cursor = text;
	size_t length = strlen(text);
	uint64_t number, before = 0;
	int64_t value;
	double real;

	while (parse_next_u64(&cursor, &number) == 0)
		must(cursor > text && cursor <= text + strlen(text));
	if (parse_attr_u64(text, &number) == 0 && number <= INT64_MAX)
		must(parse_attr_s64(text, &value) == 0 && value == (int64_t)number);
	if (parse_seconds(text, 0, 1000, &real) == 0)
		must(real >= 0 && real <= 1000);
	if (parse_double(text, -1, 1, &real) == 0)
		must(real >= -1 && real <= 1);
	(void)parse_real(text, &real);
	if (parse_hex_u64(text, 1000, &before) == 0)
		must(before <= 1000);
	for (int kind = KNOB_WORD; kind <= KNOB_RATE; kind++) {
		_cleanup_free_ char *writable = knob_writable((enum knob_kind)kind, text);

		must(knob_equal((enum knob_kind)kind, text, text));
		must(knob_equal((enum knob_kind)kind, text, second) ==
			knob_equal((enum knob_kind)kind, second, text));
		must(!knob_is_foreign((enum knob_kind)kind, text, text));
		must(writable != NULL);
	}
	text_pick_choice(text);
	must(strlen(text) <= length);
}

/* Where a value goes in an event of a PMU, and which events a list asks for. */
static void fuzz_pmu(char *text, const char *second, size_t length _unused_)
{
	static const uint64_t values[] = { 0, 1, 0x5a, UINT64_MAX };
	char **names = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct perf_event_attr attr = { .config = UINT64_MAX, .config1 = 7 };
		struct perf_event_attr again = attr;
		int r = counter_apply_format(text, values[i], &attr);

		must(r == 0 || r == -EBADMSG || r == -ERANGE);
		/* No bits lie about in others than those that it has. */
		must(counter_apply_format(text, values[i], &again) == r);
		must(memcmp(&attr, &again, sizeof(attr)) == 0);
		if (r == 0)
			must(attr.type == 0 && attr.size == 0 && !attr.disabled);
		if (r == 0 && values[i] == 0)
			must(counter_apply_format(text, 1, &attr) == 0);
		if (r == 0 && values[i] == UINT64_MAX)
			must(attr.config == UINT64_MAX);
	}
	if (counter_split_list(second, &names) < 0)
		return;
	for (size_t i = 0; names[i]; i++)
		must(names[i][0]);
	counter_free_list(names);
}

/* Labels of sensors. */
static void fuzz_sensors(char *text, const char *second, size_t length _unused_)
{
	static const char *const chips[] = { "coretemp", "k10temp", "acpitz" };
	bool foreign;

	for (size_t i = 0; i < ARRAY_SIZE(chips); i++)
		must(thermal_rank(chips[i], text, 0, &foreign) >= 0);
	must(thermal_rank(text, second, -1, &foreign) >= 0);
}

/* --- Tables of /proc. --- */

static void read_lines(char *text)
{
	struct irqline items[] = { { .number = 0 }, { .number = 9 }, { .number = 38 } };
	struct irqlines lines = { .items = items, .n = ARRAY_SIZE(items) };

	must(irqlines_take_names(&lines, text) == 0);
	for (size_t i = 0; i < lines.n; i++)
		free(items[i].action);
}

static void fuzz_interrupts(char *text, const char *second, size_t length)
{
	_cleanup_(interrupts) struct interrupts *interrupts = NULL;
	_cleanup_(cpumask) struct cpumask *mask = new_mask();
	uint64_t counts[N_CPUS] = { 0 };
	struct interrupt_delta delta;
	size_t cursor = 0;
	int cpu;

	must(cpumask_set(mask, 0) == 0 && cpumask_set(mask, 3) == 0);
	must(interrupts_new(mask, &interrupts) == 0);
	if (interrupts_read_text(interrupts, text, strlen(text)) == 0 &&
		interrupts_read_text(interrupts, second, length) == 0 &&
		interrupts_comparable(interrupts))
		while (interrupts_diff(interrupts, &cursor, &delta))
			must(delta.delta > 0 && delta.name && !strchr(delta.name, '\n'));
	(void)cpuload_parse_interrupts(text, N_CPUS, counts);
	must(interrupts_find_busiest(mask, text, second, &cpu) < 0 || cpu == 0 || cpu == 3);
	must(columns_sum(text, 0) >= -1 && columns_sum(second, 3) >= -1);
	read_lines(text);
}

static void fuzz_stat(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_(cpumask) struct cpumask *mask = new_mask();
	struct procstat_times times;
	struct procstat_load load;
	unsigned running;
	time_t boot;

	must(cpumask_set(mask, 0) == 0 && cpumask_set(mask, 3) == 0);
	if (procstat_parse_times(mask, text, strlen(text), 10 * 1000 * 1000, &times) == 0)
		must(times.n_cpus <= strlen(text) / strlen("cpu0 1\n"));
	if (procstat_parse_load(text, &load) == 0)
		must(load.load1 >= 0);
	(void)procstat_parse_running(text, &running);
	if (identity_parse_boot_time(text, &boot))
		must(boot >= 0);
	topology_parse_stat(text, mask);
	must(cpumask_weight(mask) <= strlen(text) / strlen("cpu0"));
}

static void fuzz_time_in_state(char *text, const char *second _unused_, size_t length _unused_)
{
	struct statetime_table table;

	if (statetime_parse_table(text, &table) == 0)
		must(table.n > 0 && table.n <= CPUFREQ_TABLE_MAX);
}

static void fuzz_softirqs(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_(cpumask) struct cpumask *mask = new_mask();
	struct procstat_softirqs softirqs;

	must(cpumask_set(mask, 0) == 0 && cpumask_set(mask, 3) == 0);
	(void)procstat_parse_softirqs(mask, text, strlen(text), &softirqs);
}

static void fuzz_cpuinfo(char *text, const char *second _unused_, size_t length _unused_)
{
	const char *cursor = text;
	double mhz;
	int number;

	for (int cpu = 0; cpu < 3; cpu++) {
		struct cpuinfo info = { 0 };

		if (cpuinfo_parse(text, cpu, &info) == 0)
			must(!info.model || !strchr(info.model, '\n'));
		cpuinfo_clear(&info);
	}
	while (cpuinfo_next_mhz(&cursor, &number, &mhz))
		must(cursor > text && cursor <= text + strlen(text) && mhz >= 0);
	(void)virtualization_parse_sysinfo(text);
}

static void fuzz_swaps(char *text, const char *second _unused_, size_t length _unused_)
{
	struct swap_areas areas = { 0 };
	uint64_t kib;

	(void)swap_parse_available(text, &kib);
	must(swap_areas_parse(text, &areas) == 0);
	for (size_t i = 0; i < areas.n; i++)
		must(areas.items[i].path &&
			(i == 0 || areas.items[i].priority <= areas.items[i - 1].priority));
	swap_areas_clear(&areas);
}

/* Of a process: where its cpusets are mounted, and its environment. */
static void fuzz_mounts(char *text, const char *second, size_t length)
{
	const char *container = virtualization_find_container(second, length);
	char *cursor = text, *line;

	if (container)
		must(*container && container > second && container < second + length);
	while ((line = strsep(&cursor, "\n"))) {
		static const char *const controllers[] = { "cpuset", "cpu", NULL };
		const char *controller = controllers[strlen(line) % ARRAY_SIZE(controllers)];
		struct mountinfo_cgroup mount;
		size_t size = strlen(line);

		if (!mountinfo_parse_cgroup(line, controller, &mount))
			continue;
		must(mount.point >= line && mount.point < line + size);
		must(mount.root >= line && mount.root < mount.point);
		must(strlen(mount.point) < size && strlen(mount.root) < size);
	}
}

static void fuzz_locks(char *text, const char *second _unused_, size_t length _unused_)
{
	struct stat st = { .st_dev = 0x17, .st_ino = 4711 };

	must(cpuholder_parse_locks(text, &st) >= 0);
}

/* --- Of a process. --- */

static void fuzz_pid_stat(char *text, const char *second _unused_, size_t length _unused_)
{
	struct task task = { .pid = 4711, .may = true, .tid = -1, .cpu = -1 };
	int r = tasks_parse_stat(text, &task);

	must(task.pid == 4711 && task.may && !task.only);
	if (r < 0)
		must(task.tid == -1 && task.cpu == -1 && !task.comm[0]);
	else
		must(task.tid >= 0 && task.cpu >= 0 && strlen(task.comm) < sizeof(task.comm));
}

static void fuzz_pid_status(char *text, const char *second _unused_, size_t length _unused_)
{
	/* Nobody is two users. */
	must(!(tasks_status_is_of(text, 0) && tasks_status_is_of(text, 1000)));
}

static void fuzz_cgroup(char *text, const char *second _unused_, size_t length _unused_)
{
	struct isolation_cpuset cpuset = { 0 };

	if (isolation_parse_cgroup(text, &cpuset) == 0) {
		must(cpuset.path && cpuset.path[0] == '/' && !strchr(cpuset.path, '\n'));
		must(strncmp(cpuset.path, "/..", 3) != 0 ||
			isalnum((unsigned char)cpuset.path[3]) || cpuset.path[3] != '/');
		must(cpuset.v1 == (cpuset.controllers != NULL));
	}
	isolation_cpuset_clear(&cpuset);
}

/* The limit of a cgroup, of v2 or of v1, and how long it was throttled. */
static void fuzz_quota(char *text, const char *second, size_t length _unused_)
{
	double cpus = -1;
	int64_t ns = -1;

	if (quota_parse_max(text, &cpus) == 1)
		must(cpus > 0);
	cpus = -1;
	if (quota_parse_cfs(text, second, &cpus) == 1)
		must(cpus > 0);
	if (quota_parse_stat(text, &ns) == 0)
		must(ns >= 0);
}

/* Who listens on a port or at a file, and what the files of a service's cgroup say. */
static void fuzz_listener(char *text, const char *second _unused_, size_t length _unused_)
{
	uint64_t inodes[LISTENER_MAX];
	struct group_cpu cpu;
	size_t n = listener_parse(text, &(struct address){ .port = 8080 }, inodes, 0);

	n = listener_parse(text, &(struct address){ .socket = "/run/a/socket" }, inodes, n);
	must(n <= LISTENER_MAX);
	for (size_t i = 0; i < n; i++)
		must(inodes[i] > 0);
	if (group_parse_stat(text, &cpu) == 0)
		must(cpu.ns >= 0 && cpu.user_ns >= -1 && cpu.system_ns >= -1);
	(void)group_is_frozen(text);
}

static void fuzz_osnoise(char *text, const char *second _unused_, size_t length _unused_)
{
	struct osnoise osnoise = { 0 };
	uint64_t lost;

	(void)osnoise_parse_overrun(text, &lost);
	osnoise_parse(text, "isol-check", UINT64_MAX / 4096, &osnoise);
	for (size_t i = 0; i < osnoise.n; i++)
		must(osnoise.items[i].cpu >= 0 && osnoise.items[i].count > 0 &&
			osnoise.items[i].longest_ns <= osnoise.items[i].total_ns &&
			!strchr(osnoise.items[i].name, '\n') &&
			(i == 0 || osnoise.items[i].cpu >= osnoise.items[i - 1].cpu));
	osnoise_clear(&osnoise);
}

/* --- The kernel command line, and files of our own. --- */

static void fuzz_cmdline(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_(bootline) struct bootline *bootline = NULL;
	_cleanup_free_ char *picked = NULL, *again = NULL, *value = NULL;

	must(bootline_parse(text, N_CPUS, &bootline) == 0);
	must(bootline->isolcpus.cpus && bootline->nohz_full.cpus && bootline->rcu_nocbs.cpus);
	must(!bootline->nohz_full.text == cpumask_is_empty(bootline->nohz_full.cpus) ||
		bootline->nohz_full.text);
	must(bootline_find(text, "isolcpus", &value) == 0 || !bootline->isolcpus.text);
	/* What is picked is picked again. */
	picked = identity_pick_parameters(text);
	must(picked);
	again = identity_pick_parameters(picked);
	must(again && strcmp(picked, again) == 0);
}

static const char boot_id[] = "5e77e12f-0000-4000-8000-000000000001";

static void fuzz_target_file(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *value = NULL;

	if (running_parse_cpus(text, boot_id, &cpus) == 0)
		must(cpus != NULL);
	(void)running_parse_value(text, boot_id, "CPUS", &value);
}

static void fuzz_settings(char *text, const char *second _unused_, size_t length _unused_)
{
	struct settings settings = { 0 };
	struct settings_error error = { 0 };

	if (settings_parse(text, &settings, &error) == -EINVAL)
		must(error.line > 0 && error.reason);
	settings_clear(&settings);
}

/* The text up to its last line, and in the place of that one the line that would stand there: its
 * checksum is no secret, so that whoever makes up a journal can have the right one. */
static char *seal_journal(const char *text)
{
	_cleanup_text_ struct text sealed = { 0 };
	uint64_t sum = 0xcbf29ce484222325;
	const char *last = NULL;
	size_t n = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "end\t", 4) == 0)
			last = line;
		n += !last && strncmp(line, "knob\t", 5) == 0;
	}
	text_append_n(&sealed, text, last ? (size_t)(last - text) : strlen(text));
	if (!last && sealed.length > 0 && sealed.data[sealed.length - 1] != '\n')
		text_append(&sealed, "\n");
	text_appendf(&sealed, "end\t%zu\t", n);
	/* FNV-1a, see quiet/engine/journal.h. */
	for (size_t i = 0; !sealed.failed && i < sealed.length; i++)
		sum = (sum ^ (unsigned char)sealed.data[i]) * 0x100000001b3;
	text_appendf(&sealed, "%016" PRIx64 "\n", sum);
	return text_steal(&sealed);
}

static void fuzz_journal(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_(journal) struct journal *journal = NULL, *again = NULL;
	_cleanup_free_ char *why = NULL, *written = NULL, *sealed = seal_journal(text);

	must(sealed != NULL);
	if (journal_parse(text, "noise-off", boot_id, &journal, &why) == 0)
		must(!why);
	free(TAKE_PTR(why));
	journal_free(TAKE_PTR(journal));
	if (journal_parse(sealed, "noise-off", boot_id, &journal, &why) < 0)
		return;
	for (size_t i = 0; i < journal->n; i++)
		must(journal_path_is_ours(journal->entries[i].path));
	written = journal_format(journal, boot_id);
	must(written && journal_parse(written, "noise-off", boot_id, &again, &why) == 0);
	must(again->n == journal->n);
}

/* --- What goes out of the house. --- */

static const char *const secrets[] = { "quux-pc", "enzo9s0", "office lan" };

static struct scrub_names *names;

/* Whether one of the machine's names stands there as a word; a longer word that has it in it is
 * another one. */
static bool has_name(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		const char *at = text;

		for (; (at = strstr(at, secrets[i])); at++)
			if ((at == text || !isalnum((unsigned char)at[-1])) &&
				!isalnum((unsigned char)at[strlen(secrets[i])]))
				return true;
	}
	return false;
}

/* As a pattern: x a hexadecimal digit, the rest itself. */
static bool matches(const char *at, const char *pattern)
{
	for (; *pattern; pattern++, at++)
		if (*pattern == 'x' ? !isxdigit((unsigned char)*at) : *at != *pattern)
			return false;
	return true;
}

/* Four numbers of one to three digits, and nothing of the kind behind. */
static bool is_ipv4(const char *at)
{
	for (int i = 0; i < 4; i++) {
		size_t digits = strspn(at, "0123456789");

		if (digits == 0 || digits > 3)
			return false;
		at += digits;
		if (i < 3 && *at++ != '.')
			return false;
	}
	return *at != '.' || !isdigit((unsigned char)at[1]);
}

static bool has_address(const char *text)
{
	for (const char *at = text; *at; at++)
		if (matches(at, "xx:xx:xx:xx:xx:xx") || matches(at, "xx-xx-xx-xx-xx-xx") ||
			matches(at, "xx_xx_xx_xx_xx_xx") || matches(at, "xxxxxxxxxxxx") ||
			matches(at, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") ||
			((at == text || !(isdigit((unsigned char)at[-1]) || at[-1] == '.')) &&
				is_ipv4(at)))
			return true;
	return false;
}

static void fuzz_scrub_text(char *text, const char *second _unused_, size_t length _unused_)
{
	_cleanup_free_ char *clean = scrub_text(names, text), *again = NULL, *line = NULL;
	_cleanup_free_ char *actions = scrub_actions(names, text);

	must(actions && !has_address(actions) && !has_name(actions));
	must(clean && !has_address(clean) && !has_name(clean));
	again = scrub_text(names, clean);
	must(again && strcmp(clean, again) == 0);
	line = scrub_cmdline(names, text);
	must(line && line[0] && strchr(line, '\n') == line + strlen(line) - 1);
	must(!has_address(line) && !has_name(line));
	for (const char *word = line; word; word = strchr(word, ' ')) {
		word += *word == ' ';
		must(strncmp(word, "root=", 5) != 0 && strncmp(word, "ip=", 3) != 0);
	}
}

static bool has_line(const char *text, const char *beginning)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, beginning, strlen(beginning)) == 0)
			return true;
	}
	return false;
}

static void fuzz_scrub_tables(char *text, const char *second _unused_, size_t length _unused_)
{
	static const char key[] = "identification = ";
	_cleanup_free_ char *version = scrub_version(names, text);
	_cleanup_free_ char *cpuinfo = scrub_cpuinfo(names, text);
	_cleanup_free_ char *sysinfo = scrub_sysinfo(names, text);
	_cleanup_free_ char *swaps = scrub_swaps(names, text);

	must(version && !strchr(version, '(') && !has_name(version));
	must(cpuinfo && !has_line(cpuinfo, "Serial") && !has_name(cpuinfo));
	for (const char *at = cpuinfo; (at = strstr(at, key));) {
		at += strlen(key);
		must(!isxdigit((unsigned char)at[strspn(at, "0")]));
	}
	must(sysinfo && !has_line(sysinfo, "VM00 Name") && !has_line(sysinfo, "Sequence Code") &&
		!has_line(sysinfo, "LPAR Name") && !has_name(sysinfo));
	must(swaps && !has_line(swaps, "/"));
}

/* --- */

static const struct target {
	const char *name;
	/* The text may be cut up. `second` is what stands behind the first NUL. */
	void (*run)(char *text, const char *second, size_t length);
} targets[] = {
	{ "lists", fuzz_lists },
	{ "attributes", fuzz_attributes },
	{ "pmu", fuzz_pmu },
	{ "sensors", fuzz_sensors },
	{ "mounts", fuzz_mounts },
	{ "interrupts", fuzz_interrupts },
	{ "stat", fuzz_stat },
	{ "softirqs", fuzz_softirqs },
	{ "time-in-state", fuzz_time_in_state },
	{ "cpuinfo", fuzz_cpuinfo },
	{ "swaps", fuzz_swaps },
	{ "listener", fuzz_listener },
	{ "locks", fuzz_locks },
	{ "osnoise", fuzz_osnoise },
	{ "pid-stat", fuzz_pid_stat },
	{ "pid-status", fuzz_pid_status },
	{ "cgroup", fuzz_cgroup },
	{ "quota", fuzz_quota },
	{ "cmdline", fuzz_cmdline },
	{ "journal", fuzz_journal },
	{ "settings", fuzz_settings },
	{ "target-file", fuzz_target_file },
	{ "scrub-text", fuzz_scrub_text },
	{ "scrub-tables", fuzz_scrub_tables },
};

static const struct target *target;

int LLVMFuzzerInitialize(int *argc _unused_, char ***argv _unused_)
{
	const char *name = getenv("FUZZ_TARGET");

	for (size_t i = 0; name && i < ARRAY_SIZE(targets); i++)
		if (strcmp(targets[i].name, name) == 0)
			target = &targets[i];
	if (!target) {
		fprintf(stderr, "fuzz-kernel: FUZZ_TARGET is none of:");
		for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
			fprintf(stderr, " %s", targets[i].name);
		fprintf(stderr, "\n");
		exit(2);
	}
	names = scrub_names_new();
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		scrub_names_add(names, secrets[i], "x");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *second = NULL;
	size_t first, length;

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	first = strlen(text);
	length = first < size ? size - first - 1 : 0;
	/* In memory of its own, so that reading beyond its end is seen. */
	second = malloc(length + 1);
	must(second != NULL);
	memcpy(second, text + first + (first < size), length);
	second[length] = '\0';
	text = realloc(text, first + 1);
	must(text != NULL);
	target->run(text, second, length);
	free(second);
	free(text);
	return 0;
}
