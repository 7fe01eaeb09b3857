/* SPDX-License-Identifier: MIT
 *
 * The opener of the store, on arbitrary bytes, by reader and writer; and what a command reads of a store that opens.
 * Whatever the file says, an error is the worst that may come of it.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/store.h"
#include "schema/store_sql.h"

static char dir[64], path[96];

static void files_remove(void)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		AUTO_FREE char *name = xasprintf("%s%s", path, suffixes[i]);

		unlink(name);
	}
}

static void dir_remove(void)
{
	files_remove();
	rmdir(dir);
}

static void file_write(const uint8_t *data, size_t n)
{
	AUTO_CLOSE int fd = -1;

	if (dir[0] == '\0') {
		/* In memory where that can be had: a disk that is slow to flush would look like a hang. */
		snprintf(dir, sizeof(dir), "%s/iosweep-fuzz.XXXXXX",
		         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		if (mkdtemp(dir) == NULL)
			abort();
		snprintf(path, sizeof(path), "%s/iosweep.db", dir);
		atexit(dir_remove);
	}
	files_remove();
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
}

/* Reads what list, show and sql would. */
static void store_read(struct store *s)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct shown_trial *trials;
	struct shown_cell *cells;
	struct sweep *sweeps;
	struct view *views;
	struct err e;
	size_t n = 0, n_rows;

	store_sql_views(s, a, &views, &n_rows, &e);
	if (store_sweep_list(s, 3, a, &sweeps, &n, &e) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		store_show_cells(s, sweeps[i].id, a, &cells, &n_rows, &e);
		store_show_trials(s, sweeps[i].id, a, &trials, &n_rows, &e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct store *s;
	struct err e;

	file_write(data, n);
	if (store_open(path, STORE_READ, &s, &e) == 0) {
		store_read(s);
		store_close(s);
	}
	if (store_open(path, STORE_WRITE, &s, &e) == 0) {
		store_event(s, 1, "note", &e, "fuzz");
		store_sweep_drift(s, 1, &e);
		store_close(s);
	}
	return 0;
}
