// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/text.h"

static void say_line(const char *text, const char *reason)
{
	_cleanup_free_ char *clean = text_escape_control(text);

	/* One call, so that lines of several processes do not mix. */
	fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, clean ? clean : text,
		reason ? ": " : "", reason ? reason : "");
}

void say(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	say_line(text ? text : "out of memory", NULL);
}

void say_errno(int error, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	say_line(text ? text : "out of memory", strerror(abs(error)));
}
