// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/options.h"
#include "base/parse.h"
#include "base/say.h"

struct values {
	bool json;
	const char *cpus;
	unsigned pick;
	const char *given; /* --json or --pick */
};

static int take_pick(const char *value, void *into)
{
	return value ? parse_uint(value, 1, 9, into) : 0;
}

/* Reads the words, ended by NULL, and prints the help of their options when ret_help is not NULL.
 */
static int read_words(const char *mode, struct values *ret, char **ret_help, const char *words[])
{
	const struct option_row rows[] = {
		{ .help = "What is done:" },
		{ 'c', "cpus", "LIST", "on these CPUs,\nas in 2-3", option_text, &ret->cpus },
		{ 0, "json", NULL, "as JSON", option_set, &ret->json, .given = &ret->given },
		{ 0, "pick", "[=N]", "the N best", take_pick, &ret->pick, "a number from 1 to 9",
			.given = &ret->given },
		{ 0, "a-name-that-is-longer", "X", "than its column", option_text, &ret->cpus },
		{ 'h', "help", .help = "this text" },
		{ 0 },
	};
	char *argv[8] = { (char *)"tool" };
	int argc = 1;

	while (*words)
		argv[argc++] = (char *)*words++;
	if (ret_help) {
		size_t size;
		FILE *stream = open_memstream(ret_help, &size);

		assert_non_null(stream);
		option_rows_print(rows, stream);
		assert_int_equal(fclose(stream), 0);
	}
	/* 0: also forgets where in a cluster it was (getopt(3)). */
	optind = 0;
	return option_rows_read(mode, rows, argc, argv);
}

#define READ(mode, values, ...) \
	read_words(mode, values, NULL, (const char *[]){ __VA_ARGS__, NULL })

static void test_read(void **state)
{
	struct values v = { .pick = 5 };

	(void)state;
	assert_int_equal(READ("", &v, "--json", "word", "-c2-3", "--pick"), 0);
	assert_true(v.json);
	assert_string_equal(v.cpus, "2-3");
	assert_int_equal(v.pick, 5);
	assert_int_equal(optind, 4);

	assert_string_equal(v.given, "pick");

	v = (struct values){ 0 };
	assert_int_equal(READ("", &v, "-c2", "word"), 0);
	assert_null(v.given);
	assert_int_equal(READ("+", &v, "--pick=7", "--cp", "1", "word", "--json"), 0);
	assert_false(v.json);
	assert_string_equal(v.cpus, "1");
	assert_int_equal(v.pick, 7);
	assert_int_equal(optind, 4);

	assert_int_equal(READ("", &v, "-hc"), 'h');
	assert_int_equal(READ("", &v, "--help", "--nope"), 'h');
	assert_int_equal(READ("", &v, "--nope"), -EINVAL);
	assert_int_equal(READ("", &v, "--json=1"), -EINVAL);
	assert_int_equal(READ("", &v, "-c"), -EINVAL);
	assert_true(READ("", &v, "--pick=10") < 0);
	assert_int_equal(v.pick, 7);
}

/* A message names the option as it was given, even after another form of the same option. */
static void test_refuse(void **state)
{
	static const struct {
		const char *words[2];
		const char *said;
	} cases[] = {
		{ { "-n0" }, "-n: '0' is not a number from 1 to 9" },
		{ { "-n", "x" }, "-n: 'x' is not a number from 1 to 9" },
		{ { "--number=0" }, "--number: '0' is not a number from 1 to 9" },
		{ { "--num", "x" }, "--number: 'x' is not a number from 1 to 9" },
		{ { "--number=1", "-n0" }, "-n: '0' is not a number from 1 to 9" },
		{ { "-n1", "--long=0" }, "--long: '0' is not a number from 1 to 9" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned number = 5;
		const struct option_row rows[] = {
			{ 'n', "number", "N", "so many", take_pick, &number,
				"a number from 1 to 9" },
			{ 0, "long", "N", "so long", take_pick, &number, "a number from 1 to 9" },
			{ 0 },
		};
		char *argv[] = { (char *)"tool", (char *)cases[i].words[0],
			(char *)cases[i].words[1], NULL };

		optind = 0;
		assert_true(option_rows_read("", rows, cases[i].words[1] ? 3 : 2, argv) < 0);
		assert_string_equal(say_last(), cases[i].said);
	}
}

static void test_print(void **state)
{
	struct values v = { 0 };
	char *help;

	(void)state;
	assert_int_equal(read_words("", &v, &help, (const char *[]){ NULL }), 0);
	assert_string_equal(help,
		"What is done:\n"
		"  -c, --cpus LIST           on these CPUs,\n"
		"                            as in 2-3\n"
		"      --json                as JSON\n"
		"      --pick[=N]            the N best\n"
		"      --a-name-that-is-longer X\n"
		"                            than its column\n"
		"  -h, --help                this text\n");
	free(help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
