/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `cpu-shield run`: executes a program on the shielded CPUs.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_RUN_H
#define QUIESCE_QUIET_CPU_SHIELD_RUN_H

#include "quiet/setter/setter.h"

/* Enters the shield and executes the program in this process, so that the program gets all signals
 * and its exit status is ours. Returns only on failure: EXIT_FAILED or EXIT_USAGE; or as a shell
 * does, 126 for a program that cannot be executed, and 127 for one that does not exist. */
int run_program(const struct setter_verb_use *use, void *state);

#endif
