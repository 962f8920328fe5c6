// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "judge/result/document.h"

#include "random.h"

/* Where the test files live; removed at the end. */
struct place {
	char directory[64];
	char file[96];
};

static int enter(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	snprintf(place->directory, sizeof(place->directory), "/tmp/quiesce-document-XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	snprintf(place->file, sizeof(place->file), "%s/result.json", place->directory);
	*state = place;
	return 0;
}

static int leave(void **state)
{
	struct place *place = *state;

	(void)unlink(place->file);
	(void)rmdir(place->directory);
	free(place);
	return 0;
}

static void put_file(const char *path, const char *text, size_t length)
{
	FILE *stream = fopen(path, "we");

	assert_non_null(stream);
	assert_int_equal(fwrite(text, 1, length, stream), length);
	assert_int_equal(fclose(stream), 0);
}

static struct series *make_series(size_t n_warmups, size_t n)
{
	struct series *series;

	series = series_new(false, NULL);
	for (size_t i = 0; i < n_warmups + n; i++) {
		struct sample sample = {
			.kernel_ns = 12300000 + (int64_t)i,
			.user_ns = 12500000 + (int64_t)i,
			.start_ns = 1000000000 * (int64_t)i,
			.warmup = i < n_warmups,
		};

		assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	}
	return series;
}

/* Facts as they are set by name and value pairs, strings all. */
static struct facts make_facts(const char *name, ...)
{
	struct facts facts = { 0 };
	const char *key, *value;
	va_list ap;

	facts_set_string(&facts, "name", name);
	va_start(ap, name);
	while ((key = va_arg(ap, const char *))) {
		value = va_arg(ap, const char *);
		facts_set_string(&facts, key, value);
	}
	va_end(ap);
	assert_false(facts.failed);
	return facts;
}

/* Writes one benchmark, whose values are those of the series. */
static int write_one(FILE *stream, const struct suite *existing, const struct series *series,
	const struct facts *facts)
{
	const struct document_part part = { .series = series, .metadata = facts };

	return document_write(stream, existing, &part, 1);
}

/* The file as text; NULL where document_write() refuses, with its answer in *ret. */
static char *write_text(
	const struct suite *existing, const struct series *series, struct facts facts, int *ret)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	*ret = write_one(stream, existing, series, &facts);
	fclose(stream);
	facts_clear(&facts);
	if (*ret == 0)
		return text;
	/* Refused before the first byte. */
	assert_int_equal(size, 0);
	free(text);
	return NULL;
}

static char *write_good(
	const struct suite *existing, const struct series *series, struct facts facts)
{
	char *text;
	int r;

	text = write_text(existing, series, facts, &r);
	assert_int_equal(r, 0);
	return text;
}

static struct suite *load_file(const char *file)
{
	struct suite *document;
	char *why = NULL;

	if (document_load(file, &document, &why) < 0)
		fprintf(stderr, "%s\n", why ? why : "?");
	assert_null(why);
	return document;
}

static struct suite *load_text(const char *file, const char *text)
{
	put_file(file, text, strlen(text));
	return load_file(file);
}

static void test_new_file(void **state)
{
	struct series *series = make_series(1, 2);
	char *text;

	(void)state;
	series->samples[1].flags = SAMPLE_PREEMPTED | SAMPLE_IRQ;
	series->samples[2].status = 256;
	series->samples[2].max_rss_kib = 1500;
	text = write_good(NULL, series, make_facts("bench", "command", "./prog", NULL));
	assert_string_equal(text,
		"{\"version\": \"1.0\", \"benchmarks\": [{\"metadata\": {\"name\": \"bench\", "
		"\"command\": \"./prog\", \"unit\": \"second\", \"quiesce_clock\": \"kernel\"}, "
		"\"runs\": [\n"
		"{\"warmups\": [[1, 0.0123]], \"metadata\": {\"calibrate_warmups\": 1, "
		"\"duration\": 0.0125, \"quiesce_start\": 0.0, \"quiesce_window_kernel\": 0.0123, "
		"\"quiesce_window_user\": 0.0125}},\n"
		"{\"values\": [0.012300001], \"metadata\": {\"duration\": 0.012500001, "
		"\"quiesce_start\": 1.0, \"quiesce_window_kernel\": 0.012300001, "
		"\"quiesce_window_user\": 0.012500001, \"quiesce_flags\": \"preempted,irq\"}},\n"
		"{\"values\": [0.012300002], \"metadata\": {\"duration\": 0.012500002, "
		"\"command_max_rss\": 1536000, \"quiesce_start\": 2.0, "
		"\"quiesce_window_kernel\": 0.012300002, \"quiesce_window_user\": 0.012500002, "
		"\"quiesce_status\": 256}}]}]}\n");
	free(text);

	series->clock = WINDOW_USER;
	text = write_good(NULL, series, make_facts("bench", NULL));
	assert_non_null(strstr(text, "{\"values\": [0.012500001]"));
	assert_non_null(strstr(text, "\"quiesce_clock\": \"user\""));
	free(text);
	series_free(series);
}

static void test_evidence(void **state)
{
	static const char *const events[] = { "instructions:u", "caf\xe9", "not-counted", NULL };
	const double counters[] = { 1e12, 1.6, NAN };
	struct sample sample = { .kernel_ns = 1000, .user_ns = 2000, .env_pad = 17 };
	struct evidence evidence;
	struct series *series;
	char *text;

	(void)state;
	series = series_new(true, events);
	evidence_clear(&evidence);
	assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	text = write_good(NULL, series, make_facts("x", NULL));
	assert_non_null(strstr(text,
		"{\"values\": [1e-6], \"metadata\": {\"duration\": 2e-6, \"quiesce_start\": 0.0, "
		"\"quiesce_window_kernel\": 1e-6, \"quiesce_window_user\": 2e-6, "
		"\"quiesce_env_pad\": 17}}]}]}"));
	free(text);
	series_free(series);

	series = series_new(true, events);
	assert_int_equal(
		series_intern_irq(series, "38: virtio2-input.0", &evidence.irq_line[0]), 0);
	evidence.n_irq_lines = 1;
	evidence.irq_count[0] = 3;
	evidence.softirqs[1] = 4;
	evidence.user_cpu_ns = 0;
	evidence.frequency_khz = 3400000;
	evidence.cpu_last = 3;
	evidence.runnable = 2;
	evidence.load1 = 0.42f;
	evidence.temperature_before = 58.3f;
	evidence.temperature_after = 59;
	series->start_realtime_ns = 1700000000123456789;
	assert_int_equal(series_append(series, &sample, &evidence, counters), 0);
	text = write_good(NULL, series, make_facts("x", NULL));
	assert_non_null(strstr(text,
		"\"metadata\": {\"date\": \"2023-11-14 22:13:20.123456\", \"duration\": 2e-6, "
		"\"quiesce_start\": 0.0, \"quiesce_window_kernel\": 1e-6, "
		"\"quiesce_window_user\": 2e-6, \"quiesce_env_pad\": 17, \"quiesce_user_cpu\": 0.0, "
		"\"quiesce_frequency_khz\": 3400000, \"quiesce_cpu_last\": 3, "
		"\"quiesce_irq_lines\": \"38: virtio2-input.0 x3\", "
		"\"quiesce_softirqs\": \"TIMER x4\", \"runnable_threads\": 2, "
		"\"load_avg_1min\": 0.42, \"quiesce_temperature_before\": 58.3, "
		"\"quiesce_temperature_after\": 59.0, \"cpu_temp\": \"package=59 C\", "
		"\"quiesce_event_instructions:u\": 1000000000000, "
		"\"quiesce_event_caf\\\\xe9\": 2}}"));
	free(text);
	series_free(series);
}

/* Every number of nanoseconds comes back as it was. */
static void test_values_come_back(void **state)
{
	static const int64_t ns[] = { 1, 3, 7, 999999999, 1000000001, 123456789, 86400000000001,
		999999999999999, 1000000000000001, 8999999999999999999 };
	struct place *place = *state;
	struct series *series = make_series(0, 0);
	struct suite *document;
	char *text, *again;
	json_t *root, *run;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
		struct sample sample = { .kernel_ns = ns[i], .user_ns = ns[i] };

		assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	}
	/* Values of all lengths stand where one piece of a file ends and the next one begins. */
	for (int64_t i = 0; i < 20000; i++) {
		struct sample sample = { .kernel_ns = ns[9] / (i + 1), .user_ns = i + 1 };

		assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	}
	text = write_good(NULL, series, make_facts("x", NULL));
	root = json_loads(text, 0, NULL);
	json_array_foreach(
		json_object_get(json_array_get(json_object_get(root, "benchmarks"), 0), "runs"), n,
		run)
	{
		json_t *value = json_array_get(json_object_get(run, "values"), 0);

		assert_true(json_real_value(value) == (double)series->samples[n].kernel_ns / 1e9);
	}
	assert_int_equal(n, ARRAY_SIZE(ns) + 20000);
	json_decref(root);
	/* And a file that is appended to keeps the text of what it had. */
	document = load_text(place->file, text);
	again = write_good(document, series, make_facts("y", NULL));
	*strrchr(text, ']') = '\0';
	assert_memory_equal(text, again, strlen(text));
	free(text);
	free(again);
	suite_free(document);
	series_free(series);
}

/* What a command line may hold, and no pyperf would load. */
static void test_odd_strings(void **state)
{
	struct place *place = *state;
	struct series *series = make_series(0, 1);
	struct suite *document;
	char *text;

	text = write_good(NULL, series,
		make_facts("caf\xc3\xa9 \xff", "command", "a\nb\x1b[1m\r\x7f \"q\" \\", "empty", "",
			"blank", " \xc2\xa0\xe3\x80\x80 ", "k\xe9y", "v", NULL));
	assert_non_null(strstr(text,
		"{\"name\": \"caf\xc3\xa9 \\\\xff\", "
		"\"command\": \"a\\\\x0ab\\\\x1b[1m\\\\x0d\\\\x7f \\\"q\\\" \\\\\", "
		"\"k\\\\xe9y\": \"v\", \"unit\""));
	document = load_text(place->file, text);
	suite_free(document);
	free(text);
	series_free(series);
}

static void test_refused_series(void **state)
{
	struct series *series = make_series(0, 0);
	int r;

	(void)state;
	assert_null(write_text(NULL, series, make_facts("x", NULL), &r));
	assert_int_equal(r, -ENODATA);
	series_free(series);

	/* A value that is not above 0 would make the whole file unreadable. */
	series = make_series(1, 3);
	series->samples[2].kernel_ns = 0;
	assert_null(write_text(NULL, series, make_facts("x", NULL), &r));
	assert_int_equal(r, -EDOM);
	series->clock = WINDOW_USER;
	free(write_good(NULL, series, make_facts("x", NULL)));

	assert_null(write_text(NULL, series, make_facts(" ", NULL), &r));
	assert_int_equal(r, -EINVAL);
	assert_null(write_text(NULL, series, make_facts(NULL, "hostname", "x", NULL), &r));
	assert_int_equal(r, -EINVAL);
	series_free(series);
}

/* pyperf wants its own keys to be of its own types. */
static void test_refused_metadata(void **state)
{
	static const struct {
		const char *key;
		struct fact fact;
		int answer;
	} cases[] = {
		{ "loops", { .type = FACT_INTEGER, .integer = 1 }, 0 },
		{ "loops", { .type = FACT_INTEGER, .integer = 0 }, -EINVAL },
		{ "loops", { .type = FACT_REAL, .real = 1 }, -EINVAL },
		{ "calibrate_warmups", { .type = FACT_INTEGER, .integer = 0 }, 0 },
		{ "calibrate_warmups", { .type = FACT_INTEGER, .integer = -1 }, -EINVAL },
		{ "uptime", { .type = FACT_REAL, .real = 0.5 }, 0 },
		{ "uptime", { .type = FACT_INTEGER, .integer = 5 }, 0 },
		{ "uptime", { .type = FACT_REAL, .real = -0.5 }, -EINVAL },
		{ "uptime", { .type = FACT_STRING, .string = (char *)"5" }, -EINVAL },
		{ "date", { .type = FACT_STRING, .string = (char *)"2024-01-01" }, 0 },
		{ "date", { .type = FACT_INTEGER, .integer = 2024 }, -EINVAL },
		{ "unit", { .type = FACT_STRING, .string = (char *)"second" }, 0 },
		{ "unit", { .type = FACT_STRING, .string = (char *)"fortnight" }, -EINVAL },
		{ "tags", { .type = FACT_STRING, .string = (char *)"slow" }, -EINVAL },
		{ "anything", { .type = FACT_REAL, .real = -0.5 }, 0 },
	};
	struct series *series = make_series(0, 1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct fact *fact = &cases[i].fact;
		struct facts facts = make_facts("x", NULL);
		int r;

		if (fact->type == FACT_STRING)
			facts_set_string(&facts, cases[i].key, fact->string);
		else if (fact->type == FACT_INTEGER)
			facts_set_integer(&facts, cases[i].key, fact->integer);
		else
			facts_set_real(&facts, cases[i].key, fact->real);
		free(write_text(NULL, series, facts, &r));
		assert_int_equal(r, cases[i].answer);
	}
	series_free(series);
}

#define RUN "{\"values\": [1.5], \"metadata\": {\"name\": \"x\"}}"
#define BENCHMARK "{\"runs\": [" RUN "]}"
#define SUITE(benchmarks) "{\"version\": \"1.0\", \"benchmarks\": [" benchmarks "]}"

static void test_load(void **state)
{
	static const struct {
		const char *text;
		const char *why; /* NULL: it is good */
	} cases[] = {
		{ SUITE(BENCHMARK), NULL },
		{ " " SUITE(BENCHMARK) "\n\n", NULL },
		{ SUITE("{\"runs\": [{\"values\": [1, 2.5]}], \"metadata\": {\"name\": \"x\"}}"),
			NULL },
		{ "{\"version\": \"1.0\", \"metadata\": {\"name\": \"x\", \"tags\": [\"a\"]}, "
		  "\"benchmarks\": [{\"runs\": [{\"warmups\": [[1, 0]]}, {\"values\": [1]}]}]}",
			NULL },
		{ SUITE(BENCHMARK
			  ", {\"runs\": [{\"values\": [1], \"metadata\": {\"name\": \"y\"}}]}"),
			NULL },
		{ SUITE("{\"runs\": [" RUN "], \"odd\": {\"a\": null}}"), NULL },
		{ SUITE("{\"runs\": [" RUN
			"], \"metadata\": {\"publish\": true, \"loops\": true}}"),
			NULL },
		{ "{\"version\": \"1.0\", \"metadata\": null, \"benchmarks\": [" BENCHMARK "]}",
			NULL },

		{ "", "1:1: there is nothing in the file" },
		{ "\n\n{\"version\": \x1b}", "3:13: a value was expected" },
		{ "{\"version\": \"1.0\", \"version\": \"1.0\"}",
			"1:20: a name that this object has already" },
		{ SUITE(BENCHMARK) "x", "1:93: nothing was expected behind the value" },
		{ SUITE("{\"runs\": [{\"values\": [NaN]}]}"), "1:57: a value was expected" },
		{ "[1, 2]", "1:1: no pyperf result: it is not an object" },
		{ "{}", "1:2: no pyperf result: 'version' is missing" },
		{ "{\"version\": 4, \"benchmarks\": []}",
			"1:13: pyperf's format version 4 is none of 5, 6 and 1.0, which are read here" },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [1]}]}",
			"a result of another tool or format can be looked at and merged, but not be "
			"appended to" },
		{ "{\"version\": 5, \"benchmarks\": [{\"runs\": [{\"samples\": [1], \"metadata\": "
		  "{\"name\": \"x\"}}]}]}",
			"a result of another tool or format can be looked at and merged, but not be "
			"appended to" },
		{ "{\"version\": \"2.0\", \"benchmarks\": []}",
			"1:13: no pyperf result: 'version' is not \"1.0\"" },
		{ "{\"version\": \"1.0\"}", "1:18: no pyperf result: 'benchmarks' are missing" },
		{ SUITE(""), "1:35: no pyperf result: it has no benchmarks" },
		{ "{\"version\": \"1.0\", \"benchmarks\": {}}",
			"1:34: no pyperf result: the value of 'benchmarks' is not a list" },
		{ SUITE("1"), "1:35: no pyperf result: a benchmark is not an object" },
		{ SUITE("{}"), "1:36: no pyperf result: a benchmark without 'runs'" },
		{ SUITE("{\"runs\": []}"), "1:45: no pyperf result: a benchmark without runs" },
		{ SUITE("{\"runs\": [7]}"), "1:45: no pyperf result: a run is not an object" },
		{ SUITE("{\"runs\": [{}]}"), "1:46: no pyperf result: a run without values" },
		{ SUITE("{\"runs\": [{\"values\": 1}]}"),
			"1:56: no pyperf result: the value of 'values' is not a list" },
		{ SUITE("{\"runs\": [" RUN ", {\"values\": [0]}]}"),
			"1:103: no pyperf result: a value is not a number above 0" },
		{ SUITE("{\"runs\": [{\"values\": [true]}]}"),
			"1:57: no pyperf result: a value is not a number above 0" },
		{ SUITE("{\"runs\": [{\"warmups\": [[0, 1]]}]}"),
			"1:59: no pyperf result: a warm-up is not [loops, value]" },
		{ SUITE("{\"runs\": [{\"warmups\": [[1, -1]]}]}"),
			"1:62: no pyperf result: a warm-up is not [loops, value]" },
		{ SUITE("{\"runs\": [{\"warmups\": [1]}]}"),
			"1:58: no pyperf result: a warm-up is not a list" },
		{ SUITE("{\"runs\": [{\"values\": [1]}]}"),
			"1:64: no pyperf result: a benchmark without a name" },
		{ SUITE(BENCHMARK ", " BENCHMARK),
			"1:151: no pyperf result: two benchmarks are named 'x'" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": []}"),
			"1:104: no pyperf result: the value of 'metadata' is not an object" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": {\"a\": null}}"),
			"1:110: no pyperf result: metadata 'a' is neither a string nor a number" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": {\"a\": \"b\\nc\"}}"),
			"1:110: no pyperf result: metadata 'a' has a line break" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": {\"a\": \" \\n\"}}"),
			"1:110: no pyperf result: metadata 'a' is empty" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": {\"loops\": 0}}"),
			"1:114: no pyperf result: metadata 'loops' is not an integer of 1 or more" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": {\"unit\": \"x\"}}"),
			"1:113: no pyperf result: metadata 'unit' is not one of second, byte, integer" },
		{ SUITE("{\"runs\": [" RUN "], \"metadata\": {\"tags\": [\"all\"]}}"),
			"1:114: no pyperf result: metadata 'tags' is not a list of tags" },
		{ SUITE("{\"runs\": [{\"values\": [1], \"metadata\": {\"duration\": \"1\"}}]}"),
			"1:86: no pyperf result: metadata 'duration' is not a number of 0 or more" },
		{ SUITE("{\"metadata\": {\"name\": \"x\"}, \"runs\": [{\"values\": [1]}, {\"values\": "
			"[1], \"metadata\": {\"hostname\": \"a\"}}]}"),
			"no pyperf result: the runs of benchmark 'x' differ in metadata 'hostname'" },
		{ SUITE("{\"metadata\": {\"name\": \"x\"}, \"runs\": [{\"values\": [1], \"metadata\": "
			"{\"aslr\": \"a\"}}, {\"values\": [1], \"metadata\": {\"aslr\": \"b\"}}]}"),
			"no pyperf result: the runs of benchmark 'x' differ in metadata 'aslr'" },
		{ SUITE("{\"metadata\": {\"name\": \"x\", \"aslr\": \"a\"}, \"runs\": [{\"values\": "
			"[1]}, {\"values\": [1], \"metadata\": {\"aslr\": \"a\"}}]}"),
			NULL },
		{ "\x1f\x8b\x08", "compressed by gzip: decompress it first" },
	};
	struct place *place = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct suite *document = NULL;
		char *why = NULL;
		int r;

		put_file(place->file, cases[i].text, strlen(cases[i].text));
		r = document_load(place->file, &document, &why);
		if (cases[i].why) {
			if (r != -EINVAL || strcmp(why, cases[i].why) != 0)
				fprintf(stderr, "case %zu: %d %s\n", i, r, why ? why : "");
			assert_int_equal(r, -EINVAL);
			assert_string_equal(why, cases[i].why);
			assert_null(document);
		} else {
			if (why)
				fprintf(stderr, "case %zu: %s\n", i, why);
			assert_int_equal(r, 0);
			assert_null(why);
		}
		free(why);
		suite_free(document);
	}
}

static void test_load_no_file(void **state)
{
	struct place *place = *state;
	struct suite *document = NULL;
	char *why = NULL;

	(void)unlink(place->file);
	assert_int_equal(document_load(place->file, &document, &why), -ENOENT);
	assert_int_equal(document_load(place->directory, &document, &why), -EISDIR);
	assert_null(why);
	assert_int_equal(document_load("/dev/null", &document, &why), -EINVAL);
	assert_string_equal(why, "not a regular file");
	free(why);
	/* Must not wait for somebody who writes. */
	assert_int_equal(mkfifo(place->file, 0600), 0);
	assert_int_equal(document_load(place->file, &document, &why), -EINVAL);
	assert_string_equal(why, "not a regular file");
	free(why);
	assert_null(document);
	(void)unlink(place->file);
	/* Deeper than any result, and deeper than a stack would bear. */
	{
		FILE *stream = fopen(place->file, "we");

		assert_non_null(stream);
		fputs("{\"x\": ", stream);
		for (int i = 0; i < 1000000; i++)
			fputc('[', stream);
		assert_int_equal(fclose(stream), 0);
	}
	assert_int_equal(document_load(place->file, &document, &why), -EINVAL);
	assert_non_null(strstr(why, "1:70: nested deeper than 64 levels"));
	free(why);
}

/* A key of a run of a benchmark: its own, the benchmark's or the suite's. */
static const json_t *look_up(const json_t *root, size_t benchmark, size_t run, const char *key)
{
	const json_t *b = json_array_get(json_object_get(root, "benchmarks"), benchmark);
	const json_t *owners[] = { json_array_get(json_object_get(b, "runs"), run), b, root };

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		json_t *value = json_object_get(json_object_get(owners[i], "metadata"), key);

		if (value)
			return value;
	}
	return NULL;
}

static const char *look_up_string(const json_t *root, size_t benchmark, size_t run, const char *key)
{
	return json_string_value(look_up(root, benchmark, run, key));
}

static size_t count_runs(const json_t *root, size_t benchmark)
{
	return json_array_size(json_object_get(
		json_array_get(json_object_get(root, "benchmarks"), benchmark), "runs"));
}

#define OLD_FILE                                                                                           \
	"{\"odd\": [1, {\"a\": null}], \"version\": \"1.0\", \"metadata\": {\"hostname\": \"quiet\", "     \
	"\"suite_only\": \"s\", \"python_version\": \"3\"}, \"benchmarks\": ["                             \
	"{\"metadata\": {\"name\": \"theirs\"}, \"odder\": 0.1, \"runs\": [{\"values\": [0.1, 2e-07]}]}, " \
	"{\"metadata\": {\"name\": \"ours\", \"aslr\": \"off\", \"python_version\": \"2\"}, \"runs\": ["   \
	"{\"values\": [0.3], \"metadata\": {\"load_avg_1min\": 0.25, \"suite_only\": \"mine\"}}, "         \
	"{\"values\": [0.30000000000000004], \"odd\": true}]}]}"

/* A further benchmark: nothing that the suite says of the old ones is said of it. */
static void test_append_further(void **state)
{
	struct place *place = *state;
	struct suite *document = load_text(place->file, OLD_FILE);
	struct series *series = make_series(0, 2);
	json_t *root;
	char *text;

	text = write_good(document, series, make_facts("new", "hostname", "loud", NULL));
	suite_free(document);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "benchmarks")), 3);
	assert_int_equal(count_runs(root, 0), 1);
	assert_int_equal(count_runs(root, 1), 2);
	assert_int_equal(count_runs(root, 2), 2);
	/* What was there. */
	assert_non_null(strstr(text, "\"odd\": [1, {\"a\": null}]"));
	assert_non_null(strstr(text, "\"odder\": 0.1"));
	assert_non_null(strstr(text, "{\"values\": [0.1, 2e-07], "));
	assert_non_null(strstr(text, "{\"values\": [0.30000000000000004], \"odd\": true, "));
	assert_string_equal(look_up_string(root, 0, 0, "hostname"), "quiet");
	assert_string_equal(look_up_string(root, 0, 0, "suite_only"), "s");
	assert_string_equal(look_up_string(root, 0, 0, "python_version"), "3");
	assert_string_equal(look_up_string(root, 1, 0, "python_version"), "2");
	assert_string_equal(look_up_string(root, 1, 0, "suite_only"), "mine");
	assert_string_equal(look_up_string(root, 1, 1, "suite_only"), "s");
	assert_null(look_up(root, 0, 0, "aslr"));
	/* What is new. */
	assert_string_equal(look_up_string(root, 2, 0, "name"), "new");
	assert_string_equal(look_up_string(root, 2, 1, "hostname"), "loud");
	assert_null(look_up(root, 2, 0, "suite_only"));
	assert_null(look_up(root, 2, 0, "python_version"));
	json_decref(root);
	document = load_text(place->file, text);
	suite_free(document);
	free(text);
	series_free(series);
}

/* Further runs of a benchmark that is there. */
static void test_append_same(void **state)
{
	static const char old[] =
		"{\"version\": \"1.0\", \"metadata\": {\"hostname\": \"quiet\", \"suite_only\": \"s\", "
		"\"unit\": \"second\"}, \"benchmarks\": [{\"metadata\": {\"name\": \" ours \", \"aslr\": "
		"\"off\", \"old_only\": 1, \"differs\": 1, \"same\": 2.0}, \"runs\": [{\"values\": [0.3]}, "
		"{\"values\": [0.3], \"metadata\": {\"old_only\": 5, \"differs\": 7}}]}, "
		"{\"runs\": [{\"values\": [1], \"metadata\": {\"name\": \"theirs\"}}]}]}";
	struct place *place = *state;
	struct suite *document = load_text(place->file, old);
	struct series *series = make_series(1, 2);
	struct facts facts;
	json_t *root;
	char *text;

	facts = make_facts("ours", "hostname", "quiet", "aslr", "off", "new_only", "n", NULL);
	facts_set_integer(&facts, "differs", 2);
	facts_set_integer(&facts, "same", 2);
	text = write_good(document, series, facts);
	suite_free(document);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "benchmarks")), 2);
	assert_int_equal(count_runs(root, 0), 5);
	for (size_t i = 0; i < 5; i++) {
		bool is_old = i < 2;
		const json_t *value;

		assert_string_equal(look_up_string(root, 0, i, "hostname"), "quiet");
		assert_string_equal(look_up_string(root, 0, i, "aslr"), "off");
		assert_int_equal(look_up(root, 0, i, "suite_only") != NULL, is_old);
		value = look_up(root, 0, i, "old_only");
		assert_int_equal(value ? json_integer_value(value) : -1,
			i == 0		 ? 1
				: is_old ? 5
					 : -1);
		assert_int_equal(json_integer_value(look_up(root, 0, i, "differs")),
			i == 0		 ? 1
				: is_old ? 7
					 : 2);
		assert_int_equal(look_up(root, 0, i, "new_only") != NULL, !is_old);
		assert_int_equal(look_up(root, 0, i, "quiesce_clock") != NULL, !is_old);
		assert_int_equal(look_up(root, 0, i, "calibrate_warmups") != NULL, i == 2);
	}
	assert_string_equal(look_up_string(root, 1, 0, "suite_only"), "s");
	assert_int_equal(count_runs(root, 1), 1);
	/* Once is enough for what they share. */
	assert_null(strstr(text, "\"same\": 2}"));
	json_decref(root);
	document = load_text(place->file, text);
	suite_free(document);
	free(text);
	series_free(series);
}

/* What is not understood, or written in another way, stays: also how a number is spelled. */
static void test_unknown(void **state)
{
	static const char old[] =
		"{\r\n  \"\\u00e9\": [1E+2, 123456789012345678901234567890,\t0.10],\r\n"
		"  \"benchmarks\": [ {\"x\": {\"metadata\": {}, \"runs\": []},\r\n"
		"    \"runs\": [ {\"y\": null, \"values\": [ 15e-1 ]\t,\"metadata\": {\"name\": "
		"\"x\", \"unit\": \"second\", \"tags\": [\"a\", \"b\"], \"n\": 1.50E1, \"t\": \"\\u001b\"} "
		"} ],\r\n    \"z\": \"\\u001b\\ud83d\\ude00\"\r\n  } ], \"version\": \"1.0\", "
		"\"metadata\": {}\r\n}";
	static const char *const parts[] = {
		", \"\303\251\": [1E+2, 123456789012345678901234567890, 0.10]}\n",
		", \"x\": {\"metadata\": {}, \"runs\": []}, ",
		", \"z\": \"\\u001b\\ud83d\\ude00\"}]",
		"[\n{\"y\": null, \"values\": [ 15e-1 ], \"metadata\": {",
		"\"tags\": [\"a\", \"b\"], \"n\": 1.50E1, \"t\": \"\\u001b\"}},\n{\"values\": [0.0123]",
	};
	struct place *place = *state;
	struct series *series = make_series(0, 1);
	struct suite *document = load_text(place->file, old);
	char *text = write_good(document, series, make_facts("x", NULL));

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(text, parts[i]))
			fail_msg("no '%s' in %s", parts[i], text);
	suite_free(document);
	document = load_text(place->file, text);
	suite_free(document);
	free(text);
	series_free(series);
}

/* --- Files as they come --- */

/* In a file of our own, what was there stays as it was, to the byte. */
static void test_old_runs_stay(void **state)
{
	struct place *place = *state;
	struct series *series = make_series(1, 3);
	char *text, *more;
	struct suite *document;

	series->samples[3].flags = SAMPLE_IRQ;
	text = write_good(
		NULL, series, make_facts("x", "hostname", "h", "quiesce_sitting", "s1", NULL));
	document = load_text(place->file, text);
	more = write_good(
		document, series, make_facts("x", "hostname", "h", "quiesce_sitting", "s2", NULL));
	suite_free(document);
	/* Without the end of the list of runs. */
	assert_memory_equal(text, more, strlen(text) - strlen("]}]}\n"));
	assert_non_null(strstr(more,
		",\n{\"warmups\": [[1, 0.0123]], \"metadata\": {"
		"\"quiesce_sitting\": \"s2\", \"calibrate_warmups\": 1"));
	free(text);
	free(more);
	series_free(series);
}

/* A value that may stand anywhere. */
static json_t *random_value(uint64_t *random, int depth)
{
	json_t *value;

	switch (random_next(random) % (depth < 3 ? 7 : 5)) {
	case 0:
		return json_integer((json_int_t)(random_next(random) >> random_next(random) % 64));
	case 1:
		return json_real((double)random_next(random) * 1e-9);
	case 2:
		return json_string(
			random_next(random) % 2 ? "a\t\"b\" \\" : "\302\233 caf\303\251");
	case 3:
		return json_boolean(random_next(random) % 2);
	case 4:
		return json_null();
	case 5:
		value = json_array();
		for (uint64_t i = random_next(random) % 4; i > 0; i--)
			json_array_append_new(value, random_value(random, depth + 1));
		return value;
	default:
		value = json_object();
		for (uint64_t i = random_next(random) % 4; i > 0; i--) {
			char name[16];

			snprintf(name, sizeof(name), "m\x1b%d", (int)(random_next(random) % 9));
			json_object_set_new(value, name, random_value(random, depth + 1));
		}
		return value;
	}
}

/* Members that nobody knows. */
static void add_members(uint64_t *random, json_t *object)
{
	static const char *const names[] = { "odd", "odd\n\"er\"", "oddest" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (random_next(random) % 3 == 0)
			json_object_set_new(object, names[i], random_value(random, 0));
}

/* Metadata as any level may have them, of few values, so that some are common. */
static json_t *random_metadata(uint64_t *random)
{
	json_t *metadata = json_object();
	char text[16];

	if (random_next(random) % 2)
		json_object_set_new(
			metadata, "a", json_integer((json_int_t)(random_next(random) % 2)));
	if (random_next(random) % 2)
		json_object_set_new(
			metadata, "b\x1b", json_real(0.5 + (double)(random_next(random) % 2)));
	if (random_next(random) % 2) {
		snprintf(text, sizeof(text), "t%d", (int)(random_next(random) % 2));
		json_object_set_new(metadata, "note", json_string(text));
	}
	if (random_next(random) % 4 == 0)
		json_object_set_new(metadata, "tags", json_pack("[s, s]", "x", "y"));
	if (random_next(random) % 4 == 0)
		json_object_set_new(metadata, "on", json_true());
	if (random_next(random) % 4 == 0)
		json_object_set_new(metadata, "quiesce_flags", json_string("irq\t\x1b"));
	return metadata;
}

static json_t *random_run(uint64_t *random)
{
	json_t *run = json_object();

	add_members(random, run);
	if (random_next(random) % 4 == 0)
		json_object_set_new(run, "warmups", json_pack("[[i, f]]", 1, 0.5));
	else
		json_object_set_new(run, "values",
			json_pack("[f]", 1 + (double)(random_next(random) % 1000000) * 1e-6));
	if (random_next(random) % 4 > 0)
		json_object_set_new(run, "metadata", random_metadata(random));
	return run;
}

static json_t *random_file(uint64_t *random)
{
	static const char *const names[] = { "x", "y", "z" };
	json_t *root = json_object(), *benchmarks = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		json_t *benchmark, *runs, *metadata;

		if (json_array_size(benchmarks) > 0 && random_next(random) % 3 == 0)
			continue;
		benchmark = json_object();
		runs = json_array();
		for (uint64_t n = random_next(random) % 5; n < 5; n++)
			json_array_append_new(runs, random_run(random));
		metadata = random_metadata(random);
		json_object_set_new(metadata, "name", json_string(names[i]));
		json_object_set_new(metadata, "unit", json_string("second"));
		add_members(random, benchmark);
		json_object_set_new(benchmark, "runs", runs);
		json_object_set_new(benchmark, "metadata", metadata);
		json_array_append_new(benchmarks, benchmark);
	}
	if (random_next(random) % 2)
		json_object_set_new(root, "metadata", random_metadata(random));
	add_members(random, root);
	json_object_set_new(root, "benchmarks", benchmarks);
	json_object_set_new(root, "version", json_string("1.0"));
	return root;
}

static json_t *find_benchmark(const json_t *root, const char *name)
{
	size_t i;
	json_t *each;

	json_array_foreach(json_object_get(root, "benchmarks"), i, each)
	{
		const char *own = look_up_string(root, i, 0, "name");

		if (own && strcmp(own, name) == 0)
			return each;
	}
	return NULL;
}

/* A run with all metadata that hold for it, but for the sitting. */
static json_t *whole_run(const json_t *root, const json_t *benchmark, size_t at)
{
	json_t *run = json_deep_copy(json_array_get(json_object_get(benchmark, "runs"), at));
	const json_t *owners[] = { root, benchmark, run };
	json_t *whole = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		json_object_update(whole, json_object_get(owners[i], "metadata"));
	json_object_del(whole, "quiesce_sitting");
	json_object_set_new(run, "metadata", whole);
	return run;
}

static void check_equal(json_t *a, json_t *b)
{
	char *text_a = json_dumps(a, JSON_ENCODE_ANY | JSON_SORT_KEYS);
	char *text_b = json_dumps(b, JSON_ENCODE_ANY | JSON_SORT_KEYS);

	if (!json_equal(a, b))
		fail_msg("%s is not %s", text_a, text_b);
	free(text_a);
	free(text_b);
	json_decref(a);
	json_decref(b);
}

/* Other members than `known`, those of the first one first. */
static json_t *other_members(const json_t *a, const json_t *b, const char *const *known)
{
	json_t *members = json_object();

	json_object_update(members, (json_t *)b);
	json_object_update(members, (json_t *)a);
	for (; *known; known++)
		json_object_del(members, *known);
	return members;
}

/* Whether `text` has all that the files say, of each benchmark the runs of a before those of b, and
 * how many more runs. b may be NULL. */
static size_t check_kept(const json_t *a, const json_t *b, const char *text)
{
	static const char *const of_root[] = { "version", "metadata", "benchmarks", NULL };
	static const char *const of_benchmark[] = { "metadata", "runs", NULL };
	static const char *const names[] = { "x", "y", "z" };
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	size_t n_more = 0;

	assert_non_null(root);
	check_equal(other_members(root, NULL, of_root), other_members(a, b, of_root));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *benchmark = find_benchmark(root, names[i]);
		const json_t *files[] = { a, b };
		const json_t *olds[] = { find_benchmark(a, names[i]), find_benchmark(b, names[i]) };
		size_t n = 0;

		for (size_t k = 0; k < 2; k++) {
			size_t n_old = json_array_size(json_object_get(olds[k], "runs"));

			for (size_t at = 0; at < n_old; at++)
				check_equal(whole_run(root, benchmark, n++),
					whole_run(files[k], olds[k], at));
		}
		check_equal(other_members(benchmark, NULL, of_benchmark),
			other_members(olds[0], olds[1], of_benchmark));
		n_more += json_array_size(json_object_get(benchmark, "runs")) - n;
	}
	json_decref(root);
	return n_more;
}

static void put_json(uint64_t *random, const char *path, const json_t *root)
{
	static const size_t flags[] = { 0, JSON_COMPACT, JSON_INDENT(3), JSON_SORT_KEYS,
		JSON_ENSURE_ASCII | JSON_INDENT(1) };

	assert_int_equal(
		json_dump_file(root, path, flags[random_next(random) % ARRAY_SIZE(flags)]), 0);
}

static void check_merge(uint64_t *random, const char *path, const json_t *a, const json_t *b)
{
	const json_t *files[] = { a, b };
	struct merge *merge;
	char *text, *why;
	FILE *stream;
	size_t size;

	merge = merge_new();
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(input) struct input *input = NULL;

		put_json(random, path, files[i]);
		why = NULL;
		assert_int_equal(input_open(path, &input), 0);
		(void)merge_add(merge, path, input, &why);
		if (why)
			fail_msg("%s", why);
	}
	stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(merge_write(merge, stream), 0);
	fclose(stream);
	merge_free(merge);
	assert_int_equal(check_kept(a, b, text), 0);
	suite_free(load_text(path, text));
	free(text);
}

/* The new runs of benchmark x say what is said of them, and nothing that is not. */
static void check_new_runs(const char *text, size_t n, int64_t a)
{
	json_t *root = json_loads(text, 0, NULL);
	const json_t *benchmark = find_benchmark(root, "x");
	size_t n_runs = json_array_size(json_object_get(benchmark, "runs"));

	for (size_t i = n_runs - n; i < n_runs; i++) {
		json_t *run = whole_run(root, benchmark, i);
		const json_t *metadata = json_object_get(run, "metadata");

		assert_int_equal(json_integer_value(json_object_get(metadata, "a")), a);
		assert_string_equal(json_string_value(json_object_get(metadata, "note")), "t0");
		assert_null(json_object_get(metadata, "b\x1b"));
		assert_null(json_object_get(metadata, "tags"));
		assert_null(json_object_get(metadata, "on"));
		assert_null(json_object_get(metadata, "quiesce_flags"));
		json_decref(run);
	}
	json_decref(root);
}

static void check_append(uint64_t *random, const char *path, const json_t *old)
{
	struct series *series = make_series(1, 2);
	struct facts facts = make_facts("x", "note", "t0", NULL);
	int64_t a = (int64_t)(random_next(random) % 2);
	struct suite *document;
	char *text;
	int r;

	facts_set_integer(&facts, "a", a);
	put_json(random, path, old);
	document = load_file(path);
	text = write_text(document, series, facts, &r);
	assert_int_equal(r, 0);
	assert_int_equal(check_kept(old, NULL, text), 3);
	check_new_runs(text, 3, a);
	suite_free(document);
	suite_free(load_text(path, text));
	free(text);
	series_free(series);
}

static void test_random(void **state)
{
	struct place *place = *state;
	uint64_t random = 1;

	for (int i = 0; i < 300 / TRIALS_PART; i++) {
		json_t *a = random_file(&random), *b = random_file(&random);

		check_merge(&random, place->file, a, b);
		check_append(&random, place->file, a);
		json_decref(a);
		json_decref(b);
	}
}

/* The metadata of a benchmark and of a suite may stand behind its runs, as pyperf writes them. */
static void test_metadata_behind(void **state)
{
	static const char old[] =
		"{\"benchmarks\": [{\"runs\": [{\"values\": [1], \"metadata\": {\"a\": 7}}, "
		"{\"values\": [2]}], \"metadata\": {\"name\": \"x\", \"a\": 1, \"aslr\": \"on\"}}, "
		"{\"runs\": [{\"values\": [3]}], \"metadata\": {\"name\": \"y\"}}], "
		"\"metadata\": {\"b\": 2, \"unit\": \"second\"}, \"version\": \"1.0\"}";
	struct place *place = *state;
	struct suite *document = load_text(place->file, old);
	struct series *series = make_series(0, 1);
	json_t *root;
	char *text;

	text = write_good(document, series, make_facts("x", "aslr", "on", NULL));
	suite_free(document);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_int_equal(count_runs(root, 0), 3);
	assert_int_equal(json_integer_value(look_up(root, 0, 0, "a")), 7);
	assert_int_equal(json_integer_value(look_up(root, 0, 1, "a")), 1);
	assert_null(look_up(root, 0, 2, "a"));
	assert_int_equal(json_integer_value(look_up(root, 0, 0, "b")), 2);
	assert_int_equal(json_integer_value(look_up(root, 0, 1, "b")), 2);
	assert_null(look_up(root, 0, 2, "b"));
	assert_int_equal(json_integer_value(look_up(root, 1, 0, "b")), 2);
	assert_string_equal(look_up_string(root, 0, 2, "unit"), "second");
	json_decref(root);
	document = load_text(place->file, text);
	suite_free(document);
	free(text);
	series_free(series);
}

/* pyperf accepts null for the metadata of the suite, and booleans, which are integers. */
static void test_append_odd_metadata(void **state)
{
	static const char old[] =
		"{\"version\": \"1.0\", \"metadata\": null, \"benchmarks\": "
		"[{\"metadata\": {\"name\": \"x\", \"unit\": \"second\", "
		"\"publish\": true, \"inner_loops\": true}, \"runs\": [{\"values\": [1]}]}]}";
	struct place *place = *state;
	struct suite *document = load_text(place->file, old);
	struct series *series = make_series(0, 1);
	struct facts facts = make_facts("x", NULL);
	json_t *root;
	char *text;

	facts_set_integer(&facts, "inner_loops", 1);
	text = write_good(document, series, facts);
	suite_free(document);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_int_equal(count_runs(root, 0), 2);
	assert_true(json_is_true(look_up(root, 0, 0, "publish")));
	assert_null(look_up(root, 0, 1, "publish"));
	assert_true(json_is_true(look_up(root, 0, 1, "inner_loops")));
	json_decref(root);
	free(text);
	series_free(series);
}

/* pyperf's rule, and ours for the clock. */
static void test_append_refused(void **state)
{
	static const struct {
		const char *old; /* metadata of the one run there */
		const char *name;
		const char *key;
		const char *value;
		const char *why;
	} cases[] = {
		{ "\"hostname\": \"a\"", "x", "hostname", "a", NULL },
		{ "\"hostname\": \" a\"", "x", "hostname", "a ", NULL },
		{ "\"hostname\": \"a\"", "x", "hostname", "b",
			"metadata 'hostname' differ: \"a\" in the file, \"b\" now" },
		{ "\"hostname\": \"a\"", "y", "hostname", "b", NULL },
		{ "\"hostname\": \"a\"", "x", "nothing", "b",
			"metadata 'hostname' differ: \"a\" in the file, none now" },
		{ "\"nothing\": \"a\"", "x", "aslr", "b",
			"metadata 'aslr' differ: none in the file, \"b\" now" },
		{ "\"python_version\": \"3\"", "x", "nothing", "b",
			"metadata 'python_version' differ: \"3\" in the file, none now" },
		{ "\"command\": \"3\"", "x", "command", "b", NULL },
		{ "\"inner_loops\": 2", "x", "nothing", "b",
			"metadata 'inner_loops' differ: 2 in the file, none now" },
		{ "\"quiesce_clock\": \"user\"", "x", "quiesce_clock", "kernel",
			"metadata 'quiesce_clock' differ: \"user\" in the file, \"kernel\" now" },
		{ "\"quiesce_clock\": \"user\"", "x", "nothing", "known yet", NULL },
	};
	struct place *place = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char old[300], *why = NULL;
		struct suite *document;
		struct facts facts = make_facts(cases[i].name, cases[i].key, cases[i].value, NULL);
		int r;

		snprintf(old, sizeof(old),
			SUITE("{\"runs\": [{\"values\": [1], \"metadata\": "
			      "{\"name\": \"x\", \"unit\": \"second\", %s}}]}"),
			cases[i].old);
		document = load_text(place->file, old);
		r = document_check_append(document, &facts, &why);
		if (cases[i].why) {
			assert_int_equal(r, -EINVAL);
			assert_string_equal(why, cases[i].why);
		} else {
			assert_int_equal(r, 0);
			assert_null(why);
		}
		free(why);
		facts_clear(&facts);
		suite_free(document);
	}
}

static void test_clocks(void **state)
{
	struct place *place = *state;
	struct series *series = make_series(0, 2);
	enum window_clock clock = WINDOW_KERNEL;
	struct suite *document;
	char *text;
	int r;

	series->clock = WINDOW_USER;
	text = write_good(NULL, series, make_facts("x", NULL));
	document = load_text(place->file, text);
	free(text);
	assert_int_equal(document_find_clock(document, "y", &clock), -ENOENT);
	assert_int_equal(document_find_clock(document, " x", &clock), 0);
	assert_int_equal(clock, WINDOW_USER);
	series->clock = WINDOW_KERNEL;
	assert_null(write_text(document, series, make_facts("x", NULL), &r));
	assert_int_equal(r, -EINVAL);
	free(write_good(document, series, make_facts("y", NULL)));
	series->clock = clock;
	free(write_good(document, series, make_facts("x", NULL)));
	suite_free(document);

	document = load_text(place->file, SUITE(BENCHMARK));
	assert_int_equal(document_find_clock(document, "x", &clock), -ENOENT);
	assert_int_equal(document_find_clock(document, " ", &clock), -ENOENT);
	suite_free(document);
	series_free(series);
}

/* Two benchmarks in one file, and two more runs of each. */
static void test_several(void **state)
{
	struct place *place = *state;
	struct series *a = make_series(0, 1), *b = make_series(1, 2);
	struct facts facts_a = make_facts("a", "command", "./a", NULL);
	struct facts facts_b = make_facts("b", "command", "./b", NULL);
	const struct document_part parts[] = { { a, &facts_a }, { b, &facts_b } };
	const struct document_part twice[] = { { a, &facts_a }, { b, &facts_a } };
	struct suite *document;
	FILE *stream;
	char *text, *more;
	size_t size;

	stream = open_memstream(&text, &size);
	assert_int_equal(document_write(stream, NULL, parts, 2), 0);
	fclose(stream);
	assert_non_null(strstr(text, "{\"name\": \"a\", \"command\": \"./a\""));
	assert_non_null(strstr(text, "]}, {\"metadata\": {\"name\": \"b\", \"command\": \"./b\""));

	document = load_text(place->file, text);
	assert_non_null(document);
	stream = open_memstream(&more, &size);
	assert_int_equal(document_write(stream, document, parts, 2), 0);
	fclose(stream);
	suite_free(document);
	/* Still two, each with twice the runs. */
	document = load_text(place->file, more);
	assert_non_null(document);
	suite_free(document);
	for (int i = 0; i < 2; i++) {
		const char *const needles[] = { "\"name\": ", "\"values\": " };
		const size_t wanted[] = { 2, 6 };
		size_t n = 0;

		for (const char *at = more; (at = strstr(at, needles[i])); at++)
			n++;
		assert_int_equal(n, wanted[i]);
	}
	free(text);
	free(more);

	stream = open_memstream(&text, &size);
	assert_int_equal(document_write(stream, NULL, twice, 2), -EINVAL);
	assert_int_equal(document_write(stream, NULL, parts, 0), -EINVAL);
	fclose(stream);
	assert_int_equal(size, 0);
	free(text);
	facts_clear(&facts_a);
	facts_clear(&facts_b);
	series_free(a);
	series_free(b);
}

/* Small files fail at the flush, large ones in the middle. */
static void test_full_device(void **state)
{
	(void)state;
	for (size_t n = 1; n < 100000; n *= 100) {
		struct series *series = make_series(0, n);
		struct facts facts = make_facts("x", NULL);
		FILE *stream = fopen("/dev/full", "we");

		assert_non_null(stream);
		assert_int_equal(write_one(stream, NULL, series, &facts), -ENOSPC);
		fclose(stream);
		facts_clear(&facts);
		series_free(series);
	}
}

static void test_closed_pipe(void **state)
{
	struct series *series = make_series(0, 10000);
	struct facts facts = make_facts("x", NULL);
	FILE *stream;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	stream = fdopen(fds[1], "w");
	assert_non_null(stream);
	assert_int_equal(write_one(stream, NULL, series, &facts), -EPIPE);
	fclose(stream);
	facts_clear(&facts);
	series_free(series);
}

/* No more room on the way, after much was written. */
static void test_no_room(void **state)
{
	struct place *place = *state;
	struct series *series = make_series(0, 10000);
	struct facts facts = make_facts("x", NULL);
	struct rlimit old, tight;
	struct stat st;
	FILE *stream;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight = old;
	tight.rlim_cur = 65536;
	stream = fopen(place->file, "we");
	assert_non_null(stream);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(write_one(stream, NULL, series, &facts), -EFBIG);
	fclose(stream);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(stat(place->file, &st), 0);
	assert_int_equal(st.st_size, 65536);
	facts_clear(&facts);
	series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_file),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test_setup_teardown(test_values_come_back, enter, leave),
		cmocka_unit_test_setup_teardown(test_odd_strings, enter, leave),
		cmocka_unit_test(test_refused_series),
		cmocka_unit_test(test_refused_metadata),
		cmocka_unit_test_setup_teardown(test_load, enter, leave),
		cmocka_unit_test_setup_teardown(test_load_no_file, enter, leave),
		cmocka_unit_test_setup_teardown(test_append_further, enter, leave),
		cmocka_unit_test_setup_teardown(test_append_same, enter, leave),
		cmocka_unit_test_setup_teardown(test_unknown, enter, leave),
		cmocka_unit_test_setup_teardown(test_old_runs_stay, enter, leave),
		cmocka_unit_test_setup_teardown(test_random, enter, leave),
		cmocka_unit_test_setup_teardown(test_metadata_behind, enter, leave),
		cmocka_unit_test_setup_teardown(test_append_odd_metadata, enter, leave),
		cmocka_unit_test_setup_teardown(test_append_refused, enter, leave),
		cmocka_unit_test_setup_teardown(test_clocks, enter, leave),
		cmocka_unit_test_setup_teardown(test_several, enter, leave),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test_setup_teardown(test_no_room, enter, leave),
	};

	/* Dates are local time. */
	setenv("TZ", "UTC", 1);
	tzset();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
