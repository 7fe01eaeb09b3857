/* SPDX-License-Identifier: MIT
 *
 * Walking a matrix, in the nested order or in a random one, and counting what the walk costs.  The random order is a
 * permutation computed, not stored: a Feistel network over the next power of four, walked again while it leaves the
 * range (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002, the cycle-walking cipher).
 */
#include <string.h>

#include "schema/matrix_private.h"

#define ROUNDS 4 /* enough to look random; nobody attacks the order of a sweep */

struct permutation {
	uint64_t n, keys[ROUNDS];
	unsigned half_bits;
};

/* Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014 (the finaliser). */
static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

static uint64_t permutation_at(const struct permutation *p, uint64_t i)
{
	uint64_t mask = (UINT64_C(1) << p->half_bits) - 1;

	do {
		uint64_t left = i >> p->half_bits, right = i & mask;

		for (size_t round = 0; round < ROUNDS; round++) {
			uint64_t next = left ^ (mix(right + p->keys[round]) & mask);

			left = right;
			right = next;
		}
		i = left << p->half_bits | right;
	} while (i >= p->n);
	return i;
}

struct matrix_walk {
	const struct matrix *m;
	struct permutation permutation;
	uint64_t next; /* of n_positions */
};

struct matrix_walk *matrix_walk_new(const struct matrix *m)
{
	struct matrix_walk *w = xcalloc(1, sizeof(*w));

	w->m = m;
	w->permutation = (struct permutation){ .n = m->n_positions, .half_bits = 1 };
	for (size_t i = 0; i < ROUNDS; i++)
		w->permutation.keys[i] = mix(m->plan->random_seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
	while (UINT64_C(1) << 2 * w->permutation.half_bits < m->n_positions)
		w->permutation.half_bits++;
	return w;
}

void matrix_walk_free(struct matrix_walk *w)
{
	free(w);
}

static const char *requested_combination(const struct point *pt, bool is_mount)
{
	const struct block *b = pt->block;

	return block_combination(b, is_mount, point_value(pt, b->filesystem),
	                         point_value(pt, is_mount ? b->mount : b->mkfs))
	        ->requested;
}

static void setting_fill(const struct matrix *m, const struct point *pt, size_t axis, struct setting *ret)
{
	const struct matrix_axis *ma = &m->axes[axis];
	int at = pt->block->axis_of[axis];
	bool is_option = axis == m->mkfs || axis == m->mount, has_format = pt->block->filesystem >= 0;

	*ret = (struct setting){ .axis = ma->name, .def = ma->def, .requested = KERNEL_DEFAULT };
	ret->value = is_option || axis == m->filesystem ? ma->final.at[pt->id[axis]] : ma->own.at[pt->id[axis]];
	if (is_option && has_format)
		ret->requested = requested_combination(pt, axis == m->mount);
	else if (at >= 0)
		ret->requested = pt->block->axes[at].src->values[point_value(pt, at)].requested;
}

bool matrix_walk_next(struct matrix_walk *w, struct cell *ret)
{
	const struct matrix *m = w->m;
	struct point pt;

	for (;;) {
		uint64_t i = w->next;

		if (i == m->n_positions)
			return false;
		w->next++;
		point_digits(m, m->plan->order == ORDER_RANDOM ? permutation_at(&w->permutation, i) : i, &pt);
		if (m->n_excludes > 0 && point_is_excluded(m, &pt))
			continue;
		point_ids(m, &pt);
		if (!point_is_repeated(m, &pt))
			break;
	}
	ret->position = pt.position;
	ret->n = m->n_axes;
	for (size_t i = 0; i < m->n_axes; i++)
		setting_fill(m, &pt, i, &ret->at[i]);
	return true;
}

/* ---- what it costs ---- */

static void steps_add(const struct plan *p, const struct cell *c, enum step_id first, uint64_t times, uint64_t *steps)
{
	for (int s = (int)first; s < N_STEPS; s++)
		if (cell_needs_step(p, c, (enum step_id)s))
			steps[s] += times;
}

/* One visit of a cell: the transition, and with `fresh: trial` a new filesystem before each trial but the first. */
static void visit_add(const struct plan *p, const struct cell *prev, const struct cell *next, uint64_t trials,
                      uint64_t times, uint64_t *steps)
{
	steps_add(p, next, cell_first_step(p->fresh, prev, next), times, steps);
	if (p->fresh == FRESH_TRIAL && trials > 1)
		steps_add(p, next, STEP_FORMAT, times * (trials - 1), steps);
}

/* Workloads of a cell, counted for each. */
static uint64_t workloads_count(const struct plan *p, const struct cell *c, uint64_t *cells_of)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_workloads; i++)
		if (p->workloads[i].only.n == 0 || cell_has_workload(p, c, i)) {
			cells_of[i]++;
			n++;
		}
	return n;
}

void matrix_count_steps(const struct matrix *m, struct step_counts *ret)
{
	const struct plan *p = m->plan;
	bool is_rounds = p->order == ORDER_ROUNDS;
	uint64_t passes = is_rounds ? (uint64_t)p->trials : 1, per_visit = is_rounds ? 1 : (uint64_t)p->trials, n = 0,
		 n_first = 0;
	uint64_t *cells_of = arena_array(m->arena, p->n_workloads, sizeof(*cells_of));
	struct matrix_walk *w = matrix_walk_new(m);
	struct cell first, cells[2];
	const struct cell *prev = NULL;

	*ret = (struct step_counts){ .cells = m->n_cells, .cells_of = cells_of };
	for (unsigned i = 0; matrix_walk_next(w, &cells[i]); i = !i) {
		n = workloads_count(p, &cells[i], cells_of);
		ret->trials += n * (uint64_t)p->trials;
		/* the first cell of the first pass comes from nothing, that of later passes after the last cell */
		if (prev == NULL) {
			first = cells[i];
			n_first = n;
		}
		visit_add(p, prev, &cells[i], n * per_visit, prev == NULL ? 1 : passes, ret->steps);
		prev = &cells[i];
	}
	if (passes > 1 && prev != NULL)
		visit_add(p, prev, &first, n_first * per_visit, passes - 1, ret->steps);
	matrix_walk_free(w);
}
