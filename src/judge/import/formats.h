/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of other tools that import.h knows, and for each of them a function that reads it. */
#ifndef QUIESCE_JUDGE_IMPORT_FORMATS_H
#define QUIESCE_JUDGE_IMPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/harness/harness.h"
#include "judge/import/imported.h"

/* A file that was read. */
struct import_source {
	const char *text; /* with a NUL behind it */
	size_t size;
	const char *path; /* "-" for standard input */
};

/*
 * Each takes what the file says into *imported. -EINVAL with *ret_why, malloc'd: what is wrong,
 * with its place in front ("3:17: ...", or "3: ..." of a line) where it has one.
 */
typedef int import_function(
	const struct import_source *source, struct imported *imported, char **ret_why);

/* go test -bench, and any other file of lines in benchfmt (golang.org/x/perf/benchfmt); the events
 * of go test -json. */
import_function import_go_text, import_go_events;
/* Of cargo criterion and cargo bench: target/criterion/NAME/new/sample.json, or benchmark.json or
 * estimates.json beside it. */
import_function import_criterion;
import_function import_jmh, import_pytest, import_asv, import_fio;
/* github-action-benchmark's customSmallerIsBetter or customBiggerIsBetter, which look the same. */
import_function import_custom;
/* perf stat -x and perf stat -j. */
import_function import_perf_text, import_perf_json;

/* Whether the first bytes of a text have a line of these. */
bool import_is_go_text(const char *head, size_t size);
bool import_is_perf_text(const char *head, size_t size);
/* Whether a line begins here that fio writes in front of its JSON. */
bool import_is_fio_note(const char *line, size_t size);

/* All results of criterion below a folder, by name. -ENOENT where there is none. */
int import_criterion_folder(const char *path, struct imported *imported, char **ret_why);

/* What a harness finds in what its program has written. */
int import_by_harness(const struct import_source *source, const struct harness *harness,
	struct imported *imported, char **ret_why);

#endif
