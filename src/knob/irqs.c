// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/array.h"
#include "basic/parse.h"
#include "basic/text.h"
#include "knob/irqs.h"

#define IRQ_DIRECTORY "/proc/irq/"
#define IRQ_FILE "/smp_affinity_list"

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

/* The number in the path of an interrupt's affinity; -EINVAL for any other path. */
static int parse_number(const char *path, unsigned *ret)
{
	uint64_t number;

	if (!text_starts_with(path, IRQ_DIRECTORY))
		return -EINVAL;
	path += strlen(IRQ_DIRECTORY);
	if (parse_next_u64(&path, &number) < 0 || number > UINT32_MAX ||
		strcmp(path, IRQ_FILE) != 0)
		return -EINVAL;
	*ret = (unsigned)number;
	return 0;
}

/* What stands in the parentheses of a name; NULL for none. */
static char *copy_action(const char *name)
{
	const char *open = strchr(name, '('), *close = strrchr(name, ')');

	return open && close > open + 1 ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
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

		if (parse_number(entry->path, &known.number) < 0 || !strchr(entry->name, '('))
			continue;
		known.action = copy_action(entry->name);
		if (!known.action)
			continue;
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
	_cleanup_free_ char *copy = strdup(a);
	char *rest = copy, *word;

	while (copy && (word = strsep(&rest, ", "))) {
		if (*word && text_has_word(b, word, ", "))
			return true;
	}
	return false;
}

/* The index of the line with this number; -1 for none. */
static ssize_t find_line(const struct irqlines *lines, unsigned number)
{
	for (size_t i = 0; i < lines->n; i++) {
		if (lines->items[i].number == number)
			return (ssize_t)i;
	}
	return -1;
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
		if (text_format(&name, "irq %u (%s)", line->number, line->action) < 0)
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
		ssize_t at = find_line(lines, f.known[i].number);
		const char *action = at >= 0 ? lines->items[at].action : NULL;

		if (at >= 0 && (!action || are_alike(f.known[i].action, action))) {
			f.taken[at] = true;
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

int irqs_follow(struct journal *journal)
{
	struct irqlines lines = { 0 };
	bool any = false;
	unsigned number;
	int r;

	for (size_t i = 0; i < journal->n && !any; i++)
		any = parse_number(journal->entries[i].path, &number) == 0 &&
			strchr(journal->entries[i].name, '(');
	if (!any)
		return 0;
	r = irqlines_read(&lines);
	if (r == 0)
		r = irqlines_name(&lines);
	if (r == 0)
		r = irqs_follow_lines(journal, &lines);
	irqlines_clear(&lines);
	return r == -ENOENT ? 0 : r;
}
