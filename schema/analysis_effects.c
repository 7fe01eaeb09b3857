/* SPDX-License-Identifier: MIT
 *
 * Effects from matched cells; see analysis.h.
 *
 * For each axis and each two of its values, the rows with these values are sorted by everything but that axis; a run
 * of equal rows is a block in which only the axis varies, and gives the matched pairs.  So a thousand cells, seven
 * axes and ten values an axis are some hundred small sorts.  Blocks are disjoint: the pairs behind one change of
 * value share no cell and are independent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schema/analysis.h"
#include "schema/base/mem.h"

/* One matched pair: rows, and the log of their ratio. */
struct match {
	int from, to;  /* values */
	size_t a, b;   /* rows */
	double d;
};
struct matches {
	struct match *at;
	size_t n, cap;
};

struct finder {
	const struct design *d;
	const enum match_rule *rules; /* of all axes, or NULL */
	bool *is_free;                /* owned; of the two values at hand */
	size_t axis;
	double matters_sound, matters_any; /* of the axis at hand so far; -1: no pairs */
	struct effects *ret;
	size_t cap, cap_interactions;
};

static int level(const struct design *d, size_t row, size_t axis)
{
	return d->levels[row * d->n_axes + axis];
}

static int rows_order(const struct finder *f, size_t a, size_t b)
{
	for (size_t k = 0; k < f->d->n_axes; k++) {
		int x = level(f->d, a, k), y = level(f->d, b, k);

		if (x != y && k != f->axis && !f->is_free[k])
			return x < y ? -1 : 1;
	}
	return 0;
}

static int row_compare(const void *a, const void *b, void *finder)
{
	const size_t *x = a, *y = b;
	int order = rows_order(finder, *x, *y);

	if (order != 0)
		return order;
	order = level(((struct finder *)finder)->d, *x, ((struct finder *)finder)->axis) -
	        level(((struct finder *)finder)->d, *y, ((struct finder *)finder)->axis);
	return order != 0 ? order : (*x > *y) - (*x < *y);
}

static void block_match(const struct finder *f, const size_t *rows, size_t n, struct matches *ret)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			struct match m = { level(f->d, rows[i], f->axis), level(f->d, rows[j], f->axis), rows[i], rows[j], 0 };

			if (m.from == m.to)
				continue;
			m.d = log(f->d->values[m.b] / f->d->values[m.a]);
			ARRAY_GROW(ret->at, ret->n, ret->cap);
			ret->at[ret->n++] = m;
		}
	}
}

static int match_compare(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->d > y->d) - (x->d < y->d);
}

/* Matches within these rows, which are sorted here. */
static void rows_match(const struct finder *f, size_t *rows, size_t n, struct matches *ret)
{
	if (n > 0)
		qsort_r(rows, n, sizeof(*rows), row_compare, (void *)f);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && rows_order(f, rows[from], rows[to]) == 0; to++)
			;
		block_match(f, rows + from, to - from, ret);
	}
	if (ret->n > 0)
		qsort(ret->at, ret->n, sizeof(*ret->at), match_compare);
}

/* Variance that trial noise alone gives to the log ratio of a pair. */
static double match_variance(const struct design *d, const struct match *m)
{
	double a = noise_se(d->keep[m->a], d->trials[m->a]), b = noise_se(d->keep[m->b], d->trials[m->b]);

	return d->sigma * d->sigma * (a * a + b * b);
}

/* Interval of the mean log ratio: from the scatter of the pairs where there are several, and never narrower than the
 * trials' noise allows.  One pair of single trials has none. */
static void effect_decide(const struct design *d, const struct match *m, size_t n, struct effect *f)
{
	double sum = 0, squares = 0, noise = 0, mean, sd, se, t;

	for (size_t i = 0; i < n; i++) {
		sum += m[i].d;
		squares += m[i].d * m[i].d;
		noise += match_variance(d, &m[i]);
	}
	mean = sum / (double)n;
	noise /= (double)n;
	f->geometric = exp(mean);
	sd = n > 1 ? sqrt(fmax(0, (squares - sum * mean) / (double)(n - 1))) : sqrt(noise);
	t = n > 1 ? student_t95((double)(n - 1)) : 1.96;
	se = fmax(t * sd, d->is_sigma_assumed ? 0 : 1.96 * sqrt(noise)) / sqrt((double)n);
	f->low = exp(mean - se);
	f->high = exp(mean + se);
	f->is_decided = fabs(mean) > se;
	if (n == 1 && d->is_sigma_assumed) {
		f->low = 0;
		f->high = INFINITY;
		f->is_decided = false;
	}
	if (!f->is_decided && mean != 0) {
		double pairs = 2 + pow(2.0 * sd / mean, 2), trials = noise > 0 ? noise / (mean * mean) * 4 : 0;

		f->pairs_needed = pairs < 1e6 ? (size_t)ceil(pairs) : 0;
		f->trials_needed = trials > 0 && trials < 1e5 ? (size_t)ceil(trials * d->trials[m[0].a]) : 0;
	}
	/* What noise adds to the squares is taken off, and 1.5 of its standard errors: of many axes without effect
	 * the one with the luckiest pairs would else look important. */
	f->matters = sqrt(fmax(0, squares / (double)n - (d->is_sigma_assumed ? 0 : noise * (1 + 1.5 * sqrt(2 / (double)n)))));
}

static struct effect effect_make(const struct finder *f, const struct match *m, size_t n)
{
	struct effect r = { .axis = f->axis, .from = m[0].from, .to = m[0].to, .n_pairs = n };

	for (size_t i = 0; i < n; i++) {
		double gain = f->d->better == BETTER_LOWER ? -m[i].d : m[i].d;

		r.mean += exp(m[i].d) / (double)n;
		r.n_better += gain > 0;
		r.n_worse += gain < 0;
		r.n_equal += gain == 0;
	}
	r.min = exp(m[0].d); /* sorted */
	r.max = exp(m[n - 1].d);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < f->d->n_axes && k < 64; k++)
			if (k != f->axis && f->is_free[k] && level(f->d, m[i].a, k) != level(f->d, m[i].b, k))
				r.along |= UINT64_C(1) << k;
	r.median = n % 2 == 1 ? exp(m[n / 2].d) : (exp(m[n / 2].d) + exp(m[n / 2 - 1].d)) / 2;
	effect_decide(f->d, m, n, &r);
	return r;
}

/* Mean log ratio of the pairs at each value of another axis, and whether it is clear of noise. */
struct at_level {
	int value;
	double sum, squares, noise;
	size_t n;
};

static void levels_collect(const struct design *d, const struct match *m, size_t n, size_t other, struct at_level *ret,
                           size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		int value = level(d, m[i].a, other);
		size_t k = 0;

		while (k < *ret_n && ret[k].value != value)
			k++;
		if (k == *ret_n)
			ret[(*ret_n)++] = (struct at_level){ .value = value };
		ret[k].sum += m[i].d;
		ret[k].squares += m[i].d * m[i].d;
		ret[k].noise += match_variance(d, &m[i]);
		ret[k].n++;
	}
}

/* How many standard errors the mean at this value is from 0, with its sign. */
static double level_clarity(const struct at_level *l)
{
	double n = (double)l->n, mean = l->sum / n, se2 = l->noise / (n * n);

	if (l->n > 2)
		se2 = fmax(se2, (l->squares - l->sum * mean) / (n - 1) / n);
	return se2 > 0 ? mean / sqrt(se2) : mean > 0 ? INFINITY : mean < 0 ? -INFINITY : 0;
}

static void interaction_find(struct finder *f, const struct match *m, size_t n, size_t other)
{
	AUTO_FREE struct at_level *levels = xcalloc(n, sizeof(*levels));
	const struct at_level *up = NULL, *down = NULL;
	size_t n_levels;

	levels_collect(f->d, m, n, other, levels, &n_levels);
	for (size_t i = 0; i < n_levels; i++) {
		double clarity = level_clarity(&levels[i]), mean = levels[i].sum / (double)levels[i].n;

		if (clarity > 2 && (up == NULL || mean > up->sum / (double)up->n))
			up = &levels[i];
		if (clarity < -2 && (down == NULL || mean < down->sum / (double)down->n))
			down = &levels[i];
	}
	if (up == NULL || down == NULL)
		return;
	ARRAY_GROW(f->ret->interactions, f->ret->n_interactions, f->cap_interactions);
	f->ret->interactions[f->ret->n_interactions++] = (struct interaction){
		f->axis, other, m[0].from, m[0].to, up->value, down->value, exp(up->sum / (double)up->n),
		exp(down->sum / (double)down->n), up->n, down->n,
	};
}

static void change_find(struct finder *f, const struct match *m, size_t n)
{
	struct effect r = effect_make(f, m, n);

	/* One pair of single figures weighs only where there is nothing better. */
	if (n > 1 || !f->d->is_sigma_assumed)
		f->matters_sound = fmax(f->matters_sound, r.matters);
	f->matters_any = fmax(f->matters_any, r.matters);
	ARRAY_GROW(f->ret->at, f->ret->n, f->cap);
	f->ret->at[f->ret->n++] = r;
	for (size_t other = 0; other < f->d->n_axes; other++)
		if (other != f->axis && !f->is_free[other])
			interaction_find(f, m, n, other);
}

/* Whether all rows with one value of the axis at hand have one value of another. */
static bool follows(const struct finder *f, const size_t *rows, size_t n, size_t other)
{
	const size_t *first[2] = { NULL, NULL };

	for (size_t i = 0; i < n; i++) {
		const size_t **at = &first[level(f->d, rows[i], f->axis) != level(f->d, rows[0], f->axis)];

		if (*at == NULL)
			*at = &rows[i];
		else if (level(f->d, **at, other) != level(f->d, rows[i], other))
			return false;
	}
	return true;
}

/* The rows that have one of two values: what is free between them, and their pairs. */
static void values_compare(struct finder *f, const size_t *all, size_t n_all, int from, int to, size_t *rows)
{
	struct matches m = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < n_all; i++)
		if (level(f->d, all[i], f->axis) == from || level(f->d, all[i], f->axis) == to)
			rows[n++] = all[i];
	for (size_t k = 0; k < f->d->n_axes; k++) {
		enum match_rule rule = f->rules != NULL ? f->rules[f->axis * f->d->n_axes + k] : MATCH_EQUAL;

		f->is_free[k] = rule == MATCH_FREE || (rule == MATCH_FOLLOWING && follows(f, rows, n, k));
	}
	rows_match(f, rows, n, &m);
	if (m.n > 0)
		change_find(f, m.at, m.n);
	free(m.at);
}

/* Only values that stand in the same block can be compared, but which those are depends on what is free: all pairs
 * are tried. */
static void axis_find_effects(struct finder *f)
{
	AUTO_FREE size_t *all = xcalloc(f->d->n + 1, sizeof(*all)), *rows = xcalloc(f->d->n + 1, sizeof(*rows));
	AUTO_FREE bool *is_there = NULL;
	size_t n = 0;
	int top = -1;

	f->matters_sound = f->matters_any = -1;
	for (size_t i = 0; i < f->d->n; i++) {
		if (!(f->d->values[i] > 0) || level(f->d, i, f->axis) < 0)
			continue;
		all[n++] = i;
		top = level(f->d, i, f->axis) > top ? level(f->d, i, f->axis) : top;
	}
	is_there = xcalloc((size_t)top + 2, sizeof(*is_there));
	for (size_t i = 0; i < n; i++)
		is_there[level(f->d, all[i], f->axis)] = true;
	for (int from = 0; from <= top; from++)
		for (int to = from + 1; to <= top; to++)
			if (is_there[from] && is_there[to])
				values_compare(f, all, n, from, to, rows);
	f->ret->matters[f->axis] = f->matters_sound >= 0 ? f->matters_sound : f->matters_any;
}

static int interaction_compare(const void *a, const void *b)
{
	const struct interaction *x = a, *y = b;
	double p = x->up / x->down, q = y->up / y->down;

	return p > q ? -1 : p < q;
}

static int axis_compare(const void *a, const void *b, void *matters)
{
	double p = ((double *)matters)[*(const size_t *)a], q = ((double *)matters)[*(const size_t *)b];

	if (p != q)
		return p > q ? -1 : 1;
	return *(const size_t *)a > *(const size_t *)b ? 1 : -1;
}

static int effect_compare(const void *a, const void *b, void *rank)
{
	const struct effect *x = a, *y = b;
	size_t p = ((size_t *)rank)[x->axis], q = ((size_t *)rank)[y->axis];

	if (p != q)
		return p < q ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void effects_rank(const struct design *d, struct effects *ret)
{
	AUTO_FREE size_t *rank = xcalloc(d->n_axes, sizeof(*rank));

	for (size_t i = 0; i < d->n_axes; i++)
		ret->order[i] = i;
	if (d->n_axes > 0)
		qsort_r(ret->order, d->n_axes, sizeof(*ret->order), axis_compare, ret->matters);
	for (size_t i = 0; i < d->n_axes; i++)
		rank[ret->order[i]] = i;
	if (ret->n > 0)
		qsort_r(ret->at, ret->n, sizeof(*ret->at), effect_compare, rank);
	if (ret->n_interactions > 0)
		qsort(ret->interactions, ret->n_interactions, sizeof(*ret->interactions), interaction_compare);
}

void effects_find(const struct design *d, const enum match_rule *rules, struct effects *ret)
{
	AUTO_FREE bool *is_free = xcalloc(d->n_axes + 1, sizeof(*is_free));
	struct finder f = { .d = d, .rules = rules, .is_free = is_free, .ret = ret };

	*ret = (struct effects){ .order = xcalloc(d->n_axes + 1, sizeof(*ret->order)), .matters = xcalloc(d->n_axes + 1, sizeof(*ret->matters)) };
	for (f.axis = 0; f.axis < d->n_axes; f.axis++)
		axis_find_effects(&f);
	effects_rank(d, ret);
}

void effects_done(struct effects *f)
{
	free(f->at);
	free(f->interactions);
	free(f->order);
	free(f->matters);
	*f = (struct effects){ 0 };
}

size_t design_along(const int *levels, size_t n, size_t n_axes, size_t axis, bool *ret_along)
{
	size_t least = SIZE_MAX, pairs = 0;

	memset(ret_along, 0, n_axes * sizeof(*ret_along));
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			const int *x = levels + i * n_axes, *y = levels + j * n_axes;
			size_t differ = 0;

			if (x[axis] == y[axis])
				continue;
			for (size_t k = 0; k < n_axes; k++)
				differ += x[k] != y[k];
			if (differ > least)
				continue;
			if (differ < least) {
				least = differ;
				pairs = 0;
				memset(ret_along, 0, n_axes * sizeof(*ret_along));
			}
			pairs++;
			for (size_t k = 0; k < n_axes; k++)
				ret_along[k] = ret_along[k] || (k != axis && x[k] != y[k]);
		}
	}
	return pairs;
}
