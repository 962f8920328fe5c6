// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"

static void check_text(char *got, const char *wanted)
{
	assert_non_null(got);
	assert_string_equal(got, wanted);
	free(got);
}

static void test_append(void **state)
{
	struct text t = { 0 };

	(void)state;
	text_append(&t, "a");
	text_append(&t, "");
	text_append_n(&t, "bcdef", 2);
	text_appendf(&t, "%d%s", 12, "x");
	assert_string_equal(t.data, "abc12x");
	assert_int_equal(t.length, 6);
	check_text(text_steal(&t), "abc12x");
	assert_null(t.data);
	assert_int_equal(t.length, 0);
	/* Empty, not NULL: that means that memory was short. */
	check_text(text_steal(&t), "");
	text_append(&t, "again");
	text_clear(&t);
	text_clear(&t);
	assert_null(t.data);
}

/* Every length across several reallocations, by both ways of appending. */
static void test_growth(void **state)
{
	struct text t = { 0 }, f = { 0 };
	char *a, *b;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		text_append_n(&t, &"0123456789"[i % 10], 1);
		text_appendf(&f, "%d", i % 10);
		assert_int_equal(t.length, i + 1);
		assert_int_equal(f.length, i + 1);
	}
	a = text_steal(&t);
	b = text_steal(&f);
	assert_int_equal(strlen(a), 5000);
	assert_string_equal(a, b);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(a[i], '0' + i % 10);
	free(a);
	free(b);
}

static void test_failure_sticks(void **state)
{
	struct text t = { 0 };

	(void)state;
	text_append(&t, "kept");
	/* More than there are addresses. */
	text_append_n(&t, "", SIZE_MAX);
	assert_true(t.failed);
	text_append(&t, "more");
	text_appendf(&t, "%s", "more");
	assert_string_equal(t.data, "kept");
	assert_null(text_steal(&t));
	assert_null(t.data);
	assert_false(t.failed);
}

static void test_names(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	static const struct {
		size_t n, shown;
		const char *text;
	} cases[] = {
		{ 0, 3, "" },
		{ 1, 3, "x/a" },
		{ 3, 3, "x/a, x/b, x/c" },
		{ 4, 3, "x/a, x/b, x/c and 1 more" },
		{ 5, 1, "x/a and 4 more" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text t = { 0 };
		char *text;

		for (size_t j = 0; j < cases[i].n; j++)
			text_append_name(&t, j, cases[i].shown, "x/%s", names[j]);
		text_append_rest(&t, cases[i].n, cases[i].shown);
		text = text_steal(&t);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

static void test_escape_control(void **state)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ "", "" },
		{ "plain text", "plain text" },
		{ "a\nb\tc", "a\\x0ab\\x09c" },
		{ "\x1b[31mred", "\\x1b[31mred" },
		{ "\x7f", "\\x7f" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "a\xf0\x9f\xbf\xbf\xef\xb7\x90z", "a\\xf0\\x9f\\xbf\\xbf\\xef\\xb7\\x90z" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80" },
		/* U+009B is CSI, U+00A0 only a blank. */
		{ "\xc2\x9b"
		  "31m",
			"\\xc2\\x9b31m" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\xc2\xa0" },
		/* What turns the direction of text, and ends of lines; not their neighbours. */
		{ "\xe2\x80\xa8\xe2\x80\xae", "\\xe2\\x80\\xa8\\xe2\\x80\\xae" },
		{ "\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" },
		{ "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
			"\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa" },
		/* The same in Latin-1, and a sequence that is cut. */
		{ "\x9b"
		  "31m",
			"\\x9b31m" },
		{ "\xc2", "\\xc2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_text(text_escape_control(rows[i].text), rows[i].wanted);
}

static void test_escape_lines(void **state)
{
	(void)state;
	check_text(text_escape_lines("a\nb\tc\x1b\n"), "a\nb\\x09c\\x1b\n");
	check_text(text_escape_lines(""), "");
	assert_int_equal(text_plain_length("a\nb"), 1);
	assert_int_equal(text_plain_length("gr\xc3\xbc\xc2\x9b"), 4);
	assert_int_equal(text_plain_length("gr\xc3"), 2);
	assert_int_equal(text_plain_length(""), 0);
}

static void test_control_length(void **state)
{
	static const struct {
		const char *text;
		size_t n, length;
		unsigned code;
	} rows[] = {
		{ "\x1b", 1, 1, 0x1b },
		{ "\x7f", 1, 1, 0x7f },
		{ "\xc2\x9b", 2, 2, 0x9b },
		/* As much as there is of it. */
		{ "\xc2\x9b", 1, 0, 1 },
		{ "\xe2\x80\xae", 3, 3, 0x202e },
		{ "\xef\xbf\xbd", 3, 0, 1 },
		{ "\xef\xbf\xbe", 3, 3, 0xfffe },
		{ "\xef\xbf\xbf", 3, 3, 0xffff },
		{ "\xef\xb7\x8f", 3, 0, 1 },
		{ "\xef\xb7\x90", 3, 3, 0xfdd0 },
		{ "\xef\xb7\xaf", 3, 3, 0xfdef },
		{ "\xef\xb7\xb0", 3, 0, 1 },
		{ "\xf0\x9f\xbf\xbd", 4, 0, 1 },
		{ "\xf0\x9f\xbf\xbe", 4, 4, 0x1fffe },
		{ "\xf0\x9f\xbf\xbf", 4, 4, 0x1ffff },
		{ "\xf0\x9f\xbf\xbf", 3, 0, 1 },
		{ "\xf0\xaf\xbf\xbf", 4, 4, 0x2ffff },
		{ "\xf0\x9e\xbf\xbf", 4, 0, 1 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "\xe2\x81\xa9", 3, 3, 0x2069 },
		{ "\xe2\x81\xa9", 2, 0, 1 },
		{ "a", 1, 0, 1 },
		{ "", 0, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned code = 1;

		assert_int_equal(
			text_control_length(rows[i].text, rows[i].n, &code), rows[i].length);
		assert_int_equal(code, rows[i].code);
	}
}

static void test_escape_utf8(void **state)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ "", "" },
		{ "a\nb\x7f", "a\nb\x7f" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		/* The highest of each length. */
		{ "\x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf",
			"\x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf" },
		/* Latin-1. */
		{ "caf\xe9", "caf\\xe9" },
		{ "\xe9t\xe9", "\\xe9t\\xe9" },
		/* A continuation without a start, a start without its continuation. */
		{ "\x80x", "\\x80x" },
		{ "\xc3", "\\xc3" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xf0\x9f\x98", "\\xf0\\x9f\\x98" },
		{ "\xe2x", "\\xe2x" },
		/* Overlong forms of '/', a surrogate, beyond U+10FFFF, five bytes. */
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
		{ "\xff\xfe", "\\xff\\xfe" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_text(text_escape_utf8(rows[i].text), rows[i].wanted);
}

static void test_quote_argv(void **state)
{
	static const struct {
		const char *argv[5];
		const char *wanted;
	} rows[] = {
		{ { NULL }, "" },
		{ { "ls", "-l", "/tmp/a_b.c", NULL }, "ls -l /tmp/a_b.c" },
		{ { "prog", "", "a b", NULL }, "prog '' 'a b'" },
		{ { "prog", "it's", "$HOME", "`x`", NULL }, "prog 'it'\\''s' '$HOME' '`x`'" },
		{ { "prog", "~", "*", "a\\b", NULL }, "prog '~' '*' 'a\\b'" },
		{ { "prog", "--x=1", "a;b", "#", NULL }, "prog --x=1 'a;b' '#'" },
		{ { "prog", "gr\xc3\xbc", NULL }, "prog 'gr\xc3\xbc'" },
		/* Would set a variable for nothing. */
		{ { "a=b", "c=d", NULL }, "'a=b' c=d" },
		/* Stays one line. */
		{ { "sh", "-c", "a\nb", NULL }, "sh -c $'a\\012b'" },
		{ { "x",
			  "\x1b'\\\xc2\x9b"
			  "1",
			  NULL },
			"x $'\\033\\'\\\\\\302\\2331'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_text(text_quote_argv((char *const *)rows[i].argv), rows[i].wanted);
}

/* What was quoted is read back by a real shell. */
static void test_quote_for_shell(void **state)
{
	static const char *const words[] = { "a", "", " ", "it's", "\"$(x)\"", "a\\nb", "a\nb\n",
		"\t\x01\x7f", "--o=1", "a=b", "gr\xc3\xbc\xc2\x9b", "\xff\xc2", "!", "*", "~",
		"#x" };
	_cleanup_free_ char *quoted = NULL;
	const char *argv[ARRAY_SIZE(words) + 3] = { "printf", "%s|" };
	const char *shell_argv[] = { "bash", "-c", NULL, NULL };
	char wanted[256] = "", got[256];
	FILE *pipe_end;
	int fds[2], status;
	pid_t pid;
	size_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		argv[i + 2] = words[i];
		n = strlen(wanted);
		snprintf(wanted + n, sizeof(wanted) - n, "%s|", words[i]);
	}
	quoted = text_quote_argv((char *const *)argv);
	assert_non_null(quoted);
	assert_null(strpbrk(quoted, "\n\t\x01\x1b\x7f"));
	shell_argv[2] = quoted;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		execvp("bash", (char *const *)shell_argv);
		_exit(127);
	}
	close(fds[1]);
	pipe_end = fdopen(fds[0], "r");
	assert_non_null(pipe_end);
	n = fread(got, 1, sizeof(got) - 1, pipe_end);
	got[n] = '\0';
	fclose(pipe_end);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(got, wanted);
}

static void test_starts_with(void **state)
{
	(void)state;
	assert_true(text_starts_with("random:5", "random:"));
	assert_true(text_starts_with("x", "x"));
	assert_true(text_starts_with("x", ""));
	assert_true(text_starts_with("", ""));
	assert_false(text_starts_with("", "x"));
	assert_false(text_starts_with("rando", "random"));
	assert_false(text_starts_with("xrandom", "random"));
}

static void test_format_real(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 0.1, "0.1" },
		{ -2.5, "-2.5" },
		{ 25, "25" },
		{ 1e-9, "1e-09" },
		{ 1.1e-9, "1.1e-09" },
		{ 1e300, "1e+300" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 1.2345678901234568e17, "1.2345678901234568e+17" },
	};
	/* Decimal commas, where they are installed. */
	static const char *const locales[] = { "C", "de_DE.UTF-8" };
	char text[TEXT_REAL_SIZE];

	(void)state;
	for (size_t l = 0; l < ARRAY_SIZE(locales); l++) {
		(void)setlocale(LC_NUMERIC, locales[l]);
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			assert_string_equal(text_format_real(cases[i].value, text), cases[i].text);
	}
	(void)setlocale(LC_NUMERIC, "C");
}

static void test_refuse(void **state)
{
	char *why = NULL;

	(void)state;
	assert_int_equal(
		text_refuse(&why, -EBADMSG, "line %d of '%s'", 3, "a\x1b[31m\xff"), -EBADMSG);
	check_text(why, "line 3 of 'a\\x1b[31m\\xff'");
}

static void test_wrap(void **state)
{
	static const struct {
		const char *text, *wrapped;
		size_t width;
	} cases[] = {
		{ "", "", 20 },
		{ "a b\nc\n", "a b\nc\n", 20 },
		{ "12345 789 123", "12345 789\n    123", 10 },
		{ "12345 7890 123", "12345 7890\n    123", 10 },
		{ "12345   7890 123", "12345\n    7890\n    123", 10 },
		/* Below the value of a line with a label; a label that is too long is none. */
		{ "  tests    p = 0.05, z = 2, n = 5\nx",
			"  tests    p = 0.05, z = 2,\n           n = 5\nx", 28 },
		{ "  a long label    and words", "  a long\n      label\n      and\n      words",
			9 },
		/* A word is whole, the first one as well. */
		{ "/a/very/long/name and more", "/a/very/long/name\n    and\n    more", 10 },
		{ "  /a/very/long/name and", "  /a/very/long/name\n      and", 10 },
		{ "a /a/very/long/name\n", "a\n    /a/very/long/name\n", 10 },
		/* Characters, not bytes. */
		{ "\u00b5\u00b5\u00b5\u00b5 \u00b5\u00b5", "\u00b5\u00b5\u00b5\u00b5 \u00b5\u00b5",
			7 },
		{ "aaaa bb    ", "aaaa bb", 7 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *wrapped = text_wrap(cases[i].text, cases[i].width);

		assert_string_equal(wrapped, cases[i].wrapped);
	}
}

/* In a locale that knows them. */
static void test_columns(void **state)
{
	static const struct {
		const char *text;
		size_t columns, length;
	} cases[] = {
		{ "a", 1, 1 },
		{ "\u00b5", 1, 2 },
		{ "\u4e2d", 2, 3 },
		{ "\U0001f600", 2, 4 },
		{ "\u0301", 0, 2 },
		{ "\xff", 1, 1 },
	};
	_cleanup_free_ char *wrapped = NULL;
	size_t length;

	(void)state;
	/* glibc has it since 2.35, distributions had it before, and musl has no other. */
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(text_next_columns(cases[i].text, &length), cases[i].columns);
		assert_int_equal(length, cases[i].length);
	}
	assert_int_equal(text_columns("a\u4e2d\u6587", 7), 5);
	wrapped = text_wrap("\u4e2d\u6587 \u4e2d\u6587 aa", 8);
	assert_string_equal(wrapped, "\u4e2d\u6587\n    \u4e2d\u6587\n    aa");
	(void)setlocale(LC_CTYPE, "C");
	/* Without the locale glibc does not know how wide it is, and musl does. */
	assert_int_equal(text_next_columns("\u4e2d", &length), wcwidth(0x4e2d) < 0 ? 1 : 2);
}

static void test_shorten(void **state)
{
	static const struct {
		const char *text, *shortened;
		size_t columns;
	} cases[] = {
		{ "", "", 5 },
		{ "abcdef", "abcdef", 6 },
		{ "abcdefg", "ab...g", 6 },
		{ "abcdefghijkl", "ab...kl", 7 },
		/* Half of a character that takes two columns is none. */
		{ "\u4e2d\u6587\u4e2d\u6587\u4e2d", "\u4e2d...\u4e2d", 8 },
		{ "\u4e2d\u6587\u4e2d\u6587\u4e2d", "\u4e2d...\u4e2d", 9 },
		/* Marks stay with the character that they are on. */
		{ "e\u0301bcdefgo\u0301", "e\u0301...o\u0301", 5 },
		{ "abcdefgho\u0301xy", "ab...xy", 7 },
		{ "\xff\xff\xff\xff\xff\xff", "\xff...\xff", 5 },
	};

	(void)state;
	/* glibc has it since 2.35, distributions had it before, and musl has no other. */
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *shortened = text_shorten(cases[i].text, cases[i].columns);

		assert_string_equal(shortened, cases[i].shortened);
		assert_true(text_columns(shortened, strlen(shortened)) <= cases[i].columns);
	}
	(void)setlocale(LC_CTYPE, "C");
}

static void test_has_word(void **state)
{
	(void)state;
	assert_true(text_has_word("cpuset cpu io", "cpuset", " "));
	assert_true(text_has_word("cpuset cpu io", "io", " "));
	assert_true(text_has_word("rw,discard, pri=5", "discard", ", "));
	assert_true(text_has_word("nop\n", "nop", " \n"));
	assert_false(text_has_word("cpuset cpu io", "cpus", " "));
	assert_false(text_has_word("cpuset cpu io", "set", " "));
	assert_false(text_has_word("NO_OSNOISE", "OSNOISE", " "));
	assert_false(text_has_word("a,b", "a", " "));
	assert_false(text_has_word("", "a", " "));
	assert_false(text_has_word("  ", "a", " "));
}

static void test_choice(void **state)
{
	static const char *const cases[][2] = {
		{ "always [madvise] never", "madvise" },
		{ "[always] madvise never", "always" },
		{ "always defer [never]", "never" },
		{ "never", "never" },
		{ "", "" },
		{ "[]", "" },
		{ "a [b", "a [b" },
		{ "a] b", "a] b" },
		{ "a] [b] c", "b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", cases[i][0]);
		text_pick_choice(text);
		assert_string_equal(text, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_failure_sticks),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_escape_control),
		cmocka_unit_test(test_escape_lines),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_shorten),
		cmocka_unit_test(test_control_length),
		cmocka_unit_test(test_escape_utf8),
		cmocka_unit_test(test_quote_argv),
		cmocka_unit_test(test_quote_for_shell),
		cmocka_unit_test(test_starts_with),
		cmocka_unit_test(test_has_word),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_format_real),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
