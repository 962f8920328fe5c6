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
 * Looks for the next message for so many nanoseconds, without sleeping. What follows closely is
 * worth that: whoever sleeps is woken late, and on a CPU that slept. Anybody else who wants this
 * CPU gets it. The size of the message, 0 at the end of the conversation, or a negative errno;
 * -EAGAIN: there was none in that time.
 */
ssize_t message_look(int socket, void *buf, size_t size, int64_t look_ns);
/* The same, but sleeps then. Signals do not end the wait. */
ssize_t message_receive(int socket, void *buf, size_t size, int64_t look_ns);

#endif
