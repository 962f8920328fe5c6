// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/benchmark-join/limits.h"

#define USEC_PER_SEC UINT64_C(1000000)

const struct limits limits_none = { { LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE,
	LIMIT_NONE } };

static const struct {
	const char *property, *file;
	uint64_t minimum; /* of systemd (src/core/dbus-cgroup.c) */
} table[LIMIT_COUNT] = {
	[LIMIT_TASKS] = { "TasksMax", "pids.max", 1 },
	[LIMIT_MEMORY] = { "MemoryMax", "memory.max", 1 },
	[LIMIT_MEMORY_HIGH] = { "MemoryHigh", "memory.high", 1 },
	[LIMIT_SWAP] = { "MemorySwapMax", "memory.swap.max", 0 },
	[LIMIT_CPU] = { "CPUQuotaPerSecUSec", "cpu.max", 1 },
};

const char *limits_property(enum limit limit)
{
	return table[limit].property;
}

void limits_narrow(struct limits *limits, enum limit limit, uint64_t value)
{
	value = MAX(value, table[limit].minimum);
	limits->values[limit] = MIN(limits->values[limit], value);
}

/* "max", or a number. cpu.max has the quota and the period, both in microseconds: "50000 100000".
 */
static int parse(enum limit limit, const char *text, uint64_t *ret)
{
	uint64_t value, period;
	int r;

	if (strcmp(text, "max") == 0 || text_starts_with(text, "max ")) {
		*ret = LIMIT_NONE;
		return 0;
	}
	r = parse_next_u64(&text, &value);
	if (r == 0 && limit == LIMIT_CPU) {
		r = parse_next_u64(&text, &period);
		/* The kernel accepts only periods up to a second, and quotas far below this limit.
		 */
		if (r == 0 && (period == 0 || value > UINT64_MAX / USEC_PER_SEC))
			r = -EINVAL;
		if (r == 0)
			value = value * USEC_PER_SEC / period;
	}
	if (r < 0 || *text)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int narrow_by_cgroup(const char *directory, struct limits *limits)
{
	char path[PATH_MAX], text[FILE_ATTR_SIZE];
	uint64_t value;
	int r;

	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		if (snprintf(path, sizeof(path), "%s/%s", directory, table[limit].file) >=
			(int)sizeof(path))
			return -ENAMETOOLONG;
		r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
		if (r == -ENOENT)
			continue;
		if (r >= 0)
			r = parse(limit, text, &value);
		if (r < 0)
			return r;
		limits_narrow(limits, limit, value);
	}
	return 0;
}

int limits_read(const char *root, const char *path, struct limits *ret)
{
	struct limits limits = limits_none;
	char directory[PATH_MAX];
	size_t top = strlen(root);
	int r;

	if (snprintf(directory, sizeof(directory), "%s%s", root, path) >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	do {
		r = narrow_by_cgroup(directory, &limits);
		if (r < 0)
			return r;
		*strrchr(directory, '/') = '\0';
	} while (strlen(directory) > top);
	/* A cgroup that was removed has no files, and so no limits: check last that it exists. */
	if (snprintf(directory, sizeof(directory), "%s%s", root, path) >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	if (access(directory, F_OK) < 0)
		return -errno;
	*ret = limits;
	return 0;
}
