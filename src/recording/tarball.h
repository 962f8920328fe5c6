/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees of small files as a .tar.gz, by libarchive. What is written is the same for the same
 * entries: sorted, of nobody (uid and gid 0), of 1970. What is read may come from anybody.
 */
#ifndef QUIESCE_RECORDING_TARBALL_H
#define QUIESCE_RECORDING_TARBALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tarball_type {
	TARBALL_DIRECTORY,
	TARBALL_FILE,
	TARBALL_LINK, /* symbolic */
};

struct tarball_entry {
	char *path; /* relative, without a slash at its end */
	enum tarball_type type;
	char *data;  /* of a file: its bytes; of a link: where it leads, NUL-terminated */
	size_t size; /* of a file */
	bool read_only;
};

enum {
	TARBALL_ENTRIES_MAX = 500000,
	TARBALL_BYTES_MAX = 512 * 1024 * 1024,
};

/*
 * Sorts the entries by path and writes them; the stream is flushed by its owner.
 * -EOPNOTSUPP in a build without libarchive, -EIO or what the stream failed with.
 */
int tarball_write(FILE *stream, struct tarball_entry *entries, size_t n);

/*
 * Unpacks a .tar or .tar.gz into an empty directory: directories, files and symbolic links, nothing
 * else, within TARBALL_ENTRIES_MAX and TARBALL_BYTES_MAX. Of modes only read_only is kept.
 * -EOPNOTSUPP in a build without libarchive; else -EBADMSG for what is no such file or not to be
 * trusted (an absolute path, "..", a link that leads out, a device, a name twice, too much of
 * it), or what writing failed with. *ret_why (malloc'd, may be NULL) is one phrase then:
 * "sys/x is neither a file, a directory nor a symbolic link". What was unpacked until then is left.
 */
int tarball_unpack(int fd, int directory, char **ret_why);

/* Whether a link at `path` with that target, taken by its letters, stays below the top that
 * path is relative to. */
bool tarball_link_stays_inside(const char *path, const char *target);

#endif
