/* SPDX-License-Identifier: MIT
 *
 * The store as a file: made, opened again, refused, read by others, full, locked.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "daemon/worker/namespace.h"
#include "schema/store_internal.h"
#include "schema/store_merge.h"

/* Runs fn in a child; its return value is the exit status, which must be 0. */
static void in_child(struct fixture *f, int (*fn)(struct fixture *f))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fn(f));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with status 0x%x", (unsigned)status);
}

static void file_sql(struct fixture *f, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void store_shut(struct fixture *f)
{
	store_close(TAKE(f->s));
}

/* The message with the path in place of %s. */
static const char *with_path(struct fixture *f, const char *before, const char *after)
{
	return arena_printf(f->a, "%s%s%s", before, f->path, after);
}

static int file_count(struct fixture *f)
{
	DIR *dir = opendir(f->dir);
	int n = 0;

	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 2;
}

/* ---- made and opened again ---- */

static void a_new_store_has_our_id_a_version_a_log_and_no_access_for_others(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_string_equal(fixture_sql(f, "PRAGMA application_id"), "1768911735");
	assert_string_equal(fixture_sql(f, "PRAGMA user_version"), "2");
	assert_string_equal(fixture_sql(f, "PRAGMA journal_mode"), "wal");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void every_table_is_strict(void **state)
{
	assert_string_equal(fixture_sql(*state, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
	                                        "AND name NOT LIKE 'sqlite%' AND NOT strict"), "0");
}

static void opening_again_keeps_what_is_there(void **state)
{
	struct fixture *f = *state;
	struct sweep sweep;

	store_shut(f);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	OK(store_sweep_get(f->s, f->sweep, f->a, &sweep, &f->e));
	assert_string_equal(sweep.plan_name, "demo");
	assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
}

static void views_of_another_build_are_made_anew_and_views_of_users_stay(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	file_sql(f, "DROP VIEW trials; CREATE VIEW trials AS SELECT 1 AS old; CREATE VIEW mine AS SELECT 2 AS two");
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM trials"), "0");
	assert_string_equal(fixture_sql(f, "SELECT two FROM mine"), "2");
}

static void an_inner_rollback_dooms_the_outer_transaction(void **state)
{
	struct fixture *f = *state;

	OK(store_begin(f->s, &f->e));
	OK(store_event(f->s, f->sweep, "note", &f->e, "outer"));
	OK(store_begin(f->s, &f->e));
	store_rollback(f->s);
	FAILS(store_commit(f->s, &f->e), ERR_STORE, with_path(f, "store '", "': a part of the transaction failed"));
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM event WHERE kind = 'note'"), "0");
	OK(store_event(f->s, f->sweep, "note", &f->e, "after"));
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'note'"), "after");
}

/* A store as the first version made it. */
static void first_version(struct fixture *f)
{
	AUTO_TEXT struct text schema = { 0 };

	unlink(f->path);
	OK(file_read(AT_FDCWD, "schema/sql/001-initial.sql", 1 << 20, &schema, &f->e));
	file_sql(f, text_str(&schema));
	file_sql(f, "PRAGMA application_id = 1768911735; PRAGMA user_version = 1;"
	            "INSERT INTO host (uuid, name) VALUES (randomblob(16), 'db1');"
	            "INSERT INTO plan (digest, name, source) VALUES (zeroblob(32), 'old', 'plan: old');"
	            "INSERT INTO sweep (uuid, plan_id, host_id, state, target_kind, target, submitter_uid, submitter_gid, submitter, "
	            "cells, trials_per_cell, keep, submitted_ms) VALUES (randomblob(16), 1, 1, 'done', 'image', '4GiB', 0, 0, 'root', 1, "
	            "1, 'median', 1);"
	            "INSERT INTO sweep_label VALUES (1, 'rack', 'b7')");
}

static void an_older_store_is_brought_up_to_date_with_all_its_rows(void **state)
{
	struct fixture *f = *state;
	const char *old = arena_printf(f->a, "%s/old.db", f->dir);
	struct merge_report r;

	store_shut(f);
	first_version(f);
	FAILS(store_open(f->path, STORE_READ, &f->s, &f->e), ERR_STORE,
	      with_path(f, "store '", "' has version 1, this iosweep reads version 2"));
	assert_string_equal(f->e.hint, "start this version's iosweepd once: it brings the store up to date");
	assert_int_equal(rename(f->path, old), 0);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	OK(store_import_file(f->s, old, &r, &f->e)); /* of a host that has not been updated yet */
	assert_int_equal(r.sweeps_new, 1);
	store_shut(f);
	assert_string_equal(fixture_sql(f, "SELECT name || value || set_ms FROM sweep_label"), "rackb70");
	assert_int_equal(rename(old, f->path), 0);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	store_shut(f);
	assert_string_equal(fixture_sql(f, "PRAGMA user_version"), "2");
	assert_string_equal(fixture_sql(f, "SELECT p.name || l.name || value || set_ms || note_ms FROM sweep w JOIN plan p ON p.id = plan_id "
	                                   "JOIN sweep_label l ON l.sweep_id = w.id"), "oldrackb700");
}

/* ---- refused ---- */

static void a_newer_store_is_refused_by_reader_and_writer(void **state)
{
	struct fixture *f = *state;
	const char *text = with_path(f, "store '", "' has version 7, this iosweep knows versions up to 2");

	store_shut(f);
	file_sql(f, "PRAGMA user_version = 7");
	FAILS(store_open(f->path, STORE_WRITE, &f->s, &f->e), ERR_STORE, text);
	FAILS(store_open(f->path, STORE_READ, &f->s, &f->e), ERR_STORE, text);
	assert_string_equal(f->e.hint, "use the iosweep that made it, or a newer one");
}

static void the_database_of_another_program_is_refused_and_left_alone(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	unlink(f->path);
	file_sql(f, "CREATE TABLE theirs (x)");
	FAILS(store_open(f->path, STORE_WRITE, &f->s, &f->e), ERR_STORE,
	      with_path(f, "'", "' is an SQLite file of another program, not a store"));
	FAILS(store_open(f->path, STORE_READ, &f->s, &f->e), ERR_STORE,
	      with_path(f, "'", "' is an SQLite file of another program, not a store"));
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM sqlite_schema"), "1");
	assert_string_equal(fixture_sql(f, "PRAGMA journal_mode"), "delete");
}

static void a_file_that_is_not_sqlite_is_refused(void **state)
{
	struct fixture *f = *state;
	int fd;

	store_shut(f);
	unlink(f->path);
	fd = open(f->path, O_WRONLY | O_CREAT, 0640);
	assert_int_equal(write(fd, "plan: demo\nabout: this is a plan and not a store\n", 49), 49);
	close(fd);
	FAILS(store_open(f->path, STORE_WRITE, &f->s, &f->e), ERR_STORE, with_path(f, "store '", "': not an SQLite file"));
	FAILS(store_open(f->path, STORE_READ, &f->s, &f->e), ERR_STORE, with_path(f, "store '", "': not an SQLite file"));
}

static void a_store_cut_short_is_refused(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	store_shut(f);
	unlink(arena_printf(f->a, "%s-wal", f->path));
	unlink(arena_printf(f->a, "%s-shm", f->path));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(truncate(f->path, st.st_size / 2), 0);
	assert_int_equal(store_open(f->path, STORE_WRITE, &f->s, &f->e), -1);
	assert_string_equal(f->e.text, with_path(f, "store '", "': damaged: database disk image is malformed"));
	assert_non_null(strstr(f->e.hint, ".recover"));
	assert_non_null(strstr(f->e.hint, f->path));
	assert_int_equal(truncate(f->path, 60), 0);
	assert_int_equal(store_open(f->path, STORE_WRITE, &f->s, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_STORE);
}

static void an_empty_file_beside_a_full_log_is_not_made_into_a_store(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *log = xasprintf("%s-wal", f->path);
	int fd;

	store_shut(f);
	assert_int_equal(truncate(f->path, 0), 0);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	FAILS(store_open(f->path, STORE_WRITE, &f->s, &f->e), ERR_STORE,
	      arena_printf(f->a, "store '%s': damaged: it is empty, but its log '%s-wal' is not", f->path, f->path));
}

static void a_writer_refuses_a_schema_that_is_not_ours(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	file_sql(f, "ALTER TABLE trial ADD COLUMN colour TEXT");
	FAILS(store_open(f->path, STORE_WRITE, &f->s, &f->e), ERR_STORE,
	      with_path(f, "store '", "': damaged: its table 'trial' is not that of version 2"));
	unlink(f->path);
	file_sql(f, "PRAGMA application_id = 1768911735; PRAGMA user_version = 1; CREATE TABLE host (id)");
	assert_int_equal(store_open(f->path, STORE_WRITE, &f->s, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_STORE);
}

static void triggers_in_a_foreign_file_do_not_fire(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	file_sql(f, "CREATE TRIGGER bad AFTER INSERT ON event BEGIN DELETE FROM sweep; END");
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	OK(store_event(f->s, f->sweep, "note", &f->e, "x"));
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM sweep"), "1");
}

/* ---- read ---- */

static void a_reader_of_nothing_is_told_who_makes_it(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	FAILS(store_open("/nonexistent/iosweep.db", STORE_READ, &f->s, &f->e), ERR_NOT_FOUND,
	      "store '/nonexistent/iosweep.db' does not exist");
	assert_string_equal(f->e.hint, "the daemon makes it at its first start; IOSWEEP_DB names another one");
	assert_int_equal(truncate(f->path, 0), 0);
	FAILS(store_open(f->path, STORE_READ, &f->s, &f->e), ERR_STORE, with_path(f, "store '", "' is empty"));
}

static void a_reader_cannot_write(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	OK(store_open(f->path, STORE_READ, &f->s, &f->e));
	assert_int_equal(store_event(f->s, 1, "note", &f->e, "x"), -1);
	assert_string_equal(f->e.text, with_path(f, "store '", "': attempt to write a readonly database"));
}

static void reading_a_copy_makes_no_file_beside_it(void **state)
{
	struct fixture *f = *state;
	struct sweep sweep;
	struct stat before, after;

	store_shut(f);
	unlink(arena_printf(f->a, "%s-wal", f->path));
	unlink(arena_printf(f->a, "%s-shm", f->path));
	assert_int_equal(stat(f->path, &before), 0);
	OK(store_open(f->path, STORE_READ, &f->s, &f->e));
	OK(store_sweep_get(f->s, f->sweep, f->a, &sweep, &f->e));
	assert_int_equal(file_count(f), 1);
	store_shut(f);
	assert_int_equal(file_count(f), 1);
	assert_int_equal(stat(f->path, &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

#define READER 12345 /* uid and gid of nobody on the host */

static int read_as_another(struct fixture *f)
{
	struct store *s;
	struct sweep *sweeps;
	size_t n;

	if (setgroups(0, NULL) < 0 || setgid(READER) < 0 || setuid(READER) < 0)
		return 2;
	if (access(f->path, W_OK) == 0)
		return 3;
	if (store_open(f->path, STORE_READ, &s, &f->e) < 0 || store_sweep_list(s, 0, f->a, &sweeps, &n, &f->e) < 0) {
		fprintf(stderr, "# %s\n", f->e.text);
		return 4;
	}
	store_close(s);
	return n == 1 && strcmp(sweeps[0].plan_name, "demo") == 0 ? 0 : 5;
}

/* A directory as the daemon's: 0750, of a group. */
static void group_give(struct fixture *f)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (chown(arena_printf(f->a, "%s%s", f->path, suffixes[i]), 0, READER) < 0)
			assert_int_equal(errno, ENOENT);
	assert_int_equal(chown(f->dir, 0, READER), 0);
	assert_int_equal(chmod(f->dir, 0750), 0);
}

static void a_group_member_reads_while_a_writer_is_there(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	group_give(f);
	in_child(f, read_as_another);
	OK(store_event(f->s, f->sweep, "note", &f->e, "written in between"));
	in_child(f, read_as_another);
}

static void a_group_member_reads_when_no_writer_is_there(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	group_give(f);
	store_shut(f);
	assert_int_equal(file_count(f), 3); /* the log and its index stay */
	in_child(f, read_as_another);
}

static int write_and_die(struct fixture *f)
{
	struct store *s;

	if (store_open(f->path, STORE_WRITE, &s, &f->e) < 0 ||
	    store_event(s, f->sweep, "note", &f->e, "last words") < 0)
		return 1;
	_exit(0); /* without store_close */
}

static void a_group_member_reads_what_a_killed_writer_committed(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	group_give(f);
	store_shut(f);
	in_child(f, write_and_die);
	in_child(f, read_as_another);
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'note'"), "last words");
}

static void a_store_made_in_a_group_directory_has_its_group(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	if (geteuid() != 0)
		skip();
	store_shut(f);
	unlink(f->path);
	unlink(arena_printf(f->a, "%s-wal", f->path));
	unlink(arena_printf(f->a, "%s-shm", f->path));
	group_give(f);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	assert_int_equal(stat(arena_printf(f->a, "%s-wal", f->path), &st), 0);
	assert_int_equal(st.st_gid, READER);
	assert_int_equal(st.st_mode & 0777, 0640);
}

/* ---- full and locked ---- */

static void another_writer_is_waited_for_and_then_named_busy(void **state)
{
	struct fixture *f = *state;
	sqlite3 *other;

	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_busy_timeout(f->s->db, 50);
	FAILS(store_event(f->s, f->sweep, "note", &f->e, "x"), ERR_BUSY, with_path(f, "store '", "': another process holds its lock"));
	FAILS(store_sweep_set_state(f->s, f->sweep, SWEEP_RUNNING, "", &f->e), ERR_BUSY,
	      with_path(f, "store '", "': another process holds its lock"));
	assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_RUNNING, "", &f->e));
}

/* Writes until that fails, at most 1,000 times; returns the kind of error. */
static enum err_kind fill(struct fixture *f, struct store *s)
{
	AUTO_FREE char *text = xcalloc(1, 16385);

	memset(text, 'x', 16384);
	for (int i = 0; i < 1000; i++)
		if (store_event(s, f->sweep, "note", &f->e, "%s", text) < 0)
			return f->e.kind;
	return ERR_NONE;
}

static int fill_up_to_a_limit(struct fixture *f)
{
	struct rlimit limit = { .rlim_cur = 2 << 20, .rlim_max = 2 << 20 };
	struct store *s;

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0 || store_open(f->path, STORE_WRITE, &s, &f->e) < 0)
		return 1;
	return fill(f, s) == ERR_NO_SPACE && strstr(f->e.text, "no space left") != NULL ? 0 : 2;
}

static void a_file_size_limit_is_no_space_and_keeps_what_was_committed(void **state)
{
	struct fixture *f = *state;

	store_shut(f);
	in_child(f, fill_up_to_a_limit);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
	assert_true(atoll(fixture_sql(f, "SELECT count(*) FROM event WHERE kind = 'note'")) > 10);
	OK(store_event(f->s, f->sweep, "note", &f->e, "goes on"));
}

static int fill_a_small_filesystem(struct fixture *f)
{
	struct store *s;
	struct sweep sweep;
	const uint8_t uuid[16] = { 1 };

	if (unshare(CLONE_NEWNS) < 0 || namespace_hide_mounts(NULL) < 0 ||
	    mount("none", f->dir, "tmpfs", 0, "size=1m") < 0)
		return 1;
	if (store_open(f->path, STORE_WRITE, &s, &f->e) < 0 || store_host(s, uuid, "db1", &f->host, &f->e) < 0)
		return 2;
	f->s = s;
	f->sweep = fixture_submit(f, 0);
	if (fill(f, s) != ERR_NO_SPACE)
		return 3;
	/* Reading goes on, and so does writing once there is room. */
	if (store_sweep_get(s, f->sweep, f->a, &sweep, &f->e) < 0)
		return 4;
	if (mount("none", f->dir, "tmpfs", MS_REMOUNT, "size=8m") < 0)
		return 5;
	return store_event(s, f->sweep, "note", &f->e, "room again") < 0 ? 6 : 0;
}

static void a_full_disk_is_no_space_until_there_is_room_again(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	store_shut(f);
	in_child(f, fill_a_small_filesystem);
}

static int open_on_a_full_filesystem(struct fixture *f)
{
	struct store *s;

	if (unshare(CLONE_NEWNS) < 0 || namespace_hide_mounts(NULL) < 0 ||
	    mount("none", f->dir, "tmpfs", 0, "size=16k") < 0)
		return 1;
	if (store_open(f->path, STORE_WRITE, &s, &f->e) == 0)
		return 2;
	return f->e.kind == ERR_NO_SPACE ? 0 : 3;
}

static void a_store_cannot_be_made_on_a_full_disk(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	store_shut(f);
	in_child(f, open_on_a_full_filesystem);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_store_has_our_id_a_version_a_log_and_no_access_for_others),
		TEST(every_table_is_strict),
		TEST(opening_again_keeps_what_is_there),
		TEST(views_of_another_build_are_made_anew_and_views_of_users_stay),
		TEST(an_inner_rollback_dooms_the_outer_transaction),
		TEST(an_older_store_is_brought_up_to_date_with_all_its_rows),
		TEST(a_newer_store_is_refused_by_reader_and_writer),
		TEST(the_database_of_another_program_is_refused_and_left_alone),
		TEST(a_file_that_is_not_sqlite_is_refused),
		TEST(a_store_cut_short_is_refused),
		TEST(an_empty_file_beside_a_full_log_is_not_made_into_a_store),
		TEST(a_writer_refuses_a_schema_that_is_not_ours),
		TEST(triggers_in_a_foreign_file_do_not_fire),
		TEST(a_reader_of_nothing_is_told_who_makes_it),
		TEST(a_reader_cannot_write),
		TEST(reading_a_copy_makes_no_file_beside_it),
		TEST(a_group_member_reads_while_a_writer_is_there),
		TEST(a_group_member_reads_when_no_writer_is_there),
		TEST(a_group_member_reads_what_a_killed_writer_committed),
		TEST(a_store_made_in_a_group_directory_has_its_group),
		TEST(another_writer_is_waited_for_and_then_named_busy),
		TEST(a_file_size_limit_is_no_space_and_keeps_what_was_committed),
		TEST(a_full_disk_is_no_space_until_there_is_room_again),
		TEST(a_store_cannot_be_made_on_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
