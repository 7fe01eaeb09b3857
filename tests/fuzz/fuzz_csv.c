/* SPDX-License-Identifier: MIT
 *
 * Tables of comma-separated values, and maps of them (what follows the first NUL is the map).
 */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "schema/import_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_ARENA struct arena *a = arena_new();
	const uint8_t *nul = memchr(data, '\0', n);
	size_t n_table = nul != NULL ? (size_t)(nul - data) : n;
	struct diags d, map_faults;
	struct import_map map;
	struct csv csv;
	FILE *in = n_table > 0 ? fmemopen((void *)data, n_table, "r") : NULL;

	if (in == NULL)
		return 0;
	diags_init(&d, "table");
	diags_init(&map_faults, "map");
	if (csv_begin(&csv, in, &d) == 0) {
		if (nul != NULL && import_map_read(a, (const char *)nul + 1, n - n_table - 1, &map_faults, &map) == 0)
			import_map_bind(&map, &csv, NULL, &map_faults);
		while (csv_next(&csv) > 0)
			for (size_t i = 0; i < csv.n_fields; i++)
				assert(csv.fields[i].line > 0 && csv.fields[i].column > 0);
	} else {
		assert(d.n > 0);
	}
	csv_end(&csv);
	diags_done(&d);
	diags_done(&map_faults);
	fclose(in);
	return 0;
}
