/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target without systemd: its setters as programs, one after the other. */
#ifndef QUIESCE_BENCHMARK_TARGET_ALONE_H
#define QUIESCE_BENCHMARK_TARGET_ALONE_H

/*
 * Applies all setters of /run/quiesce/target. One that fails has put back its own and is said; with
 * STRICT=yes, which ends here, the others are to be put back, too.
 */
int alone_apply(void);
/* Restores all setters backwards, whatever was applied, and whatever fails meanwhile: a negative
 * errno of the first. */
int alone_restore(void);

#endif
