/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory was swapped out: /proc/swaps (proc(5)). */
#ifndef QUIESCE_MACHINE_SWAP_H
#define QUIESCE_MACHINE_SWAP_H

#include <stdint.h>

/* KiB of all swap together. 1 when there is any, 0 when there is none; an errno of reading the
 * file. Lines that cannot be understood are left out. */
int swap_read(uint64_t *ret_size, uint64_t *ret_used);

#endif
