/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The meaning of a knob's text. Setters compare values by meaning, and so do tools that check
 * whether a knob is still as a setter left it.
 */
#ifndef QUIESCE_QUIET_ENGINE_KNOBTEXT_H
#define QUIESCE_QUIET_ENGINE_KNOBTEXT_H

#include <stdbool.h>

#include "base/machine/cpumask.h"

/* How two texts of a knob are compared: by their meaning, because the kernel seldom returns the
 * text that was written. */
enum knob_kind {
	KNOB_WORD,   /* as text, without surrounding blanks */
	KNOB_NUMBER, /* as integers; as words if either is not an integer */
	KNOB_LIST,   /* CPU lists, as sets: "0-3" equals "0,1-3"; " (null)" is the empty set */
	KNOB_MASK,   /* hexadecimal CPU masks, as sets: "ff" equals "00000000,000000ff" */
	KNOB_CHOICE, /* "always [madvise] never" equals "madvise" */
	/* kHz, as integers. The kernel applies a limit after write(2) has returned, and rounds it
	 * to a frequency of the hardware (drivers/cpufreq/cpufreq.c), so reading back waits for a
	 * while. */
	KNOB_FREQUENCY,
	/* An integer that the kernel may lower by itself (kernel.perf_event_max_sample_rate): a
	 * lower value than was set is not a foreign change. */
	KNOB_RATE,
};

/* The CPUs of a KNOB_LIST or KNOB_MASK; errors as cpumask_parse_list(). */
int knob_parse_cpus(enum knob_kind kind, const char *text, struct cpumask *ret);
/* Whether two texts have the same meaning. Texts that cannot be parsed are compared as words. */
bool knob_equal(enum knob_kind kind, const char *a, const char *b);
/* Whether something else than the kernel has changed a knob that was set to `set`: its value
 * differs, and the kernel does not make this value of `set` by itself. */
bool knob_is_foreign(enum knob_kind kind, const char *now, const char *set);
/* Converts a text that was read to one that can be written: the chosen word of a choice, the empty
 * list for "(null)". malloc'd. */
char *knob_writable(enum knob_kind kind, const char *text);
/* "word", "number", ...: the names in the journal. -EINVAL for another name. */
const char *knob_kind_name(enum knob_kind kind);
int knob_kind_parse(const char *name, enum knob_kind *ret);

#endif
