// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/xalloc.h"
#include "judge/result/kept.h"

/*
 * A run is a list of a name's number and a value that ends with NUL (JSON has none), ended by NUL.
 * The order of its names is such a value, too, of the number 0. A number is written as two bytes
 * that are not NUL.
 */
enum {
	DIGITS = 255,
	NAMES_MAX = DIGITS * DIGITS,
};

static void append_number(struct text *t, size_t number)
{
	const char digits[] = { (char)(number / DIGITS + 1), (char)(number % DIGITS + 1) };

	text_append_n(t, digits, sizeof(digits));
}

size_t kept_walk_name(const char **order)
{
	const unsigned char *digits = (const unsigned char *)*order;

	if (!digits[0])
		return 0;
	*order += 2;
	return (size_t)(digits[0] - 1) * DIGITS + digits[1] - 1;
}

void kept_free(struct kept *kept)
{
	if (!kept)
		return;
	facts_clear(&kept->above);
	facts_clear(&kept->members);
	for (size_t i = 0; i < kept->n_names; i++)
		free(kept->names[i].name);
	free(kept->names);
	text_clear(&kept->runs);
	text_clear(&kept->order);
	free(kept);
}

size_t kept_find(const struct kept *kept, const char *name, bool is_member)
{
	for (size_t i = 1; i < kept->n_names; i++)
		if (kept->names[i].is_member == is_member && strcmp(kept->names[i].name, name) == 0)
			return i;
	return 0;
}

static int add_name(struct kept *kept, const char *name, bool is_member)
{
	if (kept->n_names == NAMES_MAX)
		return -EFBIG;
	xcheck(array_grow(
		&kept->names, sizeof(*kept->names), kept->n_names, &kept->names_capacity));
	kept->names[kept->n_names++] =
		(struct kept_name){ .name = xptr(strdup(name)), .is_member = is_member };
	return 0;
}

int kept_add_name(struct kept *kept, const char *name, bool is_member, size_t *ret)
{
	int r = kept->n_names == 0 ? add_name(kept, "", false) : 0;

	if (r >= 0)
		r = add_name(kept, name, is_member);
	if (r >= 0)
		*ret = kept->n_names - 1;
	return r;
}

static void add_value(struct kept *kept, size_t number, const char *value)
{
	struct kept_name *name = &kept->names[number];

	if (name->at > 0 && strcmp(kept->runs.data + name->at, value) == 0)
		return;
	append_number(&kept->runs, number);
	name->at = kept->runs.length;
	text_append_n(&kept->runs, value, strlen(value) + 1);
	if (kept->runs.failed)
		xalloc_fail();
}

void kept_add(struct kept *kept, size_t name, const char *json)
{
	append_number(&kept->order, name);
	if (kept->order.failed)
		xalloc_fail();
	add_value(kept, name, json);
}

void kept_end_run(struct kept *kept)
{
	/* Each run has a member: its values, or its warm-ups. */
	add_value(kept, 0, kept->order.data);
	text_append_n(&kept->runs, "", 1);
	if (kept->runs.failed)
		xalloc_fail();
	kept->order.length = 0;
	kept->n_runs++;
}

void kept_shrink(struct kept *kept)
{
	char *data = realloc(kept->runs.data, kept->runs.length + 1);

	if (!data)
		return;
	kept->runs.data = data;
	kept->runs.capacity = kept->runs.length + 1;
	text_clear(&kept->order);
}

void kept_walk_next(struct kept_walk *walk)
{
	const struct kept *kept = walk->kept;
	const char *at = walk->at ? walk->at : kept->runs.data;

	if (!walk->values)
		walk->values = xptr(calloc(kept->n_names, sizeof(*walk->values)));
	while (*at) {
		size_t name = kept_walk_name(&at);

		walk->values[name] = at;
		at += strlen(at) + 1;
	}
	walk->at = at + 1;
	walk->order = walk->values[0];
}

void kept_walk_clear(struct kept_walk *walk)
{
	free(walk->values);
}
