/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metadata in the result file that describe the whole measurement. */
#ifndef QUIESCE_MEASURE_DESCRIBE_H
#define QUIESCE_MEASURE_DESCRIBE_H

#include "base/facts.h"
#include "measure/command.h"
#include "measure/evidence.h"
#include "measure/meanwhile.h"
#include "measure/measure.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/quiesce.h"

/* What moves on the machine, before the first run, and before what is done for it moves that. */
void describe_moving(const struct place *place, struct facts *facts);
/* The machine, and what was moving there. */
void describe_machine(const struct place *place, const struct facts *moving, struct facts *facts);
/* After the last run: the settings of the machine, and what moves there. */
void describe_machine_again(const struct place *place, struct facts *facts);
/* The metadata that are known before the first run: the machine, the program, and the options. 0
 * or -EINVAL after saying which name of --metadata is taken. */
int describe_setup(const struct options *options, const struct command *command,
	const struct place *place, const struct facts *machine, struct facts *facts);
/* Once the length of the control is known: what it is, in the metadata of all commands, so that a
 * comparison can tell whether two results have the same one. Nothing without a control. */
void describe_control(struct commands *commands);
/* The metadata that are known after the last run: the time of the empty program, why the
 * measurement ended, and how frequency and load have changed, of which `now` is
 * describe_machine_again(). */
void describe_outcome(const struct measurement *measurement, const struct evidence_reader *evidence,
	const struct facts *now, struct facts *facts);
/*
 * Which settings of the machine in `now` differ from those that describe_machine() found, or are
 * there no more: for example, somebody changed a governor, or the kernel stopped using a clock
 * source. The list goes into the facts of the command as quiesce_changed, behind what
 * describe_lost_parts() has put there, and is returned for a person (malloc'd, "" when nothing
 * changed).
 */
char *describe_changes(const struct place *place, struct facts *now, struct command *command);
/* Once the launchers have started: the CPU quota of their cgroup (session_find_limited()). */
void describe_quota(const struct place *place, struct commands *commands);

/* Adds to all commands what was done to make the machine quiet (quiesce_part_shield, ...) and what
 * ran on the CPUs meanwhile. Both may be NULL. */
void describe_quiesce(struct commands *commands, const struct quiesce *quiesce,
	const struct meanwhile *meanwhile);
/* Adds which parts of what was done held no longer after the runs (quiesce_changed). `after`: the
 * parts then (quiesce_ask()), NULL where they are not known. */
void describe_lost_parts(
	struct commands *commands, const struct quiesce *quiesce, const struct quiesce *after);

#endif
