/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of the running kernel, for what no file tells. */
#ifndef QUIESCE_BASE_MACHINE_KERNELVERSION_H
#define QUIESCE_BASE_MACHINE_KERNELVERSION_H

#include <stdint.h>

/* Whether the kernel is older than this version, by /proc/sys/kernel/osrelease: 1, 0, or -ENODATA
 * where that file does not tell. A distribution may have changed any kernel in either direction. */
int kernelversion_is_before(uint64_t major, uint64_t minor);

#endif
