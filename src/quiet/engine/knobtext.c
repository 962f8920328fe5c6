// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/cpumask.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/engine/knobtext.h"

/* Start and length of the text without surrounding blanks. */
static const char *trim(const char *text, size_t *ret_length)
{
	size_t n;

	text += strspn(text, " \t\n");
	n = strlen(text);
	while (n > 0 && strchr(" \t\n", text[n - 1]))
		n--;
	*ret_length = n;
	return text;
}

static bool equal_words(const char *a, const char *b)
{
	size_t na, nb;

	a = trim(a, &na);
	b = trim(b, &nb);
	return na == nb && strncmp(a, b, na) == 0;
}

int knob_parse_cpus(enum knob_kind kind, const char *text, struct cpumask *ret)
{
	return kind == KNOB_MASK ? cpumask_parse_hex(text, ret)
				 : cpumask_parse_list(text, 0, ret, NULL);
}

/* Compares as sets: 1 equal, 0 different, negative when a text is not a set. */
static int compare_sets(enum knob_kind kind, const char *a, const char *b)
{
	_cleanup_(cpumask) struct cpumask *x = NULL, *y = NULL;
	int r;

	if (cpumask_new(&x) < 0 || cpumask_new(&y) < 0)
		return -ENOMEM;
	r = knob_parse_cpus(kind, a, x);
	if (r < 0)
		return r;
	r = knob_parse_cpus(kind, b, y);
	if (r < 0)
		return r;
	return cpumask_equal(x, y);
}

/* Start and length of the word in brackets, or of the whole text without surrounding blanks. */
static const char *pick_choice(const char *text, size_t *ret_length)
{
	const char *choice = text_find_choice(text, ret_length);

	return choice ? choice : trim(text, ret_length);
}

bool knob_equal(enum knob_kind kind, const char *a, const char *b)
{
	const char *x, *y;
	size_t x_length, y_length;
	int64_t m, n;
	int r;

	switch (kind) {
	case KNOB_NUMBER:
	case KNOB_FREQUENCY:
	case KNOB_RATE:
		if (parse_attr_s64(a, &m) == 0 && parse_attr_s64(b, &n) == 0)
			return m == n;
		break;
	case KNOB_LIST:
	case KNOB_MASK:
		/* Most of the thousands of interrupts have not changed, and comparing sets is
		 * slower. */
		if (equal_words(a, b))
			return true;
		r = compare_sets(kind, a, b);
		if (r >= 0)
			return r > 0;
		break;
	case KNOB_CHOICE:
		x = pick_choice(a, &x_length);
		y = pick_choice(b, &y_length);
		return x_length == y_length && strncmp(x, y, x_length) == 0;
	case KNOB_WORD:
		break;
	}
	return equal_words(a, b);
}

bool knob_is_foreign(enum knob_kind kind, const char *now, const char *set)
{
	int64_t m, n;

	if (kind == KNOB_RATE && parse_attr_s64(now, &m) == 0 && parse_attr_s64(set, &n) == 0)
		return m > n;
	return !knob_equal(kind, now, set);
}

char *knob_writable(enum knob_kind kind, const char *text)
{
	size_t n;

	text = kind == KNOB_CHOICE ? pick_choice(text, &n) : trim(text, &n);
	if (kind == KNOB_LIST && n == strlen("(null)") && strncmp(text, "(null)", n) == 0)
		n = 0;
	return strndup(text, n);
}

static const char *const kind_names[] = {
	[KNOB_WORD] = "word",
	[KNOB_NUMBER] = "number",
	[KNOB_LIST] = "list",
	[KNOB_MASK] = "mask",
	[KNOB_CHOICE] = "choice",
	[KNOB_FREQUENCY] = "frequency",
	[KNOB_RATE] = "rate",
};

const char *knob_kind_name(enum knob_kind kind)
{
	return kind_names[kind];
}

int knob_kind_parse(const char *name, enum knob_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++) {
		if (strcmp(kind_names[i], name) == 0) {
			*ret = (enum knob_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}
