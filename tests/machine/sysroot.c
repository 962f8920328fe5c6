// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command on a machine that is described by files:
 *
 *	sysroot [--root] DIRECTORY -- COMMAND [ARGUMENT...]
 *
 * as src/recording/sysroot.h says of sysroot_bind(): DIRECTORY/sys, DIRECTORY/proc and
 * DIRECTORY/run in the place of this machine's, name by name. An ordinary user stays himself, or
 * is root over his own files with --root.
 *
 * Exit status: that of the command; 77 where the kernel does not allow or does not have what it
 * takes, which a test reports as skipped; 2 for bad usage; 1 when DIRECTORY is not as described
 * there; 127 when the command cannot be executed.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "recording/sysroot.h"
#include "recording/tarball.h"

enum {
	EXIT_BAD_MACHINE = 1,
	EXIT_SKIP = 77,
	EXIT_NO_COMMAND = 127,
};

/* A machine is a directory here, see meson.build. */
int tarball_unpack(int fd, int directory, char **ret_why)
{
	(void)fd;
	(void)directory;
	*ret_why = NULL;
	return -EOPNOTSUPP;
}

int main(int argc, char *argv[])
{
	_cleanup_free_ char *why = NULL;
	bool as_root = argc > 1 && strcmp(argv[1], "--root") == 0;
	int r;

	if (as_root) {
		argv++;
		argc--;
	}
	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		say("usage: sysroot [--root] DIRECTORY -- COMMAND [ARGUMENT...]");
		return EXIT_USAGE;
	}
	r = sysroot_bind(argv[1], as_root, &why);
	if (r < 0) {
		say("%s", why ? why : strerror(-r));
		return r == -EINVAL ? EXIT_BAD_MACHINE : EXIT_SKIP;
	}
	execvp(argv[3], argv + 3);
	say_errno(errno, "%s", argv[3]);
	return EXIT_NO_COMMAND;
}
