// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/text.h"
#include "judge/result/document.h"
#include "judge/result/metric.h"
#include "judge/result/reader.h"

static int read_memory(const char *text, size_t size, struct suite **ret, char **ret_why)
{
	struct input *input;
	int r;

	input = input_open_memory(text, size);
	r = suite_read_input(input, true, ret, ret_why);
	input_free(input);
	return r;
}

static struct suite *read_good(const char *text)
{
	struct suite *suite = NULL;
	char *why = NULL;

	if (read_memory(text, strlen(text), &suite, &why) < 0)
		fprintf(stderr, "%s\n", why);
	assert_null(why);
	assert_non_null(suite);
	return suite;
}

static void assert_refused(const char *text, size_t size, const char *wish)
{
	struct suite *suite = NULL;
	char *why = NULL;

	assert_int_equal(read_memory(text, size, &suite, &why), -EINVAL);
	assert_null(suite);
	assert_string_equal(why, wish);
	free(why);
}

#define HEAD "{\"version\": \"1.0\", \"benchmarks\": [{\"metadata\": {\"name\": \"a\"}, \"runs\": ["
#define TAIL "]}]}"

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "", "1:1: there is nothing in the file" },
		{ " \n\n ", "3:2: there is nothing in the file" },
		{ "{", "1:2: the file ends too early" },
		{ "[]", "1:1: no pyperf result: it is not an object" },
		{ "nonsense", "1:1: this is no JSON" },
		{ "{} {}", "1:2: no pyperf result: 'version' is missing" },
		{ "{\"version\": 4}",
			"1:13: pyperf's format version 4 is none of 5, 6 and 1.0, which are read here" },
		{ "{\"version\": 7}",
			"1:13: pyperf's format version 7 is none of 5, 6 and 1.0, which are read here" },
		{ "{\"version\": \"1.0\"}", "1:18: no pyperf result: 'benchmarks' are missing" },
		{ "{\"version\": \"1.0\", \"benchmarks\": []}",
			"1:35: no pyperf result: it has no benchmarks" },
		{ "{\"version\": \"1.0\", \"benchmarks\": [{}]}",
			"1:36: no pyperf result: a benchmark without 'runs'" },
		{ "{\"version\": \"1.0\", \"benchmarks\": [{\"runs\": [{\"values\": [1]}]}]}",
			"1:64: no pyperf result: a benchmark without a name" },
		{ HEAD TAIL, "1:72: no pyperf result: a benchmark without runs" },
		{ HEAD "{}" TAIL, "1:73: no pyperf result: a run without values" },
		{ HEAD "{\"values\": [0]}" TAIL, "1:84: a value is not a number above 0" },
		{ HEAD "{\"values\": [-1]}" TAIL, "1:84: a value is not a number above 0" },
		{ HEAD "{\"values\": [\"1\"]}" TAIL, "1:84: a value is not a number above 0" },
		{ "{\"results\": [{\"command\": \"x\", \"times\": [0.1, 0.0]}]}",
			"1:46: a value is not a number above 0; of what takes no longer than its "
			"shell, hyperfine -N knows the time" },
		{ "{\"context\": {}, \"benchmarks\": [{\"name\": \"B\", \"real_time\": 1, "
		  "\"time_unit\": \"ns\", \"error_occurred\": true}]}",
			"1:104: no result of google-benchmark: all in it failed or was skipped (B "
			"failed)" },
		{ "{\"context\": {}, \"benchmarks\": [{\"name\": \"B\", \"skipped\": true, "
		  "\"skip_message\": \"no\\n disk\"}]}",
			"1:91: no result of google-benchmark: all in it failed or was skipped (B was "
			"skipped: no\\x0a disk)" },
		{ "{\"context\": {}, \"benchmarks\": [{\"name\": \"B\", \"run_type\": \"aggregate\"}]}",
			"1:70: no result of google-benchmark: it has neither times of iterations "
			"nor their median or mean" },
		{ HEAD "{\"values\": [NaN]}" TAIL, "1:84: a value was expected" },
		{ HEAD "{\"values\": [Infinity]}" TAIL, "1:84: a value was expected" },
		{ HEAD "{\"values\": [-Infinity]}" TAIL, "1:84: no number that JSON knows" },
		{ HEAD "{\"values\": [1e999]}" TAIL, "1:84: the number is too large" },
		{ HEAD "{\"values\": [01]}" TAIL, "1:84: no number that JSON knows" },
		{ HEAD "{\"values\": [1.]}" TAIL, "1:84: no number that JSON knows" },
		{ HEAD "{\"values\": [1,]}" TAIL, "1:86: a value was expected" },
		{ HEAD "{\"values\": [1 2]}" TAIL, "1:86: ',' or ']' was expected" },
		{ HEAD "{\"values\": [1], \"values\": [2]}" TAIL,
			"1:88: a name that this object has already" },
		{ HEAD "{\"values\": [1]}" TAIL " x",
			"1:92: nothing was expected behind the value" },
		{ HEAD "{\"values\": [1]", "1:86: the file ends too early" },
		{ HEAD "{\"warmups\": [[0, 1]]}" TAIL,
			"1:86: no pyperf result: a warm-up is not [loops, value]" },
		{ HEAD "{\"warmups\": [[1]]}" TAIL,
			"1:87: no pyperf result: a warm-up is not [loops, value]" },
		{ HEAD "{\"warmups\": [[1, 1, 1]]}" TAIL,
			"1:92: no pyperf result: a warm-up is not [loops, value]" },
		{ HEAD "{\"values\": [1], \"metadata\": {\"loops\": 0}}" TAIL,
			"1:110: no pyperf result: metadata 'loops' is not an integer of 1 or more" },
		{ HEAD "{\"values\": [1], \"metadata\": {\"x\": []}}" TAIL,
			"1:106: no pyperf result: metadata 'x' is neither a string nor a number" },
		{ HEAD "{\"values\": [1], \"metadata\": {\"x\": \"\"}}" TAIL,
			"1:106: no pyperf result: metadata 'x' is empty" },
		{ HEAD "{\"values\": [1], \"metadata\": 1}" TAIL,
			"1:100: no pyperf result: the value of 'metadata' is not an object" },
		{ HEAD "{\"values\": [1], \"x\": \"\\ud800\"}" TAIL,
			"1:101: half a surrogate pair" },
		{ HEAD "{\"values\": [1], \"x\": \"\\u0000\"}" TAIL,
			"1:100: a string with U+0000" },
		{ HEAD "{\"values\": [1], \"x\": \"\xff\"}" TAIL, "1:95: bytes that are no UTF-8" },
		{ HEAD "{\"values\": [1], \"x\": \"\n\"}" TAIL,
			"1:94: a control character in a string" },
		{ HEAD "{\"values\": [1]}]}, {\"metadata\": {\"name\": \" a \"}, "
		       "\"runs\": [{\"values\": [1]}]}]}",
			"1:149: no pyperf result: two benchmarks are named 'a'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct suite *suite = NULL;
		char *why = NULL;
		int r = read_memory(cases[i].text, strlen(cases[i].text), &suite, &why);

		if (r >= 0 || strcmp(why, cases[i].why) != 0)
			fprintf(stderr, "%s\n\t%s\n", cases[i].text, why ? why : "accepted");
		assert_int_equal(r,
			strstr(cases[i].why, ": all in it failed or was skipped (") ? -ENODATA
										    : -EINVAL);
		assert_string_equal(why, cases[i].why);
		free(why);
	}
}

/* What others write is named, however far it could be read. */
static void test_recognized(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "{\"machine_info\": {\"node\": \"h\"}, \"benchmarks\": [{\"name\": \"a\"}]}",
			"1:1: a result of pytest-benchmark, which only bench-report reads, as pytest-benchmark "
			"writes it" },
		{ "\n[\n {\n  \"jmhVersion\": \"1.37\"",
			"1:1: a result of JMH, which only bench-report reads, as JMH writes it" },
		{ "{\"results\": [{\"title\": \"t\", \"name\": \"n\", \"complexityN\": -1}]}",
			"1:1: nanobench's own JSON is not read, but what it renders with its "
			"template pyperf is" },
		{ "{\"sampling_mode\":\"Linear\",\"iters\":[1.0]}",
			"1:1: a result of criterion, which only bench-report reads, as criterion writes it" },
		{ "{\"fio version\" : \"fio-3.33\"}",
			"1:1: a result of fio, which only bench-report reads, as fio writes it" },
		{ "goos: linux\nBenchmarkSum-2 5000 1832 ns/op\n",
			"1:1: the output of Go's benchmarks, which only bench-report reads" },
		{ "PASS\ngoos: linux\n",
			"1:1: the output of Go's benchmarks, which only bench-report reads" },
		{ "\nrunning 2 tests\ntest sum  ... bench:         824.30 ns/iter (+/- 84.73)\n",
			"1:1: the output of Rust's benchmarks: bench-report --harness libtest reads it" },
		{ "command,mean,stddev,median\n",
			"1:1: hyperfine's CSV is not read, but what it writes with --export-json is" },
		{ "name,iterations,real_time,cpu_time\n",
			"1:1: google-benchmark's CSV is not read, but its JSON is: "
			"--benchmark_out=FILE" },
		{ "<?xml version=\"1.0\"?>\n<Catch name=\"c\">",
			"1:1: a result of Catch2 is not read" },
		{ "<?xml version=\"1.0\"?>\n<x>", "1:1: XML is not read" },
		{ "\x28\xb5\x2f\xfdx", "1:1: compressed by zstd: decompress it first" },
		{ "\xef\xbb\xbf{}", "1:2: no pyperf result: 'version' is missing" },
		/* The words alone are none of their marks. */
		{ "{\"tool\": \"goos: , jmhVersion\"}",
			"1:30: no pyperf result: 'version' is missing" },
		{ "BZ", "1:1: this is no JSON" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_refused(cases[i].text, strlen(cases[i].text), cases[i].why);
}

/* One bad value spoils its benchmark, and nothing else of the file. */
static void test_spoilt(void **state)
{
#define GOOGLE(name, time) \
	"{\"name\": \"" name "\", \"real_time\": " time ", \"time_unit\": \"ns\"}"
	static const struct {
		const char *text;
		const char *left_out; /* "name why" */
		const char *kept;
	} cases[] = {
		{ HEAD "{\"values\": [1, 0]}, {\"values\": [null, [2], {}]}]}, {\"metadata\": "
		       "{\"name\": \"b\"}, \"runs\": [{\"values\": [1]}]}]}",
			"a (1:87: a value is not a number above 0)", "b" },
		{ HEAD "{\"values\": [-1]}]}, {\"runs\": [{\"values\": [1]}]}], "
		       "\"metadata\": {\"name\": \"b\"}}",
			"a (1:84: a value is not a number above 0)", "b" },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [1, 0.0, 2]}, {\"command\": \"b\", "
		  "\"times\": [1, 2]}]}",
			"a (1:44: a value is not a number above 0; of what takes no longer than "
			"its shell, hyperfine -N knows the time)",
			"b" },
		{ "{\"results\": [{\"command\": \"b\", \"times\": [1, 2]}, {\"command\": \"a\"}]}",
			"a (1:64: a command without times)", "b" },
		{ "{\"context\": {}, \"benchmarks\": [" GOOGLE("a", "1") ", " GOOGLE(
			  "a", "0.0") ", " GOOGLE("b", "2") "]}",
			"a (1:131: 'real_time' is not a time above 0)", "b" },
		{ "{\"context\": {}, \"benchmarks\": [" GOOGLE("a", "\"x\"") ", " GOOGLE(
			  "b", "2") "]}",
			"a (1:81: 'real_time' is not a time above 0)", "b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct suite *suite = read_good(cases[i].text);
		const struct fact *left_out = suite->left_out.items;
		char *said;

		assert_int_equal(suite->n, 1);
		assert_string_equal(suite->benchmarks[0]->name, cases[i].kept);
		assert_int_equal(suite->left_out.n, 1);
		assert_true(asprintf(&said, "%s %s", left_out->name, left_out->string) > 0);
		assert_string_equal(said, cases[i].left_out);
		free(said);
		suite_free(suite);
	}
}

/* Every beginning of a good file is a bad one. */
static void test_cut_off(void **state)
{
	static const char good[] = HEAD
		"{\"values\": [1.5e-3, 2], \"warmups\": [[1, 3]], \"metadata\": {\"tags\": [\"x\"], "
		"\"date\": \"2026-11-20 10:00:00\", \"x\": \"\\u00e9\"}}" TAIL;

	(void)state;
	suite_free(read_good(good));
	for (size_t size = 0; size < strlen(good); size++) {
		/* A copy of that length, so that a sanitizer sees what is read beyond. */
		char *copy = malloc(size + 1);
		struct suite *suite = NULL;
		char *why = NULL;

		memcpy(copy, good, size);
		copy[size] = '\0';
		copy = realloc(copy, size > 0 ? size : 1);
		assert_int_equal(read_memory(copy, size, &suite, &why), -EINVAL);
		assert_non_null(why);
		free(why);
		free(copy);
	}
}

static void test_hostile(void **state)
{
	struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		text_append(&t, "[");
	assert_refused(t.data, t.length, "1:1: no pyperf result: it is not an object");
	text_clear(&t);

	text_append(&t, "{\"x\": ");
	for (size_t i = 0; i < 100000; i++)
		text_append(&t, "[");
	assert_refused(t.data, t.length, "1:70: nested deeper than 64 levels");
	text_clear(&t);

	text_append(&t, HEAD "{\"values\": [");
	for (size_t i = 0; i < 100000; i++)
		text_append(&t, "1");
	text_append(&t, "]}" TAIL);
	assert_refused(t.data, t.length, "1:84: the number is too long");
	text_clear(&t);

	text_append(&t, "{\"x\": \"");
	for (size_t i = 0; i < 1100000; i++)
		text_append(&t, "x");
	text_append(&t, "\"}");
	assert_refused(t.data, t.length, "1:7: the string is longer than 1 MiB");
	text_clear(&t);

	text_append(&t, "{");
	for (size_t i = 0; i < 1001; i++)
		text_appendf(&t, "%s\"%zu\": 1", i > 0 ? ", " : "", i);
	text_append(&t, "}");
	assert_int_equal(t.data[t.length - 1], '}');
	{
		struct suite *suite = NULL;
		char *why = NULL;

		assert_int_equal(read_memory(t.data, t.length, &suite, &why), -EINVAL);
		assert_non_null(strstr(why, "an object of more than 1000 members"));
		free(why);
	}
	text_clear(&t);

	/* Names that never come again, a few in each run. */
	text_append(&t, HEAD);
	for (size_t i = 0; i < 1001; i++)
		text_appendf(&t, "%s{\"values\": [1], \"metadata\": {\"k%zu\": 1}}",
			i > 0 ? ", " : "", i);
	text_append(&t, TAIL);
	{
		struct suite *suite = NULL;
		char *why = NULL;

		assert_int_equal(read_memory(t.data, t.length, &suite, &why), -EINVAL);
		assert_non_null(strstr(why, "more than 1000 different names of metadata"));
		free(why);
	}
	text_clear(&t);
}

/* A file as pyperf writes it: sorted keys, what is common at the top, behind the runs. */
/* Commands that are equal get numbers, unless another one is called so. */
static void test_equal_commands(void **state)
{
	struct suite *suite = read_good(
		"{\"results\": [{\"command\": \"ls #2\", \"times\": [1]}, {\"command\": \"ls\", "
		"\"times\": [1]}, {\"command\": \"ls\", \"times\": [1]}, {\"command\": \"ls\", "
		"\"times\": [1]}]}");
	static const char *const names[] = { "ls #2", "ls", "ls #3", "ls #4" };

	(void)state;
	assert_int_equal(suite->n, ARRAY_SIZE(names));
	for (size_t i = 0; i < suite->n; i++)
		assert_string_equal(suite->benchmarks[i]->name, names[i]);
	suite_free(suite);
}

static void test_pyperf(void **state)
{
	static const char text[] =
		"{\"benchmarks\":[{\"metadata\":{\"name\":\"one\",\"loops\":8},\"runs\":["
		"{\"metadata\":{\"calibrate_loops\":8,\"date\":\"2026-11-20 10:00:00.5\"},"
		"\"warmups\":[[1,0.004],[2,0.003]]},"
		"{\"metadata\":{\"date\":\"2026-11-20 10:00:02\",\"duration\":1.25,\"loops\":4,"
		"\"cpu_temp\":\"coretemp:Core 0=57 C, coretemp:Package id 0=58 C\","
		"\"cpu_freq\":\"3=2300 MHz\",\"load_avg_1min\":0.5},"
		"\"values\":[0.002,0.001,0.003],\"warmups\":[[8,0.0035]]},"
		"{\"metadata\":{\"date\":\"2026-11-20 10:00:04\",\"duration\":1.25,"
		"\"extra\":\"x\"},\"values\":[0.005]}]},"
		"{\"metadata\":{\"name\":\"two\",\"unit\":\"byte\"},\"runs\":[{\"values\":[12345]}]}],"
		"\"metadata\":{\"hostname\":\" quiet \",\"inner_loops\":2,\"tags\":[\"a\",\"b\"],"
		"\"runnable_threads\":3},\"version\":\"1.0\"}";
	struct suite *suite = read_good(text);
	const struct benchmark *b = suite->benchmarks[0];
	double *units, low, high;
	char *value;
	size_t n;

	(void)state;
	assert_int_equal(suite->n, 2);
	assert_string_equal(b->name, "one");
	assert_int_equal(b->n_values, 4);
	assert_true(b->values[2] == 0.003 && b->values[3] == 0.005);
	assert_int_equal(b->series->n_samples, 3);
	assert_int_equal(b->series->n_samples - b->series->n_counted, 1);
	assert_int_equal(b->n_warmups, 3);
	assert_int_equal(b->runs[1].loops, 4);
	assert_int_equal(b->runs[2].loops, 8);
	assert_int_equal(b->runs[2].inner_loops, 2);
	assert_int_equal(benchmark_raw_range(b, &low, &high), 0);
	assert_true(low == 0.008 && high == 0.08);
	assert_int_equal(benchmark_units(b, &units, &n), 0);
	assert_int_equal(n, 2);
	assert_true(units[0] == 0.002 && units[1] == 0.005);
	free(units);
	/* 0.004 * 2 + 0.003 * 2 * 2 of the calibration, and what the others say. */
	assert_true(fabs(b->total_seconds - 2.52) < 1e-12);
	assert_true(b->has_dates);
	assert_int_equal(b->last_date - b->first_date, 6);
	assert_int_equal(b->series->samples[1].start_ns, 1500000000);
	assert_true(b->series->evidence[1].temperature_after == 58);
	assert_int_equal(b->series->evidence[1].frequency_khz, 2300000);
	assert_true(isnan(b->series->evidence[2].load1));
	assert_int_equal(b->series->evidence[2].runnable, 3);
	value = benchmark_metadata_text(b, "hostname");
	assert_string_equal(value, "quiet");
	free(value);
	value = benchmark_metadata_text(b, "tags");
	assert_string_equal(value, "a, b");
	free(value);
	/* Not what only some runs say, nor what a run says otherwise. */
	assert_null(facts_find(&b->metadata, "extra"));
	assert_null(facts_find(&b->metadata, "loops"));
	assert_ptr_equal(suite->benchmarks[1]->unit, &unit_byte);
	assert_null(suite_find(suite, "three"));
	assert_true(suite_find(suite, "two") == suite->benchmarks[1]);
	suite_free(suite);
}

/* A date with a zone is a moment, wherever it was written. */
static void test_zones(void **state)
{
	static const struct {
		const char *date;
		int64_t start_ns; /* behind 2026-11-20 10:00:00 UTC; -1: it is no date */
	} cases[] = {
		{ "2026-11-20 10:00:00.5", 500000000 },
		{ "2026-11-20T10:00:01", 1000000000 },
		{ "2026-11-20T10:00:01Z", 1000000000 },
		{ "2026-11-20T12:00:00+02:00", 0 },
		{ "2026-11-20T04:30:00.25-0530", 250000000 },
		{ "2026-11-20 20:00:00.123456789123 +09:00", 3600123456789 },
		{ "2026-11-20 10:00:00 CET", -1 },
		{ "2026-13-20 10:00:00", -1 },
		{ "yesterday", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct suite *suite;
		char *text;

		assert_true(asprintf(&text,
				    HEAD "{\"values\": [1], \"metadata\": {\"date\": "
					 "\"2026-11-20 10:00:00\"}}, {\"values\": [1], "
					 "\"metadata\": {\"date\": \"%s\"}}" TAIL,
				    cases[i].date) > 0);
		suite = read_good(text);
		if (suite->benchmarks[0]->series->samples[1].start_ns != cases[i].start_ns)
			fprintf(stderr, "%s\n", cases[i].date);
		assert_int_equal(
			suite->benchmarks[0]->series->samples[1].start_ns, cases[i].start_ns);
		suite_free(suite);
		free(text);
	}
}

/* What pyperf wrote before 1.0 has other names, and warm-ups that are not divided by the loops. */
static void test_old_pyperf(void **state)
{
	static const char *const texts[] = {
		"{\"benchmarks\":[{\"common_metadata\":{\"name\":\"b\",\"loops\":2,"
		"\"inner_loops\":4,\"perf_version\":\"0.9.0\"},\"runs\":["
		"{\"metadata\":{\"date\":\"2017-01-04 10:00:00.5\"},\"samples\":[0.25,0.5],"
		"\"warmups\":[[2,2.0]]},{\"samples\":[0.75],\"warmups\":null}]}],\"version\":5}",
		"{\"benchmarks\":[{\"metadata\":{\"name\":\"b\",\"loops\":2},\"runs\":["
		"{\"values\":[0.25,0.5],\"warmups\":[[2,2.0]]},{\"values\":[0.75]}]}],"
		"\"metadata\":{\"inner_loops\":4,\"perf_version\":\"0.9.6\"},\"version\":6}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct suite *suite = read_good(texts[i]);
		const struct benchmark *b = suite->benchmarks[0];

		assert_string_equal(b->name, "b");
		assert_int_equal(b->n_values, 3);
		assert_int_equal(benchmark_counted_runs(b), 2);
		assert_int_equal(b->n_warmups, 1);
		assert_int_equal(b->warmups[0].loops, 2);
		assert_true(b->warmups[0].value == 0.25);
		assert_int_equal(b->has_dates, i == 0);
		/* All loops of the values and of the warm-up. */
		assert_true(fabs(b->total_seconds - (0.25 + 0.5 + 0.25 + 0.75) * 8) < 1e-12);
		suite_free(suite);
	}
}

/* pyperf 2.11: memory may be 0 where it is not known, and the quota of the CPUs is told. */
static void test_new_pyperf(void **state)
{
	struct suite *suite = read_good(
		HEAD "{\"values\": [1], \"metadata\": {\"mem_max_rss\": 0, \"command_max_rss\": 0, "
		     "\"mem_peak_pagefile_usage\": 0, \"cpu_quota\": \"0.2 CPUs\"}}" TAIL);

	(void)state;
	assert_int_equal(suite->benchmarks[0]->series->samples[0].max_rss_kib, 0);
	assert_string_equal(
		facts_find_string(&suite->benchmarks[0]->metadata, "cpu_quota"), "0.2 CPUs");
	suite_free(suite);
}

/* Figures of no value: there is nothing to keep, before values or without any. */
static void test_empty_figures(void **state)
{
	static const struct {
		const char *run;
		size_t n_values;
	} cases[] = {
		{ "{\"quiesce_figures\": {\"a\": [], \"b\": []}, \"values\": [1]}", 1 },
		{ "{\"quiesce_figures\": {\"a\": []}, \"warmups\": [[1, 1]]}", 0 },
		{ "{\"values\": [1], \"quiesce_figures\": {\"a\": []}}", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];
		struct suite *suite;

		snprintf(text, sizeof(text), HEAD "%s" TAIL, cases[i].run);
		suite = read_good(text);
		assert_int_equal(suite->benchmarks[0]->n_values, cases[i].n_values);
		assert_int_equal(suite->benchmarks[0]->n_figures, 0);
		suite_free(suite);
	}
}

/* Runs of who writes evidence and no flags get those that runpinned would have set. */
static void test_derived_flags(void **state)
{
#define RUN(metadata) "{\"values\": [1], \"metadata\": {\"duration\": 1, " metadata "}}"
	static const struct {
		const char *metadata; /* of the second of three runs */
		const char *flags;
	} cases[] = {
		{ "\"quiesce_run_delay\": 0.2", "preempted" },
		{ "\"quiesce_run_delay\": 0.009", "" },
		{ "\"quiesce_irq_device\": 1", "irq" },
		{ "\"quiesce_irq_device\": 0, \"quiesce_softirqs\": \"TIMER x3, NET_RX x9000\"",
			"irq" },
		{ "\"quiesce_migrations\": 2", "migrated" },
		{ "\"quiesce_cpu_first\": 1, \"quiesce_cpu_last\": 2", "migrated" },
		{ "\"quiesce_steal\": 0.01", "steal" },
		{ "\"quiesce_quota_throttled\": 0.2", "quota" },
		{ "\"quiesce_quota_throttled\": 0.009", "" },
		{ "\"quiesce_quota_throttled\": 0.2, \"quiesce_run_delay\": 0.2", "quota" },
		{ "\"quiesce_quota_throttled\": 0.2, \"quiesce_run_delay\": 0.3",
			"preempted,quota" },
		{ "\"quiesce_throttles\": 1", "throttled" },
		{ "\"quiesce_frequency_khz\": 2000000", "freq" },
		{ "\"quiesce_core_khz\": 2000000", "clock" },
		{ "\"quiesce_core_share_before\": 0.5", "shared" },
		{ "\"quiesce_run_delay\": 0.2, \"quiesce_irq_device\": 1", "preempted,irq" },
		/* Of a moment. */
		{ "\"cpu_freq\": \"3=2000 MHz\"", "" },
		/* Who writes flags has set all that there are, and so has runpinned. */
		{ "\"quiesce_run_delay\": 0.2, \"quiesce_flags\": \"none\"", "" },
		{ "\"quiesce_run_delay\": 0.2, \"quiesce_version\": \"0.1\"", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		/* What the others say of the same name. */
		const char *usual = strstr(cases[i].metadata, "khz") ? cases[i].metadata : NULL;
		size_t n = usual ? strcspn(usual, ":") : 0;
		struct suite *suite;
		char *text, *flags;

		assert_true(
			asprintf(&text, HEAD RUN("%.*s%s") ", " RUN("%s") ", " RUN("%.*s%s") TAIL,
				(int)n, usual ? usual : "", usual ? ": 3000000" : "\"x\": 1",
				cases[i].metadata, (int)n, usual ? usual : "",
				usual ? ": 3000000" : "\"x\": 1") > 0);
		suite = read_good(text);
		for (size_t run = 0; run < 3; run++) {
			flags = sample_flags_text(suite->benchmarks[0]->series->samples[run].flags);
			assert_string_equal(flags, run == 1 ? cases[i].flags : "");
			free(flags);
		}
		suite_free(suite);
		free(text);
	}
}

/* How long a run took: pyperf's duration counts more than our own stamps, in whatever order they
 * are told. */
static void test_durations(void **state)
{
	static const struct {
		const char *metadata;
		int64_t ns;
		bool has_duration;
	} cases[] = {
		{ "\"x\": 1", 0, false },
		{ "\"duration\": 2", 2000000000, true },
		{ "\"quiesce_window_user\": 3", 3000000000, false },
		{ "\"duration\": 2, \"quiesce_window_user\": 3", 2000000000, true },
		{ "\"quiesce_window_user\": 3, \"duration\": 2", 2000000000, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct sample *sample;
		struct suite *suite;
		char *text;

		assert_true(asprintf(&text, HEAD "{\"values\": [1], \"metadata\": {%s}}" TAIL,
				    cases[i].metadata) > 0);
		suite = read_good(text);
		sample = &suite->benchmarks[0]->series->samples[0];
		assert_int_equal(sample->user_ns, cases[i].ns);
		assert_int_equal(sample->has_duration, cases[i].has_duration);
		suite_free(suite);
		free(text);
	}
}

/* A run for which the chosen metric is not known is left out, and is no warm-up for that. */
static void test_left_out(void **state)
{
#define COUNTED(number) "{\"values\": [1], \"metadata\": {\"quiesce_irq_device\": " number "}}"
	static const char text[] = HEAD
		"{\"warmups\": [[1, 1]]}, " COUNTED("3") ", {\"values\": [1]}, " COUNTED("5") TAIL;
	struct suite *suite = read_good(text);
	struct benchmark *b = suite->benchmarks[0];

	(void)state;
	assert_int_equal(b->series->n_counted, 3);
	assert_int_equal(benchmark_choose_metric(b, "irq_device"), 0);
	assert_int_equal(b->series->n_counted, 2);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(b->series->samples[i].warmup, i == 0);
		assert_int_equal(b->series->samples[i].left_out, i == 2);
		assert_int_equal(sample_counts(&b->series->samples[i]), i % 2);
	}
	assert_int_equal(b->n_values, 2);
	assert_true(b->values[0] == 3 && b->values[1] == 5);
	/* Once more is as before. */
	series_leave_out(b->series, 0);
	series_leave_out(b->series, 2);
	assert_int_equal(b->series->n_counted, 2);
	suite_free(suite);
}

/* cpu_temp and cpu_freq are not of a run that was elsewhere, in whatever order and place that is
 * said. */
static void test_elsewhere(void **state)
{
#define TOLD "\"cpu_freq\": \"3=2000 MHz\", \"cpu_temp\": \"package=58 C\""
#define ELSEWHERE "\"quiesce_elsewhere\": 1"
	static const struct {
		const char *suite;
		const char *benchmark;
		const char *run;
		bool frequency;
		double temperature; /* 0: not known */
	} cases[] = {
		{ "\"x\": 1", "\"x\": 1", TOLD, true, 58 },
		{ TOLD, "\"x\": 1", "\"x\": 1", true, 58 },
		{ "\"x\": 1", "\"x\": 1", TOLD ", " ELSEWHERE, false, 0 },
		{ "\"x\": 1", "\"x\": 1", ELSEWHERE ", " TOLD, false, 0 },
		{ "\"x\": 1", TOLD, ELSEWHERE, false, 0 },
		{ "\"x\": 1", TOLD ", " ELSEWHERE, "\"x\": 1", false, 0 },
		{ ELSEWHERE, TOLD, "\"x\": 1", false, 0 },
		{ TOLD, ELSEWHERE, "\"x\": 1", false, 0 },
		{ ELSEWHERE, "\"x\": 1", TOLD, false, 0 },
		{ TOLD, "\"x\": 1", "\"quiesce_elsewhere\": 0", true, 58 },
		/* What runpinned knows of it all the same. */
		{ TOLD, ELSEWHERE, "\"quiesce_temperature_after\": 61", false, 61 },
		{ "\"x\": 1", "\"x\": 1", TOLD ", " ELSEWHERE ", \"quiesce_temperature_after\": 61",
			false, 61 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct evidence *evidence;
		struct suite *suite;
		char *text;

		assert_true(
			asprintf(&text,
				"{\"metadata\": {%s}, \"version\": \"1.0\", \"benchmarks\": "
				"[{\"metadata\": {\"name\": \"a\", %s}, \"runs\": [" RUN("%s") TAIL,
				cases[i].suite, cases[i].benchmark, cases[i].run) > 0);
		suite = read_good(text);
		evidence = &suite->benchmarks[0]->series->evidence[0];
		assert_int_equal(evidence->frequency_khz, cases[i].frequency ? 2000000 : -1);
		if (cases[i].temperature > 0)
			assert_true(evidence->temperature_after == (float)cases[i].temperature);
		else
			assert_true(isnan(evidence->temperature_after));
		suite_free(suite);
		free(text);
	}
}

/* What we write comes back as what it was, with all of its evidence. */
static void test_own(void **state)
{
	static const char *const events[] = { "instructions:u", NULL };
	char path[] = "/tmp/test-reader-XXXXXX";
	int fd = mkstemp(path);
	FILE *stream = fdopen(fd, "w");
	struct facts metadata = { 0 };
	struct suite *suite = NULL;
	const struct series *back;
	struct series *series;
	char *why = NULL, *text;

	(void)state;
	series = series_new(true, events);
	series->clock = WINDOW_KERNEL;
	series->start_realtime_ns = 1700000000123456000;
	for (int i = 0; i < 7; i++) {
		struct sample sample = { .kernel_ns = 12345678 + i,
			.user_ns = 12445678 + i,
			.start_ns = i * 20000000,
			.flags = i == 3 ? SAMPLE_PREEMPTED | SAMPLE_IRQ : 0,
			.warmup = i == 0,
			.status = i == 4 ? 256 : 0,
			.env_pad = (uint32_t)i,
			.max_rss_kib = 1500 };
		const double counters[] = { i == 2 ? NAN : 1000.0 + i };
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.run_delay_ns = 1000 * i;
		evidence.migrations = i;
		evidence.frequency_khz = 3400000;
		evidence.softirqs[1] = i;
		evidence.temperature_before = 58.25f;
		evidence.load1 = 0.42f;
		if (i == 5) {
			evidence.n_irq_lines = 1;
			evidence.irq_count[0] = 3;
			assert_int_equal(series_intern_irq(
						 series, "38: odd, x2 name", &evidence.irq_line[0]),
				0);
		}
		assert_int_equal(series_append(series, &sample, &evidence, counters), 0);
	}
	facts_set_string(&metadata, "name", "own");
	assert_int_equal(
		document_write(stream, NULL,
			&(struct document_part){ .series = series, .metadata = &metadata }, 1),
		0);
	fclose(stream);

	assert_int_equal(suite_read(path, true, &suite, &why), 0);
	back = suite->benchmarks[0]->series;
	assert_int_equal(back->clock, WINDOW_KERNEL);
	assert_int_equal(back->n_samples, 7);
	assert_int_equal(back->n_samples - back->n_counted, 1);
	assert_int_equal(suite->benchmarks[0]->n_values, 6);
	for (size_t i = 0; i < 7; i++) {
		const struct sample *a = &series->samples[i], *b = &back->samples[i];

		assert_int_equal(a->kernel_ns, b->kernel_ns);
		assert_int_equal(a->user_ns, b->user_ns);
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->flags, b->flags);
		assert_int_equal(a->status, b->status);
		assert_int_equal(a->warmup, b->warmup);
		assert_int_equal(a->env_pad, b->env_pad);
		assert_int_equal(a->max_rss_kib, b->max_rss_kib);
		assert_int_equal(series->evidence[i].run_delay_ns, back->evidence[i].run_delay_ns);
		assert_int_equal(series->evidence[i].migrations, back->evidence[i].migrations);
		assert_int_equal(
			series->evidence[i].frequency_khz, back->evidence[i].frequency_khz);
		assert_true(back->evidence[i].temperature_before == 58.25f);
		assert_true(back->evidence[i].load1 == 0.42f);
		assert_true(i == 2 ? isnan(back->counters[i]) : back->counters[i] == 1000.0 + i);
	}
	text = series_irq_text(back, 5);
	assert_string_equal(text, "38: odd, x2 name x3");
	free(text);
	text = series_softirq_text(back, 6);
	assert_string_equal(text, "TIMER x6");
	free(text);
	suite_free(suite);
	facts_clear(&metadata);
	series_free(series);
	unlink(path);
}

/* gzip by its first bytes: made by `gzip -9n`. */
static void test_gzip(void **state)
{
	static const unsigned char packed[] = {
#include "packed-result.h"
	};
	char path[] = "/tmp/test-reader-XXXXXX";
	int fd = mkstemp(path);
	struct suite *suite = NULL;
	char *why = NULL;

	(void)state;
	assert_int_equal(write(fd, packed, sizeof(packed)), (int)sizeof(packed));
	assert_int_equal(suite_read(path, false, &suite, &why), 0);
	assert_string_equal(suite->benchmarks[0]->name, "packed");
	assert_true(suite->benchmarks[0]->values[1] == 0.75);
	suite_free(suite);
	suite = NULL;
	/* Cut off, and damaged. */
	assert_int_equal(ftruncate(fd, (off_t)sizeof(packed) - 9), 0);
	assert_int_equal(suite_read(path, false, &suite, &why), -EBADMSG);
	assert_non_null(strstr(why, "the compressed data are damaged or cut off"));
	free(why);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, packed, sizeof(packed), 0), (int)sizeof(packed));
	assert_int_equal(pwrite(fd, "\x55\x55\x55", 3, sizeof(packed) - 12), 3);
	assert_int_equal(suite_read(path, false, &suite, &why), -EBADMSG);
	free(why);
	assert_null(suite);
	close(fd);
	unlink(path);
}

static void test_files(void **state)
{
	struct suite *suite = NULL;
	char *why = NULL;

	(void)state;
	assert_int_equal(suite_read("/nonexistent", false, &suite, &why), -ENOENT);
	assert_int_equal(suite_read("/", false, &suite, &why), -EISDIR);
	assert_null(why);
	assert_int_equal(suite_read("/dev/zero", false, &suite, &why), -EINVAL);
	assert_string_equal(why, " neither a file nor a pipe");
	free(why);
	assert_null(suite);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_recognized),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_equal_commands),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_pyperf),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_old_pyperf),
		cmocka_unit_test(test_new_pyperf),
		cmocka_unit_test(test_empty_figures),
		cmocka_unit_test(test_derived_flags),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
