/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the text of a knob means: setters compare by it, and so does whoever looks whether a knob
 * still is as a setter left it.
 */
#ifndef QUIESCE_STATE_KNOBTEXT_H
#define QUIESCE_STATE_KNOBTEXT_H

#include <stdbool.h>

#include "machine/cpumask.h"

/* How two texts of a knob are compared: by what they mean. The kernel seldom gives back the text
 * that it was given. */
enum knob_kind {
	KNOB_WORD,   /* as text, without blanks around it */
	KNOB_NUMBER, /* as integers; as words where one of them is none */
	KNOB_LIST,   /* CPU lists, as sets: "0-3" is "0,1-3"; " (null)" is none */
	KNOB_MASK,   /* hexadecimal CPU masks, as sets: "ff" is "00000000,000000ff" */
	KNOB_CHOICE, /* "always [madvise] never" is "madvise" */
	/* kHz, as integers. The kernel applies a limit after write(2) has returned and rounds it to
	 * what the hardware has (drivers/cpufreq/cpufreq.c), so reading back waits a while. */
	KNOB_FREQUENCY,
	/* An integer that the kernel lowers by itself when it sees fit
	 * (kernel.perf_event_max_sample_rate): a lower one than was set is nobody's change. */
	KNOB_RATE,
};

/* The CPUs of a KNOB_LIST or KNOB_MASK; errors as of cpumask_parse_list(). */
int knob_parse_cpus(enum knob_kind kind, const char *text, struct cpumask *ret);
/* Whether two texts mean the same. Texts that cannot be understood are compared as words. */
bool knob_equal(enum knob_kind kind, const char *a, const char *b);
/* Whether somebody changed what was set to `set`: it is another value, and not one that the kernel
 * makes of it by itself. */
bool knob_is_foreign(enum knob_kind kind, const char *now, const char *set);
/* A text as it was read, as it is to be written: the chosen word of a choice, the empty list for
 * "(null)". malloc'd. */
char *knob_writable(enum knob_kind kind, const char *text);
/* "word", "number", ...: as the journal has them. -EINVAL for another text. */
const char *knob_kind_name(enum knob_kind kind);
int knob_kind_parse(const char *name, enum knob_kind *ret);

#endif
