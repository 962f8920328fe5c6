/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that cannot fail: without memory the command says so, and ends with EXIT_FAILED. The
 * functions of such a command need not pass on an error that nobody could mend.
 *
 *	char *copy = xptr(strdup(text));
 *	xcheck(cpumask_new(&mask));
 *	r = xcheck(journal_read(tool, &journal, &why));
 *	char *line = xformat("%s: %s", name, copy);
 *
 * This is for commands that look, measure or judge, and for the rooms that only these link
 * (tests/style has the list). Whoever changes a machine has to put it back, and libquiesce belongs
 * to the program of somebody else: there, errors stay errors, as they do in the rooms that all
 * share. So these functions wrap those of other rooms, which return NULL or -ENOMEM.
 *
 * Not for a forked child, whose exit would write its parent's output again, nor for a thread beside
 * main(), which may need what the end of the command takes away.
 */
#ifndef QUIESCE_BASE_XALLOC_H
#define QUIESCE_BASE_XALLOC_H

#include <errno.h>
#include <stddef.h>

#include "base/macro.h"
#include "base/say.h"

/* Ends the command: "isol-check: out of memory". Files that are not whole are gone then. */
void xalloc_fail(void) __attribute__((noreturn, cold));

/* Returns the pointer, which is not NULL. */
#define xptr(pointer)                                 \
	__extension__({                               \
		__typeof__(pointer) got_ = (pointer); \
		if (!got_)                            \
			xalloc_fail();                \
		got_;                                 \
	})

/* Returns what a function has returned, which is not -ENOMEM. */
static inline int xcheck(int r)
{
	if (r == -ENOMEM)
		xalloc_fail();
	return r;
}

/* As asprintf(3). */
char *xformat(const char *format, ...) _printf_(1, 2);
/* As text_refuse() (base/text.h), which stores the reason. */
#define xrefuse(...) xcheck(text_refuse(__VA_ARGS__))
/* As print() and print_report(): 0 or -EIO. */
#define xprint(...) xcheck(print(__VA_ARGS__))
#define xprint_report(...) xcheck(print_report(__VA_ARGS__))

#endif
