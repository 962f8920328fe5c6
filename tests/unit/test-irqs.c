// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "quiet/engine/irqs.h"

enum {
	ROWS = 8,
};

struct row {
	unsigned number;
	const char *action; /* NULL: none */
};

/* Interrupts of a journal, the lines that there are now, and where the entries are then: 0 is gone.
 */
static const struct {
	struct row before[ROWS], now[ROWS];
	unsigned wanted[ROWS];
} cases[] = {
	/* Nothing has changed. */
	{ { { 5, "a" }, { 7, "b" } }, { { 5, "a" }, { 7, "b" } }, { 5, 7 } },
	/* Two have changed places. */
	{ { { 5, "a" }, { 7, "b" } }, { { 5, "b" }, { 7, "a" } }, { 7, 5 } },
	/* All have other numbers, and the queues of a card have one action. */
	{ { { 5, "q" }, { 6, "q" }, { 7, "b" } }, { { 5, "b" }, { 24, "q" }, { 25, "q" } },
		{ 24, 25, 5 } },
	/* One has a new number, which the others keep. */
	{ { { 5, "q" }, { 6, "q" } }, { { 5, "other" }, { 6, "q" }, { 9, "q" } }, { 9, 6 } },
	/* It is gone, and another device has its number. */
	{ { { 5, "a" } }, { { 5, "b" } }, { 0 } },
	/* Its driver may request it again. */
	{ { { 5, "a" } }, { { 5, NULL } }, { 5 } },
	/* A line that is gone, and with it the interrupt. */
	{ { { 5, "a" } }, { { 6, "b" } }, { 0 } },
	/* Another device shares it now, or no longer. */
	{ { { 5, "a" } }, { { 5, "c, a" } }, { 5 } },
	{ { { 5, "c, a" }, { 6, "x,y" } }, { { 5, "a" }, { 6, "y" } }, { 5, 6 } },
	/* Journals of early versions have no actions. */
	{ { { 5, NULL } }, { { 5, "b" } }, { 5 } },
};

static size_t count_rows(const struct row *rows)
{
	size_t n = 0;

	while (n < ROWS && rows[n].number > 0)
		n++;
	return n;
}

/* What setters call an interrupt. */
static const char *const words[] = { "irq", "CPUs of interrupt" };

static struct journal *make_journal(const struct row *rows, size_t n)
{
	struct journal *journal = NULL;

	assert_int_equal(journal_new("irq-steer", &journal), 0);
	for (size_t i = 0; i < n; i++) {
		char path[IRQLINE_PATH_SIZE], name[64];
		int front;

		irqline_affinity_path(rows[i].number, path);
		front = snprintf(
			name, sizeof(name), "%s %u", words[i % ARRAY_SIZE(words)], rows[i].number);
		if (rows[i].action)
			snprintf(name + front, sizeof(name) - (size_t)front, " (%s)",
				rows[i].action);
		assert_int_equal(journal_add(journal, 0, KNOB_LIST, path, name, "0-3", "0-1,3"), 0);
	}
	return journal;
}

static struct irqlines make_lines(const struct row *rows)
{
	struct irqlines lines = { .n = count_rows(rows), .named = true };

	lines.items = calloc(lines.n + 1, sizeof(*lines.items));
	assert_non_null(lines.items);
	for (size_t i = 0; i < lines.n; i++) {
		lines.items[i].number = rows[i].number;
		lines.items[i].action = rows[i].action ? strdup(rows[i].action) : NULL;
	}
	return lines;
}

static void test_follow(void **state _unused_)
{
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		size_t n = count_rows(cases[c].before);
		struct journal *journal = make_journal(cases[c].before, n);
		struct irqlines lines = make_lines(cases[c].now);

		assert_int_equal(irqs_follow_lines(journal, &lines), 0);
		for (size_t i = 0; i < n; i++) {
			const struct journal_entry *entry = &journal->entries[i];
			char path[IRQLINE_PATH_SIZE], name[64];

			irqline_affinity_path(cases[c].wanted[i], path);
			snprintf(name, sizeof(name), "%s %u", words[i % ARRAY_SIZE(words)],
				cases[c].wanted[i] > 0 ? cases[c].wanted[i]
						       : cases[c].before[i].number);
			if (strncmp(entry->name, name, strlen(name)) != 0)
				fail_msg("case %zu: entry %zu is called %s", c, i, entry->name);
			if (cases[c].wanted[i] > 0 && strcmp(entry->path, path) != 0)
				fail_msg("case %zu: entry %zu is at %s", c, i, entry->path);
			if (cases[c].wanted[i] == 0 && !strchr(entry->path, '('))
				fail_msg("case %zu: entry %zu is not gone", c, i);
			/* What an apply has set is not known of an interrupt that is new. */
			if ((cases[c].wanted[i] == cases[c].before[i].number ||
				    cases[c].wanted[i] == 0) != (entry->new != NULL))
				fail_msg("case %zu: entry %zu was set to %s", c, i, entry->new);
			assert_string_equal(entry->old, "0-3");
			assert_ptr_equal(journal_find(journal, entry->path), entry);
		}
		journal_free(journal);
		irqlines_clear(&lines);
	}
}

/* Lines that were read already are not read again, whatever the machine of the test has. */
static void test_read_once(void **state _unused_)
{
	static const struct row before[ROWS] = { { 5, "a" } }, now[ROWS] = { { 7, "a" } };
	struct journal *first = make_journal(before, 1), *second = make_journal(before, 1);
	struct irqlines lines = make_lines(now);
	char path[IRQLINE_PATH_SIZE];

	lines.directory = opendir("/");
	assert_non_null(lines.directory);
	assert_int_equal(irqs_follow(first, &lines), 0);
	assert_int_equal(irqs_follow(second, &lines), 0);
	irqline_affinity_path(7, path);
	assert_string_equal(first->entries[0].path, path);
	assert_string_equal(second->entries[0].path, path);
	journal_free(first);
	journal_free(second);
	irqlines_clear(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
