// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/table.h"

#define LONG_LIST "0-3,5-9,16-23,32-35,37-41,48-55,64-67,69-73,80-87"

static const struct table_column columns[] = {
	{ "NAME", TABLE_WRAP },
	{ "CPUS", TABLE_WRAP },
	{ "NOW", TABLE_WRAP },
	{ "STATE", 0 },
	{ "COUNT", TABLE_NUMBER | TABLE_RIGHT },
	{ "WHY", TABLE_WRAP },
};

/* What is printed of one row, malloc'd; no stream of ours is a terminal, so 80 columns wide. */
static char *print_columns(
	const struct table_column *used, size_t n, const char *const *cells, bool json)
{
	struct table *table;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	assert_int_equal(table_new("rows", used, n, json, stream, &table), 0);
	assert_int_equal(table_add(table, cells), 0);
	assert_int_equal(table_print(table), 0);
	table_free(table);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static char *print(const char *const *cells, bool json)
{
	return print_columns(columns, ARRAY_SIZE(columns), cells, json);
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");

		widest = MAX(widest, n);
		text += n + (text[n] == '\n');
	}
	return widest;
}

/* All pieces of a cell stand in the text, in this order. */
static void assert_pieces(const char *text, const char *cell)
{
	while (*cell) {
		size_t n = strcspn(cell, ", ");
		char piece[64];

		n += cell[n] == ',';
		assert_true(n < sizeof(piece));
		memcpy(piece, cell, n);
		piece[n] = '\0';
		text = strstr(text, piece);
		assert_non_null(text);
		text += n;
		cell += n + (cell[n] == ' ');
	}
}

static void test_short(void **state)
{
	const char *const cells[] = { "a b", "0-3", NULL, "applied", "3", "" };
	char *text = print(cells, false);

	(void)state;
	assert_string_equal(text,
		"NAME CPUS NOW STATE   COUNT WHY\n"
		"a b  0-3      applied     3 \n");
	free(text);
}

static void test_wrapped(void **state)
{
	static const char *const rows[][6] = {
		{ "workqueue", LONG_LIST, LONG_LIST, "applied", "1", "by nobody" },
		{ "name", LONG_LIST "," LONG_LIST "," LONG_LIST, "0", "host-controlled", "99999",
			"the cores of this machine show one thread each, or none of them does" },
		{ "a name of many words that says all there is to say", LONG_LIST, LONG_LIST,
			"already", "7", "for no reason that could be given in a few words" },
		{ "eno1-TxRx-1-of-a-very-long-name", LONG_LIST, LONG_LIST, "-", "1", "  two  " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = print(rows[i], false);

		assert_true(widest_line(text) <= 80);
		for (size_t j = 0; j < 3 && i < 3; j++)
			assert_pieces(text, rows[i][j]);
		free(text);
	}
}

/* Whatever a cell holds: as JSON, and as text, where only a column that wraps has lines. JSON comes
 * first: libsmartcols does not return when it is to print a raw control character as text. */
static void test_escaped(void **state)
{
	static const char *const cells[] = { "a\x1b[2Jb\nc", "\xff", NULL, "x\ny\x9b", "3",
		"\xc2\x9b" };
	char *json = print(cells, true), *text;

	(void)state;
	assert_non_null(strstr(json, "\"a\\\\x1b[2Jb\\nc\""));
	assert_non_null(strstr(json, "\"\\\\xff\""));
	assert_non_null(strstr(json, "\"x\\\\x0ay\\\\x9b\""));
	assert_non_null(strstr(json, "\"\\\\xc2\\\\x9b\""));
	text = print(cells, false);
	assert_string_equal(text,
		"NAME      CPUS NOW STATE      COUNT WHY\n"
		"a\\x1b[2Jb \\xff     x\\x0ay\\x9b     3 \\xc2\\x9b\n"
		"c                                   \n");
	free(text);
	free(json);
}

/* The columns that may be broken share what room there is. */
static void test_fair(void **state)
{
	static const char *const cells[] = { "short", LONG_LIST, "1", "-", "1",
		"a reason of some length, given in many words" };
	char *text = print(cells, false);

	(void)state;
	assert_string_equal(text,
		"NAME  CPUS                       NOW STATE COUNT WHY\n"
		"short 0-3,5-9,16-23,32-35,37-41, 1   -         1 a reason of some length,\n"
		"      48-55,64-67,69-73,80-87                    given in many words\n");
	free(text);
}

/* Names without a blank. */
static void test_broken(void **state)
{
	static const struct table_column names[] = {
		{ "BENCHMARK", TABLE_WRAP | TABLE_BREAK },
		{ "FILE", TABLE_WRAP | TABLE_BREAK },
		{ "TIME", TABLE_RIGHT },
	};
	static const char *const cells[] = {
		"one-of-seventy-characters-and-without-any-place-where-it-could-be-cut-1",
		"/home/somebody/results/of-last-week.json and more",
		"1.5 ms",
	};
	char *text = print_columns(names, ARRAY_SIZE(names), cells, false);

	(void)state;
	assert_string_equal(text,
		"BENCHMARK                            FILE                                   TIME\n"
		"one-of-seventy-characters-and-withou /home/somebody/results/of-last-week. 1.5 ms\n"
		"t-any-place-where-it-could-be-cut-1  json and more                        \n");
	free(text);
}

/* A program gets every value as it is. */
static void test_json(void **state)
{
	static const char *const cells[] = { "a b", LONG_LIST "," LONG_LIST "," LONG_LIST, NULL,
		"applied", "3", "a reason of some length, given in many words, and more of them" };
	char *text = print(cells, true);

	(void)state;
	assert_non_null(strstr(text, "\"cpus\": \"" LONG_LIST "," LONG_LIST "," LONG_LIST "\""));
	assert_non_null(strstr(text, "\"now\": null"));
	assert_non_null(strstr(text, "\"count\": 3"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_escaped),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
