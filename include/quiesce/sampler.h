/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquiesce: takes time samples inside a process and stays out of the timed region.
 *
 *	struct qs_sampler *sampler;
 *	uint64_t began;
 *
 *	qs_open(&(struct qs_options){ .samples = 1000 }, &sampler);
 *	for (int i = 0; i < 1000; i++) {
 *		began = qs_begin(sampler);
 *		work();
 *		qs_end(sampler, began);
 *	}
 *	qs_settle(sampler);
 *	... qs_samples(), qs_count(), qs_nanoseconds() ...
 *	qs_close(sampler);
 *
 * Or leave all of that to qs_main(), which makes a program of a list of benchmarks.
 *
 * What lies between the stamps: nothing of ours. No call, no branch, no system call, no allocation,
 * no page fault, no write: the sample is stored after the end stamp, into memory that was touched
 * and locked before. The begin stamp is a value in your function; where your own code leaves no
 * register for it, the compiler keeps it on the stack.
 *
 * The clock. Both stamps are always reads of the CPU's counter, chosen when this header is
 * compiled:
 *
 *	x86-64	lfence; rdtsc; lfence  ...  rdtscp; lfence
 *		LFENCE waits for all earlier instructions, and lets no later one begin (Intel
 *		SDM volume 2, LFENCE, RDTSC, RDTSCP; on AMD since Linux 4.15 sets the bit that
 *		makes it so).
 *	arm64	isb; mrs cntvct_el0; isb  ...  isb; mrs cntvct_el0
 *	others	clock_gettime(CLOCK_MONOTONIC_RAW), and everywhere with QS_NO_COUNTER defined
 *
 * qs_open() finds out whether the counter is sound on this machine: on x86-64 when CPUID 0x80000007
 * says that it is invariant and the kernel itself keeps time by it (current_clocksource is tsc); on
 * arm64 by its architecture. Where it is not, CLOCK_MONOTONIC_RAW is read before the begin stamp
 * and after the end stamp, and its readings are the sample. So which clock it is never makes a
 * branch between the counter's stamps; with the clock, the counter's two reads lie between the
 * clock's, and are part of what an empty region is said to cost. qs_get_facts() tells which it is.
 *
 * Threads: a sampler is for the thread that opened it. Any number of threads may have one each; the
 * library has no state but what it hands out. A child of fork(2) does not have it at all: the
 * memory is not copied, so that a fork in between costs no page faults; not even qs_close() may be
 * called.
 *
 * Errors: functions return 0 or a negative errno value and leave their outputs untouched when they
 * fail; qs_error_text() says what a value means. The library does not print, exit, or install
 * signal handlers; only qs_main() does what a main() does.
 *
 * C11 or later with the GNU extensions, C++11 or later; gcc or clang.
 */
#ifndef QUIESCE_SAMPLER_H
#define QUIESCE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	QS_MAX_COUNTERS = 5,
	QS_CPU_UNKNOWN = 0xfff,
};

/* One sample, a cache line. */
struct qs_sample {
	uint64_t begin; /* ticks, see qs_nanoseconds() */
	uint64_t end;
	/* Where the sample before ended (or qs_reset() was called), and where this one did:
	 * different numbers are a migration in this sample or since the one before. QS_CPU_UNKNOWN
	 * where it cannot be told without a system call: off x86-64, with C libraries that do not
	 * register rseq (glibc does since 2.35). */
	uint32_t cpu_begin;
	uint32_t cpu_end;
	uint64_t counts[QS_MAX_COUNTERS]; /* of this sample, in the order of qs_options.counters */
};

/* How the header's inline functions see a sampler. Not for you: use the functions. */
struct qs_sampler {
	struct qs_sample *next;
	struct qs_sample *spare; /* behind the last: what does not fit goes there */
	const volatile uint32_t *cpu;
	uint64_t dropped;
	uint32_t last_cpu;
	uint32_t outside; /* something is to be done outside of the counter's stamps */
	clockid_t clockid;
};

struct qs_options {
	/* How many samples there is room for (64 bytes each); 0 stands for 4096. */
	size_t samples;
	/*
	 * What to count beside the time: a NULL-terminated list of at most QS_MAX_COUNTERS, or
	 * NULL. "cycles", "instructions", "cache-references", "cache-misses", "branches",
	 * "branch-misses", "bus-cycles", "ref-cycles", "stalled-cycles-frontend",
	 * "stalled-cycles-backend", "task-clock", "page-faults", "context-switches",
	 * "cpu-migrations", or raw: "r1a2" (hexadecimal config of PERF_TYPE_RAW), "4:1a2"
	 * (decimal type as in /sys/bus/event_source/devices/NAME/type, hexadecimal config).
	 * User mode only, this thread only. Read by rdpmc where the kernel and x86-64 allow it,
	 * else by read(2), always outside of the stamps.
	 */
	const char *const *counters;
};

enum qs_clock {
	QS_CLOCK_TSC,
	QS_CLOCK_CNTVCT,
	QS_CLOCK_MONOTONIC_RAW,
	/* Where the kernel answers CLOCK_MONOTONIC without a system call and _RAW with one (before
	 * Linux 5.3). */
	QS_CLOCK_MONOTONIC,
};

struct qs_facts {
	enum qs_clock clock;
	const char *clock_name; /* "tsc", "cntvct_el0", "CLOCK_MONOTONIC_RAW", "CLOCK_MONOTONIC" */
	const char *why_no_counter;  /* why the clock is no counter; NULL when it is one */
	int clock_changed;	     /* qs_settle() found the kernel's clock source changed: the
				      * samples cannot be trusted */
	double ticks_per_second;     /* 0 before qs_settle() where it must be measured */
	uint64_t resolution_ticks;   /* the smallest step that was seen */
	uint64_t empty_min_ticks;    /* an empty region, as sampled by this sampler: what is in */
	uint64_t empty_median_ticks; /* every sample; reported, never subtracted */
	size_t capacity;	     /* samples that there is room for */
	int lock_error;		     /* 0: the ring is locked into memory; else why not (errno),
				      * mostly ENOMEM or EPERM by RLIMIT_MEMLOCK */
	size_t n_counters;
	struct {
		const char *name; /* as it was asked for, valid until qs_close() */
		int error;	  /* 0, or why it is not counted (errno): its counts are 0 */
		int rdpmc;	  /* read without a system call */
		int shared;	  /* after qs_settle(): the kernel gave the hardware's counter to
				   * others at times, so counts are too small */
		uint64_t empty;	  /* median count of an empty region */
	} counters[QS_MAX_COUNTERS];
};

/* --- The stamps. --- */

#if defined(__x86_64__) && !defined(QS_NO_COUNTER)
#define QS_STAMPS 1

static inline uint64_t qs_stamp_begin(const struct qs_sampler *sampler)
{
	uint32_t low, high;

	(void)sampler;
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* The kernel keeps the CPU's number in the low 12 bits of TSC_AUX (arch/x86/include/asm/segment.h,
 * vdso_encode_cpunode). */
static inline uint64_t qs_stamp_end(const struct qs_sampler *sampler, uint32_t *ret_cpu)
{
	uint32_t low, high, aux;

	(void)sampler;
	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(aux) : : "memory");
	*ret_cpu = aux & 0xfff;
	return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__) && !defined(QS_NO_COUNTER)
#define QS_STAMPS 1

static inline uint64_t qs_stamp_begin(const struct qs_sampler *sampler)
{
	uint64_t ticks;

	(void)sampler;
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
	return ticks;
}

static inline uint64_t qs_stamp_end(const struct qs_sampler *sampler, uint32_t *ret_cpu)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	*ret_cpu = *sampler->cpu;
	return ticks;
}

#else
#define QS_STAMPS 0

static inline uint64_t qs_stamp_begin(const struct qs_sampler *sampler)
{
	struct timespec now;

	clock_gettime(sampler->clockid, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t qs_stamp_end(const struct qs_sampler *sampler, uint32_t *ret_cpu)
{
	uint64_t ticks = qs_stamp_begin(sampler);

	*ret_cpu = *sampler->cpu;
	return ticks;
}
#endif

/* What qs_begin() and qs_end() call outside of the counter's stamps where there is something to do
 * there: counters, or a clock instead of the counter. */
void qs_before_begin(struct qs_sampler *sampler);
void qs_after_end(struct qs_sampler *sampler, struct qs_sample *sample);

/* The begin of a timed region. Give what it returns to qs_end(). Regions of one sampler do not
 * nest. */
static inline uint64_t qs_begin(struct qs_sampler *sampler)
{
	if (__builtin_expect(sampler->outside != 0, 0))
		qs_before_begin(sampler);
	return qs_stamp_begin(sampler);
}

/* Its end: stores the sample. Where there is no room left the sample is dropped and counted; one
 * that is there is never overwritten. */
static inline void qs_end(struct qs_sampler *sampler, uint64_t began)
{
	uint32_t cpu;
	uint64_t ended = qs_stamp_end(sampler, &cpu);
	struct qs_sample *sample = sampler->next;
	uint32_t last_cpu = sampler->last_cpu;

	/* In a register of its own: gcc 12 makes a vector of the two numbers, and the fence of the
	 * next begin waits for that, 4 % of a pair (bench/sampler). */
	__asm__ volatile("" : "+r"(last_cpu));
	sample->begin = began;
	sample->end = ended;
	sample->cpu_begin = last_cpu;
	sample->cpu_end = cpu;
	sampler->last_cpu = cpu;
	if (__builtin_expect(sampler->outside != 0, 0))
		qs_after_end(sampler, sample);
	if (__builtin_expect(sample != sampler->spare, 1))
		sampler->next = sample + 1;
	else
		sampler->dropped++;
}

/* --- Keeping the compiler honest. None of these emits an instruction of its own. --- */

/* Memory is as the source says at this point: nothing is kept in registers or moved across. */
static inline void qs_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* What p points to was read and changed here, as far as the compiler can know. */
static inline void qs_keep_memory(const volatile void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static inline void qs_keep_int(unsigned value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline void qs_keep_word(unsigned long long value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline void qs_keep_pointer(const volatile void *value)
{
	__asm__ volatile("" : : "r"(value));
}

#if defined(__x86_64__)
#define QS_FLOAT_REGISTER "x"
#elif defined(__aarch64__)
#define QS_FLOAT_REGISTER "w"
#else
#define QS_FLOAT_REGISTER "g"
#endif

static inline void qs_keep_float(float value)
{
	__asm__ volatile("" : : QS_FLOAT_REGISTER(value));
}

static inline void qs_keep_double(double value)
{
	__asm__ volatile("" : : QS_FLOAT_REGISTER(value));
}

/*
 * qs_keep(value): the value of an integer, a pointer, a float or a double is used here, so that the
 * work that it takes cannot be left out.
 *
 * qs_hide(variable): what an integer or pointer variable holds cannot be known from here on, so
 * that work with it cannot be done beforehand or moved out of a loop.
 */
#ifndef __cplusplus
/* clang-format off */
#define qs_keep(value)                                                         \
	_Generic((value),                                                      \
		float: qs_keep_float,                                          \
		double: qs_keep_double,                                        \
		_Bool: qs_keep_int, char: qs_keep_int,                         \
		signed char: qs_keep_int, unsigned char: qs_keep_int,          \
		short: qs_keep_int, unsigned short: qs_keep_int,               \
		int: qs_keep_int, unsigned: qs_keep_int,                       \
		long: qs_keep_word, unsigned long: qs_keep_word,               \
		long long: qs_keep_word, unsigned long long: qs_keep_word,     \
		default: qs_keep_pointer)(value)
/* clang-format on */
#endif
#define qs_hide(variable) __asm__ volatile("" : "+r"(variable))

/* --- A sampler. --- */

int qs_open_as(
	int stamps, const struct qs_options *options, size_t options_size, struct qs_sampler **ret);

/*
 * Maps, touches and locks the ring, chooses the clock, opens the counters, measures an empty
 * region, and leaves a sampler that is warm. Takes milliseconds.
 * A ring that cannot be locked and a counter that this machine or this user cannot have are no
 * errors: see struct qs_facts.
 * -EINVAL: a counter's name is none, or too many of them. -EOPNOTSUPP: no RDTSCP on this CPU, use
 * QS_NO_COUNTER. -EPERM: the process may not read the counter (PR_SET_TSC). -ENOMEM.
 */
static inline int qs_open(const struct qs_options *options, struct qs_sampler **ret)
{
	return qs_open_as(QS_STAMPS, options, sizeof(*options), ret);
}

/* NULL is allowed. */
void qs_close(struct qs_sampler *sampler);

/* Empties the ring; what was dropped is forgotten. */
void qs_reset(struct qs_sampler *sampler);

/* How many samples the ring has, where they are, oldest first (until the next qs_reset()), and how
 * many did not fit. */
size_t qs_count(const struct qs_sampler *sampler);
const struct qs_sample *qs_samples(const struct qs_sampler *sampler);
uint64_t qs_dropped(const struct qs_sampler *sampler);

/*
 * After the last sample: learns how long a tick is, from the counter and CLOCK_MONOTONIC_RAW at
 * qs_open() and now (waits until these are 20 ms apart; on arm64 the CPU says it), and looks
 * whether the clock is still sound. May be called again after more samples.
 */
int qs_settle(struct qs_sampler *sampler);
/* A number of ticks in nanoseconds; 0 before qs_settle(). */
double qs_nanoseconds(const struct qs_sampler *sampler, uint64_t ticks);

void qs_get_facts(const struct qs_sampler *sampler, struct qs_facts *ret);

/* A text for a negative errno value that a function here returned: into `buffer`, which is
 * returned. Does not allocate. */
const char *qs_error_text(int error, char *buffer, size_t size);
#ifdef __cplusplus
}

static inline void qs_keep(float value)
{
	qs_keep_float(value);
}

static inline void qs_keep(double value)
{
	qs_keep_double(value);
}

/* Integers and pointers. */
template <typename T> static inline void qs_keep(T value)
{
	__asm__ volatile("" : : "r"(value));
}
#endif

#endif
