// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/machine/virtualization.h"
#include "base/macro.h"

#include "fake-machine.h"

#define METAL "processor\t: 0\nmodel name\t: CPU\nflags\t\t: fpu vme\n"
#define GUEST "processor\t: 0\nmodel name\t: CPU\nflags\t\t: fpu vme hypervisor\n"
#define ARM "processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"

static void test_hypervisor(_unused_ void **state)
{
	static const struct {
		const char *cpuinfo;
		/* NULL: no such file. */
		const char *product, *vendor, *clocks;
		const char *hypervisor;
	} cases[] = {
		{ METAL, "HP ZBook", "HP", "tsc hpet acpi_pm", NULL },
		{ METAL, NULL, NULL, NULL, NULL },
		{ METAL, "m5.metal", "Amazon EC2", "tsc", NULL },
		/* Hypervisors that hide the flag of the CPU. */
		{ METAL, "VirtualBox", "innotek GmbH", "tsc hpet acpi_pm", "oracle" },
		{ METAL, "VMware7,1", "VMware, Inc.", "tsc acpi_pm", "vmware" },
		{ METAL, "VMware20,1", "VMware, Inc.", "tsc acpi_pm", "vmware" },
		{ METAL, "Parallels Virtual Platform", "Parallels International GmbH.", "tsc",
			"parallels" },
		{ METAL, "Standard PC (Q35 + ICH9, 2009)", "QEMU", "tsc", "qemu" },
		/* Names that real machines of clouds have as well. */
		{ METAL, "Google Compute Engine", "Google", "tsc", NULL },
		{ GUEST, NULL, NULL, NULL, "vm" },
		{ GUEST, NULL, NULL, "tsc kvm-clock", "kvm" },
		{ GUEST, NULL, NULL, "hyperv_clocksource_tsc_page acpi_pm", "microsoft" },
		{ GUEST, NULL, NULL, "xen tsc", "xen" },
		{ GUEST, "Odd", "Odd", "tsc", "vm" },
		{ GUEST, "Standard PC (Q35 + ICH9, 2009)", "QEMU", "kvm-clock tsc", "qemu" },
		{ GUEST, "KVM", "Red Hat", "kvm-clock", "kvm" },
		{ GUEST, "VMware Virtual Platform", "VMware, Inc.", "tsc", "vmware" },
		{ GUEST, "VirtualBox", "innotek GmbH", "tsc", "oracle" },
		{ GUEST, "Virtual Machine", "Microsoft Corporation", "tsc", "microsoft" },
		{ GUEST, "m5.large", "Amazon EC2", "kvm-clock", "amazon" },
		{ GUEST, "HVM domU", "Xen", "xen", "xen" },
		/* Arm has no flag: DMI must do. */
		{ ARM, "KVM Virtual Machine", "QEMU", "arch_sys_counter", "kvm" },
		{ ARM, "c7g.metal", "Amazon EC2", "arch_sys_counter", NULL },
		{ ARM, "c7g.large", "Amazon EC2", "arch_sys_counter", "amazon" },
		{ ARM, "NVIDIA_DGX_Spark", "NVIDIA", "arch_sys_counter", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *hypervisor;

		fake_machine_setup(NULL);
		assert_true(fake_machine_write("/proc/cpuinfo", cases[i].cpuinfo));
		if (cases[i].product)
			assert_true(fake_machine_write(
				"/sys/class/dmi/id/product_name", cases[i].product));
		if (cases[i].vendor)
			assert_true(fake_machine_write(
				"/sys/class/dmi/id/sys_vendor", cases[i].vendor));
		if (cases[i].clocks)
			assert_true(
				fake_machine_write("/sys/devices/system/clocksource/clocksource0/"
						   "available_clocksource",
					cases[i].clocks));
		fprintf(stderr, "case %zu, %s\n", i, cases[i].vendor ? cases[i].vendor : "none");
		assert_int_equal(virtualization_read_hypervisor(&hypervisor, NULL), 0);
		if (cases[i].hypervisor) {
			assert_non_null(hypervisor);
			assert_string_equal(hypervisor, cases[i].hypervisor);
		} else {
			assert_null(hypervisor);
		}
	}
}

/* What cannot be looked up for want of descriptors is not "none". */
static void test_not_known(_unused_ void **state)
{
	const char *hypervisor = "untouched";
	char *container = (char *)"untouched";
	struct rlimit limit, none;
	bool told = true;

	fake_machine_setup(NULL);
	assert_true(fake_machine_write("/proc/cpuinfo", "processor : 0\nflags : fpu\n"));
	assert_int_equal(virtualization_read_hypervisor(&hypervisor, &told), 0);
	assert_null(hypervisor);
	assert_true(told);
	hypervisor = "untouched";
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(virtualization_read_hypervisor(&hypervisor, &told), -EMFILE);
	assert_int_equal(virtualization_read_container(&container), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_string_equal(hypervisor, "untouched");
	assert_string_equal(container, "untouched");
}

static void test_sysinfo(_unused_ void **state)
{
	assert_null(virtualization_parse_sysinfo(""));
	assert_null(virtualization_parse_sysinfo("Manufacturer: IBM\nType: 2817\n"));
	assert_string_equal(virtualization_parse_sysinfo("LPAR Number:          5\n"), "lpar");
	assert_string_equal(virtualization_parse_sysinfo("LPAR Number: 5\nVM00 Name: x\n"
							 "VM00 Control Program: z/VM    6.1.0\n"),
		"zvm");
	assert_string_equal(
		virtualization_parse_sysinfo("LPAR Number: 5\nVM00 Control Program: KVM/Linux\n"),
		"kvm");
	assert_string_equal(
		virtualization_parse_sysinfo("VM00 Control Program: other\nKVM\n"), "vm");
}

/* Whatever we run in, it has a name or none. */
static void test_container(_unused_ void **state)
{
	char *name = (char *)"untouched";

	assert_int_equal(virtualization_read_container(&name), 0);
	if (access("/.dockerenv", F_OK) == 0 && access("/run/systemd/container", F_OK) < 0 &&
		access("/run/.containerenv", F_OK) < 0)
		assert_string_equal(name, "docker");
	else if (name)
		assert_true(name[0] != '\0');
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hypervisor),
		cmocka_unit_test(test_not_known),
		cmocka_unit_test(test_sysinfo),
		cmocka_unit_test(test_container),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("virtualization", tests, NULL, NULL);
}
