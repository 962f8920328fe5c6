// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "measure/parameters.h"

enum {
	NAME_LENGTH_MAX = 48,
	DECIMALS_MAX = 6,
};

/* With DECIMALS_MAX decimals, a double holds numbers of this size exactly. */
#define NUMBER_MAX 1e9

/* How long the name is at the beginning of the text. */
static size_t name_length(const char *text)
{
	return parse_is_digit(*text) ? 0 : text_name_length(text);
}

/* Makes a parameter without values of "NAME=...". *ret_values is what stands behind. */
static int add_name(struct parameters *parameters, const char *option, const char *text,
	const char **ret_values)
{
	size_t length = name_length(text);

	if (length == 0 || length > NAME_LENGTH_MAX || text[length] != '=') {
		say("%s: '%s' does not begin with NAME=, of letters, digits and _", option, text);
		return -EINVAL;
	}
	for (size_t i = 0; i < parameters->n; i++) {
		if (strncmp(parameters->items[i].name, text, length) != 0 ||
			parameters->items[i].name[length])
			continue;
		say("%s: there are two parameters '%s'", option, parameters->items[i].name);
		return -EINVAL;
	}
	if (parameters->n == PARAMETERS_MAX) {
		say("%s: more than %d parameters: that is too many", option, PARAMETERS_MAX);
		return -EINVAL;
	}
	parameters->items[parameters->n++] =
		(struct parameter){ .name = xptr(strndup(text, length)) };
	*ret_values = text + length + 1;
	return 0;
}

/* Takes the value, which is freed on failure, to the newest parameter. */
static int add_value(struct parameters *parameters, const char *option, char *value)
{
	struct parameter *parameter = &parameters->items[parameters->n - 1];

	for (size_t i = 0; i < parameter->n; i++) {
		if (strcmp(parameter->values[i], value) != 0)
			continue;
		say("%s: the value '%s' of '%s' is given twice", option, value, parameter->name);
		free(value);
		return -EINVAL;
	}
	if (parameter->n == PARAMETER_VALUES_MAX) {
		say("%s: more than %d values of '%s': that is too many", option,
			PARAMETER_VALUES_MAX, parameter->name);
		free(value);
		return -EINVAL;
	}
	parameter->values[parameter->n++] = value;
	return 0;
}

int parameters_add_list(struct parameters *parameters, const char *text)
{
	const char *values;
	int r;

	r = add_name(parameters, "-L", text, &values);
	while (r == 0) {
		size_t length = strcspn(values, ",");

		r = add_value(parameters, "-L", xptr(strndup(values, length)));
		if (!values[length])
			break;
		values += length + 1;
	}
	return r;
}

int parameters_add(struct parameters *parameters, const char *option, const char *name,
	char *const values[], size_t n)
{
	_cleanup_free_ char *text = xformat("%s=", name);
	const char *end;
	int r = add_name(parameters, option, text, &end);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_value(parameters, option, xptr(strdup(values[i])));
	return r;
}

/* Parses a number of `length` characters. *decimals becomes the number of its decimals if that is
 * larger. */
static int parse_number(const char *text, size_t length, int *decimals, double *ret)
{
	_cleanup_free_ char *number = xptr(strndup(text, length));
	const char *point = strchr(number, '.');
	int r;

	if (point && strlen(point + 1) > DECIMALS_MAX)
		return -EINVAL;
	r = parse_double(number, -NUMBER_MAX, NUMBER_MAX, ret);
	if (r < 0)
		return r;
	if (point)
		*decimals = MAX(*decimals, (int)strlen(point + 1));
	return 0;
}

/* Adds FROM, FROM + STEP and so on up to TO, which are whole numbers of 1 / unit. */
static int add_numbers(struct parameters *parameters, const double range[static 3], int decimals)
{
	double unit = pow(10, decimals), from = round(range[0] * unit), to = round(range[1] * unit);
	double step = round(range[2] * unit);
	int r = 0;

	for (double at = from; r == 0 && at <= to; at += step)
		r = add_value(parameters, "-P", xformat("%.*f", decimals, at / unit));
	return r;
}

int parameters_add_range(struct parameters *parameters, const char *text)
{
	const char *from, *to, *step;
	double range[3] = { 0, 0, 1 };
	int decimals = 0, r;

	r = add_name(parameters, "-P", text, &from);
	if (r < 0)
		return r;
	to = strstr(from, "..");
	if (!to) {
		say("-P: '%s' is not NAME=FROM..TO or NAME=FROM..TO:STEP", text);
		return -EINVAL;
	}
	r = parse_number(from, (size_t)(to - from), &decimals, &range[0]);
	to += strlen("..");
	step = strchrnul(to, ':');
	if (r == 0)
		r = parse_number(to, (size_t)(step - to), &decimals, &range[1]);
	if (r == 0 && *step)
		r = parse_number(step + 1, strlen(step + 1), &decimals, &range[2]);
	if (r < 0 || !(range[2] > 0) || range[0] > range[1]) {
		say("-P: '%s' is no range: numbers with up to %d decimals, the smaller one first, "
		    "and a STEP above 0",
			text, DECIMALS_MAX);
		return -EINVAL;
	}
	return add_numbers(parameters, range, decimals);
}

/* Whether {NAME} of this parameter stands at the beginning of the text: its length, else 0. */
static size_t find_place(const struct parameter *parameter, const char *text)
{
	size_t length = strlen(parameter->name);

	if (text[0] != '{' || strncmp(text + 1, parameter->name, length) != 0 ||
		text[1 + length] != '}')
		return 0;
	return length + strlen("{}");
}

bool parameter_is_in(const struct parameter *parameter, const char *text)
{
	for (; text && *text; text++) {
		if (find_place(parameter, text) > 0)
			return true;
	}
	return false;
}

/* Appends what stands for the beginning of the text. Returns how much of it that is. */
static size_t append_next(const struct parameters *parameters, const size_t choice[],
	const char *text, struct text *t)
{
	for (size_t i = 0; i < parameters->n; i++) {
		size_t length = find_place(&parameters->items[i], text);

		if (length == 0)
			continue;
		text_append(t, parameters->items[i].values[choice[i]]);
		return length;
	}
	text_append_n(t, text, 1);
	return 1;
}

char *parameters_fill_in(
	const struct parameters *parameters, const size_t choice[], const char *text)
{
	struct text t = { 0 };

	while (*text)
		text += append_next(parameters, choice, text, &t);
	return xptr(text_steal(&t));
}

bool parameters_choose_next(const struct parameters *parameters, size_t choice[])
{
	for (size_t i = parameters->n; i-- > 0;) {
		if (++choice[i] < parameters->items[i].n)
			return true;
		choice[i] = 0;
	}
	return false;
}

void parameters_clear(struct parameters *parameters)
{
	for (size_t i = 0; i < parameters->n; i++) {
		free(parameters->items[i].name);
		for (size_t k = 0; k < parameters->items[i].n; k++)
			free(parameters->items[i].values[k]);
	}
	*parameters = (struct parameters){ 0 };
}
