/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Durations and proportions for people. One scale serves a whole table or line. It is chosen by the
 * most prominent value, as pyperf does: "12.3 ms +- 0.1 ms".
 */
#ifndef QUIESCE_BASE_UNITS_H
#define QUIESCE_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#define UNITS_TEXT_SIZE 64

struct scale {
	const char *unit; /* "ns", "us", "ms" or "s"; "" for a plain number */
	double factor;	  /* printed value = seconds * factor */
	int decimals;
};

/* What values are. */
struct unit {
	const char *name; /* "byte"; of a figure, what stands behind its numbers: "1/s" */
	enum {
		UNIT_IS_TIME, /* in seconds */
		UNIT_IS_BYTES,
		UNIT_IS_NUMBER, /* shown without a unit */
		UNIT_IS_OTHER,
	} kind;
	struct scale shown; /* of a time that is shown in one unit, whatever its size */
};

/* The units of pyperf's values (metadata `unit`). Where no unit is said, it is a second. */
#define UNIT_SECOND ((const struct unit *)NULL)
extern const struct unit unit_byte, unit_integer;

/* Whether values of this unit are seconds. */
bool unit_is_time(const struct unit *unit);
/* Seconds that are shown in "s", "ms", "us" or "ns". -EINVAL for any other word. */
int unit_parse_shown(const char *word, const struct unit **ret);
/* "second", "byte", "integer"; NULL is "second". -EINVAL for any other word. */
int unit_parse(const char *word, const struct unit **ret);
const char *unit_name(const struct unit *unit);
/* What stands behind that name where there are several: "s", and "" of one that is no word. */
const char *unit_plural(const struct unit *unit);
/* The one of these that a figure's unit is shown as: times ("s"), sizes ("B", not "B/s"), also of
 * something ("s/op"), and numbers without a unit (""). False for any other. */
bool unit_find(const char *word, const struct unit **ret);
bool unit_is_same(const struct unit *a, const struct unit *b);
/* As scale_choose(), for a unit. Bytes are B, KiB, MiB or GiB; an integer has no unit. */
struct scale scale_choose_unit(const struct unit *unit, double reference);

/* The scale that shows the reference with three significant digits: "1.23 ms", "12.3 ms", "123 ms";
 * more from 1000 s on, and fewer below 1 ns. */
struct scale scale_choose(double reference_seconds);
/* The same unit with more decimals, for differences that three digits do not show. */
struct scale scale_refine(struct scale scale, int decimals);
/* The same unit with as many decimals as it takes to show a difference, up to 9: 1 s and a
 * deviation of 0.2 ms are "1.0000 s" and "0.0002 s". A difference of 0 needs no decimals. */
struct scale scale_resolve(struct scale scale, double difference);

/* Whether the scale shows at least two significant digits of the value: "0.00 s" does not show 12
 * ns. */
bool scale_shows(struct scale scale, double value);

/* Writes "12.3 ms" into buf and returns buf. */
const char *scale_format(struct scale scale, double seconds, char buf[static UNITS_TEXT_SIZE]);
/* The same, but in a scale of its own, with one more digit, where the scale does not show the
 * value: for values that may be much larger or smaller than the one that the scale was chosen
 * for. */
const char *scale_format_shown(struct scale scale, const struct unit *unit, double value,
	char buf[static UNITS_TEXT_SIZE]);
/* "12.3", for a column whose heading names the unit. */
const char *scale_format_bare(struct scale scale, double seconds, char buf[static UNITS_TEXT_SIZE]);
/* scale_choose() and scale_format() in one. */
const char *units_format_seconds(double seconds, char buf[static UNITS_TEXT_SIZE]);

/* 0.0123 as "1.2 %", 0.123 as "12 %", 0.00012 as "0.012 %": two significant digits, no exponent. */
const char *units_format_percent(double proportion, char buf[static UNITS_TEXT_SIZE]);
/* The same with a sign: "+1.2 %"; "from 0" for an infinite one. */
const char *units_format_change(double proportion, char buf[static UNITS_TEXT_SIZE]);
/* The same of (value - base) / |base|. */
const char *units_format_difference(double value, double base, char buf[static UNITS_TEXT_SIZE]);

#endif
