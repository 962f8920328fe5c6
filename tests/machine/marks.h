/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program under injection tells the injector (faults.c): system calls that mean nothing to
 * Linux, sched_get_priority_max(2) of policies that there are not.
 */
#ifndef QUIESCE_TESTS_MARKS_H
#define QUIESCE_TESTS_MARKS_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	MARK_BEGIN = 0x71750000, /* from here on system calls are counted: what loads is over */
	MARK_ALLOCATIONS,	 /* at the end; the second argument is how many there were */
	/* A simulated kernel is about to do the call whose number is the second argument: it
	 * counts, and may be refused. None of the calls up to MARK_BACK counts. */
	MARK_KERNEL,
	MARK_PAUSE, /* none of the calls up to MARK_BACK counts */
	MARK_BACK,
};

/* The errno that the injector answers with, 0 for none or where there is no injector. */
static inline int mark(long what, long argument)
{
	return syscall(SYS_sched_get_priority_max, what, argument) < 0 && errno != EINVAL ? errno
											  : 0;
}

#endif
