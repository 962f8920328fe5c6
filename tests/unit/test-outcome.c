// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/outcome.h"
#include "library/values.h"

#define HEAD "quiesce-values 1\nname a\nclock tsc\nempty 9000\nresolution 300\ninner 1\n"

static void nothing(struct qs_run *run)
{
	(void)run;
}

static const struct qs_benchmark benchmark = { .name = "a", .run = nothing };

/* What processes handed over, as an outcome, reported and saved: both texts one after the other. */
static char *show(const char *const *blocks, size_t n)
{
	struct outcome outcome = { .benchmark = &benchmark, .n_runs = n };
	char path[] = "/tmp/test-outcome-XXXXXX", *text = NULL, line[4096];
	size_t size = 0, at;
	FILE *stream, *file;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	outcome.runs = calloc(n, sizeof(*outcome.runs));
	assert_non_null(outcome.runs);
	for (size_t i = 0; i < n; i++) {
		size_t offset = 0;

		assert_int_equal(values_parse(blocks[i], strlen(blocks[i]), &offset,
					 &outcome.runs[i].values, &at),
			0);
	}
	stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(outcome_report(stream, &outcome, 1), 0);
	assert_int_equal(outcome_save(path, &outcome, 1), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		fputs(line, stream);
	fclose(file);
	fclose(stream);
	close(fd);
	unlink(path);
	for (size_t i = 0; i < n; i++)
		qs_values_free(outcome.runs[i].values);
	free(outcome.runs);
	return text;
}

static size_t count(const char *text, const char *words)
{
	size_t n = 0;

	while ((text = strstr(text, words))) {
		text += strlen(words);
		n++;
	}
	return n;
}

/* Of one process among others: said once in the report, and in its metadata. */
static void test_flaws(void **state)
{
	static const char good[] = HEAD "counter 0 r1\ncounter 0 r2\nv 1 1000 0 0 5 7\nend 1\n";
	static const char bad[] = HEAD "counter 0 r1\ncounter 24 r2\nshared 0\nchanged 1\n"
				       "v 1 1000 0 0 5 0\nend 1\n";
	static const char *const one[] = { good }, *const all[] = { good, bad, bad, good };
	char *text, no_files[128];

	(void)state;
	snprintf(no_files, sizeof(no_files), "note: r2 cannot be counted here: %s\n",
		strerror(EMFILE));
	text = show(one, 1);
	assert_int_equal(count(text, "note:"), 0);
	assert_int_equal(count(text, "quiesce_clock_changed"), 0);
	assert_int_equal(count(text, "quiesce_shared_counters"), 0);
	assert_int_equal(count(text, "    r2 "), 1);
	free(text);
	text = show(all, 4);
	assert_int_equal(count(text, "note: r1 was counted for a part of the time only"), 1);
	assert_int_equal(count(text, no_files), 1);
	assert_int_equal(count(text, "note: the kernel chose another clock source"), 1);
	assert_int_equal(count(text, "    r1 "), 1);
	/* Its mean would be too small. */
	assert_int_equal(count(text, "    r2 "), 0);
	assert_int_equal(count(text, "\"quiesce_clock_changed\": 1"), 2);
	assert_int_equal(count(text, "\"quiesce_shared_counters\": \"r1\""), 2);
	free(text);
}

/* In one unit of work, of which this is a second. */
static void test_amounts(void **state)
{
	static const struct {
		double amount;
		const char *words;
	} amounts[] = {
		{ 1, " 1 /s\n" },
		{ 999.4, " 999 /s\n" },
		{ 999.5, " 1 k/s\n" },
		{ 1000, " 1 k/s\n" },
		{ 999.9e6, " 1 G/s\n" },
		{ 12.345e9, " 12.3 G/s\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		char block[400], *text;
		const char *const one[] = { block };
		uint64_t bits;

		memcpy(&bits, &amounts[i].amount, sizeof(bits));
		snprintf(block, sizeof(block),
			HEAD "v 1 1000000000000 0 0\nf 1 %llu things\nend 1\n",
			(unsigned long long)bits);
		text = show(one, 1);
		print_message("# %g\n", amounts[i].amount);
		assert_int_equal(count(text, amounts[i].words), 1);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flaws),
		cmocka_unit_test(test_amounts),
	};

	return cmocka_run_group_tests_name("outcome", tests, NULL, NULL);
}
