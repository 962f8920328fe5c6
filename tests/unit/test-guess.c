// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/guess.h"
#include "base/macro.h"

static const char *const names[] = { "compare", "check", "show", "stats", "show-output", "metric",
	"json", "max-runs", "max-time", "a" };

static const char *guess_among(const char *word)
{
	struct guess guess = { .word = word };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		guess_offer(&guess, names[i]);
	return guess.name;
}

static void test_guess(void **state)
{
	static const struct {
		const char *word, *name;
	} cases[] = {
		{ "compere", "compare" },
		{ "compre", "compare" },
		{ "ocmpare", "compare" },
		{ "comparre", "compare" },
		{ "shwo", "show" },
		{ "chekc", "check" },
		{ "jsno", "json" },
		/* What begins so is as near as a single letter, and the first such one is taken. */
		{ "show-", "show" },
		{ "show-out", "show-output" },
		{ "max", "max-runs" },
		{ "met", "metric" },
		{ "max-tine", "max-time" },
		/* Too far, and too short. */
		{ "compress", NULL },
		{ "compile", "compare" },
		{ "plot", NULL },
		{ "ab", "a" },
		{ "b", NULL },
		{ "", NULL },
		{ "sh", NULL },
		{ "no-such-option", NULL },
		/* It is a name, in the wrong place. */
		{ "compare", NULL },
	};
	char buf[GUESS_TEXT_SIZE], longest[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = guess_among(cases[i].word);

		if (cases[i].name)
			assert_string_equal(name ? name : "none", cases[i].name);
		else
			assert_null(name);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_null(guess_among(longest));
	assert_string_equal(guess_text(&(struct guess){ .name = "json" }, "--", buf),
		" (did you mean --json?)");
	assert_string_equal(guess_text(&(struct guess){ .word = "x" }, "--", buf), "");
}

/* Words of the greatest length, and one above it. */
static void test_bounds(void **state)
{
	static const char forty[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn";
	char word[sizeof(forty) + 1];
	struct guess guess = { .word = word };

	(void)state;
	memcpy(word, forty, sizeof(forty));
	word[20] = '!';
	guess_offer(&guess, forty);
	assert_ptr_equal(guess.name, forty);
	assert_int_equal(guess.distance, 1);
	guess = (struct guess){ .word = word };
	memcpy(word + 1, forty, sizeof(forty));
	word[0] = 'x';
	guess_offer(&guess, forty);
	assert_null(guess.name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
