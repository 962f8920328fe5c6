// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/cpuidle.h"
#include "base/parse.h"

#define CPU_DIR "/sys/devices/system/cpu"

const char *cpuidle_path(
	int cpu, unsigned state, const char *file, char buf[static CPUIDLE_PATH_SIZE])
{
	snprintf(buf, CPUIDLE_PATH_SIZE, CPU_DIR "/cpu%d/cpuidle/state%u/%s", cpu, state, file);
	return buf;
}

int cpuidle_read(int cpu, struct cpuidle *ret)
{
	struct cpuidle cpuidle = { 0 };

	while (cpuidle.n < CPUIDLE_STATES_MAX) {
		struct cpuidle_state *state = &cpuidle.states[cpuidle.n];
		struct cpupower_idle_state read;
		char path[CPUIDLE_PATH_SIZE];
		int r;

		/* libcpupower's count ends in silence at a state that cannot be looked at. */
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpuidle/state%u", cpu, cpuidle.n);
		if (access(path, F_OK) < 0) {
			if (errno != ENOENT)
				return -errno;
			break;
		}
		r = cpupower_read_idle_state(cpu, cpuidle.n, &read);
		/* Errors of reading, not of parsing. */
		if (r < 0 && r != -EINVAL && r != -ERANGE && r != -ENOENT)
			return r;
		cpuidle.unread = cpuidle.unread || r < 0 || read.disabled_unread;
		if (r < 0)
			break;
		memcpy(state->name, read.name, sizeof(state->name));
		state->latency_us = read.latency_us;
		state->disabled = read.disabled;
		/* Only the name of the state tells whether it polls. */
		state->polling =
			strcmp(state->name, "POLL") == 0 || strcmp(state->name, "snooze") == 0;
		cpuidle.n++;
	}
	if (cpuidle.n == 0)
		return cpuidle.unread ? -EBADMSG : -ENOENT;
	*ret = cpuidle;
	return 0;
}

const struct cpuidle_state *cpuidle_find_halt(const struct cpuidle *cpuidle)
{
	for (unsigned i = 0; i < cpuidle->n; i++) {
		if (!cpuidle->states[i].polling)
			return &cpuidle->states[i];
	}
	return NULL;
}

int cpuidle_read_limit(int cpu, int64_t *ret_us)
{
	char path[96], text[FILE_ATTR_SIZE];
	uint64_t limit;
	int r;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/power/pm_qos_resume_latency_us", cpu);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r < 0)
		return r;
	if (strcmp(text, "n/a") == 0) {
		*ret_us = 0;
		return 0;
	}
	r = parse_attr_u64(text, &limit);
	if (r < 0 || limit > INT32_MAX)
		return -EINVAL;
	*ret_us = limit > 0 ? (int64_t)limit : CPUIDLE_NO_LIMIT;
	return 0;
}
