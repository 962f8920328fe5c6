// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "library/clock.h"

enum {
	PAIR_TRIES = 16,
	COST_TRIES = 16,
};

const char *clock_name(enum qs_clock kind)
{
	switch (kind) {
	case QS_CLOCK_TSC:
		return "tsc";
	case QS_CLOCK_CNTVCT:
		return "cntvct_el0";
	case QS_CLOCK_MONOTONIC:
		return "CLOCK_MONOTONIC";
	default:
		return "CLOCK_MONOTONIC_RAW";
	}
}

uint64_t clock_read_ns(clockid_t clockid)
{
	struct timespec now;

	clock_gettime(clockid, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The cost of reading the clock in ns: the least of several tries. */
static uint64_t clock_cost(clockid_t clockid)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < COST_TRIES; i++) {
		uint64_t began = clock_read_ns(CLOCK_MONOTONIC), ended;

		for (int j = 0; j < COST_TRIES; j++)
			(void)clock_read_ns(clockid);
		ended = clock_read_ns(CLOCK_MONOTONIC);
		if (ended - began < least)
			least = ended - began;
	}
	return least / COST_TRIES;
}

/* Chooses CLOCK_MONOTONIC_RAW, which NTP does not adjust, unless reading it takes a system call,
 * which is ten times as slow: vDSOs had no CLOCK_MONOTONIC_RAW before Linux 5.3
 * (lib/vdso/gettimeofday.c). */
static void choose_kernel_clock(const char *why, struct clock *ret)
{
	int slow = clock_cost(CLOCK_MONOTONIC_RAW) > 4 * clock_cost(CLOCK_MONOTONIC);

	*ret = (struct clock){
		.kind = slow ? QS_CLOCK_MONOTONIC : QS_CLOCK_MONOTONIC_RAW,
		.why_no_counter = why,
		.clockid = slow ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW,
		.ticks_per_second = 1e9,
	};
}

#if defined(__x86_64__)
/* Whether the kernel keeps time by the TSC: 1 or 0; -EIO when that cannot be read. */
static int is_kernel_clock(void)
{
	char text[64];
	ssize_t n;
	int fd;

	fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -EIO;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	text[n] = '\0';
	return strcmp(text, "tsc\n") == 0;
}

static const char *tsc_objection(void)
{
	unsigned eax, ebx, ecx, edx;
	int r;

	/* "TscInvariant": Intel SDM volume 3, 18.17.1; AMD APM volume 3, appendix E.4.7. */
	if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & 1U << 8))
		return "the CPU does not say that its TSC is invariant";
	/* The kernel checks more: it compares the TSCs of all CPUs, and watches the TSC at run
	 * time. */
	r = is_kernel_clock();
	if (r < 0)
		return "the kernel does not tell its clock source";
	return r ? NULL : "the kernel does not keep time by the TSC";
}

static int check_rdtscp(void)
{
	unsigned eax, ebx, ecx, edx;

	if (!__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) || !(edx & 1U << 27))
		return -EOPNOTSUPP;
	return 0;
}
#endif

int clock_choose(int stamps, struct clock *ret)
{
#if defined(__x86_64__) || defined(__aarch64__)
	const char *why = NULL;
	int access = PR_TSC_ENABLE;

	if (!stamps) {
		choose_kernel_clock("the program was compiled for CLOCK_MONOTONIC_RAW", ret);
		return 0;
	}
	/* arm64 has this prctl(2) since Linux 6.12; before, the call fails and access is always
	 * allowed. */
	if (prctl(PR_GET_TSC, &access, 0, 0, 0) == 0 && access == PR_TSC_SIGSEGV)
		return -EPERM;
#if defined(__x86_64__)
	{
		int r = check_rdtscp();

		if (r < 0)
			return r;
	}
	why = tsc_objection();
	if (!why)
		*ret = (struct clock){ .kind = QS_CLOCK_TSC, .clockid = CLOCK_MONOTONIC_RAW };
#else
	{
		uint64_t hz;

		/* The architecture defines one count for all CPUs at a constant rate (Arm ARM,
		 * D12.1). On a CPU with an erratum the kernel emulates the read: slow, but
		 * correct. */
		__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
		*ret = (struct clock){ .kind = QS_CLOCK_CNTVCT,
			.clockid = CLOCK_MONOTONIC_RAW,
			.ticks_per_second = (double)hz };
	}
#endif
	if (why)
		choose_kernel_clock(why, ret);
	return 0;
#else
	if (stamps)
		return -EOPNOTSUPP;
	choose_kernel_clock("the library knows no counter of this architecture", ret);
	return 0;
#endif
}

int clock_is_sound(const struct clock *clock)
{
#if defined(__x86_64__)
	return clock->kind != QS_CLOCK_TSC || is_kernel_clock() != 0;
#else
	(void)clock;
	return 1;
#endif
}

void clock_read_pair(struct clock_pair *ret)
{
	*ret = (struct clock_pair){ .gap = UINT64_MAX };
	for (int i = 0; i < PAIR_TRIES; i++) {
		struct qs_sampler none = { .clockid = CLOCK_MONOTONIC_RAW };
		uint64_t before = qs_stamp_begin(&none);
		uint64_t ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t after = qs_stamp_begin(&none);

		if (after - before < ret->gap)
			*ret = (struct clock_pair){
				.ticks = before + (after - before) / 2,
				.raw_ns = ns,
				.gap = after - before,
			};
	}
}
