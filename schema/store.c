/* SPDX-License-Identifier: MIT
 *
 * Opening the store, bringing it to this program's version, transactions, and what SQLite's errors mean to us.
 * Queries are in the other store_*.c.
 *
 * A store is told by its application id; its version is user_version, the number of migrations applied.  A writer
 * compares the whole schema with the one that the migrations make, since a store whose tables are not ours would
 * otherwise fail in the middle of a sweep.  A reader changes nothing, whatever it may write to: where there is no
 * write-ahead log beside the file (a copy), it is opened as immutable, so that SQLite makes none.
 */
#include "schema/store_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sql.h"

static const char *const migrations[] = {
	sql_001_initial,
	sql_002_details_and_times,
};
#define STORE_VERSION ((int)ARRAY_SIZE(migrations))

/* Pages of 4 KiB in the log before a commit copies them back: SQLite's own default, named since a commit that does it
 * is slower.  The log keeps its size afterwards, up to this many bytes. */
#define LOG_BYTES_MAX "67108864"

static bool is_out_of_space(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG;
}

/* The errno behind an I/O error.  SQLite's own idea of it may be overwritten by the time it gives up, but the log
 * remembers its last one (SQLITE_FCNTL_LAST_ERRNO, https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html). */
static int io_errno(struct store *s)
{
	sqlite3_file *log = NULL;
	int errnum = 0;

	if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log != NULL &&
	    log->pMethods != NULL)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &errnum);
	return errnum != 0 ? errnum : sqlite3_system_errno(s->db);
}

void store_damaged_(struct store *s, struct err *e, const char *fmt, ...)
{
	const char *path = s->source != NULL ? s->source : s->path;
	AUTO_FREE char *what = NULL;
	va_list ap;

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	err_set(e, ERR_STORE, "store '%s': damaged: %s", path, what);
	err_hint(e, "stop iosweepd, then put a backup in its place; or save what can still be read ('iosweep export --lines', or .recover of "
	            "sqlite3) and move it and its log away, for an empty one to be made: '%s'", path);
}

void database_fault(sqlite3 *db, const char *pragma, struct text *ret)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(db, pragma, -1, &st, NULL);
	const char *found, *place = "*** in database";

	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	found = code == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : sqlite3_errmsg(db);
	if (found == NULL || strcmp(found, "ok") == 0)
		found = "";
	if (text_starts(found, place) && strchr(found, '\n') != NULL) /* a line about the place, which is the file, before the fault */
		found = strchr(found, '\n') + 1;
	text_add_printable(ret, found, strcspn(found, "\n"));
	sqlite3_finalize(st);
}

int store_failed(struct store *s, struct err *e)
{
	int code = sqlite3_extended_errcode(s->db), errnum = 0;

	if ((code & 0xff) == SQLITE_IOERR)
		errnum = io_errno(s);
	if (code == SQLITE_FULL || is_out_of_space(errnum)) {
		err_set(e, ERR_NO_SPACE, "store '%s': no space left", s->path);
		return err_hint(e, "make room on the filesystem that holds it");
	}
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(e, ERR_BUSY, "store '%s': another process holds its lock", s->path);
	case SQLITE_NOTADB:
		return err_set(e, ERR_STORE, "store '%s': not an SQLite file", s->path);
	case SQLITE_CORRUPT:
		return store_damaged(s, e, "%s", sqlite3_errmsg(s->db));
	}
	if ((code & 0xff) == SQLITE_IOERR)
		return err_set(e, ERR_STORE, "store '%s': %s: %s", s->path, sqlite3_errmsg(s->db),
		               strerror(errnum));
	return err_set(e, ERR_STORE, "store '%s': %s", s->path, sqlite3_errmsg(s->db));
}

static int sql_exec(struct store *s, const char *sql, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_failed(s, e);
}

/* ---- transactions ---- */

int store_begin(struct store *s, struct err *e)
{
	if (s->depth == 0) {
		if (statement_run(s, e, s->mode != STORE_READ ? "BEGIN IMMEDIATE" : "BEGIN", "") < 0)
			return -1;
		s->is_doomed = false;
	}
	s->depth++;
	return 0;
}

static void transaction_undo(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db)) /* a full disk may have ended it already */
		statement_run(s, NULL, "ROLLBACK", "");
}

int store_commit(struct store *s, struct err *e)
{
	assert(s->depth > 0);
	if (--s->depth > 0)
		return 0;
	if (s->is_doomed) {
		transaction_undo(s);
		return err_set(e, ERR_STORE, "store '%s': a part of the transaction failed", s->path);
	}
	if (statement_run(s, e, "COMMIT", "") < 0) {
		transaction_undo(s);
		return -1;
	}
	return 0;
}

void store_rollback(struct store *s)
{
	assert(s->depth > 0);
	s->is_doomed = true;
	if (--s->depth == 0)
		transaction_undo(s);
}

int store_finish(struct store *s, int rc, struct err *e)
{
	if (rc < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, e);
}

/* ---- what kind of file it is ---- */

static int schema_is_empty(struct store *s, bool *ret, struct err *e)
{
	int64_t n = 0;

	if (statement_int(s, &n, e, "SELECT count(*) FROM sqlite_schema", "") < 0)
		return -1;
	*ret = n == 0;
	return 0;
}

/* Checks that the file is a store this program can read; *ret_version 0: empty, to be made. */
static int version_check(struct store *s, int *ret_version, struct err *e)
{
	int64_t application = 0, version = 0;
	bool is_empty = false;

	if (statement_int(s, &application, e, "PRAGMA application_id", "") < 0 ||
	    statement_int(s, &version, e, "PRAGMA user_version", "") < 0 || schema_is_empty(s, &is_empty, e) < 0)
		return -1;
	if (application == 0 && version == 0 && is_empty) {
		*ret_version = 0;
		return 0;
	}
	if (application != STORE_APPLICATION_ID)
		return err_set(e, ERR_STORE, "'%s' is an SQLite file of another program, not a store", s->path);
	if (version > STORE_VERSION) {
		err_set(e, ERR_STORE, "store '%s' has version %lld, this iosweep knows versions up to %d", s->path,
		        (long long)version, STORE_VERSION);
		return err_hint(e, "use the iosweep that made it, or a newer one");
	}
	if (version < 1 || is_empty)
		return store_damaged(s, e, "version %lld does not exist", (long long)version);
	*ret_version = (int)version;
	return 0;
}

/* ---- migrations and views ---- */

static int migrations_run(struct store *s, int from, struct err *e)
{
	char pragma[80];

	for (int i = from; i < STORE_VERSION; i++)
		if (sql_exec(s, migrations[i], e) < 0)
			return err_in(e, "migration %d", i + 1);
	snprintf(pragma, sizeof(pragma), "PRAGMA application_id=%d; PRAGMA user_version=%d", STORE_APPLICATION_ID,
	         STORE_VERSION);
	return sql_exec(s, pragma, e);
}

/* Whether s has this object of the expected schema, word for word: 1, 0, or -1. */
static int object_find(struct store *s, struct statement *object, struct err *e)
{
	int64_t one;

	return statement_int(s, &one, e, "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ? AND sql = ?", "ttt",
	                     column_borrow(object, 0), column_borrow(object, 1), column_borrow(object, 2));
}

/* Every table and index that the migrations make must be in s; others may be there, too.  Views that differ, because
 * another build wrote them, are added to ret_views as SQL that makes them anew. */
static int schema_compare(struct store *s, struct store *expected, struct text *ret_views, struct err *e)
{
	AUTO_STATEMENT struct statement *object = NULL;
	int rc;

	if (statement_open(expected, &object, e, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL",
	                   "") < 0)
		return -1;
	while ((rc = statement_next(object, e)) > 0) {
		const char *type = column_borrow(object, 0), *name = column_borrow(object, 1);
		int found = object_find(s, object, e);

		if (found < 0)
			return -1;
		if (found == 0 && strcmp(type, "view") != 0)
			return store_damaged(s, e, "its %s '%s' is not that of version %d", type, name, STORE_VERSION);
		if (found == 0)
			text_printf(ret_views, "DROP VIEW IF EXISTS %s; %s;", name, column_borrow(object, 2));
	}
	return rc;
}

static int expected_open(struct store *ret, struct err *e)
{
	if (sqlite3_open(":memory:", &ret->db) != SQLITE_OK)
		return store_failed(ret, e);
	if (migrations_run(ret, 0, e) < 0)
		return -1;
	return sql_exec(ret, sql_views, e);
}

static int schema_verify(struct store *s, struct text *ret_views, struct err *e)
{
	struct store expected = { .path = (char *)":memory:", .mode = STORE_WRITE };
	int rc = expected_open(&expected, e);

	if (rc == 0)
		rc = schema_compare(s, &expected, ret_views, e);
	statements_free(&expected);
	sqlite3_close(expected.db);
	return rc;
}

/* Migrates, in one transaction: a store has either its old version or this one. */
static int store_migrate(struct store *s, struct err *e)
{
	AUTO_TEXT struct text views = { 0 };
	int version, rc;

	if (store_begin(s, e) < 0)
		return -1;
	rc = version_check(s, &version, e);
	if (rc == 0 && version < STORE_VERSION)
		rc = migrations_run(s, version, e);
	if (rc == 0)
		rc = schema_verify(s, &views, e);
	if (rc == 0)
		rc = sql_exec(s, text_str(&views), e);
	return store_finish(s, rc, e);
}

/* ---- opening ---- */

/* The file is made here and not by SQLite, for its mode; log and index get the same from SQLite.  The group is the
 * directory's, so that whoever may enter it may read. */
static int file_create(const char *path, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	AUTO_FREE char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	struct stat st;

	if (fd < 0)
		return errno == EEXIST ? 0 : err_sys(e, errno, "create store '%s'", path);
	if (slash != NULL)
		*(slash == dir ? slash + 1 : slash) = '\0';
	if (stat(slash != NULL ? dir : ".", &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) < 0 && errno != EPERM)
		return err_sys(e, errno, "set the group of store '%s'", path);
	return 0;
}

static off_t file_bytes(const char *path, const char *suffix)
{
	AUTO_FREE char *name = xasprintf("%s%s", path, suffix);
	struct stat st;

	return stat(name, &st) == 0 ? st.st_size : -1;
}

/* The path as SQLite's URI, in which '?', '#' and '%' mean something; see https://www.sqlite.org/uri.html. */
static void path_to_uri(const char *path, struct text *ret)
{
	text_add(ret, "file:");
	for (; *path != '\0'; path++) {
		if (strchr("?#%", *path) != NULL)
			text_printf(ret, "%%%02x", (unsigned char)*path);
		else
			text_add_n(ret, path, 1);
	}
}

static int connection_open(struct store *s, struct err *e)
{
	AUTO_TEXT struct text uri = { 0 };
	int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

	path_to_uri(s->path, &uri);
	if (s->mode == STORE_READ && file_bytes(s->path, "-wal") < 0)
		text_add(&uri, "?immutable=1");
	flags |= s->mode != STORE_READ ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	if (sqlite3_open_v2(uri.s, &s->db, flags, NULL) != SQLITE_OK)
		return store_failed(s, e);
	/* SQLite falls back to reading when the file may not be written. */
	if (s->mode != STORE_READ && sqlite3_db_readonly(s->db, "main") == 1) {
		err_sys(e, access(s->path, W_OK) < 0 ? errno : EROFS, "open the store '%s' for writing", s->path);
		return err_hint(e, "only its owner may change it");
	}
	/* What the file says is data: no trigger, no function with side effects, no write to the schema table. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
	return 0;
}

/* FULL: what a commit has said is on the disk.  NORMAL keeps the store intact at a power cut, but loses every commit
 * since the last checkpoint; builds for tests can ask for it, to see that the power cuts would show the loss. */
static const char *synchronous_pragma(bool is_lazy)
{
#ifdef IOSWEEP_TESTING
	const char *wanted = getenv("IOSWEEP_TEST_SYNCHRONOUS");

	if (wanted != NULL && strcmp(wanted, "NORMAL") == 0)
		return "PRAGMA synchronous=NORMAL";
#endif
	return is_lazy ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL";
}

void store_lazy(struct store *s, bool is_lazy)
{
	/* Not inside a transaction (SQLite's pragma.html#pragma_synchronous); takes effect when it is compiled, so
	 * that a kept statement would not do. */
	if (s->depth == 0 && s->mode != STORE_SCRATCH)
		sql_exec(s, synchronous_pragma(is_lazy), NULL);
}

/* How a writer works, before anything is written.  A scratch store refers to what is there by the way it is filled,
 * and goes again: its rows need no check of their own, nor a place on the disk. */
static int writer_prepare(struct store *s, struct err *e)
{
	if (s->mode == STORE_SCRATCH)
		return sql_exec(s, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; PRAGMA cache_size=-16384", e);
	return sql_exec(s, "PRAGMA foreign_keys=ON", e) < 0 ? -1 : sql_exec(s, synchronous_pragma(false), e);
}

static int log_make(struct store *s, struct err *e)
{
	int persist = 1;

	if (sql_exec(s, "PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=" LOG_BYTES_MAX, e) < 0)
		return -1;
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	/* The first access makes the log: until it is there, a reader would take the store for a copy. */
	return sql_exec(s, "SELECT 1 FROM sqlite_schema", e);
}

static int writer_open(struct store *s, struct err *e)
{
	if (file_create(s->path, e) < 0)
		return -1;
	if (file_bytes(s->path, "") == 0 && file_bytes(s->path, "-wal") > 0)
		return store_damaged(s, e, "it is empty, but its log '%s-wal' is not", s->path);
	if (connection_open(s, e) < 0 || writer_prepare(s, e) < 0 || store_migrate(s, e) < 0)
		return -1;
	return s->mode == STORE_SCRATCH ? 0 : log_make(s, e);
}

static int reader_open(struct store *s, struct err *e)
{
	int version;

	if (access(s->path, R_OK) < 0) {
		if (errno != ENOENT)
			return err_sys(e, errno, "open store '%s'", s->path);
		err_set(e, ERR_NOT_FOUND, "store '%s' does not exist", s->path);
		return err_hint(e, "the daemon makes it at its first start; IOSWEEP_DB names another one");
	}
	if (connection_open(s, e) < 0 || version_check(s, &version, e) < 0)
		return -1;
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* 16 MiB instead of 2: a report over years reads the same pages again and again */
	if (sql_exec(s, "PRAGMA cache_size=-16384", e) < 0)
		return -1;
	if (version == STORE_VERSION)
		return 0;
	if (version == 0)
		return err_set(e, ERR_STORE, "store '%s' is empty", s->path);
	err_set(e, ERR_STORE, "store '%s' has version %d, this iosweep reads version %d", s->path, version,
	        STORE_VERSION);
	return err_hint(e, "start this version's iosweepd once: it brings the store up to date");
}

int store_open(const char *path, enum store_mode mode, struct store **ret, struct err *e)
{
	struct store *s = xcalloc(1, sizeof(*s));

	/* Nobody asks SQLite how much memory it uses: without the count an allocation takes no lock.  Refused, and
	 * harmless, once the library is in use. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	/* SQLite follows a symbolic link and puts its log beside the file itself: that is where to look for one. */
	s->path = realpath(path, NULL);
	if (s->path == NULL)
		s->path = xstrdup(path);
	s->mode = mode;
	if ((mode == STORE_READ ? reader_open(s, e) : writer_open(s, e)) < 0) {
		store_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void store_set_patience(struct store *s, int ms)
{
	sqlite3_busy_timeout(s->db, ms);
}

void store_close(struct store *s)
{
	if (s == NULL)
		return;
	statements_free(s);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}
