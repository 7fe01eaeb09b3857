/* SPDX-License-Identifier: MIT
 *
 * Texts to small numbers: a hash table with open addressing, never more than half full.
 */
#include <string.h>

#include "schema/matrix_private.h"

static size_t text_hash(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32);
}

static size_t slot_find(const struct intern *t, const char *text)
{
	size_t i = text_hash(text) & (t->n_slots - 1);

	while (t->slots[i] != 0 && strcmp(t->at[t->slots[i] - 1], text) != 0)
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

static void slots_grow(struct intern *t)
{
	free(t->slots);
	t->n_slots = t->n_slots > 0 ? 2 * t->n_slots : 16;
	t->slots = xcalloc(t->n_slots, sizeof(*t->slots));
	for (size_t i = 0; i < t->n; i++)
		t->slots[slot_find(t, t->at[i])] = (uint32_t)i + 1;
}

uint32_t intern_id(struct intern *t, const char *text)
{
	size_t slot;

	if (2 * (t->n + 1) > t->n_slots)
		slots_grow(t);
	slot = slot_find(t, text);
	if (t->slots[slot] == 0) {
		ARRAY_GROW(t->at, t->n, t->cap);
		t->at[t->n++] = text;
		t->slots[slot] = (uint32_t)t->n;
	}
	return t->slots[slot] - 1;
}

uint32_t intern_find(const struct intern *t, const char *text)
{
	size_t slot = t->n_slots > 0 ? slot_find(t, text) : 0;

	return t->n_slots > 0 && t->slots[slot] != 0 ? t->slots[slot] - 1 : INTERN_NONE;
}

void intern_done(struct intern *t)
{
	free(t->at);
	free(t->slots);
	*t = (struct intern){ 0 };
}
