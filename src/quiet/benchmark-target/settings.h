/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /etc/quiesce/benchmark.conf, see benchmark.conf(5): lines KEY=VALUE, blank lines, and comments
 * that begin with '#'. Every key is optional, and occurs at most once.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_SETTINGS_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum settings_smt {
	SETTINGS_SMT_SIBLINGS,
	SETTINGS_SMT_ALL,
	SETTINGS_SMT_LEAVE,
};

/* All zero: the defaults. Strings are malloc'd. */
struct settings {
	char *cpus;	 /* a CPU list, not parsed, since that depends on the machine; NULL: auto */
	unsigned n_cpus; /* N of auto:N; 0: all isolated CPUs, or one if there are none */
	enum settings_smt smt;
	char *freq; /* as freq-pin takes it; NULL: base */
	bool freq_leave;
	bool irq_leave;
	bool shield_leave;
	bool noise_leave;
	char *noise; /* options for noise-off, "--except thp"; NULL: none */
	bool strict;
};

struct settings_error {
	unsigned line;	    /* from 1 */
	const char *reason; /* a static string */
};

/* Changes *settings by the lines of text. -EINVAL with *ret_error, or -ENOMEM; the lines before the
 * error have changed *settings then. */
int settings_parse(const char *text, struct settings *settings, struct settings_error *ret_error);
/* The same for a file. -ENOENT when there is none, with *settings untouched. -EINVAL with line 0
 * for a file that is too large or holds a NUL byte. */
int settings_read(const char *path, struct settings *settings, struct settings_error *ret_error);
void settings_clear(struct settings *settings);

#endif
