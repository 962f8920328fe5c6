/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench-report VERB FILE...: what the command line asks for, and the functions of the verbs. A verb
 * consists of one file and one line of the table in main.c.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_BENCH_REPORT_H
#define QUIESCE_JUDGE_BENCH_REPORT_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/say.h"
#include "base/text.h"

struct harness;
struct reports;
struct request;

/* The options that only some verbs take. */
enum verb_option {
	TAKES_BENCHMARK = 1 << 0,
	TAKES_JSON = 1 << 1,
	TAKES_METADATA = 1 << 2,
	TAKES_BINS = 1 << 3,
	TAKES_COUNT = 1 << 4,
	TAKES_TABLE = 1 << 5,
	TAKES_MARKDOWN = 1 << 6, /* and CSV */
	TAKES_FAIL_SLOWER = 1 << 7,
	TAKES_OUTPUT = 1 << 8,
	TAKES_SIZE = 1 << 9,
	TAKES_RESULTS = 1 << 10,
	TAKES_FAIL_WORSE = 1 << 11,
	TAKES_METRIC = 1 << 12,
	TAKES_UNIT = 1 << 13,
	TAKES_SORT = 1 << 14,
	TAKES_SERVICE = 1 << 15, /* --format of a service that keeps a history */
	TAKES_JUNIT = 1 << 16,	 /* --format of JUnit */
	TAKES_VERBOSE = 1 << 17,
	SAYS_LEVEL = 1 << 18, /* where the values of runs settle, also without --from-level */
};

/* How github-action-benchmark calls its lists. */
#define SMALLER_TOOL "customSmallerIsBetter"
#define BIGGER_TOOL "customBiggerIsBetter"

/* In which form something is printed. */
enum form {
	FORM_TEXT,
	FORM_JSON,
	FORM_TABLE,
	FORM_MARKDOWN,
	FORM_CSV,
	FORM_GITHUB,   /* a list for github-action-benchmark, of figures that are all better one way
			*/
	FORM_SMALLER,  /* the same of those of which less is better */
	FORM_BIGGER,   /* and of which more is */
	FORM_BENCHER,  /* Bencher Metric Format */
	FORM_BENCHFMT, /* lines of Go's, which benchstat reads */
	FORM_JUNIT,
};

/* The order of benchmarks, or of comparisons in a file. */
enum sort {
	SORT_NONE, /* as the files have them */
	SORT_NAME,
	SORT_VALUE,  /* the lowest median first; in comparisons, the median of NEW */
	SORT_CHANGE, /* the change for the worse by most first */
};

struct verb {
	const char *name;
	unsigned options;      /* enum verb_option */
	const char *arguments; /* for the help: "FILE..." */
	const char *help;
	/* Does what the verb says, and returns the exit status. */
	enum exit_status (*run)(const struct request *request);
	const char *finding; /* for the help: what exit status 3 says; NULL where `help` says it */
};

/* The command line. */
struct request {
	const struct verb *verb;
	char **files; /* "-" is standard input */
	size_t n_files;
	/* compare: the first of the files are several results of --old, the others those of --new;
	 * 0 when these were not given. */
	size_t n_old;
	/* compare: the benchmark of NEW that one of OLD is compared with, if their names differ:
	 * rules such as "/old/new/", whose first character separates the text in the name in OLD
	 * from the one in its place in NEW. The first rule whose text is in a name holds for it. */
	char **renames;
	size_t n_renames;
	/* compare: results, and folders of them, that tell how the machine varies. */
	char **repeats;
	size_t n_repeats;
	/* What the files were written by; NULL: they tell. */
	struct harness *harness;
	const char *benchmark;	 /* only the benchmark of this name; NULL for all */
	const char *metric;	 /* the metric by which runs are judged; NULL for their values */
	const struct unit *unit; /* the unit in which times are shown */
	enum sort sort;
	bool from_level;
	bool json;
	bool metadata;
	bool verbose;
	unsigned bins;	/* 0 when it was not given: by the number of values */
	unsigned count; /* 0 when it was not given: all */
	bool table;
	bool markdown;
	bool csv;
	enum form format;   /* FORM_TEXT when --format was not given */
	enum form form;	    /* the form that follows from the options */
	double fail_slower; /* per cent, of plot its --margin; NAN when it was not given */
	bool fail_unclear;
	double fail_worse;   /* per cent; NAN when it was not given */
	double margin;	     /* per cent; NAN when it was not given */
	const char *since;   /* NULL when it was not given */
	const char *earlier; /* NULL when it was not given */
	const char *output;  /* NULL when it was not given */
	const char *size;    /* NULL when it was not given: the default */
	const char *by;	     /* NULL when it was not given: a parameter by which all benchmarks are
			      * curves */
};

enum exit_status verb_check(const struct request *request);
enum exit_status verb_compare(const struct request *request);
enum exit_status verb_dump(const struct request *request);
enum exit_status verb_fleet(const struct request *request);
enum exit_status verb_hist(const struct request *request);
enum exit_status verb_merge(const struct request *request);
enum exit_status verb_plot(const struct request *request);
enum exit_status verb_show(const struct request *request);
enum exit_status verb_slowest(const struct request *request);
enum exit_status verb_stats(const struct request *request);
enum exit_status verb_trend(const struct request *request);
/* What `compare` prints of results that have been read. */
enum exit_status compare_reports(const struct request *request, const struct reports *reports);
enum exit_status verb_why(const struct request *request);

#endif
