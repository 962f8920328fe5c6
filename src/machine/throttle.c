// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "basic/file.h"
#include "basic/macro.h"
#include "basic/parse.h"
#include "machine/throttle.h"

enum {
	/* Descriptors that are kept; beyond that, files are opened at each reading. Otherwise a set
	 * of 512 CPUs would use up the usual limit of 1024. */
	KEPT_MAX = 64,
};

struct counter {
	int cpu;
	bool package;
	int fd; /* negative when it is not kept */
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
			counter.fd = open(path, O_RDONLY | O_CLOEXEC);
			if (counter.fd < 0 && errno == ENOENT)
				continue;
			if (counter.fd < 0)
				return -errno;
			if (throttle->n_counters >= KEPT_MAX) {
				close(counter.fd);
				counter.fd = -EBADF;
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
	for (size_t i = 0; i < throttle->n_counters; i++)
		if (throttle->counters[i].fd >= 0)
			close(throttle->counters[i].fd);
	free(throttle->counters);
	free(throttle);
}

static int read_counter(const struct counter *counter, uint64_t *ret)
{
	char path[128], text[32];
	int r;

	if (counter->fd >= 0) {
		r = file_reread_attr(counter->fd, text, sizeof(text));
	} else {
		counter_path(counter, path, sizeof(path));
		r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	}
	/* An offline CPU's file is empty at first, then gone. */
	if (r == 0 || r == -ENOENT || r == -ENODEV)
		return -ENODATA;
	if (r < 0)
		return r;
	return parse_attr_u64(text, ret);
}

int throttle_read(struct throttle *throttle, struct throttle_counts *ret)
{
	struct throttle_counts counts = { 0 };

	for (size_t i = 0; i < throttle->n_counters; i++) {
		const struct counter *counter = &throttle->counters[i];
		uint64_t value;
		int r;

		r = read_counter(counter, &value);
		if (r < 0)
			return r;
		if (counter->package)
			counts.package += value;
		else
			counts.core += value;
	}
	*ret = counts;
	return 0;
}
