/* SPDX-License-Identifier: MIT
 *
 * A workload definition as it is inside: how a number is found in an output.  Private to workload*.c and extract*.c.
 *
 *     output -> SOURCE -> rows -> where, label -> value of each row -> combine -> metric
 *
 * A source takes one output apart into rows; a row has named fields (groups of a pattern, fields of a JSON object,
 * columns of a CSV line or of a printed table).  `value` is worked out for every row.  A metric has one source or an
 * ordered list; the first that yields a value is the one that counts.
 */
#ifndef IOSWEEP_DEFINITION_H
#define IOSWEEP_DEFINITION_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "schema/evaluate.h"
#include "schema/extract.h"
#include "schema/workload.h"

enum source_kind {
	SOURCE_FACTS, /* no output: facts, parameters, earlier metrics; one row */
	SOURCE_MATCH,
	SOURCE_JSON,
	SOURCE_CSV,
	SOURCE_GRID
};

enum combine { COMBINE_ONLY, COMBINE_SUM, COMBINE_MEAN, COMBINE_WEIGHTED, COMBINE_LAST, COMBINE_MIN, COMBINE_MAX };

/* How the text of a field becomes a number.  UNIT_TABLE: the words of the definition's own map. */
enum unit_kind {
	UNIT_DECIMAL, /* "93.9m" = 93.9e6, "4.0 GB/s" = 4e9, "21.5 MiB/s" = 21.5 * 2^20 */
	UNIT_BINARY,  /* k m g t are powers of 1024 whatever follows them */
	UNIT_TIME,    /* "5625us" "351ms" "2s" -> nanoseconds */
	UNIT_CLOCK,   /* "0m0.328s", "1:02.5" -> seconds (bash's and time(1)'s) */
	UNIT_TABLE
};

struct unit_word {
	const char *word;
	double factor;
};

struct unit {
	const char *field;
	enum unit_kind kind;
	const struct unit_word *words; /* UNIT_TABLE */
	size_t n;
};

/* A compiled JSON path: steps from the document's root or from the row. */
struct json_step {
	enum { JSON_KEY, JSON_INDEX, JSON_ALL } kind;
	const char *key;
	long index; /* negative: from the end */
};
struct json_path {
	const char *text;
	const struct json_step *steps;
	size_t n;
};

/* One field of a JSON row: the first path that leads to a value. */
struct take {
	const char *name;
	const struct json_path *paths;
	size_t n;
};

/* A CSV dialect: the layout of a line is chosen by its first field. */
struct layout {
	const char *first;  /* value of the first field; NULL: any other */
	const char **names; /* of the fields, "" for one that has none */
	size_t n;
	size_t min;         /* a line may have this many fields or more */
};
struct csv {
	const char *name;
	char separator;
	const struct layout *layouts;
	size_t n;
};

/* A printed table: the words of the heading line give the columns, values stand below them, aligned at their right
 * edge. A line that `also` matches belongs to the row above it: its values are the fields ALSO_COLUMN. */
struct also {
	const char *prefix;
	const pcre2_code *re;
};
struct grid {
	const char *name;
	const pcre2_code *heading;
	const char **columns;
	size_t n;
	size_t n_named; /* columns at the left that are names, not figures: their words need not be numbers */
	const struct also *also;
	size_t n_also;
};

struct source {
	enum source_kind kind;
	const char *text;       /* the pattern, path or name, for messages */
	const char *step, *stream; /* NULL: "run"; either stream */
	const pcre2_code *when, *unless; /* of the same output */
	const pcre2_code *re;
	const struct json_path *rows; /* tried in turn */
	size_t n_rows;
	const struct take *takes;
	size_t n_takes;
	const struct csv *csv;
	const struct grid *grid;
	const char *where, *value, *weight; /* expressions; value NULL: in a rule, a row is enough */
	const struct unit *units;
	size_t n_units;
	const char **growing;   /* fields that rise from report to report of one run: the last report counts */
	size_t n_growing;
	const char **same;      /* fields in which all rows must agree */
	size_t n_same;
	bool once;              /* more than one row in an output is ambiguous */
	const char *each;       /* label with ${field}, ${#}; NULL: no label */
	bool label_if_several;
	enum combine combine;
	int line, column;
};

struct workload_metric {
	const char *name, *unit;
	enum better better;
	bool is_detail; /* of interest beside the others: reported only where it is asked for by name */
	const struct source *sources;
	size_t n_sources;
};

struct rule {
	struct source source;
	const char *reason;
};
enum rule_kind { RULE_COMPLETE, RULE_FAIL, RULE_NO_DATA, RULE_SUSPECT, N_RULES };
struct rules {
	struct rule *at[N_RULES];
	size_t n[N_RULES];
};

/* A field as it stands in the output: text, or already a number. */
struct field {
	const char *s; /* NULL: number */
	size_t n;
	double number;
};

/* Everything found in one output, and what was worked out once for it (JSON documents, tables). */
struct output;

/* One row, valid until the callback returns. */
struct row {
	const struct source *source;
	const struct capture *capture; /* NULL: SOURCE_FACTS */
	int copy;                      /* of the stream it is from, from 1 */
	size_t number;                 /* from 1, within its source over all outputs */
	size_t match;                  /* from 1, within its output */
	size_t document;               /* SOURCE_JSON: which of the output's documents, from 1 */
	const void *data;              /* the source's own */
	int (*get)(const struct row *row, const char *name, struct field *ret); /* -1: no such field */
};
/* Returns 0 to go on, -1 to stop with e filled. */
typedef int (*row_cb)(struct row *row, void *arg, struct err *e);

/* Calls cb for every row of one output.  cache: a place of the caller's for one output (zero it; freed with the
 * arena). */
struct output_cache;
int match_rows(const struct source *s, const struct capture *c, struct row *row, row_cb cb, void *arg, struct err *e);
int json_rows(const struct source *s, const struct capture *c, struct output_cache *cache, struct row *row, row_cb cb,
              void *arg, struct err *e);
int csv_rows(const struct source *s, const struct capture *c, struct row *row, row_cb cb, void *arg, struct err *e);
int grid_rows(const struct source *s, const struct capture *c, struct output_cache *cache, struct row *row, row_cb cb,
              void *arg, struct err *e);

/* What a search fills in; pcre2_match_data_free.  Its memory is malloc's: a compiled pattern's own is an arena's,
 * where each search would leave some kilobytes for as long as the definition lives. */
pcre2_match_data *pattern_match_data(const pcre2_code *re);
/* One search with limits on steps and depth, so that a catastrophic pattern ends: 1 found, 0 not, -1 ERR_TOOL. */
int pattern_search(const pcre2_code *re, const char *s, size_t n, size_t from, pcre2_match_data *ret, struct err *e);
/* 1 or 0: does it occur at all. */
int pattern_occurs(const pcre2_code *re, const char *s, size_t n, struct err *e);
/* Compiles into the arena (nothing to free).  ERR_USAGE with what PCRE2 says and where. */
int pattern_compile(struct arena *a, const char *pattern, const pcre2_code **ret, struct err *e);
/* Number of the group with this name, or -1. */
int pattern_group(const pcre2_code *re, const char *name);

/* "$.jobs[*].read.\"x\"", ".a.b[0]", "a[-1]".  ERR_USAGE with the place. */
int json_path_parse(struct arena *a, const char *text, struct json_path *ret, struct err *e);

/* Number of a field under a unit table: 1 and the number; 0 absent (empty, or no number in it and none meant); -1 if
 * it is text that is no number, like "nan". */
/* Begins like nan or inf, with or without a sign; or looks like a number and cannot be one (1e999). */
bool field_is_nonsense(const char *s, size_t n);
int unit_value(const struct unit *unit, const char *s, size_t n, double *ret);
const struct unit *unit_of(const struct source *s, const char *field);

/* The facts that every trial has (extract.h); for the check of variables. */
bool fact_is_known(const char *name);

/* Reads metrics:, sources:, csv:, grids: and the rules of a definition into w.  In workload_metric.c. */
int metrics_read(struct workload *w, const struct node *root, struct evaluator *ev, struct diags *d);

#endif
