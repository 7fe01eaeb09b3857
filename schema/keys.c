/* SPDX-License-Identifier: MIT
 *
 * A set of 64-bit keys, for "was this seen before" over some hundred thousand of them; see keys.h.  Open addressing.
 */
#include "schema/keys.h"

#include <stdlib.h>

#include "schema/base/mem.h"

uint64_t keys_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) * UINT64_C(0xff51afd7ed558ccd);

	h ^= h >> 32;
	return h != 0 ? h : 1;
}

static void key_put(struct keys *k, uint64_t key)
{
	size_t i = key & (k->cap - 1);

	while (k->at[i] != 0)
		i = (i + 1) & (k->cap - 1);
	k->at[i] = key;
	k->n++;
}

bool keys_has(const struct keys *k, uint64_t key)
{
	for (size_t i = k->cap > 0 ? key & (k->cap - 1) : 0; k->cap > 0 && k->at[i] != 0; i = (i + 1) & (k->cap - 1))
		if (k->at[i] == key)
			return true;
	return false;
}

void keys_add(struct keys *k, uint64_t key)
{
	if (2 * (k->n + 1) > k->cap) {
		struct keys old = *k;

		*k = (struct keys){ .cap = old.cap > 0 ? 2 * old.cap : 1024 };
		k->at = xcalloc(k->cap, sizeof(*k->at));
		for (size_t i = 0; i < old.cap; i++)
			if (old.at[i] != 0)
				key_put(k, old.at[i]);
		free(old.at);
	}
	key_put(k, key);
}
