// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before libpfm4's headers, which bring an old copy of this one. */
#include <linux/perf_event.h>

#if HAVE_LIBPFM4
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#endif

#include "base/cleanup.h"
#include "base/file.h"
#include "base/guess.h"
#include "base/machine/counter.h"
#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

#define PMU_ROOT "/sys/bus/event_source/devices"

enum {
	/* The size of d_name in struct dirent. */
	NAME_SIZE = 256,
};

int perf_paranoid_read(int *ret)
{
	char text[32];
	int64_t level;
	int r;

	r = file_read_attr(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (r < 0)
		return r;
	r = parse_attr_s64(text, &level);
	if (r < 0)
		return r;
	if (level < INT_MIN || level > INT_MAX)
		return -ERANGE;
	*ret = (int)level;
	return 0;
}

/* --- Lists. */

void counter_free_list(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}

int counter_split_list(const char *list, char ***ret)
{
	size_t capacity = 2, n = 0;
	char **names;

	for (const char *at = list; *at; at++)
		capacity += *at == ',';
	names = calloc(capacity, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (const char *start = list, *at = list;; at++) {
		bool inside = false;

		for (; *at && (inside || *at != ','); at++)
			inside ^= *at == '/';
		if (inside || at == start) {
			counter_free_list(names);
			return -EINVAL;
		}
		names[n] = strndup(start, (size_t)(at - start));
		if (!names[n]) {
			counter_free_list(names);
			return -ENOMEM;
		}
		n++;
		if (!*at)
			break;
		start = at + 1;
	}
	*ret = names;
	return 0;
}

/* --- Parts of a name. */

/* "u", "k", "h" in any order; false for anything else. */
static bool take_modifiers(const char *text, struct perf_event_attr *attr)
{
	bool user = false, kernel = false, hypervisor = false;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text == 'u')
			user = true;
		else if (*text == 'k')
			kernel = true;
		else if (*text == 'h')
			hypervisor = true;
		else
			return false;
	}
	attr->exclude_user = !user;
	attr->exclude_kernel = !kernel;
	attr->exclude_hv = !hypervisor;
	return true;
}

/* Whether the word is a file name that cannot lead out of the PMU's directory. */
static bool is_file_name(const char *word)
{
	return word[0] != '\0' && word[0] != '.' && !strchr(word, '/') && strlen(word) < NAME_SIZE;
}

/* A number in C's notation: decimal, or hexadecimal with 0x. */
static int take_number(const char *text, uint64_t *ret)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return parse_hex_u64(text + 2, UINT64_MAX, ret);
	return parse_u64(text, 0, UINT64_MAX, ret);
}

/* --- PMUs in sysfs. */

static int read_pmu_type(const char *pmu, uint32_t *ret)
{
	char path[sizeof(PMU_ROOT) + NAME_SIZE + 8];
	uint64_t type;
	int r;

	snprintf(path, sizeof(path), PMU_ROOT "/%s/type", pmu);
	r = file_read_attr_u64(AT_FDCWD, path, &type);
	if (r < 0)
		return r;
	if (type > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)type;
	return 0;
}

/*
 * The type of the PMU of this CPU's kind of cores. Only the PMUs of kinds of cores have a file
 * `cpus` (arch/x86/events/intel/core.c, drivers/perf/arm_pmu.c). -ENOENT where there is only one
 * kind, or no such PMU has this CPU.
 */
static int read_core_type(int cpu, uint32_t *ret)
{
	_cleanup_closedir_ DIR *dir = NULL;
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	struct dirent *entry;
	unsigned n_kinds = 0;
	bool found = false;
	uint32_t type = 0;

	if (cpu < 0)
		return -ENOENT;
	dir = opendir(PMU_ROOT);
	if (!dir)
		return -ENOENT;
	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	while ((entry = readdir(dir))) {
		char path[NAME_SIZE + 8], text[FILE_ATTR_SIZE];

		if (!is_file_name(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/cpus", entry->d_name);
		if (file_read_attr(dirfd(dir), path, text, sizeof(text)) < 0 ||
			cpumask_parse_list(text, CPUMASK_CAPACITY, cpus, NULL) < 0)
			continue;
		n_kinds++;
		if (cpumask_isset(cpus, cpu) && read_pmu_type(entry->d_name, &type) == 0)
			found = true;
	}
	if (n_kinds < 2 || !found)
		return -ENOENT;
	*ret = type;
	return 0;
}

/* The config field of this name; NULL when there is none. */
static __u64 *config_of(const char *word, struct perf_event_attr *attr)
{
	if (strcmp(word, "config") == 0)
		return &attr->config;
	if (strcmp(word, "config1") == 0)
		return &attr->config1;
	if (strcmp(word, "config2") == 0)
		return &attr->config2;
	return NULL;
}

int counter_apply_format(const char *format, uint64_t value, struct perf_event_attr *attr)
{
	char word[NAME_SIZE];
	size_t length = strcspn(format, ":");
	uint64_t taken = 0;
	const char *at = format + length;
	__u64 *config;

	if (*at != ':' || length >= sizeof(word))
		return -EBADMSG;
	memcpy(word, format, length);
	word[length] = '\0';
	config = config_of(word, attr);
	if (!config)
		return -EBADMSG;
	do {
		uint64_t first, last;

		at++;
		if (parse_next_u64(&at, &first) < 0)
			return -EBADMSG;
		last = first;
		if (*at == '-') {
			at++;
			if (parse_next_u64(&at, &last) < 0)
				return -EBADMSG;
		}
		if (last > 63 || first > last)
			return -EBADMSG;
		for (uint64_t bit = first; bit <= last; bit++) {
			if (taken & UINT64_C(1) << bit)
				return -EBADMSG;
			taken |= UINT64_C(1) << bit;
			*config &= ~(UINT64_C(1) << bit);
			*config |= (value & 1) << bit;
			value >>= 1;
		}
	} while (*at == ',');
	if (*at)
		return -EBADMSG;
	return value == 0 ? 0 : -ERANGE;
}

static void append_names(struct text *text, const char *pmu, const char *folder)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[sizeof(PMU_ROOT) + NAME_SIZE + 16];
	struct dirent *entry;

	snprintf(path, sizeof(path), PMU_ROOT "/%s/%s", pmu, folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		/* "energy-pkg.unit" is not an event but the unit of one. */
		if (is_file_name(entry->d_name) && !strchr(entry->d_name, '.'))
			text_appendf(text, "%s%s", text->length > 0 ? ", " : "", entry->d_name);
	}
}

/* `events` lists only what this machine has, so an unknown word without a value may be an event of
 * another machine. Fields have the same names on all machines. */
static int fail_term(const char *pmu, const char *word, bool is_event, char **ret_why)
{
	_cleanup_text_ struct text known = { 0 };

	append_names(&known, pmu, "events");
	append_names(&known, pmu, "format");
	return text_refuse(ret_why, is_event ? -EOPNOTSUPP : -ENOENT,
		"PMU %s has no %s '%s' here; it has %s", pmu, is_event ? "event" : "field", word,
		known.data ? known.data : "none");
}

static int apply_terms(const char *pmu, const char *terms, bool in_alias,
	struct perf_event_attr *attr, char **ret_why);

/* One "word" or "word=value". */
static int apply_term(
	const char *pmu, char *term, bool in_alias, struct perf_event_attr *attr, char **ret_why)
{
	char path[sizeof(PMU_ROOT) + 2 * NAME_SIZE + 16], text[FILE_ATTR_SIZE];
	char *value_text = strchr(term, '=');
	uint64_t value = 1;
	__u64 *config;
	int r;

	if (value_text)
		*value_text++ = '\0';
	if (!is_file_name(term))
		return text_refuse(ret_why, -ENOENT, "'%s' is no name of a field", term);
	/* An event in `events` is a list of fields, and does not contain other events. */
	snprintf(path, sizeof(path), PMU_ROOT "/%s/events/%s", pmu, term);
	if (!value_text && !in_alias && file_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0)
		return apply_terms(pmu, text, true, attr, ret_why);

	if (value_text && take_number(value_text, &value) < 0)
		return text_refuse(ret_why, -ENOENT, "'%s' is no number for %s of PMU %s",
			value_text, term, pmu);
	config = config_of(term, attr);
	if (config && value_text) {
		*config = value;
		return 0;
	}
	snprintf(path, sizeof(path), PMU_ROOT "/%s/format/%s", pmu, term);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r < 0)
		return fail_term(pmu, term, !value_text, ret_why);
	r = counter_apply_format(text, value, attr);
	if (r == -ERANGE)
		return text_refuse(ret_why, -ENOENT, "%s of PMU %s is too small for %s (%s)", term,
			pmu, value_text, text);
	if (r < 0)
		return text_refuse(ret_why, -EOPNOTSUPP,
			"%s of PMU %s has a format of its own (%s)", term, pmu, text);
	return 0;
}

static int apply_terms(const char *pmu, const char *terms, bool in_alias,
	struct perf_event_attr *attr, char **ret_why)
{
	while (*terms) {
		_cleanup_free_ char *term = NULL;
		size_t length = strcspn(terms, ",");
		int r;

		term = strndup(terms, length);
		if (!term)
			return -ENOMEM;
		r = apply_term(pmu, term, in_alias, attr, ret_why);
		if (r < 0)
			return r;
		terms += length + (terms[length] == ',');
	}
	return 0;
}

/* "pmu/terms/modifiers" */
static int resolve_pmu(const char *name, struct perf_event_attr *attr, char **ret_why)
{
	_cleanup_free_ char *copy = strdup(name);
	char *terms, *modifiers;
	int r;

	if (!copy)
		return -ENOMEM;
	terms = strchr(copy, '/');
	modifiers = terms ? strchr(terms + 1, '/') : NULL;
	if (!modifiers)
		return text_refuse(ret_why, -ENOENT, "'%s' lacks its second slash", name);
	*terms++ = '\0';
	*modifiers++ = '\0';
	if (!is_file_name(copy))
		return text_refuse(ret_why, -ENOENT, "'%s' is no name of a PMU", copy);
	if (*modifiers && !take_modifiers(modifiers + (*modifiers == ':'), attr))
		return text_refuse(
			ret_why, -ENOENT, "'%s': only u, k and h may stand there", modifiers);
	r = read_pmu_type(copy, &attr->type);
	if (r < 0)
		return text_refuse(ret_why, -EOPNOTSUPP, "this machine has no PMU %s", copy);
	return apply_terms(copy, terms, false, attr, ret_why);
}

/* --- Generic names. */

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} generic_events[] = {
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

/* 1 when the name is in generic_events, else 0. */
static int resolve_generic(const char *name, int cpu, struct perf_event_attr *attr)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++) {
		uint32_t type;

		if (strlen(generic_events[i].name) != length ||
			memcmp(generic_events[i].name, name, length) != 0)
			continue;
		if (name[length] == ':' && !take_modifiers(name + length + 1, attr))
			return 0;
		attr->type = generic_events[i].type;
		attr->config = generic_events[i].config;
		/* On a machine with several kinds of cores, the upper half of config selects the
		 * PMU (PERF_PMU_TYPE_SHIFT in include/uapi/linux/perf_event.h). */
		if (attr->type == PERF_TYPE_HARDWARE && read_core_type(cpu, &type) == 0)
			attr->config |= (uint64_t)type << 32;
		return 1;
	}
	return 0;
}

/* 1 when the name is a raw code such as "r01c2" or "r01c2:u", else 0. */
static int resolve_raw(const char *name, int cpu, struct perf_event_attr *attr)
{
	size_t length = strcspn(name, ":");
	char code[NAME_SIZE];
	uint64_t config;
	uint32_t type;

	if (name[0] != 'r' || length >= sizeof(code))
		return 0;
	memcpy(code, name + 1, length - 1);
	code[length - 1] = '\0';
	if (parse_hex_u64(code, UINT64_MAX, &config) < 0)
		return 0;
	if (name[length] == ':' && !take_modifiers(name + length + 1, attr))
		return 0;
	attr->type = read_core_type(cpu, &type) == 0 ? type : PERF_TYPE_RAW;
	attr->config = config;
	return 1;
}

/* --- libpfm4. */

#if HAVE_LIBPFM4

/* The library is loaded when a name asks for it: its tables of the events of all CPUs need 42,000
 * relocations, which take 0.9 ms, twice as long as all else at the start of a program. */
struct libpfm {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_pmu_info) *get_pmu_info;
	__typeof__(pfm_get_event_next) *get_event_next;
	__typeof__(pfm_get_event_info) *get_event_info;
	__typeof__(pfm_get_os_event_encoding) *get_os_event_encoding;
};

/* Returns NULL, or why it cannot be loaded. */
static const char *load_pfm(struct libpfm *pfm)
{
	const struct {
		const char *name;
		void *function; /* where its address belongs */
	} symbols[] = {
		{ "pfm_initialize", &pfm->initialize },
		{ "pfm_strerror", &pfm->strerror },
		{ "pfm_get_pmu_info", &pfm->get_pmu_info },
		{ "pfm_get_event_next", &pfm->get_event_next },
		{ "pfm_get_event_info", &pfm->get_event_info },
		{ "pfm_get_os_event_encoding", &pfm->get_os_event_encoding },
	};
	void *library;
	int r;

	/* Both calls do nothing the second time. */
	library = dlopen(LIBPFM4_NAME, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (!address)
			return dlerror();
		memcpy(symbols[i].function, &address, sizeof(address));
	}
	r = pfm->initialize();
	return r == PFM_SUCCESS ? NULL : pfm->strerror(r);
}

/*
 * Whether the PMUs can be listed. Without them nothing can be counted, and libpfm4 4.13.0+git99
 * (Debian 13) would take the failure for a number of PMUs and ask malloc() for nearly the whole
 * address space (pfmlib_perf_event.c).
 */
static int probe_pmus(void)
{
	DIR *dir = opendir(PMU_ROOT);

	if (!dir)
		return -errno;
	closedir(dir);
	return 0;
}

/* Whether another CPU that libpfm4 knows has an event of this name. */
static bool is_foreign_event(const struct libpfm *pfm, const char *name, pfm_pmu_info_t *ret_pmu)
{
	const char *scope = strstr(name, "::");
	const char *event = scope ? scope + 2 : name;
	size_t length = strcspn(event, ":.");
	pfm_pmu_t pmu;

	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm->get_pmu_info(pmu, &info) != PFM_SUCCESS)
			continue;
		if (scope &&
			(strlen(info.name) != (size_t)(scope - name) ||
				strncasecmp(info.name, name, (size_t)(scope - name)) != 0))
			continue;
		for (int i = info.first_event; i >= 0; i = pfm->get_event_next(i)) {
			pfm_event_info_t event_info = { .size = sizeof(event_info) };

			if (pfm->get_event_info(i, PFM_OS_PERF_EVENT, &event_info) != PFM_SUCCESS)
				continue;
			if (strlen(event_info.name) == length &&
				strncasecmp(event_info.name, event, length) == 0) {
				*ret_pmu = info;
				return true;
			}
		}
	}
	return false;
}

static int resolve_pfm(const char *name, struct perf_event_attr *attr, char **ret_why)
{
	pfm_perf_encode_arg_t encoding = { .attr = attr, .size = sizeof(encoding), .cpu = -1 };
	struct libpfm pfm;
	pfm_pmu_info_t pmu;
	const char *error;
	int r;

	r = probe_pmus();
	if (r < 0)
		return text_refuse(ret_why, -ENOENT,
			"no event '%s' (libpfm4, for more names, needs " PMU_ROOT ": %s)", name,
			strerror(-r));
	error = load_pfm(&pfm);
	if (error)
		return text_refuse(ret_why, -ENOENT, "no event '%s' (libpfm4: %s)", name, error);
	r = pfm.get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &encoding);
	if (r == PFM_SUCCESS)
		return 0;
	if (r == PFM_ERR_NOMEM)
		return -ENOMEM;
	if (r != PFM_ERR_NOTFOUND)
		return text_refuse(ret_why, -ENOENT, "'%s': %s", name, pfm.strerror(r));
	if (is_foreign_event(&pfm, name, &pmu))
		return text_refuse(ret_why, -EOPNOTSUPP,
			"'%s' is an event of other CPUs (one is %s), or this one is hidden from us",
			name, pmu.desc);
	return text_refuse(ret_why, -ENOENT, "no event '%s'", name);
}

#else

static int resolve_pfm(const char *name, _unused_ struct perf_event_attr *attr, char **ret_why)
{
	return text_refuse(
		ret_why, -ENOENT, "no event '%s' (this build has no libpfm4 for more names)", name);
}

#endif

/* Adds to a refusal the event that was meant, or else, where no reason is given, which ones there
 * are. -ENOMEM. */
static int suggest(const char *name, char **why)
{
	struct guess guess = { .word = name };
	char meant[GUESS_TEXT_SIZE];
	struct text t = { 0 };
	bool has_reason = text_ends_with(*why, ")");

	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++)
		guess_offer(&guess, generic_events[i].name);
	text_appendf(&t, "%s%s", *why, guess_text(&guess, "", meant));
	if (!guess.name && !has_reason)
		text_append(&t, "; there are: ");
	for (size_t i = 0; !guess.name && !has_reason && i < ARRAY_SIZE(generic_events); i++)
		text_append_name(&t, i, ARRAY_SIZE(generic_events), "%s", generic_events[i].name);
	free(*why);
	*why = text_steal(&t);
	return *why ? 0 : -ENOMEM;
}

int counter_resolve(const char *name, int cpu, struct perf_event_attr *ret, char **ret_why)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char *why = NULL;
	int r;

	if (strchr(name, '/'))
		r = resolve_pmu(name, &attr, &why);
	else if (resolve_generic(name, cpu, &attr) || resolve_raw(name, cpu, &attr))
		r = 0;
	else
		r = resolve_pfm(name, &attr, &why);
	if (r == -ENOENT && !strchr(name, '/') && suggest(name, &why) < 0)
		return -ENOMEM;
	if (r < 0) {
		*ret_why = why;
		return r;
	}
	*ret = attr;
	return 0;
}

/* --- Probing. */

/* Software events of Linux 2.6.33 exist on each kernel, so that only the permission is asked for:
 * the kernel refuses an event of no task and no CPU with EINVAL after it has checked that. An event
 * on a task might have to wait, see counter_open_dummy(). */
static int try_open(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	bool exists =
		attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_EMULATION_FAULTS;
	int fd;

	copy.disabled = 1;
	fd = (int)syscall(
		SYS_perf_event_open, &copy, exists ? -1 : 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return exists && errno == EINVAL ? 0 : -errno;
	close(fd);
	return 0;
}

int counter_open_dummy(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Software events that happen only in the kernel: with the kernel excluded they count 0
 * (perf_fetch_caller_regs() in include/linux/perf_event.h passes the kernel's registers). */
static bool is_kernel_event(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
			attr->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

bool counter_is_user_only(const struct perf_event_attr *attr)
{
	bool clock = attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_TASK_CLOCK ||
			attr->config == PERF_COUNT_SW_CPU_CLOCK);

	return attr->exclude_kernel && !clock;
}

/* Describes a failure to open that has no fallback. */
static int fail_open(int error, char **ret_why)
{
	switch (error) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -EOPNOTSUPP:
		return text_refuse(ret_why, -EOPNOTSUPP, "this machine does not count it");
	case -ENOSYS:
		return text_refuse(ret_why, -EOPNOTSUPP, "this kernel has no perf events");
	case -EINVAL:
		/* An uncore PMU refuses to count for a process, a core PMU refuses unknown
		 * codes. */
		return text_refuse(ret_why, -EOPNOTSUPP,
			"the kernel does not count it for a process, or does not know its code");
	default:
		return text_refuse(ret_why, error, "cannot be opened: %s", strerror(-error));
	}
}

/* user_space: counting in user space alone is permitted. */
static int fail_denied(int error, bool user_space, char **ret_why)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	int level;

	if (perf_paranoid_read(&level) < 0)
		return text_refuse(ret_why, -EACCES, "not permitted (%s)", strerror(-error));
	if (user_space && level > 1)
		return text_refuse(ret_why, -EACCES,
			"only user space may be counted, and this event needs the kernel: %s is "
			"%d, 1 would do",
			path, level);
	if (level > 2)
		return text_refuse(
			ret_why, -EACCES, "not permitted: %s is %d, 2 would do", path, level);
	return text_refuse(ret_why, -EACCES,
		"not permitted although %s is %d: a container or a security module forbids it",
		path, level);
}

static bool is_denied(int error)
{
	return error == -EACCES || error == -EPERM;
}

int counter_probe(struct perf_event_attr *attr, char **ret_why)
{
	struct perf_event_attr user = *attr;
	int r, user_r;

	r = try_open(attr);
	if (r == 0)
		return 0;
	if (!is_denied(r))
		return fail_open(r, ret_why);
	if (attr->exclude_kernel)
		return fail_denied(r, false, ret_why);

	/* Permission is checked before support: without permission the kernel does not tell whether
	 * the machine has the event. */
	user.exclude_kernel = 1;
	user_r = try_open(&user);
	if (is_denied(user_r))
		return fail_denied(r, false, ret_why);
	/* -EINVAL: a PMU that cannot exclude the kernel (msr). */
	if (user_r < 0 && user_r != -EINVAL)
		return fail_open(user_r, ret_why);
	if (user_r == -EINVAL || attr->exclude_user || is_kernel_event(attr))
		return fail_denied(r, true, ret_why);
	attr->exclude_kernel = 1;
	return 0;
}
