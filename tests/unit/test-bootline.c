// SPDX-License-Identifier: GPL-2.0-or-later
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <stdlib.h>

#include "base/machine/bootline.h"
#include "base/macro.h"

static void test_find(void **state _unused_)
{
	static const struct {
		const char *text;
		const char *name;
		const char *value; /* NULL: it is not there */
	} cases[] = {
		{ "", "quiet", NULL },
		{ "\n", "quiet", NULL },
		{ "quiet", "quiet", "" },
		{ "ro quiet splash\n", "quiet", "" },
		{ "root=/dev/sda1 ro", "root", "/dev/sda1" },
		{ "rootflags=x", "root", NULL },
		{ "xroot=1", "root", NULL },
		{ "nohz_full=2-3 nohz_full=4", "nohz_full", "4" },
		{ "nohz-full=2-3", "nohz_full", "2-3" },
		{ "rcu_nocbs=", "rcu_nocbs", "" },
		{ "isolcpus=\"2-3\"", "isolcpus", "2-3" },
		{ "\"isolcpus=2-3\" x", "isolcpus", "2-3" },
		{ "dyndbg=\"file a nohz_full=1\" x", "nohz_full", NULL },
		{ "a=\"open nohz_full=1", "nohz_full", NULL },
		{ "nohz_full", "nohz_full", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *value = NULL;
		int r = bootline_find(cases[i].text, cases[i].name, &value);

		if (cases[i].value) {
			assert_int_equal(r, 0);
			assert_string_equal(value, cases[i].value);
		} else {
			assert_int_equal(r, -ENOENT);
			assert_null(value);
		}
		free(value);
	}
}

static void test_isolcpus(void **state _unused_)
{
	static const struct {
		const char *text;
		const char *cpus;
		bool domain;
		bool nohz;
		bool managed_irq;
	} cases[] = {
		{ "isolcpus=2-3", "2-3", .domain = true },
		{ "isolcpus=domain,2-3", "2-3", .domain = true },
		{ "isolcpus=managed_irq,2-3", "2-3", .managed_irq = true },
		{ "isolcpus=nohz,domain,managed_irq,1,3", "1,3", true, true, true },
		/* What is no flag of any kernel changes nothing. */
		{ "isolcpus=unknown,2-3", "2-3", .domain = true },
		{ "isolcpus=all", "0-7", .domain = true },
		{ "isolcpus=managed_irq,1-N", "1-7", .managed_irq = true },
		{ "isolcpus=2-x", "", .domain = true },
		/* The kernel takes empty parts, and no CPU that the machine cannot have. */
		{ "isolcpus=2,3,", "2-3", .domain = true },
		{ "isolcpus=managed_irq,,2,,3", "2-3", .managed_irq = true },
		{ "isolcpus=1-8", "", .domain = true },
		{ "isolcpus=0-15:1/2", "", .domain = true },
		/* What stands behind -- is for init. */
		{ "quiet -- isolcpus=2-3", "", false, false, false },
		{ "isolcpus=2-3 -- isolcpus=managed_irq,4", "2-3", .domain = true },
		{ "isolcpus=2-3 --x isolcpus=managed_irq,2-3", "2-3", .domain = true,
			.managed_irq = true },
		/* The flags of two add up, if they have the same CPUs; else each purpose has the
		 * CPUs of the first that has it. */
		{ "isolcpus=managed_irq,2-3 isolcpus=2,3", "2-3", .domain = true,
			.managed_irq = true },
		{ "isolcpus=managed_irq,2-3 isolcpus=4", "4", .domain = true },
		{ "isolcpus=2-3 isolcpus=nohz,managed_irq,2-3", "2-3", true, true, true },
		{ "isolcpus=", "", .domain = true },
		{ "isolcpus=domain,", "", .domain = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(bootline) struct bootline *b = NULL;
		_cleanup_free_ char *list = NULL;

		assert_int_equal(bootline_parse(cases[i].text, 8, &b), 0);
		list = cpumask_format_list(b->isolcpus.cpus);
		assert_string_equal(list, cases[i].cpus);
		assert_int_equal(b->domain, cases[i].domain);
		assert_int_equal(b->nohz, cases[i].nohz);
		assert_int_equal(b->managed_irq, cases[i].managed_irq);
	}
}

static void test_lists(void **state _unused_)
{
	_cleanup_(bootline) struct bootline *b = NULL;

	assert_int_equal(
		bootline_parse("ro nohz_full=2-3 rcu_nocbs=2-3,5 irqaffinity=0,1\n", 8, &b), 0);
	assert_null(b->isolcpus.text);
	assert_false(b->domain);
	assert_true(cpumask_is_empty(b->isolcpus.cpus));
	assert_string_equal(b->rcu_nocbs.text, "2-3,5");
	assert_int_equal(cpumask_weight(b->rcu_nocbs.cpus), 3);
	assert_int_equal(cpumask_weight(b->nohz_full.cpus), 2);
	assert_int_equal(cpumask_last(b->irqaffinity.cpus), 1);
}

/* Of isolcpus and nohz_full the kernel keeps the first value, and of the others the last. */
static void test_repeated(void **state _unused_)
{
	_cleanup_(bootline) struct bootline *b = NULL, *same = NULL;

	assert_int_equal(bootline_parse("isolcpus=managed_irq,domain,2-3 nohz_full=2-3 "
					"rcu_nocbs=2 irqaffinity=0 isolcpus=4 nohz-full=2,3,5 "
					"rcu_nocbs=3 irqaffinity=1",
				 8, &b),
		0);
	assert_string_equal(b->isolcpus.text, "2-3");
	assert_true(b->managed_irq && b->domain && b->isolcpus.others);
	assert_int_equal(cpumask_last(b->isolcpus.cpus), 3);
	assert_string_equal(b->nohz_full.text, "2-3");
	assert_true(b->nohz_full.others);
	assert_string_equal(b->rcu_nocbs.text, "3");
	assert_string_equal(b->irqaffinity.text, "1");
	assert_false(b->rcu_nocbs.others || b->irqaffinity.others);

	assert_int_equal(
		bootline_parse("isolcpus=2-3 nohz_full=2 isolcpus=2-3 nohz_full=2", 8, &same), 0);
	assert_false(same->isolcpus.others || same->nohz_full.others);
	assert_false(same->isolcpus.refused);
	bootline_free(TAKE_PTR(same));
	assert_int_equal(bootline_parse("isolcpus=1-9 nohz_full=2-3,8", 8, &same), 0);
	assert_true(same->isolcpus.refused && same->nohz_full.refused);
	assert_true(cpumask_is_empty(same->nohz_full.cpus));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_isolcpus),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_repeated),
	};

	return cmocka_run_group_tests_name("bootline", tests, NULL, NULL);
}
