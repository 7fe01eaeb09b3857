/* SPDX-License-Identifier: MIT
 *
 * The layouts of `iosweep show`, also printed at the end of `submit --wait`.
 */
#ifndef IOSWEEP_CLI_SHOW_H
#define IOSWEEP_CLI_SHOW_H

#include "cli/options.h"
#include "cli/report.h"

struct json_object;

/* The table as `show` without options prints it, or its JSON. */
int show_sweep(struct store *s, int64_t sweep_id, bool as_json, struct err *e);

/* One row a cell.  o: OPTIONS_TABLE of the command, or NULL: a table for people, all columns. */
int show_cells(const struct report *r, const struct options *o, struct err *e);
/* One row for each combination of the axes that vary, but those of `by` (comma-separated), whose values become columns;
 * rows: axes that come first, or NULL.  The best of each column is marked, so standings are made anew. */
int show_pivot(struct report *r, const char *by, const char *rows, const struct options *o, struct err *e);
/* One row a trial, attempts that failed included. */
int show_trials(const struct report *r, struct store *s, const struct options *o, struct err *e);
/* The shape that scripts rely on (iosweep(1)). trials: with the trials, too. */
int show_json(const struct report *r, struct store *s, bool trials, struct err *e);

/* "READAHEAD": a column's title (arena). */
const char *show_title(struct arena *a, const char *name);
/* What people read above and below each of the tables. */
void show_head(const struct report *r, FILE *out);
void show_notes(const struct report *r, FILE *out);

#endif
