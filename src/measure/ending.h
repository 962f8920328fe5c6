/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How runpinned ends when it gets no memory (base/xalloc.h). It says so, and removes the files that
 * it has not written whole. Then it ends what it has begun, as after another failure: the hooks of
 * --conclude and --cleanup that are due are run, the launchers end, the guardian of --quiesce puts
 * the machine back, and behind all that the kernel unlocks the CPUs. The exit status is
 * EXIT_FAILED. Runs that are not saved by then are lost. So results are saved before anything is
 * reported, and what grows with the runs goes on without memory (measure.h).
 *
 * No program runs at that moment: as long as one does, runpinned waits in session_run() or
 * hook_run(), and asks for no memory. What ends here reports errors, as everywhere where something
 * is put back. If one of these steps gets no memory either, the kernel closes the sockets of the
 * launchers and of the guardian, which then do what they do when runpinned is killed (keeper.h,
 * quiesce.h).
 */
#ifndef QUIESCE_MEASURE_ENDING_H
#define QUIESCE_MEASURE_ENDING_H

#include "base/stop.h"
#include "measure/command.h"
#include "measure/host.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/quiesce.h"

/* To be called once, before anything is begun. */
void ending_prepare(void);
/* From now on there may be launchers, and hooks that are due. All of this has to live until
 * ending_clear_runs(). */
void ending_set_runs(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop);
/* There are none any more. */
void ending_clear_runs(void);
/* A file that is not whole, and is removed; NULL: there is none. */
void ending_set_file(const char *path);
/* The harness whose folder is removed; NULL: there is none any more. */
void ending_set_host(struct host **host);
/* Where a guardian will stand as long as there is one; NULL: there will be none. */
void ending_set_quiesce(struct quiesce **quiesce);

#endif
