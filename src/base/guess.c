// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/guess.h"
#include "base/macro.h"

enum {
	LENGTH_MAX = 40, /* longer words are not typed by hand */
	PREFIX_MIN = 3,
};

/* The distance of optimal string alignment, by its table, row by row: three rows are enough. */
static size_t find_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][LENGTH_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t k = 0; k <= n_b; k++)
		last[k] = before[k] = k;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *reused = before;

		row[0] = i;
		for (size_t k = 1; k <= n_b; k++) {
			bool differs = a[i - 1] != b[k - 1];

			row[k] = MIN(MIN(last[k], row[k - 1]) + 1, last[k - 1] + differs);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = MIN(row[k], before[k - 2] + 1);
		}
		before = last;
		last = row;
		row = reused;
	}
	return last[n_b];
}

void guess_offer(struct guess *guess, const char *name)
{
	size_t n = strlen(guess->word), n_name = strlen(name), distance;

	if (n == 0 || n > LENGTH_MAX || n_name > LENGTH_MAX)
		return;
	distance = find_distance(guess->word, n, name, n_name);
	/* The word itself is in the wrong place, and not misspelt. */
	if (distance == 0)
		return;
	if (n >= PREFIX_MIN && n < n_name && strncmp(name, guess->word, n) == 0)
		distance = 1;
	if (distance > MAX(n / 3, (size_t)1) || distance >= n)
		return;
	if (guess->name && distance >= guess->distance)
		return;
	guess->name = name;
	guess->distance = distance;
}

const char *guess_text(
	const struct guess *guess, const char *before, char buf[static GUESS_TEXT_SIZE])
{
	buf[0] = '\0';
	if (guess->name)
		snprintf(buf, GUESS_TEXT_SIZE, " (did you mean %s%s?)", before, guess->name);
	return buf;
}
