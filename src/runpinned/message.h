/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How runpinned and its launcher wait for what the other says (launch.h). libc only: this is linked
 * into the launcher.
 */
#ifndef QUIESCE_RUNPINNED_MESSAGE_H
#define QUIESCE_RUNPINNED_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The next message, as recv(2): looks for it for so many nanoseconds before it sleeps. What follows
 * closely is worth that: whoever sleeps is woken late, and on a CPU that slept. Anybody else who
 * wants this CPU gets it. Signals do not end the wait.
 */
ssize_t message_receive(int socket, void *buf, size_t size, int64_t look_ns);

#endif
