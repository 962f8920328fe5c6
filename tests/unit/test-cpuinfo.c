// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/cpuinfo.h"
#include "base/macro.h"
#include "base/text.h"

#define X86                                                                     \
	"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"          \
	"model name\t:   Intel(R) Xeon(R) Processor  \ncpu MHz\t\t: 2300.500\n" \
	"flags\t\t: fpu vme hypervisor lahf_lm\n\n"                             \
	"processor\t: 1\nvendor_id\t: GenuineIntel\n"                           \
	"model name\t: Other\ncpu MHz\t\t: 800.000\nflags\t\t: fpu\n\n"

#define ARM                                                                  \
	"processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\n"        \
	"CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n" \
	"CPU part\t: 0xd87\nCPU revision\t: 1\n\n"                           \
	"processor\t: 5\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\n"        \
	"CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n" \
	"CPU part\t: 0xd85\nCPU revision\t: 2\n\n"

#define POWER                                                               \
	"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"              \
	"clock\t\t: 3425.000000MHz\nrevision\t: 2.2 (pvr 004e 1202)\n\n"    \
	"processor\t: 8\ncpu\t\t: POWER9, altivec supported\n"              \
	"clock\t\t: 2166.000000MHz\nrevision\t: 2.2 (pvr 004e 1202)\n\n"    \
	"timebase\t: 512000000\nplatform\t: PowerNV\nmodel\t\t: 9006-22P\n" \
	"machine\t\t: PowerNV 9006-22P\n"

#define S390                                                                            \
	"vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 14367.00\n" \
	"features\t: esan3 zarch\n"                                                     \
	"processor 1: version = 00,  identification = 279F25,  machine = 2817\n"        \
	"processor 2: version = 00,  identification = 279F25,  machine = 2817\n"

#define S390_NEW                                                                  \
	S390 "\ncpu number      : 1\nphysical id     : 1\nversion         : 00\n" \
	     "identification  : 279F25\nmachine         : 3931\ncpu MHz dynamic : 5200\n"

static void test_models(_unused_ void **state)
{
	static const struct {
		const char *text;
		int cpu;
		const char *model, *machine;
		bool hypervisor;
	} cases[] = {
		{ X86, 0, "Intel(R) Xeon(R) Processor", NULL, true },
		{ X86, 1, "Other", NULL, true },
		/* Not in it: the first one will do. */
		{ X86, 7, "Intel(R) Xeon(R) Processor", NULL, true },
		{ ARM, 0, "Cortex-A725 r0p1", NULL, false },
		{ ARM, 5, "Cortex-X925 r1p2", NULL, false },
		{ "processor : 0\nCPU implementer : 0x48\nCPU variant : 0x1\nCPU part : 0xd01\n"
		  "CPU revision : 0\n",
			0, "implementer 0x48 part 0xd01 r1p0", NULL, false },
		{ "processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n", 0,
			"implementer 0x41 part 0xfff", NULL, false },
		{ POWER, 8, "POWER9, altivec supported", "PowerNV 9006-22P", false },
		{ S390, 1, "IBM/S390", "2817", false },
		{ "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", 0,
			"sifive,u74-mc", NULL, false },
		{ "system type : generic-loongson-machine\n\nprocessor : 0\n"
		  "Model Name : Loongson-3A5000-HV\n",
			0, "Loongson-3A5000-HV", NULL, false },
		/* A word that is not the flag. */
		{ "processor : 0\nflags : hypervisors nohypervisor\n", 0, NULL, NULL, false },
		{ "processor : 0\nflags : hypervisor", 0, NULL, NULL, true },
		{ "", 0, NULL, NULL, false },
		{ "nonsense\n:\n: \nmodel name\n", 0, NULL, NULL, false },
		{ "model name : no processor line", 0, "no processor line", NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpuinfo info = { 0 };

		fprintf(stderr, "case %zu\n", i);
		assert_int_equal(cpuinfo_parse(cases[i].text, cases[i].cpu, &info), 0);
		if (cases[i].model)
			assert_string_equal(info.model, cases[i].model);
		else
			assert_null(info.model);
		if (cases[i].machine)
			assert_string_equal(info.machine, cases[i].machine);
		else
			assert_null(info.machine);
		assert_int_equal(info.hypervisor, cases[i].hypervisor);
		cpuinfo_clear(&info);
		cpuinfo_clear(&info);
	}
}

/* Later kernels have blocks per CPU on s390, too. */
static void test_s390_blocks(_unused_ void **state)
{
	struct cpuinfo info = { 0 };

	assert_int_equal(cpuinfo_parse(S390_NEW, 1, &info), 0);
	assert_string_equal(info.machine, "3931");
	cpuinfo_clear(&info);
}

/* A value longer than anything that names a CPU. */
static void test_long_value(_unused_ void **state)
{
	struct text text = { 0 };
	struct cpuinfo info = { 0 };

	text_append(&text, "processor : 0\nmodel name : ");
	for (int i = 0; i < 1000; i++)
		text_append(&text, "x");
	text_append(&text, "\nvendor_id : short\n");
	assert_false(text.failed);
	assert_int_equal(cpuinfo_parse(text.data, 0, &info), 0);
	assert_string_equal(info.model, "short");
	cpuinfo_clear(&info);
	text_clear(&text);
}

static void check_mhz(const char *text, const char *expected)
{
	struct text got = { 0 };
	const char *cursor = text;
	double mhz;
	int cpu;

	while (cpuinfo_next_mhz(&cursor, &cpu, &mhz))
		text_appendf(&got, "%d=%.3f ", cpu, mhz);
	text_append(&got, "");
	assert_false(got.failed);
	assert_string_equal(got.data, expected);
	text_clear(&got);
}

static void test_mhz(_unused_ void **state)
{
	check_mhz(X86, "0=2300.500 1=800.000 ");
	check_mhz(POWER, "0=3425.000 8=2166.000 ");
	check_mhz(ARM, "");
	check_mhz(S390, "");
	check_mhz("", "");
	check_mhz("cpu MHz : 100\n", "");
	check_mhz("processor : x\ncpu MHz : 100\n", "");
	check_mhz("processor : 3\ncpu MHz : unknown\ncpu MHz : -1\ncpu MHz : 1e3\n", "");
	check_mhz("processor : 3\ncpu MHz : 100", "3=100.000 ");
}

static void test_this_machine(_unused_ void **state)
{
	struct cpuinfo info = { 0 };
	char *text = NULL;

	assert_int_equal(cpuinfo_read(&text), 0);
	assert_int_equal(cpuinfo_parse(text, 0, &info), 0);
	cpuinfo_clear(&info);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_s390_blocks),
		cmocka_unit_test(test_long_value),
		cmocka_unit_test(test_mhz),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests_name("cpuinfo", tests, NULL, NULL);
}
