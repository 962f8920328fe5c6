/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASIC_TERMINAL_H
#define QUIESCE_BASIC_TERMINAL_H

/* Columns of the terminal behind a descriptor. 80 where it is not a terminal, where the width is
 * not known, and where the terminal is too narrow for our tables. */
unsigned terminal_width(int fd);

#endif
