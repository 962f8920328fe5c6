// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "measure/slurm.h"

enum {
	/* Names of nodes, partitions and clusters; a node's name is at most that of a host. */
	NAME_MAX_LENGTH = 255,
};

static bool is_number(const char *text)
{
	uint64_t number;

	return parse_u64(text, 0, UINT32_MAX, &number) == 0;
}

static bool is_name(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t length = strnlen(text, NAME_MAX_LENGTH + 1);

	return length > 0 && length <= NAME_MAX_LENGTH && strspn(text, letters) == length;
}

static const char *read_variable(const char *name, bool (*is_valid)(const char *))
{
	const char *text = getenv(name);

	return text && is_valid(text) ? text : NULL;
}

const char *slurm_get_job(void)
{
	return read_variable("SLURM_JOB_ID", is_number);
}

void slurm_describe(struct facts *facts)
{
	static const struct {
		const char *fact, *variable;
		bool (*is_valid)(const char *);
	} table[] = {
		{ "quiesce_slurm_job", "SLURM_JOB_ID", is_number },
		{ "quiesce_slurm_array_job", "SLURM_ARRAY_JOB_ID", is_number },
		{ "quiesce_slurm_array_task", "SLURM_ARRAY_TASK_ID", is_number },
		{ "quiesce_slurm_step", "SLURM_STEP_ID", is_number },
		{ "quiesce_slurm_partition", "SLURM_JOB_PARTITION", is_name },
		{ "quiesce_slurm_cluster", "SLURM_CLUSTER_NAME", is_name },
		{ "quiesce_node", "SLURMD_NODENAME", is_name },
	};

	if (!slurm_get_job())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		facts_set_string(
			facts, table[i].fact, read_variable(table[i].variable, table[i].is_valid));
}
