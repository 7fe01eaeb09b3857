/* SPDX-License-Identifier: MIT
 *
 * For store_lines_read.c, which knows lines and fields, and store_lines_take.c, which knows what each type of line
 * adds to the store.
 */
#ifndef IOSWEEP_STORE_LINES_PRIVATE_H
#define IOSWEEP_STORE_LINES_PRIVATE_H

#include <json-c/json.h>
#include <sha256.h>

#include "schema/store_lines.h"

/* What a field of the newest line says. */
struct value {
	bool is_there;
	const char *text;          /* of the parsed line */
	int64_t integer;
	uint8_t bytes[DIGEST_SIZE]; /* a digest, or the 16 of a UUID */
	struct json_object *json;  /* object or array */
};

/* A workload as the newest sweep calls it, and a metric of a workload as lines call it: each looked up once. */
struct known {
	int64_t id, of; /* of: the sweep, or the workload */
	char *name;     /* owned */
};
struct known_list {
	struct known *at; /* owned */
	size_t n, cap;
};

struct lines_reader {
	struct store *s;
	const char *name;
	FILE *in;
	int64_t number;    /* of the line, from 1 */
	struct text line;
	struct json_tokener *tokener;
	SHA256_CTX sha;
	int64_t n;         /* lines before this one, since the last end */
	struct value v[LINE_FIELDS_MAX];
	/* the newest sweep, cell and environment that lines named */
	uint8_t sweep_uuid[16], cell_config[DIGEST_SIZE], environment[DIGEST_SIZE];
	int64_t sweep_id, cell_id, environment_id;
	struct known_list workloads, metrics;
};

/* ERR_USAGE with line and column (from 1), in bytes. */
#define line_fault(r, column, e, ...) (line_fault_(r, column, e, __VA_ARGS__), err_failed())
void line_fault_(const struct lines_reader *r, size_t column, struct err *e, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Column of a key; 1 if the line does not have it. */
size_t line_key_column(const struct lines_reader *r, const char *key);
#define FAULT(r, key, e, ...) line_fault(r, line_key_column(r, key), e, __VA_ARGS__)

/* All fields of an object into ret; a key that is none of them is a fault.  where: "a metric". */
int line_fields_read(struct lines_reader *r, struct json_object *from, const char *where,
                     const struct line_field *fields, struct value *ret, struct err *e);
/* A field of the newest line, which is of this kind. */
const struct value *line_field(const struct lines_reader *r, enum line_kind kind, const char *key);

/* What the newest line says, into the store. */
int line_add(struct lines_reader *r, enum line_kind kind, struct err *e);
/* Results and their flags, from the trials that were added. */
int lines_results_make(struct store *s, struct err *e);
void lines_names_done(struct lines_reader *r);

#endif
