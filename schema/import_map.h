/* SPDX-License-Identifier: MIT
 *
 * The map of `iosweep import --csv FILE --map MAP.yaml`: which columns of a published table are axes, metrics, facts.
 *
 *     import: md1120                          # the plan's name in the store
 *     about: 24-disk RAID 10 on a PERC 6/E
 *     source: where it was published
 *     published: 2008-11-20                   # becomes the time of its trials
 *     keep: median                            # what a figure is: median, mean (with of: N runs) or single
 *     of: 3
 *     host: {value: pe1950}                   # or {column: host}: one sweep a host
 *     join: {file: md1120_tests.csv, on: test}   # further columns, from a file beside the map
 *     repetition: {column: trial}             # each row is a trial, not a figure made of several
 *     rows: {kind: dd}                        # only the rows where column kind is dd
 *     environment: {kernel.release: {value: 2.6.18}, tool.bonnie++: {column: bonnie_version}}
 *     axes: {filesystem: {column: filesystem}, readahead: {column: readahead_sectors, unit: sectors}}
 *     workloads: {dd-write: {needs: [dd], params: {bs: 8KiB}}}
 *     metrics: {dd-write.throughput: {column: dd_write_mb_s, unit: MB/s, better: higher}}
 *     flags: {approximate: {column: approximate, is: yes}}
 *
 * A field is {column: NAME} or {value: TEXT}; `values: {from: to}` translates what stands in the column.  A metric
 * may also have `where: {column: value}` (it stands in those rows only), `optional: yes` (an empty field is not
 * measured) and `label:`.  Nothing of this file touches the store.
 */
#ifndef IOSWEEP_IMPORT_MAP_H
#define IOSWEEP_IMPORT_MAP_H

#include "schema/axis.h"
#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/csv.h"
#include "schema/model.h"
#include "schema/unit.h"

struct import_pair {
	const char *from, *to;
};
struct import_field {
	const char *column;  /* or NULL */
	const char *value;   /* constant, if column is NULL */
	const char *unit;    /* of the column's numbers, or NULL */
	struct import_pair *values;
	size_t n_values;
	int index;           /* of the column: below the CSV's number of columns, or beyond it in the joined file; -1: constant */
	int line, column_at; /* in the map */
};
struct import_where {
	const char *column, *value;
	int index, line, column_at;
};
struct import_axis {
	const char *name;
	const struct axis *def;
	struct import_field field;
};
struct import_metric {
	size_t workload;            /* index */
	const char *name, *label;
	const char *unit;           /* base unit, as stored */
	double factor;              /* value in base = figure * factor */
	enum better better;
	bool is_optional;
	struct import_field field;
	struct import_where *where;
	size_t n_where;
};
struct import_workload {
	const char *name;
	const char *definition; /* YAML text made of the map */
	const char *parameters; /* JSON object */
	struct import_pair *params;
	size_t n_params;
	const char **needs;
	size_t n_needs;
};
struct import_fact {
	const char *key;
	struct import_field field;
};
struct import_flag {
	const char *name, *is;
	struct import_field field;
};
struct import_map { /* all in the arena */
	const char *name, *about, *source, *text;
	size_t n_text;
	int64_t published_ms;
	enum keep keep;
	int of; /* runs behind a figure; 1 unless stated */
	struct import_field host;
	bool has_repetition;
	struct import_field repetition;
	const char *join_file, *join_on; /* NULL: none */
	int join_line, join_column;
	struct import_where *rows;
	size_t n_rows;
	struct import_axis *axes;
	size_t n_axes;
	struct import_workload *workloads;
	size_t n_workloads;
	struct import_metric *metrics;
	size_t n_metrics;
	struct import_fact *facts;
	size_t n_facts;
	struct import_flag *flags;
	size_t n_flags;
};

/* Reads a map; faults go to d with line and column, all of them, then -1. */
int import_map_read(struct arena *a, const char *data, size_t n, struct diags *d, struct import_map *ret);
/* Finds the map's columns among the table's (and the joined file's, NULL: none); what is missing goes to d, with the
 * nearest name. */
int import_map_bind(struct import_map *m, const struct csv *table, const struct csv *joined, struct diags *d);

#endif
