// SPDX-License-Identifier: GPL-2.0-or-later
/* plot, when bench-report is built without cairo. */
#include "base/macro.h"
#include "judge/bench-report/bench-report.h"

enum exit_status verb_plot(const struct request *request _unused_)
{
	say("plot: this bench-report was built without cairo, which draws the pictures");
	return EXIT_FAILED;
}
