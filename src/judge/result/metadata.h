/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pyperf accepts as metadata (2.10, _metadata.py): the rules for what we write, and for what
 * we read.
 */
#ifndef QUIESCE_JUDGE_RESULT_METADATA_H
#define QUIESCE_JUDGE_RESULT_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"

/* A text without the blanks around it, as pyperf keeps it (str.strip() of Python: Unicode's blanks
 * too). *ret points into s. */
void metadata_strip(const char *s, const char **ret, size_t *ret_length);
/* The same, malloc'd and with control characters escaped (text_escape_control()): as a result has a
 * name. Ends the command without memory. */
char *metadata_clean(const char *s);
/* Whether two texts are equal, apart from blanks at their ends; and a hash that is equal then. */
bool metadata_equal_strings(const char *a, const char *b);
uint64_t metadata_hash_string(const char *s);
/* Python's ==: 1, 1.0 and true are equal. */
bool metadata_equal_facts(const struct fact *a, const struct fact *b);

/* NULL, or what is wrong with a value of that name: "is not a string", a static text. "tags" are a
 * list in the file: call this for each element with the name "tag". */
const char *metadata_judge(const char *name, const struct fact *value);
/* Is its value a list? */
bool metadata_is_list(const char *name);

/* Names whose values pyperf wants to be the same in all runs of a benchmark. */
#define METADATA_N_AGREED 12
extern const char *const metadata_agreed_keys[METADATA_N_AGREED];
/* The value of a parameter that the command was run with; its name follows. A number, or a text. */
#define METADATA_PARAMETER "parameter_"
/* A variable of the environment that the command was run with; its name follows. */
#define METADATA_ENVIRONMENT "environment_"
/* What the user said of a result of google-benchmark (--benchmark_context); the name follows. */
#define METADATA_CONTEXT "context_"
/* "median of 10 repetitions": what the only value of a benchmark is, where its values are not in
 * the file. */
#define METADATA_AGGREGATE "quiesce_aggregate"
/* Which other tool made the result: these and METADATA_GOOGLE are read. The two below have keys of
 * their own for that, see benchmark_tool(). */
#define METADATA_TOOL "quiesce_tool"
#define METADATA_HYPERFINE "hyperfine"
#define METADATA_GOOGLE "google-benchmark"
#define METADATA_PYPERF "pyperf"
#define METADATA_PYPERF_VERSION "perf_version"
/* "1" for all before 2.0, which do not tell it. */
#define METADATA_HYPERFINE_VERSION "hyperfine_version"
#define METADATA_RUNPINNED "runpinned"
/* Before the name of a figure, which is an event of each run (quiesce_event_rps): which way it is
 * better, and in which unit and step: "higher, 1/s, step 0.01". */
#define METADATA_FIGURE "quiesce_unit_"
/* Of how many values of one process each is the mean, and their deviation as a part of it. */
#define METADATA_WITHIN "quiesce_repeats_"
#define METADATA_DEVIATION "quiesce_within_"
/* The same of the values themselves, where they are no times. Of these, and of BENCHMARK_FIGURES,
 * it may be unknown which way is better: "unknown, p99-us". */
#define METADATA_VALUES_FIGURE "quiesce_unit"
/* What runpinned --warmup auto has found: "12 runs, 3 before the level". */
#define METADATA_WARMUP "quiesce_warmup"
/* The harness that knows the figures which the program printed, and which nobody took; and how much
 * the warm-up wrote to standard output, in bytes. */
#define METADATA_OWN_FIGURES "quiesce_own_figures"
#define METADATA_OUTPUT_SIZE "quiesce_output_size"
/* What --metric, or runserved's --by, has named. */
#define METADATA_METRIC "quiesce_metric"
/* Before the names of what runserved tells of a service, and of the figures from which nothing
 * follows; and the load that it was under, as it was typed. */
#define METADATA_SERVED "quiesce_served_"
#define METADATA_SERVED_LOAD METADATA_SERVED "load"
/* The benchmark that it was compared with, by its name. */
#define METADATA_BASELINE "quiesce_baseline"
/* The command of a benchmark whose name is not its command. */
#define METADATA_COMMAND "command"

/* Where and when runs were made (struct provenance): an identifier of the sitting, and what a
 * cluster calls the machine. */
#define METADATA_SITTING "quiesce_sitting"
#define METADATA_NODE "quiesce_node"
#define METADATA_GIVEN_NODE "node" /* what the user calls it */
/* Which layout of the programs these are: the same for the two that are compared. */
#define METADATA_LAYOUT "layout"

/* The commit that was measured, and its date (metadata_parse_date()), as pyperformance names them.
 */
#define METADATA_COMMIT "commit_id"
#define METADATA_COMMIT_DATE "commit_date"
/* What asv built and ran it with, such as "conda-py3.12". */
#define METADATA_ASV_ENVIRONMENT "asv_environment"
/*
 * A date as ISO 8601 and git's %ci and %cI have it, in nanoseconds since 1970: "2026-11-20",
 * "2026-11-20 10:14", "2026-11-20T10:14:10.5", perhaps with a zone behind the time: "Z", "+01:00",
 * " +0100". Without one it is taken for UTC. -EINVAL for anything else, such as a day that is not
 * in the calendar, or a year before 1970 or after 2254.
 */
int metadata_parse_time(const char *text, int64_t *ret);
/* The same in seconds, without the fraction. */
int metadata_parse_date(const char *text, int64_t *ret);

/* The name under which we write the clock of the values (window_clock_name()). */
#define METADATA_CLOCK "quiesce_clock"
/* The name of who stamped the runs ("tracepoints", "task-event", ...; runpinned(1), --stamps). */
#define METADATA_STAMPS "quiesce_stamped_by"
/* Who stamped the runs of a benchmark with these metadata: the above, or "events of all tasks" for
 * runs of runpinned by the kernel's clock from before it wrote that down. NULL when it is not
 * known; borrowed. */
const char *metadata_get_stamper(const struct facts *metadata);
/* The clock that such a fact tells: an enum window_clock, or -1 when it tells none. */
int metadata_get_clock(const struct fact *clock);
/* What a whole core does, and who saw it (quiesce-result(5)). */
#define METADATA_WHOLE_CORE "quiesce_whole_core"
#define METADATA_WHOLE_CORE_FROM "quiesce_whole_core_from"
#define METADATA_WHOLE_CORE_KNOWN "earlier measurements"

/* Sets a text that pyperf loads: bytes that are not UTF-8 and control characters become \xNN, in
 * the name too; a text of blanks only sets nothing. */
void metadata_set_string(struct facts *facts, const char *name, const char *value);
/* A copy of the metadata of a benchmark with all texts made valid in this way, and with a unit.
 * -EINVAL for values that metadata_judge() refuses, and without a name. *ret is empty after
 * an error. */
int metadata_make(const struct facts *facts, struct facts *ret);

#endif
