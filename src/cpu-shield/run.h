/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `cpu-shield run`: a program on the shielded CPUs.
 */
#ifndef QUIESCE_CPU_SHIELD_RUN_H
#define QUIESCE_CPU_SHIELD_RUN_H

#include "setter/setter.h"

/* Goes into the shield and becomes the program, so that its exit status and its signals are its
 * own. Returns only when that fails: 1, 2; 126 for a program that cannot be executed, and 127 for
 * one that is not there, as a shell says it. */
int run_program(const struct setter_verb_use *use, void *state);

#endif
