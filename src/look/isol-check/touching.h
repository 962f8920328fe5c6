/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of interrupts that go to some CPUs, and which of them can be moved
 * (base/machine/irqline.h).
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_TOUCHING_H
#define QUIESCE_LOOK_ISOL_CHECK_TOUCHING_H

#include <stddef.h>

#include "base/machine/cpumask.h"
#include "base/text.h"

enum {
	TOUCHING_NAMES_MAX = 4,
};

/* Some of the lines. */
struct touching_lines {
	size_t n;
	unsigned first;
	struct text names; /* "27 (nvme0q3), 31", of the first TOUCHING_NAMES_MAX */
};

struct touching {
	struct touching_lines movable;
	struct touching_lines managed; /* cannot be moved: queues that the kernel manages */
	struct touching_lines fixed;   /* cannot be moved, and may be managed or not */
	size_t n_elsewhere; /* lines whose affinity allows one of the CPUs, but that use others */
	size_t n_unread;    /* lines whose CPUs cannot be read */
	size_t n_untold;    /* lines of which it is not known whether they can be moved */
	unsigned first_unread;
	size_t n_lines;
	int error; /* of reading the lines */
};

struct touching *touching_read(const struct cpumask *cpus);
void touching_free(struct touching *touching);

#endif
