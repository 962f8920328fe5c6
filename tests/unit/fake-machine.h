/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that a test makes up, file by file: in a mount namespace of its own the test sees empty
 * directories and files in place of the kernel's, at the kernel's own paths, and fills them. So
 * the libraries whose paths are compiled in see them too. The roots /sys and /proc stay what they
 * are, since libsensors checks that, and the sanitizers need /proc/self.
 *
 * In main(), before anything else:
 *
 *	if (!fake_machine_enter())
 *		return 0;
 *
 * which reports all tests as skipped where the kernel allows no namespace.
 */
#ifndef QUIESCE_TESTS_FAKE_MACHINE_H
#define QUIESCE_TESTS_FAKE_MACHINE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "look/recording/mounts.h"

/* What is replaced where it exists; those that end in '/' are directories. */
static const char *const fake_machine_places[] = {
	"/sys/bus/",
	"/sys/class/",
	"/sys/devices/",
	"/sys/firmware/",
	"/sys/hypervisor/",
	"/sys/kernel/",
	"/proc/cmdline",
	"/proc/cpuinfo",
	"/proc/interrupts",
	"/proc/loadavg",
	"/proc/softirqs",
	"/proc/stat",
	"/proc/sysinfo",
	"/proc/sys/",
};
#define FAKE_MACHINE_N_PLACES (sizeof(fake_machine_places) / sizeof(fake_machine_places[0]))

/* What holds the replacements: below /sys, where mounts do not show to others, and not replaced. */
#define FAKE_MACHINE_SCRATCH "/sys/fs"

static inline bool fake_machine_mount(void)
{
	if (mount("quiesce-test", FAKE_MACHINE_SCRATCH, "tmpfs", 0, "size=16m") < 0)
		return false;
	for (size_t i = 0; i < FAKE_MACHINE_N_PLACES; i++) {
		const char *place = fake_machine_places[i];
		bool directory = place[strlen(place) - 1] == '/';
		char source[64];

		if (access(place, F_OK) < 0)
			continue;
		snprintf(source, sizeof(source), FAKE_MACHINE_SCRATCH "/%zu", i);
		if (directory ? mkdir(source, 0755) < 0 : mknod(source, S_IFREG | 0644, 0) < 0)
			return false;
		if (mount(source, place, NULL, MS_BIND, NULL) < 0)
			return false;
	}
	return umount2(FAKE_MACHINE_SCRATCH, MNT_DETACH) == 0;
}

static inline bool fake_machine_enter(void)
{
	char *why = NULL;

	/* Where it does not get that far, this says why. */
	if (mounts_unshare(false, &why) < 0) {
		printf("1..0 # SKIP no mount namespace for a made-up machine: %s\n",
			why ? why : strerror(ENOMEM));
		free(why);
		return false;
	}
	if (!fake_machine_mount()) {
		printf("1..0 # SKIP no mounts for a made-up machine: %s\n", strerror(errno));
		return false;
	}
	return true;
}

/* Whether a place is replaced: /sys/hypervisor and /proc/sysinfo are not on every machine. */
static inline bool fake_machine_has(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Writes a file with what directories it needs; false and a message when that fails. */
static inline bool fake_machine_write(const char *path, const char *text)
{
	char directory[PATH_MAX];
	FILE *stream;
	bool done;

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
		if (mkdir(directory, 0755) < 0 && errno != EEXIST)
			perror(directory);
	}
	stream = fopen(path, "we");
	if (!stream) {
		perror(path);
		return false;
	}
	done = fputs(text, stream) >= 0;
	return fclose(stream) == 0 && done;
}

static inline int fake_machine_remove(
	const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	return where->level > 0 ? remove(path) : 0;
}

/* Removes what is in a directory that was replaced; empties a file. */
static inline void fake_machine_clear(const char *place)
{
	if (place[strlen(place) - 1] == '/')
		nftw(place, fake_machine_remove, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	else if (truncate(place, 0) < 0)
		perror(place);
}

static inline int fake_machine_setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < FAKE_MACHINE_N_PLACES; i++)
		if (fake_machine_has(fake_machine_places[i]))
			fake_machine_clear(fake_machine_places[i]);
	return 0;
}

#endif
