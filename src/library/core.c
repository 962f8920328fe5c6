// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "library/core.h"

#if QS_STAMPS
enum {
	TRIES = 8,
	LOOP_NS = 500,
	LOOP_MAX_NS = 40 * 1000,
	/* One loop takes at least this many steps of the clock, so that a reading of many loops is
	 * not off by more than a fraction of a percent. */
	LOOP_MIN_STEPS = 32,
	FIRST_ROUNDS = 32,
	/* A part of a reading: these many loops of additions, and two kinds of chains, one of them
	 * several times as long. */
	ADDS_PER_PART = 3,
	CHAINS_PER_PART = 2,
	LONGER = 4,
	/* No core does as many additions in a cycle: the chains of the reading were interrupted. */
	TOO_MANY_ADDS = 16,
	/* So many that counting the rounds costs next to nothing: on a core with four units for
	 * both, a loop of 16 additions does 6 % fewer additions per cycle. */
	ADDITIONS_PER_ROUND = 64,
	/* What most cores do in a cycle, by which a loop of additions takes as long as the longer
	 * chain. */
	USUAL_ADDS = 4,
	/* Loops of additions that took more than this many times as long as the fastest one were
	 * interrupted: beside another hardware thread they take up to twice as long. */
	INTERRUPTED = 3,
};

#if defined(__x86_64__)
/* Eight multiplications of 32 bits, 3 cycles each on all cores of Intel since 2006 and of AMD since
 * Zen (Agner Fog, "Instruction tables"; uops.info). Multiplications, because a chain of them leaves
 * two of three cycles free: a chain of additions becomes 3 % slower beside another thread. */
enum {
	CYCLES_PER_ROUND = 24
};

static void run_chain(uint64_t rounds)
{
	uint32_t value = 3;

	__asm__ volatile("1:\n\t"
			 "imull %2, %0\n\timull %2, %0\n\timull %2, %0\n\timull %2, %0\n\t"
			 "imull %2, %0\n\timull %2, %0\n\timull %2, %0\n\timull %2, %0\n\t"
			 "subq $1, %1\n\tjnz 1b"
			 : "+&r"(value), "+&r"(rounds)
			 : "r"(5)
			 : "cc");
}

static void run_additions(uint64_t rounds)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

	__asm__ volatile("1:\n\t"
			 ".rept 8\n\t"
			 "addq %9, %0\n\taddq %9, %1\n\taddq %9, %2\n\taddq %9, %3\n\t"
			 "addq %9, %4\n\taddq %9, %5\n\taddq %9, %6\n\taddq %9, %7\n\t"
			 ".endr\n\t"
			 "subq $1, %8\n\tjnz 1b"
			 : "+&r"(a), "+&r"(b), "+&r"(c), "+&r"(d), "+&r"(e), "+&r"(f), "+&r"(g),
			 "+&r"(h), "+&r"(rounds)
			 : "r"(UINT64_C(3))
			 : "cc");
}
#else
/* Sixteen additions, one cycle each on all cores (multiplications take 2 to 5). Cores of arm64 have
 * one hardware thread, with few exceptions. */
enum {
	CYCLES_PER_ROUND = 16
};

static void run_chain(uint64_t rounds)
{
	uint64_t value = 3;

	__asm__ volatile("1:\n\t"
			 "add %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\t"
			 "add %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\t"
			 "add %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\t"
			 "add %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\tadd %0, %0, %2\n\t"
			 "subs %1, %1, #1\n\tb.ne 1b"
			 : "+&r"(value), "+&r"(rounds)
			 : "r"(UINT64_C(3))
			 : "cc");
}

static void run_additions(uint64_t rounds)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

	__asm__ volatile("1:\n\t"
			 ".rept 8\n\t"
			 "add %0, %0, %9\n\tadd %1, %1, %9\n\tadd %2, %2, %9\n\tadd %3, %3, %9\n\t"
			 "add %4, %4, %9\n\tadd %5, %5, %9\n\tadd %6, %6, %9\n\tadd %7, %7, %9\n\t"
			 ".endr\n\t"
			 "subs %8, %8, #1\n\tb.ne 1b"
			 : "+&r"(a), "+&r"(b), "+&r"(c), "+&r"(d), "+&r"(e), "+&r"(f), "+&r"(g),
			 "+&r"(h), "+&r"(rounds)
			 : "r"(UINT64_C(3))
			 : "cc");
}
#endif

/* QEMU without KVM: its time has nothing to do with the instructions that the guest executes. The
 * leaf and the signature are those of target/i386/cpu.c. */
static int is_emulated(void)
{
#if defined(__x86_64__)
	unsigned eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & 1U << 31))
		return 0;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	/* "TCGTCGTCGTCG" */
	return ebx == 0x54474354 && ecx == 0x43544743 && edx == 0x47435447;
#else
	return 0;
#endif
}

static uint64_t read_ticks(const struct clock *clock)
{
	struct qs_sampler none = { .clockid = clock->clockid };

	return clock->kind == QS_CLOCK_TSC || clock->kind == QS_CLOCK_CNTVCT
		? qs_stamp_begin(&none)
		: clock_read_ns(clock->clockid);
}

static uint64_t time_loop(const struct clock *clock, void (*loop)(uint64_t), uint64_t rounds)
{
	uint64_t began = read_ticks(clock);

	loop(rounds);
	return read_ticks(clock) - began;
}

/* The ticks and the time of one moment. */
static void read_both(const struct clock *clock, struct clock_pair *ret)
{
	if (clock->kind == QS_CLOCK_TSC || clock->kind == QS_CLOCK_CNTVCT) {
		clock_read_pair(ret);
	} else {
		ret->ticks = ret->raw_ns = read_ticks(clock);
		ret->gap = 0;
	}
}

/* The smallest step of the clock that can be seen, reading it included. */
static uint64_t find_step(const struct clock *clock)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = read_ticks(clock), now;

		do
			now = read_ticks(clock);
		while (now == before);
		if (now - before < least)
			least = now - before;
	}
	return least;
}

/* Times of loops of additions: the sum is of those that were not interrupted. */
struct loops {
	uint64_t least;
	uint64_t sum;
	uint64_t n;
};

/* When the first loop was interrupted, a later one shows it, and the sum begins anew. */
static void add_loop(struct loops *loops, uint64_t ticks)
{
	if (loops->n > 0 && ticks > INTERRUPTED * loops->least)
		return;
	if (loops->n > 0 && loops->least > INTERRUPTED * ticks)
		*loops = (struct loops){ 0 };
	if (loops->n == 0 || ticks < loops->least)
		loops->least = ticks;
	loops->sum += ticks;
	loops->n++;
}

static void keep_least(uint64_t *least, uint64_t ticks)
{
	if (ticks < *least)
		*least = ticks;
}

/* The number of rounds of additions that take as long as the longer chain. */
static uint64_t addition_rounds(const struct core *core)
{
	return core->rounds * LONGER * CYCLES_PER_ROUND * USUAL_ADDS / ADDITIONS_PER_ROUND;
}

/*
 * The fastest chains count, because nothing makes a chain faster. The mean of the additions counts,
 * because the question is how long another thread was at work. The difference between the longer
 * and the shorter chain does not contain the reading of the clock, which is subtracted from the
 * additions as well. If the core predicts the branch at the end of a loop wrongly, this costs a
 * chain nothing, because the core finds out long before the chain is done, but it costs the
 * additions 10 to 20 cycles. That is why their loop has to be long: this is half a percent of
 * thousands of cycles, but was ten percent of 140.
 */
static void conclude(const struct core *core, const struct loops *adds, uint64_t chain,
	uint64_t longer, double ns_per_tick, struct core_reading *ret)
{
	double ticks = ((double)longer - (double)chain) / (LONGER - 1);
	double around = (double)chain > ticks ? (double)chain - ticks : 0;
	double cycles = (double)core->rounds * CYCLES_PER_ROUND;
	double additions = (double)addition_rounds(core) * ADDITIONS_PER_ROUND;
	double taken = (double)adds->sum / (double)adds->n - around, rate;

	*ret = (struct core_reading){ 0 };
	if (!(ticks > 0) || !(taken > 0) || !(ns_per_tick > 0))
		return;
	rate = additions / (taken / ticks * cycles);
	if (rate >= TOO_MANY_ADDS)
		return;
	ret->adds = rate;
	ret->hertz = cycles / (ticks * ns_per_tick * 1e-9);
}

void core_read(const struct core *core, uint64_t ns, struct core_reading *ret)
{
	const struct clock *clock = &core->clock;
	uint64_t chain = UINT64_MAX, longer = UINT64_MAX;
	struct clock_pair before, after;
	struct loops adds = { 0 };
	uint64_t rounds = addition_rounds(core);

	read_both(clock, &before);
	do {
		for (int i = 0; i < ADDS_PER_PART; i++)
			add_loop(&adds, time_loop(clock, run_additions, rounds));
		for (int i = 0; i < CHAINS_PER_PART; i++) {
			keep_least(&chain, time_loop(clock, run_chain, core->rounds));
			keep_least(&longer, time_loop(clock, run_chain, LONGER * core->rounds));
		}
	} while (clock_read_ns(CLOCK_MONOTONIC_RAW) - before.raw_ns + core->least_ns <= ns);
	read_both(clock, &after);
	conclude(core, &adds, chain, longer,
		(double)(after.raw_ns - before.raw_ns) / (double)(after.ticks - before.ticks), ret);
}

/* Sets the number of rounds that make a loop of at least so many ticks. */
static void calibrate(struct core *core, uint64_t ticks)
{
	for (core->rounds = FIRST_ROUNDS;; core->rounds *= 2) {
		uint64_t least = UINT64_MAX;

		for (int i = 0; i < TRIES; i++)
			keep_least(&least, time_loop(&core->clock, run_chain, core->rounds));
		if (2 * least >= ticks)
			break;
	}
}

int core_open(struct core *ret)
{
	struct core core = { 0 };
	struct clock_pair before, after;
	uint64_t step;
	int is_known = 0, r;
	double per_tick;

	if (is_emulated())
		return -EOPNOTSUPP;
	r = clock_choose(1, &core.clock);
	if (r < 0)
		return r;
	read_both(&core.clock, &before);
	step = find_step(&core.clock);
	/* Long enough for the rate of the ticks to be known to a percent. */
	do
		read_both(&core.clock, &after);
	while (after.raw_ns - before.raw_ns < 20 * LOOP_NS);
	per_tick = (double)(after.raw_ns - before.raw_ns) / (double)(after.ticks - before.ticks);
	if ((double)step * per_tick * LOOP_MIN_STEPS > LOOP_MAX_NS)
		return -EOPNOTSUPP;
	calibrate(&core,
		(double)step * LOOP_MIN_STEPS > LOOP_NS / per_tick
			? step * LOOP_MIN_STEPS
			: (uint64_t)(LOOP_NS / per_tick));
	/* One part each. The first one also fills the caches, and any of them may be interrupted.
	 */
	for (int i = 0; i < TRIES; i++) {
		struct core_reading reading;

		read_both(&core.clock, &before);
		core_read(&core, 0, &reading);
		read_both(&core.clock, &after);
		if (core.least_ns == 0 || after.raw_ns - before.raw_ns < core.least_ns)
			core.least_ns = after.raw_ns - before.raw_ns;
		is_known = is_known || reading.adds > 0;
	}
	if (!is_known)
		return -EOPNOTSUPP;
	*ret = core;
	return 0;
}

#else

int core_open(struct core *ret)
{
	(void)ret;
	return -EOPNOTSUPP;
}

void core_read(const struct core *core, uint64_t ns, struct core_reading *ret)
{
	(void)core;
	(void)ns;
	*ret = (struct core_reading){ 0 };
}
#endif
