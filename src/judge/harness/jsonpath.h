/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds values in a JSON text by a path: names after a point, in double quotes where they have
 * other characters than letters, digits, '_' and '-', and the elements of an array in brackets,
 * [*] for each:
 *
 *	.jobs[0].read.clat_ns.percentile."99.000000"
 *	.benchmarks[*].real_time
 *	[0].primaryMetric.score
 */
#ifndef QUIESCE_JUDGE_HARNESS_JSONPATH_H
#define QUIESCE_JUDGE_HARNESS_JSONPATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct jsonpath;

/* Ends the command without memory. -EINVAL for no such path; *ret_why then says why, a static
 * string. */
int jsonpath_parse(const char *text, struct jsonpath **ret, const char **ret_why);
void jsonpath_free(struct jsonpath *path);
DEFINE_CLEANUP(jsonpath, jsonpath_free);

/* A value that the path leads to. */
struct jsonpath_value {
	char *string; /* NULL for a number */
	double number;
};

struct jsonpath_values {
	struct jsonpath_value *items;
	size_t n;
};

/*
 * The numbers and strings that the path leads to, in the order of the text; other values are left
 * out. -EINVAL where the text is no JSON up to its end, or more than JSONPATH_MAX values are found:
 * *ret_why then says why, malloc'd.
 */
#define JSONPATH_MAX 4096
int jsonpath_find(const struct jsonpath *path, const char *text, size_t size,
	struct jsonpath_values *ret, char **ret_why);
void jsonpath_values_clear(struct jsonpath_values *values);

#endif
