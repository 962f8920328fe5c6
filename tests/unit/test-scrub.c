// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "look/recording/scrub.h"

static int setup(void **state)
{
	struct scrub_names *names = scrub_names_new();

	scrub_names_add(names, "kitchen-pc", "host");
	scrub_names_add(names, "office lan", "net1");
	scrub_names_add(names, "enp3s0", "net0");
	*state = names;
	return 0;
}

static int teardown(void **state)
{
	scrub_names_free(*state);
	return 0;
}

typedef char *(*scrub_function)(const struct scrub_names *names, const char *text);

static void becomes(void **state, scrub_function scrub, const char *text, const char *expected)
{
	char *clean = scrub(*state, text);

	assert_non_null(clean);
	assert_string_equal(clean, expected);
	free(clean);
}

static void test_text(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ " 38:  7  PCI-MSIX-0000:00:17.0  2-edge  enp3s0-TxRx-0\n",
			" 38:  7  PCI-MSIX-0000:00:17.0  2-edge  net0-TxRx-0\n" },
		{ "enp3s01 xenp3s0 enp3s0", "enp3s01 xenp3s0 net0" },
		{ "kitchen-pc:office lan", "host:net1" },
		{ "hid-b8:27:eb:01:02:03-battery", "hid-address-battery" },
		{ "b8_27_eb_01_02_03", "address" },
		/* Beside other hexadecimal digits, and with more than six bytes. */
		{ "macb8:27:eb:01:02:03 b8:27:eb:01:02:03a", "macaddress address" },
		{ "80:00:02:08:fe:80:00:00:00:00:00:00:b8:27:eb:03:00:01:02:03", "address" },
		{ "data10.0.0.5 10.0.0.1234", "dataaddress 10.0.0.1234" },
		{ "enxb827eb010203", "enxnumber" },
		{ "10.0.0.5-manager, 1.2.3, 1.2.3.4.5", "address-manager, 1.2.3, 1.address" },
		{ "10.0.0.1.10.0.0.2 10.0.0.10.0.0.0.5", "address.address address.address" },
		{ "luks-0f3a2b1c-aaaa-bbbb-cccc-0123456789ab", "luks-uuid" },
		{ "ffffffff,00000000 4294967295", "ffffffff,00000000 4294967295" },
		{ "0000:00:17.0 mlx5_comp0@pci:0000:01:00.0",
			"0000:00:17.0 mlx5_comp0@pci:0000:01:00.0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		becomes(state, scrub_text, cases[i][0], cases[i][1]);
}

/* Interfaces that are not in our network namespace are known by the queues behind them. */
static void test_actions(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ " 38:  7  PCI-MSIX-0000:00:17.0  2-edge  enp3s0-TxRx-0\n",
			" 38:  7  PCI-MSIX-0000:00:17.0  2-edge  net0-TxRx-0\n" },
		{ "acme-payroll-TxRx-0", "net-TxRx-0" },
		{ "eth0-Tx-Rx-0", "eth0-Tx-Rx-0" },
		{ "i801_smbus,acme-rx-0,eth1-tx-12", "i801_smbus,net-rx-0,eth1-tx-12" },
		{ "i40e-acme-TxRx-7, ice-eth0-TxRx-1", "i40e-net-TxRx-7, ice-eth0-TxRx-1" },
		{ "a-TxRx-1-Tx-Rx-3\nb-fp-4\n", "net-Tx-Rx-3\nnet-fp-4\n" },
		/* These are none. */
		{ "nvme0q1 virtio0-input.0 -TxRx-0 acme-TxRx-x",
			"nvme0q1 virtio0-input.0 -TxRx-0 acme-TxRx-x" },
		{ "acme-dmz-rxtx-0, acme-dmz-txrx-1", "net-rxtx-0, net-txrx-1" },
		{ "acme-sq-2, acme-Rx7, acme-q15, acme:rx-0",
			"net-sq-2, net-Rx7, net-q15, net:rx-0" },
		{ "nvme0q1, acme-queue, eth0-rxtx-3", "nvme0q1, acme-queue, eth0-rxtx-3" },
		{ "i40e-TxRx-0", "i40e-TxRx-0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		becomes(state, scrub_actions, cases[i][0], cases[i][1]);
}

static void test_own_names(void **state)
{
	becomes(state, scrub_own_names, "6.6.87.2-kitchen-pc", "6.6.87.2-host");
	becomes(state, scrub_own_names, "", "");
}

static void test_cmdline(void **state)
{
	becomes(state, scrub_cmdline,
		"BOOT_IMAGE=/vmlinuz root=UUID=0f3a2b1c-aaaa-bbbb-cccc-0123456789ab ro "
		"isolcpus=2-3 ip=10.0.0.5::10.0.0.1 systemd.hostname=kitchen-pc nohz_full=2-3 "
		"cryptdevice=secret -- init=/bin/sh isolcpus=1\n",
		"isolcpus=2-3 nohz_full=2-3\n");
	becomes(state, scrub_cmdline, "root=/dev/sda1\n", "\n");
}

static void test_version(void **state)
{
	becomes(state, scrub_version,
		"Linux version 6.1.0-18-amd64 (jo@kitchen-pc) (gcc (Debian 12.2) 12.2.0) #1 SMP "
		"2026\n",
		"Linux version 6.1.0-18-amd64 #1 SMP 2026\n");
	becomes(state, scrub_version, "Linux version 6.1.0-kitchen-pc (",
		"Linux version 6.1.0-host");
}

static void test_cpuinfo(void **state)
{
	becomes(state, scrub_cpuinfo,
		"processor\t: 0\nmodel name\t: ARMv7\nCPU part\t: 0xd03\n\nHardware\t: BCM2835\n"
		"Serial\t\t: 00000000abcdef01\nModel\t\t: Pi\n",
		"processor\t: 0\nmodel name\t: ARMv7\nCPU part\t: 0xd03\n\n");
	becomes(state, scrub_cpuinfo,
		"vendor_id       : IBM/S390\n# processors    : 1\n"
		"processor 1: version = 00,  identification = 279F25,  machine = 2817\n",
		"vendor_id       : IBM/S390\n# processors    : 1\n"
		"processor 1: version = 00,  identification = 000000,  machine = 2817\n");
}

static void test_sysinfo(void **state)
{
	becomes(state, scrub_sysinfo,
		"Manufacturer:         IBM\nSequence Code:        00000000000279F2\n"
		"LPAR Number:          12\nLPAR Name:            BANK1\n"
		"VM00 Name:            JOSGUEST\nVM00 Control Program: z/VM    6.4.0\n",
		"Manufacturer:         IBM\nLPAR Number:          12\n"
		"VM00 Control Program: z/VM    6.4.0\n");
}

static void test_swaps(void **state)
{
	becomes(state, scrub_swaps,
		"Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n"
		"/dev/mapper/jo-swap                     partition\t1048572\t12\t-2\n"
		"/home/jo\\040x/swap file\t16\t0\t-3\n",
		"Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n"
		"swap0\tpartition\t1048572\t12\t-2\n"
		"swap1\tfile\t16\t0\t-3\n");
	becomes(state, scrub_everything, "BANK1", "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_actions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cmdline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpuinfo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sysinfo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_swaps, setup, teardown),
	};

	return cmocka_run_group_tests_name("scrub", tests, NULL, NULL);
}
