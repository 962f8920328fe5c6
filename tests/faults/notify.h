/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_TESTS_NOTIFY_H
#define QUIESCE_TESTS_NOTIFY_H

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1
#endif

/* Each call that is watched switches to who watches it and back. Linux 6.6 can keep both on one CPU
 * then, which is several times faster where a CPU is woken by a hypervisor. Before, it is slow. */
static inline void keep_on_one_cpu(int listener)
{
	syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

#endif
