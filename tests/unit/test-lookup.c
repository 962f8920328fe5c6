// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/lookup.h"

static void test_empty(void **state)
{
	struct lookup lookup = { 0 };
	size_t step = 0;

	(void)state;
	assert_int_equal(lookup_next(&lookup, 7, &step), SIZE_MAX);
	lookup_clear(&lookup);
}

/* However many there are, each is found, those of one hash in their order, and nothing else. Their
 * hashes begin in few slots, and at the last one of the table, so that slots of others are passed.
 */
static void test_found(void **state)
{
	enum {
		N = 5000,
		HASHES = 250,
	};
	static const uint64_t hashes[] = { 0, 63, 64, 127, UINT64_MAX };
	struct lookup lookup = { 0 };

	(void)state;
	for (size_t i = 0; i < N; i++)
		assert_int_equal(
			lookup_add(&lookup, hashes[i % 5] + (i % HASHES) / 5 * 4096, i), 0);
	for (size_t k = 0; k < HASHES; k++) {
		uint64_t hash = hashes[k % 5] + k / 5 * 4096;
		size_t step = 0;

		for (size_t i = k; i < N; i += HASHES)
			assert_int_equal(lookup_next(&lookup, hash, &step), i);
		assert_int_equal(lookup_next(&lookup, hash, &step), SIZE_MAX);
		step = 0;
		assert_int_equal(lookup_next(&lookup, hash + 1000, &step), SIZE_MAX);
	}
	lookup_clear(&lookup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
