/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file says of a benchmark, as it stands there: kept by the reader for a file that is going
 * to be written again (suite_read_kept()). The model does not hold it: members that nobody here
 * knows, whether a run has a piece of metadata itself, how a number is spelled.
 *
 * Most of what a run says is what the run before it said. A run is kept as what it says otherwise:
 * 2 bytes and the text of each such value, and 1 byte.
 */
#ifndef QUIESCE_JUDGE_RESULT_KEPT_H
#define QUIESCE_JUDGE_RESULT_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/text.h"

/* A name in the runs of a benchmark, as it is in the file. Number 0 has none. */
struct kept_name {
	char *name;	/* of a member of the run, or of its metadata */
	bool is_member; /* not in the metadata */
	size_t at;	/* its newest value, in `runs` */
};

struct kept {
	/* Values are JSON, as texts. */
	struct facts above;   /* the metadata of the benchmark, and those of the suite */
	struct facts members; /* of the benchmark: all but metadata and runs */

	struct kept_name *names;
	size_t n_names;
	size_t names_capacity;
	struct text runs;
	size_t n_runs;
	struct text order; /* of the names of the run that is being added */

	/* METADATA_CLOCK or one of metadata_agreed_keys[], if the runs have different values of it:
	 * pyperf does not load such a file. NULL when they agree. */
	const char *disputed;
	/* The clock that the runs name: an enum window_clock, or -1 when no run names one. */
	int clock;
};

void kept_free(struct kept *kept);
DEFINE_CLEANUP(kept, kept_free);

/* The number of a name; 0 when there is none. */
size_t kept_find(const struct kept *kept, const char *name, bool is_member);
/* Adds a name, and tells its number. -EFBIG for more than 65,000. */
int kept_add_name(struct kept *kept, const char *name, bool is_member, size_t *ret);
/* Adds a value to the run that is being added: its name, and JSON text. */
void kept_add(struct kept *kept, size_t name, const char *json);
/* Ends this run. */
void kept_end_run(struct kept *kept);
/* Gives back what memory is left over when all runs have been added. */
void kept_shrink(struct kept *kept);

/* A look at one run after the other. All zero but for `kept` before the first one. */
struct kept_walk {
	const struct kept *kept;
	const char **values; /* by the number of the name */
	const char *at;
	const char *order; /* the names of this run: see kept_walk_name() */
};

/* The next run, of which there must be one. */
void kept_walk_next(struct kept_walk *walk);
/* The number of the next name of the run in *order, which is walk->order at first; 0 at the end. */
size_t kept_walk_name(const char **order);
void kept_walk_clear(struct kept_walk *walk);

static inline void cleanup_kept_walk(struct kept_walk *walk)
{
	kept_walk_clear(walk);
}
#define _cleanup_kept_walk_ __attribute__((cleanup(cleanup_kept_walk)))

#endif
