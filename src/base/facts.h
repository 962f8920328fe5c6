/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: an ordered list of named values, which one part of the program collects and another part
 * writes to a result. Names are unique: setting a name again replaces the value and keeps the
 * position. Strings are copied. A failed allocation sets `failed`, which stays set, so that a chain
 * of settings needs one check at its end.
 */
#ifndef QUIESCE_BASE_FACTS_H
#define QUIESCE_BASE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/macro.h"

enum fact_type {
	FACT_STRING,
	FACT_INTEGER,
	FACT_REAL,
	FACT_BOOLEAN, /* as an integer: 0 or 1 */
};

struct fact {
	char *name;
	enum fact_type type;
	union {
		char *string;
		int64_t integer;
		double real; /* finite */
	};
};

/* An all-zero struct is an empty list. */
struct facts {
	struct fact *items;
	size_t n;
	bool failed;
};

/* A NULL value sets nothing. */
void facts_set_string(struct facts *facts, const char *name, const char *value);
void facts_set_stringf(struct facts *facts, const char *name, const char *format, ...)
	_printf_(3, 4);
void facts_set_integer(struct facts *facts, const char *name, int64_t value);
/* A value that is not finite sets nothing. */
void facts_set_real(struct facts *facts, const char *name, double value);
#define FACTS_DATE_SIZE 96
/* The local date, "2026-11-20 10:08:15", with microseconds unless they are 0: the form of Python's
 * isoformat(' '), which pyperf reads. Returns buf; NULL for one that is not in the calendar. */
const char *facts_format_date(const struct timespec *realtime, char buf[static FACTS_DATE_SIZE]);
/* Such a date; one that is not in the calendar sets nothing. */
void facts_set_date(struct facts *facts, const char *name, const struct timespec *realtime);
/* Copies the value of another fact under this name. */
void facts_set_copy(struct facts *facts, const char *name, const struct fact *value);
/* Copies all facts of another list. */
void facts_copy(struct facts *facts, const struct facts *from);
/* Copies those facts of another list whose names this one does not have. */
void facts_add(struct facts *facts, const struct facts *from);
/* Does nothing when there is no fact of this name. */
void facts_remove(struct facts *facts, const char *name);
/* NULL when there is no fact of this name. The pointer is valid until the next fact is set. */
const struct fact *facts_find(const struct facts *facts, const char *name);
/* The text of the fact of this name, valid as long as the pointer of facts_find(). NULL when there
 * is no such text. */
const char *facts_find_string(const struct facts *facts, const char *name);
/* The number of this name, also where it is an integer: a reader of JSON may take 2.0 for one, and
 * write it as one. NAN when there is no such number. */
double facts_find_real(const struct facts *facts, const char *name);
void facts_clear(struct facts *facts);

static inline void cleanup_facts(struct facts *facts)
{
	facts_clear(facts);
}
#define _cleanup_facts_ __attribute__((cleanup(cleanup_facts)))

#endif
