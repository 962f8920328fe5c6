/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs and unpacks trees of small files as .tar.gz, by libarchive. The same entries give the same
 * bytes: they are sorted, with uid and gid 0, and with the time 0 (1970). An archive that is
 * unpacked may be malicious.
 */
#ifndef QUIESCE_LOOK_RECORDING_TARBALL_H
#define QUIESCE_LOOK_RECORDING_TARBALL_H

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
	char *path; /* relative, without a slash at the end */
	enum tarball_type type;
	char *data;  /* file: the content; link: the target, NUL-terminated */
	size_t size; /* file: of the content */
	bool read_only;
};

enum {
	TARBALL_ENTRIES_MAX = 500000,
	TARBALL_BYTES_MAX = 512 * 1024 * 1024,
};

/* What is said of a recording that has more. */
#define TARBALL_TOO_MANY "it has more than 500000 entries"
#define TARBALL_TOO_LARGE "more than 512 MiB are in it"

/*
 * Sorts the entries by path and writes them; the caller flushes the stream.
 * -EOPNOTSUPP in a build without libarchive, -EIO, or the error of the stream.
 */
int tarball_write(FILE *stream, struct tarball_entry *entries, size_t n);

/*
 * Unpacks a .tar or .tar.gz into an empty directory: only directories, files and symbolic links, at
 * most TARBALL_ENTRIES_MAX and TARBALL_BYTES_MAX. Of the mode of a file, only read_only is kept.
 *
 * -EOPNOTSUPP in a build without libarchive; -EBADMSG for a file that is no such archive, or cannot
 * be trusted (an absolute path, "..", a link that leads out, a device, a name twice, too many
 * entries or bytes); else the error of writing. *ret_why (malloc'd; NULL only for an error of
 * libarchive's) is then one phrase: "sys/x is neither a file, a directory nor a symbolic link".
 * After a failure the directory may have some entries.
 */
int tarball_unpack(int fd, int directory, char **ret_why);

/* Whether a link at `path` to `target` stays inside the tree that `path` is relative to. Judges
 * only the text of the target, and follows no other link. */
bool tarball_link_stays_inside(const char *path, const char *target);

#endif
