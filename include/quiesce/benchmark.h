/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Named benchmarks on top of <quiesce/sampler.h>: calibrated loops, warm-ups, values, and a main()
 * for a list of benchmarks.
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
 * A loop around the work, unrolled by 8: the overhead of the loop, one cycle per iteration where
 * the work does not hide it, is divided by 8. For work of some nanoseconds; for longer work any
 * loop will do. Inlined code is repeated 8 times. `break` and `continue` are as in any loop.
 * Without optimization, and with gcc's -O1, nothing is unrolled.
 *
 * gcc unrolls a loop of a number of turns that is known when the program runs in a late pass, which
 * leaves out what -Os is for and what link-time optimization has read back. A loop of 8 turns is
 * unrolled by an early pass, with these options as well.
 */
#ifdef __clang__
#define QS_REPEAT(loops, left, turn) \
	_Pragma("clang loop unroll_count(8)") for (uint64_t left = (loops); left > 0; left--)
#else
#define QS_REPEAT(loops, left, turn)                                                              \
	for (uint64_t left = (loops), turn = 8; left > 0 && turn == 8; left -= left >= 8 ? 8 : 1) \
	_Pragma("GCC unroll 8") for (turn = left >= 8 ? 0 : 7; turn < 8; turn++)
#endif
#define QS_JOIN_AS_IS(a, b) a##b
#define QS_JOIN(a, b) QS_JOIN_AS_IS(a, b)
/* Loops in loops count by variables of their own. */
#define qs_repeat(loops) \
	QS_REPEAT(loops, QS_JOIN(qs_left_, __COUNTER__), QS_JOIN(qs_turn_, __COUNTER__))

struct qs_benchmark;

/* The argument of a benchmark's function. */
struct qs_run {
	struct qs_sampler *sampler;
	uint64_t loops;
	const struct qs_benchmark *benchmark;
	void *state;	 /* from setup(); NULL without setup() */
	uint32_t thread; /* 0 to threads - 1 */
	uint32_t threads;
};

struct qs_benchmark {
	const char *name; /* NULL ends a list. No control characters, at most 200 bytes */
	/*
	 * Does the work run->loops times between qs_begin() and qs_end(). With several such pairs
	 * in one call, of which there may be any number, the times add up: the code between the
	 * pairs is not measured. But each pair has the time of an empty region in it. It has to
	 * return: neither longjmp(3) nor an exception may leave it (<quiesce/benchmark.hpp> catches
	 * those of its benchmarks, and ends the process).
	 */
	void (*run)(struct qs_run *run);
	uintptr_t argument; /* for the functions, with any meaning: a size, a pointer */
	/* How often one loop does the work; 0 stands for 1. */
	uint32_t inner_loops;
	/* Called before the first call of run() in a process, and after the last; may be NULL.
	 * setup() returns 0 or a negative errno value, which ends the measurement of this
	 * benchmark, as does a positive value, for which -EINVAL stands. */
	int (*setup)(const struct qs_benchmark *benchmark, void **ret_state);
	void (*teardown)(void *state);
	/*
	 * In how many threads run() is called at once, each with a sampler of its own; 0 stands for
	 * 1, at most QS_MAX_THREADS. Each thread makes a value of its own, and all of them have to
	 * find room, see qs_hand_over(). `state` is the same for all. See qs_start_together().
	 */
	uint32_t threads;
	/* Benchmarks of the same family differ by their size: how the time grows with it is found
	 * out from three sizes or more, and is reported. NULL: none. Its name is as that of a
	 * benchmark. */
	const char *family;
	double size; /* above 0, and finite */
};

enum {
	QS_MAX_THREADS = 1024,
	QS_MAX_FIGURES = 8,
};

/*
 * For run(): returns when all threads of the benchmark have called it. To be called right before
 * qs_begin(), by all of them or none: so that they begin at the same time, whatever each does
 * before. Where a thread returns from run() instead, the others go on, and the measurement ends
 * with -EDEADLK. Does nothing without other threads.
 */
void qs_start_together(struct qs_run *run);

/* --- Figures besides the time. --- */

enum qs_figure_kind {
	QS_FIGURE_PLAIN,  /* any number */
	QS_FIGURE_AMOUNT, /* of something in one unit of work, bytes for example: how much that is
			     per second is reported */
};

struct qs_figure {
	char name[40];
	enum qs_figure_kind kind;
	double value;
};

/* For run(), outside of timed regions: a figure of this call. The result has the mean over all
 * calls and threads that count. -EINVAL for a name as of no benchmark, or too long, or a value that
 * is not finite or beyond 1e300; -E2BIG for more than QS_MAX_FIGURES. */
int qs_set_figure(struct qs_run *run, const char *name, enum qs_figure_kind kind, double value);

/* --- The state of the machine. --- */

struct qs_collector;

/* Negative: not known on this machine. */
struct qs_reading {
	int64_t interrupts;	/* of the CPU since boot, all lines of /proc/interrupts */
	int64_t frequency_khz;	/* scaling_cur_freq */
	int64_t temperature_mc; /* of the CPU package, 1/1000 degree Celsius */
};

/*
 * Starts a thread on any other CPU, which reads the state of CPU `cpu` on request. It reads the
 * sensor at most once a second, because reading it interrupts the CPU. -ENXIO where this process
 * has no other CPU; else an error of pthread_create(3).
 */
int qs_collector_open(int cpu, struct qs_collector **ret);
void qs_collector_close(struct qs_collector *collector);
/* Requests a reading and sleeps until the thread has taken it. So nothing is read during a timed
 * region. */
void qs_collector_read(struct qs_collector *collector, struct qs_reading *ret);

/* --- Values. --- */

enum qs_value_kind {
	QS_VALUE_CALIBRATION, /* while the number of loops was calibrated */
	QS_VALUE_WARMUP,
	QS_VALUE_COUNTED,
};

struct qs_value {
	enum qs_value_kind kind;
	uint64_t loops;
	uint64_t picoseconds; /* of all loops together, at least 1 */
	uint64_t regions;     /* pairs of qs_begin() and qs_end() */
	/* At the first and the last stamp, or QS_CPU_UNKNOWN. */
	uint32_t cpu_begin;
	uint32_t cpu_end;
	uint64_t counts[QS_MAX_COUNTERS]; /* of all loops together */
	/* With a collector, since the previous value; negative where not known. */
	int64_t interrupts;
	int64_t frequency_khz;
	int64_t temperature_mc;
	/* The share of the time of the call of run() in which it was ready to run and other tasks
	 * had its CPU (the kernel's run delay); negative where not known. */
	double waiting;
	/*
	 * With qs_plan.look_at_core, the means of what was seen right before and right after the
	 * value: independent additions per cycle of the core, which become fewer when another
	 * hardware thread is at work on it, and the cycles of the core per second. 0 where not
	 * known.
	 */
	double core_adds;
	double core_hertz;
};

/* The values of one benchmark from one process. */
struct qs_values {
	char *name;
	uint32_t inner_loops;
	uint64_t loops; /* per warm-up and value */
	/* As of the first thread's sampler. But what is wrong with a counter (`error`, `shared`) is
	 * that of any thread: its counts are too small. */
	struct qs_facts facts;
	/* Copies of the counters' names, because those in a sampler's facts end with the
	 * sampler. */
	char counter_names[QS_MAX_COUNTERS][40];
	size_t n_values;	 /* 0 where the plan has loops, and neither warm-ups nor values */
	struct qs_value *values; /* calibration, warm-ups, values, in this order */
	size_t n_figures;
	struct qs_figure figures[QS_MAX_FIGURES];
};

struct qs_plan {
	double min_time; /* the least duration of a value in seconds; 0 stands for 0.00005 */
	uint64_t loops;	 /* per value; 0: calibrated, as 1, 2, 5, 10, 20, 50 ... */
	uint32_t warmups;
	uint32_t values;
	struct qs_collector *collector; /* NULL: none */
	/* Not 0: looks at the core between the values that count, for 0.01 to 0.15 ms, and at most
	 * for a twentieth of what a value takes. Where nothing can be found out (other
	 * architectures than x86-64 and arm64), nothing is done. */
	int look_at_core;
	/* Warm-ups go on, beyond their number, until they have taken this long, in seconds: 0 to
	 * 86400. */
	double warmup_time;
};

/*
 * Measures one benchmark in this process. While run() is called, its regions are added up and not
 * kept in the sampler's ring, which is empty afterwards. -ENODATA when run() took no sample, an
 * error of setup(), -ENOMEM, -EAGAIN where there cannot be that many threads, -EINVAL for an
 * invalid name, number of threads or plan, -ERANGE where more loops take no more time: run()
 * ignores `loops`, or the compiler has left out the work. -E2BIG where the calls set more than
 * QS_MAX_FIGURES figures, -EDEADLK as of qs_start_together(), -EIO as of qs_settle().
 */
int qs_measure(struct qs_sampler *sampler, const struct qs_benchmark *benchmark,
	const struct qs_plan *plan, struct qs_values **ret);
void qs_values_free(struct qs_values *values);
/* The duration of one unit of work in seconds. */
double qs_value_seconds(const struct qs_values *values, size_t index);
/* How much of a value is the time of the empty regions in it: 0.01 is 1 %. */
double qs_value_empty_share(const struct qs_values *values, size_t index);

/* --- Handing values over to runpinned. --- */

/*
 * A program that runpinned runs can hand over values: they become separate benchmarks in
 * runpinned's result, with its evidence for each run. runpinned passes a descriptor for them
 * (environment: QUIESCE_VALUES_FD); children and their children may use it as well. -ENOENT where
 * the program is not run by runpinned, which most callers ignore. -EBADF where the descriptor is
 * not from runpinned. -EINVAL for values that no reader accepts, such as none at all; -ENOMEM.
 * -ENOSPC where there is no more room: then none of these values is handed over. There is 1 MiB for
 * a run of the program, which is about 30,000 values, warm-ups among them, and fewer with counters.
 * qs_main() has as much room for each of its processes, in which these functions find nobody
 * (-ENOENT) while it measures: also what run() and setup() hand over is for runpinned alone.
 */
int qs_hand_over(const struct qs_values *values);
/* The same for all samples of a ring that the program filled itself, after qs_settle(), without
 * which it is -EINVAL: each sample is a value of one loop. -EINVAL for a name as of no benchmark,
 * -ENODATA for an empty ring. */
int qs_hand_over_samples(const struct qs_sampler *sampler, const char *name);

/* --- A main(). --- */

int qs_main_as(int stamps, int argc, char *argv[], const struct qs_benchmark *benchmarks);

/*
 * Measures the benchmarks of the list, each in its own processes, in turns. Prints the results, and
 * saves them on request; see --help, and qs_main(3). Returns the status for main(): 0; 1 when
 * something failed; 2 for an invalid command line; 128 and the signal's number when a signal ended
 * it (the values measured before the signal are reported and saved; SIGHUP, SIGINT and SIGTERM that
 * are ignored, as by nohup(1), do not). It acts as a program rather than a library: it prints,
 * starts processes and blocks signals. Call it from main() before threads are started, and pass
 * main()'s own argc and argv.
 */
static inline int qs_main(int argc, char *argv[], const struct qs_benchmark *benchmarks)
{
	return qs_main_as(QS_STAMPS, argc, argv, benchmarks);
}

#ifdef __cplusplus
}
#endif

#endif
