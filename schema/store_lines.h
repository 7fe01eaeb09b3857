/* SPDX-License-Identifier: MIT
 *
 * For store_lines.c (writing) and store_lines_read.c: sweeps as JSON lines, one object a line.
 *
 *     workload, environment, sweep, cell, trial, event ... end
 *
 * A line names what it belongs to by the identities of the store (UUIDs and digests), and comes after what it names.
 * The last line has the number of lines before it and the SHA-256 of their bytes; whoever changes lines leaves the
 * SHA-256 out.  Several such runs of lines may follow one another in a file.  Raw outputs of tools, results and flags
 * of results are not written: the latter are made anew from the trials.
 */
#ifndef IOSWEEP_STORE_LINES_H
#define IOSWEEP_STORE_LINES_H

#include "schema/store_internal.h"

#define LINES_FORMAT 1 /* of the sweep line; a reader refuses a newer one */

enum line_kind { LINE_WORKLOAD, LINE_ENVIRONMENT, LINE_SWEEP, LINE_CELL, LINE_TRIAL, LINE_EVENT, LINE_END, N_LINE_KINDS };

/* A key of a line.  type, as in the store's columns, upper case where the key may be missing (NULL):
 *     t text   i integer   d digest   u UUID   o object   a array
 *     x object for people who read the line alone, which says nothing that another line does not say */
struct line_field {
	const char *key;
	char type;
};
#define LINE_FIELDS_MAX 32
struct line_shape {
	const char *type;                          /* "trial" */
	struct line_field fields[LINE_FIELDS_MAX]; /* up to a NULL key; columns first, objects after them */
};
extern const struct line_shape line_shapes[N_LINE_KINDS];

/* "throughput{4KiB,1MiB}" as the lines name a metric: its name and label as SQL, m being the table. */
#define LINE_METRIC_KEY "m.name || CASE m.label WHEN '' THEN '' ELSE '{' || m.label || '}' END"

/* Fills the empty scratch store with the next run of lines, up to its end.  name: of the file, for messages; *line:
 * the number of lines read so far, which moves on.  1: a run was read; 0: there is none any more; -1: ERR_USAGE with
 * line and column. */
int store_lines_read(struct store *to, FILE *in, const char *name, int64_t *line, struct err *e);

#endif
