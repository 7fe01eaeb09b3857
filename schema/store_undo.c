/* SPDX-License-Identifier: MIT
 *
 * The undo journal: what the machine was like before the first change.  An entry is committed before the change it is
 * for, and stays pending until it was put back, dropped, or has failed.  Paths and values are kept byte for byte.
 */
#include "schema/store_internal.h"

static int undo_write(struct store *s, int64_t sweep_id, const struct undo_entry *u, int64_t *ret_id, struct err *e)
{
	int found = statement_int(s, ret_id, e,
	                          "SELECT id FROM undo WHERE sweep_id = ? AND kind = ? AND object = ? AND state = 'pending'",
	                          "itx", sweep_id, u->kind, u->object);

	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(s, ret_id, e,
	                        "INSERT INTO undo (sweep_id, boot_id, step, kind, object, identity, original, at_ms) "
	                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "itttxxxi",
	                        sweep_id, u->boot_id, u->step, u->kind, u->object, u->identity, u->original, now_ms());
}

int store_undo_add(struct store *s, int64_t sweep_id, const struct undo_entry *u, int64_t *ret_id, struct err *e)
{
	int64_t id = 0;

	if (store_begin(s, e) < 0 || store_finish(s, undo_write(s, sweep_id, u, &id, e), e) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

int store_undo_pending(struct store *s, int64_t sweep_id, struct arena *a, struct undo_entry **ret, size_t *ret_n,
                       struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct undo_entry *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT id, boot_id, step, kind, object, identity, original FROM undo "
	                   "WHERE sweep_id = ? AND state = 'pending' ORDER BY id DESC", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		at[n++] = (struct undo_entry){
			.id = column_int(st, 0),
			.boot_id = column_text(st, 1, a),
			.step = column_text(st, 2, a),
			.kind = column_text(st, 3, a),
			.object = column_exact(st, 4, a),
			.identity = column_exact(st, 5, a),
			.original = column_exact(st, 6, a),
		};
	}
	if (rc < 0)
		return -1;
	*ret = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}

int store_undo_end(struct store *s, int64_t undo_id, struct arena *a, const char **ret_state, const char **ret_reason,
                   struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT state, reason FROM undo WHERE id = ?", "i", undo_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "the journal has no entry %lld", (long long)undo_id);
	*ret_state = column_text(st, 0, a);
	*ret_reason = column_text(st, 1, a);
	return 0;
}

int store_undo_finish(struct store *s, int64_t undo_id, const char *state, const char *reason, struct err *e)
{
	int rc;

	store_lazy(s, true);
	rc = statement_run(s, e, "UPDATE undo SET state = ?, reason = ? WHERE id = ?", "tsi", state, reason, undo_id);
	store_lazy(s, false);
	return rc;
}
