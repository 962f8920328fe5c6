/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmarks of one command with different values of its parameters: scans of runpinned and of
 * hyperfine, and families of google-benchmark. The values are in the metadata (METADATA_PARAMETER)
 * and in the names.
 */
#ifndef QUIESCE_JUDGE_RESULT_SCAN_H
#define QUIESCE_JUDGE_RESULT_SCAN_H

#include <stdbool.h>

#include "judge/result/benchmark.h"

/* The name of parameter number i, borrowed; NULL beyond the last one. */
const char *scan_parameter(const struct benchmark *benchmark, size_t i);
/* The value of a benchmark's parameter as a number. -ENODATA when the benchmark has no such
 * parameter, -EINVAL when its value is not a number. */
int scan_number(const struct benchmark *benchmark, const char *parameter, double *ret);
/*
 * The common part of the names of a scan's benchmarks: the name with "{n}" in place of the value of
 * that parameter ("sort/n=1000" is "sort/n={n}"), or of all parameters for NULL. Malloc'd; the name
 * itself where there is no such parameter.
 */
char *scan_family(const struct benchmark *benchmark, const char *parameter);
/* Whether both have parameters, and are of one scan, or are commands of one call of hyperfine. */
bool scan_is_common(const struct benchmark *a, const struct benchmark *b);

#endif
