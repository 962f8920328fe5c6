// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is concluded from recorded values, one question a line of standard input, for bench/service
 * and bench/suite:
 *
 * - decide PERCENT OLD NEW OLD NEW ... / OLD NEW ... / ...: as --decide, a pair for each round, of
 *   comparisons that are made together
 * - session PERCENT OLD NEW OLD NEW ... / OLD NEW ... / ...: as --improve with --session, one try
 *   after the other
 * - welch OLD ... / NEW ...: Welch's t-test of two means, as people do it
 *
 * The answer is a line with "VERDICT AFTER CHANGE" for each comparison: of --decide slower,
 * not-slower, faster (a not-slower that is this, too) or open, and after how many pairs; of
 * --improve faster, not-faster or open; of Welch slower, faster or same at 5 %, and p. The change
 * is NEW / OLD - 1.
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
#include "measure/tries.h"

#define WELCH_LEVEL 0.05

enum {
	PAIRS_MAX = 1000000, /* of a question */
	COMPARISONS_MAX = 1000,
};

/* The pairs of a comparison, and what they have settled so far. */
struct pairs {
	double *old, *new;
	size_t n;
	struct decision decision;
};

struct question {
	double percent;
	struct pairs items[COMPARISONS_MAX];
	struct decision *decisions[COMPARISONS_MAX]; /* of the items */
	size_t n;
	double old[PAIRS_MAX], new[PAIRS_MAX];
};

/* Nothing is known of the order of the runs, as of the services of a sitting, which begin at the
 * same moment. */
static const struct carryover unknown = { .p = 1, .alone_change = NAN };

/* Whether there is a value before the next "/", or the end. */
static bool read_value(char **text, double *ret)
{
	const char *word;

	while ((word = strsep(text, " \n")) && strcmp(word, "/") != 0) {
		if (!*word)
			continue;
		if (parse_double(word, 0, 1e300, ret) < 0)
			errx(EXIT_FAILURE, "no value: %s", word);
		return true;
	}
	return false;
}

static void read_pairs(char **text, size_t room, struct pairs *ret)
{
	for (ret->n = 0; room > 0 && read_value(text, &ret->old[ret->n]); ret->n++, room--)
		if (!read_value(text, &ret->new[ret->n]))
			errx(EXIT_FAILURE, "an old value without a new one");
	if (ret->n == 0 || room == 0)
		errx(EXIT_FAILURE, "%s pairs", room == 0 ? "too many" : "no");
}

static void read_question(char *text, struct question *ret)
{
	size_t n_pairs = 0;

	if (!read_value(&text, &ret->percent))
		errx(EXIT_FAILURE, "no percent");
	for (ret->n = 0; text; n_pairs += ret->items[ret->n++].n) {
		struct pairs *pairs = &ret->items[ret->n];

		if (ret->n == COMPARISONS_MAX)
			errx(EXIT_FAILURE, "too many comparisons");
		pairs->old = ret->old + n_pairs;
		pairs->new = ret->new + n_pairs;
		read_pairs(&text, PAIRS_MAX - n_pairs, pairs);
		ret->decisions[ret->n] = &pairs->decision;
	}
	for (size_t i = 0; i < ret->n; i++)
		decision_begin(ret->decisions[i], ret->percent, ret->n);
}

/* Takes the next pair. Whether there was one to take. */
static bool take_pair(struct pairs *pairs)
{
	struct decision *d = &pairs->decision;

	if (d->n_pairs == pairs->n || decision_is_settled(d))
		return false;
	decision_add(d, pairs->old[d->n_pairs], pairs->new[d->n_pairs]);
	return true;
}

static void estimate(struct pairs *pairs)
{
	decision_estimate(&pairs->decision, pairs->old, pairs->new, pairs->decision.n_pairs);
}

static void look(struct pairs *pairs)
{
	if (!decision_wants_look(&pairs->decision))
		return;
	estimate(pairs);
	decision_look(&pairs->decision, &unknown);
}

static void conclude(struct pairs *pairs)
{
	estimate(pairs);
	decision_conclude(&pairs->decision, &unknown);
}

/* As src/measure/decide.c. */
static void decide(struct question *question)
{
	bool is_more = true;

	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < question->n; i++)
			is_more |= take_pair(&question->items[i]);
		decisions_settle(question->decisions, question->n, false);
		for (size_t i = 0; i < question->n; i++)
			look(&question->items[i]);
	}
	do {
		for (size_t i = 0; i < question->n; i++)
			conclude(&question->items[i]);
	} while (decisions_settle(question->decisions, question->n, true));
}

/* As src/measure/tries.c, one comparison after the other. */
static void decide_in_session(struct question *question)
{
	unsigned found = 0;

	for (size_t i = 0; i < question->n; i++) {
		struct pairs *pairs = &question->items[i];
		struct decision *d = &pairs->decision;

		decision_begin(d, question->percent, 1);
		d->is_for_better = true;
		d->wanted = d->wanted_alone = tries_wanted((unsigned)i + 1, found);
		while (take_pair(pairs))
			look(pairs);
		conclude(pairs);
		found += decision_is_claim(d->verdict);
	}
}

static const char *verdict_word(const struct decision *d)
{
	switch (d->verdict) {
	case DECISION_SLOWER:
		return "slower";
	case DECISION_NOT_SLOWER:
		return d->faster.e >= d->wanted ? "faster" : "not-slower";
	case DECISION_FASTER:
		return "faster";
	case DECISION_NOT_FASTER:
		return "not-faster";
	default:
		return "open";
	}
}

static void answer_decide(char *text, void (*settle)(struct question *))
{
	static struct question question;

	read_question(text, &question);
	settle(&question);
	for (size_t i = 0; i < question.n; i++) {
		const struct decision *d = question.decisions[i];

		printf("%s%s %zu %.6f", i > 0 ? " " : "", verdict_word(d), d->n_pairs,
			d->ratio - 1);
	}
	printf("\n");
}

struct side {
	double values[PAIRS_MAX];
	size_t n;
	double mean;
};

static void read_side(char **text, struct side *ret)
{
	double sum = 0;

	for (ret->n = 0; ret->n < PAIRS_MAX && read_value(text, &ret->values[ret->n]); ret->n++)
		sum += ret->values[ret->n];
	ret->mean = sum / (double)ret->n;
	stats_sort(ret->values, ret->n);
}

static void answer_welch(char *text)
{
	static struct side old, new;
	struct welch welch;
	int r;

	read_side(&text, &old);
	read_side(&text, &new);
	r = welch_test(old.values, old.n, new.values, new.n, &welch);
	if (r < 0)
		errx(EXIT_FAILURE, "welch OLD ... / NEW ...: %s", strerror(-r));
	printf("%s %.4f %.6f\n",
		!(welch.p < WELCH_LEVEL) ? "same"
			: welch.t > 0	 ? "slower"
					 : "faster",
		welch.p, new.mean / old.mean - 1);
}

int main(void)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char *rest = line;
		const char *word = strsep(&rest, " ");

		if (strcmp(word, "decide") == 0)
			answer_decide(rest, decide);
		else if (strcmp(word, "session") == 0)
			answer_decide(rest, decide_in_session);
		else if (strcmp(word, "welch") == 0)
			answer_welch(rest);
		else
			errx(EXIT_FAILURE, "decide, session or welch, not %s", word);
	}
	return EXIT_SUCCESS;
}
