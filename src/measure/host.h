/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A harness that is hosted (--harness, of a file that has Run): each of its benchmarks is run in
 * processes of its own, in turn with that of the other programs. Its own words are put around those
 * of the user's command (judge/harness/template.h).
 */
#ifndef QUIESCE_MEASURE_HOST_H
#define QUIESCE_MEASURE_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "judge/harness/harness.h"
#include "measure/parameters.h"
#include "measure/user.h"

/* The parameter whose values are the benchmarks, where there are several. */
#define HOST_PARAMETER "benchmark"

struct host {
	struct harness *harness; /* borrowed */
	/* What its programs write goes to a folder, which is emptied before each run. NULL with
	 * --dry-run. */
	char *folder;
	char *file;
	const struct user *user; /* who has the folder */
	/* The benchmarks that each program lists, in that order; NULL: they were not asked. */
	char **lists[PARAMETER_VALUES_MAX];
	size_t n_lists;
	char *only; /* the benchmark, where there is one; NULL: see the parameter */
	size_t run; /* which Run */
};

/* Makes the folder. Says what is wrong and returns a negative errno. */
int host_make_folder(struct host *host, const struct user *user);
/* Removes what is in the folder. Says what cannot be removed. */
int host_empty_folder(const struct host *host);
/* Removes the folder as well. */
void host_free(struct host *host);
DEFINE_CLEANUP(host, host_free);

/* What a template is filled with. */
struct host_words {
	char *const *typed;    /* the words of the user's command */
	const char *benchmark; /* NULL: not known, as with --dry-run */
	size_t program;	       /* its number, for the index in its list */
	uint64_t loops;	       /* 0: not known yet */
};

/* The words that are run, as template_fill_words(). `index` is NULL where the benchmark has that of
 * the list. */
char **host_make_words(const struct host *host, const char *template,
	const struct host_words *words, const char *index);
/* The same of the Run that was chosen. */
char **host_make_run(const struct host *host, const struct host_words *words);
/* A variable of the harness, "NAME=VALUE", malloc'd. */
char *host_make_variable(const struct host *host, size_t i, const struct host_words *words);
/* What List or Calibrate has written, malloc'd and NUL-terminated: to the file of the host where
 * the rule looks there, else to the file that was its standard output. */
int host_read_answer(
	const struct host *host, const struct rule *rule, int output, char **ret, size_t *ret_size);

#endif
