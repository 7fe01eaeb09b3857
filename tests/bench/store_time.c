/* SPDX-License-Identifier: MIT
 *
 * usage: store_time PATH [ROUNDS]
 *
 * Times what the reading commands do with a large store (see store_gen.c): each in a connection of its own, as a
 * command pays for it.  Prints the median of ROUNDS (11) in milliseconds, beside plain SQL for the same rows.
 */
#include <sqlite3.h>
#include <stdio.h>

#include "schema/stats.h"
#include "schema/store.h"

static int64_t middle_sweep;

static int open_only(struct store *s, struct arena *a, struct err *e)
{
	(void)s, (void)a, (void)e;
	return 0;
}

static int list_newest(struct store *s, struct arena *a, struct err *e)
{
	struct sweep *sweeps;
	size_t n;

	return store_sweep_list(s, 20, a, &sweeps, &n, e);
}

static int show_cells(struct store *s, struct arena *a, struct err *e)
{
	struct shown_cell *cells;
	size_t n;

	return store_show_cells(s, middle_sweep, a, &cells, &n, e);
}

static int show_trials(struct store *s, struct arena *a, struct err *e)
{
	struct shown_trial *trials;
	size_t n;

	return store_show_trials(s, middle_sweep, a, &trials, &n, e);
}

static double once(const char *path, int (*fn)(struct store *, struct arena *, struct err *))
{
	AUTO_ARENA struct arena *a = arena_new();
	int64_t start = clock_ns();
	struct err e = { 0 };
	struct store *s;

	if (store_open(path, STORE_READ, &s, &e) < 0 || fn(s, a, &e) < 0) {
		err_print(stderr, "store_time", &e);
		exit(1);
	}
	store_close(s);
	return (double)(clock_ns() - start) / 1e6;
}

/* The least that any program can do: the same result rows by one statement. */
static double plain_once(const char *path)
{
	int64_t start = clock_ns();
	sqlite3 *db;
	sqlite3_stmt *st;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "SELECT r.* FROM cell c JOIN result r ON r.cell_id = c.id WHERE c.sweep_id = ?", -1,
	                       &st, NULL) != SQLITE_OK)
		exit(1);
	sqlite3_bind_int64(st, 1, middle_sweep);
	while (sqlite3_step(st) == SQLITE_ROW)
		continue;
	sqlite3_finalize(st);
	sqlite3_close(db);
	return (double)(clock_ns() - start) / 1e6;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(struct store *, struct arena *, struct err *);
	} cases[] = {
		{ "open", open_only }, { "list", list_newest }, { "show", show_cells }, { "show --trials", show_trials },
	};
	int64_t rounds = 11;
	double v[1000];

	if (argc < 2 || (argc > 2 && integer_parse(argv[2], 1, 1000, &rounds) < 0)) {
		fprintf(stderr, "usage: store_time PATH [ROUNDS]\n");
		return 2;
	}
	middle_sweep = 167;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int64_t r = 0; r < rounds; r++)
			v[r] = once(argv[1], cases[i].fn);
		printf("%-16s %8.2f ms\n", cases[i].name, stats_median(v, (size_t)rounds));
	}
	for (int64_t r = 0; r < rounds; r++)
		v[r] = plain_once(argv[1]);
	printf("%-16s %8.2f ms\n", "show, plain SQL", stats_median(v, (size_t)rounds));
	return 0;
}
