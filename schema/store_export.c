/* SPDX-License-Identifier: MIT
 *
 * Portable files: chosen sweeps as a store of their own, gzip-compressed; and reading them again.  See store_merge.h.
 *
 * The file in the middle is a temporary one (scratch.h), removed by whatever path is taken.  Memory is bounded by
 * SQLite's cache and a buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "schema/scratch.h"
#include "schema/store_lines.h"
#include "schema/store_merge.h"

#define BUFFER_BYTES 65536

/* The one file (and what SQLite puts beside it) in a directory of its own. */
struct made {
	struct scratch dir;
	char *file; /* owned */
};

static int made_begin(struct made *t, struct err *e)
{
	if (scratch_make(&t->dir, e) < 0)
		return -1;
	t->file = scratch_file(&t->dir, "sweeps.db");
	return 0;
}

static void made_done(struct made *t)
{
	scratch_done(&t->dir);
	free(t->file);
}
#define AUTO_MADE __attribute__((cleanup(made_done)))

static int write_all(int fd, const unsigned char *data, size_t n, const char *name, struct err *e)
{
	while (n > 0) {
		ssize_t k = write(fd, data, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_sys(e, errno, "write '%s'", name);
		data += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Level 6 halves the file in the time that writing it takes; 15 + 16: a gzip header (zlib.h, deflateInit2). */
static int file_compress(int in, int out, const char *name, struct err *e)
{
	unsigned char from[BUFFER_BYTES], to[BUFFER_BYTES];
	z_stream z = { 0 };
	ssize_t n;
	int rc = 0;

	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(e, ERR_SYSTEM, "compress '%s': zlib failed", name);
	do {
		n = read(in, from, sizeof(from));
		if (n < 0)
			rc = err_sys(e, errno, "read the sweeps to export");
		z.next_in = from;
		z.avail_in = n > 0 ? (unsigned)n : 0;
		do {
			z.next_out = to;
			z.avail_out = sizeof(to);
			deflate(&z, n > 0 ? Z_NO_FLUSH : Z_FINISH);
			rc = rc == 0 ? write_all(out, to, sizeof(to) - z.avail_out, name, e) : rc;
		} while (rc == 0 && z.avail_out == 0);
	} while (rc == 0 && n > 0);
	deflateEnd(&z);
	return rc;
}

int store_export_check(struct store *s, const struct merge_options *o, struct err *e)
{
	for (size_t i = 0; i < o->n_sweep_ids; i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct sweep w;

		if (store_sweep_get(s, o->sweep_ids[i], a, &w, e) < 0)
			return -1;
		if (w.state == SWEEP_QUEUED || w.state == SWEEP_RUNNING || w.state == SWEEP_PAUSED) {
			err_set(e, ERR_USAGE, "sweep %lld is %s: only what has ended can be exported", (long long)w.id,
			        sweep_state_name(w.state));
			return err_hint(e, "'iosweep backup' copies the whole store as it is");
		}
	}
	return 0;
}

/* Fills the scratch file with a store that holds the chosen sweeps. */
static int scratch_fill(struct store *s, const struct merge_options *o, const struct made *t, struct merge_report *ret,
                        struct err *e)
{
	struct store *to = NULL;
	int rc;

	if (store_open(t->file, STORE_SCRATCH, &to, e) < 0)
		return -1;
	to->source = s->path;
	rc = store_merge(to, s->path, o, ret, e);
	store_close(to);
	return rc;
}

/* The file appears under its name when it is whole. */
static int file_write(int in, const char *path, struct err *e)
{
	AUTO_FREE char *part = xasprintf("%s.part", path);
	AUTO_CLOSE int out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (out < 0)
		return err_sys(e, errno, "create '%s'", part);
	if (file_compress(in, out, part, e) < 0) {
		unlink(part);
		return -1;
	}
	if (fsync(out) < 0 || rename(part, path) < 0) {
		err_sys(e, errno, "write '%s'", path);
		unlink(part);
		return -1;
	}
	return 0;
}

int store_export(struct store *s, const struct merge_options *o, const char *path, int fd, struct merge_report *ret,
                 struct err *e)
{
	AUTO_MADE struct made t = { 0 };
	AUTO_CLOSE int in = -1;

	if (store_export_check(s, o, e) < 0 || made_begin(&t, e) < 0 || scratch_fill(s, o, &t, ret, e) < 0)
		return -1;
	in = open(t.file, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return err_sys(e, errno, "open '%s'", t.file);
	return fd >= 0 ? file_compress(in, fd, "standard output", e) : file_write(in, path, e);
}

/* ---- reading ---- */

/* By its first bytes, so that a device or another program's archive is not copied before it is looked at. */
static bool begins_as_export(const unsigned char *data, int n)
{
	static const char magic[] = "SQLite format 3"; /* fileformat2.html, with the NUL */

	return data[0] == '{' || (n >= (int)sizeof(magic) && memcmp(data, magic, sizeof(magic)) == 0);
}

static int export_refuse(const char *path, struct err *e)
{
	err_set(e, ERR_USAGE, "'%s' cannot be imported: not an SQLite file", path);
	return err_hint(e, "nothing was imported; a published table is taken in by --csv FILE --map MAP");
}

/* All of gz into out; ret_bytes: inflated. */
static int inflate_all(gzFile gz, int out, const char *path, const struct made *t, off_t *ret_bytes, struct err *e)
{
	unsigned char buf[BUFFER_BYTES];
	int n, rc = 0, code = Z_OK;

	while (rc == 0 && (n = gzread(gz, buf, sizeof(buf))) > 0) {
		rc = *ret_bytes == 0 && !begins_as_export(buf, n) ? export_refuse(path, e) :
		                                                    write_all(out, buf, (size_t)n, t->file, e);
		*ret_bytes += n;
	}
	if (rc < 0)
		return -1;
	gzerror(gz, &code);
	if (code == Z_ERRNO)
		return err_sys(e, errno, "read '%s'", path);
	if (n >= 0 && code == Z_OK)
		return 0;
	err_set(e, ERR_USAGE, "'%s' is %s (byte %lld)", path, code == Z_BUF_ERROR ? "cut short" : "damaged",
	        (long long)gzoffset(gz));
	return err_hint(e, "nothing was imported; export it again");
}

/* Inflates path into the scratch file; a plain store is copied.  Every fault names the byte of the file. */
static int file_inflate(const char *path, const struct made *t, struct err *e)
{
	AUTO_CLOSE int out = open(t->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	AUTO_CLOSE int in = open(path, O_RDONLY | O_CLOEXEC);
	gzFile gz;
	off_t bytes = 0;
	int rc;

	if (in < 0)
		return err_sys(e, errno, "open '%s'", path);
	if (out < 0)
		return err_sys(e, errno, "create '%s'", t->file);
	gz = gzdopen(dup(in), "rb");
	if (gz == NULL)
		return err_sys(e, errno, "open '%s'", path);
	rc = inflate_all(gz, out, path, t, &bytes, e);
	if ((gzclose(gz) == Z_OK && bytes > 0) || rc < 0)
		return rc;
	err_set(e, ERR_USAGE, "'%s' is %s", path, bytes == 0 ? "empty" : "cut short");
	return err_hint(e, "nothing was imported; export it again");
}

static int scratch_refuse(const char *path, const struct err *why, struct err *e)
{
	err_set(e, ERR_USAGE, "'%s' cannot be imported: %s", path,
	        strstr(why->text, "': ") ? strstr(why->text, "': ") + 3 : why->text);
	if (strstr(why->text, "not an SQLite file") != NULL)
		return err_hint(e, "nothing was imported; a published table is taken in by --csv FILE --map MAP");
	return err_hint(e, "nothing was imported");
}

/* A store that this program can read, whole, and of this version's tables. */
static int scratch_check(const char *path, const struct made *t, struct err *e)
{
	struct store *s = NULL;
	AUTO_TEXT struct text fault = { 0 };
	struct err why = { 0 };
	int rc;

	if (store_open(t->file, STORE_SCRATCH, &s, &why) < 0)
		return scratch_refuse(path, &why, e);
	database_fault(s->db, "PRAGMA quick_check(1)", &fault);
	if (fault.n == 0) {
		rc = store_values_check(s, path, e);
	} else {
		err_set(e, ERR_USAGE, "'%s' is damaged: %s", path, fault.s);
		rc = err_hint(e, "nothing was imported");
	}
	store_close(s);
	return rc;
}

static int scratch_store_open(struct made *t, struct store **ret, struct err *e)
{
	return made_begin(t, e) < 0 ? -1 : store_open(t->file, STORE_SCRATCH, ret, e);
}

/* Runs of lines after the first go through a store of their own, since they may tell of the same sweeps. */
static int lines_more(struct store *first, FILE *in, const char *path, int64_t *line, struct err *e)
{
	const struct merge_options o = { .with_outputs = false };
	int rc;

	do {
		AUTO_MADE struct made t = { 0 };
		struct merge_report ignored;
		struct store *s = NULL;

		rc = scratch_store_open(&t, &s, e);
		if (rc == 0)
			rc = store_lines_read(s, in, path, line, e);
		store_close(s);
		if (rc > 0 && store_merge(first, t.file, &o, &ignored, e) < 0)
			rc = -1;
	} while (rc > 0);
	return rc;
}

/* JSON lines at `from` -> a scratch store, and from there into s. */
static int lines_import(struct store *s, const char *path, const char *from, struct merge_report *ret, struct err *e)
{
	AUTO_MADE struct made t = { 0 };
	const struct merge_options o = { .with_outputs = false };
	FILE *in = fopen(from, "re");
	struct store *lines = NULL;
	int64_t line = 0;
	int rc;

	if (in == NULL)
		return err_sys(e, errno, "open '%s'", from);
	rc = scratch_store_open(&t, &lines, e);
	if (rc == 0)
		rc = store_lines_read(lines, in, path, &line, e);
	if (rc > 0)
		rc = lines_more(lines, in, path, &line, e);
	if (rc == 0)
		rc = store_values_check(lines, path, e);
	fclose(in);
	store_close(lines);
	if (rc < 0)
		return -1;
	return store_merge(s, t.file, &o, ret, e) < 0 ? err_in(e, "import '%s'", path) : 0;
}

static bool file_is_lines(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char first;

	return fd >= 0 && read(fd, &first, 1) == 1 && first == '{';
}

int store_import_file(struct store *s, const char *path, struct merge_report *ret, struct err *e)
{
	AUTO_MADE struct made t = { 0 };
	const struct merge_options o = { .with_outputs = true };

	if (made_begin(&t, e) < 0 || file_inflate(path, &t, e) < 0)
		return -1;
	if (file_is_lines(t.file))
		return lines_import(s, path, t.file, ret, e);
	if (scratch_check(path, &t, e) < 0)
		return -1;
	return store_merge(s, t.file, &o, ret, e) < 0 ? err_in(e, "import '%s'", path) : 0;
}

/* ---- what a store has ---- */

int store_export_list(struct store *s, FILE *out, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT uuid, state, cells_ended, trials_ok, coalesce(ended_ms, 0) FROM sweep "
	                   "WHERE state NOT IN ('queued', 'running', 'paused') ORDER BY id", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		uint8_t uuid[16];
		char text[UUID_TEXT];

		column_copy(st, 0, uuid, sizeof(uuid));
		fprintf(out, "%s %s %lld %lld %lld\n", uuid_format(uuid, text), column_borrow(st, 1),
		        (long long)column_int(st, 2), (long long)column_int(st, 3), (long long)column_int(st, 4));
	}
	return rc;
}

int store_lacks(struct store *s, const char *line, bool *ret, char ret_uuid[37], struct err *e)
{
	char uuid_text[64], state[32], tail;
	long long cells, trials, ended_ms;
	uint8_t uuid[16];
	int64_t one;
	int found;

	if (sscanf(line, "%63s %31s %lld %lld %lld %c", uuid_text, state, &cells, &trials, &ended_ms, &tail) != 5 ||
	    strlen(uuid_text) != 36 || uuid_parse(uuid_text, uuid) < 0)
		return err_set(e, ERR_PROTOCOL, "not a line of 'iosweep export --list': '%.80s'", line);
	found = statement_int(s, &one, e, "SELECT 1 FROM sweep WHERE uuid = ? AND (cells_ended, trials_ok, coalesce(ended_ms, 0)) >= (?, ?, ?)",
	                      "uiii", uuid, (int64_t)cells, (int64_t)trials, (int64_t)ended_ms);
	if (found < 0)
		return -1;
	*ret = found == 0;
	snprintf(ret_uuid, 37, "%s", uuid_text);
	return 0;
}
