// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/knob.h"

/* An entry of the journal that is about an interrupt. */
struct known {
	struct journal_entry *entry;
	unsigned number;
	char *action;
};

struct following {
	struct known *known; /* sorted by number */
	size_t n;
	size_t capacity;
	const struct irqlines *lines;
	bool *taken; /* lines that an entry is about */
};

static void cleanup_following(struct following *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->known[i].action);
	free(f->known);
	free(f->taken);
}

/* The action that the entry of an interrupt names; NULL for any other entry. */
static const char *find_action(
	const struct journal_entry *entry, unsigned *ret_number, size_t *ret_length)
{
	const char *open = strchr(entry->name, '('), *close = strrchr(entry->name, ')');

	if (!open || close <= open + 1 || irqline_parse_path(entry->path, ret_number) < 0)
		return NULL;
	*ret_length = (size_t)(close - open - 1);
	return open + 1;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int find_known(struct journal *journal, struct following *f)
{
	for (size_t i = 0; i < journal->n; i++) {
		struct journal_entry *entry = &journal->entries[i];
		struct known known = { .entry = entry };
		size_t length;
		const char *action = find_action(entry, &known.number, &length);

		if (!action)
			continue;
		known.action = strndup(action, length);
		if (!known.action)
			return -ENOMEM;
		if (array_grow(&f->known, sizeof(*f->known), f->n, &f->capacity) < 0) {
			free(known.action);
			return -ENOMEM;
		}
		f->known[f->n++] = known;
	}
	if (f->n > 0)
		qsort(f->known, f->n, sizeof(*f->known), compare_known);
	return 0;
}

/* Whether two lists of actions have one in common: devices that share an interrupt come and go. */
static bool are_alike(const char *a, const char *b)
{
	static const char separators[] = ", ";

	while (*a) {
		size_t n = strcspn(a, separators);

		if (n > 0 && text_has_word_n(b, a, n, separators))
			return true;
		a += n + (a[n] != '\0');
	}
	return false;
}

/* Has an entry follow its interrupt to the first line with its action that no entry is about. */
static int move_entry(struct following *f, const struct known *known)
{
	struct journal_entry *entry = known->entry;
	_cleanup_free_ char *gone = NULL, *name = NULL;
	char path[IRQLINE_PATH_SIZE];
	int r;

	for (size_t i = 0; i < f->lines->n; i++) {
		const struct irqline *line = &f->lines->items[i];

		if (f->taken[i] || !line->action || !are_alike(known->action, line->action))
			continue;
		f->taken[i] = true;
		irqline_affinity_path(line->number, path);
		/* Each setter has words of its own in front of the number. */
		if (text_format(&name, "%.*s%u (%s)", (int)strcspn(entry->name, "0123456789"),
			    entry->name, line->number, line->action) < 0)
			return -ENOMEM;
		r = text_replace(&entry->path, path);
		if (r == 0)
			r = text_replace(&entry->name, name);
		free(TAKE_PTR(entry->new));
		return r;
	}
	if (text_format(&gone, "%s (%s)", entry->path, known->action) < 0)
		return -ENOMEM;
	return text_replace(&entry->path, gone);
}

int irqs_follow_lines(struct journal *journal, const struct irqlines *lines)
{
	__attribute__((cleanup(cleanup_following))) struct following f = { .lines = lines };
	int r;

	r = find_known(journal, &f);
	if (r < 0)
		return r;
	f.taken = calloc(lines->n + 1, sizeof(*f.taken));
	if (!f.taken)
		return -ENOMEM;
	for (size_t i = 0; i < f.n; i++) {
		const struct irqline *line = irqlines_find_number(lines, f.known[i].number);

		if (line && (!line->action || are_alike(f.known[i].action, line->action))) {
			f.taken[line - lines->items] = true;
			f.known[i].entry = NULL;
		}
	}
	for (size_t i = 0; r == 0 && i < f.n; i++) {
		if (!f.known[i].entry)
			continue;
		r = move_entry(&f, &f.known[i]);
		journal->is_sorted = false;
	}
	return r;
}

int irqs_follow(struct journal *journal, struct irqlines *lines)
{
	bool any = false;
	unsigned number;
	size_t length;
	int r;

	for (size_t i = 0; i < journal->n && !any; i++)
		any = find_action(&journal->entries[i], &number, &length);
	if (!any)
		return 0;
	r = irqlines_read_named(lines);
	if (r == 0)
		r = irqs_follow_lines(journal, lines);
	return r == -ENOENT ? 0 : r;
}

int irqs_read_default(struct cpumask *ret)
{
	char text[FILE_ATTR_SIZE];
	int r = file_read_attr(AT_FDCWD, IRQLINE_DEFAULT_AFFINITY, text, sizeof(text));

	if (r >= 0)
		r = cpumask_parse_hex(text, ret);
	return r < 0 && !errno_is_ours(-r) ? -ENOENT : MIN(r, 0);
}

/* The CPUs that the kernel gives a line by a default affinity: those that are online, and of these
 * the ones of the device's node if there are any (irq_setup_affinity() in kernel/irq/manage.c). 0
 * or -ENOMEM. */
static int find_given(const struct irqline *line, const struct cpumask *affinity,
	const struct cpumask *online, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *near = NULL, *mask = NULL;
	char path[96], text[FILE_ATTR_SIZE];
	int node;

	if (cpumask_copy(affinity, &mask) < 0 || cpumask_new(&near) < 0)
		return -ENOMEM;
	cpumask_and(mask, mask, online);
	snprintf(path, sizeof(path), "/proc/irq/%u/node", line->number);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0 &&
		parse_int(text, 0, INT_MAX, &node) == 0) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
		if (cpumask_read_list(AT_FDCWD, path, near) == 0 && cpumask_intersects(mask, near))
			cpumask_and(mask, mask, near);
	}
	*ret = TAKE_PTR(mask);
	return 0;
}

/* Whether a line has just what it was given, and nobody has moved it. 1, 0 or -ENOMEM. */
static int is_as_given(const struct irqlines *lines, const struct irqline *line,
	const struct cpumask *given, const struct cpumask *online)
{
	_cleanup_(cpumask) struct cpumask *now = NULL, *mask = NULL;
	int r = find_given(line, given, online, &mask);

	if (r == 0)
		r = cpumask_new(&now);
	if (r < 0)
		return r;
	r = irqline_read_affinity(lines, line->number, now);
	return r == -ENOMEM ? r : r == 0 && cpumask_equal(now, mask);
}

/* What a line gets by a default affinity, malloc'd. */
static int format_given(const struct irqline *line, const struct cpumask *given,
	const struct cpumask *online, char **ret)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	int r = find_given(line, given, online, &mask);

	if (r < 0)
		return r;
	*ret = cpumask_format_list(mask);
	return *ret ? 0 : -ENOMEM;
}

/* Gives it to the line, if that can be moved. */
static int give(const struct irqlines *lines, const struct irqline *line,
	const struct cpumask *given, const struct cpumask *online)
{
	_cleanup_free_ char *list = NULL;
	char path[IRQLINE_PATH_SIZE];
	int r = irqline_belongs_to_cpu(lines, line);

	if (r != 0 || !irqline_is_movable(lines, line->number) ||
		irqline_is_fixed(lines, line) == 1)
		return MIN(r, 0);
	r = format_given(line, given, online, &list);
	if (r < 0)
		return r;
	irqline_affinity_path(line->number, path);
	(void)knob_write(NULL, path, list);
	return 0;
}

int irqs_find_original(
	struct journal *earlier, struct irqlines *lines, const char *path, char **ret)
{
	_cleanup_(cpumask) struct cpumask *online = NULL, *given = NULL;
	const struct journal_entry *e;
	const struct irqline *line;
	unsigned number;
	int r;

	*ret = NULL;
	if (!earlier || !lines || irqline_parse_path(path, &number) < 0)
		return 0;
	e = journal_find(earlier, IRQLINE_DEFAULT_AFFINITY);
	if (!e || !e->new || e->role != JOURNAL_TURNED)
		return 0;
	r = irqlines_read_named(lines);
	line = r == 0 ? irqlines_find_number(lines, number) : NULL;
	if (!line)
		return r;
	if (cpumask_new(&online) < 0 || cpumask_new(&given) < 0)
		return -ENOMEM;
	r = cpumask_read_list(AT_FDCWD, "/sys/devices/system/cpu/online", online);
	if (r == 0)
		r = knob_parse_cpus(e->kind, e->new, given);
	if (r == 0)
		r = is_as_given(lines, line, given, online);
	if (r > 0)
		r = knob_parse_cpus(e->kind, e->old, given);
	else
		return errno_is_ours(-r) ? r : 0;
	return r == 0 ? format_given(line, given, online, ret) : 0;
}

int irqs_widen_new(struct journal *journal, const struct irqlines *lines,
	const struct cpumask *given, const struct cpumask *online)
{
	_cleanup_(cpumask) struct cpumask *now = NULL;
	int r;

	r = cpumask_new(&now);
	if (r == 0)
		r = irqs_read_default(now);
	if (r < 0)
		return r;
	cpumask_and(now, now, online);
	if (cpumask_equal(given, now))
		return 0;
	for (size_t i = 0; r == 0 && i < lines->n; i++) {
		const struct irqline *line = &lines->items[i];
		char path[IRQLINE_PATH_SIZE];

		irqline_affinity_path(line->number, path);
		if (journal_find(journal, path))
			continue;
		r = is_as_given(lines, line, given, given);
		if (r > 0)
			r = give(lines, line, now, online);
	}
	return r;
}

int irqs_are_balanced(void)
{
	_cleanup_closedir_ DIR *directory = opendir("/proc");
	struct dirent *entry;

	if (!directory)
		return -errno;
	while ((errno = 0, entry = readdir(directory))) {
		char path[64], comm[64];
		unsigned pid;
		int r;

		if (parse_uint(entry->d_name, 1, INT32_MAX, &pid) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%u/comm", pid);
		r = file_read_attr(AT_FDCWD, path, comm, sizeof(comm));
		/* Other errors are of processes that have ended, or are hidden from this user. */
		if (r < 0 && errno_is_ours(-r))
			return r;
		if (r <= 0 || strcmp(comm, "irqbalance") != 0)
			continue;
		r = tasks_is_of((pid_t)pid, 0);
		if (r > 0 || (r < 0 && errno_is_ours(-r)))
			return r;
	}
	return -errno;
}
