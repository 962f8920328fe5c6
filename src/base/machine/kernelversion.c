// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>

#include "base/file.h"
#include "base/machine/kernelversion.h"
#include "base/parse.h"

int kernelversion_is_before(uint64_t major, uint64_t minor)
{
	char text[FILE_ATTR_SIZE];
	uint64_t own_major, own_minor;

	if (file_read_attr(AT_FDCWD, "/proc/sys/kernel/osrelease", text, sizeof(text)) <= 0 ||
		parse_version(text, &own_major, &own_minor) < 0)
		return -ENODATA;
	return own_major < major || (own_major == major && own_minor < minor);
}
