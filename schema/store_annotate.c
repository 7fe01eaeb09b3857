/* SPDX-License-Identifier: MIT
 *
 * What people add to a sweep afterwards: a note, labels; and the copy of the whole store.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/store_internal.h"
#include "schema/store_merge.h"

int store_annotate(struct store *s, int64_t sweep_id, const char *note, struct err *e)
{
	return statement_run(s, e, "UPDATE sweep SET note = ?, note_ms = ? WHERE id = ?", "sii", note, now_ms(),
	                     sweep_id);
}

int store_label(struct store *s, int64_t sweep_id, const char *name, const char *value, struct err *e)
{
	return statement_run(s, e,
	                     "INSERT INTO sweep_label (sweep_id, name, value, set_ms) SELECT ?1, ?2, ?3, ?4 WHERE ?3 <> '' OR EXISTS "
	                     "(SELECT 1 FROM sweep_label WHERE sweep_id = ?1 AND name = ?2) "
	                     "ON CONFLICT (sweep_id, name) DO UPDATE SET value = excluded.value, set_ms = excluded.set_ms", "itti",
	                     sweep_id, name, value, now_ms());
}

int store_labels(struct store *s, int64_t sweep_id, struct arena *a, struct sweep_label **ret, size_t *ret_n,
                 struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t n = 0;
	int rc;

	if (statement_int(s, &n, e, "SELECT count(*) FROM sweep_label WHERE sweep_id = ?", "i", sweep_id) < 0 ||
	    statement_open(s, &st, e,
	                   "SELECT name, value FROM sweep_label WHERE sweep_id = ? AND value <> '' ORDER BY name", "i",
	                   sweep_id) < 0)
		return -1;
	*ret = arena_array(a, (size_t)n + 1, sizeof(**ret));
	*ret_n = 0;
	while ((rc = statement_next(st, e)) > 0 && *ret_n < (size_t)n)
		(*ret)[(*ret_n)++] = (struct sweep_label){ column_text(st, 0, a), column_text(st, 1, a) };
	return rc < 0 ? -1 : 0;
}

/* All pages in one step: under the write-ahead log that is one snapshot, and no writer is kept waiting. */
static int pages_copy(struct store *s, sqlite3 *to, const char *path, struct err *e)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", s->db, "main");
	int code;

	if (b == NULL)
		return err_set(e, ERR_STORE, "copy to '%s': %s", path, sqlite3_errmsg(to));
	sqlite3_backup_step(b, -1);
	code = sqlite3_backup_finish(b);
	if (code == SQLITE_FULL)
		return err_set(e, ERR_NO_SPACE, "copy to '%s': no space left", path);
	return code == SQLITE_OK ? 0 : err_set(e, ERR_STORE, "copy to '%s': %s", path, sqlite3_errstr(code));
}

static int copy_check(struct store *s, sqlite3 *db, struct err *e)
{
	AUTO_TEXT struct text fault = { 0 };

	database_fault(db, "PRAGMA integrity_check(1)", &fault);
	return fault.n == 0 ? 0 : store_damaged(s, e, "%s", fault.s);
}

static int file_sync(const char *path, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(e, errno, "write '%s'", path) : 0;
}

int store_backup(struct store *s, const char *path, struct err *e)
{
	AUTO_FREE char *part = xasprintf("%s.part", path);
	AUTO_CLOSE int fd = -1;
	sqlite3 *to = NULL;
	int rc;

	if (access(path, F_OK) == 0)
		return err_set(e, ERR_USAGE, "'%s' exists", path), err_hint(e, "name a file that is not there yet");
	fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0)
		return err_sys(e, errno, "create '%s'", part);
	rc = sqlite3_open_v2(part, &to, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK
	             ? pages_copy(s, to, path, e)
	             : err_set(e, ERR_STORE, "create '%s': %s", part, sqlite3_errmsg(to));
	/* a single file: the log of the original stays with the original */
	if (rc == 0 && sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK)
		rc = err_set(e, ERR_STORE, "copy to '%s': %s", path, sqlite3_errmsg(to));
	if (rc == 0)
		rc = copy_check(s, to, e);
	sqlite3_close(to);
	if (rc == 0)
		rc = file_sync(part, e);
	if (rc == 0 && link(part, path) < 0)
		rc = err_sys(e, errno, "create '%s'", path);
	unlink(part);
	return rc;
}
