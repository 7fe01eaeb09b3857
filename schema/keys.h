/* SPDX-License-Identifier: MIT
 *
 * A set of 64-bit keys that are mixed from what they stand for: two of a million are the same once in ten million
 * such sets.
 */
#ifndef IOSWEEP_KEYS_H
#define IOSWEEP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise it; free(at) ends it. */
struct keys {
	uint64_t *at; /* owned; 0: free */
	size_t n, cap;
};
bool keys_has(const struct keys *k, uint64_t key);
/* key: of keys_mix, and not in the set yet. */
void keys_add(struct keys *k, uint64_t key);
/* A key of both; never 0. */
uint64_t keys_mix(uint64_t a, uint64_t b);

#endif
