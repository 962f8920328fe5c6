/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Swap areas: /proc/swaps (proc(5)), and the memory that is available for their contents. */
#ifndef QUIESCE_BASE_MACHINE_SWAP_H
#define QUIESCE_BASE_MACHINE_SWAP_H

#include <stddef.h>
#include <stdint.h>

struct swap_area {
	char *path; /* ends in " (deleted)" for a deleted file */
	uint64_t size_kib;
	uint64_t used_kib;
	int priority; /* negative: chosen by the kernel */
};

/* Highest priority first: the order in which swapon(8) has to restore them. */
struct swap_areas {
	struct swap_area *items;
	size_t n;
};

/* Returns the errno of reading the file. Lines that cannot be parsed are left out. */
int swap_areas_read(struct swap_areas *ret);
/* From the text of /proc/swaps, which is modified. -ENOMEM. */
int swap_areas_parse(char *text, struct swap_areas *ret);
void swap_areas_clear(struct swap_areas *areas);

/* Sums size and use of all swap areas, in KiB. 1 when there is any area, 0 when there is none; an
 * errno as above, -EBADMSG when the text is not such a table or a line cannot be parsed. */
int swap_read(uint64_t *ret_size, uint64_t *ret_used);

/* MemAvailable: how much memory can be used without swapping. -ENODATA on kernels that do not tell
 * (before 3.14). */
int swap_read_available(uint64_t *ret_kib);
/* The same from the text of /proc/meminfo. */
int swap_parse_available(const char *text, uint64_t *ret_kib);

#endif
