/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --version prints. */
#ifndef QUIESCE_BASE_VERSION_H
#define QUIESCE_BASE_VERSION_H

/*
 * "TOOL (quiesce) 0.1.0", and in a second line the libraries that this build does without, if any
 * (not libcpuset, in whose place we have as much): what each of them adds stands in
 * docs/install.md. 0, or as print(): -ENOMEM or -EIO.
 */
int version_print(const char *tool);

#endif
