// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "look/isol-check/gaps.h"

struct gaps *gaps_new(void)
{
	struct gaps *gaps = xptr(malloc(sizeof(*gaps)));
	struct gap *kept = xptr(reallocarray(NULL, GAPS_KEPT_MAX, sizeof(*kept)));

	/* Written, because the first write to a page causes a page fault. */
	memset(kept, 0xff, GAPS_KEPT_MAX * sizeof(*kept));
	*gaps = (struct gaps){ .kept = kept, .threshold = GAPS_SHORTEST_NS };
	return gaps;
}

void gaps_free(struct gaps *gaps)
{
	if (!gaps)
		return;
	free(gaps->kept);
	free(gaps);
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void gaps_calibrate(struct gaps *gaps, int64_t *differences)
{
	qsort(differences, GAPS_CALIBRATION, sizeof(*differences), compare_times);
	/* The median is 0 for a clock that is coarser than the loop. */
	gaps->step = MAX(differences[GAPS_CALIBRATION / 2], (int64_t)1);
	gaps->threshold = MAX((int64_t)GAPS_SHORTEST_NS, gaps->step * GAPS_STEPS_MIN);
}

static size_t find_bin(int64_t length)
{
	uint64_t us = (uint64_t)length / 1000;
	size_t bin = 0;

	while (us > 1 && bin < GAPS_BINS - 1) {
		us /= 2;
		bin++;
	}
	return bin;
}

void gaps_add(struct gaps *gaps, int64_t now, int64_t length)
{
	struct gap gap = { .at = now - length - gaps->began, .length = length };

	gaps->n++;
	gaps->total += length - gaps->step;
	gaps->bins[find_bin(length)]++;
	if (length > gaps->longest.length)
		gaps->longest = gap;
	if (gaps->n_kept < GAPS_KEPT_MAX)
		gaps->kept[gaps->n_kept++] = gap;
	else
		gaps->n_dropped++;
}

double gaps_share(const struct gaps *gaps)
{
	int64_t time = gaps->ended - gaps->began;

	return time > 0 ? (double)gaps->total / (double)time : 0;
}

double gaps_per_second(const struct gaps *gaps)
{
	int64_t time = gaps->ended - gaps->began;

	return time > 0 ? (double)gaps->n / ((double)time / NSEC_PER_SEC) : 0;
}

uint64_t gaps_bin_us(size_t bin)
{
	return UINT64_C(1) << bin;
}
