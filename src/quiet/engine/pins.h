/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping the affinities of all threads while CPUs and cpusets change, on kernels that forget them.
 *
 * Linux before 6.2 remembers only the CPUs that a thread has at present (threads.h): when a CPU
 * goes or comes, a cpuset changes its CPUs, or threads come into another cpuset, the kernel gives
 * each of them all CPUs of its cpuset, whatever it had asked for. That happens to every program of
 * the machine, also to those that bound themselves to CPUs after a setter was applied, and that no
 * journal knows.
 *
 * So each such change is one operation, in apply and in restore. Immediately before it all threads
 * are looked at; while it goes on and after it, threads that the kernel has given all CPUs of their
 * cpuset get back what they had, as far as the cpuset allows that; and so on until nothing is new.
 * A thread that was born meanwhile has chosen what its parent has. A thread with any other affinity
 * has chosen it now, and keeps it. What nobody can know is what a thread had chosen that was born,
 * or chose, between two looks, and that the kernel then gave all CPUs: it counts as a thread that
 * has chosen nothing, or what its parent has.
 */
#ifndef QUIESCE_QUIET_ENGINE_PINS_H
#define QUIESCE_QUIET_ENGINE_PINS_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"

struct pins;

/*
 * Looks at all threads. A thread that the journal knows (NULL: none) has chosen its old value there
 * unless somebody else has changed its affinity since, or `force` says that this does not count.
 * What a thread has inherited from one that the journal knows, because it was started while that
 * one had fewer CPUs, counts as the choice of that one.
 */
int pins_begin(struct journal *journal, bool force, struct pins **ret);
void pins_free(struct pins *pins);
DEFINE_CLEANUP(pins, pins_free);

/* Immediately before and after a change. In between, another thread of this process looks at the
 * threads of the machine, over and over. */
int pins_begin_change(struct pins *pins);
int pins_end_change(struct pins *pins);
/* After the last change: until for some time nothing is new, since the kernel and systemd do some
 * of what they were asked for later. */
int pins_settle(struct pins *pins);
/* Whether a thread has chosen other CPUs than this list, or than all (FOLLOWER_EVERYWHERE), since
 * pins_begin(), or before it: 1, 0, or an error; -ENOENT for a thread that is not known. */
int pins_is_chosen_anew(struct pins *pins, const char *path, const char *list);
/* A knob was written: if it is that of a thread, what is read next is what this thread has chosen.
 */
void pins_forget(struct pins *pins, const char *path);
/* Adds to the journal, in this group, the threads that have fewer CPUs now than they had chosen,
 * and that the journal does not have: they began to choose after the plan was made. */
int pins_add_to_journal(const struct pins *pins, struct journal *journal, unsigned group);

/* --- The rule, for one thread. --- */

/* What is known of a thread. */
struct pin {
	const struct cpumask *wish;   /* what it has chosen; NULL: nothing */
	const struct cpumask *last;   /* the CPUs that it was seen with, offline ones included */
	const struct cpumask *cpuset; /* those of its cpuset at that time */
};

/* Whether a thread has chosen CPUs of its own: it has the CPUs `now` in a cpuset that has `cpuset`,
 * and these are neither what it had or has chosen, nor what the kernel gave it, which is all CPUs
 * of its cpuset. `scratch` is overwritten. */
bool pin_has_chosen(const struct pin *pin, const struct cpumask *now, const struct cpumask *cpuset,
	struct cpumask *scratch);
/* Whether a thread that is seen for the first time has what it has from `parent` (NULL: not known).
 */
bool pin_is_inherited(
	const struct pin *parent, const struct cpumask *now, const struct cpumask *cpuset);

#endif
