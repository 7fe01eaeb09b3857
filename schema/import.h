/* SPDX-License-Identifier: MIT
 *
 * A published table into the store, by its map (import_map.h).  Everything or nothing.
 */
#ifndef IOSWEEP_IMPORT_H
#define IOSWEEP_IMPORT_H

#include "schema/store.h"

struct import_sweep {
	int64_t id;
	const char *host; /* arena */
	size_t n_figures; /* 0 if it was there already */
	bool is_known;    /* imported before */
};
struct import_report {
	struct import_sweep *sweeps; /* arena */
	size_t n_sweeps;
	size_t n_rows, n_skipped; /* rows of the table; those without a figure that the map asks for */
};

/* Faults of the map and of the table go to their diags (both initialised by the caller), with line and column; then
 * -1 with ERR_USAGE, and nothing was written. */
int import_table(struct store *s, const char *csv_path, const char *map_path, struct arena *a, struct diags *map_faults,
                 struct diags *csv_faults, struct import_report *ret, struct err *e);

#endif
