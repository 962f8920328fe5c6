/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A /run of the test's own, empty and in memory: what a setter keeps is at a literal path there.
 *
 * In main(), before anything else:
 *
 *	if (!fake_run_enter())
 *		return 0;
 *
 * which reports all tests as skipped where the kernel allows no namespace.
 */
#ifndef QUIESCE_TESTS_FAKE_RUN_H
#define QUIESCE_TESTS_FAKE_RUN_H

#include "fake-machine.h"

/* A new one over the last. options as for tmpfs(5): "size=64k,nr_inodes=32". */
static inline bool fake_run_mount(const char *options)
{
	return mount("quiesce-test", "/run", "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

static inline bool fake_run_unmount(void)
{
	return umount2("/run", MNT_DETACH) == 0;
}

static inline bool fake_run_read_only(bool yes)
{
	return mount(NULL, "/run", NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV | (yes ? MS_RDONLY : 0),
		       NULL) == 0;
}

/* Takes all the room that is left. */
static inline bool fake_run_fill(void)
{
	static const char page[4096];
	int fd = open("/run/ballast", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	bool full;

	if (fd < 0)
		return false;
	while (write(fd, page, sizeof(page)) > 0)
		;
	full = errno == ENOSPC;
	close(fd);
	return full;
}

static inline bool fake_run_drain(void)
{
	return unlink("/run/ballast") == 0;
}

/* What is mounted over /run must not show to others: the mount that it is put on is /run itself, or
 * the root, or in a chroot on a mere directory one that is not seen from here. */
static inline bool fake_run_own(void)
{
	if (mount(NULL, "/run", NULL, MS_PRIVATE, NULL) == 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return true;
	return mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("/", "/sys", NULL, MS_BIND | MS_REC, NULL) == 0 &&
		mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && chroot("/sys") == 0 &&
		chdir("/") == 0;
}

static inline bool fake_run_enter(void)
{
	char *why = NULL;
	bool entered = mounts_unshare(false, &why) == 0;

	if (!entered)
		printf("1..0 # SKIP no mount namespace for a /run of our own: %s\n",
			why ? why : strerror(ENOMEM));
	free(why);
	if (!entered)
		return false;
	entered = fake_run_own() && fake_run_mount("size=1m");
	if (!entered)
		printf("1..0 # SKIP no /run of our own: %s\n", strerror(errno));
	return entered;
}

#endif
