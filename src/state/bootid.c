// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>

#include "basic/file.h"
#include "state/bootid.h"

int bootid_read(char buf[static BOOTID_SIZE])
{
	int r;

	r = file_read_attr(AT_FDCWD, "/proc/sys/kernel/random/boot_id", buf, BOOTID_SIZE);
	if (r == -ENOENT)
		return -ENODATA;
	return r < 0 ? r : 0;
}
