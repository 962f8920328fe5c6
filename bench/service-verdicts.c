// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is concluded from figures of two services, one question a line of standard input, for
 * bench/service:
 *
 * - decide PERCENT OLD NEW OLD NEW ...: as runserved --decide, a pair for each sitting
 * - welch OLD ... / NEW ...: Welch's t-test of two means, as people do it
 *
 * The answer is a line "VERDICT AFTER CHANGE": of --decide slower, not-slower, faster (a
 * not-slower that is this, too) or open, and after how many pairs; of Welch slower, faster or same
 * at 5 %, and p. The change is NEW / OLD - 1.
 */
#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "judge/report/decision.h"
#include "judge/stats/inference.h"
#include "judge/stats/stats.h"

#define WELCH_LEVEL 0.05

enum {
	VALUES_MAX = 10000,
};

struct values {
	double items[VALUES_MAX];
	size_t n;
};

/* The words until the text ends, or a "/". */
static void read_values(char **text, struct values *ret)
{
	const char *word;

	for (ret->n = 0; (word = strsep(text, " \n")) && strcmp(word, "/") != 0;) {
		if (!*word)
			continue;
		if (ret->n == VALUES_MAX || parse_double(word, 0, 1e300, &ret->items[ret->n++]) < 0)
			errx(EXIT_FAILURE, "no value: %s", word);
	}
}

static void answer_decide(const struct values *given)
{
	static double old[VALUES_MAX], new[VALUES_MAX];
	/* Both services of a sitting begin at the same moment, so nothing is known of the order. */
	const struct carryover unknown = { .p = 1, .alone_change = NAN };
	struct decision d;
	size_t n = 0;

	if (given->n < 1 || given->n % 2 == 0)
		errx(EXIT_FAILURE, "decide PERCENT OLD NEW ...");
	decision_begin(&d, given->items[0], 1);
	for (size_t i = 1; i < given->n && !decision_is_settled(&d); i += 2) {
		old[n] = given->items[i];
		new[n] = given->items[i + 1];
		decision_add(&d, old[n], new[n]);
		n++;
		decision_estimate(&d, old, new, n);
		if (decision_wants_look(&d))
			decision_look(&d, &unknown);
	}
	decision_conclude(&d, &unknown);
	printf("%s %zu %.6f\n",
		d.verdict == DECISION_SLOWER		   ? "slower"
			: d.verdict != DECISION_NOT_SLOWER ? "open"
			: d.faster.e >= d.wanted	   ? "faster"
							   : "not-slower",
		n, d.ratio - 1);
}

static double find_mean(const struct values *values)
{
	double sum = 0;

	for (size_t i = 0; i < values->n; i++)
		sum += values->items[i];
	return sum / (double)values->n;
}

static void answer_welch(struct values *old, struct values *new)
{
	struct welch welch;
	int r;

	stats_sort(old->items, old->n);
	stats_sort(new->items, new->n);
	r = welch_test(old->items, old->n, new->items, new->n, &welch);
	if (r < 0)
		errx(EXIT_FAILURE, "welch OLD ... / NEW ...: %s", strerror(-r));
	printf("%s %.4f %.6f\n",
		!(welch.p < WELCH_LEVEL) ? "same"
			: welch.t > 0	 ? "slower"
					 : "faster",
		welch.p, find_mean(new) / find_mean(old) - 1);
}

int main(void)
{
	static struct values values, others;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char *rest = line;
		const char *question = strsep(&rest, " ");

		read_values(&rest, &values);
		if (strcmp(question, "decide") == 0) {
			answer_decide(&values);
		} else if (strcmp(question, "welch") == 0) {
			read_values(&rest, &others);
			answer_welch(&values, &others);
		} else {
			errx(EXIT_FAILURE, "decide or welch, not %s", question);
		}
	}
	return EXIT_SUCCESS;
}
