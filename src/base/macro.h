/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASE_MACRO_H
#define QUIESCE_BASE_MACRO_H

#include <errno.h>
#include <stdbool.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(value, low, high) MAX(MIN(value, high), low)

#define NSEC_PER_SEC 1000000000LL
#define NSEC_PER_MSEC 1000000LL
#define NSEC_PER_USEC 1000LL

#define _printf_(string, first) __attribute__((format(printf, string, first)))
#define _unused_ __attribute__((unused))

/* Repeats a call as long as a signal interrupts it. GNU's C library calls this TEMP_FAILURE_RETRY;
 * not every C library has it. */
#define RETRY_INTERRUPTED(call)                        \
	__extension__({                                \
		__typeof__(call) result_;              \
		do                                     \
			result_ = (call);              \
		while (result_ < 0 && errno == EINTR); \
		result_;                               \
	})

/* Whether a positive errno means that the process at the end of a socket is gone, or is not there
 * yet. */
static inline bool errno_is_disconnect(int error)
{
	return error == ECONNREFUSED || error == ECONNRESET || error == ENOTCONN ||
		error == EPIPE || error == ESHUTDOWN;
}

/* Whether a positive errno is about this process and says nothing about what was asked for: no
 * memory, no free descriptor, a signal. */
static inline bool errno_is_ours(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE || error == EINTR;
}

#endif
