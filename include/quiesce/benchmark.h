/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Benchmarks by name on top of <quiesce/sampler.h>: loops that are found out, warm-ups, values, and
 * a main() that makes a program of a list of them.
 *
 *	static void copy(struct qs_run *run)
 *	{
 *		char from[64] = "", to[64];
 *		uint64_t began = qs_begin(run->sampler);
 *
 *		qs_repeat (run->loops) {
 *			memcpy(to, from, sizeof(to));
 *			qs_keep_memory(to);
 *		}
 *		qs_end(run->sampler, began);
 *	}
 *
 *	static const struct qs_benchmark benchmarks[] = {
 *		{ .name = "copy/64", .run = copy },
 *		{ 0 },
 *	};
 *
 *	int main(int argc, char *argv[])
 *	{
 *		return qs_main(argc, argv, benchmarks);
 *	}
 */
#ifndef QUIESCE_BENCHMARK_H
#define QUIESCE_BENCHMARK_H

#include "sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A loop around the work, unrolled by 8: what the loop takes itself, a cycle where the work does
 * not hide it, counts an eighth. For work of some nanoseconds; what takes longer does as well with
 * any loop, and the code of what is inlined is there 8 times.
 */
#ifdef __clang__
#define QS_UNROLL _Pragma("clang loop unroll_count(8)")
#else
#define QS_UNROLL _Pragma("GCC unroll 8")
#endif
#define qs_repeat(loops) QS_UNROLL for (uint64_t qs_left = (loops); qs_left > 0; qs_left--)

struct qs_benchmark;

/* What a benchmark's function is given. */
struct qs_run {
	struct qs_sampler *sampler;
	uint64_t loops;
	const struct qs_benchmark *benchmark;
	void *state; /* of setup(); NULL without */
};

struct qs_benchmark {
	const char *name; /* NULL ends a list. No control characters, at most 200 bytes */
	/*
	 * Does the work run->loops times between qs_begin() and qs_end(). Where there are several
	 * such pairs in one call the times add up: what lies between them is not measured.
	 */
	void (*run)(struct qs_run *run);
	uintptr_t argument; /* whatever the functions make of it: a size, a pointer */
	/* How often one loop does the work in itself; 0 stands for 1. */
	uint32_t inner_loops;
	/* Before the first call of run() in a process, and after the last; may be NULL. setup()
	 * returns 0 or a negative errno value, which ends the measurement of this benchmark. */
	int (*setup)(const struct qs_benchmark *benchmark, void **ret_state);
	void (*teardown)(void *state);
};

/* --- What the machine does meanwhile. --- */

struct qs_collector;

/* Negative: not known here. */
struct qs_reading {
	int64_t interrupts;	/* of the CPU since boot, all lines of /proc/interrupts */
	int64_t frequency_khz;	/* scaling_cur_freq */
	int64_t temperature_mc; /* the CPU package, thousandths of a degree Celsius; at most one
				 * question a second to the sensor, because it interrupts the CPU */
};

/*
 * Starts a thread on any other CPU, which reads on request what CPU `cpu` does. -ENXIO where there
 * is no other CPU for this process; else an error of pthread_create(3).
 */
int qs_collector_open(int cpu, struct qs_collector **ret);
void qs_collector_close(struct qs_collector *collector);
/* Asks the thread, and sleeps until it has answered: nothing is read while something is timed. */
void qs_collector_read(struct qs_collector *collector, struct qs_reading *ret);

/* --- Values. --- */

enum qs_value_kind {
	QS_VALUE_CALIBRATION, /* while the loops were found out */
	QS_VALUE_WARMUP,
	QS_VALUE_COUNTED,
};

struct qs_value {
	enum qs_value_kind kind;
	uint64_t loops;
	uint64_t picoseconds; /* of all loops together, 1 at least */
	uint32_t cpu_begin;   /* of the first stamp and of the last; QS_CPU_UNKNOWN */
	uint32_t cpu_end;
	uint64_t counts[QS_MAX_COUNTERS]; /* of all loops together */
	/* Since the value before, with a collector; negative where not known. */
	int64_t interrupts;
	int64_t frequency_khz;
	int64_t temperature_mc;
};

/* What one process measured of one benchmark. */
struct qs_values {
	char *name;
	uint32_t inner_loops;
	uint64_t loops; /* of the warm-ups and values */
	struct qs_facts facts;
	/* Names of the counters of facts, which outlive the sampler here. */
	char counter_names[QS_MAX_COUNTERS][40];
	size_t n_values;
	struct qs_value *values; /* calibration, warm-ups, values, in their order */
};

struct qs_plan {
	double min_time; /* seconds that a value takes at least; 0 stands for 0.1 */
	uint64_t loops;	 /* of one value; 0: found out, as 1, 2, 5, 10, 20, 50 ... */
	uint32_t warmups;
	uint32_t values;
	struct qs_collector *collector; /* NULL: none */
};

/*
 * Measures one benchmark in this process. The sampler's ring is emptied at each call of run().
 * -ENODATA when run() took no sample, -ENOBUFS when it took more than there is room for, an error
 * of setup(), -ENOMEM, -EINVAL for a name that is none, -ERANGE where 2^53 loops are still too
 * short.
 */
int qs_measure(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, struct qs_values **ret);
void qs_values_free(struct qs_values *values);
/* Seconds that one piece of work took. */
double qs_value_seconds(const struct qs_values *values, size_t index);

/* --- Handing over. --- */

/*
 * Under runpinned, values can be given to it: they become benchmarks of their own in its result,
 * with its evidence for each run. It leaves a descriptor for them (environment: QUIESCE_VALUES_FD);
 * a child, or a child's child, may use it as well.
 * -ENOENT where nobody asks for values: no error to most. -EBADF where the descriptor is none that
 * runpinned makes. -ENOSPC where there is no more room: nothing of these values is handed over.
 */
int qs_hand_over(const struct qs_values *values);
/* The same for all samples of a ring that the program filled itself, after qs_settle(): each is a
 * value of one loop. */
int qs_hand_over_samples(const struct qs_sampler *sampler, const char *name);

/* --- A main(). --- */

int qs_main_as(int stamps, int argc, char *argv[], const struct qs_benchmark *benchmarks);

/*
 * Measures the benchmarks of the list, each in processes of its own, one after the other in turns,
 * prints what came out and saves it if asked to; see --help, and qs_main(3). Returns what
 * main() is to return: 0, 1 when something failed, 2 for a command line that is none, 128 and the
 * signal's number when one ended it (what was measured by then is reported and saved).
 * It is a program rather than a library: it prints, starts processes and blocks signals. Call it
 * from main() before threads are started, and give it main()'s own argc and argv.
 */
static inline int qs_main(int argc, char *argv[], const struct qs_benchmark *benchmarks)
{
	return qs_main_as(QS_STAMPS, argc, argv, benchmarks);
}

#ifdef __cplusplus
}
#endif

#endif
