// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looking numbers up in a hash table: open addressing, linear probing, half full.
 *
 *	build/examples/lookup
 *	runpinned -n 25 build/examples/lookup
 *
 * What is timed are 1024 look-ups of keys in no order (inner_loops: the result is for one). Two
 * tables, one that fits a first-level cache and one that does not fit any. Look-ups wait for each
 * other, as they do where the result of one decides what is looked up next: `found` goes into the
 * next key, and qs_hide() keeps the compiler from knowing that it adds nothing.
 */
#include <errno.h>
#include <quiesce/benchmark.h>
#include <stdlib.h>

enum {
	LOOKUPS = 1024,
};

struct table {
	uint32_t *slots; /* 0: empty */
	uint32_t mask;
	uint32_t keys[LOOKUPS];
};

/* Fibonacci hashing (Knuth, volume 3, 6.4). */
static inline uint32_t hash(uint32_t key)
{
	return (uint32_t)(key * 2654435769U) >> 5;
}

static inline uint32_t find(const uint32_t *slots, uint32_t mask, uint32_t key)
{
	uint32_t i = hash(key) & mask;

	while (slots[i] != key && slots[i] != 0)
		i = (i + 1) & mask;
	return slots[i];
}

static void insert(struct table *table, uint32_t key)
{
	uint32_t i = hash(key) & table->mask;

	while (table->slots[i] != 0)
		i = (i + 1) & table->mask;
	table->slots[i] = key;
}

static void free_table(void *state)
{
	struct table *table = state;

	free(table->slots);
	free(table);
}

static int make_table(const struct qs_benchmark *benchmark, void **ret_state)
{
	uint32_t size = (uint32_t)benchmark->argument, x = 2463534242;
	struct table *table = malloc(sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->mask = size - 1;
	table->slots = calloc(size, sizeof(*table->slots));
	if (!table->slots) {
		free(table);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < size / 2; i++) {
		/* Marsaglia's xorshift: every number but 0, once, in no order. */
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		insert(table, x);
		table->keys[i % LOOKUPS] = x;
	}
	*ret_state = table;
	return 0;
}

static void look_up(struct qs_run *run)
{
	const struct table *table = run->state;
	const uint32_t *slots = table->slots, *keys = table->keys;
	uint32_t mask = table->mask, nothing = 0, found = 0;
	uint64_t loops = run->loops, began;

	qs_hide(nothing);
	began = qs_begin(run->sampler);
	for (uint64_t i = 0; i < loops; i++)
		for (size_t j = 0; j < LOOKUPS; j++)
			found = find(slots, mask, keys[j] + (found & nothing));
	qs_keep(found);
	qs_end(run->sampler, began);
}

#define LOOK_UP(what, size)                                                                       \
	{                                                                                         \
		.name = "lookup/" what, .run = look_up, .argument = size, .inner_loops = LOOKUPS, \
		.setup = make_table, .teardown = free_table,                                      \
	}

static const struct qs_benchmark benchmarks[] = {
	LOOK_UP("small", 1 << 12),
	LOOK_UP("large", 1 << 24),
	{ 0 },
};

int main(int argc, char *argv[])
{
	return qs_main(argc, argv, benchmarks);
}
