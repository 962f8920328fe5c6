// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "base/text.h"

enum {
	LAST = CPUMASK_CAPACITY - 1,
};

/* What every test works on: three empty masks. */
struct fixture {
	struct cpumask *a, *b, *c;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	if (cpumask_new(&f->a) < 0 || cpumask_new(&f->b) < 0 || cpumask_new(&f->c) < 0)
		return -1;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cpumask_free(f->a);
	cpumask_free(f->b);
	cpumask_free(f->c);
	free(f);
	return 0;
}

/* A failing assertion names only the line; the last of these names the row. */
static void name_case(const char *text)
{
	fprintf(stderr, "case '%s'\n", text);
}

static void expect_list(const struct cpumask *mask, const char *expected)
{
	char *list = cpumask_format_list(mask);

	assert_non_null(list);
	assert_string_equal(list, expected);
	free(list);
}

static void fill(struct cpumask *mask, const char *list)
{
	assert_int_equal(cpumask_parse_list(list, 0, mask, NULL), 0);
}

static void test_bits(void **state)
{
	struct fixture *f = *state;

	assert_true(cpumask_is_empty(f->a));
	assert_int_equal(cpumask_weight(f->a), 0);
	assert_int_equal(cpumask_first(f->a), -1);
	assert_int_equal(cpumask_last(f->a), -1);
	assert_int_equal(cpumask_next(f->a, 0), -1);

	/* Either side of a word, and the ends. */
	assert_int_equal(cpumask_set(f->a, 0), 0);
	assert_int_equal(cpumask_set(f->a, 31), 0);
	assert_int_equal(cpumask_set(f->a, 63), 0);
	assert_int_equal(cpumask_set(f->a, 64), 0);
	assert_int_equal(cpumask_set(f->a, LAST), 0);
	assert_int_equal(cpumask_weight(f->a), 5);
	assert_int_equal(cpumask_first(f->a), 0);
	assert_int_equal(cpumask_last(f->a), LAST);
	assert_int_equal(cpumask_next(f->a, 0), 31);
	assert_int_equal(cpumask_next(f->a, 31), 63);
	assert_int_equal(cpumask_next(f->a, 63), 64);
	assert_int_equal(cpumask_next(f->a, 64), LAST);
	assert_int_equal(cpumask_next(f->a, LAST - 1), LAST);
	assert_int_equal(cpumask_next(f->a, LAST), -1);
	assert_int_equal(cpumask_next(f->a, INT_MAX), -1);
	assert_int_equal(cpumask_next(f->a, INT_MIN), 0);
	assert_true(cpumask_isset(f->a, LAST));
	assert_false(cpumask_isset(f->a, 1));

	cpumask_clear(f->a, 0);
	cpumask_clear(f->a, 1);
	assert_int_equal(cpumask_first(f->a), 31);
	assert_int_equal(cpumask_weight(f->a), 4);
	cpumask_clear_all(f->a);
	assert_true(cpumask_is_empty(f->a));
}

/* libbitmask ignores such bits without a word; we say so, and nothing changes. */
static void test_bits_outside(void **state)
{
	static const int outside[] = { -1, CPUMASK_CAPACITY, CPUMASK_CAPACITY + 1, INT_MAX,
		INT_MIN };
	struct fixture *f = *state;

	fill(f->a, "5");
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		assert_int_equal(cpumask_set(f->a, outside[i]), -ERANGE);
		assert_false(cpumask_isset(f->a, outside[i]));
		cpumask_clear(f->a, outside[i]);
	}
	expect_list(f->a, "5");
}

static void test_for_each(void **state)
{
	static const int expected[] = { 0, 3, 64, LAST };
	struct fixture *f = *state;
	size_t n = 0;

	cpumask_for_each (cpu, f->a)
		n++;
	assert_int_equal(n, 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(cpumask_set(f->a, expected[i]), 0);
	cpumask_for_each (cpu, f->a) {
		assert_true(n < ARRAY_SIZE(expected));
		assert_int_equal(cpu, expected[n++]);
		cpumask_clear(f->a, cpu);
	}
	assert_int_equal(n, ARRAY_SIZE(expected));
	assert_true(cpumask_is_empty(f->a));
}

static void test_algebra(void **state)
{
	struct fixture *f = *state;

	fill(f->a, "0-3,100,8191");
	fill(f->b, "2-5,8191");
	cpumask_and(f->c, f->a, f->b);
	expect_list(f->c, "2-3,8191");
	assert_true(cpumask_subset(f->c, f->a));
	assert_true(cpumask_subset(f->c, f->b));
	assert_false(cpumask_subset(f->a, f->b));
	cpumask_or(f->c, f->a, f->b);
	expect_list(f->c, "0-5,100,8191");
	cpumask_andnot(f->c, f->a, f->b);
	expect_list(f->c, "0-1,100");
	assert_false(cpumask_intersects(f->c, f->b));
	assert_true(cpumask_intersects(f->a, f->b));

	/* The target may be an operand. */
	cpumask_and(f->a, f->a, f->b);
	expect_list(f->a, "2-3,8191");
	cpumask_or(f->a, f->b, f->a);
	assert_true(cpumask_equal(f->a, f->b));
	cpumask_andnot(f->a, f->a, f->a);
	assert_true(cpumask_is_empty(f->a));
	assert_false(cpumask_equal(f->a, f->b));

	/* The empty set. */
	assert_true(cpumask_subset(f->a, f->b));
	assert_true(cpumask_subset(f->a, f->a));
	assert_false(cpumask_subset(f->b, f->a));
	assert_false(cpumask_intersects(f->a, f->a));
	assert_true(cpumask_equal(f->a, f->a));
}

static void test_copies(void **state)
{
	struct fixture *f = *state;
	struct cpumask *copy = NULL;

	fill(f->a, "1,70");
	assert_int_equal(cpumask_copy(f->a, &copy), 0);
	cpumask_clear(f->a, 1);
	expect_list(copy, "1,70");
	cpumask_assign(f->b, copy);
	cpumask_free(copy);
	expect_list(f->b, "1,70");
	cpumask_assign(f->b, f->b);
	expect_list(f->b, "1,70");
	cpumask_free(NULL);
}

static void test_list_good(void **state)
{
	static const struct {
		const char *text;
		unsigned n_cpus;
		const char *list;
	} cases[] = {
		{ "0", 0, "0" },
		{ "0-3,8", 0, "0-3,8" },
		{ "8,0-3", 0, "0-3,8" },
		{ "0-3,2-5", 0, "0-5" },
		{ "3-3", 0, "3" },
		{ "007", 0, "7" },
		{ "1,2,3", 0, "1-3" },
		{ "8191", 0, "8191" },
		{ "0-8191", 0, "0-8191" },
		{ "0-15:2/4", 0, "0-1,4-5,8-9,12-13" },
		{ "1-7:2/4", 0, "1-2,5-6" },
		{ "0-4:1/1", 0, "0-4" },
		{ "0-4:3/3", 0, "0-4" },
		{ "2-3:1/8192", 0, "2" },
		{ "0-7:1/2,16", 0, "0,2,4,6,16" },
		{ "all", 4, "0-3" },
		{ "all", 1, "0" },
		{ "all", 8192, "0-8191" },
		{ "all:1/2", 6, "0,2,4" },
		{ "all,9", 2, "0-1,9" },
		{ "N", 8, "7" },
		{ "0-N", 8, "0-7" },
		{ "N-N", 8, "7" },
		{ "2-N:1/2", 8, "2,4,6" },
		/* More than there are: for the caller to judge. */
		{ "9", 4, "9" },
		/* What sysfs writes; libbitmask refuses the newline, the empty text and `all`. */
		{ "0-3\n", 0, "0-3" },
		{ "all\n", 2, "0-1" },
		{ "", 0, "" },
		{ "\n", 0, "" },
		{ " ", 0, "" },
		{ " \t \n", 0, "" },
		{ " (null)", 0, "" },
		{ " (null)\n", 0, "" },
		{ "(null)", 0, "" },
		{ "                                                    (null)\n", 0, "" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpumask_error error = { .offset = 4711 };

		name_case(cases[i].text);
		fill(f->a, "1234");
		assert_int_equal(
			cpumask_parse_list(cases[i].text, cases[i].n_cpus, f->a, &error), 0);
		expect_list(f->a, cases[i].list);
		assert_int_equal(error.offset, 4711);
	}
}

static void test_list_bad(void **state)
{
	static const struct {
		const char *text;
		unsigned n_cpus;
		int r;
		size_t offset;
	} cases[] = {
		{ "x", 8, -EINVAL, 0 },
		{ "0-3,x", 8, -EINVAL, 4 },
		{ "0-3x", 8, -EINVAL, 3 },
		{ "1,", 8, -EINVAL, 2 },
		{ "1,\n", 8, -EINVAL, 2 },
		{ ",1", 8, -EINVAL, 0 },
		{ ",", 8, -EINVAL, 0 },
		{ "1,,2", 8, -EINVAL, 2 },
		{ "1, 2", 8, -EINVAL, 2 },
		{ "1 ,2", 8, -EINVAL, 1 },
		{ "1 2", 8, -EINVAL, 1 },
		{ "0 -3", 8, -EINVAL, 1 },
		{ " 1", 8, -EINVAL, 0 },
		{ "\t1", 8, -EINVAL, 0 },
		{ "\n1", 8, -EINVAL, 1 },
		{ "1 ", 8, -EINVAL, 1 },
		{ "1\n\n", 8, -EINVAL, 2 },
		{ "\n\n", 8, -EINVAL, 1 },
		{ "1\r\n", 8, -EINVAL, 1 },
		{ "-1", 8, -EINVAL, 0 },
		{ "+1", 8, -EINVAL, 0 },
		{ "1-", 8, -EINVAL, 2 },
		{ "1--2", 8, -EINVAL, 2 },
		{ "1-2-3", 8, -EINVAL, 3 },
		{ "3-1", 8, -EINVAL, 2 },
		{ "0x3", 8, -EINVAL, 1 },
		{ "1.5", 8, -EINVAL, 1 },
		{ "1;2", 8, -EINVAL, 1 },
		{ "!1", 8, -EINVAL, 0 },
		{ "\xd9\xa1", 8, -EINVAL, 0 },
		{ "ALL", 8, -EINVAL, 0 },
		{ "al", 8, -EINVAL, 0 },
		{ "allx", 8, -EINVAL, 3 },
		{ "all-3", 8, -EINVAL, 3 },
		{ "n", 8, -EINVAL, 0 },
		{ "N1", 8, -EINVAL, 1 },
		{ "1N", 8, -EINVAL, 1 },
		{ "N-1", 8, -EINVAL, 2 },
		{ "all", 0, -EINVAL, 0 },
		{ "N", 0, -EINVAL, 0 },
		{ "0-N", 0, -EINVAL, 2 },
		{ "all", 8193, -ERANGE, 0 },
		{ "N", 8193, -ERANGE, 0 },
		{ "N", UINT_MAX, -ERANGE, 0 },
		{ "(null)x", 8, -EINVAL, 6 },
		{ "(null),1", 8, -EINVAL, 6 },
		{ "(null", 8, -EINVAL, 0 },
		{ "1(null)", 8, -EINVAL, 1 },
		{ "1,(null)", 8, -EINVAL, 2 },
		{ "  x", 8, -EINVAL, 0 },
		/* libbitmask: loops for ever. */
		{ "0-3:0", 8, -EINVAL, 4 },
		{ "0-3:0/0", 8, -EINVAL, 4 },
		{ "0-3:0/4", 8, -EINVAL, 4 },
		{ "0-3:1/0", 8, -EINVAL, 6 },
		{ "0-3:1", 8, -EINVAL, 5 },
		{ "0-3:", 8, -EINVAL, 4 },
		{ "0-3:/4", 8, -EINVAL, 4 },
		{ "0-3:1/", 8, -EINVAL, 6 },
		{ "0-3:1/2/3", 8, -EINVAL, 7 },
		{ "0-3:1:2", 8, -EINVAL, 5 },
		{ "0-3:3/2", 8, -EINVAL, 6 },
		{ "0-3:N/4", 8, -EINVAL, 4 },
		{ "0-3:1-2/4", 8, -EINVAL, 5 },
		{ "0-3:8193/8193", 8, -ERANGE, 4 },
		{ "0-3:1/8193", 8, -ERANGE, 6 },
		{ "0-3:4294967296/4", 8, -ERANGE, 4 },
		{ "0-3:1/4294967297", 8, -ERANGE, 6 },
		/* Only a range has a pattern. */
		{ "3:1/2", 8, -EINVAL, 1 },
		{ "N:1/2", 8, -EINVAL, 1 },
		{ "8192", 8, -ERANGE, 0 },
		{ "0-8192", 8, -ERANGE, 2 },
		{ "1,8192,2", 8, -ERANGE, 2 },
		/* libbitmask: 0, and 1-3. */
		{ "4294967296", 8, -ERANGE, 0 },
		{ "4294967297-4294967299", 8, -ERANGE, 0 },
		{ "18446744073709551616", 8, -ERANGE, 0 },
		{ "0-18446744073709551617", 8, -ERANGE, 2 },
		{ "99999999999999999999999999999999999999", 8, -ERANGE, 0 },
		{ "2147483648", 8, -ERANGE, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpumask_error error = { 0 };

		name_case(cases[i].text);
		fill(f->a, "1234");
		assert_int_equal(cpumask_parse_list(cases[i].text, cases[i].n_cpus, f->a, &error),
			cases[i].r);
		assert_int_equal(error.offset, cases[i].offset);
		assert_int_equal(error.character, cases[i].text[cases[i].offset]);
		assert_non_null(error.reason);
		expect_list(f->a, "1234");
		/* Nobody must take the error. */
		assert_int_equal(
			cpumask_parse_list(cases[i].text, cases[i].n_cpus, f->a, NULL), cases[i].r);
	}
}

static void test_list_file(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test-cpumask.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "0-2,5\n", 6), 6);
	assert_int_equal(cpumask_read_list(AT_FDCWD, path, f->a), 0);
	expect_list(f->a, "0-2,5");
	/* What cannot be understood, or read, changes nothing. */
	assert_int_equal(write(fd, "x\n", 2), 2);
	assert_int_equal(cpumask_read_list(AT_FDCWD, path, f->a), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(cpumask_read_list(AT_FDCWD, path, f->a), -ENOENT);
	expect_list(f->a, "0-2,5");
	close(fd);
}

/* Every other CPU: a list that takes several pages, of which sysfs gives one at a time. */
static void test_list_file_long(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/test-cpumask.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (int cpu = 1; cpu < CPUMASK_CAPACITY; cpu += 2) {
		assert_int_equal(cpumask_set(f->b, cpu), 0);
		fprintf(file, "%s%d", cpu > 1 ? "," : "", cpu);
	}
	/* Without the newline in the end it was cut off. */
	assert_int_equal(fflush(file), 0);
	assert_int_equal(cpumask_read_list(AT_FDCWD, path, f->a), -EBADMSG);
	fprintf(file, "\n");
	assert_int_equal(fflush(file), 0);
	assert_int_equal(cpumask_read_list(AT_FDCWD, path, f->a), 0);
	assert_true(cpumask_equal(f->a, f->b));
	/* No list is that long. */
	for (int i = 0; i < 32 * 1024; i++)
		fprintf(file, "0,");
	assert_int_equal(fflush(file), 0);
	assert_int_equal(cpumask_read_list(AT_FDCWD, path, f->a), -EFBIG);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(unlink(path), 0);
}

static void test_list_long(void **state)
{
	struct fixture *f = *state;
	struct text t = { 0 };
	char *text;

	/* Every other CPU: the longest list that can be. */
	for (int cpu = 1; cpu < CPUMASK_CAPACITY; cpu += 2) {
		assert_int_equal(cpumask_set(f->b, cpu), 0);
		text_appendf(&t, "%s%d", cpu > 1 ? "," : "", cpu);
	}
	text = text_steal(&t);
	assert_non_null(text);
	assert_int_equal(cpumask_parse_list(text, 0, f->a, NULL), 0);
	assert_true(cpumask_equal(f->a, f->b));
	assert_int_equal(cpumask_weight(f->a), CPUMASK_CAPACITY / 2);
	expect_list(f->a, text);
	free(text);
}

static void test_hex_good(void **state)
{
	static const struct {
		const char *text;
		const char *list;
	} cases[] = {
		{ "0", "" },
		{ "1", "0" },
		{ "3\n", "0-1" },
		{ "00003", "0-1" },
		{ "ff,ffffffff", "0-39" },
		{ "FF,FfFfFfFf", "0-39" },
		{ "00000000,00000101\n", "0,8" },
		{ "80000000,00008000,00000000", "47,95" },
		{ "1,00000000", "32" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		name_case(cases[i].text);
		fill(f->a, "1234");
		assert_int_equal(cpumask_parse_hex(cases[i].text, f->a), 0);
		expect_list(f->a, cases[i].list);
	}
}

static void test_hex_bad(void **state)
{
	static const char *const cases[] = { "", "\n", "x", "0x3", "1g", " 1", "1 ", "1\n\n", ",1",
		"1,", "1,,00000000", "1,2", "1,0000000\n", "123456789", "1,000000000", "-1" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		name_case(cases[i]);
		fill(f->a, "1234");
		assert_int_equal(cpumask_parse_hex(cases[i], f->a), -EINVAL);
		expect_list(f->a, "1234");
	}
}

static void test_numbers(void **state)
{
	static const char *const cases[][2] = {
		{ "0 1 2 3", "0-3" },
		{ "0 48\n", "0,48" },
		{ "5", "5" },
		{ "", "" },
		{ "3 x 4", "3" },
		{ "3 8192 4", "3" },
		{ "8191", "8191" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		name_case(cases[i][0]);
		cpumask_clear_all(f->a);
		cpumask_add_numbers(f->a, cases[i][0]);
		expect_list(f->a, cases[i][1]);
	}
	fill(f->a, "7");
	cpumask_add_numbers(f->a, "1");
	expect_list(f->a, "1,7");
}

/* CPUs beyond the capacity may be named as long as they are not set. */
static void test_hex_capacity(void **state)
{
	enum {
		GROUPS = CPUMASK_CAPACITY / 32 + 1,
	};
	struct fixture *f = *state;
	struct text t = { 0 };
	char *text;

	for (int i = 0; i < GROUPS; i++)
		text_append(&t, i == 0 ? "00000000" : i == 1 ? ",80000001" : ",00000000");
	text = text_steal(&t);
	assert_non_null(text);
	assert_int_equal(cpumask_parse_hex(text, f->a), 0);
	expect_list(f->a, "8160,8191");
	text[7] = '1';
	assert_int_equal(cpumask_parse_hex(text, f->a), -ERANGE);
	expect_list(f->a, "8160,8191");
	free(text);
}

static void test_hex_format(void **state)
{
	static const struct {
		const char *list;
		unsigned n_bits;
		const char *expected;
	} cases[] = {
		{ "", 0, "0" },
		{ "", 12, "000" },
		{ "0", 1, "1" },
		{ "1", 2, "2" },
		{ "0-11", 12, "fff" },
		{ "0-3,5-15", 16, "ffef" },
		{ "0-12", 13, "1fff" },
		{ "31", 32, "80000000" },
		{ "0", 32, "00000001" },
		{ "32", 33, "1,00000000" },
		{ "0-7", 40, "00,000000ff" },
		{ "0-3,8-71", 72, "ff,ffffffff,ffffff0f" },
		{ "64", 0, "1,00000000,00000000" },
		/* More CPUs than bits: none is lost. */
		{ "0,40", 8, "100,00000001" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *hex;

		name_case(cases[i].expected);
		fill(f->a, cases[i].list);
		hex = cpumask_format_hex(f->a, cases[i].n_bits);
		assert_non_null(hex);
		assert_string_equal(hex, cases[i].expected);
		assert_int_equal(cpumask_parse_hex(hex, f->b), 0);
		assert_true(cpumask_equal(f->a, f->b));
		free(hex);
	}
	/* All that a mask can hold, and what it cannot. */
	assert_int_equal(cpumask_set(f->a, CPUMASK_CAPACITY - 1), 0);
	for (unsigned n = CPUMASK_CAPACITY; n != 0; n = n == UINT_MAX ? 0 : UINT_MAX) {
		char *hex = cpumask_format_hex(f->a, n);

		assert_non_null(hex);
		assert_int_equal(strlen(hex), CPUMASK_CAPACITY / 4 + CPUMASK_CAPACITY / 32 - 1);
		free(hex);
	}
}

static void test_error_text(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{ "0-3,x", "unexpected 'x' at character 5: a CPU number must stand here" },
		{ "1,", "unexpected end at character 3: a CPU number must stand here" },
		{ "3-1", "unexpected '1' at character 3: the range runs backwards" },
		{ "1\x1b[2J",
			"unexpected '\\x1b' at character 2: this does not belong into a list of CPUs" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpumask_error error = { 0 };
		char *words;

		assert_int_equal(cpumask_parse_list(cases[i].text, 4, f->a, &error), -EINVAL);
		words = cpumask_format_error(&error);
		assert_non_null(words);
		assert_string_equal(words, cases[i].words);
		free(words);
	}
}

static void test_bytes(void **state)
{
	struct fixture *f = *state;
	unsigned long large[CPUMASK_BYTES / sizeof(unsigned long) + 2];
	cpu_set_t set;

	fill(f->a, "0,5,64,1023");
	assert_int_equal(cpumask_export(f->a, &set, sizeof(set)), 0);
	assert_int_equal(CPU_COUNT(&set), 4);
	assert_true(CPU_ISSET(0, &set) && CPU_ISSET(5, &set));
	assert_true(CPU_ISSET(64, &set) && CPU_ISSET(1023, &set));
	assert_int_equal(cpumask_import(f->b, &set, sizeof(set)), 0);
	assert_true(cpumask_equal(f->a, f->b));

	/* A CPU that does not fit must not get lost. */
	assert_int_equal(cpumask_set(f->a, 1024), 0);
	CPU_ZERO(&set);
	assert_int_equal(cpumask_export(f->a, &set, sizeof(set)), -ERANGE);
	assert_int_equal(CPU_COUNT(&set), 0);
	assert_int_equal(cpumask_export(f->a, large, sizeof(large[0]) - 1), -EINVAL);
	assert_int_equal(cpumask_import(f->b, large, sizeof(large[0]) + 1), -EINVAL);
	expect_list(f->b, "0,5,64,1023");

	fill(f->a, "3,8191");
	memset(large, 0xff, sizeof(large));
	assert_int_equal(cpumask_export(f->a, large, sizeof(large)), 0);
	assert_true(large[ARRAY_SIZE(large) - 1] == 0);
	assert_int_equal(cpumask_import(f->b, large, sizeof(large)), 0);
	expect_list(f->b, "3,8191");
	large[ARRAY_SIZE(large) - 1] = 1;
	assert_int_equal(cpumask_import(f->b, large, sizeof(large)), -ERANGE);
	expect_list(f->b, "3,8191");

	/* Nothing fits into nothing. */
	assert_int_equal(cpumask_import(f->b, large, 0), 0);
	assert_true(cpumask_is_empty(f->b));
	assert_int_equal(cpumask_export(f->b, large, 0), 0);
	assert_int_equal(cpumask_export(f->a, large, 0), -ERANGE);
}

/* These change the affinity of the test itself: each puts back what it found. */
static void test_bind(void **state)
{
	struct fixture *f = *state;
	cpu_set_t set;
	int cpu;

	assert_int_equal(cpumask_get_self(f->a), 0);
	assert_false(cpumask_is_empty(f->a));
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(cpumask_weight(f->a), CPU_COUNT(&set));

	cpu = cpumask_last(f->a);
	assert_int_equal(cpumask_set(f->b, cpu), 0);
	assert_int_equal(cpumask_bind_self(f->b), 0);
	assert_int_equal(sched_getcpu(), cpu);
	assert_int_equal(cpumask_get_self(f->c), 0);
	assert_true(cpumask_equal(f->b, f->c));
	/* From its only CPU the thread cannot be moved away. */
	assert_int_equal(cpumask_leave(f->b), -EINVAL);
	assert_int_equal(cpumask_bind_self(f->a), 0);
	assert_int_equal(cpumask_get_self(f->c), 0);
	assert_true(cpumask_equal(f->a, f->c));

	if (cpumask_weight(f->a) > 1) {
		assert_int_equal(cpumask_leave(f->b), 0);
		assert_int_equal(cpumask_get_self(f->c), 0);
		cpumask_andnot(f->b, f->a, f->b);
		assert_true(cpumask_equal(f->b, f->c));
		assert_int_equal(cpumask_bind_self(f->a), 0);
	}
}

/* cpuset_cpubind() of a CPU that is none binds to an empty mask; and the kernel takes what it can
 * of a mask and says that all is well. */
static void test_bind_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(cpumask_get_self(f->a), 0);
	assert_int_equal(cpumask_bind_self(f->b), -EINVAL);

	assert_int_equal(cpumask_set(f->b, LAST), 0);
	assert_int_equal(cpumask_bind_self(f->b), -EINVAL);
	assert_int_equal(cpumask_get_self(f->c), 0);
	assert_true(cpumask_equal(f->a, f->c));

	assert_int_equal(cpumask_set(f->b, cpumask_first(f->a)), 0);
	assert_int_equal(cpumask_bind_self(f->b), -EINVAL);
	assert_int_equal(cpumask_get_self(f->c), 0);
	assert_true(cpumask_equal(f->a, f->c));
}

static void test_latest_cpu(void **state)
{
	/* Names that look like the rest of the line in /proc/PID/stat. */
	static const char *const names[] = { "plain", "a b", "a) b (c", "x) S 1 2 3 4 5", ")", "(",
		"", "1 2 3" };
	struct fixture *f = *state;
	char name[16];
	int cpu;

	/* It makes up /proc/self/stat. */
	if (getenv("QUIESCE_EMULATED"))
		skip();
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(cpumask_get_self(f->a), 0);
	cpu = cpumask_last(f->a);
	assert_int_equal(cpumask_set(f->b, cpu), 0);
	assert_int_equal(cpumask_bind_self(f->b), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		name_case(names[i]);
		assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
		assert_int_equal(cpumask_latest_cpu(getpid()), cpu);
		assert_int_equal(cpumask_latest_cpu(0), cpu);
	}
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	assert_int_equal(cpumask_bind_self(f->a), 0);
}

static void test_latest_cpu_of_nobody(_unused_ void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(cpumask_latest_cpu(pid), -ESRCH);
	assert_int_equal(cpumask_latest_cpu(INT_MAX), -ESRCH);
	assert_int_equal(cpumask_latest_cpu(-1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bits_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_for_each, setup, teardown),
		cmocka_unit_test_setup_teardown(test_algebra, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_file_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hex_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hex_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hex_capacity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hex_format, setup, teardown),
		cmocka_unit_test_setup_teardown(test_error_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bind_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_latest_cpu, setup, teardown),
		cmocka_unit_test(test_latest_cpu_of_nobody),
	};

	return cmocka_run_group_tests_name("cpumask", tests, NULL, NULL);
}
