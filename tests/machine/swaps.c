// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload: swapon(2) and swapoff(2) on the /proc/swaps of a described machine, instead
 * of on the machine that the test runs on. Priorities are as in mm/swapfile.c of 6.12: those of the
 * kernel's own choice fall from -2 on, and rise when one above them goes. TEST_SWAP_STUCK is a path
 * that there is not enough memory for. What swapon() was told is noted in /run/swapon. TEST_FSTAB
 * is read instead of /etc/fstab.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>

#include "base/parse.h"

#define PUBLIC __attribute__((visibility("default")))
#define SWAPS "/proc/swaps"

enum {
	N_AREAS = 16,
	PATH_SIZE = 256,
};

struct area {
	char path[PATH_SIZE]; /* as /proc/swaps has it */
	char type[16];
	uint64_t size, used;
	int priority;
};

static size_t load(struct area *areas)
{
	FILE *stream = fopen(SWAPS, "re");
	size_t n = 0;
	char line[512];

	while (stream && n < N_AREAS && fgets(line, sizeof(line), stream)) {
		char *save = NULL, *path = strtok_r(line, " \t\n", &save);
		const char *type = strtok_r(NULL, " \t\n", &save);
		const char *size = strtok_r(NULL, " \t\n", &save);
		const char *used = strtok_r(NULL, " \t\n", &save);
		const char *priority = strtok_r(NULL, " \t\n", &save);
		struct area *a = &areas[n];

		if (!priority || parse_u64(size, 0, UINT64_MAX, &a->size) < 0 ||
			parse_u64(used, 0, UINT64_MAX, &a->used) < 0 ||
			parse_int(priority, INT_MIN, INT_MAX, &a->priority) < 0)
			continue;
		snprintf(a->path, sizeof(a->path), "%s", path);
		snprintf(a->type, sizeof(a->type), "%s", type);
		n++;
	}
	if (stream)
		fclose(stream);
	return n;
}

static void store(const struct area *areas, size_t n)
{
	FILE *stream = fopen(SWAPS, "we");

	if (!stream)
		abort();
	fputs("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n", stream);
	for (size_t i = 0; i < n; i++)
		fprintf(stream, "%-40s%s\t%" PRIu64 "\t\t%" PRIu64 "\t\t%d\n", areas[i].path,
			areas[i].type, areas[i].size, areas[i].used, areas[i].priority);
	fclose(stream);
}

/* As seq_file_path() has it. */
static void escape(const char *path, char *ret, size_t size)
{
	size_t n = 0;

	for (; *path && n + 5 < size; path++)
		n += (size_t)snprintf(
			ret + n, size - n, *path == ' ' ? "\\%03o" : "%c", (unsigned char)*path);
	ret[n] = '\0';
}

PUBLIC FILE *setmntent(const char *path, const char *mode)
{
	const char *fstab = getenv("TEST_FSTAB");

	return fopen(fstab ? fstab : path, mode);
}

PUBLIC int swapoff(const char *path)
{
	const char *stuck = getenv("TEST_SWAP_STUCK");
	char escaped[PATH_SIZE];
	struct area areas[N_AREAS];
	size_t n = load(areas);

	escape(path, escaped, sizeof(escaped));
	for (size_t i = 0; i < n; i++) {
		int priority = areas[i].priority;

		if (strcmp(areas[i].path, escaped) != 0)
			continue;
		if (stuck && strcmp(stuck, path) == 0) {
			errno = ENOMEM;
			return -1;
		}
		memmove(&areas[i], &areas[i + 1], (n - i - 1) * sizeof(*areas));
		n--;
		for (size_t j = 0; j < n; j++)
			areas[j].priority += priority < 0 && areas[j].priority < priority;
		store(areas, n);
		return 0;
	}
	errno = EINVAL;
	return -1;
}

PUBLIC int swapon(const char *path, int flags)
{
	struct area areas[N_AREAS];
	size_t n = load(areas);
	FILE *log = fopen("/run/swapon", "ae");
	int least = -1;

	if (log) {
		fprintf(log, "%s %#x\n", path, (unsigned)flags);
		fclose(log);
	}
	if (n == N_AREAS) {
		errno = ENOSPC;
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (areas[i].priority < least)
			least = areas[i].priority;
	}
	areas[n] = (struct area){ .type = "partition", .size = 1048572, .priority = least - 1 };
	escape(path, areas[n].path, sizeof(areas[n].path));
	if (flags & SWAP_FLAG_PREFER)
		areas[n].priority = flags & SWAP_FLAG_PRIO_MASK;
	store(areas, n + 1);
	return 0;
}
