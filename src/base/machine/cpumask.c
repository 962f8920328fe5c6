// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_LIBCPUSET
#include <bitmask.h>
#include <cpuset.h>
#endif

#include "base/file.h"
#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

enum {
	WORD_BITS = sizeof(unsigned long) * CHAR_BIT,
	WORDS = CPUMASK_CAPACITY / WORD_BITS,
	HEX_GROUP_DIGITS = 8,
};

static bool in_capacity(int cpu)
{
	return cpu >= 0 && cpu < CPUMASK_CAPACITY;
}

#if HAVE_LIBCPUSET

/*
 * libbitmask gets only CPUs inside the capacity and only masks of one size, and never parses a
 * text: its parser loops for ever on "0-3:0" and reads 4294967296 as 0. The size is a constant:
 * cpuset_cpus_nbits() returns 7 on small machines.
 */
struct cpumask {
	struct bitmask *bits;
};

int cpumask_new(struct cpumask **ret)
{
	struct cpumask *mask;

	mask = malloc(sizeof(*mask));
	if (!mask)
		return -ENOMEM;
	mask->bits = bitmask_alloc(CPUMASK_CAPACITY);
	if (!mask->bits) {
		free(mask);
		return -ENOMEM;
	}
	cpumask_clear_all(mask);
	*ret = mask;
	return 0;
}

void cpumask_free(struct cpumask *mask)
{
	if (!mask)
		return;
	bitmask_free(mask->bits);
	free(mask);
}

/* The bits in the kernel's layout, for operations that libbitmask does bit by bit. */
static unsigned long *mask_words(const struct cpumask *mask)
{
	return bitmask_mask(mask->bits);
}

int cpumask_set(struct cpumask *mask, int cpu)
{
	if (!in_capacity(cpu))
		return -ERANGE;
	bitmask_setbit(mask->bits, (unsigned)cpu);
	return 0;
}

void cpumask_clear(struct cpumask *mask, int cpu)
{
	if (in_capacity(cpu))
		bitmask_clearbit(mask->bits, (unsigned)cpu);
}

bool cpumask_isset(const struct cpumask *mask, int cpu)
{
	return in_capacity(cpu) && bitmask_isbitset(mask->bits, (unsigned)cpu);
}

/* cpuset_latestcpu() finds the last ')' before it counts fields, and sets errno. */
static int latest_cpu(pid_t pid)
{
	int cpu;

	errno = 0;
	cpu = cpuset_latestcpu(pid);
	if (cpu < 0)
		return errno > 0 ? -errno : -EIO;
	return cpu;
}

#else /* !HAVE_LIBCPUSET */

struct cpumask {
	unsigned long words[WORDS];
};

int cpumask_new(struct cpumask **ret)
{
	struct cpumask *mask;

	mask = calloc(1, sizeof(*mask));
	if (!mask)
		return -ENOMEM;
	*ret = mask;
	return 0;
}

void cpumask_free(struct cpumask *mask)
{
	free(mask);
}

static unsigned long *mask_words(const struct cpumask *mask)
{
	return (unsigned long *)mask->words;
}

static unsigned long bit_of(int cpu)
{
	return 1UL << cpu % WORD_BITS;
}

int cpumask_set(struct cpumask *mask, int cpu)
{
	if (!in_capacity(cpu))
		return -ERANGE;
	mask->words[cpu / WORD_BITS] |= bit_of(cpu);
	return 0;
}

void cpumask_clear(struct cpumask *mask, int cpu)
{
	if (in_capacity(cpu))
		mask->words[cpu / WORD_BITS] &= ~bit_of(cpu);
}

bool cpumask_isset(const struct cpumask *mask, int cpu)
{
	return in_capacity(cpu) && mask->words[cpu / WORD_BITS] & bit_of(cpu);
}

enum {
	STAT_STATE = 3, /* the first field after the command name, counted as in proc(5) */
	STAT_PROCESSOR = 39,
};

static int latest_cpu(pid_t pid)
{
	char path[64], stat[FILE_ATTR_SIZE];
	const char *p;
	uint64_t cpu;
	int r;

	if (pid == 0)
		snprintf(path, sizeof(path), "/proc/self/stat");
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	r = file_read_attr(AT_FDCWD, path, stat, sizeof(stat));
	if (r < 0)
		return r;
	/* The command's name may contain blanks and parentheses; the last ')' ends it. */
	p = strrchr(stat, ')');
	if (!p)
		return -EIO;
	for (int field = STAT_STATE - 1; field < STAT_PROCESSOR; field++) {
		p = strchr(p + 1, ' ');
		if (!p)
			return -EIO;
	}
	if (parse_next_u64(&p, &cpu) < 0 || cpu > INT_MAX)
		return -EIO;
	return (int)cpu;
}

#endif

void cpumask_clear_all(struct cpumask *mask)
{
	memset(mask_words(mask), 0, CPUMASK_BYTES);
}

void cpumask_assign(struct cpumask *mask, const struct cpumask *from)
{
	memmove(mask_words(mask), mask_words(from), CPUMASK_BYTES);
}

unsigned cpumask_weight(const struct cpumask *mask)
{
	const unsigned long *words = mask_words(mask);
	unsigned n = 0;

	/* Most words are empty, and not every CPU that we are built for counts bits by itself. */
	for (int i = 0; i < WORDS; i++)
		n += words[i] ? (unsigned)__builtin_popcountl(words[i]) : 0;
	return n;
}

void cpumask_and(struct cpumask *mask, const struct cpumask *a, const struct cpumask *b)
{
	const unsigned long *x = mask_words(a), *y = mask_words(b);
	unsigned long *words = mask_words(mask);

	for (int i = 0; i < WORDS; i++)
		words[i] = x[i] & y[i];
}

void cpumask_or(struct cpumask *mask, const struct cpumask *a, const struct cpumask *b)
{
	const unsigned long *x = mask_words(a), *y = mask_words(b);
	unsigned long *words = mask_words(mask);

	for (int i = 0; i < WORDS; i++)
		words[i] = x[i] | y[i];
}

void cpumask_andnot(struct cpumask *mask, const struct cpumask *a, const struct cpumask *b)
{
	const unsigned long *x = mask_words(a), *y = mask_words(b);
	unsigned long *words = mask_words(mask);

	for (int i = 0; i < WORDS; i++)
		words[i] = x[i] & ~y[i];
}

bool cpumask_equal(const struct cpumask *a, const struct cpumask *b)
{
	return memcmp(mask_words(a), mask_words(b), CPUMASK_BYTES) == 0;
}

bool cpumask_subset(const struct cpumask *a, const struct cpumask *b)
{
	const unsigned long *x = mask_words(a), *y = mask_words(b);

	for (int i = 0; i < WORDS; i++) {
		if (x[i] & ~y[i])
			return false;
	}
	return true;
}

bool cpumask_intersects(const struct cpumask *a, const struct cpumask *b)
{
	const unsigned long *x = mask_words(a), *y = mask_words(b);

	for (int i = 0; i < WORDS; i++) {
		if (x[i] & y[i])
			return true;
	}
	return false;
}

int cpumask_copy(const struct cpumask *mask, struct cpumask **ret)
{
	if (cpumask_new(ret) < 0)
		return -ENOMEM;
	cpumask_assign(*ret, mask);
	return 0;
}

int cpumask_next(const struct cpumask *mask, int cpu)
{
	const unsigned long *words = mask_words(mask);
	unsigned long word;
	int i;

	if (cpu >= CPUMASK_CAPACITY - 1)
		return -1;
	cpu = MAX(cpu, -1) + 1;
	i = cpu / WORD_BITS;
	word = words[i] & ~0UL << cpu % WORD_BITS;
	while (word == 0) {
		if (++i == WORDS)
			return -1;
		word = words[i];
	}
	return i * WORD_BITS + __builtin_ctzl(word);
}

int cpumask_first(const struct cpumask *mask)
{
	return cpumask_next(mask, -1);
}

int cpumask_last(const struct cpumask *mask)
{
	const unsigned long *words = mask_words(mask);

	for (int i = WORDS - 1; i >= 0; i--) {
		if (words[i])
			return i * WORD_BITS + WORD_BITS - 1 - __builtin_clzl(words[i]);
	}
	return -1;
}

bool cpumask_is_empty(const struct cpumask *mask)
{
	return cpumask_first(mask) < 0;
}

static size_t blanks_at(const char *p)
{
	return strspn(p, " \t");
}

/* A text that is parsed from left to right, and the error in it. */
struct reader {
	const char *text;
	const char *at;
	unsigned n_cpus;
	struct cpumask_error error;
};

static int reader_fail(struct reader *reader, const char *at, int r, const char *reason)
{
	reader->error = (struct cpumask_error){
		.offset = (size_t)(at - reader->text),
		.character = *at,
		.reason = reason,
	};
	return r;
}

static int read_number(struct reader *reader, unsigned max, const char *too_large, unsigned *ret)
{
	const char *start = reader->at;
	uint64_t value;

	/* parse_next_u64() would skip blanks. */
	if (!parse_is_digit(*start))
		return reader_fail(reader, start, -EINVAL, "a number must stand here");
	if (parse_next_u64(&reader->at, &value) < 0 || value > max)
		return reader_fail(reader, start, -ERANGE, too_large);
	*ret = (unsigned)value;
	return 0;
}

static int read_cpu(struct reader *reader, unsigned *ret)
{
	if (*reader->at == 'N') {
		if (reader->n_cpus == 0)
			return reader_fail(reader, reader->at, -EINVAL,
				"the number of CPUs, which N stands for, is not known");
		if (reader->n_cpus > CPUMASK_CAPACITY)
			return reader_fail(reader, reader->at, -ERANGE, "too many CPUs");
		*ret = reader->n_cpus - 1;
		reader->at++;
		return 0;
	}
	if (!parse_is_digit(*reader->at))
		return reader_fail(reader, reader->at, -EINVAL, "a CPU number must stand here");
	return read_number(reader, CPUMASK_CAPACITY - 1, "no machine has that many CPUs", ret);
}

/* Parses one part between commas, and adds its CPUs to mask unless mask is NULL. */
static int read_region(struct reader *reader, struct cpumask *mask)
{
	unsigned first, last, used = 1, group = 1;
	bool range = true;
	const char *start;
	int r;

	if (text_starts_with(reader->at, "all")) {
		if (reader->n_cpus == 0)
			return reader_fail(reader, reader->at, -EINVAL,
				"the number of CPUs, which all stands for, is not known");
		if (reader->n_cpus > CPUMASK_CAPACITY)
			return reader_fail(reader, reader->at, -ERANGE, "too many CPUs");
		first = 0;
		last = reader->n_cpus - 1;
		reader->at += strlen("all");
	} else {
		r = read_cpu(reader, &first);
		if (r < 0)
			return r;
		last = first;
		range = *reader->at == '-';
		if (range) {
			start = ++reader->at;
			r = read_cpu(reader, &last);
			if (r < 0)
				return r;
			if (last < first)
				return reader_fail(
					reader, start, -EINVAL, "the range runs backwards");
		}
	}
	/* As in the kernel, only a range has a pattern. */
	if (range && *reader->at == ':') {
		start = ++reader->at;
		r = read_number(reader, CPUMASK_CAPACITY, "no group is that large", &used);
		if (r < 0)
			return r;
		if (used == 0)
			return reader_fail(reader, start, -EINVAL, "the pattern uses no CPU");
		if (*reader->at != '/')
			return reader_fail(reader, reader->at, -EINVAL,
				"a '/' and the size of the groups must stand here");
		start = ++reader->at;
		r = read_number(reader, CPUMASK_CAPACITY, "no group is that large", &group);
		if (r < 0)
			return r;
		if (used > group)
			return reader_fail(reader, start, -EINVAL,
				group == 0 ? "a group must have a CPU"
					   : "the pattern uses more CPUs than its group has");
	}
	if (!mask)
		return 0;
	for (unsigned cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			(void)cpumask_set(mask, (int)cpu);
	}
	return 0;
}

static int read_end(struct reader *reader)
{
	if (*reader->at == '\n')
		reader->at++;
	if (*reader->at)
		return reader_fail(reader, reader->at, -EINVAL,
			reader->at > reader->text && reader->at[-1] == '\n'
				? "only one newline may stand at the end"
				: "this does not belong into a list of CPUs");
	return 0;
}

static int read_list(struct reader *reader, struct cpumask *mask)
{
	static const char null[] = "(null)";
	const char *word = reader->text + blanks_at(reader->text);
	int r;

	reader->at = reader->text;
	if (*word == '\0' || *word == '\n') {
		reader->at = word;
		return read_end(reader);
	}
	if (text_starts_with(word, null)) {
		reader->at = word + strlen(null);
		return read_end(reader);
	}
	for (;;) {
		r = read_region(reader, mask);
		if (r < 0)
			return r;
		if (*reader->at != ',')
			return read_end(reader);
		reader->at++;
	}
}

/* The first pass has no mask, so that a text with an error in the middle changes nothing. */
int cpumask_parse_list(
	const char *text, unsigned n_cpus, struct cpumask *ret, struct cpumask_error *ret_error)
{
	struct reader reader = { .text = text, .n_cpus = n_cpus };
	int r;

	r = read_list(&reader, NULL);
	if (r < 0) {
		if (ret_error)
			*ret_error = reader.error;
		return r;
	}
	cpumask_clear_all(ret);
	return read_list(&reader, ret);
}

/* Adds the CPUs of the text to mask unless mask is NULL. */
static int read_hex(const char *text, struct cpumask *mask)
{
	const char *at = text;
	size_t digits, rest = 0;

	/* Counts the digits of all groups first: a digit's CPUs depend on how many digits follow
	 * it. */
	for (;;) {
		const char *group = at;

		while (parse_hex_digit(*at) >= 0)
			at++;
		digits = (size_t)(at - group);
		/* Every group but the first has all its digits. */
		if (digits == 0 || digits > HEX_GROUP_DIGITS ||
			(group > text && digits < HEX_GROUP_DIGITS))
			return -EINVAL;
		rest += digits;
		if (*at != ',')
			break;
		at++;
	}
	if (*at == '\n')
		at++;
	if (*at)
		return -EINVAL;

	for (const char *p = text; rest > 0; p++) {
		int value = parse_hex_digit(*p);

		if (value < 0)
			continue;
		rest--;
		for (int bit = 3; bit >= 0; bit--) {
			if (!(value & 1 << bit))
				continue;
			if (rest >= CPUMASK_CAPACITY / 4)
				return -ERANGE;
			if (mask)
				(void)cpumask_set(mask, (int)rest * 4 + bit);
		}
	}
	return 0;
}

int cpumask_from_list(const char *text, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	int r;

	r = cpumask_new(&mask);
	if (r == 0)
		r = cpumask_parse_list(text, 0, mask, NULL);
	if (r == 0)
		*ret = TAKE_PTR(mask);
	return r;
}

int cpumask_read_list(int dirfd, const char *path, struct cpumask *ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = file_read_long_line(dirfd, path, &text);
	return r < 0 ? r : cpumask_parse_list(text, 0, ret, NULL);
}

int cpumask_parse_hex(const char *text, struct cpumask *ret)
{
	int r;

	/* As for a list, the first pass has no mask. */
	r = read_hex(text, NULL);
	if (r < 0)
		return r;
	cpumask_clear_all(ret);
	return read_hex(text, ret);
}

void cpumask_add_numbers(struct cpumask *mask, const char *text)
{
	uint64_t cpu;

	while (parse_next_u64(&text, &cpu) == 0 && cpu < CPUMASK_CAPACITY)
		(void)cpumask_set(mask, (int)cpu);
}

char *cpumask_format_error(const struct cpumask_error *error)
{
	unsigned char c = (unsigned char)error->character;
	struct text t = { 0 };

	if (c == '\0')
		text_append(&t, "unexpected end");
	else if (c < 0x20 || c >= 0x7f)
		text_appendf(&t, "unexpected '\\x%02x'", c);
	else
		text_appendf(&t, "unexpected '%c'", c);
	text_appendf(&t, " at character %zu: %s", error->offset + 1, error->reason);
	return text_steal(&t);
}

char *cpumask_format_list(const struct cpumask *mask)
{
	struct text t = { 0 };
	int cpu = cpumask_first(mask);

	while (cpu >= 0) {
		int last = cpu;

		while (cpumask_isset(mask, last + 1))
			last++;
		if (t.length > 0)
			text_append(&t, ",");
		text_appendf(&t, "%d", cpu);
		if (last > cpu)
			text_appendf(&t, "-%d", last);
		cpu = cpumask_next(mask, last);
	}
	return text_steal(&t);
}

char *cpumask_format_hex(const struct cpumask *mask, unsigned n_bits)
{
	struct text t = { 0 };
	int bits = MAX(cpumask_last(mask) + 1, (int)MIN(n_bits, (unsigned)CPUMASK_CAPACITY));
	int top = bits > 0 ? (bits - 1) / 32 : 0;

	for (int word = top; word >= 0; word--) {
		/* The first group has only as many digits as there are bits. */
		int digits = word < top ? 8 : MAX(1, (bits - top * 32 + 3) / 4);
		uint32_t value = 0;

		for (int bit = 0; bit < 32; bit++) {
			if (cpumask_isset(mask, word * 32 + bit))
				value |= (uint32_t)1 << bit;
		}
		text_appendf(&t, "%s%0*" PRIx32, word == top ? "" : ",", digits, value);
	}
	return text_steal(&t);
}

int cpumask_export(const struct cpumask *mask, void *bytes, size_t size)
{
	if (size % sizeof(unsigned long) != 0)
		return -EINVAL;
	if (cpumask_last(mask) >= 0 && (size_t)cpumask_last(mask) / CHAR_BIT >= size)
		return -ERANGE;
	memset(bytes, 0, size);
	memcpy(bytes, mask_words(mask), MIN(size, (size_t)CPUMASK_BYTES));
	return 0;
}

int cpumask_import(struct cpumask *mask, const void *bytes, size_t size)
{
	if (size % sizeof(unsigned long) != 0)
		return -EINVAL;
	for (size_t i = CPUMASK_BYTES; i < size; i++) {
		if (((const unsigned char *)bytes)[i] != 0)
			return -ERANGE;
	}
	cpumask_clear_all(mask);
	memcpy(mask_words(mask), bytes, MIN(size, (size_t)CPUMASK_BYTES));
	return 0;
}

int cpumask_get_self(struct cpumask *ret)
{
	unsigned long words[WORDS];

	if (sched_getaffinity(0, sizeof(words), (cpu_set_t *)words) < 0)
		return -errno;
	return cpumask_import(ret, words, sizeof(words));
}

int cpumask_bind_self(const struct cpumask *mask)
{
	unsigned long former[WORDS], got[WORDS];
	int r;

	if (cpumask_is_empty(mask))
		return -EINVAL;
	if (sched_getaffinity(0, sizeof(former), (cpu_set_t *)former) < 0)
		return -errno;
	if (sched_setaffinity(0, CPUMASK_BYTES, (cpu_set_t *)mask_words(mask)) < 0)
		return -errno;
	if (sched_getaffinity(0, sizeof(got), (cpu_set_t *)got) < 0)
		r = -errno;
	else if (memcmp(got, mask_words(mask), sizeof(got)) != 0)
		r = -EINVAL;
	else
		return 0;
	(void)sched_setaffinity(0, sizeof(former), (cpu_set_t *)former);
	return r;
}

int cpumask_leave(const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *others = NULL;
	int r = cpumask_new(&others);

	if (r == 0)
		r = cpumask_get_self(others);
	if (r < 0)
		return r;
	cpumask_andnot(others, others, cpus);
	return cpumask_bind_self(others);
}

int cpumask_latest_cpu(pid_t pid)
{
	int r;

	if (pid < 0)
		return -EINVAL;
	r = latest_cpu(pid);
	return r == -ENOENT ? -ESRCH : r;
}
