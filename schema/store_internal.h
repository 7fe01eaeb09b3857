/* SPDX-License-Identifier: MIT
 *
 * For store*.c only: prepared statements with typed parameters, so that a query function is its SQL and little else.
 *
 *     AUTO_STATEMENT struct statement *st = NULL;
 *
 *     if (statement_open(s, &st, e, "SELECT id, name FROM host WHERE id > ?", "i", id) < 0)
 *             return -1;
 *     while ((rc = statement_next(st, e)) > 0)
 *             ... column_int(st, 0), column_text(st, 1, arena) ...
 *     return rc;
 *
 * Parameters follow the letters of `types`, one for each question mark:
 *     i  int64_t (cast it)              t  const char *, NULL binds NULL
 *     I  int64_t, 0 binds NULL          s  const char *, NULL binds ''
 *     r  double                         u  16 bytes of a UUID      d  32 bytes of a digest
 *     b  const void *, size_t           - binds NULL, takes no argument
 *     x  const char *, NULL binds '', byte for byte
 * Texts and bytes are borrowed until the statement is done with.  But for x, a text is stored as text_add_clean has it.
 */
#ifndef IOSWEEP_STORE_INTERNAL_H
#define IOSWEEP_STORE_INTERNAL_H

#include <sqlite3.h>

#include "schema/store.h"

#define STORE_APPLICATION_ID 0x696f7377 /* "iosw", in the file's header at offset 68 */

struct statement;

struct store {
	sqlite3 *db;
	char *path;       /* owned, for messages */
	const char *source; /* of what a scratch store is being filled with: that is what is damaged then; or NULL */
	enum store_mode mode;
	int depth;        /* of store_begin */
	bool is_doomed;   /* an inner transaction was rolled back: the outermost cannot commit */
	struct statement *cache; /* every prepared statement, most recently used first; owned */
	size_t n_cached;
};

/* Fills e from the state of the connection. what: "record a trial"; shown in front of SQLite's words. */
int store_failed(struct store *s, struct err *e);
/* Whether all texts of a store that others made are clean, its names printable, its numbers finite; ERR_USAGE, that
 * names the column. */
int store_values_check(struct store *s, const char *path, struct err *e);
/* What reports call the host h: several may have one name (localhost), and are different machines all the same. */
#define HOST_LABEL \
	"CASE WHEN (SELECT count(*) FROM host x WHERE x.name = h.name) > 1 THEN h.name || '#' || lower(substr(hex(h.uuid), 1, 6)) ELSE h.name END"

/* The first fault that SQLite finds in a whole file (pragma.html#pragma_quick_check), in one line; "" for none. */
void database_fault(sqlite3 *db, const char *pragma, struct text *ret);
/* "store 'PATH': damaged: ...", with what can be done about it.  Value -1. */
#define store_damaged(s, e, ...) (store_damaged_(s, e, __VA_ARGS__), err_failed())
void store_damaged_(struct store *s, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Prepares (or finds, by its text) a statement and binds its parameters. */
int statement_open(struct store *s, struct statement **ret, struct err *e, const char *sql, const char *types, ...);
int statement_open_v(struct store *s, struct statement **ret, struct err *e, const char *sql, const char *types,
                     va_list ap);
/* 1: a row is there; 0: no more; -1: failed. */
int statement_next(struct statement *st, struct err *e);
/* Gives the statement back to the cache; NULL is fine. */
void statement_done(struct statement *st);
static inline void auto_statement(struct statement **st)
{
	statement_done(*st);
}
#define AUTO_STATEMENT __attribute__((cleanup(auto_statement)))

/* Runs a statement without rows. */
int statement_run(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* Runs an INSERT and gives the new row's id. */
int statement_insert(struct store *s, int64_t *ret_id, struct err *e, const char *sql, const char *types, ...);
/* The integer in the first column of the first row; 1 found, 0 no row (ret untouched) or NULL, -1 failed. */
int statement_int(struct store *s, int64_t *ret, struct err *e, const char *sql, const char *types, ...);
void statements_free(struct store *s);

int64_t column_int(struct statement *st, int i);   /* 0 for NULL */
double column_real(struct statement *st, int i);
bool column_is_null(struct statement *st, int i);
char *column_text(struct statement *st, int i, struct arena *a); /* copy; "" for NULL */
const char *column_borrow(struct statement *st, int i);          /* until the next row; "" for NULL */
char *column_exact(struct statement *st, int i, struct arena *a); /* column_text is clean whoever wrote the store; this is as it is */
size_t column_bytes(struct statement *st, int i, const void **ret); /* until the next row */
/* Copies a blob of exactly n bytes; zeros if it has another length. */
void column_copy(struct statement *st, int i, void *ret, size_t n);

/* The rows gathered in a plain array, as an array of the arena. */
void *rows_keep(struct arena *a, const void *rows, size_t n, size_t size);

enum keep store_keep(const char *name); /* as in sweep.keep */
enum cell_state store_cell_state(const char *name); /* as in cell.state */

/* The inserts that only look when the row is there already. */
int store_axis_id(struct store *s, const char *name, int64_t *ret_id, struct err *e);
int store_metric_id(struct store *s, int64_t workload_id, const struct measured *m, int64_t *ret_id, struct err *e);

/* The end of a cell in its parts: rows of result and result_flag (store_result.c). */
int store_result_rows(struct store *s, int64_t cell_id, struct err *e);

/* Raw text, bounded by STORE_OUTPUT_MAX and zlib-compressed (RFC 1950). */
struct packed {
	uint8_t *data; /* owned */
	size_t n;      /* compressed */
	size_t kept;   /* before compression */
};
void text_pack(const char *data, size_t n, struct packed *ret);
/* -1 if data is not what text_pack made. */
int text_unpack(const void *data, size_t n, size_t kept, struct text *ret);
/* The same where the size before compression is not at hand. */
int text_unpack_any(const void *data, size_t n, struct text *ret);

#endif
