/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies a recorded machine that is a directory, to leave out in the copy what an archive is
 * unpacked without. The recording may be malicious.
 */
#ifndef QUIESCE_LOOK_RECORDING_COPY_H
#define QUIESCE_LOOK_RECORDING_COPY_H

/*
 * Copies the files, directories and symbolic links of the directory `from`, which is closed then,
 * into the empty directory `to`, at most as many as an archive may have (tarball.h). `path` is
 * where `from` lies in the recording: "sys", "host/sys". Of the mode of a file, only whether it is
 * read-only is kept; a file that cannot be read becomes an empty one, which makes no sense to any
 * check.
 *
 * 0, or a negative errno with one phrase in *ret_why (malloc'd, NULL without memory): -EINVAL for
 * anything else than those three, for a link that by its text leads out of the recording, as
 * tarball_unpack() refuses it, for more than is allowed, and where a directory cannot be read;
 * otherwise the error of writing.
 */
int copy_tree(int from, int to, const char *path, char **ret_why);

#endif
