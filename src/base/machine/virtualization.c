// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/cpuinfo.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/text.h"

struct name {
	const char *text;
	const char *name;
	bool proves; /* no real machine has this text in what it calls itself */
};

static const char *find_name(const struct name *names, size_t n, const char *text, bool proven)
{
	for (size_t i = 0; i < n; i++)
		if ((names[i].proves || !proven) && strstr(text, names[i].text))
			return names[i].name;
	return NULL;
}

/* The hypervisor, or its vendor, from what the machine calls itself. `proven` asks for names that
 * no real machine has: they tell of a hypervisor where it hides the CPU flag (VirtualBox's
 * paravirtualization "none", VMware's hypervisor.cpuid.v0, `hypervisor=off` of QEMU). */
static const char *read_dmi(bool proven)
{
	/* The vendors of board and firmware prove nothing: a real machine may have a firmware that
	 * was written for QEMU. */
	static const struct {
		const char *path;
		bool proves;
	} files[] = {
		{ "/sys/class/dmi/id/product_name", .proves = true },
		{ "/sys/class/dmi/id/sys_vendor", .proves = true },
		{ "/sys/class/dmi/id/board_vendor" },
		{ "/sys/class/dmi/id/bios_vendor" },
	};
	/* The specific names first: many of these hypervisors are built on QEMU. Amazon and Google
	 * give their names to real machines as well. */
	static const struct name vendors[] = {
		{ "Amazon EC2", "amazon" },
		{ "Google Compute Engine", "google" },
		{ "KubeVirt", "kvm" },
		{ "OpenStack", "kvm" },
		{ "KVM", "kvm" },
		{ "QEMU", "qemu", .proves = true },
		{ "VMware", "vmware", .proves = true },
		{ "VirtualBox", "oracle", .proves = true },
		{ "innotek GmbH", "oracle", .proves = true },
		{ "Xen", "xen" },
		{ "HVM domU", "xen", .proves = true },
		{ "Bochs", "bochs", .proves = true },
		{ "Parallels", "parallels", .proves = true },
		{ "BHYVE", "bhyve", .proves = true },
		{ "Virtual Machine", "microsoft" },
		{ "Hyper-V", "microsoft" },
		{ "Apple Virtualization", "apple" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char text[FILE_ATTR_SIZE];
		const char *name;

		if ((proven && !files[i].proves) ||
			file_read_attr(AT_FDCWD, files[i].path, text, sizeof(text)) < 0)
			continue;
		/* Amazon's instances without a hypervisor ("m7g.metal") have the same vendor. */
		if (strstr(text, ".metal"))
			return NULL;
		name = find_name(vendors, ARRAY_SIZE(vendors), text, proven);
		if (name)
			return name;
	}
	return NULL;
}

/* The kernel offers the clock of the hypervisor that it runs on. */
static const char *read_clocksources(void)
{
	static const struct name clocks[] = {
		{ "kvm-clock", "kvm" },
		{ "hyperv", "microsoft" },
		{ "xen", "xen" },
		{ "vmware", "vmware" },
	};
	char text[FILE_ATTR_SIZE];

	if (file_read_attr(AT_FDCWD,
		    "/sys/devices/system/clocksource/clocksource0/available_clocksource", text,
		    sizeof(text)) < 0)
		return NULL;
	return find_name(clocks, ARRAY_SIZE(clocks), text, false);
}

static const char *read_device_tree(void)
{
	static const struct name hypervisors[] = {
		{ "linux,kvm", "kvm" },
		{ "xen", "xen" },
		{ "vmware", "vmware" },
	};
	static const char *const compatible = "/proc/device-tree/hypervisor/compatible";
	char text[FILE_ATTR_SIZE];
	const char *name;

	if (file_read_attr(AT_FDCWD, compatible, text, sizeof(text)) > 0) {
		name = find_name(hypervisors, ARRAY_SIZE(hypervisors), text, false);
		return name ? name : "vm";
	}
	/* QEMU's `virt` machine. */
	if (file_read_attr(AT_FDCWD, "/proc/device-tree/compatible", text, sizeof(text)) > 0 &&
		strstr(text, "dummy-virt"))
		return "qemu";
	if (access("/proc/device-tree/ibm,partition-name", F_OK) == 0)
		return "lpar";
	return NULL;
}

const char *virtualization_parse_sysinfo(const char *text)
{
	const char *program = strstr(text, "VM00 Control Program:");

	if (program) {
		size_t length = strcspn(program, "\n");

		if (memmem(program, length, "KVM", 3))
			return "kvm";
		return memmem(program, length, "z/VM", 4) ? "zvm" : "vm";
	}
	return strstr(text, "LPAR Number:") ? "lpar" : NULL;
}

static const char *read_sysinfo(void)
{
	_cleanup_free_ char *text = NULL;

	if (file_read_all("/proc/sysinfo", 1024 * 1024, &text, NULL) < 0)
		return NULL;
	return virtualization_parse_sysinfo(text);
}

/* Whether a machine other than x86 has a file that would name a hypervisor; on x86 the CPU flags
 * tell. */
static bool has_source(void)
{
	static const char *const files[] = { "/sys/hypervisor/type",
		"/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor",
		"/proc/device-tree/compatible", "/proc/sysinfo" };
	char text[FILE_ATTR_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (file_read_attr(AT_FDCWD, files[i], text, sizeof(text)) > 0)
			return true;
	return false;
}

static const char *find_hypervisor(bool *ret_told)
{
	_cleanup_free_ char *cpuinfo_text = NULL;
	struct cpuinfo info = { 0 };
	bool x86, flagged;
	char text[FILE_ATTR_SIZE];
	const char *name;

	/* Xen's first domain is a guest too. */
	if (file_read_attr(AT_FDCWD, "/sys/hypervisor/type", text, sizeof(text)) > 0)
		return strstr(text, "xen") ? "xen" : "vm";

	if (cpuinfo_read(&cpuinfo_text) < 0 || !*cpuinfo_text ||
		cpuinfo_parse(cpuinfo_text, 0, &info) < 0)
		return NULL;
	flagged = info.hypervisor;
	cpuinfo_clear(&info);
	x86 = strstr(cpuinfo_text, "\nflags") != NULL;
	*ret_told = x86 || has_source();
	/* On x86 without the CPU flag only a few names prove a hypervisor. */
	if (x86 && !flagged)
		return read_dmi(true);
	name = read_dmi(false);
	if (!name)
		name = read_device_tree();
	if (!name)
		name = read_sysinfo();
	if (!name && flagged) {
		name = read_clocksources();
		if (!name)
			name = "vm";
	}
	return name;
}

const char *virtualization_read_hypervisor(bool *ret_told)
{
	bool told = false;
	const char *name = find_hypervisor(&told);

	if (ret_told)
		*ret_told = told || name;
	return name;
}

const char *virtualization_find_container(const char *environment, size_t length)
{
	const char *at = environment, *end = environment + length;

	for (; at < end; at += strlen(at) + 1)
		if (text_starts_with(at, "container=") && at[strlen("container=")])
			return at + strlen("container=");
	return NULL;
}

int virtualization_read_container(char **ret)
{
	_cleanup_free_ char *environment = NULL;
	char text[FILE_ATTR_SIZE];
	const char *name = NULL;
	char *copy;
	size_t length;

	if (file_read_attr(AT_FDCWD, "/run/systemd/container", text, sizeof(text)) > 0)
		name = text;
	else if (access("/run/.containerenv", F_OK) == 0)
		name = "podman";
	else if (access("/.dockerenv", F_OK) == 0)
		name = "docker";
	else if (file_read_attr(AT_FDCWD, "/proc/sys/kernel/osrelease", text, sizeof(text)) > 0 &&
		(strstr(text, "Microsoft") || strstr(text, "WSL")))
		name = "wsl";
	else if (file_read_all("/proc/1/environ", 1024 * 1024, &environment, &length) == 0)
		name = virtualization_find_container(environment, length);
	if (!name) {
		*ret = NULL;
		return 0;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}
