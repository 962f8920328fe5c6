/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the other programs of quiesce, and its data. */
#ifndef QUIESCE_BASE_INSTALL_H
#define QUIESCE_BASE_INSTALL_H

/*
 * The malloc'd path of a program of quiesce: beside this program, which is where a build tree has
 * it, else in the installed directories relative to this program, else in the configured
 * directories. -ENOENT when it is nowhere, -EACCES when it exists but this user may not execute it,
 * -EPERM when it lies relative to this program and somebody else may have put it there: it or its
 * folder belongs neither to root nor to the owner of this program, or everybody may write to it.
 */
int install_find(const char *name, char **ret);

/*
 * The malloc'd path of a folder of our data: that of the build tree or of the installation that
 * this program belongs to, where nobody else may have made it (as above), else the configured one,
 * which may not be there. NULL without memory.
 */
char *install_find_data(const char *name);

#endif
