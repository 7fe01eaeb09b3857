/* SPDX-License-Identifier: MIT
 *
 * Making a matrix from a plan: axes, blocks, dimensions, what is excluded; and one pass over all positions that counts
 * the cells and checks every combination of options that some cell has.  See matrix_private.h for the idea.
 */
#include "schema/matrix.h"

#include <string.h>

#include "schema/base/text.h"
#include "schema/matrix_private.h"
#include "schema/option.h"

/* ---- axes ---- */

static int axis_compare(const void *x, const void *y)
{
	return strcmp(((const struct matrix_axis *)x)->name, ((const struct matrix_axis *)y)->name);
}

static size_t axis_index(const struct matrix *m, const char *name)
{
	size_t i = 0;

	while (i < m->n_axes && strcmp(m->axes[i].name, name) != 0)
		i++;
	return i;
}

/* False if there is no room for one more. */
static bool axis_add(struct matrix *m, const char *name, const struct axis *def)
{
	if (axis_index(m, name) < m->n_axes)
		return true;
	if (m->n_axes == AXES_MAX)
		return false;
	m->axes[m->n_axes++] = (struct matrix_axis){ .name = name, .def = def };
	return true;
}

static int axes_collect(struct matrix *m, struct diags *d)
{
	static const char *const always[] = { "filesystem", "mkfs", "mount" };

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		axis_add(m, always[i], axis_find(always[i]));
	for (size_t i = 0; i < m->plan->n_blocks; i++) {
		const struct plan_block *b = &m->plan->blocks[i];

		for (size_t j = 0; j < b->n; j++) {
			if (axis_add(m, b->axes[j].name, b->axes[j].def))
				continue;
			diags_add(d, b->axes[j].line, b->axes[j].column, "more than %d axes in one plan", AXES_MAX);
			return -1;
		}
	}
	qsort(m->axes, m->n_axes, sizeof(m->axes[0]), axis_compare);
	for (size_t i = 0; i < m->n_axes; i++) {
		intern_id(&m->axes[i].own, KERNEL_DEFAULT);
		intern_id(&m->axes[i].final, KERNEL_DEFAULT);
	}
	m->filesystem = axis_index(m, "filesystem");
	m->mkfs = axis_index(m, "mkfs");
	m->mount = axis_index(m, "mount");
	return 0;
}

/* ---- blocks ---- */

static int id_compare(const void *x, const void *y)
{
	const struct id_index *a = x, *b = y;

	return a->id != b->id ? (a->id > b->id) - (a->id < b->id) : (a->index > b->index) - (a->index < b->index);
}

static void block_axis_fill(struct matrix *m, struct block_axis *ba, const struct plan_axis *src)
{
	*ba = (struct block_axis){ .src = src, .axis = axis_index(m, src->name) };
	ba->own = arena_array(m->arena, src->n, sizeof(*ba->own));
	ba->by_own = arena_array(m->arena, src->n, sizeof(*ba->by_own));
	for (size_t i = 0; i < src->n; i++) {
		ba->own[i] = intern_id(&m->axes[ba->axis].own, src->values[i].value);
		ba->by_own[i] = (struct id_index){ .id = ba->own[i], .index = (uint32_t)i };
	}
	qsort(ba->by_own, src->n, sizeof(*ba->by_own), id_compare);
}

static void dim_add(struct block *b, size_t first, size_t n_axes, size_t radix)
{
	struct dim dim = { .radix = radix, .first = first, .n_axes = n_axes, .step = N_STEPS };
	size_t at = b->n_dims++;

	for (size_t i = first; i < first + n_axes; i++)
		if (b->axes[i].src->def->step < dim.step)
			dim.step = b->axes[i].src->def->step;
	for (; at > 0 && b->dims[at - 1].step > dim.step; at--) /* stable: within a step as written */
		b->dims[at] = b->dims[at - 1];
	b->dims[at] = dim;
}

static bool positions_mul(uint64_t *v, uint64_t by)
{
	return !__builtin_mul_overflow(*v, by, v) && *v <= MATRIX_MAX_CELLS;
}

/* Strides and the number of positions.  One at a time: the first of all, then each dimension's other values; the
 * fastest dimension comes first, since the step back from a slow one is the dear one. */
static bool dims_measure(struct block *b)
{
	b->n = 1;
	for (size_t i = b->n_dims; i-- > 0;) {
		struct dim *dim = &b->dims[i];

		for (size_t k = dim->first; k < dim->first + dim->n_axes; k++)
			b->axes[k].dim = i;
		if (b->src->one_at_a_time) {
			dim->stride = b->n - 1;
			b->n += dim->radix - 1;
		} else {
			dim->stride = b->n;
			if (!positions_mul(&b->n, dim->radix))
				return false;
		}
	}
	return true;
}

static size_t value_count(const struct block *b, int axis)
{
	return axis < 0 ? 1 : b->axes[axis].src->n;
}

static int block_axis_find(const struct block *b, size_t axis)
{
	for (size_t i = 0; i < b->src->n; i++)
		if (b->axes[i].axis == axis)
			return (int)i;
	return -1;
}

/* Two filesystems of one type, or two lists of options, may come to the same. */
static bool block_may_repeat(const struct block *b)
{
	const struct plan_axis *fs = b->filesystem >= 0 ? b->axes[b->filesystem].src : NULL;

	if (fs == NULL)
		return false;
	if (value_count(b, b->mkfs) > 1 || value_count(b, b->mount) > 1)
		return true;
	for (size_t i = 0; i < fs->n; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(fs->values[i].filesystem->type, fs->values[j].filesystem->type) == 0)
				return true;
	return false;
}

#define COMBINATIONS_MAX 100000 /* 2 MiB */

/* A filesystem's final value is its type; those of mkfs and mount are made when a cell needs them. */
static int combinations_make(struct matrix *m, struct block *b, struct diags *d)
{
	size_t n_mkfs = value_count(b, b->mkfs), n_mount = value_count(b, b->mount), n;

	if (b->filesystem < 0)
		return 0;
	n = value_count(b, b->filesystem);
	if (n * (n_mkfs + n_mount) > COMBINATIONS_MAX) {
		diags_add(d, b->src->line, b->src->column, "more than %d combinations of a filesystem with options",
		          COMBINATIONS_MAX);
		return -1;
	}
	b->types = arena_array(m->arena, n, sizeof(*b->types));
	for (size_t i = 0; i < n; i++)
		b->types[i] = intern_id(&m->axes[m->filesystem].final,
		                        b->axes[b->filesystem].src->values[i].filesystem->type);
	b->mkfs_of = arena_array(m->arena, n * n_mkfs, sizeof(*b->mkfs_of));
	b->mount_of = arena_array(m->arena, n * n_mount, sizeof(*b->mount_of));
	return 0;
}

static int block_make(struct matrix *m, const struct plan_block *src, struct block *b, struct diags *d)
{
	int *axis_of = arena_array(m->arena, m->n_axes, sizeof(*axis_of));

	*b = (struct block){ .src = src, .first = m->n_positions, .axis_of = axis_of };
	b->axes = arena_array(m->arena, src->n + 1, sizeof(*b->axes));
	b->dims = arena_array(m->arena, src->n + 1, sizeof(*b->dims));
	for (size_t i = 0; i < src->n; i++)
		block_axis_fill(m, &b->axes[i], &src->axes[i]);
	if (src->n_zipped > 0)
		dim_add(b, 0, src->n_zipped, src->n_zip_rows);
	for (size_t i = src->n_zipped; i < src->n; i++)
		dim_add(b, i, 1, src->axes[i].n);
	for (size_t i = 0; i < m->n_axes; i++)
		axis_of[i] = block_axis_find(b, i);
	b->filesystem = axis_of[m->filesystem];
	b->mkfs = axis_of[m->mkfs];
	b->mount = axis_of[m->mount];
	b->may_repeat = block_may_repeat(b);
	if (!dims_measure(b) || m->n_positions + b->n > MATRIX_MAX_CELLS) {
		diags_add(d, src->line, src->column, "more than %llu cells", (unsigned long long)MATRIX_MAX_CELLS);
		return -1;
	}
	m->n_positions += b->n;
	return combinations_make(m, b, d);
}

/* ---- exclude ---- */

static int u32_compare(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static void exclude_make(struct matrix *m, const struct plan_pattern *src, struct exclude *x)
{
	*x = (struct exclude){ .axes = arena_array(m->arena, src->n, sizeof(*x->axes)), .n = src->n };
	for (size_t i = 0; i < src->n; i++) {
		struct exclude_axis *xa = &x->axes[i];

		xa->axis = axis_index(m, src->axes[i].name);
		xa->own = arena_array(m->arena, src->axes[i].n, sizeof(*xa->own));
		for (; xa->n < src->axes[i].n; xa->n++)
			xa->own[xa->n] = intern_id(&m->axes[xa->axis].own, src->axes[i].values[xa->n].value);
		qsort(xa->own, xa->n, sizeof(*xa->own), u32_compare);
	}
}

/* ---- combinations ---- */

/* The filesystem's words and the axis's, expanded together, since a block size in one counts for ${stride} in the
 * other. */
static int combination_words(const struct matrix *m, char *const *own, char *const *more, char ***ret, size_t *ret_n,
                             struct err *e)
{
	size_t n = 0, n_own = 0, n_more = 0;
	AUTO_FREE char **all = NULL;

	while (own[n_own] != NULL)
		n_own++;
	while (more != NULL && more[n_more] != NULL)
		n_more++;
	all = xcalloc(n_own + n_more + 1, sizeof(*all));
	for (size_t i = 0; i < n_own; i++)
		all[n++] = own[i];
	for (size_t i = 0; i < n_more; i++)
		all[n++] = more[i];
	return plan_expand(m->plan, all, m->arena, ret, ret_n, e);
}

static const char *words_text(struct arena *a, char *const *words, size_t n)
{
	AUTO_TEXT struct text joined = { 0 };

	for (size_t i = 0; i < n; i++)
		text_printf(&joined, "%s%s", i > 0 ? " " : "", words[i]);
	return arena_strdup(a, text_str(&joined));
}

static void combination_make(struct matrix *m, const struct axis_value *fs, const struct axis_value *more,
                             bool is_mount, struct combination *c, struct diags *d)
{
	const struct filesystem *f = fs->filesystem;
	const struct axis_value *where = more != NULL ? more : fs;
	const char *canonical;
	char **words, **out;
	struct err e;
	size_t n;

	c->state = COMBINATION_BAD;
	c->final = INTERN_NONE;
	if (combination_words(m, is_mount ? f->mount : f->mkfs, more != NULL ? more->words : NULL, &words, &n, &e) <
	            0 ||
	    (is_mount ? option_mount(f->type, (const char *const *)words, n, m->arena, &canonical, &out, &e) :
	                option_mkfs(f->type, (const char *const *)words, n, m->arena, &canonical, &out, &e)) < 0) {
		diags_add(d, where->line, where->column, "%s with filesystem '%s': %s%s%s", is_mount ? "mount" : "mkfs",
		          f->name, e.text, e.hint[0] != '\0' ? ": " : "", e.hint);
		return;
	}
	c->state = COMBINATION_GOOD;
	c->final = intern_id(&m->axes[is_mount ? m->mount : m->mkfs].final,
	                     canonical[0] != '\0' ? canonical : KERNEL_DEFAULT);
	c->requested = n > 0 ? words_text(m->arena, words, n) : more != NULL ? more->requested : KERNEL_DEFAULT;
}

struct combination *block_combination(const struct block *b, bool is_mount, size_t filesystem, size_t words)
{
	return is_mount ? &b->mount_of[filesystem * value_count(b, b->mount) + words]
	                : &b->mkfs_of[filesystem * value_count(b, b->mkfs) + words];
}

static void combinations_need(struct matrix *m, const struct point *pt, struct diags *d)
{
	const struct block *b = pt->block;
	size_t fs;

	if (b->filesystem < 0)
		return;
	fs = point_value(pt, b->filesystem);
	for (int is_mount = 0; is_mount <= 1; is_mount++) {
		int axis = is_mount ? b->mount : b->mkfs;
		size_t words = point_value(pt, axis);
		struct combination *c = block_combination(b, is_mount, fs, words);

		if (c->state == COMBINATION_NEW)
			combination_make(m, &b->axes[b->filesystem].src->values[fs],
			                 axis >= 0 ? &b->axes[axis].src->values[words] : NULL, is_mount, c, d);
	}
}

/* ---- the whole ---- */

static void cell_count(struct matrix *m, const struct point *pt)
{
	for (size_t i = 0; i < m->n_axes; i++) {
		if (m->n_cells == 0)
			m->axes[i].first = pt->id[i];
		else if (m->axes[i].first != pt->id[i])
			m->axes[i].varies = true;
	}
	m->n_cells++;
}

static void cells_count(struct matrix *m, struct diags *d)
{
	AUTO_FREE bool *has_repeats = xcalloc(m->n_blocks + 1, sizeof(*has_repeats));
	struct point pt;

	for (uint64_t i = 0; i < m->n_positions; i++) {
		point_digits(m, i, &pt);
		if (m->n_excludes > 0 && point_is_excluded(m, &pt))
			continue;
		combinations_need(m, &pt, d);
		point_ids(m, &pt);
		if (point_is_repeated(m, &pt))
			has_repeats[pt.block - m->blocks] = true;
		else
			cell_count(m, &pt);
	}
	for (size_t i = 0; i < m->n_blocks; i++)
		m->blocks[i].is_unique = !has_repeats[i];
}

static int matrix_fill(struct matrix *m, struct diags *d)
{
	const struct plan *p = m->plan;
	size_t n_before = d->n + d->n_lost;

	if (axes_collect(m, d) < 0)
		return -1;
	m->blocks = arena_array(m->arena, p->n_blocks, sizeof(*m->blocks));
	for (; m->n_blocks < p->n_blocks; m->n_blocks++)
		if (block_make(m, &p->blocks[m->n_blocks], &m->blocks[m->n_blocks], d) < 0)
			return -1;
	m->excludes = arena_array(m->arena, p->n_excludes, sizeof(*m->excludes));
	for (; m->n_excludes < p->n_excludes; m->n_excludes++)
		exclude_make(m, &p->excludes[m->n_excludes], &m->excludes[m->n_excludes]);
	cells_count(m, d);
	if (m->n_cells == 0)
		diags_add(d, p->n_blocks > 0 ? p->blocks[0].line : 0, p->n_blocks > 0 ? p->blocks[0].column : 0,
		          "no cell is left: 'exclude' takes all %llu away", (unsigned long long)m->n_positions);
	return d->n + d->n_lost > n_before ? -1 : 0;
}

int matrix_new(const struct plan *p, struct diags *d, struct matrix **ret)
{
	struct matrix *m = xcalloc(1, sizeof(*m));

	m->plan = p;
	m->arena = arena_new();
	if (matrix_fill(m, d) < 0) {
		diags_sort(d);
		matrix_free(m);
		return -1;
	}
	*ret = m;
	return 0;
}

void matrix_free(struct matrix *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->n_axes; i++) {
		intern_done(&m->axes[i].own);
		intern_done(&m->axes[i].final);
	}
	arena_free(m->arena);
	free(m);
}

uint64_t matrix_count(const struct matrix *m)
{
	return m->n_cells;
}

bool matrix_axis_varies(const struct matrix *m, const char *axis)
{
	size_t i = axis_index(m, axis);

	return i < m->n_axes && m->axes[i].varies;
}
