/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FNV-1a with 64 bits (Fowler, Noll and Vo: draft-eastlake-fnv). Each step is reversible, so two
 * texts of one length that differ in one byte never have the same hash. It is no protection against
 * somebody who looks for a text with a given hash.
 */
#ifndef QUIESCE_BASE_HASH_H
#define QUIESCE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

/* Continues a hash with n more bytes; begin with HASH_START. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

#endif
