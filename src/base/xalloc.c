// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"

void xalloc_fail(void)
{
	say("out of memory");
	file_replace_drop_all();
	exit(EXIT_FAILED);
}

char *xformat(const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		xalloc_fail();
	va_end(ap);
	return text;
}
