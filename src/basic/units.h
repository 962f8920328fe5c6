/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Durations and proportions as a person reads them. One scale serves a whole table or line, chosen
 * by its most prominent value, as pyperf does it: "12.3 ms +- 0.1 ms".
 */
#ifndef QUIESCE_BASIC_UNITS_H
#define QUIESCE_BASIC_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#define UNITS_TEXT_SIZE 64

struct scale {
	const char *unit; /* "ns", "us", "ms" or "s"; "" for none */
	double factor;	  /* seconds * factor = what is printed */
	int decimals;
};

/* What pyperf's values may be (metadata `unit`); all else here is of seconds. */
enum unit {
	UNIT_SECOND,
	UNIT_BYTE,
	UNIT_INTEGER,
};
/* "second", "byte", "integer"; NULL is "second". -EINVAL for any other word. */
int unit_parse(const char *word, enum unit *ret);
const char *unit_name(enum unit unit);
/* As scale_choose(), for that unit. Bytes are B, KiB, MiB or GiB; an integer has none. */
struct scale scale_choose_unit(enum unit unit, double reference);

/* So that the reference has three significant digits: "1.23 ms", "12.3 ms", "123 ms"; more from
 * 1000 s on, and fewer below 1 ns. */
struct scale scale_choose(double reference_seconds);
/* The same unit with that many decimals more, for differences that three digits do not show. */
struct scale scale_refine(struct scale scale, int decimals);

/* Does it show at least two digits of that value? "0.00 s" tells nothing of 12 ns. */
bool scale_shows(struct scale scale, double value);

/* "12.3 ms" into buf, which is returned. */
const char *scale_format(struct scale scale, double seconds, char buf[static UNITS_TEXT_SIZE]);
/* "12.3", for a column whose head names the unit. */
const char *scale_format_bare(struct scale scale, double seconds, char buf[static UNITS_TEXT_SIZE]);
/* scale_choose() and scale_format() in one. */
const char *units_format_seconds(double seconds, char buf[static UNITS_TEXT_SIZE]);

/* 0.0123 as "1.2 %", 0.123 as "12 %", 0.00012 as "0.012 %": two significant digits, no exponent. */
const char *units_format_percent(double proportion, char buf[static UNITS_TEXT_SIZE]);
/* The same with a sign: "+1.2 %". */
const char *units_format_change(double proportion, char buf[static UNITS_TEXT_SIZE]);

#endif
