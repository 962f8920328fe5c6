/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring of a perf event as the kernel fills it: records wrap at its end. */
#ifndef QUIESCE_TESTS_FAKE_RING_H
#define QUIESCE_TESTS_FAKE_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/records.h"

enum {
	RING = 4096,
	CHILD = 100,
};

struct ring {
	uint8_t data[RING];
	uint64_t head;
	uint64_t tail;
};

static inline struct records ring_records(const struct ring *ring)
{
	return (struct records){
		.ring = ring->data,
		.size = RING,
		.tail = ring->tail,
		.head = ring->head,
	};
}

static inline void ring_put(struct ring *ring, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ring->data[(ring->head + i) % RING] = ((const uint8_t *)bytes)[i];
	ring->head += n;
}

/* `tid` is the task that runs while the record is written. */
static inline void put_record(struct ring *ring, uint32_t type, uint16_t misc, const void *body,
	size_t n, uint32_t tid, uint64_t time, uint32_t cpu)
{
	struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} id = { .pid = CHILD, .tid = tid, .time = time, .cpu = cpu };
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + n + sizeof(id)),
	};

	ring_put(ring, &header, sizeof(header));
	ring_put(ring, body, n);
	ring_put(ring, &id, sizeof(id));
}

static inline void put_comm(struct ring *ring, bool exec, uint64_t time, uint32_t cpu)
{
	struct {
		uint32_t pid, tid;
		char comm[16];
	} body = { .pid = CHILD, .tid = CHILD, .comm = "prog" };

	put_record(ring, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, &body,
		sizeof(body), CHILD, time, cpu);
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT. */
static inline void put_task(
	struct ring *ring, uint32_t type, uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu)
{
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} body = { .pid = pid, .ppid = CHILD, .tid = tid, .ptid = CHILD, .time = time };

	put_record(ring, type, 0, &body, sizeof(body), CHILD, time, cpu);
}

#endif
