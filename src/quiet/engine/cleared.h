/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that cpu-shield keeps clear by affinities, as its journal has them: in a knob named
 * "inheritors:LIST", which exists from before the first thread is moved until all threads are back.
 */
#ifndef QUIESCE_QUIET_ENGINE_CLEARED_H
#define QUIESCE_QUIET_ENGINE_CLEARED_H

#include "base/machine/cpumask.h"
#include "quiet/engine/journal.h"

#define CLEARED_TOOL "cpu-shield"
#define CLEARED_SCHEME "inheritors"

/* The knob in the journal of cpu-shield, and its list of CPUs; NULL when there is none. */
const struct journal_entry *cleared_find(const struct journal *journal, const char **ret_list);
/* -ENOENT when no CPU is kept clear by affinities; other errors of journal_load(). */
int cleared_read(struct cpumask **ret);

#endif
