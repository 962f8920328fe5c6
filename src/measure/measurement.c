// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "measure/measurement.h"

void measurement_free(struct measurement *measurement)
{
	if (!measurement)
		return;
	series_free(measurement->series);
	progvalues_free(measurement->progvalues);
	hosted_free(measurement->hosted);
	inspections_clear(&measurement->inspections);
	free(measurement->incomplete);
	free(measurement->decision_doubt);
	free(measurement);
}
