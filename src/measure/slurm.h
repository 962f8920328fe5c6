/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Slurm job that runpinned runs in, by the variables that slurmd sets for each task (srun(1),
 * OUTPUT ENVIRONMENT VARIABLES; sbatch(1), the same). Anybody can set such variables, so what they
 * hold is checked before it is used, and a value that cannot be Slurm's counts for none.
 */
#ifndef QUIESCE_MEASURE_SLURM_H
#define QUIESCE_MEASURE_SLURM_H

#include <stdbool.h>

#include "base/facts.h"

/* The number of the job, as Slurm wrote it; NULL outside of a job. */
const char *slurm_get_job(void);

/* Adds which job, task of an array, step, partition, node and cluster this is. Adds nothing outside
 * of a job. */
void slurm_describe(struct facts *facts);

#endif
