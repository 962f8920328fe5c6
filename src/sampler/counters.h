/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf events of the calling thread, in user mode, each by itself. Names are those of the public
 * header; no table of CPU models.
 */
#ifndef QUIESCE_SAMPLER_COUNTERS_H
#define QUIESCE_SAMPLER_COUNTERS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "quiesce/sampler.h"

enum {
	COUNTER_NAME_SIZE = 40,
};

struct counter {
	char name[COUNTER_NAME_SIZE];
	int error; /* 0, or positive errno: not counted */
	int fd;
	int shared;
	volatile struct perf_event_mmap_page *page; /* NULL where it is read by read(2) */
};

struct counters {
	size_t n;
	struct counter list[QS_MAX_COUNTERS];
};

/* -EINVAL for a name that is none, or more than QS_MAX_COUNTERS. names may be NULL. What cannot be
 * counted here is no failure: its `error` says why. */
int counters_open(const char *const *names, struct counters *ret);
void counters_close(struct counters *counters);

/* Type and config by name: 0 or -EINVAL. */
int counter_parse(const char *name, uint32_t *ret_type, uint64_t *ret_config);

/* The counts since counters_open(), QS_MAX_COUNTERS of them; 0 for what is not counted. */
void counters_read(const struct counters *counters, uint64_t *ret);
/* Looks which of them the kernel had to share. */
void counters_settle(struct counters *counters);

#endif
