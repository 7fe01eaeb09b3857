/* SPDX-License-Identifier: MIT
 *
 * The cells of a plan: blocks added up, equal cells counted once, excluded ones left out.  Cells are enumerated, never
 * materialised: memory grows with the axes, not with the cells (10^6 cells in under a second, see tests/bench).
 */
#ifndef IOSWEEP_MATRIX_H
#define IOSWEEP_MATRIX_H

#include "schema/model.h"
#include "schema/plan.h"

struct matrix;

/* p outlives the matrix.  Fails with diagnostics (zero cells, mkfs options that one of the matrix's filesystems does
 * not allow, more than MATRIX_MAX_CELLS). */
#define MATRIX_MAX_CELLS UINT64_C(100000000)
int matrix_new(const struct plan *p, struct diags *d, struct matrix **ret);
void matrix_free(struct matrix *m);
uint64_t matrix_count(const struct matrix *m); /* distinct cells */
/* Whether two cells differ in the axis (by its full name). */
bool matrix_axis_varies(const struct matrix *m, const char *axis);

/* Cells have a position: their place in the nested enumeration of all blocks, before duplicates and excluded cells
 * are left out.  It is the same whatever the order, and has gaps. */

/* One pass over the distinct cells in the order the plan asks for: nested (axes of lower steps vary slowest, within
 * a step as written), or the random permutation of random-seed.  ORDER_ROUNDS gives the nested order; the worker
 * makes as many passes as trials.  Cells are complete: filesystem, mkfs and mount are present with their final
 * canonical values (a filesystem's options and the axes' merged), every axis of any block of the plan is present
 * (KERNEL_DEFAULT where its block has none).  mkfs and mount are KERNEL_DEFAULT without any option, and all three on a
 * directory. */
struct matrix_walk;
struct matrix_walk *matrix_walk_new(const struct matrix *m);
bool matrix_walk_next(struct matrix_walk *w, struct cell *ret);
void matrix_walk_free(struct matrix_walk *w);

/* The lowest step whose axes differ between two cells, or N_STEPS if only labels and workload parameters do.
 * prev NULL: STEP_CLAIM. */
enum step_id cell_first_difference(const struct cell *prev, const struct cell *next);
/* The same, with what `fresh` asks for: unless it is FRESH_FILESYSTEM, the format is never carried over. */
enum step_id cell_first_step(enum fresh fresh, const struct cell *prev, const struct cell *next);
/* Whether a workload of the plan (its index) is measured in this cell. */
bool cell_has_workload(const struct plan *p, const struct cell *c, size_t workload);
/* Whether the step is run for this cell; the rules of `applies` in the worker's step table.  On a device or image the
 * queue and the bdi are always seen to (what is left as found is recorded), on a directory only what the cell sets;
 * format and mount need a filesystem, layout and confine an axis. */
bool cell_needs_step(const struct plan *p, const struct cell *c, enum step_id step);

const struct setting *cell_get(const struct cell *c, const char *axis); /* or NULL */

/* The canonical config: "axis=value\n" lines sorted by axis, KERNEL_DEFAULT left out; and its SHA-256. */
void cell_config(const struct cell *c, struct text *ret_canonical, uint8_t ret_digest[32]);

/* What mkfs and mount get: words ready for exec.  type "none": all empty. */
struct format {
	const char *type;
	char **mkfs;  /* argv words between the options we add and the device; NULL-terminated */
	char **mount; /* single options "key" or "key=value"; NULL-terminated */
};
int cell_format(const struct matrix *m, const struct cell *c, struct arena *a, struct format *ret, struct err *e);

/* How often each step runs in one night of this plan, in the order chosen: the transitions are simulated. */
struct step_counts {
	uint64_t cells, trials;
	uint64_t steps[N_STEPS];
	const uint64_t *cells_of; /* of each workload, those it is measured in; lives as long as the matrix */
};
void matrix_count_steps(const struct matrix *m, struct step_counts *ret);

#endif
