// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scale: what do a million runs cost the measuring side?
 *
 *	meson compile -C build scale && build/bench/scale
 *
 * Makes synthetic samples (a jump, noise and outliers, so that everything that can be found is
 * looked for), without and with evidence, 10^4 to 10^6 of them, and shows
 * - the bytes a run, at the peak of collecting and summarising: what was resident, and what was
 *   allocated (malloc and mmap of our own code; at the sizes asked for). Summarising is what
 *   runpinned does: values, levels, statistics, histogram, stability. More than 64 bytes a run
 *   without evidence, at 10^6, end it with status 1;
 * - the time a run of collecting and summarising, as a ratio to that of the smallest series, with
 *   log n, which n log n in all is a run, as a ratio beside it;
 * - writing the result file and the CSV: time a run as a ratio again, and what the memory grew by
 *   meanwhile.
 *
 * Each row is a process of its own, because a peak never falls again.
 */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/random.h"
#include "judge/report/analysis.h"
#include "judge/report/summary.h"
#include "judge/result/csv.h"
#include "judge/result/document.h"
#include "judge/result/series.h"
#include "measure/judge.h"

enum {
	LIMIT = 64, /* bytes a run */
	ROUNDS = 3, /* the quickest counts; of the largest there is one, which takes long enough */
	LARGEST = 1000000,
};

/* --- What is allocated: the linker leads our calls here (--wrap). --- */

/* Signed: what the C library allocates for asprintf(3) is freed by us, but not seen before. */
static int64_t allocated, allocated_peak;

static void account(size_t plus, size_t minus)
{
	allocated += (int64_t)plus - (int64_t)minus;
	allocated_peak = MAX(allocated_peak, allocated);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void __real_free(void *p);
void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__real_mremap(void *at, size_t old_length, size_t length, int flags, ...);
int __real_munmap(void *at, size_t length);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mremap(void *at, size_t old_length, size_t length, int flags, ...);
int __wrap_munmap(void *at, size_t length);

void *__wrap_malloc(size_t size)
{
	void *p = __real_malloc(size);

	account(malloc_usable_size(p), 0);
	return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *p = __real_calloc(n, size);

	account(malloc_usable_size(p), 0);
	return p;
}

void *__wrap_realloc(void *p, size_t size)
{
	size_t old = malloc_usable_size(p);

	p = __real_realloc(p, size);
	if (p)
		account(malloc_usable_size(p), old);
	return p;
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	size_t old = malloc_usable_size(p);

	p = __real_reallocarray(p, n, size);
	if (p)
		account(malloc_usable_size(p), old);
	return p;
}

void __wrap_free(void *p)
{
	account(0, malloc_usable_size(p));
	__real_free(p);
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *p = __real_mmap(at, length, protection, flags, fd, offset);

	if (p != MAP_FAILED)
		account(length, 0);
	return p;
}

/* Ours never asks for a place. */
void *__wrap_mremap(void *at, size_t old_length, size_t length, int flags, ...)
{
	void *p = __real_mremap(at, old_length, length, flags);

	if (p != MAP_FAILED)
		account(length, old_length);
	return p;
}

int __wrap_munmap(void *at, size_t length)
{
	account(0, length);
	return __real_munmap(at, length);
}

/* --- The work. --- */

struct row {
	double resident; /* bytes a run */
	double allocated;
	double collect; /* seconds a run */
	double summarise;
	double write;
	double write_growth; /* bytes in all */
	double csv;
	double csv_growth;
	double file_size;
	size_t n_levels;
};

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "scale: %s: %s\n", what, strerror(-r));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss * 1024;
}

static struct evidence make_evidence(uint16_t line, bool second_level, uint64_t *random)
{
	struct evidence evidence;

	evidence_clear(&evidence);
	evidence.user_cpu_ns = (int64_t)(random_next(random) % 20000000);
	evidence.system_cpu_ns = (int64_t)(random_next(random) % 1000000);
	evidence.steal_ns = 0;
	evidence.frequency_khz = second_level ? 3400000 : 2100000;
	evidence.minor_faults = 100;
	evidence.irq_device = (int32_t)(random_next(random) % 4);
	evidence.irq_timer = 3;
	evidence.n_irq_lines = 1;
	evidence.irq_line[0] = line;
	evidence.irq_count[0] = evidence.irq_device;
	evidence.load1 = 0.5f;
	evidence.temperature_before = second_level ? 58 : 69;
	evidence.temperature_after = evidence.temperature_before;
	return evidence;
}

static struct series *collect(size_t n, bool with_evidence)
{
	struct series *series;
	uint64_t random = n;
	uint16_t line = 0;

	series = series_new(with_evidence, NULL);
	check(series_intern_irq(series, "38: virtio2-input.0", &line), "series_intern_irq");
	for (size_t i = 0; i < n; i++) {
		bool second_level = i > n / 4;
		int64_t noise =
			(int64_t)(random_next(&random) % 400000 + random_next(&random) % 400000);
		struct sample sample = {
			.kernel_ns = (second_level ? 11000000 : 20300000) + noise,
			.start_ns = (int64_t)i * 21000000,
			.max_rss_kib = 1500,
			.flags = random_next(&random) % 50 == 0 ? SAMPLE_IRQ : 0,
		};

		if (random_next(&random) % 100 == 0)
			sample.kernel_ns *= 3;
		sample.user_ns = sample.kernel_ns + 150000;
		if (with_evidence) {
			struct evidence evidence = make_evidence(line, second_level, &random);

			check(series_append(series, &sample, &evidence, NULL), "series_append");
		} else {
			check(series_append(series, &sample, NULL, NULL), "series_append");
		}
	}
	return series;
}

/* As runpinned does it. */
static size_t summarise(struct series *series)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	_cleanup_free_ char *text = NULL;
	struct benchmark benchmark;
	size_t n_levels;

	series_settle_clock(series);
	judge_frequencies(series);
	check(benchmark_view("scale", series, &benchmark), "benchmark_view");
	check(analysis_new(&benchmark, &analysis), "analysis_new");
	text = summary_render(&(struct summary_input){
		.benchmark = &benchmark, .analysis = analysis, .floor = NAN, .width = 80 });
	n_levels = analysis->levels->n;
	benchmark_clear_view(&benchmark);
	return n_levels;
}

static void measure_summary(size_t n, bool with_evidence, struct row *row)
{
	double before, start, middle;
	int64_t allocated_before;
	struct series *series;

	/* What the program's own pages take is no cost of a run. */
	series = collect(100, with_evidence);
	summarise(series);
	series_free(series);

	allocated_before = allocated_peak = allocated;
	before = peak();
	start = now();
	series = collect(n, with_evidence);
	middle = now();
	row->n_levels = summarise(series);
	row->summarise = (now() - middle) / (double)n;
	row->collect = (middle - start) / (double)n;
	row->resident = (peak() - before) / (double)n;
	row->allocated = (double)(allocated_peak - allocated_before) / (double)n;
	series_free(series);
}

static void measure_writing(size_t n, bool with_evidence, struct row *row)
{
	struct series *series = collect(n, with_evidence);
	struct facts facts = { 0 };
	const struct document_part part = { .series = series, .metadata = &facts };
	FILE *stream = tmpfile();
	double before, start;

	if (!stream)
		check(-errno, "tmpfile");
	facts_set_string(&facts, "name", "scale");
	before = peak();
	start = now();
	check(document_write(stream, NULL, &part, 1), "document_write");
	row->write = (now() - start) / (double)n;
	row->write_growth = peak() - before;
	row->file_size = (double)ftell(stream) / (double)n;
	rewind(stream);
	before = peak();
	start = now();
	check(csv_write(stream, series), "csv_write");
	row->csv = (now() - start) / (double)n;
	row->csv_growth = peak() - before;
	fclose(stream);
	facts_clear(&facts);
	series_free(series);
}

/* Runs a measurement in a process of its own, and gives back what it found. */
static struct row run_apart(void (*measure)(size_t n, bool with_evidence, struct row *row),
	size_t n, bool with_evidence)
{
	struct row *shared = __real_mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct row row;
	int status;
	pid_t pid;

	if (shared == MAP_FAILED)
		check(-errno, "mmap");
	pid = fork();
	if (pid < 0)
		check(-errno, "fork");
	if (pid == 0) {
		measure(n, with_evidence, shared);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		check(-ECHILD, "a measurement failed");
	row = *shared;
	__real_munmap(shared, sizeof(*shared));
	return row;
}

static struct row measure_row(size_t n, bool with_evidence)
{
	struct row best = { 0 };

	for (int i = 0; i < (n < LARGEST ? ROUNDS : 1); i++) {
		struct row row = run_apart(measure_summary, n, with_evidence);
		struct row writing = run_apart(measure_writing, n, with_evidence);

		if (i == 0) {
			best = row;
			best.write = writing.write;
			best.csv = writing.csv;
		}
		/* Time at its best, memory at its worst. */
		best.collect = MIN(best.collect, row.collect);
		best.summarise = MIN(best.summarise, row.summarise);
		best.write = MIN(best.write, writing.write);
		best.csv = MIN(best.csv, writing.csv);
		best.resident = MAX(best.resident, row.resident);
		best.allocated = MAX(best.allocated, row.allocated);
		best.write_growth = MAX(best.write_growth, writing.write_growth);
		best.csv_growth = MAX(best.csv_growth, writing.csv_growth);
		best.file_size = writing.file_size;
	}
	return best;
}

int main(void)
{
	static const size_t sizes[] = { 10000, 100000, LARGEST };
	bool too_much = false;

	printf("                  bytes a run          time a run (smallest = 1)           growth, KiB"
	       "    bytes a run\n");
	printf("evidence    runs  resident allocated   collect summarise log n  file   csv   file   "
	       "csv   in the file\n");
	for (int with_evidence = 0; with_evidence < 2; with_evidence++) {
		struct row first = { 0 };

		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct row row = measure_row(sizes[i], with_evidence);

			if (i == 0)
				first = row;
			printf("%-8s %7zu %9.1f %9.1f %9.2f %9.2f %5.2f %5.2f %5.2f %6.0f %5.0f %13.0f\n",
				with_evidence ? "on" : "off", sizes[i], row.resident, row.allocated,
				row.collect / first.collect, row.summarise / first.summarise,
				log((double)sizes[i]) / log((double)sizes[0]),
				row.write / first.write, row.csv / first.csv,
				row.write_growth / 1024, row.csv_growth / 1024, row.file_size);
			fflush(stdout);
			if (row.n_levels != 2) {
				fprintf(stderr, "scale: %zu levels were found, not 2\n",
					row.n_levels);
				return 1;
			}
			if (!with_evidence && i == ARRAY_SIZE(sizes) - 1)
				too_much = row.resident > LIMIT || row.allocated > LIMIT;
		}
	}
	printf("%s: at most %d bytes a run without evidence\n", too_much ? "FAILED" : "kept",
		LIMIT);
	return too_much ? 1 : 0;
}
