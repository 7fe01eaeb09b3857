/* SPDX-License-Identifier: MIT
 *
 * The settings of a dataset's cells as small numbers: for each axis its values in order, for each cell the number of
 * its value. A cell's settings are read by its primary key, so this costs as much as reading its results.
 */
#include <string.h>

#include "schema/axis.h"
#include "schema/store_select.h"
#include "schema/store_texts.h"

/* Texts of an axis that were met, by their ids, and the level they stand for. */
struct met {
	int64_t value, effective; /* effective: 0 where it does not tell values apart */
	int level;
};

struct level_axis {
	int64_t id;
	bool default_tells;
	size_t cap_values;
	struct met *met; /* owned */
	size_t n_met, cap_met;
};

struct levels {
	struct store *s;
	struct dataset *d;
	struct texts texts;
	struct level_axis *axes; /* owned; beside those of the dataset */
	size_t cap_axes;
	int64_t default_id;      /* of the spelling 'kernel-default'; 0: the store has none */
};

/* A default is told apart by what it was (6.17 has another readahead than 6.12), but for option words: what a
 * filesystem is like without options follows from the filesystem, which is an axis of its own. */
static bool default_tells(const struct axis *def)
{
	return def == NULL || def->kind != AXIS_WORDS;
}

static int axis_add(struct levels *l, int64_t axis_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct dataset *d = l->d;
	const char *name;
	int rc;

	if (statement_open(l->s, &st, e, "SELECT name FROM axis WHERE id = ?", "i", axis_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : store_damaged(l->s, e, "axis %lld is missing", (long long)axis_id);
	if (d->n_axes == l->cap_axes) {
		l->cap_axes = l->cap_axes > 0 ? 2 * l->cap_axes : 16;
		d->axes = xreallocarray(d->axes, l->cap_axes, sizeof(*d->axes));
		l->axes = xreallocarray(l->axes, l->cap_axes, sizeof(*l->axes));
	}
	name = column_text(st, 0, d->arena);
	d->axes[d->n_axes] = (struct dataset_axis){ .name = name, .def = axis_find(name) };
	l->axes[d->n_axes] = (struct level_axis){ .id = axis_id, .default_tells = default_tells(d->axes[d->n_axes].def) };
	d->n_axes++;
	return 0;
}

static int axis_slot(struct levels *l, int64_t axis_id, size_t *ret, struct err *e)
{
	for (*ret = 0; *ret < l->d->n_axes; (*ret)++)
		if (l->axes[*ret].id == axis_id)
			return 0;
	return axis_add(l, axis_id, e);
}

/* Level of a value; effective: what was found where it was left alone, NULL otherwise. */
static int level_find(struct levels *l, size_t axis, const char *value, const char *effective)
{
	struct dataset_axis *x = &l->d->axes[axis];
	char buf[64], found[64];
	const char *shown = axis_value_text(x->def, value, buf, sizeof(buf));
	AUTO_FREE char *both = effective == NULL ? NULL :
	                                           xasprintf("%s (%s)", value,
	                                                     axis_value_text(x->def, effective, found, sizeof(found)));
	size_t old = l->axes[axis].cap_values;

	if (both != NULL)
		shown = both;
	for (size_t i = 0; i < x->n_values; i++)
		if (strcmp(x->values[i], value) == 0 && strcmp(x->shown[i], shown) == 0)
			return (int)i;
	ARRAY_GROW(x->values, x->n_values, l->axes[axis].cap_values);
	if (old != l->axes[axis].cap_values)
		x->shown = xreallocarray(x->shown, l->axes[axis].cap_values, sizeof(*x->shown));
	x->values[x->n_values] = arena_strdup(l->d->arena, value);
	x->shown[x->n_values] = arena_strdup(l->d->arena, shown);
	return (int)x->n_values++;
}

/* The same for a row's ids: a sweep of a thousand cells has some ten values of an axis. */
static int level_of(struct levels *l, size_t axis, int64_t value_id, int64_t effective_id, int *ret, struct err *e)
{
	struct level_axis *x = &l->axes[axis];
	const char *value, *effective;

	if (value_id != l->default_id || !x->default_tells)
		effective_id = 0;
	for (size_t i = 0; i < x->n_met; i++) {
		if (x->met[i].value == value_id && x->met[i].effective == effective_id) {
			*ret = x->met[i].level;
			return 0;
		}
	}
	if (texts_spelling(&l->texts, value_id, &value, e) < 0 ||
	    texts_spelling(&l->texts, effective_id, &effective, e) < 0)
		return -1;
	*ret = level_find(l, axis, value, effective);
	ARRAY_GROW(x->met, x->n_met, x->cap_met);
	x->met[x->n_met++] = (struct met){ value_id, effective_id, *ret };
	return 0;
}

/* One setting of one cell, before the number of axes is known. */
struct setting_row {
	size_t cell, axis;
	int level;
};

static int settings_read(struct levels *l, struct setting_row **ret, size_t *ret_n, struct err *e)
{
	size_t cap = 0;

	if (statement_int(l->s, &l->default_id, e, "SELECT id FROM spelling WHERE text = ?", "t", KERNEL_DEFAULT) < 0)
		return -1;
	for (size_t i = 0; i < l->d->n_cells; i++) {
		AUTO_STATEMENT struct statement *st = NULL;
		int rc;

		if (statement_open(l->s, &st, e, "SELECT axis_id, value, effective FROM cell_setting WHERE cell_id = ?",
		                   "i", l->d->cells[i].id) < 0)
			return -1;
		while ((rc = statement_next(st, e)) > 0) {
			struct setting_row row = { .cell = i };

			if (axis_slot(l, column_int(st, 0), &row.axis, e) < 0 ||
			    level_of(l, row.axis, column_int(st, 1), column_int(st, 2), &row.level, e) < 0)
				return -1;
			ARRAY_GROW(*ret, *ret_n, cap);
			(*ret)[(*ret_n)++] = row;
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
	struct levels l = { .s = s, .d = d, .texts = { .s = s, .a = d->arena } };
	int rc = levels_fill(&l, e);

	for (size_t k = 0; k < d->n_axes; k++)
		free(l.axes[k].met);
	free(l.axes);
	texts_done(&l.texts);
	return rc;
}
