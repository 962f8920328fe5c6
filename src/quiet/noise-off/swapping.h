/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Swap areas as knobs: "swap:PATH" is "off", or "on" with the options that swapon(2) needs to
 * restore the area: "on pri=5 discard=pages". The kernel gives areas without a priority negative
 * ones, each lower than the one before. So they are written as "on", and get their priorities back
 * when they are switched on in the same order.
 *
 * /proc/swaps does not tell how an area discards: that is read from fstab(5), as swapon(8) does. If
 * fstab exists and cannot be read, reading an area that is on fails.
 */
#ifndef QUIESCE_QUIET_NOISE_OFF_SWAPPING_H
#define QUIESCE_QUIET_NOISE_OFF_SWAPPING_H

#define SWAPPING_SCHEME "swap"

/* read() and write() of struct knob_backend. */
int swapping_read(const char *path, char **ret);
int swapping_write(const char *path, const char *text);

#endif
