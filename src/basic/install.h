/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the other programs of quiesce. */
#ifndef QUIESCE_BASIC_INSTALL_H
#define QUIESCE_BASIC_INSTALL_H

/*
 * The malloc'd path of a program of quiesce: in the build tree when this program runs from one,
 * else in the installed directories relative to this program, else in the configured directories.
 * -ENOENT when it is nowhere, -EACCES when it exists but this user may not execute it.
 */
int install_find(const char *name, char **ret);

#endif
