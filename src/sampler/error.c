// SPDX-License-Identifier: LGPL-2.1-or-later
/* POSIX's strerror_r(), which every C library has; GNU's is another function of that name. */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "quiesce/sampler.h"

/* What a value means here, where that is more than what the C library says of it. */
static const char *own_text(int error)
{
	switch (error) {
	case -EINVAL:
		return "an argument is not one that the function takes";
	case -EOPNOTSUPP:
		return "this CPU cannot be asked for its counter (no RDTSCP)";
	case -EPERM:
		return "this process may not read the CPU's counter (PR_SET_TSC)";
	case -ENOBUFS:
		return "there was no room for all samples";
	case -ENODATA:
		return "no sample was taken";
	case -ENXIO:
		return "there is no other CPU to do that on";
	case -EIO:
		return "the CPU's counter stands still";
	default:
		return NULL;
	}
}

const char *qs_error_text(int error, char *buffer, size_t size)
{
	const char *text = own_text(error);
	int saved = errno;

	if (text)
		snprintf(buffer, size, "%s", text);
	else if (strerror_r(-error, buffer, size) != 0)
		snprintf(buffer, size, "error %d", -error);
	errno = saved;
	return buffer;
}
