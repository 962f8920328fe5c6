/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Swap areas as knobs: "swap:PATH" is "off", or "on" with what swapon(2) has to be told to have it
 * as it was: "on pri=5 discard=pages". A negative priority is the kernel's own choice, which falls
 * with each area that is added: "on" for all of them, in their order, gives each its own again.
 *
 * /proc/swaps does not tell how an area discards: that is taken from fstab(5), where swapon(8) had
 * it from. Where fstab is there and cannot be read, an area that is on cannot be read either.
 */
#ifndef QUIESCE_NOISE_OFF_SWAPPING_H
#define QUIESCE_NOISE_OFF_SWAPPING_H

#define SWAPPING_SCHEME "swap"

/* Of struct knob_backend. */
int swapping_read(const char *path, char **ret);
int swapping_write(const char *path, const char *text);

#endif
