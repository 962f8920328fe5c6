// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/throttle.h"
#include "base/macro.h"
#include "base/parse.h"

struct counter {
	int cpu;
	bool package;
};

struct throttle {
	struct counter *counters;
	size_t n_counters;
};

static void counter_path(const struct counter *counter, char *buf, size_t size)
{
	snprintf(buf, size, "/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count",
		counter->cpu, counter->package ? "package" : "core");
}

int throttle_open(const struct cpumask *mask, struct throttle **ret)
{
	_cleanup_(throttle) struct throttle *throttle = NULL;

	throttle = calloc(1, sizeof(*throttle));
	if (!throttle)
		return -ENOMEM;
	throttle->counters = calloc(2 * (size_t)cpumask_weight(mask) + 1, sizeof(struct counter));
	if (!throttle->counters)
		return -ENOMEM;
	cpumask_for_each (cpu, mask) {
		for (int package = 0; package < 2; package++) {
			struct counter counter = { .cpu = cpu, .package = package };
			char path[128];

			counter_path(&counter, path, sizeof(path));
			if (access(path, R_OK) < 0) {
				if (errno == ENOENT)
					continue;
				return -errno;
			}
			throttle->counters[throttle->n_counters++] = counter;
		}
	}
	if (throttle->n_counters == 0)
		return -ENOENT;
	*ret = TAKE_PTR(throttle);
	return 0;
}

void throttle_free(struct throttle *throttle)
{
	if (!throttle)
		return;
	free(throttle->counters);
	free(throttle);
}

size_t throttle_count(const struct throttle *throttle)
{
	return throttle->n_counters;
}

void throttle_path(const struct throttle *throttle, size_t index, char *buf, size_t size)
{
	counter_path(&throttle->counters[index], buf, size);
}

int throttle_add(const struct throttle *throttle, size_t index, const char *text,
	struct throttle_counts *counts)
{
	uint64_t value;
	int r;

	/* An offline CPU's file is first empty, then removed. */
	if (!*text)
		return -ENODATA;
	r = parse_attr_u64(text, &value);
	if (r < 0)
		return r;
	if (throttle->counters[index].package)
		counts->package += value;
	else
		counts->core += value;
	return 0;
}

int throttle_read_largest(const struct throttle *throttle, struct throttle_counts *ret)
{
	struct throttle_counts largest = { 0 };

	for (size_t i = 0; i < throttle->n_counters; i++) {
		struct throttle_counts counts = { 0 };
		char path[128], text[32];
		int r;

		throttle_path(throttle, i, path, sizeof(path));
		r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
		if (r == -ENOENT || r == -ENODEV)
			return -ENODATA;
		if (r >= 0)
			r = throttle_add(throttle, i, text, &counts);
		if (r < 0)
			return r;
		largest.core = MAX(largest.core, counts.core);
		largest.package = MAX(largest.package, counts.package);
	}
	*ret = largest;
	return 0;
}
