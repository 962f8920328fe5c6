/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquiesce: takes time samples inside a process without adding work to the timed region.
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
 * Or leave all of this to qs_main() (<quiesce/benchmark.h>), which makes a program of a list of
 * benchmarks.
 *
 * The timed region contains nothing of this library: no call, no branch, no system call, no
 * allocation, no page fault, no write. The sample is stored after the end stamp, into memory that
 * was touched and locked before. The begin stamp is a value in your function; where your own code
 * leaves no register free, the compiler keeps it on the stack.
 *
 * The clock. Both stamps are reads of the CPU's counter. The instructions are chosen when this
 * header is compiled:
 *
 *	x86-64	lfence; rdtsc; lfence  ...  rdtscp; lfence
 *		LFENCE waits for all earlier instructions, and no later instruction begins before
 *		it completes (Intel SDM volume 2, LFENCE, RDTSC, RDTSCP; on AMD since Linux 4.15,
 *		which sets the bit for this).
 *	arm64	isb; mrs cntvct_el0; isb  ...  isb; mrs cntvct_el0
 *	others	clock_gettime(CLOCK_MONOTONIC_RAW), and everywhere with QS_NO_COUNTER defined
 *
 * qs_open() checks whether the counter is reliable on this machine: on x86-64 when CPUID 0x80000007
 * says that it is invariant and the kernel itself uses it (current_clocksource is tsc); on arm64 by
 * the architecture. Where it is not reliable, CLOCK_MONOTONIC_RAW is also read before the begin
 * stamp and after the end stamp, and these readings become the sample. So the choice of the clock
 * never causes a branch between the counter's stamps; with the clock, both reads of the counter are
 * between the reads of the clock, and are part of the reported cost of an empty region.
 * qs_get_facts() tells which clock is used.
 *
 * Threads: a sampler belongs to the thread that opened it. Any number of threads may each have one;
 * the library has no global state. A child of fork(2) does not have the sampler: the memory is not
 * copied, so that a fork costs no page faults; the child must not even call qs_close().
 *
 * Errors: functions return 0 or a negative errno value and leave their outputs untouched when they
 * fail; qs_error_text() describes a value. The library does not print, exit, or install signal
 * handlers; only qs_main() acts as a program.
 *
 * C11 or later, C++11 or later; gcc or clang.
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

/* One sample, the size of a cache line. */
struct qs_sample {
	uint64_t begin; /* ticks, see qs_nanoseconds() */
	uint64_t end;
	/* The CPUs on which the previous sample ended (or qs_reset() was called) and on which this
	 * one ended: different numbers mean a migration during this sample or since the previous
	 * one. QS_CPU_UNKNOWN where the CPU cannot be read without a system call: not on x86-64,
	 * with a C library that does not register rseq (glibc does since 2.35). */
	uint32_t cpu_begin;
	uint32_t cpu_end;
	uint64_t counts[QS_MAX_COUNTERS]; /* of this sample, in the order of qs_options.counters */
};

/* The part of a sampler that the inline functions of this header use. Do not access the members:
 * use the functions. */
struct qs_sampler {
	struct qs_sample *next;
	struct qs_sample *spare; /* after the last; receives samples that do not fit */
	const volatile uint32_t *cpu;
	uint64_t dropped;
	uint32_t last_cpu;
	uint32_t outside; /* whether to call qs_before_begin() and qs_after_end() */
	int clockid;	  /* a clockid_t, which <time.h> does not declare with -std=c11 */
};

struct qs_options {
	/* The capacity of the ring in samples (64 bytes each); 0 stands for 4096. */
	size_t samples;
	/*
	 * Events to count: a NULL-terminated list of at most QS_MAX_COUNTERS, or NULL. "cycles",
	 * "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
	 * "bus-cycles", "ref-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	 * "task-clock", "page-faults", "context-switches", "cpu-migrations", or raw: "r1a2"
	 * (hexadecimal config of PERF_TYPE_RAW), "4:1a2" (decimal type as in
	 * /sys/bus/event_source/devices/NAME/type, hexadecimal config). User mode only, this thread
	 * only. Counters are read by rdpmc on x86-64 where the kernel allows it, else by read(2),
	 * always outside of the stamps.
	 */
	const char *const *counters;
};

enum qs_clock {
	QS_CLOCK_TSC,
	QS_CLOCK_CNTVCT,
	QS_CLOCK_MONOTONIC_RAW,
	/* Where the vDSO reads CLOCK_MONOTONIC without a system call but not _RAW (before Linux
	 * 5.3). */
	QS_CLOCK_MONOTONIC,
};

struct qs_facts {
	enum qs_clock clock;
	const char *clock_name; /* "tsc", "cntvct_el0", "CLOCK_MONOTONIC_RAW", "CLOCK_MONOTONIC" */
	const char *why_no_counter;  /* why the clock is not the counter; NULL when it is */
	int clock_changed;	     /* qs_settle() saw another clock source: unreliable samples */
	double ticks_per_second;     /* 0 before qs_settle() where it must be measured */
	uint64_t resolution_ticks;   /* the smallest observed step */
	uint64_t empty_min_ticks;    /* of an empty region with this sampler: this overhead is in */
	uint64_t empty_median_ticks; /* every sample; it is reported, never subtracted */
	/* The mean of those that nothing interrupted: where the counter advances in large steps,
	 * this is what each of many regions adds, between two steps. */
	double empty_mean_ticks;
	size_t capacity; /* in samples */
	int lock_error;	 /* 0: locked into memory; else errno, mostly of RLIMIT_MEMLOCK */
	size_t n_counters;
	struct {
		const char *name; /* as requested, valid until qs_close() */
		int error;	  /* 0, or why it is not counted (errno): its counts are 0 */
		int rdpmc;	  /* read without a system call */
		int shared;	/* after qs_settle(): multiplexed by the kernel, counts too small */
		uint64_t empty; /* median count of an empty region */
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

/* The kernel stores the CPU's number in the low 12 bits of TSC_AUX (arch/x86/include/asm/segment.h,
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

#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
/* As in <time.h>, which leaves it out with -std=c11. Where `struct timespec` has 64 bits for the
 * time on a machine of 32, the function has another name: in glibc with _TIME_BITS=64, in musl
 * always. */
int clock_gettime(int clockid, struct timespec *ret)
#if (defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32) || \
	defined(_REDIR_TIME64)
	__asm__("__clock_gettime64")
#endif
		;
#endif

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

/* Called by qs_begin() and qs_end() outside of the counter's stamps when the sampler has counters,
 * or uses a clock instead of the counter. */
void qs_before_begin(struct qs_sampler *sampler);
void qs_after_end(struct qs_sampler *sampler, struct qs_sample *sample);

/* Begins a timed region. Pass the result to qs_end(). Regions of one sampler do not nest. */
static inline uint64_t qs_begin(struct qs_sampler *sampler)
{
	if (__builtin_expect(sampler->outside != 0, 0))
		qs_before_begin(sampler);
	return qs_stamp_begin(sampler);
}

/* Ends a timed region and stores the sample. In a full ring the sample is dropped and counted;
 * stored samples are never overwritten. */
static inline void qs_end(struct qs_sampler *sampler, uint64_t began)
{
	uint32_t cpu;
	uint64_t ended = qs_stamp_end(sampler, &cpu);
	struct qs_sample *sample = sampler->next;
	uint32_t last_cpu = sampler->last_cpu;

	/* Keeps the number in its own register: gcc 12 would combine both numbers in a vector, and
	 * the fence of the next begin would wait for it, which costs 4 % of a pair
	 * (bench/sampler). */
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

/* --- Barriers against compiler optimization. None of them emits an instruction. --- */

/* At this point memory is as in the source: no value is cached in a register or moved across. */
static inline void qs_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Makes the compiler assume that the object at p is read and changed here. */
static inline void qs_keep_memory(const volatile void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static inline void qs_keep_int(unsigned value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline void qs_keep_signed(int value)
{
	__asm__ volatile("" : : "r"(value));
}

static inline void qs_keep_signed_word(long long value)
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
 * qs_keep(value): uses the value of an integer, a pointer, a float or a double, so that the
 * compiler cannot omit the work that computes it. In C++ of an object of any other type as well, of
 * which it is assumed, as by qs_keep_memory(), that it is read and changed.
 *
 * qs_hide(variable): hides the value of an integer or pointer variable from the compiler, so that
 * work that depends on it cannot be precomputed or moved out of a loop.
 */
#ifndef __cplusplus
/* clang-format off */
#define qs_keep(value)                                                         \
	_Generic((value),                                                      \
		float: qs_keep_float,                                          \
		double: qs_keep_double,                                        \
		_Bool: qs_keep_signed, char: qs_keep_signed,                   \
		signed char: qs_keep_signed, unsigned char: qs_keep_signed,    \
		short: qs_keep_signed, unsigned short: qs_keep_signed,         \
		int: qs_keep_signed, unsigned: qs_keep_int,                    \
		long: qs_keep_signed_word, unsigned long: qs_keep_word,        \
		long long: qs_keep_signed_word,                                \
		unsigned long long: qs_keep_word,                              \
		default: qs_keep_pointer)(value)
/* clang-format on */
#endif
#define qs_hide(variable) __asm__ volatile("" : "+r"(variable))

/* --- A sampler. --- */

int qs_open_as(
	int stamps, const struct qs_options *options, size_t options_size, struct qs_sampler **ret);

/*
 * Maps, touches and locks the ring, chooses the clock, opens the counters and measures an empty
 * region, which also warms up the sampler. Takes milliseconds. It is not an error when the ring
 * cannot be locked, or when this machine or user cannot use a counter: see struct qs_facts.
 * -EINVAL: a counter has an invalid name, or there are too many. -EOPNOTSUPP: this CPU has no
 * RDTSCP, use QS_NO_COUNTER. -EPERM: the process may not read the counter (PR_SET_TSC). -ENOMEM.
 */
static inline int qs_open(const struct qs_options *options, struct qs_sampler **ret)
{
	return qs_open_as(QS_STAMPS, options, sizeof(*options), ret);
}

/* NULL is allowed. */
void qs_close(struct qs_sampler *sampler);

/* Empties the ring and resets the count of dropped samples. */
void qs_reset(struct qs_sampler *sampler);

/* The number of samples in the ring, the samples, oldest first (valid until the next qs_reset()),
 * and the number of samples that did not fit. */
size_t qs_count(const struct qs_sampler *sampler);
const struct qs_sample *qs_samples(const struct qs_sampler *sampler);
uint64_t qs_dropped(const struct qs_sampler *sampler);

/*
 * To be called after the last sample: measures the length of a tick from the counter and
 * CLOCK_MONOTONIC_RAW at qs_open() and now (waits until these are 20 ms apart; on arm64 the CPU
 * tells the frequency), and checks whether the clock is still reliable. May be called again after
 * more samples. -EIO where the counter stands still.
 */
int qs_settle(struct qs_sampler *sampler);
/* A number of ticks in nanoseconds; 0 before qs_settle(). */
double qs_nanoseconds(const struct qs_sampler *sampler, uint64_t ticks);

void qs_get_facts(const struct qs_sampler *sampler, struct qs_facts *ret);

/*
 * Writes a text for a negative errno value of these functions into `buffer`, and returns `buffer`.
 * Does not allocate. Not for values of others, which mean something else to them: counters[].error
 * and lock_error of struct qs_facts are the kernel's, and setup() of a benchmark has its own;
 * strerror(3) describes these.
 */
const char *qs_error_text(int error, char *buffer, size_t size);
#ifdef __cplusplus
}

#include <memory>
#include <type_traits>

static inline void qs_keep(float value)
{
	qs_keep_float(value);
}

static inline void qs_keep(double value)
{
	qs_keep_double(value);
}

/* Whether a value of this type has a register: integers, enumerations and pointers. */
template <typename T>
using qs_in_register = std::integral_constant<bool,
	(std::is_integral<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value) &&
		sizeof(T) <= sizeof(void *)>;

template <typename T> static inline void qs_keep_as(std::true_type, T value)
{
	__asm__ volatile("" : : "r"(value));
}

template <typename T> static inline void qs_keep_as(std::false_type, const T &object)
{
	qs_keep_memory(std::addressof(object));
}

template <typename T> static inline void qs_keep(const T &value)
{
	qs_keep_as<T>(qs_in_register<T>(), value);
}
#endif

#endif
