/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the slices of one service. A figure has one value for each slice, and for each
 * sitting the median of its slices: the sitting is the unit of all conclusions, because two
 * services that were started once are two instances, and differ as such.
 */
#ifndef QUIESCE_MEASURE_SERVE_ACCOUNT_H
#define QUIESCE_MEASURE_SERVE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/harness/quantity.h"
#include "judge/result/series.h"

struct tally {
	char *name;
	char unit[QUANTITY_UNIT_SIZE]; /* as of struct figure */
	enum better better;
	double step;
	double *values; /* one for each slice, NAN where it is not known */
	size_t room;
};

struct account {
	struct tally *tallies;
	size_t n_tallies;
	size_t n_slices;
	size_t slices_a_sitting;
};

/* Whether the unit of a tally is the second, also for something. */
bool tally_is_time(const char *unit);
/* A value of the slice that is being added. */
void account_set(struct account *account, const char *name, const char *unit, enum better better,
	double step, double value);
/* A value of the sitting that is whole; of no slice more than of another. */
void account_set_of_sitting(
	struct account *account, const char *name, const char *unit, double value);
/* The slice is whole. */
void account_end_slice(struct account *account);
/* Forgets slices of a sitting that did not come to its end. */
void account_drop_rest(struct account *account);
/* NULL where there is none of that name. */
const struct tally *account_find(const struct account *account, const char *name);
/* The median of the slices in which it is known; NAN where it is known in none. */
double account_median(const struct account *account, const char *name);
/* The same of one sitting. */
double account_of_sitting(const struct account *account, const struct tally *tally, size_t sitting);
/* How many sittings are whole. */
size_t account_count_sittings(const struct account *account);
/* The standard deviation of the sittings' medians, and of the slices around the median of their
 * sitting, as a part of the median; NAN where there are too few. */
void account_deviations(
	const struct account *account, const char *name, double *ret_sittings, double *ret_slices);
void account_clear(struct account *account);

#endif
