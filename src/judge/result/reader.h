/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads result files: ours, any of pyperf's formats 5, 6 and 1.0, and those of hyperfine and
 * google-benchmark (foreign.c), plain or compressed by gzip.
 *
 * The file is read once from its beginning to its end, and only the requested data are kept: a
 * value costs 8 bytes (9 while the array grows), a run 72 and its evidence 240 more, and what is
 * kept of a file that is to be written again a third to a half of the file (judge/result/kept.h). A
 * file that is not a result, or is made to do harm, is refused in bounded memory: it may have up to
 * 250 million values, 50 million runs, 1000 names of metadata and 64 MiB of their texts, and the
 * limits of judge/result/json.h hold.
 *
 * Names and texts are kept as they can be shown: with control characters as \xNN, as runpinned
 * writes them.
 */
#ifndef QUIESCE_JUDGE_RESULT_READER_H
#define QUIESCE_JUDGE_RESULT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "judge/result/benchmark.h"
#include "judge/result/input.h"

struct suite {
	struct benchmark **benchmarks; /* in the order of the file; no two of one name */
	size_t n;
	/* Benchmarks that failed or were skipped, or have repetitions that did, as the file says:
	 * by name, "failed: WHY" or "was skipped"; and those with a value that is none: "(3:17: a
	 * value is not a number above 0)". They are missing in `benchmarks`, or lack these
	 * repetitions. */
	struct facts left_out;
	bool foreign; /* of another tool, or of a format of pyperf's before 1.0 */
	/* For a file that is to be written again: all but metadata, version and benchmarks, as
	 * JSON, and a hash of the file's bytes. */
	struct facts members;
	uint64_t hash;
};

/*
 * -EINVAL when the file is not a result, -ENODATA when all benchmarks in it are left out, and
 * -EBADMSG when compressed data are damaged; *ret_why
 * (malloc'd, safe for a terminal) is one phrase with the place in front: "3:17: a number above 0
 * was expected" (line and column, both from 1). Else the errors of input_open() and input_read();
 * *ret_why is not touched then. with_evidence: keep the evidence in the metadata of
 * each run. Without it only the flags, the date and the duration of a run are kept.
 */
int suite_read(const char *path, bool with_evidence, struct suite **ret, char **ret_why);
/* The same from an input that is open; borrowed. */
int suite_read_input(struct input *input, bool with_evidence, struct suite **ret, char **ret_why);
/* The same for a file that is to be written again: with `kept` for each benchmark, except for
 * results of other tools, which come with their evidence. -EINVAL also for a result of pyperf's
 * with a value that is none, and -EFBIG above 4 GiB. */
int suite_read_kept(struct input *input, struct suite **ret, char **ret_why);
void suite_free(struct suite *suite);
DEFINE_CLEANUP(suite, suite_free);

/* SIZE_MAX when there is none of that name. */
size_t suite_find_index(const struct suite *suite, const char *name);
/* NULL when there is none of that name. */
struct benchmark *suite_find(const struct suite *suite, const char *name);

#endif
