/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures that a program gives itself in a run (figurerules.h): they are read when the run has
 * ended, from files in memory or on disk. Nobody reads anything while a program runs.
 */
#ifndef QUIESCE_MEASURE_FIGURES_H
#define QUIESCE_MEASURE_FIGURES_H

#include "base/cleanup.h"
#include "judge/harness/extract.h"
#include "judge/result/series.h"
#include "measure/command.h"
#include "measure/figurepad.h"
#include "measure/options.h"

/* The files that the program may write its figures to, before a run: for figures_take(), which
 * refuses one that the run has not written. The pad may be NULL. */
struct figure_files;
struct figure_files *figure_files_new(const struct options *options, const struct figurepad *pad);
void figure_files_free(struct figure_files *files);
DEFINE_CLEANUP(figure_files, figure_files_free);
/* Says what is wrong and returns a negative errno. */
int figure_files_look(struct figure_files *files);

/*
 * The figures of the run that has just ended: declares new ones in the series, and sets their
 * values behind the counted events in *events, which has room for all events of the series and is
 * enlarged. has_said: the program has written into the pad. -EBADMSG with the reason, malloc'd,
 * where what it has written is not as it should be; events are unchanged then.
 */
int figures_take(const struct command *command, struct figure_files *files, bool has_said,
	struct series *series, double **events, char **ret_why);
/* The same for a run that has none: they are not known. */
void figures_leave_out(const struct series *series, double **events);
/* What a hosted harness has given in that run: the values of its first figure that is a time,
 * borrowed until the next run. 0 where there is none. */
size_t figures_get_values(const struct figure_files *files, const double **ret);
/* How many values of the first figure that has STEADY_MIN_VALUES or more in that run come before
 * their level (benchmark_run.before_level), and in *ret_n how many it has; negative, and *ret_n is
 * untouched, where there is none. */
int32_t figures_get_before_level(const struct figure_files *files, size_t *ret_n);
/* The figures that the rules find, as they are, for figures_clear() also after an error. */
int figures_read(const struct command *command, struct figure_files *files, struct figures *ret,
	char **ret_why);

#endif
