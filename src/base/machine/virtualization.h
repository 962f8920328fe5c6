/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether this machine runs under a hypervisor, and this process in a container. Only plain files
 * that anybody may read are used, so an unusual hypervisor may go unnoticed or unnamed.
 */
#ifndef QUIESCE_BASE_MACHINE_VIRTUALIZATION_H
#define QUIESCE_BASE_MACHINE_VIRTUALIZATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "kvm", "xen", "vmware", "microsoft", "qemu", "oracle", "amazon", ...; "vm" for an unknown
 * hypervisor; "lpar" for a logical partition, which on s390 and POWER is the closest to bare metal
 * that exists; NULL when no hypervisor is found. A static string. *ret_told (may be NULL) says
 * whether this machine can tell: the result NULL proves that there is no hypervisor only if
 * *ret_told is true. 0, or -ENOMEM, -EMFILE, -ENFILE or -EINTR where it could not be looked up.
 *
 * The sources are cpuinfo's `hypervisor` flag and DMI (arch/x86), the kernel's available clock
 * sources, /sys/hypervisor/type, /proc/device-tree (Arm, RISC-V, POWER) and /proc/sysinfo (s390).
 * A hypervisor may hide the flag: then only the names in DMI count that no real machine has.
 */
int virtualization_read_hypervisor(const char **ret, bool *ret_told);
/* The same for who has read /proc/cpuinfo; NULL where there is none. */
int virtualization_find_hypervisor(const char *cpuinfo_text, const char **ret, bool *ret_told);
/* The same from the text of /proc/sysinfo alone ("VM00 Control Program: KVM/Linux"; stsi_3_2_2() in
 * arch/s390/kernel/sysinfo.c). */
const char *virtualization_parse_sysinfo(const char *text);

/*
 * Stores the container manager's name for itself ("docker", "podman", "lxc", "systemd-nspawn",
 * "wsl") in *ret, malloc'd, or NULL outside of a container. Errors as above. The sources are
 * /run/systemd/container (systemd.io/CONTAINER_INTERFACE), /run/.containerenv, /.dockerenv, and the
 * environment of process 1, which usually only root may read.
 */
int virtualization_read_container(char **ret);
/* The value of container= in an environment block such as /proc/1/environ; NULL when there is none.
 * A NUL follows the `length` bytes. */
const char *virtualization_find_container(const char *environment, size_t length);

#endif
