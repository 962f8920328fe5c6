/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers with a unit, as programs print them: "12.3 ms", "1,234.5 ns/iter", "3.4 GiB/s". They
 * become numbers of a base unit, so that a program that prints "980 us" in one run and "1.02 ms" in
 * the next one gives figures of one unit.
 */
#ifndef QUIESCE_JUDGE_HARNESS_QUANTITY_H
#define QUIESCE_JUDGE_HARNESS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#define QUANTITY_UNIT_SIZE 32

struct quantity_unit {
	char base[QUANTITY_UNIT_SIZE]; /* "s", "B", "bit", "1", each also "s/op" or "B/s"; or as it
					  was */
	/* So many of the base one, or so many of it are one: 60 of "m", 1000 of "ms". */
	double factor, per;
};

/*
 * Times are ns, us (also with a micro sign), ms, s, nsec, usec, msec, sec, m, min and h; bytes are
 * B and bits bit or b, with k, K, M, G or T for powers of 1000, and Ki, Mi, Gi or Ti for powers of
 * 1024 in front; a number of something in a time is "/s", "k/s" or "1/s". What follows a '/' stays,
 * but "/sec" is
 * "/s". Any other text is a unit of its own: "MIPS". -EINVAL for one that is too long, or has a
 * control character or a blank.
 */
int quantity_parse_unit(const char *text, struct quantity_unit *ret);
/* A number of the unit as one of the base unit. */
double quantity_to_base(double number, const struct quantity_unit *unit);

/* Whether less of it is better without a word about it: times, and bytes that are not a rate. */
bool quantity_is_cost(const char *base);
/* Whether it is a time, "s" or "s/op". */
bool quantity_is_time(const char *base);

/*
 * A number, and the step in which its digits count: 0.01 for "12.34", 100 for "1.2e3". With
 * `commas`, it may have commas between its digits ("1,234.56"). -EINVAL.
 */
int quantity_parse_number(const char *text, bool commas, double *ret, double *ret_step);

#endif
