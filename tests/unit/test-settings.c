// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/settings.h"

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *reason; /* its beginning */
	} cases[] = {
		{ "CPU=3\n", 1, "unknown key" },
		{ "cpus=3\n", 1, "unknown key" },
		{ "\n# x\nCPUS\n", 3, "this is neither" },
		{ "[Benchmark]\n", 1, "this is neither" },
		{ "=3\n", 1, "unknown key" },
		{ "CPUS=\n", 1, "CPUS is" },
		{ "CPUS=3 # mine\n", 1, "CPUS is" },
		{ "CPUS=\"3\"\n", 1, "CPUS is" },
		{ "CPUS=Auto\n", 1, "CPUS is" },
		{ "CPUS=auto:0\n", 1, "CPUS is" },
		{ "CPUS=auto:\n", 1, "CPUS is" },
		{ "CPUS=auto:-1\n", 1, "CPUS is" },
		{ "CPUS=auto2\n", 1, "CPUS is" },
		{ "CPUS=auto:99999\n", 1, "CPUS is" },
		{ "CPUS=2,3\nCPUS=2,3\n", 2, "this key was set before" },
		{ "SMT=\n", 1, "SMT is" },
		{ "SMT=off\n", 1, "SMT is" },
		{ "STRICT=no\nSMT=on\n", 2, "SMT is" },
		{ "FREQ=\n", 1, "FREQ is" },
		{ "FREQ=fast\n", 1, "FREQ is" },
		{ "FREQ=0\n", 1, "FREQ is" },
		{ "FREQ=-1GHz\n", 1, "FREQ is" },
		{ "FREQ=1THz\n", 1, "FREQ is" },
		{ "FREQ=1 GHz\n", 1, "FREQ is" },
		{ "FREQ=1..2GHz\n", 1, "FREQ is" },
		{ "FREQ=GHz\n", 1, "FREQ is" },
		{ "FREQ=--force\n", 1, "FREQ is" },
		{ "IRQ=yes\n", 1, "IRQ is" },
		{ "SHIELD=yes\n", 1, "SHIELD is" },
		{ "NOISE=\n", 1, "NOISE is" },
		{ "NOISE=thp,\n", 1, "NOISE is" },
		{ "NOISE=,thp\n", 1, "NOISE is" },
		{ "NOISE=thp ksm\n", 1, "NOISE is" },
		{ "NOISE=thp,-ksm\n", 1, "NOISE is" },
		{ "NOISE=--thp\n", 1, "NOISE is" },
		{ "NOISE=-\n", 1, "NOISE is" },
		{ "NOISE=leave,thp,;reboot\n", 1, "NOISE is" },
		{ "NOISE=$(reboot)\n", 1, "NOISE is" },
		{ "NOISE=+swap\n", 1, "NOISE takes no swap" },
		{ "NOISE=-thp,+swap\n", 1, "NOISE takes no swap" },
		{ "NOISE=thp,swap\n", 1, "NOISE takes no swap" },
		{ "STRICT=1\n", 1, "STRICT is" },
		{ "STRICT=Yes\n", 1, "STRICT is" },
		{ "STRICT=yes\r\n", 1, "STRICT is" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct settings settings = { 0 };
		struct settings_error error = { 0 };

		print_message("# %s", cases[i].text);
		assert_int_equal(settings_parse(cases[i].text, &settings, &error), -EINVAL);
		assert_int_equal(error.line, cases[i].line);
		assert_int_equal(
			strncmp(error.reason, cases[i].reason, strlen(cases[i].reason)), 0);
		settings_clear(&settings);
	}
}

/* All options of all setters in one text, for CPUs 2-3. */
static char *options_of(const char *text, bool no_others, bool only_siblings)
{
	struct settings settings = { 0 };
	struct settings_error error;
	struct choice choice = {
		.cpus_text = (char[]){ "2-3" },
		.no_others = no_others,
		.only_siblings = only_siblings,
	};
	char all[1024] = "";

	assert_int_equal(settings_parse(text, &settings, &error), 0);
	for (const struct target_setter *s = target_setters; s->program; s++) {
		_cleanup_free_ char *options = NULL;
		const char *why = NULL;
		size_t used = strlen(all);

		assert_int_equal(s->make_options(&settings, &choice, &options, &why), 0);
		snprintf(all + used, sizeof(all) - used, "%s %s\n", s->key,
			options	      ? options
				: why ? "cannot"
				      : "leave");
	}
	settings_clear(&settings);
	return strdup(all);
}

static void test_options(void **state)
{
	static const struct {
		const char *text;
		bool no_others, only_siblings;
		const char *options;
	} cases[] = {
		{ "", false, false,
			"SHIELD -c 2-3\nSMT -c 2-3\nIRQ -c 2-3\nFREQ -c 2-3 base\nNOISE -c 2-3\n" },
		{ "  SMT = all\t\n#SMT=leave\n\nFREQ=2.7GHz\nSHIELD=partition\nNOISE=thp,ksm",
			false, false,
			"SHIELD -c 2-3\nSMT --all\nIRQ -c 2-3\nFREQ -c 2-3 2.7GHz\n"
			"NOISE -c 2-3 --only thp,ksm\n" },
		{ "SMT=leave\nSHIELD=leave\nIRQ=leave\nFREQ=leave\nNOISE=leave\n", false, false,
			"SHIELD leave\nSMT leave\nIRQ leave\nFREQ leave\nNOISE leave\n" },
		{ "SMT=siblings\nSHIELD=partition\nIRQ=steer\nFREQ=base\nNOISE=default\nCPUS=auto\n"
		  "STRICT=no\n",
			false, false,
			"SHIELD -c 2-3\nSMT -c 2-3\nIRQ -c 2-3\nFREQ -c 2-3 base\nNOISE -c 2-3\n" },
		{ "NOISE=-thp,+rt_runtime,-ksm\nFREQ=1200000\n", false, false,
			"SHIELD -c 2-3\nSMT -c 2-3\nIRQ -c 2-3\nFREQ -c 2-3 1200000\n"
			"NOISE -c 2-3 --except thp,ksm --with rt_runtime\n" },
		{ "NOISE=-thp\n", true, false,
			"SHIELD cannot\nSMT -c 2-3\nIRQ cannot\nFREQ -c 2-3 base\n"
			"NOISE -c 2-3 --except thp --except workqueue,writeback,watchdog_cpumask\n" },
		{ "NOISE=-swap,+swapping\n", false, false,
			"SHIELD -c 2-3\nSMT -c 2-3\nIRQ -c 2-3\nFREQ -c 2-3 base\n"
			"NOISE -c 2-3 --except swap --with swapping\n" },
		{ "NOISE=thp,writeback\n", true, false,
			"SHIELD cannot\nSMT -c 2-3\nIRQ cannot\nFREQ -c 2-3 base\n"
			"NOISE -c 2-3 --only thp,writeback\n" },
		{ "", false, true,
			"SHIELD -c 2-3\nSMT cannot\nIRQ -c 2-3\nFREQ -c 2-3 base\nNOISE -c 2-3\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *options =
			options_of(cases[i].text, cases[i].no_others, cases[i].only_siblings);

		assert_string_equal(options, cases[i].options);
	}
}

static void test_values(void **state)
{
	struct settings settings = { 0 };
	struct settings_error error;

	(void)state;
	assert_int_equal(settings_parse("CPUS=2-3,8\nSTRICT=yes\n", &settings, &error), 0);
	assert_string_equal(settings.cpus, "2-3,8");
	assert_true(settings.strict);
	/* What is set once more later holds, as for the CPUs of one start. */
	assert_int_equal(settings_parse("CPUS=auto:4", &settings, &error), 0);
	assert_null(settings.cpus);
	assert_int_equal(settings.n_cpus, 4);
	assert_true(settings.strict);
	assert_int_equal(settings_parse("CPUS=3", &settings, &error), 0);
	assert_string_equal(settings.cpus, "3");
	assert_int_equal(settings_read("/nowhere/benchmark.conf", &settings, &error), -ENOENT);
	assert_string_equal(settings.cpus, "3");
	settings_clear(&settings);
}

/* What stands commented out in the file that is installed is what holds without it. */
static void test_installed(void **state)
{
	_cleanup_free_ char *defaults = options_of("", false, false);
	struct settings settings = { 0 };
	struct settings_error error;
	_cleanup_text_ struct text text = { 0 };
	unsigned n = 0;
	FILE *stream;

	(void)state;
	assert_int_equal(settings_read(BENCHMARK_CONF, &settings, &error), 0);
	assert_null(settings.cpus);
	assert_null(settings.freq);
	assert_null(settings.noise);
	stream = fopen(BENCHMARK_CONF, "re");
	assert_non_null(stream);
	for (char line[256]; fgets(line, sizeof(line), stream);) {
		if (line[0] != '#' || line[1] < 'A' || line[1] > 'Z' || !strchr(line, '='))
			continue;
		n++;
		text_append(&text, line + 1);
	}
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(n, 7);
	assert_false(text.failed);
	{
		_cleanup_free_ char *written = options_of(text.data, false, false);

		assert_string_equal(written, defaults);
	}
	assert_int_equal(settings_parse(text.data, &settings, &error), 0);
	assert_null(settings.cpus);
	assert_int_equal(settings.n_cpus, 0);
	assert_false(settings.strict);
	settings_clear(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
