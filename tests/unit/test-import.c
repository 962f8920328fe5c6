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

#include "base/macro.h"
#include "base/text.h"
#include "judge/import/import.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/result/reader.h"

/* "name: unit direction [values of a process] [...]", a line for each benchmark, and for each
 * figure beside it. */
static void describe(struct text *t, const struct benchmark *b)
{
	text_appendf(t, "%s: %s %s", b->name, b->own_unit ? b->own_unit->name : unit_name(b->unit),
		b->better == BETTER_HIGHER	    ? "higher"
			: b->better == BETTER_LOWER ? "lower"
						    : "-");
	for (size_t i = 0; i < b->series->n_samples; i++) {
		size_t first, n;

		benchmark_run_values(b, i, &first, &n);
		text_append(t, " [");
		for (size_t k = first; k < first + n; k++)
			text_appendf(t, "%s%.4g", k > first ? " " : "", b->values[k]);
		text_append(t, "]");
	}
	text_append(t, "\n");
}

/* Reads an import to its end; the text is the caller's. */
static char *render(struct import *import)
{
	_cleanup_(suite) struct suite *suite = NULL;
	_cleanup_free_ char *why = NULL;
	struct text t = { 0 };

	assert_int_equal(suite_read_input(import->input, true, &suite, &why), 0);
	for (size_t i = 0; i < suite->n; i++) {
		struct benchmark **beside = benchmark_split_values(suite->benchmarks[i]);

		describe(&t, suite->benchmarks[i]);
		for (size_t k = 0; beside && beside[k]; k++) {
			describe(&t, beside[k]);
			benchmark_free(beside[k]);
		}
		free(beside);
	}
	for (size_t i = 0; i < import->left_out.n; i++)
		text_appendf(&t, "left out: %s %s\n", import->left_out.items[i].name,
			import->left_out.items[i].string);
	return text_steal(&t);
}

/* What the tools whose samples these are have measured. */
static void test_samples(void **state)
{
	static const struct {
		const char *file, *harness, *found;
	} cases[] = {
		{ "go.txt", NULL,
			"BenchmarkSum: second - [5.467e-07 5.477e-07 7.32e-07]\n"
			"BenchmarkSum: B/s: B/s higher [1.829e+09 1.826e+09 1.366e+09]\n"
			"BenchmarkSum: B/op: B/op lower [0 0 0]\n"
			"BenchmarkSum: allocs/op: allocs/op lower [0 0 0]\n"
			"BenchmarkSub/size=100: second - [4.072e-08 4.625e-08 3.42e-08]\n"
			"BenchmarkSub/size=100: items/s: items/s higher [2.469e+09 2.17e+09 2.932e+09]\n"
			"BenchmarkSub/size=100: p99-us: p99-us - [42 42 42]\n" },
		{ "go-events.json", NULL,
			"BenchmarkSum: second - [5.674e-07 7.178e-07 7.311e-07]\n"
			"BenchmarkSum: B/s: B/s higher [1.763e+09 1.393e+09 1.368e+09]\n"
			"BenchmarkSum: B/op: B/op lower [0 0 0]\n"
			"BenchmarkSum: allocs/op: allocs/op lower [0 0 0]\n" },
		{ "go-processes.txt", NULL,
			"BenchmarkSum: second - [7.41e-07 2.034e-06] [5.466e-07 6.268e-07] [5.467e-07 7.312e-07]\n"
			"BenchmarkSum: B/s: B/s higher [1.35e+09 4.916e+08] [1.83e+09 1.595e+09] [1.829e+09 1.368e+09]\n"
			"BenchmarkSum: B/op: B/op lower [0 0] [0 0] [0 0]\n"
			"BenchmarkSum: allocs/op: allocs/op lower [0 0] [0 0] [0 0]\n" },
		{ "jmh.json", NULL,
			"t.Sum.sum(n=100) thrpt: ops/s higher [2.528e+06 1.662e+06] [1.379e+06 2.342e+06]\n"
			"t.Sum.sum(n=100) thrpt: gc.alloc.rate.norm: B/op lower [416 416.1] [416.1 416]\n"
			"t.Sum.sum(n=100) thrpt: gc.count: counts - [3 0] [2 1]\n"
			"t.Sum.sum(n=100) avgt: second - [8.482e-07 1.18e-06] [3.411e-07 1.119e-06]\n"
			"t.Sum.sum(n=100) avgt: gc.alloc.rate.norm: B/op lower [416.1 416.1] [416 416.1]\n"
			"t.Sum.sum(n=100) avgt: gc.count: counts - [1 0] [2 0]\n"
			"t.Sum.sample(n=100): second - [4.865e-08 4.882e-08] [4.91e-08 4.895e-08]\n"
			"t.Sum.sample(n=100): gc.alloc.rate.norm: B/op lower [0.1972 0.3367] [0.4073 0.2411]\n"
			"t.Sum.sample(n=100): gc.count: counts - [0 0] [0 0]\n" },
		{ "pytest-benchmark.json", NULL,
			"test_b.py::test_sum[10]: second - [1.436e-07 1.437e-07 1.429e-07 1.429e-07]\n"
			"test_b.py::test_sum[20]: second - [1.917e-07 1.922e-07 1.914e-07]\n" },
		{ "asv.json", NULL,
			"b.S.time_sum(10): second - [3.675e-07 4.643e-07 3.829e-07 3.53e-07]\n"
			"b.S.time_sum(20): second - [4.238e-07 3.658e-07 4.383e-07 3.745e-07]\n"
			"b.S.mem_list(10): B lower [136]\n"
			"b.S.mem_list(20): B lower [216]\n"
			"b.S.peakmem_list(10): B lower [2.47e+07]\n"
			"b.S.peakmem_list(20): B lower [2.474e+07]\n"
			"b.S.track_len(10):  - [10]\n"
			"b.S.track_len(20):  - [20]\n"
			"left out: b.S.time_gone(10) failed\n"
			"left out: b.S.time_gone(20) failed\n" },
		{ "criterion", NULL,
			"grp/size/100: second - [3.398e-08 3.454e-08 3.432e-08 3.395e-08 3.617e-08 1.091e-07 3.42e-08 1.044e-07 5.3e-08 9.016e-08]\n" },
		{ "criterion/grp/size/100/base/estimates.json", NULL,
			"grp/size/100: second - [5.638e-08]\n" },
		{ "fio.json", NULL,
			"r: read-iops: 1/s higher [1.908e+04]\n"
			"r: read-bandwidth: B/s higher [7.814e+07]\n"
			"r: read-latency: second - [4.603e-05]\n"
			"r: read-p50: second - [3.866e-05]\n"
			"r: read-p99: second - [0.0004772]\n"
			"r: write-iops: 1/s higher [2.031e+04]\n"
			"r: write-bandwidth: B/s higher [8.318e+07]\n"
			"r: write-latency: second - [3.576e-06]\n"
			"r: write-p50: second - [3.248e-06]\n"
			"r: write-p99: second - [7.136e-06]\n" },
		{ "perf-stat.csv", NULL,
			"task-clock: second - [0.00048]\n"
			"page-faults:  - [48]\n"
			"left out: cycles not supported\n"
			"left out: instructions not supported\n"
			"left out: branches not supported\n"
			"left out: branch-misses not supported\n"
			"left out: context-switches (a value is not above 0)\n"
			"left out: cpu-migrations (a value is not above 0)\n" },
		{ "perf-stat.json", NULL,
			"task-clock: second - [0.0004343]\n"
			"page-faults:  - [48]\n" },
		{ "custom.json", NULL,
			"a b: second - [1.2e-07]\n"
			"c: ops/s higher [3.5e+06]\n" },
		{ "custom-score.json", "custom-bigger", "a b: score higher [120]\n" },
		{ "custom-score.json", "custom-smaller", "a b: score lower [120]\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *path = NULL, *why = NULL, *found = NULL, *conf = NULL;
		_cleanup_(harness) struct harness *harness = NULL;
		_cleanup_import_ struct import import = { 0 };

		assert_true(text_format(&path, SAMPLES "/%s", cases[i].file) >= 0);
		if (cases[i].harness) {
			assert_true(
				text_format(&conf, HARNESSES "/%s.conf", cases[i].harness) >= 0);
			assert_int_equal(harness_read(conf, &harness, &why), 0);
		}
		assert_int_equal(import_open(path, harness, &import, &why), 0);
		assert_true(import.is_imported);
		found = render(&import);
		assert_string_equal(found, cases[i].found);
	}
}

static int open_text(const char *text, struct import *ret, char **ret_why);

/* What the tools do not write in each case, and what others make of it on the way. */
static void test_forms(void **state)
{
	static const struct {
		const char *text, *found;
	} cases[] = {
		/* A byte order mark. */
		{ "\xef\xbb\xbf"
		  "BenchmarkA 1 2 ns/op\r\nBenchmarkB 1 3 ns/op\r\n",
			"BenchmarkA: second - [2e-09]\nBenchmarkB: second - [3e-09]\n" },
		{ "\xef\xbb\xbf[{\"name\":\"a\",\"unit\":\"s\",\"value\":1}]",
			"a: second - [1]\n" },
		/* Benchmarks that print, without and with -v. */
		{ "BenchmarkA-2   \thello\n     100\t       475.0 ns/op\t  8 B/op\n"
		  "x: 5 BenchmarkB-2   \tx: 5      100\t      1069 ns/op\n"
		  "BenchmarkC\nto\nBenchmarkC-2   \t     100\t         8 ns/op\nPASS\n",
			"BenchmarkA: second - [4.75e-07]\nBenchmarkA: B/op: B/op lower [8]\n"
			"BenchmarkB: second - [1.069e-06]\nBenchmarkC: second - [8e-09]\n" },
		/* Those that have no result are said, and numbers of another process are not
		   theirs. */
		{ "BenchmarkA-2   \t     100\t  8 ns/op\nBenchmarkB-2   \tpanic: no\nFAIL\n"
		  "     100\t       9 ns/op\n",
			"BenchmarkA: second - [8e-09]\nleft out: BenchmarkB-2 has no result\n" },
		{ "BenchmarkA-2   \t     100\t  8 ns/op\nBenchmarkB-2   \t--- SKIP: BenchmarkB-2\n"
		  "BenchmarkC-2   \t",
			"BenchmarkA: second - [8e-09]\nleft out: BenchmarkB-2 has no result\n"
			"left out: BenchmarkC-2 has no result\n" },
		/* The last line is whole, or cut in a unit or a number. */
		{ "BenchmarkA 1 2 ns/op\nBenchmarkB 1 3 ns/op",
			"BenchmarkA: second - [2e-09]\nBenchmarkB: second - [3e-09]\n" },
		{ "BenchmarkA 1 2 ns/op\nBenchmarkB 1 3 n",
			"BenchmarkA: second - [2e-09]\n"
			"left out: BenchmarkB is cut off at the end of the file\n" },
		{ "BenchmarkA 1 2 ns/op\nBenchmarkB 1 3",
			"BenchmarkA: second - [2e-09]\n"
			"left out: BenchmarkB is cut off at the end of the file\n" },
		/* Names in another order, and of an older version. */
		{ "[{\"benchmark\":\"a\",\"mode\":\"avgt\",\"primaryMetric\":{\"scoreUnit\":\"hr/op\","
		  "\"rawData\":[[2]]}}]",
			"a: second - [7200]\n" },
		{ "{\"benchmarks\":[{\"fullname\":\"a\",\"stats\":{\"data\":[1,2]}}],\"machine_info\":{}}",
			"a: second - [1 2]\n" },
		{ "[{\"range\":\"1\",\"unit\":\"s\",\"value\":1,\"name\":\"a\"}]",
			"a: second - [1]\n" },
		{ "{\"event\":\"cycles\",\"counter-value\":\"5\",\"unit\":\"\"}\n",
			"cycles:  - [5]\n" },
		/* What fio says before, and a comma in place of a point. */
		{ "note: both iodepth >= 1 and synchronous I/O engine are selected\n"
		  "fio: this platform\n{\"fio version\":\"3\",\"jobs\":[{\"jobname\":\"a\",\"error\":0,"
		  "\"read\":{\"total_ios\":1,\"iops\":5}}]}",
			"a: read-iops: 1/s higher [5]\n" },
		{ "12,5;msec;task-clock;5;100,00;0,9;CPUs utilized\n",
			"task-clock: second - [0.0125]\n" },
		/* A name twice, and words for what is no number. */
		{ "{\"machine_info\":{\"a\":NaN,\"a\":-Infinity},\"benchmarks\":[{\"fullname\":\"a\","
		  "\"stats\":{\"data\":[1]}}]}",
			"a: second - [1]\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *why = NULL, *found = NULL;
		_cleanup_import_ struct import import = { 0 };

		assert_int_equal(open_text(cases[i].text, &import, &why), 0);
		assert_true(import.is_imported);
		found = render(&import);
		assert_string_equal(found, cases[i].found);
	}
}

/* asv has an object with a member for each benchmark. */
static void test_many(void **state)
{
	_cleanup_import_ struct import import = { 0 };
	_cleanup_free_ char *why = NULL, *found = NULL;
	struct text t = { 0 };

	(void)state;
	text_append(&t, "{\"commit_hash\":\"a\",\"result_columns\":[\"result\"],\"results\":{");
	for (size_t i = 0; i < 3000; i++)
		text_appendf(&t, "%s\"time_%zu\":[[1]]", i > 0 ? "," : "", i);
	text_append(&t, "}}");
	assert_int_equal(open_text(t.data, &import, &why), 0);
	found = render(&import);
	assert_non_null(strstr(found, "time_2999: second - [1]\n"));
	text_clear(&t);
}

static int open_text(const char *text, struct import *ret, char **ret_why)
{
	return import_open_input(input_open_memory(text, strlen(text)), "-", NULL, ret, ret_why);
}

/* One clear reason for each, with the place where there is one. */
static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "goos: linux\n", " no result of Go: it has no values" },
		{ "BenchmarkA 1 x ns/op\n", "1: no result of Go: not a number: x" },
		{ "goos: linux\nBenchmarkA 1 2\n",
			"2: no result of Go: a number without a unit: 2" },
		{ "BenchmarkA 1 2 \033[1m0123456789012345678901234\n",
			"1: no result of Go: '\\x1b[1m0123456789012345678901234' is no unit" },
		{ "BenchmarkA 1 0 ns/op\n",
			" no result of Go: all in it is left out (BenchmarkA (a value is not above 0))" },
		{ "{\"Action\":\"output\",\"Output\":\"x\n", "1:31: the file ends in a string" },
		{ "{\"Action\":\"start\"}\n\n{\"Time\":\"x\"}\n",
			"3: no event of go test -json: it has no 'Action'" },
		{ "{\"Action\":\"start\"}\n", " no result of Go: it has no values" },
		{ "[{\"jmhVersion\":\"1\"}]", " no result of JMH: an entry without a name" },
		{ "[{\"jmhVersion\":\"1\",\"benchmark\":\"a\",\"mode\":\"avgt\"}]",
			" no result of JMH: an entry without a unit" },
		{ "[{\"jmhVersion\":\"1\",\"benchmark\":\"a\",\"mode\":\"avgt\",\"primaryMetric\":"
		  "{\"scoreUnit\":\"ns/op\",\"rawData\":[[\"NaN\"]]}}]",
			" no result of JMH: all in it is left out (a (one of its values is not known))" },
		{ "[{\"jmhVersion\":\"1\"", "1:19: " },
		{ "{\"machine_info\":{},\"benchmarks\":[{}]}",
			" no result of pytest-benchmark: a benchmark without 'fullname'" },
		{ "{\"machine_info\":{}}", " no result of pytest-benchmark: it has no values" },
		{ "{\"commit_hash\":\"x\"}",
			" no result of asv: 'result_columns' name no result "
			"('asv update' makes such files of those of older versions)" },
		{ "{\"fio version\":\"3\",\"jobs\":[{\"jobname\":\"a\",\"error\":5}]}",
			" no result of fio: all in it is left out (a failed)" },
		{ "{\"sampling_mode\":\"Flat\",\"iters\":[1],\"times\":[1,2]}",
			" no result of criterion: 'iters' are not as many as 'times'" },
		{ "{\"sampling_mode\":\"Flat\",\"iters\":[],\"times\":[]}",
			" no result of criterion: 'iters' are not as many as 'times'" },
		{ "{\"group_id\":\"a\"}",
			" criterion's benchmark.json, without its sample.json beside it" },
		{ "{\"mean\":{}}", " no result of criterion: 'mean' has no estimate" },
		{ "[{\"name\":\"a\"}]",
			" no list of github-action-benchmark: an entry without a name or a value" },
		{ "[{\"name\":\"a\",\"unit\":\"points\",\"value\":1}]",
			" which way 'a' is better does not stand in the file: --harness "
			"custom-bigger or --harness custom-smaller says it" },
		{ "1,,cycles,5,100.00,,\n2,,cycles,5,100.00,,\n",
			"2: two counts of cycles: of perf stat without -I and -A is one read" },
		{ "0.1,1,,cycles,5,100.00,,\n",
			"1: of an interval, a CPU or a core: of perf stat without -I, -A and "
			"--per-... is one read" },
		{ "S0,1,1,,cycles,5,100.00,,\n",
			"1: of an interval, a CPU or a core: of perf stat without -I, -A and "
			"--per-... is one read" },
		{ "BenchmarkA 1 2 ns/op\nBenchmarkB 1 2\nBenchmarkC 1 2 ns/op",
			"2: no result of Go: a number without a unit: 2" },
		{ "1,,cycles,5,100.00,,\nend\n1,2,3\n", "3: no line of perf stat -x" },
		{ "{\"interval\":1,\"event\":\"a\"}\n", "1: of perf stat -I, which is not read" },
		{ "{\"counter-value\":\"x\",\"event\":\"a\"}\n",
			"1: no result of perf stat: the count of a is no number" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *why = NULL;
		struct import import = { 0 };

		assert_int_equal(open_text(cases[i].text, &import, &why),
			strstr(cases[i].why, ": all in it is left out (") ? -ENODATA : -EINVAL);
		if (text_ends_with(cases[i].why, ": "))
			assert_true(text_starts_with(why, cases[i].why));
		else
			assert_string_equal(why, cases[i].why);
	}
}

/* Results of runpinned, pyperf, hyperfine and google-benchmark are left to their reader, and so is
 * what nobody knows. */
static void test_left_alone(void **state)
{
	static const struct {
		const char *text;
		bool is_unknown;
	} cases[] = {
		{ "{\"version\": \"1.0\", \"benchmarks\": [\"BenchmarkA 1 2 ns/op\"]}", false },
		{ "{\"context\": {}, \"benchmarks\": []}", false },
		{ "{\"results\": []}", false },
		{ "hello\n", true },
		{ "[1, 2]", true },
		{ "", true },
		{ "Benchmarking is fun 1 2\n", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_import_ struct import import = { 0 };
		_cleanup_free_ char *why = NULL;
		const char *piece;
		size_t size;

		assert_int_equal(open_text(cases[i].text, &import, &why), 0);
		assert_false(import.is_imported);
		assert_int_equal(import.is_unknown, cases[i].is_unknown);
		/* The piece that was looked at is still there. */
		assert_int_equal(input_read(import.input, &piece, &size), 0);
		assert_int_equal(size, strlen(cases[i].text));
	}
}

/* A file that was cut is refused, or says less; it never crashes, and never says more. */
static void test_cut(void **state)
{
	static const char *const texts[] = {
		"goos: linux\npkg: a\nUnit x better=higher\nBenchmarkA-8 10 2 ns/op 3 B/op 1e3 x\n"
		"PASS\n",
		"[{\"jmhVersion\":\"1\",\"benchmark\":\"a\",\"mode\":\"sample\",\"params\":{\"n\":\"1\"},"
		"\"primaryMetric\":{\"scoreUnit\":\"ns/op\",\"rawDataHistogram\":[[[[1,2],[3,4]]]]}}]",
		"{\"machine_info\":{},\"benchmarks\":[{\"fullname\":\"a\",\"stats\":{\"data\":[1,2],"
		"\"iterations\":3}}]}",
		"{\"commit_hash\":\"x\",\"result_columns\":[\"result\",\"params\"],\"results\":{\"time_a\":"
		"[[1,2],[[\"1\",\"2\"]]]}}",
		"1,,cycles,5,100.00,,\n3,msec,task-clock,5,100.00,,\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t n = 0; n <= strlen(texts[i]); n++) {
			_cleanup_free_ char *cut = strndup(texts[i], n), *why = NULL;
			_cleanup_import_ struct import import = { 0 };
			int r = open_text(cut, &import, &why);

			assert_true(r == 0 ? !why
					   : (r == -EINVAL || r == -ENODATA) && why &&
						!strchr(why, '\n'));
			if (r == 0 && import.is_imported)
				free(render(&import));
			assert_true(n < strlen(texts[i]) || (r == 0 && import.is_imported));
		}
	}
}

/* Metadata that other verbs go by. */
static void test_metadata(void **state)
{
	static const struct {
		const char *file, *name, *value;
	} cases[] = {
		{ "go.txt", "parameter_gomaxprocs", "2" },
		{ "go.txt", METADATA_TOOL, "Go" },
		{ "go.txt", "cpu_model_name", "CPU MODEL" },
		{ "go.txt", METADATA_AGGREGATE, "each the mean of 2000 iterations" },
		{ "pytest-benchmark.json", METADATA_COMMIT, "c0ffee" },
		{ "pytest-benchmark.json", METADATA_COMMIT_DATE, "2026-11-20T10:14:10+01:00" },
		{ "pytest-benchmark.json", "parameter_n", "10" },
		{ "asv.json", METADATA_AGGREGATE, "each the mean of 50 iterations" },
		{ "jmh.json", "parameter_n", "100" },
		{ "jmh.json", "jmh_mode", "thrpt" },
		{ "jmh.json", METADATA_AGGREGATE, "each the mean of an iteration of 50 ms" },
		{ "criterion", "parameter_value", "100" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(suite) struct suite *suite = NULL;
		_cleanup_free_ char *path = NULL, *why = NULL, *value = NULL;
		_cleanup_import_ struct import import = { 0 };

		assert_true(text_format(&path, SAMPLES "/%s", cases[i].file) >= 0);
		assert_int_equal(import_open(path, NULL, &import, &why), 0);
		assert_int_equal(suite_read_input(import.input, true, &suite, &why), 0);
		value = benchmark_metadata_text(suite->benchmarks[0], cases[i].name);
		assert_non_null(value);
		assert_string_equal(value, cases[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_metadata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
