// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/facts.h"

static void fact_drop_value(struct fact *fact)
{
	if (fact->type == FACT_STRING)
		free(fact->string);
}

/* Returns the fact of this name with its old value freed, or a new fact; NULL when out of memory.
 * The caller sets the value. */
static struct fact *facts_claim(struct facts *facts, const char *name, enum fact_type type)
{
	struct fact *items;
	char *copy;

	for (size_t i = 0; i < facts->n; i++) {
		if (strcmp(facts->items[i].name, name) == 0) {
			fact_drop_value(&facts->items[i]);
			facts->items[i].type = type;
			return &facts->items[i];
		}
	}
	items = reallocarray(facts->items, facts->n + 1, sizeof(*items));
	if (!items) {
		facts->failed = true;
		return NULL;
	}
	facts->items = items;
	copy = strdup(name);
	if (!copy) {
		facts->failed = true;
		return NULL;
	}
	items[facts->n] = (struct fact){ .name = copy, .type = type };
	return &items[facts->n++];
}

void facts_set_string(struct facts *facts, const char *name, const char *value)
{
	struct fact *fact;
	char *copy;

	if (!value)
		return;
	copy = strdup(value);
	if (!copy) {
		facts->failed = true;
		return;
	}
	fact = facts_claim(facts, name, FACT_STRING);
	if (!fact) {
		free(copy);
		return;
	}
	fact->string = copy;
}

void facts_set_stringf(struct facts *facts, const char *name, const char *format, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&value, format, ap);
	va_end(ap);
	if (n < 0) {
		value = NULL;
		facts->failed = true;
		return;
	}
	facts_set_string(facts, name, value);
}

const char *facts_format_date(const struct timespec *realtime, char buf[static FACTS_DATE_SIZE])
{
	struct tm tm;
	size_t n = 0;

	if (localtime_r(&realtime->tv_sec, &tm))
		n = strftime(buf, FACTS_DATE_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
	if (n == 0)
		return NULL;
	if (realtime->tv_nsec >= 1000)
		snprintf(buf + n, FACTS_DATE_SIZE - n, ".%06ld", realtime->tv_nsec / 1000);
	return buf;
}

void facts_set_date(struct facts *facts, const char *name, const struct timespec *realtime)
{
	char text[FACTS_DATE_SIZE];

	facts_set_string(facts, name, facts_format_date(realtime, text));
}

static void set_whole(struct facts *facts, const char *name, enum fact_type type, int64_t value)
{
	struct fact *fact = facts_claim(facts, name, type);

	if (fact)
		fact->integer = value;
}

void facts_set_integer(struct facts *facts, const char *name, int64_t value)
{
	set_whole(facts, name, FACT_INTEGER, value);
}

void facts_set_real(struct facts *facts, const char *name, double value)
{
	struct fact *fact;

	if (!isfinite(value))
		return;
	fact = facts_claim(facts, name, FACT_REAL);
	if (fact)
		fact->real = value;
}

void facts_set_copy(struct facts *facts, const char *name, const struct fact *value)
{
	switch (value->type) {
	case FACT_STRING:
		facts_set_string(facts, name, value->string);
		break;
	case FACT_INTEGER:
	case FACT_BOOLEAN:
		set_whole(facts, name, value->type, value->integer);
		break;
	case FACT_REAL:
		facts_set_real(facts, name, value->real);
		break;
	}
}

const struct fact *facts_find(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->n; i++) {
		if (strcmp(facts->items[i].name, name) == 0)
			return &facts->items[i];
	}
	return NULL;
}

const char *facts_find_string(const struct facts *facts, const char *name)
{
	const struct fact *fact = facts_find(facts, name);

	return fact && fact->type == FACT_STRING ? fact->string : NULL;
}

double facts_find_real(const struct facts *facts, const char *name)
{
	const struct fact *fact = facts_find(facts, name);

	if (fact && fact->type == FACT_INTEGER)
		return (double)fact->integer;
	return fact && fact->type == FACT_REAL ? fact->real : NAN;
}

void facts_copy(struct facts *facts, const struct facts *from)
{
	for (size_t i = 0; i < from->n && !facts->failed; i++)
		facts_set_copy(facts, from->items[i].name, &from->items[i]);
}

void facts_add(struct facts *facts, const struct facts *from)
{
	for (size_t i = 0; i < from->n && !facts->failed; i++)
		if (!facts_find(facts, from->items[i].name))
			facts_set_copy(facts, from->items[i].name, &from->items[i]);
}

void facts_remove(struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->n; i++) {
		if (strcmp(facts->items[i].name, name) != 0)
			continue;
		fact_drop_value(&facts->items[i]);
		free(facts->items[i].name);
		memmove(&facts->items[i], &facts->items[i + 1],
			(--facts->n - i) * sizeof(*facts->items));
		return;
	}
}

void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		fact_drop_value(&facts->items[i]);
		free(facts->items[i].name);
	}
	free(facts->items);
	*facts = (struct facts){ 0 };
}
