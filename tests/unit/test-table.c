// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/table.h"

#define LONG_LIST "0-3,5-9,16-23,32-35,37-41,48-55,64-67,69-73,80-87"

static const struct table_column columns[] = {
	{ "NAME", TABLE_WRAP },
	{ "CPUS", TABLE_WRAP },
	{ "NOW", TABLE_WRAP },
	{ "STATE", 0 },
	{ "COUNT", TABLE_NUMBER | TABLE_RIGHT },
	{ "WHY", TABLE_WRAP },
};

static void print_row(FILE *stream, const struct table_column *used, size_t n,
	const char *const *cells, bool json)
{
	struct table *table;

	assert_non_null(stream);
	assert_int_equal(table_new("rows", used, n, json, stream, &table), 0);
	assert_int_equal(table_add(table, cells), 0);
	assert_int_equal(table_print(table), 0);
	table_free(table);
}

/* What is printed of one row, malloc'd; no stream of ours is a terminal, so 80 columns wide. */
static char *print_columns(
	const struct table_column *used, size_t n, const char *const *cells, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	print_row(stream, used, n, cells, json);
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
static const struct table_column names[] = {
	{ "BENCHMARK", TABLE_WRAP | TABLE_BREAK },
	{ "FILE", TABLE_WRAP | TABLE_BREAK },
	{ "VERDICT", TABLE_WRAP },
	{ "TIME", TABLE_RIGHT },
};
static const char *const named[] = {
	"one-of-seventy-characters-and-without-any-place-where-it-could-be-cut-1",
	"/home/somebody/results/of-last-week.json and more",
	"unclear: too few",
	"1.5 ms",
};

static void test_broken(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char text[4096];
	size_t length = 0;
	FILE *stream;
	ssize_t n;

	(void)state;
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
		print_message("# there is no /dev/ptmx, as in some containers\n");
		skip();
		return;
	}
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	stream = fdopen(slave, "w");
	print_row(stream, names, ARRAY_SIZE(names), named, false);
	/* A terminal hands on a line as soon as it has it. */
	for (int lines = 0; lines < 4; length += (size_t)n) {
		n = read(master, text + length, sizeof(text) - 1 - length);
		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			lines += text[length + (size_t)i] == '\n';
	}
	text[length] = '\0';
	assert_string_equal(text,
		"BENCHMARK                   FILE                         VERDICT            TIME\r\n"
		"one-of-seventy-characters-a /home/somebody/results/of-la unclear: too few 1.5 ms\r\n"
		"nd-without-any-place-where- st-week.json and more                         \r\n"
		"it-could-be-cut-1                                                         \r\n");
	fclose(stream);
	close(master);
}

/* Nobody reads what is not a terminal by a width. */
static void test_whole_in_a_pipe(void **state)
{
	char *text = print_columns(names, ARRAY_SIZE(names), named, false);

	(void)state;
	assert_non_null(strstr(text,
		"\none-of-seventy-characters-and-without-any-place-where-it-could-be-cut-1 "
		"/home/somebody/results/of-last-week.json and more unclear: too few 1.5 ms\n"));
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
		cmocka_unit_test(test_whole_in_a_pipe),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
