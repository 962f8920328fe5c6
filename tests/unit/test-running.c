// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/where/bootid.h"
#include "base/where/running.h"
#include "fake-run.h"

#define BOOT "1f0c8a52-5d0e-4a57-9f3b-000000000001"
#define HEAD "QUIESCE_TARGET=1\nBOOT_ID=" BOOT "\n"

static void test_parse_good(void **state)
{
	static const struct {
		const char *text, *cpus;
	} cases[] = {
		{ HEAD "CPUS=2-3\n", "2-3" },
		{ HEAD "SMT_OPTIONS=-c 2,3\nCPUS=3\nFREQ=base\n", "3" },
		{ "QUIESCE_TARGET=1\nCPUS=8191\nBOOT_ID=" BOOT "\nEMPTY=\nA_1=a=b\n", "8191" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(cpumask) struct cpumask *cpus = NULL;
		_cleanup_free_ char *list = NULL;

		assert_int_equal(running_parse_cpus(cases[i].text, BOOT, &cpus), 0);
		list = cpumask_format_list(cpus);
		assert_string_equal(list, cases[i].cpus);
	}
}

static void test_parse_bad(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		/* Another boot's. */
		{ "QUIESCE_TARGET=1\nBOOT_ID=other\nCPUS=2-3\n", -ENOENT },
		{ "QUIESCE_TARGET=1\nBOOT_ID=" BOOT "0\nCPUS=2-3\n", -ENOENT },
		/* Half of this boot's id is not another boot's: the line was cut. */
		{ "QUIESCE_TARGET=1\nBOOT_ID=1f0c8a52", -EBADMSG },
		{ "", -EBADMSG },
		{ "\n", -EBADMSG },
		{ "QUIESCE_TARGET=1", -EBADMSG },
		{ "QUIESCE_TARGET=1\n", -EBADMSG },
		{ "QUIESCE_TARGET=10\nBOOT_ID=" BOOT "\nCPUS=2-3\n", -EBADMSG },
		{ "QUIESCE_TARGET=2\nBOOT_ID=" BOOT "\nCPUS=2-3\n", -EBADMSG },
		{ "BOOT_ID=" BOOT "\nQUIESCE_TARGET=1\nCPUS=2-3\n", -EBADMSG },
		{ HEAD, -EBADMSG },
		{ HEAD "CPUS=2-3", -EBADMSG },
		{ HEAD "CPUS=\n", -EBADMSG },
		{ HEAD "CPUS=0-\n", -EBADMSG },
		{ HEAD "CPUS=auto\n", -EBADMSG },
		{ HEAD "CPUS=all\n", -EBADMSG },
		{ HEAD "CPUS=8192\n", -EBADMSG },
		{ HEAD "CPUS=2 3\n", -EBADMSG },
		{ HEAD "CPUS=2\nCPUS=2\n", -EBADMSG },
		{ HEAD "CPUS=2\nBOOT_ID=" BOOT "\n", -EBADMSG },
		{ HEAD "CPUS=2\n\n", -EBADMSG },
		{ HEAD "CPUS=2\n# note\n", -EBADMSG },
		{ HEAD "CPUS=2\nwhat\n", -EBADMSG },
		{ HEAD "CPUS=2\n=what\n", -EBADMSG },
		{ HEAD "CPUS=2\nwhat=1\n", -EBADMSG },
		{ HEAD "CPUS=2\n WHAT=1\n", -EBADMSG },
		{ HEAD "CPUS=2\n1WHAT=1\n", -EBADMSG },
		{ HEAD "CPUS=2\nWHAT =1\n", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpumask *cpus = NULL;

		print_message("# %zu\n", i);
		assert_int_equal(running_parse_cpus(cases[i].text, BOOT, &cpus), cases[i].error);
		assert_null(cpus);
	}
}

static void test_parse_value(void **state)
{
	static const char text[] = HEAD "CPUS=2\nNOISE=thp, ksm\nEMPTY=\n";
	char *value = NULL;

	(void)state;
	assert_int_equal(running_parse_value(text, BOOT, "NOISE", &value), 0);
	assert_string_equal(value, "thp, ksm");
	free(value);
	assert_int_equal(running_parse_value(text, BOOT, "EMPTY", &value), 0);
	assert_string_equal(value, "");
	free(value);
	value = NULL;
	assert_int_equal(running_parse_value(text, BOOT, "NOIS", &value), -ENODATA);
	assert_int_equal(running_parse_value(text, BOOT, "NOISES", &value), -ENODATA);
	assert_int_equal(running_parse_value(text, "other", "NOISE", &value), -ENOENT);
	assert_int_equal(running_parse_value("NOISE=a\n", BOOT, "NOISE", &value), -EBADMSG);
	assert_null(value);
}

static void write_target(const char *boot_id, const char *rest, size_t length, mode_t mode)
{
	FILE *stream;

	(void)unlink(TARGET_FILE);
	stream = fopen(TARGET_FILE, "we");
	assert_non_null(stream);
	fprintf(stream, "%s\nBOOT_ID=%s\n", TARGET_MAGIC, boot_id);
	assert_int_equal(fwrite(rest, 1, length, stream), length);
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(chmod(TARGET_FILE, mode), 0);
}

static int read_cpus(void)
{
	struct cpumask *cpus = NULL;
	int r = running_read_cpus(&cpus);

	if (r == 0) {
		_cleanup_free_ char *list = cpumask_format_list(cpus);

		assert_string_equal(list, "2-3");
	} else {
		assert_null(cpus);
	}
	cpumask_free(cpus);
	return r;
}

static void test_read(void **state)
{
	static const char good[] = "CPUS=2-3\n", nul[] = "CPUS=2-3\n\0CPUS=4\n";
	char boot_id[BOOTID_SIZE];
	_cleanup_free_ char *large = malloc(100000);

	(void)state;
	assert_int_equal(bootid_read(boot_id), 0);
	assert_int_equal(read_cpus(), -ENOENT);
	assert_int_equal(mkdir(TARGET_DIRECTORY, 0755), 0);
	assert_int_equal(read_cpus(), -ENOENT);

	write_target(boot_id, good, strlen(good), 0644);
	assert_int_equal(read_cpus(), 0);
	write_target("another", good, strlen(good), 0644);
	assert_int_equal(read_cpus(), -ENOENT);
	write_target(boot_id, "", 0, 0644);
	assert_int_equal(read_cpus(), -EBADMSG);
	write_target(boot_id, nul, sizeof(nul) - 1, 0644);
	assert_int_equal(read_cpus(), -EBADMSG);
	assert_non_null(large);
	memset(large, 'A', 100000);
	write_target(boot_id, large, 100000, 0644);
	assert_int_equal(read_cpus(), -EBADMSG);

	/* Others may have written to it. */
	write_target(boot_id, good, strlen(good), 0664);
	assert_int_equal(read_cpus(), -EPERM);
	write_target(boot_id, good, strlen(good), 0646);
	assert_int_equal(read_cpus(), -EPERM);

	/* No regular file. */
	write_target(boot_id, good, strlen(good), 0644);
	assert_int_equal(rename(TARGET_FILE, TARGET_FILE "2"), 0);
	assert_int_equal(symlink("target2", TARGET_FILE), 0);
	assert_int_equal(read_cpus(), -EPERM);
	assert_int_equal(unlink(TARGET_FILE), 0);
	assert_int_equal(mkfifo(TARGET_FILE, 0644), 0);
	assert_int_equal(read_cpus(), -EPERM);
	assert_int_equal(unlink(TARGET_FILE), 0);
	assert_int_equal(mkdir(TARGET_FILE, 0755), 0);
	assert_int_equal(read_cpus(), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_good),
		cmocka_unit_test(test_parse_bad),
		cmocka_unit_test(test_parse_value),
		cmocka_unit_test(test_read),
	};

	if (!fake_run_enter())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
