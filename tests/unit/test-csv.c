// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/result/csv.h"

#define HEADER \
	"run,warmup,value,window_kernel,window_user,start,status,flags,disturbed,lost,max_rss_bytes,env_pad"

static char *write_csv(const struct series *series)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	assert_int_equal(csv_write(stream, series), 0);
	fclose(stream);
	return text;
}

static void append(struct series *series, const struct sample *sample,
	const struct evidence *evidence, const double *counters)
{
	assert_int_equal(series_append(series, sample, evidence, counters), 0);
}

static void test_plain(void **state)
{
	const struct sample samples[] = {
		{ .kernel_ns = 12300000, .user_ns = 12500001, .warmup = true, .max_rss_kib = 1500 },
		{ .kernel_ns = 12100000, .user_ns = 12300000, .start_ns = 1000000007 },
		{ .user_ns = 12345678901234,
			.start_ns = 2000000000,
			.status = 256,
			.flags = SAMPLE_PREEMPTED | SAMPLE_IRQ,
			.env_pad = 4095 },
	};
	struct series *series;
	char *text;

	(void)state;
	series = series_new(false, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		append(series, &samples[i], NULL, NULL);
	text = write_csv(series);
	assert_string_equal(text,
		HEADER "\r\n"
		       "1,1,0.012300000,0.012300000,0.012500001,0.000000000,0,,0,,1536000,0\r\n"
		       "1,0,0.012100000,0.012100000,0.012300000,1.000000007,0,,0,,,0\r\n"
		       "2,0,,,12345.678901234,2.000000000,256,\"preempted,irq\",1,,,4095\r\n");
	free(text);
	series->clock = WINDOW_USER;
	text = write_csv(series);
	assert_non_null(strstr(text, "\r\n2,0,12345.678901234,,12345.678901234,"));
	free(text);
	series_free(series);
}

/* Splits one line by RFC 4180; returns the number of fields. */
static size_t split(char *line, char **fields, size_t max)
{
	size_t n = 0;

	for (;;) {
		char *to = line;

		assert_true(n < max);
		fields[n++] = line;
		if (*line == '"') {
			line++;
			while (*line != '"' || line[1] == '"') {
				assert_true(*line);
				if (*line == '"')
					line++;
				*to++ = *line++;
			}
			line++;
		} else {
			while (*line && *line != ',') {
				assert_true(*line != '"');
				*to++ = *line++;
			}
		}
		if (*line != ',') {
			assert_true(*line == '\0');
			*to = '\0';
			return n;
		}
		line++;
		*to = '\0';
	}
}

static void test_evidence(void **state)
{
	static const char *const events[] = { "instructions:u", "odd,\"name\"", NULL };
	const double counters[] = { 123456789012.4, NAN };
	struct sample sample = { .kernel_ns = 1, .user_ns = 2 };
	char *text, *lines[3], *rest, *fields[3][60];
	size_t n[3];
	struct evidence evidence;
	struct series *series;

	(void)state;
	series = series_new(true, events);
	evidence_clear(&evidence);
	assert_int_equal(series_intern_irq(series, "38: a \"b\", c", &evidence.irq_line[0]), 0);
	evidence.user_cpu_ns = 1500000000;
	evidence.migrations = 0;
	evidence.irq_device = 3;
	evidence.n_irq_lines = 1;
	evidence.irq_count[0] = 3;
	evidence.softirqs[1] = 2;
	evidence.softirqs[7] = 1;
	evidence.load1 = 0.425f;
	evidence.temperature_before = -3.14f;
	evidence.temperature_after = 58;
	append(series, &sample, &evidence, counters);
	append(series, &sample, NULL, NULL);

	text = write_csv(series);
	lines[0] = strtok_r(text, "\r\n", &rest);
	lines[1] = strtok_r(NULL, "\r\n", &rest);
	lines[2] = strtok_r(NULL, "\r\n", &rest);
	assert_null(strtok_r(NULL, "\r\n", &rest));
	for (size_t i = 0; i < 3; i++) {
		n[i] = split(lines[i], fields[i], ARRAY_SIZE(fields[i]));
		assert_int_equal(n[i], n[0]);
	}
	for (size_t i = 0; i < n[0]; i++) {
		static const struct {
			const char *column;
			const char *value;
		} expected[] = {
			{ "disturbed", "0" },
			{ "lost", "1.000000" }, /* of 2 ns */
			{ "user_cpu", "1.500000000" },
			{ "system_cpu", "" },
			{ "migrations", "0" },
			{ "irq_device", "3" },
			{ "irq_lines", "38: a \"b\", c x3" },
			{ "softirqs", "TIMER x2, SCHED x1" },
			{ "runnable", "" },
			{ "load1", "0.43" },
			{ "temperature_before", "-3.14" },
			{ "temperature_after", "58.00" },
			{ "instructions:u", "123456789012" },
			{ "odd,\"name\"", "" },
		};

		for (size_t k = 0; k < ARRAY_SIZE(expected); k++)
			if (strcmp(fields[0][i], expected[k].column) == 0)
				assert_string_equal(fields[1][i], expected[k].value);
		/* Nothing is known of the second run. */
		if (i >= 12)
			assert_string_equal(fields[2][i], "");
	}
	assert_string_equal(fields[0][n[0] - 1], "odd,\"name\"");
	assert_string_equal(fields[0][12], "user_cpu");
	free(text);
	series_free(series);
}

/* Two runs of a program that measured itself, and a warm-up before them. */
static void test_inside(void **state)
{
	const struct sample samples[] = {
		{ .kernel_ns = 5, .user_ns = 7, .warmup = true },
		{ .kernel_ns = 1000000000, .user_ns = 7, .flags = SAMPLE_IRQ },
		{ .kernel_ns = 5, .user_ns = 7 },
		{ .kernel_ns = 5, .user_ns = 7 },
	};
	struct benchmark_warmup warmups[] = { { 1, 0.25 }, { 8, 2e-9 } };
	double values[] = { 1.1e-9, 0.1, 3 };
	/* Nothing was handed over in the second of the counted runs. */
	struct benchmark_run runs[] = { { 0, 1, 8, 1 }, { 2, 2, 16, 2 }, { 2, 2, 1, 2 },
		{ 3, 2, 32, 2 } };
	struct benchmark inside = {
		.values = values, .n_values = 3, .warmups = warmups, .n_warmups = 2, .runs = runs
	};
	struct csv_part parts[] = { { .name = "prog" }, { .name = "a,b", .inside = &inside } };
	struct series *series;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	series = series_new(false, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		append(series, &samples[i], NULL, NULL);
	parts[0].series = parts[1].series = inside.series = series;
	assert_int_equal(csv_write_all(stream, parts, 2), 0);
	fclose(stream);
#define REST ",0.000000005,0.000000007,0.000000000,0,,0,,,0\r\n"
#define REST_OF_FLAGGED ",1.000000000,0.000000007,0.000000000,0,irq,1,,,0\r\n"
	assert_string_equal(text,
		"name,run,warmup,index,counted,loops,inner_loops,value,window_kernel,window_user,"
		"start,status,flags,disturbed,lost,max_rss_bytes,env_pad\r\n"
		"prog,1,1,,0,,,0.000000005" REST "prog,1,0,,1,,,1.000000000" REST_OF_FLAGGED
		"prog,2,0,,1,,,0.000000005" REST "prog,3,0,,1,,,0.000000005" REST
		"\"a,b\",1,1,1,0,1,1,0.25" REST "\"a,b\",1,0,1,0,8,2,2e-09" REST_OF_FLAGGED
		"\"a,b\",1,0,2,1,16,2,1.1e-09" REST_OF_FLAGGED
		"\"a,b\",1,0,3,1,16,2,0.1" REST_OF_FLAGGED "\"a,b\",3,0,1,1,32,2,3" REST);
	free(text);
	/* Without such a program the columns are those of several programs. */
	stream = open_memstream(&text, &size);
	assert_int_equal(csv_write_all(stream, parts, 1), 0);
	fclose(stream);
	assert_true(strncmp(text, "name," HEADER "\r\n", strlen("name," HEADER "\r\n")) == 0);
	free(text);
	series_free(series);
}

static void test_empty(void **state)
{
	struct series *series;
	char *text;

	(void)state;
	series = series_new(false, NULL);
	text = write_csv(series);
	assert_string_equal(text, HEADER "\r\n");
	free(text);
	series_free(series);
}

static void test_full_device(void **state)
{
	struct sample sample = { .kernel_ns = 1, .user_ns = 2 };
	struct series *series;

	(void)state;
	series = series_new(false, NULL);
	for (size_t n = 0; n < 2; n++) {
		FILE *stream = fopen("/dev/full", "we");

		assert_non_null(stream);
		assert_int_equal(csv_write(stream, series), -ENOSPC);
		fclose(stream);
		/* More than a buffer. */
		for (size_t i = 0; i < 10000; i++)
			append(series, &sample, NULL, NULL);
	}
	series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_full_device),
	};

	/* Decimal points must not follow it, where it is installed. */
	(void)setlocale(LC_ALL, "de_DE.UTF-8");
	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
