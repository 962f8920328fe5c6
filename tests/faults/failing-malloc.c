// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded: an allocation that fails.
 *
 *	FAIL_ALLOC_AT=N		the process's allocation number N fails, counted from 1
 *	FAIL_ALLOC_FOREVER=1	and all that follow it
 *	FAIL_ALLOC_OF=NAME	only in processes of the program of that name, and only they count
 *	FAIL_ALLOC_COUNT=FILE	how many were asked for, written to the file when the process ends
 *				by exit(3); of several processes the last one's count stands
 *
 * An injector of system calls (faults.c) is told when main() is about to begin, and the count.
 *
 * A forked child goes on with its parent's count, a program that is executed begins anew. Reserved
 * memory that is given back is no allocation, nor is what the dynamic loader takes before main().
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../machine/marks.h"
#include "base/parse.h"

/* Of the C library, which has them for those who stand before it. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

#define EXPORT __attribute__((visibility("default")))

static bool begun;
static bool forever;
static unsigned fail_at; /* 0: never */
static unsigned n_asked;

static bool fails(void)
{
	unsigned number;

	if (!begun)
		return false;
	number = __atomic_add_fetch(&n_asked, 1, __ATOMIC_RELAXED);
	if (fail_at == 0 || (forever ? number < fail_at : number != fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

EXPORT void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	int saved = errno;
	void *p = memalign(alignment, size);

	errno = saved;
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_ALLOC_AT"), *all = getenv("FAIL_ALLOC_FOREVER");
	const char *of = getenv("FAIL_ALLOC_OF");

	if (of && strcmp(of, program_invocation_short_name) != 0)
		return;
	if (at && parse_uint(at, 1, UINT_MAX, &fail_at) < 0)
		abort();
	forever = all && strcmp(all, "1") == 0;
	(void)mark(MARK_BEGIN, 0);
	begun = true;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_ALLOC_COUNT");
	char text[32];
	int fd;

	if (!begun)
		return;
	begun = false;
	(void)mark(MARK_ALLOCATIONS, n_asked);
	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%u\n", n_asked);
	if (write(fd, text, strlen(text)) < 0)
		unlink(path);
	close(fd);
}
