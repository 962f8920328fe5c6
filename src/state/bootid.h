/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_STATE_BOOTID_H
#define QUIESCE_STATE_BOOTID_H

enum {
	BOOTID_SIZE = 64,
};

/* What tells this boot from every other one (random(4)). Never -ENOENT: where /proc has none,
 * -ENODATA. */
int bootid_read(char buf[static BOOTID_SIZE]);

#endif
