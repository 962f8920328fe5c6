// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with what check-hardening looks for, and built without: a buffer on the stack, and a
 * call that can be fortified. It is looked at, never run.
 */
#include <stdarg.h>
#include <stdio.h>

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fputs(text, stdout);
}

int main(int argc, char *argv[])
{
	put("%d %s\n", argc, argv[0]);
	return 0;
}
