// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/words.h"

static void test_splits(void **state)
{
	static const struct {
		const char *text;
		const char *words[6];
	} cases[] = {
		{ "./prog", { "./prog" } },
		{ "./prog -n 3", { "./prog", "-n", "3" } },
		{ "  a\t b\n", { "a", "b" } },
		{ "", { NULL } },
		{ " \t\n", { NULL } },
		{ "'a b' c", { "a b", "c" } },
		{ "a'b c'd", { "ab cd" } },
		{ "\"a b\"c", { "a bc" } },
		{ "''", { "" } },
		{ "a '' \"\" b", { "a", "", "", "b" } },
		{ "'a\\b' '$x' '*'", { "a\\b", "$x", "*" } },
		{ "\"a\\\"b\\\\c\\$d\\`e\"", { "a\"b\\c$d`e" } },
		{ "\"a\\nb\"", { "a\\nb" } },
		{ "\"it's\" 'say \"so\"'", { "it's", "say \"so\"" } },
		{ "a\\ b \\'c \\*", { "a b", "'c", "*" } },
		{ "--x=1,2 a=b +% @:^ /-_.", { "--x=1,2", "a=b", "+%", "@:^", "/-_." } },
		{ "sh -c 'a | b > c'", { "sh", "-c", "a | b > c" } },
		{ "\"*?|\"", { "*?|" } },
		{ "caf\xc3\xa9 \xff", { "caf\xc3\xa9", "\xff" } },
		{ "a {b} x{c_1}y", { "a", "{b}", "x{c_1}y" } },
		{ "a~b c#d !", { "a~b", "c#d", "!" } },
		{ "a b c d e", { "a", "b", "c", "d", "e" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *why = NULL;
		char **words;
		size_t n;

		assert_int_equal(words_split(cases[i].text, &words, &why), 0);
		assert_null(why);
		for (n = 0; n < ARRAY_SIZE(cases[i].words) && cases[i].words[n]; n++) {
			assert_non_null(words[n]);
			assert_string_equal(words[n], cases[i].words[n]);
		}
		assert_null(words[n]);
		free(words);
	}
}

static void test_refuses(void **state)
{
	static const char *const cases[] = { "'a", "\"a", "a\\", "\"a\\", "\"a\\\"", "a | b", "a|b",
		"a > b", "a < b", "a; b", "a && b", "a *.c", "a ?", "a [b]", "~/a", "a $HOME",
		"\"$HOME\"", "`a`", "\"`a`\"", "(a)", "{a,b}", "{a", "{}", "a}", "{1..3}",
		"a # b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *why = NULL;
		char **words = NULL;

		assert_int_equal(words_split(cases[i], &words, &why), -EINVAL);
		assert_non_null(why);
		assert_null(words);
	}
}

/* Texts of quotes, blanks and backslashes: whatever comes out fits into what was allocated, which
 * the sanitizers watch. */
static void test_any_text(void **state)
{
	static const char letters[] = "ab '\"\\\t$|";

	(void)state;
	srand(7);
	for (int i = 0; i < 20000; i++) {
		char text[24];
		int length = rand() % (int)sizeof(text);
		const char *why = NULL;
		char **words = NULL;
		size_t room = 0;

		for (int j = 0; j < length; j++)
			text[j] = letters[rand() % (int)(sizeof(letters) - 1)];
		text[length] = '\0';
		if (words_split(text, &words, &why) < 0) {
			assert_non_null(why);
			continue;
		}
		for (size_t j = 0; words[j]; j++)
			room += strlen(words[j]);
		assert_true(room <= (size_t)length);
		free(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_any_text),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
