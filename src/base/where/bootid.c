// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>

#include "base/file.h"
#include "base/where/bootid.h"

int bootid_read(char buf[static BOOTID_SIZE])
{
	int r;

	r = file_read_attr(AT_FDCWD, BOOTID_FILE, buf, BOOTID_SIZE);
	if (r == -ENOENT)
		return -ENODATA;
	if (r < 0)
		return r;
	return buf[0] ? 0 : -ENODATA;
}
