/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf events of the calling thread, in user mode, each opened separately. The names are those of
 * the public header; there is no table of CPU models.
 */
#ifndef QUIESCE_LIBRARY_COUNTERS_H
#define QUIESCE_LIBRARY_COUNTERS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "library/private.h"
#include "quiesce/sampler.h"

enum {
	COUNTER_NAME_SIZE = 40,
};

struct counter {
	char name[COUNTER_NAME_SIZE];
	int error; /* 0, or the positive errno because of which it is not counted */
	int fd;
	int shared;
	volatile struct perf_event_mmap_page
		*page; /* for rdpmc; NULL: the counter is read by read(2) */
};

struct counters {
	size_t n;
	struct counter list[QS_MAX_COUNTERS];
};

/* -EINVAL for an invalid name, or more than QS_MAX_COUNTERS. names may be NULL. An event that
 * cannot be counted here is not a failure: its `error` says why. */
int counters_open(const char *const *names, struct counters *ret);
void counters_close(struct counters *counters);

/* Type and config of a name: 0 or -EINVAL. */
int counter_parse(const char *name, uint32_t *ret_type, uint64_t *ret_config);

/* Reads QS_MAX_COUNTERS counts since counters_open(); 0 for events that are not counted. */
void counters_read(const struct counters *counters, uint64_t *ret);
/* Checks which counters the kernel has multiplexed. */
void counters_settle(struct counters *counters);

#endif
