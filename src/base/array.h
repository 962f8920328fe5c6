/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by one element at a time. */
#ifndef QUIESCE_BASE_ARRAY_H
#define QUIESCE_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for one more element behind the n elements of `size` bytes that an array has. `array`
 * is the address of the pointer to it, which is NULL at first; *capacity says for how many elements
 * there is room. -ENOMEM; both are untouched then.
 */
int array_grow(void *array, size_t size, size_t n, size_t *capacity);

#endif
