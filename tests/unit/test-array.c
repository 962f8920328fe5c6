// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* There is always room for one more, and what was in the array stays in it. */
static void test_grow(void **state)
{
	enum {
		N = 20 * 1000,
	};
	size_t n = 0, capacity = 0, n_moves = 0;
	uint32_t *items = NULL;

	(void)state;
	while (n < N) {
		size_t before = capacity;

		assert_int_equal(array_grow(&items, sizeof(*items), n, &capacity), 0);
		assert_true(capacity > n);
		n_moves += capacity != before;
		items[n] = (uint32_t)n;
		n++;
	}
	for (size_t i = 0; i < N; i++)
		assert_int_equal(items[i], i);
	assert_true(n_moves < 30);
	free(items);
}

/* Without this option AddressSanitizer ends the program where an allocation fails. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void test_too_large(void **state)
{
	size_t capacity = 1;
	char *items = malloc(1), *before = items;

	(void)state;
	assert_non_null(items);
	assert_int_equal(array_grow(&items, SIZE_MAX / 8, 1, &capacity), -ENOMEM);
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 1);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
