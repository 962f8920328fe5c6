/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unsigned numbers in text, strictly: no sign, no blank, no prefix. */
#ifndef QUIESCE_LIBRARY_DIGITS_H
#define QUIESCE_LIBRARY_DIGITS_H

#include <stdint.h>

#include "library/private.h"

/* Parses digits of the base (10, or 16 with lowercase letters), at least one, and moves *text
 * behind them. -EINVAL where there is no digit, or the number is above max. */
int digits_read(const char **text, unsigned base, uint64_t max, uint64_t *ret);

#endif
