// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What libquiesce's stamps cost, for bench/sampler:
 *
 *	stamps pair	qs_begin() and qs_end() beside a bare fenced pair of reads, block by
 *			block in turns: "BARE PAIR REPORTED_BARE REPORTED_PAIR", nanoseconds,
 *			a line a block
 *	stamps ring N	N samples of nothing, one after the other: bytes a sample, and median,
 *			99th and 99.9th percentile of the distance from one to the next,
 *			nanoseconds
 *	stamps truth BODY	how long a body takes, without what is around it: the least of many
 *			short blocks of an unrolled loop, nanoseconds
 */
#include <errno.h>
#include <math.h>
#include <quiesce/sampler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bodies.h"

enum {
	BLOCKS = 400,
	BLOCK = 10000,
	TRUTHS = 5000,
	TRUTH_NS = 10000,
	/* Longer distances are all alike to a 99.9th percentile. */
	MAX_DISTANCE = 1 << 20,
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct qs_sampler *open_sampler(size_t samples)
{
	struct qs_options options = { .samples = samples };
	struct qs_sampler *sampler;
	char text[128];
	int r;

	r = qs_open(&options, &sampler);
	if (r < 0) {
		fprintf(stderr, "stamps: %s\n", qs_error_text(r, text, sizeof(text)));
		exit(1);
	}
	return sampler;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), compare_u64);
	return values[n / 2];
}

/* The same reads as the library's, and nothing else: their difference is kept as it would be by
 * somebody who writes them down by hand. */
static double block_of_bare(struct qs_sampler *sampler, uint64_t *lengths)
{
	double began = now_ns();

	for (size_t i = 0; i < BLOCK; i++) {
		uint32_t cpu;
		uint64_t begin = qs_stamp_begin(sampler);
		uint64_t end = qs_stamp_end(sampler, &cpu);

		lengths[i] = end - begin;
	}
	return (now_ns() - began) / BLOCK;
}

static double block_of_pairs(struct qs_sampler *sampler, uint64_t *lengths)
{
	double began, ended;

	qs_reset(sampler);
	began = now_ns();
	for (size_t i = 0; i < BLOCK; i++)
		qs_end(sampler, qs_begin(sampler));
	ended = now_ns();
	for (size_t i = 0; i < BLOCK; i++)
		lengths[i] = qs_samples(sampler)[i].end - qs_samples(sampler)[i].begin;
	return (ended - began) / BLOCK;
}

static void measure_pairs(void)
{
	struct qs_sampler *sampler = open_sampler(BLOCK);
	static double costs[2][BLOCKS];
	static uint64_t reported[2][BLOCKS], lengths[BLOCK];

	for (size_t i = 0; i < 2 * BLOCKS; i++) {
		/* Each goes first in every other turn. */
		int pairs = (i + i / 2) % 2;

		costs[pairs][i / 2] =
			pairs ? block_of_pairs(sampler, lengths) : block_of_bare(sampler, lengths);
		reported[pairs][i / 2] = median(lengths, BLOCK);
	}
	qs_settle(sampler);
	for (size_t i = 0; i < BLOCKS; i++)
		printf("%.3f %.3f %.3f %.3f\n", costs[0][i], costs[1][i],
			qs_nanoseconds(sampler, reported[0][i]),
			qs_nanoseconds(sampler, reported[1][i]));
	qs_close(sampler);
}

static uint64_t percentile(const uint32_t *counts, size_t n, double part)
{
	size_t rank = (size_t)((double)(n - 1) * part), seen = 0;

	for (size_t i = 0; i < MAX_DISTANCE; i++) {
		seen += counts[i];
		if (seen > rank)
			return i;
	}
	return MAX_DISTANCE;
}

static void measure_ring(size_t n)
{
	struct qs_sampler *sampler = open_sampler(n);
	uint32_t *counts = calloc(MAX_DISTANCE + 1, sizeof(*counts));
	const struct qs_sample *samples;
	struct qs_facts facts;

	if (!counts || n < 2)
		exit(1);
	for (size_t i = 0; i < n; i++)
		qs_end(sampler, qs_begin(sampler));
	qs_settle(sampler);
	qs_get_facts(sampler, &facts);
	samples = qs_samples(sampler);
	for (size_t i = 1; i < n; i++) {
		uint64_t distance = samples[i].begin - samples[i - 1].begin;

		counts[distance < MAX_DISTANCE ? distance : MAX_DISTANCE]++;
	}
	printf("samples %zu dropped %llu bytes %zu locked %s\n", qs_count(sampler),
		(unsigned long long)qs_dropped(sampler), sizeof(*samples),
		facts.lock_error ? strerror(facts.lock_error) : "yes");
	printf("median %.3f p99 %.3f p999 %.3f\n",
		qs_nanoseconds(sampler, percentile(counts, n - 1, 0.5)),
		qs_nanoseconds(sampler, percentile(counts, n - 1, 0.99)),
		qs_nanoseconds(sampler, percentile(counts, n - 1, 0.999)));
	free(counts);
	qs_close(sampler);
}

#define FOUR(work) work work work work

#define DEFINE(name)                                            \
	static uint64_t repeat_##name(uint64_t x, size_t loops) \
	{                                                       \
		for (size_t i = 0; i < loops; i++) {            \
			FOUR(FOUR(FOUR(x = body_##name(x);)))   \
		}                                               \
		return x;                                       \
	}
BODIES(DEFINE)

static const struct {
	const char *name;
	uint64_t (*repeat)(uint64_t x, size_t loops);
} bodies[] = {
#define ENTRY(name) { #name, repeat_##name },
	BODIES(ENTRY)
};

static double time_block(uint64_t (*repeat)(uint64_t x, size_t loops), size_t loops)
{
	double began = now_ns();

	qs_keep(repeat(1, loops));
	return now_ns() - began;
}

/* Blocks are long enough for reading the clock to take no more than some thousandths of them, and
 * short enough for most of them to pass undisturbed. */
static int measure_truth(const char *name)
{
	uint64_t (*repeat)(uint64_t x, size_t loops) = NULL;
	double least = INFINITY;
	size_t loops = 1;

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		if (strcmp(bodies[i].name, name) == 0)
			repeat = bodies[i].repeat;
	if (!repeat)
		return -ENOENT;
	bodies_prepare();
	while (time_block(repeat, loops) < TRUTH_NS)
		loops *= 2;
	for (size_t i = 0; i < TRUTHS; i++) {
		double ns = time_block(repeat, loops);

		least = ns < least ? ns : least;
	}
	printf("%.4f\n", least / (64.0 * (double)loops));
	return 0;
}

int main(int argc, char *argv[])
{
	size_t n = 0;

	if (argc == 2 && strcmp(argv[1], "pair") == 0) {
		measure_pairs();
	} else if (argc == 3 && strcmp(argv[1], "truth") == 0 && measure_truth(argv[2]) == 0) {
		;
	} else if (argc == 3 && strcmp(argv[1], "ring") == 0) {
		for (const char *p = argv[2]; *p >= '0' && *p <= '9' && n < SIZE_MAX / 100; p++)
			n = 10 * n + (size_t)(*p - '0');
		measure_ring(n);
	} else {
		fprintf(stderr, "usage: stamps pair | ring N | truth BODY\n");
		return 2;
	}
	return 0;
}
