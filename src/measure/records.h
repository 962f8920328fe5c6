/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the records that a perf event writes into its ring: those of a task's life (exec, fork,
 * exit) and of its switches onto a CPU and off it (perf_event_open(2)).
 *
 * When the ring is full, the kernel drops the newest records. It says so by a PERF_RECORD_LOST only
 * when there is room again. So a ring without room for one more record counts as one that has lost
 * records.
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_RECORDS_H
#define QUIESCE_MEASURE_RECORDS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ring without its control page. */
struct records {
	const uint8_t *ring;
	size_t size; /* a power of two */
	uint64_t tail;
	uint64_t head;
	uint32_t n_lost; /* records that are not in the ring */
};

struct record {
	uint32_t type; /* PERF_RECORD_COMM, _FORK, _EXIT or _SWITCH */
	uint16_t misc;
	/* The task that ran when the record was written, and where and when that was. */
	int32_t pid;
	int32_t tid;
	int32_t cpu;
	int64_t time_ns;
	/* The task that was forked or that exits; only in those records. */
	int32_t task_pid;
	int32_t task_tid;
};

/* Sets what all events have in common whose records are read here: a software event that counts
 * nothing and that takes its time stamps from the clock `clockid`. It needs no PMU, and no root
 * privileges up to perf_event_paranoid 2. */
void records_event_attr(int clockid, struct perf_event_attr *ret);
/* The number of bytes to map for an event whose ring has so many pages (a power of two): one more,
 * because the control page comes first. */
size_t records_map_size(size_t pages);
/* The records in such a mapping. */
void records_open(const void *map, size_t pages, struct records *ret);
/* Makes room in such a ring: all records until now are forgotten. */
void records_discard(void *map);
/* The next record of interest. Returns false at the end. A malformed record is an end as well, and
 * is counted as lost. */
bool records_next(struct records *records, struct record *ret);

#endif
