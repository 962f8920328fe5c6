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

/* The error of a reading after which nothing is known; else 0, as where there is no such file. */
static int only_ours(int r)
{
	return r < 0 && errno_is_ours(-r) ? r : 0;
}

/* Reads a file that need not be there, "" then. FILE_ATTR_SIZE bytes. */
static int read_text(const char *path, char text[static FILE_ATTR_SIZE])
{
	int r = file_read_attr(AT_FDCWD, path, text, FILE_ATTR_SIZE);

	if (r < 0)
		*text = '\0';
	return only_ours(r);
}

/* The hypervisor, or its vendor, from what the machine calls itself. `proven` asks for names that
 * no real machine has: they tell of a hypervisor where it hides the CPU flag (VirtualBox's
 * paravirtualization "none", VMware's hypervisor.cpuid.v0, `hypervisor=off` of QEMU). */
static int read_dmi(bool proven, const char **ret)
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
		int r;

		if (proven && !files[i].proves)
			continue;
		r = read_text(files[i].path, text);
		/* Amazon's instances without a hypervisor ("m7g.metal") have the same vendor. */
		if (r < 0 || strstr(text, ".metal"))
			return r;
		*ret = find_name(vendors, ARRAY_SIZE(vendors), text, proven);
		if (*ret)
			return 0;
	}
	return 0;
}

/* The kernel offers the clock of the hypervisor that it runs on. */
static int read_clocksources(const char **ret)
{
	static const struct name clocks[] = {
		{ "kvm-clock", "kvm" },
		{ "hyperv", "microsoft" },
		{ "xen", "xen" },
		{ "vmware", "vmware" },
	};
	char text[FILE_ATTR_SIZE];
	int r;

	r = read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource", text);
	*ret = find_name(clocks, ARRAY_SIZE(clocks), text, false);
	return r;
}

static int read_device_tree(const char **ret)
{
	static const struct name hypervisors[] = {
		{ "linux,kvm", "kvm" },
		{ "xen", "xen" },
		{ "vmware", "vmware" },
	};
	static const char *const compatible = "/proc/device-tree/hypervisor/compatible";
	char text[FILE_ATTR_SIZE];
	int r;

	r = read_text(compatible, text);
	if (r == 0 && *text) {
		*ret = find_name(hypervisors, ARRAY_SIZE(hypervisors), text, false);
		if (!*ret)
			*ret = "vm";
		return 0;
	}
	if (r == 0)
		r = read_text("/proc/device-tree/compatible", text);
	if (r < 0)
		return r;
	/* QEMU's `virt` machine. */
	if (strstr(text, "dummy-virt"))
		*ret = "qemu";
	else if (access("/proc/device-tree/ibm,partition-name", F_OK) == 0)
		*ret = "lpar";
	return 0;
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

static int read_sysinfo(const char **ret)
{
	_cleanup_free_ char *text = NULL;
	int r = file_read_all("/proc/sysinfo", 1024 * 1024, &text, NULL);

	if (r < 0)
		return only_ours(r);
	*ret = virtualization_parse_sysinfo(text);
	return 0;
}

/* Whether a machine other than x86 has a file that would name a hypervisor; on x86 the CPU flags
 * tell. */
static int has_source(void)
{
	static const char *const files[] = { "/sys/hypervisor/type",
		"/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor",
		"/proc/device-tree/compatible", "/proc/sysinfo" };
	char text[FILE_ATTR_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int r = read_text(files[i], text);

		if (r < 0 || *text)
			return r < 0 ? r : 1;
	}
	return 0;
}

/* The same, from the text of /proc/cpuinfo and what it leads to. */
static int find_from_cpuinfo(const char *cpuinfo_text, const char **ret, bool *ret_told)
{
	bool x86 = strstr(cpuinfo_text, "\nflags") != NULL;
	struct cpuinfo info = { 0 };
	bool flagged;
	int r;

	r = cpuinfo_parse(cpuinfo_text, 0, &info);
	if (r < 0)
		return only_ours(r);
	flagged = info.hypervisor;
	cpuinfo_clear(&info);
	r = x86 ? 1 : has_source();
	if (r < 0)
		return r;
	*ret_told = r > 0;
	/* On x86 without the CPU flag only a few names prove a hypervisor. */
	if (x86 && !flagged)
		return read_dmi(true, ret);
	r = read_dmi(false, ret);
	if (r == 0 && !*ret)
		r = read_device_tree(ret);
	if (r == 0 && !*ret)
		r = read_sysinfo(ret);
	if (r == 0 && !*ret && flagged) {
		r = read_clocksources(ret);
		if (!*ret)
			*ret = "vm";
	}
	return r;
}

int virtualization_find_hypervisor(const char *cpuinfo_text, const char **ret, bool *ret_told)
{
	const char *name = NULL;
	char text[FILE_ATTR_SIZE];
	bool told = false;
	int r;

	/* Xen's first domain is a guest too. */
	r = read_text("/sys/hypervisor/type", text);
	if (r == 0 && *text)
		name = strstr(text, "xen") ? "xen" : "vm";
	else if (r == 0 && cpuinfo_text)
		r = find_from_cpuinfo(cpuinfo_text, &name, &told);
	if (r < 0)
		return r;
	*ret = name;
	if (ret_told)
		*ret_told = told || name;
	return 0;
}

int virtualization_read_hypervisor(const char **ret, bool *ret_told)
{
	_cleanup_free_ char *cpuinfo_text = NULL;
	int r = only_ours(cpuinfo_read(&cpuinfo_text));

	return r < 0 ? r : virtualization_find_hypervisor(cpuinfo_text, ret, ret_told);
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
	char *copy = NULL;
	size_t length;
	int r;

	r = read_text("/run/systemd/container", text);
	if (r < 0)
		return r;
	if (*text)
		name = text;
	else if (access("/run/.containerenv", F_OK) == 0)
		name = "podman";
	else if (access("/.dockerenv", F_OK) == 0)
		name = "docker";
	if (!name) {
		r = read_text("/proc/sys/kernel/osrelease", text);
		if (r == 0 && (strstr(text, "Microsoft") || strstr(text, "WSL")))
			name = "wsl";
	}
	if (r == 0 && !name) {
		r = file_read_all("/proc/1/environ", 1024 * 1024, &environment, &length);
		if (r == 0)
			name = virtualization_find_container(environment, length);
		r = only_ours(r);
	}
	if (r < 0)
		return r;
	if (name) {
		copy = strdup(name);
		if (!copy)
			return -ENOMEM;
	}
	*ret = copy;
	return 0;
}
