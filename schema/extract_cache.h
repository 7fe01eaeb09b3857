/* SPDX-License-Identifier: MIT
 *
 * What was worked out once for one output and serves all metrics: its JSON documents, its printed tables.  Private to
 * extract*.c.
 */
#ifndef IOSWEEP_EXTRACT_CACHE_H
#define IOSWEEP_EXTRACT_CACHE_H

#include "schema/definition.h"
#include "schema/json_read.h"

/* One row of a printed table: a field per column, then the columns of its `also` lines. */
struct table_row {
	struct field *at; /* s NULL: nothing stands there */
};
struct table {
	const struct grid *grid;
	struct table_row *rows;
	size_t n;
};

struct output_cache {
	struct arena *arena;
	struct json_documents documents;
	bool has_documents;
	struct table tables[8];
	size_t n_tables;
};

const struct json_documents *output_documents(struct output_cache *cache, const struct capture *c);

#endif
