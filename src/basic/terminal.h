/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASIC_TERMINAL_H
#define QUIESCE_BASIC_TERMINAL_H

/* Columns of the terminal behind a descriptor. 80 where there is none, where it does not tell, and
 * where it is so narrow that nothing of ours could be shown in it. */
unsigned terminal_width(int fd);

#endif
