/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASE_SYSTEMD_BOOTED_H
#define QUIESCE_BASE_SYSTEMD_BOOTED_H

#include <stdbool.h>

/* Whether systemd started this machine (or container), sd_booted(3). Needs neither a connection nor
 * libsystemd. */
bool systemd_is_booted(void);

#endif
