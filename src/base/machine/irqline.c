// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/machine/irqline.h"
#include "base/machine/kernelversion.h"
#include "base/parse.h"
#include "base/text.h"

enum {
	INTERRUPTS_PART = 64 * 1024,
	INTERRUPTS_ROW_MAX = 16 * 1024 * 1024,
	/* Of the GIC's numbers: include/linux/irqchip/arm-gic-v3.h. */
	GIC_FIRST_SHARED = 32,
	GIC_FIRST_EXTENDED = 1056,
	GIC_LAST_EXTENDED = 1119,
};

static int compare_lines(const void *a, const void *b)
{
	const struct irqline *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int read_numbers(struct irqlines *lines)
{
	size_t capacity = 0;
	struct dirent *entry;

	while (errno = 0, (entry = readdir(lines->directory))) {
		unsigned number;

		if (parse_uint(entry->d_name, 0, INT32_MAX, &number) < 0)
			continue;
		if (array_grow(&lines->items, sizeof(*lines->items), lines->n, &capacity) < 0)
			return -ENOMEM;
		lines->items[lines->n++] = (struct irqline){ .number = number };
	}
	return -errno;
}

int irqlines_read(struct irqlines *ret)
{
	struct irqlines lines = { .directory = opendir("/proc/irq") };
	int r;

	if (!lines.directory)
		return -errno;
	lines.old_kernel = kernelversion_is_before(6, 12);
	r = read_numbers(&lines);
	if (r < 0) {
		irqlines_clear(&lines);
		return r;
	}
	if (lines.n > 0)
		qsort(lines.items, lines.n, sizeof(*lines.items), compare_lines);
	*ret = lines;
	return 0;
}

struct irqline *irqlines_find_number(const struct irqlines *lines, unsigned number)
{
	const struct irqline key = { .number = number };

	return lines->n == 0 ? NULL
			     : bsearch(&key, lines->items, lines->n, sizeof(key), compare_lines);
}

struct irqline *irqlines_find(const struct irqlines *lines, const struct cputable_row *row)
{
	const char *cursor = row->label;
	uint64_t number;

	if (parse_next_u64(&cursor, &number) < 0 || *cursor != ':' || number > INT32_MAX)
		return NULL;
	return irqlines_find_number(lines, (unsigned)number);
}

static bool is_one_of(const char *text, const char *const prefixes[])
{
	for (size_t i = 0; prefixes[i]; i++)
		if (text_starts_with(text, prefixes[i]))
			return true;
	return false;
}

/* `chip` is a chip's name, followed by the line's number there if it has one, and by more of the
 * text. */
static bool is_per_cpu(const char *chip, const char *action)
{
	static const char *const chips[] = { "xen-percpu", "XIVE-IPI", "RISC-V INTC", "RISC-V IPI",
		"CPUINTC", NULL };
	static const char *const timers[] = { "arch_timer", "riscv-timer", "twd", "mct_tick",
		NULL };
	uint64_t number;

	if (is_one_of(chip, chips) || is_one_of(action, timers) || strcmp(action, "arm-pmu") == 0 ||
		strcmp(action, "IPI") == 0 || text_starts_with(action, "IPI-"))
		return true;
	if (!text_starts_with(chip, "GIC"))
		return false;
	chip += strcspn(chip, " \t\n");
	return parse_next_u64(&chip, &number) == 0 &&
		(number < GIC_FIRST_SHARED ||
			(number >= GIC_FIRST_EXTENDED && number <= GIC_LAST_EXTENDED));
}

/* The chip in a row of /proc/interrupts: behind the counts, which a big machine has millions of. */
static void take_chip(struct irqline *line, const struct cputable_row *row)
{
	const char *at = row->columns + strspn(row->columns, " \t0123456789");

	/* Back to the beginning of "8250", or "1-edge". */
	while (at > row->columns && parse_is_digit(at[-1]))
		at--;
	line->listed = true;
	line->per_cpu = is_per_cpu(at, line->action ? line->action : "");
}

/* The text goes from `text` to `end`, where a NUL is. */
static int take_rows(struct irqlines *lines, const char *text, const char *end)
{
	struct cputable_row row;

	while (cputable_next_row(&text, end, &row)) {
		struct irqline *line = irqlines_find(lines, &row);
		const char *blank;

		lines->named = true;
		/* The action is the last word; if there are several actions, each but the last ends
		 * in a comma. A line without an action ends in a count or in its trigger,
		 * "5-edge". */
		blank = memrchr(row.columns, ' ', (size_t)(row.end - row.columns));
		while (blank && blank > row.columns && blank[-1] == ',')
			blank = memrchr(row.columns, ' ', (size_t)(blank - row.columns));
		if (!line)
			continue;
		if (!line->action && blank && blank + 1 < row.end && !parse_is_digit(blank[1])) {
			line->action = strndup(blank + 1, (size_t)(row.end - blank - 1));
			if (!line->action)
				return -ENOMEM;
		}
		take_chip(line, &row);
	}
	return 0;
}

int irqlines_take_names(struct irqlines *lines, const char *text)
{
	return lines->n > 0 ? take_rows(lines, text, text + strlen(text)) : 0;
}

/* Takes the rows that are whole, or all at the end of the file, and moves the rest to the
 * beginning. *length: how much there is, and then the length of the rest. */
static int take_whole_rows(struct irqlines *lines, char *text, size_t *length, bool is_end)
{
	char *newline = memrchr(text, '\n', *length), *end = newline ? newline + 1 : text;
	char next;
	int r;

	if (is_end)
		end = text + *length;
	next = *end;
	*end = '\0';
	r = take_rows(lines, text, end);
	*end = next;
	*length -= (size_t)(end - text);
	memmove(text, end, *length);
	return r;
}

/* A part at a time: on a big machine the file is larger than all that we keep. */
static int name_by_file(struct irqlines *lines, int fd)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0, capacity = INTERRUPTS_PART;
	ssize_t n;
	int r = 0;

	do {
		/* A row may be longer. */
		if (!text || capacity - length < INTERRUPTS_PART / 2) {
			char *grown;

			capacity = text ? capacity * 2 : capacity;
			if (capacity > INTERRUPTS_ROW_MAX)
				return -EFBIG;
			grown = realloc(text, capacity + 1);
			if (!grown)
				return -ENOMEM;
			text = grown;
		}
		n = RETRY_INTERRUPTED(read(fd, text + length, capacity - length));
		if (n < 0)
			return -errno;
		length += (size_t)n;
		text[length] = '\0';
		r = take_whole_rows(lines, text, &length, n == 0);
	} while (n > 0 && r == 0);
	return r;
}

static void forget_names(struct irqlines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->items[i].action);
		lines->items[i] = (struct irqline){ .number = lines->items[i].number };
	}
	lines->named = false;
}

int irqlines_name(struct irqlines *lines)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (lines->n == 0)
		return 0;
	fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	r = fd < 0 ? -errno : name_by_file(lines, fd);
	if (r < 0)
		forget_names(lines);
	return r == -ENOMEM ? r : 0;
}

int irqlines_read_named(struct irqlines *lines)
{
	int r;

	if (lines->directory)
		return 0;
	r = irqlines_read(lines);
	if (r < 0)
		return r;
	r = irqlines_name(lines);
	if (r < 0)
		irqlines_clear(lines);
	return r;
}

void irqlines_clear(struct irqlines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->items[i].action);
	free(lines->items);
	if (lines->directory)
		closedir(lines->directory);
	*lines = (struct irqlines){ 0 };
}

int irqline_read_action(unsigned number, char **ret)
{
	char path[64], text[FILE_ATTR_SIZE];
	char *action;
	int r;

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", number);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	action = strdup(text);
	if (!action)
		return -ENOMEM;
	*ret = action;
	return 0;
}

/* "GICv3 30" of a line that the kernel describes in /sys/kernel/irq; false where it does not. */
static bool read_chip(unsigned number, char *ret, size_t size)
{
	char path[64], chip[FILE_ATTR_SIZE], hwirq[FILE_ATTR_SIZE];

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/chip_name", number);
	if (file_read_attr(AT_FDCWD, path, chip, sizeof(chip)) <= 0)
		return false;
	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/hwirq", number);
	if (file_read_attr(AT_FDCWD, path, hwirq, sizeof(hwirq)) < 0)
		*hwirq = '\0';
	snprintf(ret, size, "%.64s %.32s", chip, hwirq);
	return true;
}

int irqline_belongs_to_cpu(const struct irqlines *lines, const struct irqline *line)
{
	_cleanup_free_ char *action = NULL;
	char chip[128] = "";
	bool told;
	int r;

	/* The row has the same chip and the same actions (show_interrupts() in kernel/irq/proc.c).
	 */
	if (line->listed)
		return line->per_cpu;
	told = read_chip(line->number, chip, sizeof(chip));
	r = irqline_read_action(line->number, &action);
	if (r == -ENOMEM)
		return r;
	if (told || action)
		return is_per_cpu(chip, action ? action : "");
	return lines->named && !line->listed &&
		(lines->old_kernel > 0 || !irqline_is_movable(lines, line->number));
}

void irqline_affinity_path(unsigned number, char buf[static IRQLINE_PATH_SIZE])
{
	snprintf(buf, IRQLINE_PATH_SIZE, "/proc/irq/%u/smp_affinity_list", number);
}

int irqline_parse_path(const char *path, unsigned *ret)
{
	static const char directory[] = "/proc/irq/";
	uint64_t number;

	if (!text_starts_with(path, directory))
		return -EINVAL;
	path += strlen(directory);
	if (parse_next_u64(&path, &number) < 0 || number > UINT32_MAX ||
		strcmp(path, "/smp_affinity_list") != 0)
		return -EINVAL;
	*ret = (unsigned)number;
	return 0;
}

static int read_list(
	const struct irqlines *lines, unsigned number, const char *name, struct cpumask *ret)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "%u/%s", number, name);
	r = cpumask_read_list(dirfd(lines->directory), path, ret);
	return r == -ERANGE ? -EINVAL : r;
}

int irqline_read_affinity(const struct irqlines *lines, unsigned number, struct cpumask *ret)
{
	char path[32];
	int r = read_list(lines, number, "smp_affinity_list", ret);

	snprintf(path, sizeof(path), "%u", number);
	return r == -ENOENT && faccessat(dirfd(lines->directory), path, F_OK, 0) == 0 ? -ENODATA
										      : r;
}

int irqline_read_effective(const struct irqlines *lines, unsigned number, struct cpumask *ret)
{
	int r = read_list(lines, number, "effective_affinity_list", ret);

	return r == 0 && cpumask_is_empty(ret) ? -ENOENT : r;
}

bool irqline_is_movable(const struct irqlines *lines, unsigned number)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%u/smp_affinity_list", number);
	return fstatat(dirfd(lines->directory), path, &st, 0) < 0 || (st.st_mode & S_IWUSR);
}

/* Whether the text is the prefix and a number, and moves on behind them. */
static bool take_numbered(const char **at, const char *prefix, uint64_t *ret)
{
	size_t length = strlen(prefix);

	if (strncmp(*at, prefix, length) != 0)
		return false;
	*at += length;
	return parse_next_u64(at, ret) == 0;
}

/* The queue 0 of NVMe is for the administration of the disk, and not managed. */
bool irqline_is_managed_queue(const char *action)
{
	const char *at = action;
	uint64_t device, queue;

	if (take_numbered(&at, "nvme", &device))
		return take_numbered(&at, "q", &queue) && queue > 0 && *at == '\0';
	at = action;
	if (!take_numbered(&at, "virtio", &device))
		return false;
	return strcmp(at, "-request") == 0 || (take_numbered(&at, "-req.", &queue) && *at == '\0');
}

int irqline_is_fixed(const struct irqlines *lines, const struct irqline *line)
{
	if (!irqline_is_movable(lines, line->number))
		return 1;
	if (lines->old_kernel != 0 && !lines->named)
		return -ENODATA;
	return line->action && irqline_is_managed_queue(line->action) ? lines->old_kernel : 0;
}
