/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows a recorded machine, DIRECTORY/sys and DIRECTORY/proc, in place of this one to the calling
 * process and its children: by bind mounts in a mount namespace of their own, which ends with them.
 * So the code can use literal paths, and libraries see the recording, too. Only files are replaced:
 * the scheduler, perf and the clocks are those of this machine.
 *
 * An ordinary user also gets a user namespace (user_namespaces(7)), which not every system allows;
 * root needs none. The process must not have threads.
 */
#ifndef QUIESCE_RECORDING_SYSROOT_H
#define QUIESCE_RECORDING_SYSROOT_H

#include <stdbool.h>

/*
 * Enters a new mount namespace, in which mounts over /sys and /proc are not seen by other
 * processes. An ordinary user enters a new user namespace as well, with the same user ID, or as
 * root with as_root. -EPERM with one phrase in *ret_why (malloc'd, NULL without memory).
 */
int sysroot_unshare(bool as_root, char **ret_why);

/*
 * Binds each entry E of DIRECTORY/sys over /sys/E, each entry of DIRECTORY/proc over /proc/E, and
 * DIRECTORY/run, if it exists, over /run as a whole.
 *
 * /sys and /proc themselves are not bound over: libsensors asks statfs(2) whether /sys is sysfs,
 * and the sanitizers need /proc/self. For the same reason, names that are numbers, `self` and
 * `thread-self` below DIRECTORY/proc are left out. /sys/E must exist, and be a directory if E is
 * one, because sysfs and procfs accept no new names. Entries that DIRECTORY does not have are those
 * of this machine. The directory is trusted: its links are followed wherever they lead.
 *
 * An ordinary user keeps the same user ID, or is root over the user's own files with as_root.
 *
 * 0, or a negative errno with one phrase in *ret_why (malloc'd, NULL without memory):
 * -EPERM	the system does not allow it, or has no place for an entry
 * -EINVAL	DIRECTORY has neither sys/ nor proc/
 */
int sysroot_bind(const char *directory, bool as_root, char **ret_why);

/*
 * Shows only the recorded machine: a new root with the recording's /sys and /proc, in which
 * everything that the recording lacks is absent. Of this machine there are only /dev/null and the
 * process itself
 * (/proc/self), which appears in the root cgroup. The working directory is "/".
 *
 * `recording` is a DIRECTORY as above, or a .tar or .tar.gz with one (tarball.h), which is unpacked
 * into memory. sys/ and proc/ may be one directory further down, as tar(1) packs them. The
 * recording may be malicious: so anything but files, directories and links is refused, and so is a
 * link of a directory that leads out of sys/ or proc/, even through other links. Such a link of an
 * archive is removed from what was unpacked: other programs that record machines, such as
 * hwloc-gather-topology(1), leave some behind where they copy what a link leads to. A directory is
 * not copied: nobody else should be able to write to it meanwhile.
 *
 * *ret_missing (malloc'd) lists entries of the recording that cannot be shown, since this kernel's
 * /sys does not have them: "/sys/hypervisor"; *ret_removed the links that were removed:
 * "sys/class/dmi/id/subsystem", the first ones and how many more. NULL for none. Errors as above,
 * and -EOPNOTSUPP for an archive in a build without libarchive. After a failure the process may be
 * in the namespace already, and should end.
 */
int sysroot_enter(const char *recording, char **ret_missing, char **ret_removed, char **ret_why);

#endif
