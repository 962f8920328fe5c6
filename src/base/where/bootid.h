/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASE_WHERE_BOOTID_H
#define QUIESCE_BASE_WHERE_BOOTID_H

enum {
	BOOTID_SIZE = 64,
};

#define BOOTID_FILE "/proc/sys/kernel/random/boot_id"

/* The id of this boot, which no other boot has (random(4)). Never -ENOENT: -ENODATA where /proc has
 * no such file, or nothing is in it. */
int bootid_read(char buf[static BOOTID_SIZE]);

#endif
