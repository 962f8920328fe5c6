// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "runpinned/measurement.h"

void measurement_free(struct measurement *measurement)
{
	if (!measurement)
		return;
	series_free(measurement->series);
	inside_free(measurement->inside);
	free(measurement->incomplete);
	free(measurement);
}
