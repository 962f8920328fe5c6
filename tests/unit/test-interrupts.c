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
#include <unistd.h>

#include "base/file.h"
#include "base/machine/interrupts.h"
#include "base/macro.h"
#include "base/text.h"

/* A reader for the CPUs of a list, on texts. */
static struct interrupts *reader_new(const char *cpus)
{
	struct cpumask *mask = NULL;
	struct interrupts *in = NULL;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list(cpus, 8192, mask, NULL), 0);
	assert_int_equal(interrupts_new(mask, &in), 0);
	cpumask_free(mask);
	return in;
}

static void read_text(struct interrupts *in, const char *text)
{
	assert_int_equal(interrupts_read_text(in, text, strlen(text)), 0);
}

/* "name +delta class" per line that fired, in one text. */
static void check_diff(const struct interrupts *in, const char *expected)
{
	static const char *const classes[] = { "device", "timer", "ipi", "thermal", "other" };
	struct text got = { 0 };
	struct interrupt_delta delta;
	size_t cursor = 0;

	while (interrupts_diff(in, &cursor, &delta))
		text_appendf(&got, "%s +%llu %s\n", delta.name, (unsigned long long)delta.delta,
			classes[delta.class]);
	text_append(&got, "");
	assert_false(got.failed);
	assert_string_equal(got.data, expected);
	text_clear(&got);
}

/* From nothing to `text`: what all its lines are called, counted and classed as. */
static void check_counts(
	const char *cpus, const char *empty, const char *text, const char *expected)
{
	struct interrupts *in = reader_new(cpus);

	read_text(in, empty);
	read_text(in, text);
	check_diff(in, expected);
	interrupts_free(in);
}

/* CPU 1 is offline: the third column is CPU 3. */
#define X86_HEADER "           CPU0       CPU2       CPU3       \n"

static void test_columns_of_online_cpus(_unused_ void **state)
{
	static const char text[] = X86_HEADER
		"  0:          7          8          9   IO-APIC    2-edge      timer\n"
		"  8:          1          0          0   IO-APIC    8-edge      rtc0\n"
		" 16:          0         20        300   IO-APIC   16-fasteoi   i801_smbus, ehci_hcd:usb1\n"
		"120:          0          0          0  DMAR-MSI    0-edge      dmar0\n"
		"121:          0          2          1 IR-PCI-MSIX-0000:00:03.0   1-edge      "
		"virtio2-input.0\n"
		"NMI:          4          5          6   Non-maskable interrupts\n"
		"LOC: 4294967295 4294967294 4294967293   Local timer interrupts\n"
		"IWI:          1          1          1   IRQ work interrupts\n"
		"RES:         10         20         30   Rescheduling interrupts\n"
		"CAL:         11         21         31   Function call interrupts\n"
		"TLB:         12         22         32   TLB shootdowns\n"
		"TRM:          0          0          2   Thermal event interrupts\n"
		"THR:          0          0          3   Threshold APIC interrupts\n"
		"MCE:          0          0          1   Machine check exceptions\n"
		"HVS:          0          0          5   Hyper-V stimer0 interrupts\n"
		"ERR:          3\n"
		"MIS:          4\n";

	check_counts("3", X86_HEADER, text,
		"0: timer +9 timer\n"
		"16: i801_smbus, ehci_hcd:usb1 +300 device\n"
		"121: virtio2-input.0 +1 device\n"
		"NMI: Non-maskable interrupts +6 other\n"
		/* 2^32 - 3 is more than any line fires between two readings. */
		"LOC: Local timer interrupts +4294967293 timer\n"
		"IWI: IRQ work interrupts +1 other\n"
		"RES: Rescheduling interrupts +30 ipi\n"
		"CAL: Function call interrupts +31 ipi\n"
		"TLB: TLB shootdowns +32 ipi\n"
		"TRM: Thermal event interrupts +2 thermal\n"
		"THR: Threshold APIC interrupts +3 other\n"
		"MCE: Machine check exceptions +1 other\n"
		"HVS: Hyper-V stimer0 interrupts +5 timer\n");
	/* CPU 1 has no column and adds nothing. */
	check_counts("0-2", X86_HEADER,
		X86_HEADER
		" 16:          1         20        300   IO-APIC   16-fasteoi   i801_smbus\n",
		"16: i801_smbus +21 device\n");
	check_counts("3,2", X86_HEADER,
		X86_HEADER
		" 16:          1         20        300   IO-APIC   16-fasteoi   i801_smbus\n",
		"16: i801_smbus +320 device\n");
}

static void test_arm(_unused_ void **state)
{
	static const char header[] = "           CPU0       CPU1       \n";
	static const char text[] =
		"           CPU0       CPU1       \n"
		" 11:       9000       9001     GICv3  30 Level     arch_timer\n"
		" 14:          1          2     GICv3  27 Level     kvm guest vtimer\n"
		" 25:          3          4     GICv3  38 Edge      uart-pl011\n"
		" 26:          0          5   ITS-PCI-MSI-0000:01:00.0   0 Edge      nvme0q1\n"
		"IPI0:        10         11       Rescheduling interrupts\n"
		"IPI1:        12         13       Function call interrupts\n"
		"IPI12:        0          1       CPU backtrace interrupts\n"
		"Err:          0\n";

	check_counts("1", header, text,
		"11: arch_timer +9001 timer\n"
		"14: kvm guest vtimer +2 timer\n"
		"25: uart-pl011 +4 device\n"
		"26: nvme0q1 +5 device\n"
		"IPI0: Rescheduling interrupts +11 ipi\n"
		"IPI1: Function call interrupts +13 ipi\n"
		"IPI12: CPU backtrace interrupts +1 ipi\n");
}

static void test_powerpc_has_two_rows_of_one_label(_unused_ void **state)
{
	static const char header[] = "           CPU0       CPU8       \n";
	static const char text[] =
		"           CPU0       CPU8       \n"
		" 16:          1          2      XICS   2 Edge      IPI\n"
		" 17:          1          3      XIVE-IPI   0 Edge      IPI-0\n"
		" 19:          0          4      XICS 4096 Level     ibmvscsi\n"
		"LOC:         10         20   Local timer interrupts for timer event device\n"
		"BCT:          0          6   Broadcast timer interrupts for timer event device\n"
		"LOC:         30         40   Local timer interrupts for others\n"
		"DBL:          0          7   Doorbell interrupts\n";

	check_counts("8", header, text,
		"16: IPI +2 ipi\n"
		"17: IPI-0 +3 ipi\n"
		"19: ibmvscsi +4 device\n"
		"LOC: Local timer interrupts for timer event device +20 timer\n"
		"BCT: Broadcast timer interrupts for timer event device +6 timer\n"
		"LOC: Local timer interrupts for others +40 timer\n"
		"DBL: Doorbell interrupts +7 ipi\n");
}

static void test_s390_leaves_sums_out(_unused_ void **state)
{
	static const char header[] = "           CPU0       CPU1       \n";
	static const char text[] = "           CPU0       CPU1       \n"
				   "EXT:\t       100        200 \n"
				   "I/O:\t         3          4 \n"
				   "AIO:\t         5          6 \n"
				   "CLK:\t        10         20  [EXT] Clock Comparator\n"
				   "EXC:\t         1          2  [EXT] External Call\n"
				   "EMS:\t         1          3  [EXT] Emergency Signal\n"
				   "TMR:\t         1          4  [EXT] CPU Timer\n"
				   "PFL:\t         1          5  [EXT] Pseudo Page Fault\n"
				   "SCP:\t         1          6  [EXT] Service Call\n"
				   "DAS:\t         1          7  [I/O] DASD\n"
				   "PCD:\t         1          8  [AIO] PCI Directed Interrupt\n"
				   "NMI:\t         0          9  [NMI] Machine Check\n";

	check_counts("1", header, text,
		"CLK: [EXT] Clock Comparator +20 timer\n"
		"EXC: [EXT] External Call +2 ipi\n"
		"EMS: [EXT] Emergency Signal +3 ipi\n"
		"TMR: [EXT] CPU Timer +4 timer\n"
		"PFL: [EXT] Pseudo Page Fault +5 other\n"
		"SCP: [EXT] Service Call +6 device\n"
		"DAS: [I/O] DASD +7 device\n"
		"PCD: [AIO] PCI Directed Interrupt +8 device\n"
		"NMI: [NMI] Machine Check +9 other\n");
}

/* Other widths, tabs, missing action, no newline at the end. */
static void test_spacing(_unused_ void **state)
{
	check_counts("1", "CPU0 CPU1\n", "CPU0 CPU1\n5: 10 11  chip 3 Edge  eth0\nLOC: 1 22  Tick",
		"5: eth0 +11 device\nLOC: Tick +22 timer\n");
	check_counts("0", "\tCPU0\tCPU1\n", "\tCPU0\tCPU1\n5:\t10\t11\tchip  eth0\n",
		"5: eth0 +10 device\n");
	/* A line whose handler is gone ends after its type. */
	check_counts("1", "  CPU1\n", "  CPU1\n 9:          4   IO-APIC    9-fasteoi   \n",
		"9: 9-fasteoi +4 device\n");
	check_counts("1", "  CPU1\n", "  CPU1\n 9:          4\n", "9 +4 device\n");
	/* With one CPU online a row for the machine is a row for that CPU. */
	check_counts("0", "  CPU0\n", "  CPU0\nERR:          2\n", "ERR +2 other\n");
	/* A counter wider than 32 bits is cut, here to 5. */
	check_counts("0", "  CPU0\n", "  CPU0\n 1: 4294967301  x\n", "1: x +5 device\n");
	/* Lines that are none. */
	check_counts(
		"0", "  CPU0\n", "  CPU0\n\n \nnonsense\n:  5\n 1 5\n 2: 6\n", "2 +6 device\n");
	/* "3-edge" is no counter. */
	check_counts("0", "  CPU0 CPU1\n", "  CPU0 CPU1\n 1: 5 3-edge x\n", "");
}

static void test_lines_come_and_go(_unused_ void **state)
{
	struct interrupts *in = reader_new("0");
	struct interrupt_delta delta;
	size_t cursor = 0;
	uint32_t line_of_b;

	read_text(in,
		"  CPU0\n 1:          5   chip  a\n 2:          6   chip  b\n"
		"LOC:          7   Tick\n");
	assert_false(interrupts_comparable(in));
	check_diff(in, "");
	read_text(in, "  CPU0\n 2:          8   chip  b\nLOC:          7   Tick\n");
	assert_true(interrupts_comparable(in));
	check_diff(in, "2: b +2 device\n");
	assert_true(interrupts_diff(in, &cursor, &delta));
	line_of_b = delta.line;
	assert_int_equal(line_of_b, 1);
	assert_false(interrupts_diff(in, &cursor, &delta));
	assert_false(interrupts_diff(in, &cursor, &delta));

	/* Line 1 is back, 3 is new and not at the end. */
	read_text(in,
		"  CPU0\n 1:          9   chip  a\n 2:          8   chip  b\n"
		" 3:          4   chip  c\nLOC:          8   Tick\n");
	check_diff(in, "1: a +9 device\nLOC: Tick +1 timer\n3: c +4 device\n");
	/* The same text again: nothing fired. */
	read_text(in,
		"  CPU0\n 1:          9   chip  a\n 2:          8   chip  b\n"
		" 3:          4   chip  c\nLOC:          8   Tick\n");
	check_diff(in, "");
	/* Turned round. */
	read_text(in,
		"  CPU0\nLOC:          9   Tick\n 3:          5   chip  c\n"
		" 2:         10   chip  b\n 1:         12   chip  a\n");
	check_diff(in, "1: a +3 device\n2: b +2 device\nLOC: Tick +1 timer\n3: c +1 device\n");
	cursor = 0;
	assert_true(interrupts_diff(in, &cursor, &delta));
	assert_true(interrupts_diff(in, &cursor, &delta));
	assert_int_equal(delta.line, line_of_b);
	interrupts_free(in);
}

static void test_renamed_line(_unused_ void **state)
{
	struct interrupts *in = reader_new("0");
	struct interrupt_delta delta;
	size_t cursor = 0;
	uint32_t line;

	read_text(in, "  CPU0\n16:       1000   IO-APIC  ehci\n");
	read_text(in, "  CPU0\n16:       1001   IO-APIC  ehci\n");
	assert_true(interrupts_diff(in, &cursor, &delta));
	line = delta.line;
	/* A second handler on the line: its former counts are not new. */
	read_text(in, "  CPU0\n16:       1004   IO-APIC  ehci, smbus\n");
	check_diff(in, "16: ehci, smbus +3 device\n");
	cursor = 0;
	assert_true(interrupts_diff(in, &cursor, &delta));
	assert_true(delta.line != line);
	read_text(in, "  CPU0\n16:       1006   IO-APIC  ehci, smbus\n");
	check_diff(in, "16: ehci, smbus +2 device\n");
	/* And back, then taken down and set up again by somebody else. */
	read_text(in, "  CPU0\n16:       1007   IO-APIC  ehci\n");
	check_diff(in, "16: ehci +1 device\n");
	read_text(in, "  CPU0\n16:          4   IO-APIC  nvme0q0\n");
	check_diff(in, "16: nvme0q0 +4 device\n");
	interrupts_free(in);
}

static void test_counters_wrap(_unused_ void **state)
{
	static const struct {
		uint32_t before, after;
		unsigned long long delta;
	} cases[] = {
		{ 4294967290u, 4, 10 },
		{ 4294967295u, 0, 1 },
		{ 0, 2147483647u, 2147483647u },
		{ 1, 2147483648u, 2147483647u },
		/* Set up again. */
		{ 1000, 3, 3 },
		{ 2147483649u, 1, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct interrupts *in = reader_new("0");
		char text[100], expected[100];

		snprintf(text, sizeof(text), "  CPU0\n 1: %10u  x\n", cases[i].before);
		read_text(in, text);
		snprintf(text, sizeof(text), "  CPU0\n 1: %10u  x\n", cases[i].after);
		read_text(in, text);
		snprintf(expected, sizeof(expected), "1: x +%llu device\n", cases[i].delta);
		check_diff(in, expected);
		interrupts_free(in);
	}
	/* The sum of two CPUs wraps although neither does. */
	check_counts("0-1", "  CPU0 CPU1\n 1: 3000000000 1294967290  x\n",
		"  CPU0 CPU1\n 1: 3000000005 1294967295  x\n", "1: x +10 device\n");
}

static void test_hotplug(_unused_ void **state)
{
	struct interrupts *in = reader_new("1,3");

	read_text(in, "  CPU0 CPU1 CPU3\n 1: 1 20 300  x\n");
	read_text(in, "  CPU0 CPU1 CPU3\n 1: 1 21 300  x\n");
	check_diff(in, "1: x +1 device\n");
	/* A CPU outside the mask goes: the columns move, nothing else. */
	read_text(in, "  CPU1 CPU3\n 1: 21 302  x\n");
	assert_true(interrupts_comparable(in));
	check_diff(in, "1: x +2 device\n");
	/* One of the mask goes: its counts with it. */
	read_text(in, "  CPU0 CPU1\n 1: 1 22  x\n");
	assert_false(interrupts_comparable(in));
	check_diff(in, "");
	read_text(in, "  CPU0 CPU1\n 1: 1 25  x\n");
	check_diff(in, "1: x +3 device\n");
	assert_int_equal(interrupts_read_text(in, "  CPU0\n 1: 1  x\n", 15), -ENODEV);
	assert_false(interrupts_comparable(in));
	read_text(in, "  CPU0 CPU1\n 1: 1 26  x\n");
	assert_false(interrupts_comparable(in));
	interrupts_free(in);
}

static void test_no_table(_unused_ void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"   \n 1: 5 x\n",
		" 1: 5 x\n",
		"CPU\n",
		"CPU0 CPUx\n",
		"CPU0 CPU1x\n",
		"CPU0,CPU1\n",
		"CPU99999999\n",
		"cpu0\n",
	};
	struct interrupts *in = reader_new("0");

	read_text(in, "CPU0\n 1: 5  x\n");
	read_text(in, "CPU0\n 1: 7  x\n");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(interrupts_read_text(in, texts[i], strlen(texts[i])), -EBADMSG);
		check_diff(in, "1: x +2 device\n");
	}
	interrupts_free(in);
}

/* 512 CPUs and 4096 lines in one text, in the kernel's spacing or in another. */
static char *big_table(unsigned n_cpus, unsigned n_lines, bool spaced, unsigned count)
{
	struct text text = { 0 };

	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		text_appendf(&text, "   CPU%u", cpu);
	text_append(&text, "\n");
	for (unsigned line = 0; line < n_lines; line++) {
		text_appendf(&text, "%4u:", line);
		for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
			unsigned value = cpu == 300 && line % 1000 == 7 ? count : line;

			text_appendf(&text, spaced ? " %10u" : " %u", value);
		}
		text_appendf(&text, "   IR-PCI-MSI  %u-edge      q%u\n", line, line);
	}
	return text_steal(&text);
}

static void test_big_table(_unused_ void **state)
{
	for (int spaced = 0; spaced < 2; spaced++) {
		struct interrupts *in = reader_new("300");

		for (unsigned count = 100000; count < 100300; count += 100) {
			char *text = big_table(512, 4096, spaced, count);

			assert_non_null(text);
			read_text(in, text);
			if (interrupts_comparable(in))
				check_diff(in,
					"7: q7 +100 device\n1007: q1007 +100 device\n"
					"2007: q2007 +100 device\n"
					"3007: q3007 +100 device\n"
					"4007: q4007 +100 device\n");
			free(text);
		}
		interrupts_free(in);
	}
}

/* A reading that is known to say what the last one said. */
static void test_repeated(_unused_ void **state)
{
	struct interrupts *in = reader_new("0");

	assert_int_equal(interrupts_repeat(in), -ENODATA);
	read_text(in, "    CPU0\n 1: 5 x  y\n");
	assert_false(interrupts_comparable(in));
	assert_int_equal(interrupts_repeat(in), 0);
	assert_true(interrupts_comparable(in));
	check_diff(in, "");
	read_text(in, "    CPU0\n 1: 7 x  y\n");
	check_diff(in, "1: y +2 device\n");
	assert_int_equal(interrupts_repeat(in), 0);
	check_diff(in, "");
	assert_int_equal(interrupts_repeat(in), 0);
	/* What comes after it is compared with what was before it. */
	read_text(in, "    CPU0\n 1: 8 x  y\n 2: 3 x  z\n");
	check_diff(in, "1: y +1 device\n2: z +3 device\n");
	interrupts_free(in);
}

static void test_this_machine(_unused_ void **state)
{
	struct interrupts *in = NULL;
	struct cpumask *mask = NULL;

	if (access(INTERRUPTS_PATH, R_OK) < 0)
		return;
	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_get_self(mask), 0);
	assert_int_equal(interrupts_new(mask, &in), 0);
	cpumask_free(mask);
	for (int i = 0; i < 2; i++) {
		char *text = NULL;

		assert_int_equal(file_read_all(INTERRUPTS_PATH, 64 << 20, &text, NULL), 0);
		read_text(in, text);
		free(text);
	}
	assert_true(interrupts_comparable(in));
	interrupts_free(in);
}

static void test_busiest(_unused_ void **state)
{
	static const char before[] =
		"           CPU0       CPU1       CPU3\n"
		" 24:          5          0 4294967290  PCI-MSI 1-edge  nvme0q1\n"
		"ERR:          9\n"
		"LOC:        100        100        100   Local timer\n"
		"CAL:          0         10          0   Function call\n",
			  after[] =
				  "           CPU0       CPU1       CPU3\n"
				  " 24:          5          3          2  PCI-MSI 1-edge  nvme0q1\n"
				  "ERR:        999\n"
				  "LOC:        900        100        100   Local timer\n"
				  "CAL:          0         14          0   Function call\n",
			  other[] = "           CPU0       CPU3\n"
				    " 24:          5          0  PCI-MSI 1-edge  nvme0q1\n";
	struct cpumask *mask = NULL;
	int cpu = -1;

	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list("0-3", 8, mask, NULL), 0);
	/* Eight of CPU 3, whose counter wrapped; seven of CPU 1; CPU 0 has only ticks. */
	assert_int_equal(interrupts_find_busiest(mask, before, after, &cpu), 0);
	assert_int_equal(cpu, 3);
	cpumask_clear(mask, 3);
	assert_int_equal(interrupts_find_busiest(mask, before, after, &cpu), 0);
	assert_int_equal(cpu, 1);
	assert_int_equal(interrupts_find_busiest(mask, before, before, &cpu), 0);
	assert_int_equal(cpu, 0);
	assert_int_equal(interrupts_find_busiest(mask, before, other, &cpu), -ESTALE);
	assert_int_equal(interrupts_find_busiest(mask, before, "", &cpu), -EBADMSG);
	assert_int_equal(interrupts_find_busiest(mask, "x\n", after, &cpu), -EBADMSG);
	cpumask_clear(mask, 0);
	cpumask_clear(mask, 1);
	assert_int_equal(interrupts_find_busiest(mask, before, after, &cpu), -ENODEV);
	assert_int_equal(cpu, 0);
	cpumask_free(mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_of_online_cpus),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_powerpc_has_two_rows_of_one_label),
		cmocka_unit_test(test_s390_leaves_sums_out),
		cmocka_unit_test(test_spacing),
		cmocka_unit_test(test_lines_come_and_go),
		cmocka_unit_test(test_renamed_line),
		cmocka_unit_test(test_counters_wrap),
		cmocka_unit_test(test_hotplug),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_big_table),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_busiest),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests_name("interrupts", tests, NULL, NULL);
}
