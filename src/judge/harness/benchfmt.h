/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures that a program says itself ($QUIESCE_FIGURES), as lines of Go's benchmark format
 * (golang.org/design/14313-benchmark-format, and golang.org/x/perf/benchfmt for "Unit"):
 *
 *	BenchmarkParse 100 52.5 ns/op 16 B/op
 *	Unit hits better=higher
 *	goos: linux
 *
 * The name of a figure is what follows "Benchmark". Further values of a line have their unit behind
 * the name: "Parse", "Parse B/op". Several lines of one name and unit are repeats within a process,
 * whose mean is the figure. Times, bytes and what is per operation ("/op") are better when lower,
 * rates ("/s") when higher, unless a line "Unit" says otherwise, which may stand anywhere. Of other
 * units such a line has to say it, or "assume=exact", by which the figure is the same in all runs
 * of a program. Lines "key: value" are left out, and so is what `go test` prints
 * when all is well: "PASS", "ok", and the name of a benchmark alone.
 */
#ifndef QUIESCE_JUDGE_HARNESS_BENCHFMT_H
#define QUIESCE_JUDGE_HARNESS_BENCHFMT_H

#include "judge/harness/extract.h"

#define BENCHFMT_PREFIX "Benchmark"

/*
 * Appends the figures of a whole file. -EBADMSG with the reason, malloc'd, for any other line, and
 * for a last one without an end, which was not written whole; some of the figures may have been
 * appended then. Ends the command without memory.
 */
int benchfmt_read(const struct output *output, struct figures *figures, char **ret_why);

/* Cuts the next word out of *rest, a line; NULL where there is none. */
char *benchfmt_next_word(char **rest);

/*
 * Which way a unit is better by itself. `base` is that of the parsed unit (quantity.h).
 * BETTER_UNKNOWN where the unit tells nothing.
 */
enum better benchfmt_find_better(const char *base);

#endif
