/* SPDX-License-Identifier: MIT
 *
 * Plans: any text gives a plan or diagnostics, and the cells of a plan are as many as counted, each with options that
 * its filesystem allows.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "schema/matrix.h"

#define CELLS_MAX 20000 /* more only take time */

static struct registry *definitions_load(void)
{
	struct registry *r = registry_new();
	struct diags d;

	diags_init(&d, "sweeps/workloads");
	registry_load(r, "sweeps/workloads", false, &d, NULL);
	diags_done(&d);
	return r;
}

static bool is_small(const struct plan *p)
{
	uint64_t all = 0;

	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct plan_block *b = &p->blocks[i];
		uint64_t n = b->n_zip_rows > 0 ? b->n_zip_rows : 1;

		for (size_t k = b->n_zipped; k < b->n && n <= CELLS_MAX; k++)
			n *= b->axes[k].n;
		all += n;
	}
	return all <= CELLS_MAX;
}

static void cells_walk(const struct matrix *m, const struct plan *p)
{
	struct matrix_walk *w = matrix_walk_new(m);
	struct step_counts counts;
	struct cell c;
	uint64_t n = 0;

	for (; matrix_walk_next(w, &c); n++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_TEXT struct text canonical = { 0 };
		uint8_t digest[32];
		struct format f;

		cell_config(&c, &canonical, digest);
		if (cell_format(m, &c, a, &f, NULL) < 0)
			abort();
	}
	matrix_walk_free(w);
	matrix_count_steps(m, &counts);
	if (n != matrix_count(m) || counts.cells != n || counts.trials != n * p->n_workloads * (uint64_t)p->trials)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct registry *definitions;
	struct plan *p = NULL;
	struct matrix *m = NULL;
	struct diags d;

	if (definitions == NULL)
		definitions = definitions_load(); /* kept for all inputs */
	diags_init(&d, "fuzz");
	if (plan_read((const char *)data, n, definitions, &d, &p) < 0) {
		if (d.n == 0)
			abort();
	} else if (is_small(p)) {
		if (matrix_new(p, &d, &m) == 0)
			cells_walk(m, p);
		else if (d.n == 0)
			abort();
	}
	diags_done(&d);
	matrix_free(m);
	plan_free(p);
	return 0;
}
