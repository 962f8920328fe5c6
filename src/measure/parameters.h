/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parameters of -L and -P: names, each with the values that it takes in turn. Where {NAME}
 * stands in a text, a value takes its place.
 */
#ifndef QUIESCE_MEASURE_PARAMETERS_H
#define QUIESCE_MEASURE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#define PARAMETERS_MAX 8
#define PARAMETER_VALUES_MAX 256

struct parameter {
	char *name;
	char *values[PARAMETER_VALUES_MAX];
	size_t n;
};

/* All zero: there are none. */
struct parameters {
	struct parameter items[PARAMETERS_MAX];
	size_t n;
};

/* "NAME=a,b,c": these values. Both functions return 0, or -EINVAL after saying what is wrong. */
int parameters_add_list(struct parameters *parameters, const char *text);
/* "NAME=1..10" or "NAME=0.5..2:0.25": these numbers, with as many decimals as were typed. */
int parameters_add_range(struct parameters *parameters, const char *text);

/* These n values, which are copied. `option`: what gave them, for messages. */
int parameters_add(struct parameters *parameters, const char *option, const char *name,
	char *const values[], size_t n);

/* Whether the parameter stands in the text; a text of NULL mentions none. */
bool parameter_is_in(const struct parameter *parameter, const char *text);
/* The text with the values in their places, malloc'd: the value number choice[i] of parameter i. */
char *parameters_fill_in(
	const struct parameters *parameters, const size_t choice[], const char *text);
/* Makes the next choice of values, the last parameter first. Returns false after the last choice,
 * and makes the first one. */
bool parameters_choose_next(const struct parameters *parameters, size_t choice[]);
void parameters_clear(struct parameters *parameters);

#endif
