/* SPDX-License-Identifier: MIT
 *
 * The filter language: whatever a user types is terms or one fault with its column.
 */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <string.h>

#include "schema/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *word = arena_strndup(a, (const char *)data, n);
	struct err e = { 0 };
	struct filter f;

	if (filter_parse(&word, 1, a, &f, &e) < 0) {
		assert(e.kind == ERR_USAGE && strstr(e.text, "column") != NULL);
		return 0;
	}
	for (size_t i = 0; i < f.n; i++) {
		assert(f.at[i].n_values > 0 && f.at[i].key[0] != '\0');
		filter_matches(&f.at[i], "2097152");
		filter_matches(&f.at[i], word);
	}
	return 0;
}
