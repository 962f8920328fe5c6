// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a result file of made-up samples and prints our statistics of them in pyperf's words, for
 * check-pyperf to hold against what pyperf says of the same file.
 *
 *	write-result OUTPUT NAME RUNS WARMUPS kernel|user plain|evidence [EXISTING]
 *
 * With EXISTING the runs are appended to what that file holds. The same arguments make the same
 * samples.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/units.h"
#include "judge/result/document.h"
#include "judge/result/series.h"
#include "judge/stats/stats.h"

#include "random.h"

static struct evidence make_evidence(struct series *series, uint64_t *state)
{
	struct evidence evidence;

	evidence_clear(&evidence);
	evidence.user_cpu_ns = 10000000 + (int64_t)(random_next(state) % 1000000);
	evidence.system_cpu_ns = 1000000;
	evidence.frequency_khz = 3400000;
	evidence.cpu_first = evidence.cpu_last = 3;
	evidence.irq_device = (int32_t)(random_next(state) % 3);
	evidence.irq_timer = 5;
	if (evidence.irq_device > 0) {
		evidence.n_irq_lines = 1;
		evidence.irq_count[0] = evidence.irq_device;
		if (series_intern_irq(series, "38: virtio2-input.0", &evidence.irq_line[0]) < 0)
			exit(1);
	}
	evidence.softirqs[1] = 3;
	evidence.runnable = 2;
	evidence.load1 = 0.42f;
	evidence.temperature_before = 58.3f;
	evidence.temperature_after = 59;
	return evidence;
}

static struct series *make_series(unsigned n_runs, unsigned n_warmups, bool with_evidence)
{
	static const char *const events[] = { "instructions:u", "caf\xe9", NULL };
	struct series *series;
	uint64_t state = n_runs;
	int64_t now = 0;

	series = series_new(with_evidence, with_evidence ? events : NULL);
	series->start_realtime_ns = 1700000000123456789;
	for (unsigned i = 0; i < n_warmups + n_runs; i++) {
		struct sample sample = {
			.kernel_ns = 12300000 + (int64_t)(random_next(&state) % 2000000),
			.start_ns = now,
			.max_rss_kib = 1500,
			.env_pad = (uint32_t)(random_next(&state) % 4096),
			.warmup = i < n_warmups,
			.flags = i % 7 == 3 ? SAMPLE_PREEMPTED | SAMPLE_IRQ : 0,
			.status = i % 11 == 10 ? 256 : 0,
		};
		const double counters[] = { i % 2 ? 123456789.0 : NAN, 0.6 };
		struct evidence evidence = make_evidence(series, &state);

		sample.user_ns = sample.kernel_ns + 150000;
		now += sample.user_ns + 1000000;
		if (series_append(series, &sample, &evidence, counters) < 0)
			exit(1);
	}
	return series;
}

static void print_stats(const struct series *series)
{
	_cleanup_free_ double *values = NULL;
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
	struct stats s;
	size_t n;

	if (series_values(series, &values, &n) < 0 || stats_compute(values, n, &s) < 0)
		return;
	printf("Minimum: %s\n", units_format_seconds(s.min, a));
	if (n > 2) {
		struct scale median = scale_choose(s.median), mean = scale_choose(s.mean);

		printf("Median +- MAD: %s +- %s\n", scale_format(median, s.median, a),
			scale_format(median, s.mad, b));
		printf("Mean +- std dev: %s +- %s\n", scale_format(mean, s.mean, a),
			scale_format(mean, s.stdev, b));
	}
	printf("Maximum: %s\n", units_format_seconds(s.max, a));
	printf("5th percentile: %s\n", units_format_seconds(s.p5, a));
	printf("25th percentile: %s\n", units_format_seconds(s.q1, a));
	printf("75th percentile: %s\n", units_format_seconds(s.q3, a));
	printf("95th percentile: %s\n", units_format_seconds(s.p95, a));
	{
		struct scale scale = scale_choose(s.fence_low);

		printf("Number of outlier (out of %s..%s): %zu\n",
			scale_format(scale, s.fence_low, a), scale_format(scale, s.fence_high, b),
			s.n_outliers_low + s.n_outliers_high);
	}
}

int main(int argc, char *argv[])
{
	_cleanup_(suite) struct suite *existing = NULL;
	_cleanup_(series) struct series *series = NULL;
	_cleanup_fclose_ FILE *stream = NULL;
	_cleanup_free_ char *why = NULL;
	struct facts facts = { 0 };
	struct document_part part = { .metadata = &facts };
	unsigned n_runs, n_warmups;
	int r;

	if (argc < 7 || parse_uint(argv[3], 0, 10000000, &n_runs) < 0 ||
		parse_uint(argv[4], 0, 1000, &n_warmups) < 0)
		return 2;
	series = make_series(n_runs, n_warmups, strcmp(argv[6], "evidence") == 0);
	part.series = series;
	series->clock = strcmp(argv[5], "user") == 0 ? WINDOW_USER : WINDOW_KERNEL;
	facts_set_string(&facts, "name", argv[2]);
	facts_set_string(&facts, "command", "./prog 'a\nb' caf\xe9 \x1b[1m");
	facts_set_string(&facts, "hostname", "quiet");
	facts_set_string(&facts, "description", "  ");
	facts_set_string(&facts, "aslr", "Full randomization");
	facts_set_integer(&facts, "cpu_count", 8);
	facts_set_real(&facts, "load_avg_1min", 0.1);
	facts_set_integer(&facts, "quiesce_nice", -5);
	if (argc > 7) {
		r = document_load(argv[7], &existing, &why);
		if (r >= 0)
			r = document_check_append(existing, &facts, &why);
		if (r < 0) {
			fprintf(stderr, "%s\n", why ? why : strerror(-r));
			return 1;
		}
	}
	stream = fopen(argv[1], "we");
	r = stream ? document_write(stream, existing, &part, 1) : -errno;
	facts_clear(&facts);
	if (r < 0) {
		fprintf(stderr, "%s\n", strerror(-r));
		return 1;
	}
	print_stats(series);
	return 0;
}
