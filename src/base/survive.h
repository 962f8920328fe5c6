/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a caller may leave to a process: signals that a failed write sends, and that end a process
 * unless it has a handler for them, and standard streams that are closed. */
#ifndef QUIESCE_BASE_SURVIVE_H
#define QUIESCE_BASE_SURVIVE_H

/*
 * From now on a write that would send this signal to this process only fails: for SIGPIPE with
 * EPIPE, where the reader of a pipe is gone; for SIGXFSZ with EFBIG, where a file would grow beyond
 * RLIMIT_FSIZE (write(2), setrlimit(2)).
 *
 * The signal is caught and not ignored, because execve(2) resets caught signals: so the programs
 * that this process executes start with the caller's setting. A signal that the caller ignores
 * stays ignored.
 */
void survive_signal(int number);

/* Opens /dev/null for each standard stream that the caller has closed, because a file that is
 * opened later would become that stream, and get what is printed. Only for reading, so that what is
 * printed is known to be lost. */
void survive_closed_streams(void);

#endif
