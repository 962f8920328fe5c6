// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "fake-run.h"
#include "quiet/engine/knob.h"

static void test_equal(_unused_ void **state)
{
	static const struct {
		enum knob_kind kind;
		const char *a, *b;
		bool equal;
	} cases[] = {
		{ KNOB_WORD, "", "", true },
		{ KNOB_WORD, "a", "a", true },
		{ KNOB_WORD, "a", "a\n", true },
		{ KNOB_WORD, " a\t", "a", true },
		{ KNOB_WORD, "a b", "a b", true },
		{ KNOB_WORD, "a  b", "a b", false },
		{ KNOB_WORD, "a", "A", false },
		{ KNOB_WORD, "a", "ab", false },
		{ KNOB_WORD, "ab", "a", false },
		{ KNOB_WORD, "", "\n", true },
		{ KNOB_WORD, "", "a", false },
		{ KNOB_WORD, "0", "00", false },
		{ KNOB_WORD, "n/a", "0", false },
		{ KNOB_NUMBER, "0", "0", true },
		{ KNOB_NUMBER, "0", "00", true },
		{ KNOB_NUMBER, "-1", "-1\n", true },
		{ KNOB_NUMBER, "-0", "0", true },
		{ KNOB_NUMBER, "1", "-1", false },
		{ KNOB_NUMBER, " 10 ", "10", true },
		{ KNOB_NUMBER, "10", "100", false },
		{ KNOB_NUMBER, "9223372036854775807", "9223372036854775807", true },
		{ KNOB_NUMBER, "9223372036854775807", "9223372036854775806", false },
		/* Beyond what we count with: as words. */
		{ KNOB_NUMBER, "18446744073709551615", "18446744073709551615", true },
		{ KNOB_NUMBER, "18446744073709551615", "18446744073709551614", false },
		{ KNOB_NUMBER, "on", "on", true },
		{ KNOB_NUMBER, "on", "1", false },
		{ KNOB_NUMBER, "", "0", false },
		{ KNOB_NUMBER, "0x10", "16", false },
		{ KNOB_NUMBER, "1 2", "1 2", true },
		{ KNOB_NUMBER, "1 2", "1", false },
		{ KNOB_FREQUENCY, "2000000", "2000000\n", true },
		{ KNOB_FREQUENCY, "2000000", "2000001", false },
		{ KNOB_FREQUENCY, "<unknown>", "<unknown>", true },
		{ KNOB_FREQUENCY, "<unknown>", "0", false },
		{ KNOB_LIST, "0-3", "0,1,2,3", true },
		{ KNOB_LIST, "0-3", "0,1-3", true },
		{ KNOB_LIST, "0-3", "3,2,1,0", true },
		{ KNOB_LIST, "0-3", "0-2", false },
		{ KNOB_LIST, "0-3\n", "0-3", true },
		{ KNOB_LIST, "", "", true },
		{ KNOB_LIST, "", "\n", true },
		{ KNOB_LIST, "", " (null)", true },
		{ KNOB_LIST, "", "(null)", true },
		{ KNOB_LIST, "", "0", false },
		{ KNOB_LIST, " (null)", "0", false },
		{ KNOB_LIST, "1-7:2/4", "1-2,5-6", true },
		{ KNOB_LIST, "8191", "8191", true },
		{ KNOB_LIST, "8191", "8190", false },
		{ KNOB_LIST, "0-", "0-", true },
		{ KNOB_LIST, "0-", "0", false },
		{ KNOB_LIST, "x", "y", false },
		{ KNOB_MASK, "ff", "00000000,000000ff", true },
		{ KNOB_MASK, "ff", "FF", true },
		{ KNOB_MASK, "ff", "0ff", true },
		{ KNOB_MASK, "ff", "fe", false },
		{ KNOB_MASK, "1,00000000", "00000001,00000000", true },
		{ KNOB_MASK, "1,00000000", "1", false },
		{ KNOB_MASK, "0", "00000000,00000000", true },
		{ KNOB_MASK, "0", "1", false },
		{ KNOB_MASK, "xyz", "xyz", true },
		{ KNOB_MASK, "xyz", "0", false },
		{ KNOB_CHOICE, "always [madvise] never", "madvise", true },
		{ KNOB_CHOICE, "always [madvise] never", "never", false },
		{ KNOB_CHOICE, "always [madvise] never", "always [madvise]", true },
		{ KNOB_CHOICE, "always [madvise] never", "[always] madvise never", false },
		{ KNOB_CHOICE, "always [madvise] never\n", "madvise\n", true },
		{ KNOB_CHOICE, "madvise", "madvise ", true },
		{ KNOB_CHOICE, "[defer+madvise] never", "defer+madvise", true },
		{ KNOB_CHOICE, "[defer+madvise] never", "madvise", false },
		{ KNOB_CHOICE, "[a", "[a", true },
		{ KNOB_CHOICE, "[a", "a", false },
		{ KNOB_CHOICE, "a]", "a", false },
		{ KNOB_CHOICE, "[]", "", true },
		{ KNOB_CHOICE, "", "", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (knob_equal(cases[i].kind, cases[i].a, cases[i].b) != cases[i].equal)
			print_message("# %s: '%s' '%s'\n", knob_kind_name(cases[i].kind),
				cases[i].a, cases[i].b);
		assert_int_equal(knob_equal(cases[i].kind, cases[i].a, cases[i].b), cases[i].equal);
		assert_int_equal(knob_equal(cases[i].kind, cases[i].b, cases[i].a), cases[i].equal);
	}
}

/* Texts as long as an attribute may be: they differ at the end. */
static void test_equal_long(_unused_ void **state)
{
	static const enum knob_kind kinds[] = { KNOB_WORD, KNOB_NUMBER, KNOB_LIST, KNOB_MASK,
		KNOB_CHOICE, KNOB_FREQUENCY };
	char a[4000], b[4000];

	memset(a, 'x', sizeof(a) - 1);
	a[sizeof(a) - 1] = '\0';
	memcpy(b, a, sizeof(b));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_true(knob_equal(kinds[i], a, b));
	b[sizeof(b) - 2] = 'y';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_false(knob_equal(kinds[i], a, b));
}

static void test_writable(_unused_ void **state)
{
	static const struct {
		enum knob_kind kind;
		const char *text, *writable;
	} cases[] = {
		{ KNOB_WORD, "a", "a" },
		{ KNOB_WORD, " a b \n", "a b" },
		{ KNOB_WORD, "", "" },
		{ KNOB_NUMBER, "5\n", "5" },
		{ KNOB_NUMBER, "n/a", "n/a" },
		{ KNOB_LIST, "0-3", "0-3" },
		{ KNOB_LIST, " (null)", "" },
		{ KNOB_LIST, "(null)", "" },
		{ KNOB_LIST, "(", "(" },
		{ KNOB_LIST, "", "" },
		{ KNOB_MASK, "00000000,000000ff", "00000000,000000ff" },
		{ KNOB_CHOICE, "always [madvise] never", "madvise" },
		{ KNOB_CHOICE, "[always] madvise never", "always" },
		{ KNOB_CHOICE, "never", "never" },
		{ KNOB_CHOICE, "never\n", "never" },
		{ KNOB_FREQUENCY, "2000000", "2000000" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = knob_writable(cases[i].kind, cases[i].text);

		assert_string_equal(text, cases[i].writable);
		/* What is put back means what was there. */
		if (cases[i].text[0] != '(')
			assert_true(knob_equal(cases[i].kind, text, cases[i].text));
	}
}

static void test_names(_unused_ void **state)
{
	static const char *const wrong[] = { "", "Word", "word ", "words", "wor", "\\?" };
	enum knob_kind kind = KNOB_MASK;

	for (int i = KNOB_WORD; i <= KNOB_RATE; i++) {
		assert_int_equal(knob_kind_parse(knob_kind_name((enum knob_kind)i), &kind), 0);
		assert_int_equal(kind, i);
	}
	kind = KNOB_MASK;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(knob_kind_parse(wrong[i], &kind), -EINVAL);
	assert_int_equal(kind, KNOB_MASK);
	assert_string_equal(knob_word_name(KNOB_NONE), "-");
	assert_string_equal(knob_word_name(KNOB_APPLIED), "applied");
	assert_string_equal(knob_word_name(KNOB_ALREADY), "already");
	assert_string_equal(knob_word_name(KNOB_UNAVAILABLE), "unavailable");
	assert_string_equal(knob_word_name(KNOB_DENIED), "denied");
	assert_string_equal(knob_word_name(KNOB_HOST_CONTROLLED), "host-controlled");
}

static void test_unavailable(_unused_ void **state)
{
	static const int yes[] = { ENOENT, ENODEV, ENXIO, EOPNOTSUPP, ENOTDIR, 524 };
	static const int no[] = { 0, EACCES, EPERM, EBUSY, EINVAL, EIO, EROFS, ENOSPC, ENOMEM };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(knob_error_is_unavailable(yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(knob_error_is_unavailable(no[i]));
}

static void test_plan(_unused_ void **state)
{
	struct knob_plan plan = { 0 };
	struct knob *knob;
	char path[64];

	assert_null(knob_plan_find(&plan, "/sys/a"));
	for (unsigned i = 0; i < 500; i++) {
		snprintf(path, sizeof(path), "/sys/%u", i);
		assert_int_equal(knob_plan_add(&plan, i % 7, KNOB_NUMBER, path, i % 2 ? "1" : NULL,
					 &knob, "cpu%u %s", i, "a%b"),
			0);
		assert_int_equal(knob->cpu, -1);
		assert_int_equal(knob->word, KNOB_NONE);
		assert_false(knob->settled);
		assert_null(knob->now);
	}
	assert_int_equal(
		knob_plan_add_word(&plan, 3, KNOB_UNAVAILABLE, "/sys/none", "why", "name %d", 5),
		0);
	assert_int_equal(plan.n, 501);
	for (unsigned i = 0; i < 500; i++) {
		char name[32];

		snprintf(path, sizeof(path), "/sys/%u", i);
		snprintf(name, sizeof(name), "cpu%u a%%b", i);
		knob = knob_plan_find(&plan, path);
		assert_non_null(knob);
		assert_string_equal(knob->name, name);
		assert_int_equal(knob->group, i % 7);
		assert_int_equal(knob->wanted != NULL, i % 2);
	}
	knob = knob_plan_find(&plan, "/sys/none");
	assert_true(knob->settled);
	assert_string_equal(knob->name, "name 5");
	assert_string_equal(knob->note, "why");
	assert_int_equal(knob->word, KNOB_UNAVAILABLE);
	knob_plan_clear(&plan);
	assert_int_equal(plan.n, 0);
	knob_plan_clear(&plan);
}

/* --- Files, and what is no file --- */

static char last_rest[32], last_text[32];
static int busy;

static int read_rest(const char *rest, char **ret)
{
	if (strcmp(rest, "none") == 0)
		return -ENOENT;
	*ret = strdup(rest);
	return *ret ? 0 : -ENOMEM;
}

static int write_rest(const char *rest, const char *text)
{
	if (busy > 0) {
		busy--;
		return -EBUSY;
	}
	snprintf(last_rest, sizeof(last_rest), "%s", rest);
	snprintf(last_text, sizeof(last_text), "%s", text);
	return 0;
}

static const struct knob_backend backends[] = {
	{ "one", read_rest, write_rest },
	{ "two", NULL, NULL },
	{ 0 },
};

static void assert_read(const char *path, int wanted, const char *text)
{
	char *got = NULL;

	assert_int_equal(knob_read(backends, path, &got), wanted);
	if (text)
		assert_string_equal(got, text);
	else
		assert_null(got);
	free(got);
}

static void test_backends(_unused_ void **state)
{
	assert_read("one:a/b:c", 0, "a/b:c");
	assert_read("one:", 0, "");
	assert_read("one:none", -ENOENT, NULL);
	assert_read("on:a", -ENOENT, NULL);
	assert_read("three:a", -ENOENT, NULL);
	assert_read("one", -ENOENT, NULL);
	assert_read("", -ENOENT, NULL);
	assert_read("sys/a", -ENOENT, NULL);
	assert_int_equal(knob_write(backends, "one:x:y", "text"), 0);
	assert_string_equal(last_rest, "x:y");
	assert_string_equal(last_text, "text");
	assert_int_equal(knob_write(backends, "oneone:x", "text"), -ENOENT);
	assert_int_equal(knob_write(NULL, "one:x", "text"), -ENOENT);
	assert_int_equal(knob_write(NULL, "relative", "text"), -ENOENT);
}

static int setup(_unused_ void **state)
{
	return fake_run_mount("size=64k") ? 0 : -1;
}

static int teardown(_unused_ void **state)
{
	return fake_run_unmount() ? 0 : -1;
}

static void test_files(_unused_ void **state)
{
	assert_read("/run/none", -ENOENT, NULL);
	assert_int_equal(knob_write(backends, "/run/none", "x"), -ENOENT);
	assert_int_equal(access("/run/none", F_OK), -1); /* a knob is never made */
	assert_true(fake_machine_write("/run/a:b", "performance\n"));
	assert_read("/run/a:b", 0, "performance");
	/* A shorter text leaves nothing of the longer one. */
	assert_int_equal(knob_write(backends, "/run/a:b", "powersave"), 0);
	assert_read("/run/a:b", 0, "powersave");
	assert_int_equal(knob_write(backends, "/run/a:b", ""), 0);
	assert_read("/run/a:b", 0, "");
	assert_int_equal(knob_write(backends, "/run", "x"), -EISDIR);
	assert_read("/run", -EISDIR, NULL);
	assert_read("/run/a:b/c", -ENOTDIR, NULL);
	assert_true(fake_run_read_only(true));
	assert_int_equal(knob_write(backends, "/run/a:b", "x"), -EROFS);
	assert_read("/run/a:b", 0, "");
	assert_true(fake_run_read_only(false));
}

static int64_t elapsed_ms(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

/* A limit comes late; everything else is read once. Waiting until `far` would take longer than the
 * test may run. */
static void test_read_back(_unused_ void **state)
{
	const int64_t far = knob_deadline() + 3600 * NSEC_PER_SEC;
	struct timespec start;
	char *now = NULL;

	assert_true(fake_machine_write("/run/max", "3000000\n"));
	assert_int_equal(knob_read_back(NULL, KNOB_WORD, "/run/max", "2", far, &now), 0);
	assert_string_equal(now, "3000000");
	free(now);
	assert_int_equal(knob_read_back(NULL, KNOB_FREQUENCY, "/run/max", "3000000", far, &now), 0);
	free(now);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(
		knob_read_back(NULL, KNOB_FREQUENCY, "/run/max", "2000000", knob_deadline(), &now),
		0);
	assert_string_equal(now, "3000000");
	free(now);
	assert_true(elapsed_ms(&start) >= 200);
	assert_int_equal(
		knob_read_back(NULL, KNOB_WORD, "/run/none", "2", knob_deadline(), &now), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_equal_long),
		cmocka_unit_test(test_writable),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unavailable),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_backends),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_back, setup, teardown),
	};

	if (!fake_run_enter())
		return 0;
	return cmocka_run_group_tests_name("knob", tests, NULL, NULL);
}
