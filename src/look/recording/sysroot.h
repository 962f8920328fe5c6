/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows a recorded machine, a directory or an archive with sys/ and proc/, in place of this one to
 * the calling process and its children: by mounts in a namespace of their own, which ends with
 * them (look/recording/mounts.h). So the code can use literal paths, and libraries see the
 * recording, too. Only files are replaced: the scheduler, perf and the clocks are those of this
 * machine.
 */
#ifndef QUIESCE_LOOK_RECORDING_SYSROOT_H
#define QUIESCE_LOOK_RECORDING_SYSROOT_H

/*
 * Shows only the recorded machine: a new root with the recording's /sys and /proc, in which
 * everything that the recording lacks is absent. Of this machine there are only /dev/null and the
 * process itself (/proc/self), which appears in the root cgroup. The working directory is "/".
 *
 * `recording` is a directory with sys/ and proc/, of which either may be missing, or a .tar or
 * .tar.gz with one (tarball.h), which is unpacked into memory. sys/ and proc/ may be one directory
 * further down, as tar(1) packs them. The recording may be malicious: so anything but files,
 * directories and links is refused, and so is a link that by its text leads out of the recording.
 * One that leads out of sys/ or proc/, even through other links, is removed from what was unpacked:
 * other programs that record machines, such as hwloc-gather-topology(1), leave such links behind
 * where they copy the target of a link. A directory that has one is copied into memory for that;
 * any other is not copied, and nobody else should be able to write to it meanwhile.
 *
 * *ret_missing (malloc'd) lists entries of the recording that cannot be shown, since this kernel's
 * /sys does not have them: "/sys/hypervisor"; *ret_removed the links that were removed:
 * "sys/class/dmi/id/subsystem", the first ones and how many more. NULL for none.
 *
 * 0, or a negative errno with one phrase in *ret_why (malloc'd, NULL without memory): -EPERM where
 * the system does not allow it, -EINVAL where the recording is not as described here, -ENOMEM,
 * and -EOPNOTSUPP for an archive in a build without libarchive. After a failure the process may be
 * in the namespace already, and should end.
 */
int sysroot_enter(const char *recording, char **ret_missing, char **ret_removed, char **ret_why);

#endif
