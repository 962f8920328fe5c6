/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a launcher process (launch.h) and exchanges messages with it.
 */
#ifndef QUIESCE_MEASURE_SESSION_H
#define QUIESCE_MEASURE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/stop.h"
#include "measure/command.h"
#include "measure/launch.h"
#include "measure/launchplan.h"
#include "measure/runlog.h"

struct session;

/* Starts the launcher of one command, unless it was begun, and waits until it is ready. Says what
 * is wrong and returns a negative errno; -ECANCELED, without a word, when a signal asked to stop
 * meanwhile. */
int session_start(struct command *command, const struct launch_inputs *in, struct stop *stop);
/* Starts one launcher for each command, and one for the empty shell, which takes no readings. The
 * tracepoints are those of the commands. Errors as above. */
int sessions_start(struct commands *commands, const struct launch_inputs *in, struct stop *stop);
/*
 * Both for sessions_start(), with the same inputs, to which they leave all errors: the launcher of
 * the first command starts, and, once the evidence is open as well, gets ready by itself. Neither
 * waits for it. The place is none that has to be joined. Further launchers start one after the
 * other, because they all get ready on the same CPUs.
 */
void sessions_begin(
	struct commands *commands, const struct launch_inputs *in, const struct stop *stop);
void sessions_prepare(
	struct commands *commands, const struct launch_inputs *in, const struct stop *stop);
/* Takes as many open files as that many programs need; -EMFILE where only fewer may be had, which
 * are taken then. main() does so for one program before anything else. */
int sessions_raise_limit(size_t n);
/* In a forked child that is about to execute something: gives it the limit of open files that
 * runpinned was started with. */
void sessions_restore_limit(void);
/* The process whose CPU quota holds for the runs of the command: ours (0), or the launcher where it
 * has joined the CPUs of benchmark.target, and with them another cgroup. */
pid_t session_find_limited(const struct command *command, const struct place *place);
/* Who stamps runs with nothing attached to them: the same for all commands. */
enum stamper sessions_get_stamper(const struct commands *commands);
/*
 * Makes runs and returns when the last one has ended. The launcher makes at least one run and at
 * most as many as the request asks for. When a signal asks to stop, the process group of the
 * running child is ended: by SIGTERM first, and by SIGKILL at the second signal or after two
 * seconds; the last report then says `interrupted`. Returns 0, or the negative errno of what
 * prevented the runs. -EPIPE when the launcher has died.
 */
int session_run(struct session *session, struct stop *stop, const struct launch_request *request);
/* From now on runs are also ended, as at a signal, when this descriptor becomes readable: the pidfd
 * of a process without which they have no sense. It is borrowed. */
void session_end_with(struct session *session, int fd);
/*
 * The next one of these runs, in their order: 1, or 0 when there are no more. A run that did not
 * take place is the last one; for it the negative errno is returned, and *ret holds the step that
 * failed. -EBADMSG when the launcher has written something invalid. What *ret points to is valid
 * until the next call.
 */
int session_next(struct session *session, struct runlog_run *ret);
/* The text that the program handed over in the last of these runs (library/values.h), malloc'd and
 * not checked; "" if it handed over nothing. No earlier run of these handed over anything, because
 * the launcher ends a request after a run that did. */
int session_read_values(struct session *session, char **ret, size_t *ret_size);
/* Prints the last lines that the program wrote to standard error in the last of these runs. */
void session_print_stderr(const struct session *session);
/* The file in memory that the program's standard error goes to; it is emptied before each run. -1
 * where it goes elsewhere (--show-output). */
int session_get_stderr(const struct session *session);
/* The same for the standard output of the last run that was to be kept (launch_order.keeps_output);
 * -1 where that goes elsewhere. */
int session_get_kept(const struct session *session);
/* Makes no more runs: the launchers begin to end, which sessions_free() waits for. */
void sessions_end(struct commands *commands);
/* Ends the launcher and waits until it has ended. */
void session_free(struct session *session);
void sessions_free(struct commands *commands);

DEFINE_CLEANUP(session, session_free);

#endif
