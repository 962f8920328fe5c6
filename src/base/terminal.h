/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASE_TERMINAL_H
#define QUIESCE_BASE_TERMINAL_H

#include <stdbool.h>

/* Columns of the terminal behind a descriptor. 80 where it is not a terminal, where the width is
 * not known, and where the terminal is too narrow for our tables. */
unsigned terminal_width(int fd);

/* Whether it is a terminal that obeys escapes: colors, and going back in a line. A terminal whose
 * TERM is "dumb" does not. */
bool terminal_obeys(int fd);

#endif
