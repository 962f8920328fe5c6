// SPDX-License-Identifier: LGPL-2.1-or-later
/* Selects POSIX's strerror_r(), which every C library has; GNU's function of the same name
 * differs. */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "quiesce/sampler.h"

/* The meaning of a value in this library, where it is more specific than the C library's text. */
static const char *library_text(int error)
{
	switch (error) {
	case -EINVAL:
		return "invalid argument";
	case -EOPNOTSUPP:
		return "this CPU has no RDTSCP, which reads its counter";
	case -EPERM:
		return "this process may not read the CPU's counter (PR_SET_TSC)";
	case -ERANGE:
		return "more loops take no more time: run() ignores `loops`, or the compiler has left out "
		       "the work (qs_keep)";
	case -ENODATA:
		return "no sample was taken";
	case -ENOENT:
		return "nobody asks for values: the program is not run by runpinned";
	case -E2BIG:
		return "the benchmark has more than 8 figures (QS_MAX_FIGURES)";
	case -EDEADLK:
		return "run() returned in one thread while others waited for it in qs_start_together()";
	case -ENXIO:
		return "this process has no other CPU";
	case -EIO:
		return "the CPU's counter stands still";
	default:
		return NULL;
	}
}

const char *qs_error_text(int error, char *buffer, size_t size)
{
	const char *text = library_text(error);
	int saved = errno;

	if (text)
		snprintf(buffer, size, "%s", text);
	else if (strerror_r(-error, buffer, size) != 0)
		snprintf(buffer, size, "error %d", -error);
	errno = saved;
	return buffer;
}
