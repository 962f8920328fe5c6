/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resources that are released at the end of their scope.
 *
 *	_cleanup_free_ char *path = NULL;
 *	_cleanup_close_ int fd = -EBADF;
 *
 * For a type of your own, DEFINE_CLEANUP(cpumask, cpumask_free) beside the declaration makes
 * _cleanup_(cpumask) usable on `struct cpumask *`. TAKE_PTR and TAKE_FD pass ownership on.
 */
#ifndef QUIESCE_BASE_CLEANUP_H
#define QUIESCE_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

/* Keeps errno: a cleanup must not change what the function reports. */
static inline void cleanup_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void cleanup_fclose(FILE **stream)
{
	if (*stream)
		fclose(*stream);
}

#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_close)))
#define _cleanup_closedir_ __attribute__((cleanup(cleanup_closedir)))
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclose)))

/* free_function takes `struct name *` and accepts NULL. */
#define DEFINE_CLEANUP(name, free_function)                \
	static inline void cleanup_##name(struct name **p) \
	{                                                  \
		free_function(*p);                         \
	}                                                  \
	struct name
#define _cleanup_(name) __attribute__((cleanup(cleanup_##name)))

#define TAKE_PTR(ptr)                           \
	__extension__({                         \
		__typeof__(ptr) taken_ = (ptr); \
		(ptr) = NULL;                   \
		taken_;                         \
	})

#define TAKE_FD(fd)                \
	__extension__({            \
		int taken_ = (fd); \
		(fd) = -EBADF;     \
		taken_;            \
	})

#endif
