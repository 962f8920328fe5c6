/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks read of the machine: each thing once, when the first check asks for it.
 *
 * What cannot be read is NULL or empty, which is normal. Only want of memory is a failure, and
 * sticks (host_has_failed()), so that a check need not look for it.
 */
#ifndef QUIESCE_ISOL_CHECK_HOST_H
#define QUIESCE_ISOL_CHECK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "basic/macro.h"
#include "machine/bootline.h"
#include "machine/cpumask.h"
#include "machine/isolation.h"
#include "machine/topology.h"

struct host;

/* What host_new() needs to know. */
struct host_options {
	const char *cpus; /* of -c; NULL: the default */
	int64_t watch_ns; /* how long it is watched for what happens a second; 0: not at all */
	/* The files are those of another machine (--sysroot): processes, sockets and /run are still
	 * this one's, and must not be taken for it. */
	bool recorded;
	bool verbose;
};

/*
 * Says what is wrong: -EINVAL for a list that is none, or names a CPU that there is not; another
 * negative errno where it could not look. The first of the two readings for what happens a second
 * is taken here.
 */
int host_new(const struct host_options *options, struct host **ret);
void host_free(struct host *host);

DEFINE_CLEANUP(host, host_free);

/* What was asked for. */
const struct host_options *host_options(const struct host *host);
bool host_has_failed(const struct host *host);
/* As if memory had been short: for what a check cannot allocate. */
void host_fail(struct host *host);

/* The CPUs that are to be quiet, never empty; as a list; and where that comes from: "as asked". */
const struct cpumask *host_cpus(const struct host *host);
const char *host_cpus_text(const struct host *host);
const char *host_cpus_reason(const struct host *host);

const struct topology *host_topology(const struct host *host);
/* NULL only where memory is short. */
const struct isolation *host_isolation(struct host *host);
const struct bootline *host_bootline(struct host *host);

/* One attribute into buf of FILE_ATTR_SIZE; its length, or a negative errno. */
int host_read(const char *path, char *buf);
int host_readf(char *buf, const char *format, ...) _printf_(2, 3);

#endif
