/* SPDX-License-Identifier: MIT
 *
 * Comma-separated values, RFC 4180, read strictly and one record at a time: memory does not grow with the file.
 * Every field knows its line and column, so that whoever finds fault with it can say where.
 */
#ifndef IOSWEEP_CSV_H
#define IOSWEEP_CSV_H

#include <stdio.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

#define CSV_RECORD_MAX ((size_t)1 << 20) /* bytes of one record */

struct csv_field {
	const char *text; /* until the next record */
	int line, column; /* where it begins, from 1; a quoted one: its quote */
};

struct csv {
	FILE *in;        /* borrowed */
	struct diags *d; /* borrowed */
	char **names;    /* owned: the header */
	size_t n_names;
	struct csv_field *fields; /* of the newest record: as many as names */
	size_t n_fields, cap_fields;
	int line, column; /* of the next character */
	size_t record;    /* number of the newest record, from 1 without the header */
	struct text buf;
	size_t *offsets; /* of each field in buf */
	size_t cap_offsets;
};

/* Reads the header line.  Faults (no header, an empty or a double name, a NUL, invalid UTF-8) are added to d; then
 * -1. */
int csv_begin(struct csv *c, FILE *in, struct diags *d);
/* 1: c->fields is the next record; 0: end of the file; -1: a fault was added to d, after which only csv_end may follow.
 * A record of another number of fields than the header has is a fault that reading goes on after: it is skipped. */
int csv_next(struct csv *c);
void csv_end(struct csv *c);
/* Number of the column with this name, or -1. */
int csv_column(const struct csv *c, const char *name);

#endif
