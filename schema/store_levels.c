/* SPDX-License-Identifier: MIT
 *
 * The settings of a dataset's cells as small numbers: for each axis its values in order, for each cell the number of its value.
 * A cell's settings are read by its primary key, so this costs as much as reading its results.
 */
#include <string.h>

#include "schema/axis.h"
#include "schema/store_internal.h"
#include "schema/store_select.h"

struct levels {
	struct store *s;
	struct dataset *d;
	size_t cap_axes;
	int64_t *axis_ids;  /* owned */
	size_t *cap_values; /* owned; of each axis */
};

static size_t axis_slot(struct levels *l, int64_t axis_id, const char *name)
{
	struct dataset *d = l->d;
	size_t i = 0;

	while (i < d->n_axes && l->axis_ids[i] != axis_id)
		i++;
	if (i < d->n_axes)
		return i;
	if (d->n_axes == l->cap_axes) {
		l->cap_axes = l->cap_axes > 0 ? 2 * l->cap_axes : 16;
		d->axes = xreallocarray(d->axes, l->cap_axes, sizeof(*d->axes));
		l->axis_ids = xreallocarray(l->axis_ids, l->cap_axes, sizeof(*l->axis_ids));
		l->cap_values = xreallocarray(l->cap_values, l->cap_axes, sizeof(*l->cap_values));
	}
	d->axes[d->n_axes] = (struct dataset_axis){ .name = arena_strdup(d->arena, name), .def = axis_find(name) };
	l->axis_ids[d->n_axes] = axis_id;
	l->cap_values[d->n_axes] = 0;
	return d->n_axes++;
}

/* Level of a value; effective: what was found where it was left alone, NULL otherwise. */
static int level_find(struct levels *l, size_t axis, const char *value, const char *effective)
{
	struct dataset_axis *x = &l->d->axes[axis];
	char buf[64], found[64];
	const char *shown = axis_value_text(x->def, value, buf, sizeof(buf));
	AUTO_FREE char *both = effective == NULL ? NULL : xasprintf("%s (%s)", value, axis_value_text(x->def, effective, found, sizeof(found)));
	size_t old = l->cap_values[axis];

	if (both != NULL)
		shown = both;
	for (size_t i = 0; i < x->n_values; i++)
		if (strcmp(x->values[i], value) == 0 && strcmp(x->shown[i], shown) == 0)
			return (int)i;
	ARRAY_GROW(x->values, x->n_values, l->cap_values[axis]);
	if (old != l->cap_values[axis])
		x->shown = xreallocarray(x->shown, l->cap_values[axis], sizeof(*x->shown));
	x->values[x->n_values] = arena_strdup(l->d->arena, value);
	x->shown[x->n_values] = arena_strdup(l->d->arena, shown);
	return (int)x->n_values++;
}

/* One setting of one cell, before the number of axes is known. */
struct setting_row {
	size_t cell, axis;
	int level;
};

/* A default is told apart by what it was (6.17 has another readahead than 6.12), but for option words: what a filesystem is
 * like without options follows from the filesystem, which is an axis of its own. */
static bool default_tells(const char *axis)
{
	const struct axis *def = axis_find(axis);

	return def == NULL || def->kind != AXIS_WORDS;
}

static int settings_read(struct levels *l, struct setting_row **ret, size_t *ret_n, struct err *e)
{
	size_t cap = 0;

	for (size_t i = 0; i < l->d->n_cells; i++) {
		AUTO_STATEMENT struct statement *st = NULL;
		int rc;

		if (statement_open(l->s, &st, e,
		                   "SELECT v.axis_id, a.name, v.value, v.effective FROM cell_value v JOIN axis a ON a.id = v.axis_id "
		                   "WHERE v.cell_id = ?", "i", l->d->cells[i].id) < 0)
			return -1;
		while ((rc = statement_next(st, e)) > 0) {
			size_t axis = axis_slot(l, column_int(st, 0), column_borrow(st, 1));
			bool is_default = strcmp(column_borrow(st, 2), KERNEL_DEFAULT) == 0 && !column_is_null(st, 3) &&
			                  default_tells(column_borrow(st, 1));

			ARRAY_GROW(*ret, *ret_n, cap);
			(*ret)[(*ret_n)++] =
				(struct setting_row){ i, axis, level_find(l, axis, column_borrow(st, 2), is_default ? column_borrow(st, 3) : NULL) };
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int value_order(const void *a, const void *b, void *axis)
{
	const struct dataset_axis *x = axis;
	const char *p = x->values[*(const int *)a], *q = x->values[*(const int *)b];
	double m, n;
	bool has_m = number_parse(p, &m) == 0, has_n = number_parse(q, &n) == 0;

	if (has_m != has_n)
		return has_m ? -1 : 1;
	if (has_m && m != n)
		return m < n ? -1 : 1;
	return strcmp(p, q) != 0 ? strcmp(p, q) : strcmp(x->shown[*(const int *)a], x->shown[*(const int *)b]);
}

/* Sorts the values of an axis; ret_place[old level] is the new one.  The arrays become the arena's. */
static void axis_sort(struct dataset *d, struct dataset_axis *x, int *ret_place)
{
	AUTO_FREE int *order = xcalloc(x->n_values, sizeof(*order));
	const char **values = arena_array(d->arena, x->n_values + 1, sizeof(*values)),
	           **shown = arena_array(d->arena, x->n_values + 1, sizeof(*shown));

	for (size_t i = 0; i < x->n_values; i++)
		order[i] = (int)i;
	qsort_r(order, x->n_values, sizeof(*order), value_order, x);
	for (size_t i = 0; i < x->n_values; i++) {
		values[i] = x->values[order[i]];
		shown[i] = x->shown[order[i]];
		ret_place[order[i]] = (int)i;
	}
	free(x->values);
	free(x->shown);
	x->values = values;
	x->shown = shown;
}

static int levels_fill(struct levels *l, struct err *e)
{
	AUTO_FREE struct setting_row *rows = NULL;
	AUTO_FREE int *place = NULL;
	struct dataset *d = l->d;
	struct dataset_axis *axes;
	size_t n = 0, most = 0;
	int rc = settings_read(l, &rows, &n, e);

	/* A cell that says nothing of an axis has the value "" there. */
	for (size_t k = 0; k < d->n_axes; k++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			count += rows[i].axis == k;
		if (count < d->n_cells)
			level_find(l, k, "", NULL);
		most = d->axes[k].n_values > most ? d->axes[k].n_values : most;
	}
	place = xcalloc(most * (d->n_axes + 1), sizeof(*place));
	for (size_t k = 0; k < d->n_axes; k++)
		axis_sort(d, &d->axes[k], place + k * most);
	d->levels = xcalloc(d->n_cells * d->n_axes, sizeof(*d->levels));
	for (size_t k = 0; k < d->n_axes; k++)
		for (size_t v = 0; v < d->axes[k].n_values; v++)
			for (size_t i = 0; d->axes[k].values[v][0] == '\0' && i < d->n_cells; i++)
				d->levels[i * d->n_axes + k] = (int)v;
	for (size_t i = 0; i < n; i++)
		d->levels[rows[i].cell * d->n_axes + rows[i].axis] = place[rows[i].axis * most + (size_t)rows[i].level];
	axes = arena_array(d->arena, d->n_axes + 1, sizeof(*axes));
	if (d->n_axes > 0)
		memcpy(axes, d->axes, d->n_axes * sizeof(*axes));
	free(d->axes);
	d->axes = axes;
	return rc;
}

int store_dataset_levels(struct store *s, struct dataset *d, struct err *e)
{
	struct levels l = { .s = s, .d = d };
	int rc = levels_fill(&l, e);

	free(l.axis_ids);
	free(l.cap_values);
	return rc;
}
