// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/stats/stats.h"
#include "measure/serve/account.h"

bool tally_is_time(const char *unit)
{
	return unit[0] == 's' && (unit[1] == '\0' || unit[1] == '/');
}

static struct tally *find(const struct account *account, const char *name)
{
	for (size_t i = 0; i < account->n_tallies; i++)
		if (strcmp(account->tallies[i].name, name) == 0)
			return &account->tallies[i];
	return NULL;
}

const struct tally *account_find(const struct account *account, const char *name)
{
	return find(account, name);
}

/* Room for the value of the present slice, which is not known yet. */
static void make_room(struct tally *tally, size_t slice)
{
	xcheck(array_grow(&tally->values, sizeof(*tally->values), slice, &tally->room));
	tally->values[slice] = NAN;
}

static struct tally *add(struct account *account, const char *name)
{
	struct tally *tally;

	account->tallies = xptr((struct tally *)reallocarray(
		account->tallies, account->n_tallies + 1, sizeof(*account->tallies)));
	tally = &account->tallies[account->n_tallies++];
	*tally = (struct tally){ .name = xptr(strdup(name)) };
	for (size_t i = 0; i <= account->n_slices; i++)
		make_room(tally, i);
	return tally;
}

void account_set(struct account *account, const char *name, const char *unit, enum better better,
	double step, double value)
{
	struct tally *tally = find(account, name);

	if (!tally)
		tally = add(account, name);
	snprintf(tally->unit, sizeof(tally->unit), "%s", unit);
	tally->better = better;
	tally->step = fmax(tally->step, step);
	tally->values[account->n_slices] = value;
}

void account_set_of_sitting(
	struct account *account, const char *name, const char *unit, double value)
{
	struct tally *tally = find(account, name);

	if (!tally)
		tally = add(account, name);
	snprintf(tally->unit, sizeof(tally->unit), "%s", unit);
	tally->better = BETTER_LOWER;
	for (size_t i = 1; i <= account->slices_a_sitting; i++)
		tally->values[account->n_slices - i] = value;
}

void account_end_slice(struct account *account)
{
	account->n_slices++;
	for (size_t i = 0; i < account->n_tallies; i++)
		make_room(&account->tallies[i], account->n_slices);
}

void account_drop_rest(struct account *account)
{
	account->n_slices -= account->n_slices % account->slices_a_sitting;
	for (size_t i = 0; i < account->n_tallies; i++)
		account->tallies[i].values[account->n_slices] = NAN;
}

size_t account_count_sittings(const struct account *account)
{
	return account->n_slices / account->slices_a_sitting;
}

static double find_median(const double *values, size_t n)
{
	_cleanup_free_ double *known = xptr(calloc(n + 1, sizeof(*known)));
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(values[i]))
			known[n_known++] = values[i];
	stats_sort(known, n_known);
	return n_known > 0 ? stats_median(known, n_known) : NAN;
}

double account_median(const struct account *account, const char *name)
{
	const struct tally *tally = find(account, name);

	return tally ? find_median(tally->values, account->n_slices) : NAN;
}

double account_of_sitting(const struct account *account, const struct tally *tally, size_t sitting)
{
	return find_median(
		tally->values + sitting * account->slices_a_sitting, account->slices_a_sitting);
}

void account_deviations(
	const struct account *account, const char *name, double *ret_sittings, double *ret_slices)
{
	const struct tally *tally = find(account, name);
	size_t n = account_count_sittings(account), per = account->slices_a_sitting;
	double median = account_median(account, name), between = 0, within = 0;

	*ret_sittings = *ret_slices = NAN;
	if (!tally || !(median > 0))
		return;
	for (size_t i = 0; i < n; i++) {
		double of_sitting = account_of_sitting(account, tally, i);

		between += pow(of_sitting - median, 2);
		for (size_t k = 0; k < per; k++)
			within += pow(tally->values[i * per + k] - of_sitting, 2);
	}
	if (n > 1)
		*ret_sittings = sqrt(between / (double)(n - 1)) / median;
	if (n > 0 && per > 1)
		*ret_slices = sqrt(within / (double)(n * (per - 1))) / median;
}

void account_clear(struct account *account)
{
	for (size_t i = 0; i < account->n_tallies; i++) {
		free(account->tallies[i].name);
		free(account->tallies[i].values);
	}
	free(account->tallies);
	*account = (struct account){ 0 };
}
