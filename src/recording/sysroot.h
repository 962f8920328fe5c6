/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that was written down as files, DIRECTORY/sys and DIRECTORY/proc, in the place of this
 * one: for the calling process and those that it starts, in a mount namespace of its own that ends
 * with them. So libraries whose paths are compiled in see it too, and no path in the code needs a
 * root in front. Only files follow: the scheduler, perf and the clocks are still this machine's.
 *
 * An ordinary user gets a user namespace as well (user_namespaces(7)), which not every system
 * allows; root needs none. The process must not have threads.
 */
#ifndef QUIESCE_RECORDING_SYSROOT_H
#define QUIESCE_RECORDING_SYSROOT_H

#include <stdbool.h>

/*
 * A mount namespace of its own, in which mounts over /sys and /proc do not show to others; for an
 * ordinary user, who stays himself or is root there with as_root, with a user namespace around it.
 * -EPERM with one phrase in *ret_why (malloc'd, NULL without memory).
 */
int sysroot_unshare(bool as_root, char **ret_why);

/*
 * Each entry E of DIRECTORY/sys is bound over /sys/E and each entry of DIRECTORY/proc over /proc/E;
 * DIRECTORY/run, if there is one, over /run as a whole. One level down, because the roots must
 * stay what they are: libsensors asks statfs(2) whether /sys is sysfs, and the sanitizers need
 * /proc/self. For the same reason numbers, `self` and `thread-self` below DIRECTORY/proc are left
 * out. /sys/E must exist, as a file for a file and a directory for a directory: sysfs and procfs
 * take no new names. What DIRECTORY lacks is seen of this machine, beside it.
 * The directory is trusted: links in it lead where they lead.
 *
 * An ordinary user stays himself, or is root over his own files with as_root.
 *
 * 0, or a negative errno with one phrase in *ret_why (malloc'd, NULL without memory):
 * -EPERM	the system does not allow it, or has no place for an entry
 * -EINVAL	DIRECTORY is no such directory
 */
int sysroot_bind(const char *directory, bool as_root, char **ret_why);

/*
 * The recorded machine and nothing else: a new root with its /sys and /proc, in which what the
 * recording lacks is not there. Of this machine are left the process itself (/proc/self), in the
 * root of its cgroups, and /dev/null. The working directory is "/".
 *
 * `recording` is such a DIRECTORY, or a .tar or .tar.gz with one (tarball.h), which is unpacked
 * into memory. The two may be one directory further down, as tar(1) packs them. It may be made to
 * harm: anything but files, directories and links, and a link that leads out of sys/ or proc/, be
 * it through others, is refused. A directory is looked at where it is: nobody else should be able
 * to write there meanwhile.
 *
 * Entries of the recording that this kernel's /sys has no place for are listed ("/sys/hypervisor")
 * in *ret_missing (malloc'd), NULL when there is none. Errors as above, and -EOPNOTSUPP for an
 * archive in a build without libarchive. After a failure the process may be in the namespace
 * already, and should end.
 */
int sysroot_enter(const char *recording, char **ret_missing, char **ret_why);

#endif
