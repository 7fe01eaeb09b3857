/* SPDX-License-Identifier: MIT
 *
 * One position of a matrix: its digits, its ids, whether it is excluded, and whether an earlier position is the same
 * cell.  Called for every position of every pass, a million times a check: no allocation, no text.
 */
#include <string.h>

#include "schema/matrix_private.h"

static const struct block *block_at(const struct matrix *m, uint64_t position)
{
	size_t low = 0, high = m->n_blocks;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (m->blocks[middle].first <= position)
			low = middle;
		else
			high = middle;
	}
	return &m->blocks[low];
}

void point_digits(const struct matrix *m, uint64_t position, struct point *ret)
{
	const struct block *b = block_at(m, position);
	uint64_t rest = position - b->first;

	ret->position = position;
	ret->block = b;
	for (size_t i = 0; i < b->n_dims; i++) {
		const struct dim *dim = &b->dims[i];

		if (!b->src->one_at_a_time) {
			ret->digit[i] = rest / dim->stride;
			rest %= dim->stride;
		} else {
			ret->digit[i] = rest > dim->stride && rest < dim->stride + dim->radix ? rest - dim->stride : 0;
		}
	}
}

uint64_t point_position(const struct point *pt)
{
	const struct block *b = pt->block;
	uint64_t position = b->first;

	for (size_t i = 0; i < b->n_dims; i++) {
		if (!b->src->one_at_a_time)
			position += pt->digit[i] * b->dims[i].stride;
		else if (pt->digit[i] > 0)
			position = b->first + b->dims[i].stride + pt->digit[i];
	}
	return position;
}

size_t point_value(const struct point *pt, int block_axis)
{
	return block_axis < 0 ? 0 : pt->digit[pt->block->axes[block_axis].dim];
}

static uint32_t combination_id(const struct point *pt, bool is_mount)
{
	const struct block *b = pt->block;

	return block_combination(b, is_mount, point_value(pt, b->filesystem),
	                         point_value(pt, is_mount ? b->mount : b->mkfs))
	        ->final;
}

void point_ids(const struct matrix *m, struct point *pt)
{
	const struct block *b = pt->block;

	memset(pt->id, 0, m->n_axes * sizeof(pt->id[0]));
	for (size_t i = 0; i < b->src->n; i++) {
		const struct block_axis *ba = &b->axes[i];

		pt->id[ba->axis] = ba->own[pt->digit[ba->dim]];
	}
	if (b->filesystem < 0)
		return;
	pt->id[m->filesystem] = b->types[point_value(pt, b->filesystem)];
	pt->id[m->mkfs] = combination_id(pt, false);
	pt->id[m->mount] = combination_id(pt, true);
}

/* ---- exclude ---- */

static bool exclude_axis_has(const struct exclude_axis *xa, uint32_t id)
{
	size_t low = 0, high = xa->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (xa->own[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < xa->n && xa->own[low] == id;
}

static uint32_t point_own(const struct point *pt, size_t axis)
{
	int at = pt->block->axis_of[axis];

	return at < 0 ? 0 : pt->block->axes[at].own[pt->digit[pt->block->axes[at].dim]];
}

bool point_is_excluded(const struct matrix *m, const struct point *pt)
{
	for (size_t i = 0; i < m->n_excludes; i++) {
		const struct exclude *x = &m->excludes[i];
		size_t j = 0;

		while (j < x->n && exclude_axis_has(&x->axes[j], point_own(pt, x->axes[j].axis)))
			j++;
		if (j == x->n)
			return true;
	}
	return false;
}

/* ---- the same cell at an earlier position ---- */

/* A search in one block for points that are the cell `want`, digit by digit. */
struct search {
	const struct matrix *m;
	const struct point *want;
	struct point at;                        /* being filled */
	size_t low[AXES_MAX], high[AXES_MAX];   /* digits that are looked at, per dimension */
	uint64_t limit;                         /* positions from here on do not count */
};

static bool is_format_axis(const struct matrix *m, size_t axis)
{
	return axis == m->filesystem || axis == m->mkfs || axis == m->mount;
}

static bool search_found(const struct search *s)
{
	return point_position(&s->at) < s->limit && !point_is_excluded(s->m, &s->at);
}

/* Range of values of one of the three axes, given the zip's row. */
static void format_range(const struct search *s, int axis, size_t *low, size_t *high)
{
	size_t dim = axis < 0 ? 0 : s->at.block->axes[axis].dim;

	*low = 0;
	*high = 1;
	if (axis < 0)
		return;
	*low = s->low[dim];
	*high = s->high[dim];
	if ((size_t)axis < s->at.block->src->n_zipped) {
		*low = s->at.digit[dim];
		*high = *low + 1;
	}
}

static void format_set(struct search *s, int axis, size_t value)
{
	if (axis >= 0)
		s->at.digit[s->at.block->axes[axis].dim] = value;
}

static bool combination_is(const struct search *s, bool is_mount, size_t filesystem, size_t words)
{
	const struct combination *c = block_combination(s->at.block, is_mount, filesystem, words);

	return c->state == COMBINATION_GOOD && c->final == s->want->id[is_mount ? s->m->mount : s->m->mkfs];
}

static bool search_options(struct search *s, size_t filesystem)
{
	const struct block *b = s->at.block;
	size_t mkfs_low, mkfs_high, mount_low, mount_high;

	format_range(s, b->mkfs, &mkfs_low, &mkfs_high);
	format_range(s, b->mount, &mount_low, &mount_high);
	for (size_t i = mkfs_low; i < mkfs_high; i++) {
		if (!combination_is(s, false, filesystem, i))
			continue;
		format_set(s, b->mkfs, i);
		for (size_t j = mount_low; j < mount_high; j++) {
			if (!combination_is(s, true, filesystem, j))
				continue;
			format_set(s, b->mount, j);
			if (search_found(s))
				return true;
		}
	}
	return false;
}

static bool search_format(struct search *s)
{
	const struct block *b = s->at.block;
	size_t low, high;

	if (b->filesystem < 0)
		return s->want->id[s->m->filesystem] == 0 && search_found(s);
	format_range(s, b->filesystem, &low, &high);
	for (size_t i = low; i < high; i++) {
		if (b->types[i] != s->want->id[s->m->filesystem])
			continue;
		format_set(s, b->filesystem, i);
		if (search_options(s, i))
			return true;
	}
	return false;
}

static bool search_rows(struct search *s)
{
	const struct block *b = s->at.block;
	size_t dim = b->src->n_zipped > 0 ? b->axes[0].dim : 0;

	if (b->src->n_zipped == 0)
		return search_format(s);
	for (size_t row = s->low[dim]; row < s->high[dim]; row++) {
		size_t i = 0;

		while (i < b->src->n_zipped &&
		       (is_format_axis(s->m, b->axes[i].axis) || b->axes[i].own[row] == s->want->id[b->axes[i].axis]))
			i++;
		s->at.digit[dim] = row;
		if (i == b->src->n_zipped && search_format(s))
			return true;
	}
	return false;
}

/* Index of a value by its id, or SIZE_MAX. */
static size_t value_index(const struct block_axis *ba, uint32_t id)
{
	size_t low = 0, high = ba->src->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ba->by_own[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ba->src->n && ba->by_own[low].id == id ? ba->by_own[low].index : SIZE_MAX;
}

/* The axes that stand for themselves have at most one digit that fits. */
static bool search_plain(struct search *s)
{
	const struct block *b = s->at.block;

	for (size_t i = b->src->n_zipped; i < b->src->n; i++) {
		const struct block_axis *ba = &b->axes[i];
		size_t value;

		if (is_format_axis(s->m, ba->axis))
			continue;
		value = value_index(ba, s->want->id[ba->axis]);
		if (value == SIZE_MAX || value < s->low[ba->dim] || value >= s->high[ba->dim])
			return false;
		s->at.digit[ba->dim] = value;
	}
	return search_rows(s);
}

static bool block_has(const struct matrix *m, const struct block *b, const struct point *want, uint64_t limit)
{
	struct search s;

	for (size_t i = 0; i < m->n_axes; i++)
		if (b->axis_of[i] < 0 && !is_format_axis(m, i) && want->id[i] != 0)
			return false;
	s.m = m;
	s.want = want;
	s.limit = limit;
	s.at.block = b;
	for (size_t i = 0; i < b->n_dims; i++) {
		s.low[i] = 0;
		s.high[i] = b->src->one_at_a_time ? 1 : b->dims[i].radix;
	}
	if (!b->src->one_at_a_time || b->n_dims == 0)
		return search_plain(&s);
	for (size_t i = 0; i < b->n_dims; i++) {
		s.high[i] = b->dims[i].radix;
		if (search_plain(&s))
			return true;
		s.high[i] = 1;
	}
	return false;
}

bool point_is_repeated(const struct matrix *m, const struct point *pt)
{
	if (pt->block->is_unique)
		return false;
	for (const struct block *b = m->blocks; b < pt->block; b++)
		if (block_has(m, b, pt, pt->position))
			return true;
	return pt->block->may_repeat && block_has(m, pt->block, pt, pt->position);
}
