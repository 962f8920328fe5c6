/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether something else decides over this machine: a hypervisor below it, a container around
 * us. By plain files that anybody may read, so an odd hypervisor goes unnoticed or unnamed.
 */
#ifndef QUIESCE_MACHINE_VIRTUALIZATION_H
#define QUIESCE_MACHINE_VIRTUALIZATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "kvm", "xen", "vmware", "microsoft", "qemu", "oracle", "amazon", ...; "vm" for a hypervisor
 * without a name; "lpar" for a logical partition, which on s390 and POWER is as near to the metal
 * as one gets; NULL when there is none to be seen. A static string. *ret_told, which may be NULL,
 * says whether the machine would have told: NULL without that is no proof that there is none.
 *
 * From cpuinfo's `hypervisor` flag and DMI (arch/x86), the clock sources that the kernel offers,
 * /sys/hypervisor/type, /proc/device-tree (Arm, RISC-V, POWER) and /proc/sysinfo (s390).
 */
const char *virtualization_read_hypervisor(bool *ret_told);
/* The same of the text of /proc/sysinfo alone ("VM00 Control Program: KVM/Linux"; stsi_3_2_2() in
 * arch/s390/kernel/sysinfo.c). */
const char *virtualization_parse_sysinfo(const char *text);

/*
 * The container manager's name as it calls itself ("docker", "podman", "lxc", "systemd-nspawn",
 * "wsl"), malloc'd, in *ret; NULL there when we are in none. -ENOMEM.
 * From /run/systemd/container (systemd.io/CONTAINER_INTERFACE), /run/.containerenv, /.dockerenv,
 * and the environment of process 1, which mostly only root may read.
 */
int virtualization_read_container(char **ret);
/* The value of container= in a block of environment, as /proc/1/environ is one, with a NUL behind
 * its `length` bytes; NULL when there is none. */
const char *virtualization_find_container(const char *environment, size_t length);

#endif
