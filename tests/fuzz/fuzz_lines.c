/* SPDX-License-Identifier: MIT
 *
 * JSON lines as `iosweep import` reads them: whatever they say, they end in a store or in an error with line and
 * column, and nothing stays of lines with a fault.  One scratch store for all inputs, made anew after each that was
 * good.
 */
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/store_lines.h"

static char path[96];
static struct store *store;

static void store_remove(void)
{
	store_close(store);
	store = NULL;
	unlink(path);
}

static void store_make(void)
{
	struct err e;

	if (path[0] == '\0') {
		/* In memory where that can be had: a disk that is slow to flush would look like a hang. */
		snprintf(path, sizeof(path), "%s/iosweep-fuzz.%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
		         (long)getpid());
		atexit(store_remove);
	}
	if (store_open(path, STORE_SCRATCH, &store, &e) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	FILE *in = n > 0 ? fmemopen((void *)data, n, "r") : NULL;
	int64_t line = 0, sweeps = -1;
	struct err e = { 0 };
	int rc;

	if (in == NULL)
		return 0;
	if (store == NULL)
		store_make();
	rc = store_lines_read(store, in, "lines", &line, &e);
	fclose(in);
	if (rc < 0) {
		assert(e.kind == ERR_USAGE && text_starts(e.text, "lines:"));
		if (statement_int(store, &sweeps, &e, "SELECT count(*) FROM sweep", "") < 0 || sweeps != 0)
			abort();
		return 0;
	}
	store_remove();
	return 0;
}
