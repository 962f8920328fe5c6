/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Swap areas: /proc/swaps (proc(5)), and the memory that there is to take them back. */
#ifndef QUIESCE_MACHINE_SWAP_H
#define QUIESCE_MACHINE_SWAP_H

#include <stddef.h>
#include <stdint.h>

struct swap_area {
	char *path; /* of a file that was deleted it ends in " (deleted)" */
	uint64_t size_kib;
	uint64_t used_kib;
	int priority; /* negative: the kernel's own choice */
};

/* Highest priority first: in the order in which they would have to be put on again. */
struct swap_areas {
	struct swap_area *items;
	size_t n;
};

/* An errno of reading the file. Lines that cannot be understood are left out. */
int swap_areas_read(struct swap_areas *ret);
/* From the text of /proc/swaps, which is cut up. -ENOMEM. */
int swap_areas_parse(char *text, struct swap_areas *ret);
void swap_areas_clear(struct swap_areas *areas);

/* KiB of all swap together. 1 when there is any, 0 when there is none; an errno as above, -EBADMSG
 * where it is no such table, or a line of it cannot be understood. */
int swap_read(uint64_t *ret_size, uint64_t *ret_used);

/* What could be taken into memory without pushing anything else out: MemAvailable. -ENODATA on
 * kernels that do not tell (before 3.14). */
int swap_read_available(uint64_t *ret_kib);
/* The same of the text of /proc/meminfo. */
int swap_parse_available(const char *text, uint64_t *ret_kib);

#endif
