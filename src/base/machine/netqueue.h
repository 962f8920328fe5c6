/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queues of network cards, of this network namespace: /sys/class/net/CARD/queues
 * (Documentation/ABI/testing/sysfs-class-net-queues). Each has a mask of CPUs: rx-N/rps_cpus, which
 * the packets of a queue for receiving are handed to (Documentation/networking/scaling.rst, "RPS"),
 * and tx-N/xps_cpus, which send by a queue.
 */
#ifndef QUIESCE_BASE_MACHINE_NETQUEUE_H
#define QUIESCE_BASE_MACHINE_NETQUEUE_H

#include <stddef.h>

struct netqueues {
	struct netqueue {
		char *path; /* of the file */
		char *name; /* "rx-0 of eth0" */
	} * items;
	size_t n;
};

/* The queues that have such a file: "rx-*" and "rps_cpus". The error of a folder that cannot be
 * read, so that there may be more. */
int netqueues_read(const char *queues, const char *file, struct netqueues *ret);
void netqueues_clear(struct netqueues *queues);

#endif
