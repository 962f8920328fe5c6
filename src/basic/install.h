/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our other programs, wherever they are. */
#ifndef QUIESCE_BASIC_INSTALL_H
#define QUIESCE_BASIC_INSTALL_H

/*
 * The path of one of our programs, malloc'd: in the build tree that this one runs from, else where
 * it was installed, seen from this one and then as configured. -ENOENT when it is nowhere, -EACCES
 * when it is there and closed to this user.
 */
int install_find(const char *name, char **ret);

#endif
