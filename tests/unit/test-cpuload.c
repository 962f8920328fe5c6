// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine/cpuload.h"
#include "base/macro.h"
#include "base/text.h"

enum {
	N_CPUS = 4,
	/* Behind them, to be left alone. */
	N_MORE = 2,
};

/* What is added up for each CPU, with a blank behind each; NULL when the text is refused. */
static void check_interrupts(const char *text, const char *expected)
{
	uint64_t counts[N_CPUS + N_MORE] = { 0 };
	struct text got = { 0 };
	int r;

	fprintf(stderr, "text '%s'\n", text);
	r = cpuload_parse_interrupts(text, N_CPUS, counts);
	assert_int_equal(r, expected ? 0 : -EBADMSG);
	for (size_t i = 0; i < N_CPUS; i++)
		text_appendf(&got, "%" PRIu64 " ", counts[i]);
	for (size_t i = N_CPUS; i < ARRAY_SIZE(counts); i++)
		assert_true(counts[i] == 0);
	assert_false(got.failed);
	assert_string_equal(got.data, expected ? expected : "0 0 0 0 ");
	text_clear(&got);
}

#define HEADER "           CPU0       CPU2       CPU3       \n"

/* x86, CPU 1 offline. */
static void test_devices_only(_unused_ void **state)
{
	check_interrupts(HEADER
		"  0:          7          8          9   IO-APIC    2-edge      timer\n"
		"  8:          1          0          0   IO-APIC    8-edge      rtc0\n"
		" 16:          0         20        300   IO-APIC   16-fasteoi   i801_smbus\n"
		"121:          0          2          1  IR-PCI-MSIX-0000:00:03.0  1-edge  virtio2\n"
		"NMI:         40         50         60   Non-maskable interrupts\n"
		"LOC:       1000       1000       1000   Local timer interrupts\n"
		"RES:        100        100        100   Rescheduling interrupts\n"
		"ERR:          3\n"
		"MIS:          4\n",
		"1 0 22 301 ");
}

/* s390: devices have labels, and sums above them. */
static void test_devices_without_numbers(_unused_ void **state)
{
	check_interrupts("           CPU1       CPU2       \n"
			 "EXT:      30000      10000\n"
			 "I/O:      40400      10400\n"
			 "AIO:          0          0\n"
			 "CLK:      30000      10000   [EXT] Clock Comparator\n"
			 "EXC:        900        900   [EXT] External Call\n"
			 "VRT:          5          6   [EXT] Virtio\n"
			 "CIO:        400        400   [I/O] Common I/O Layer Interrupt\n"
			 "DAS:      40000      10000   [I/O] DASD\n"
			 "PAI:         10         20   [AIO] AP Bus\n"
			 "NMI:          7          7   [NMI] Machine Check\n",
		"0 40415 10426 0 ");
}

/* Arm's timers and powerpc's messages have numbers, but are no devices. */
static void test_numbers_without_devices(_unused_ void **state)
{
	check_interrupts("           CPU0       CPU1       \n"
			 " 11:      90000      60000     GICv3  30 Level     arch_timer\n"
			 " 16:        100        200      XICS   2 Edge      IPI\n"
			 " 27:       5200          0     GICv3 109 Level     ttyS0\n"
			 "IPI0:      1500       1500       Rescheduling interrupts\n"
			 "Err:          0\n",
		"5200 0 0 0 ");
}

static void test_odd_texts(_unused_ void **state)
{
	static const struct {
		const char *text;
		const char *counts; /* NULL when it is refused */
	} cases[] = {
		{ "", NULL },
		{ "\n", NULL },
		{ "   \n", NULL },
		{ " 1: 5 x\n", NULL },
		{ "\n CPU0\n 1: 5 x\n", NULL },
		{ "CPU", NULL },
		{ "CPU\n1: 2 3\n", NULL },
		{ "CPU \n", NULL },
		{ "CPU 1\n", NULL },
		{ "CPUx\n", NULL },
		{ "CPU-1\n", NULL },
		{ "CPU0x\n", NULL },
		{ "CPU0CPU1\n", NULL },
		{ "XCPU0\n", NULL },
		{ "CPU0 x\n", NULL },
		{ "CPU0 1\n", NULL },
		{ "CPU2147483648\n", NULL },
		{ "CPU18446744073709551616\n", NULL },
		{ "CPU0", "0 0 0 0 " },
		{ "CPU0\n", "0 0 0 0 " },
		{ "CPU0\n\n\n", "0 0 0 0 " },
		{ "\tCPU0\tCPU1\n\t1:\t5\t6\tx\n", "5 6 0 0 " },
		/* The last line need not end. */
		{ "CPU0 CPU1\n1: 5 6", "5 6 0 0 " },
		{ "CPU0 CPU1\n1: 5", "0 0 0 0 " },
		{ "CPU0 CPU1\n1:", "0 0 0 0 " },
		{ "CPU0 CPU1\n1", "0 0 0 0 " },
		/* Columns in any order, of CPUs beyond those asked for as well. */
		{ "CPU3 CPU0 CPU4 CPU5\n1: 1 2 3 4 x\n", "2 0 0 1 " },
		/* Lines that do not count per CPU, between those that do. */
		{ "CPU0 CPU1\n1: 5\n2: 1 2 x\n3: 1 x\n", "1 2 0 0 " },
		/* The device's words are no columns, whatever they begin with. */
		{ "CPU0 CPU1\n1: 5 6-edge x\n", "0 0 0 0 " },
		{ "CPU0 CPU1\n1: 5 6 7-edge x\n", "5 6 0 0 " },
		/* None borrows from the next line. */
		{ "CPU0 CPU1\n1: 5\n 6: 7 8 x\n", "7 8 0 0 " },
		{ "CPU0 CPU1\n1\n:5 6\n", "0 0 0 0 " },
		{ "CPU0 CPU1\n: 5 6 x\n", "0 0 0 0 " },
		{ "CPU0 CPU1\n5 6 x\n", "0 0 0 0 " },
		{ "CPU0\n1: -5 x\n", "0 0 0 0 " },
		{ "CPU0\n1: 0x5 x\n", "0 0 0 0 " },
		{ "CPU0\n1: 4294967295 x\n2: 4294967295 x\n", "8589934590 0 0 0 " },
		{ "CPU0\n1: 18446744073709551616 x\n2: 1 x\n", "1 0 0 0 " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_interrupts(cases[i].text, cases[i].counts);
}

static void test_adds_to_what_is_there(_unused_ void **state)
{
	uint64_t counts[] = { 10, 20 };

	assert_int_equal(cpuload_parse_interrupts("CPU0 CPU1\n1: 1 2 x\n", 2, counts), 0);
	assert_true(counts[0] == 11 && counts[1] == 22);
	assert_int_equal(cpuload_parse_interrupts("CPU0 CPU1\n1: 1 2 x\n", 0, counts), 0);
	assert_int_equal(cpuload_parse_interrupts("CPU0 CPUx\n1: 1 2 x\n", 2, counts), -EBADMSG);
	assert_true(counts[0] == 11 && counts[1] == 22);
}

/* More columns than any table of fixed size would hold. */
static void test_many_cpus(_unused_ void **state)
{
	enum {
		MANY = 4096
	};
	static uint64_t counts[MANY];
	struct text text = { 0 };

	for (int cpu = 0; cpu < MANY; cpu++)
		text_appendf(&text, " CPU%d", cpu);
	text_append(&text, "\n 1:");
	for (int cpu = 0; cpu < MANY; cpu++)
		text_appendf(&text, " %d", cpu);
	text_append(&text, "  x\n");
	assert_false(text.failed);
	assert_int_equal(cpuload_parse_interrupts(text.data, MANY, counts), 0);
	for (int cpu = 0; cpu < MANY; cpu++)
		assert_true(counts[cpu] == (uint64_t)cpu);
	text_clear(&text);
}

static void ignore_alarm(_unused_ int signal)
{
}

/* A process that keeps a CPU busy until it is killed. */
static pid_t spin_on(int cpu)
{
	pid_t parent = getpid(), pid = fork();
	cpu_set_t set;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || sched_setaffinity(0, sizeof(set), &set) < 0)
		_exit(1);
	for (;;)
		;
}

/* A signal ends the sleep after 0.4 of 20 s: the CPU was busy all the time, not for 2 % of it. */
static void test_watches_for_less(_unused_ void **state)
{
	/* Repeated, because a signal before the sleep does not end it. */
	const struct itimerval alarm = { .it_value = { .tv_usec = 400000 },
		.it_interval = { .tv_usec = 100000 } };
	const struct itimerval none = { 0 };
	const struct sigaction action = { .sa_handler = ignore_alarm };
	struct topology *topology;
	struct cpuload *load;
	int cpu = sched_getcpu();
	pid_t pid;

	assert_int_equal(topology_new((unsigned)cpu + 1, &topology), 0);
	assert_int_equal(cpumask_set(topology->online, cpu), 0);
	pid = spin_on(cpu);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &alarm, NULL), 0);
	assert_int_equal(cpuload_watch(topology, INT64_C(20) * NSEC_PER_SEC, &load), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(load->busy[cpu] > 0.2);
	cpuload_free(load);
	topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices_only),
		cmocka_unit_test(test_devices_without_numbers),
		cmocka_unit_test(test_numbers_without_devices),
		cmocka_unit_test(test_odd_texts),
		cmocka_unit_test(test_adds_to_what_is_there),
		cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_watches_for_less),
	};

	return cmocka_run_group_tests_name("cpuload", tests, NULL, NULL);
}
