/* SPDX-License-Identifier: MIT
 *
 * Rows for programs, written as they come: JSON, CSV, raw.  For listings that do not fit into a struct table.
 */
#ifndef IOSWEEP_CLI_STREAM_H
#define IOSWEEP_CLI_STREAM_H

#include "cli/table.h"

struct stream_value {
	enum { STREAM_EMPTY, STREAM_TEXT, STREAM_INTEGER, STREAM_NUMBER } kind;
	const char *text; /* borrowed */
	int64_t integer;
	double number;
};
struct stream {
	FILE *out;
	enum table_format format; /* TABLE_JSON, TABLE_CSV or TABLE_RAW */
	const char *const *names; /* borrowed */
	size_t *chosen;           /* owned */
	size_t n_chosen, n_rows;
};
/* columns: as --columns, or NULL for all.  Writes the head.  ERR_USAGE for an unknown column. */
int stream_begin(struct stream *s, const char *name, enum table_format format, const char *const *names, size_t n,
                 const char *columns, FILE *out, struct err *e);
void stream_row(struct stream *s, const struct stream_value *values);
void stream_end(struct stream *s);
/* The same row into a table whose columns are these. */
void stream_to_table(struct table *t, const struct stream_value *values, size_t n);

#endif
