/* SPDX-License-Identifier: MIT
 *
 * `show`: one row a cell, with the axes that vary and a figure for each metric; see show.h.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/show.h"
#include "cli/table.h"
#include "schema/stats.h"

/* For programs, beside each metric's value. */
enum { PART_MIN, PART_MAX, PART_N, PART_SPREAD, PART_UNIT, PART_FLAGS, N_PARTS };
static const char *const part_names[N_PARTS] = { "min", "max", "n", "spread", "unit", "flags" };

struct show_columns {
	size_t cell, config, state, reason;
	size_t *axes;    /* per axis; its effective value is the next column */
	size_t *metrics; /* per metric; its parts are the next columns */
};

static bool cells_all_ok(const struct report *r)
{
	for (size_t c = 0; c < r->n_cells; c++)
		if (r->cells[c].state != CELL_OK)
			return false;
	return true;
}

const char *show_title(struct arena *a, const char *name)
{
	char *title = arena_strdup(a, name);

	for (char *p = title; *p != '\0'; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return title;
}

static void metric_columns_add(const struct report *r, struct table *t, struct show_columns *c)
{
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct report_metric *m = &r->metrics[i];

		c->metrics[i] = table_column(t, m->key, m->title,
		                             TABLE_RIGHT | (m->aside != ASIDE_NO ? TABLE_EXTRA : 0));
		for (size_t p = 0; p < N_PARTS; p++) {
			const char *name = arena_printf(r->arena, "%s.%s", m->key, part_names[p]);

			table_column(t, name, name,
			             TABLE_EXTRA | (p == PART_UNIT || p == PART_FLAGS ? 0 : TABLE_RIGHT));
		}
	}
}

static struct show_columns columns_add(const struct report *r, struct table *t)
{
	struct show_columns c = {
		.axes = arena_array(r->arena, r->n_axes + 1, sizeof(size_t)),
		.metrics = arena_array(r->arena, r->n_metrics + 1, sizeof(size_t)),
	};

	c.cell = table_column(t, "cell", "CELL", TABLE_RIGHT | TABLE_KEY);
	for (size_t i = 0; i < r->n_axes; i++) {
		const struct report_axis *axis = &r->axes[i];
		bool is_shown = axis->varies && !axis->is_implied;

		c.axes[i] = table_column(t, axis->name, show_title(r->arena, axis->name),
		                         is_shown ? TABLE_KEY : TABLE_EXTRA);
		table_column(t, arena_printf(r->arena, "%s.effective", axis->name),
		             arena_printf(r->arena, "%s\nEFFECTIVE", show_title(r->arena, axis->name)), TABLE_EXTRA);
	}
	c.config = table_column(t, "config", "CONFIG", TABLE_EXTRA);
	c.state = table_column(t, "state", "STATE", TABLE_KEY | (cells_all_ok(r) ? TABLE_EXTRA : 0));
	c.reason = table_column(t, "reason", "REASON", TABLE_EXTRA | TABLE_WRAP);
	metric_columns_add(r, t, &c);
	return c;
}

static void result_set(const struct report *r, struct table *t, size_t column, const struct report_metric *m,
                       size_t cell)
{
	const struct shown_result *result = m->at[cell];

	if (result == NULL)
		return;
	table_number(t, column, result->value, report_figure(r, m, cell));
	table_number(t, column + 1 + PART_MIN, result->min, NULL);
	table_number(t, column + 1 + PART_MAX, result->max, NULL);
	table_integer(t, column + 1 + PART_N, result->n);
	table_number(t, column + 1 + PART_SPREAD, stats_spread(result->min, result->max, result->value), NULL);
	table_text(t, column + 1 + PART_UNIT, m->base);
	table_text(t, column + 1 + PART_FLAGS, result->flags);
}

static void cell_add(const struct report *r, struct table *t, const struct show_columns *c, size_t cell)
{
	const struct shown_cell *shown = &r->cells[cell];
	char digest[DIGEST_TEXT];

	table_row(t);
	table_integer(t, c->cell, shown->position + 1);
	table_text(t, c->config, digest_format(shown->config, digest));
	table_text(t, c->state, cell_state_name(shown->state));
	table_text(t, c->reason, shown->reason);
	for (size_t i = 0; i < r->n_axes; i++) {
		const struct shown_value *v = report_value(shown, r->axes[i].name);

		if (v == NULL)
			continue;
		table_text(t, c->axes[i], v->value);
		table_show(t, c->axes[i], report_value_text(r, shown, r->axes[i].name));
		table_text(t, c->axes[i] + 1, v->effective);
	}
	for (size_t i = 0; i < r->n_metrics; i++)
		result_set(r, t, c->metrics[i], &r->metrics[i], cell);
}

static int table_write(const struct report *r, struct table *t, const struct options *o, struct err *e)
{
	enum table_format format = TABLE_PEOPLE;

	if (o != NULL && table_format_of(o, &format, e) < 0)
		return -1;
	if (format != TABLE_PEOPLE ||
	    (o != NULL && options_has(o, "columns") && strcmp(options_text(o, "columns"), "help") == 0))
		return table_print(t, o, stdout, e);
	show_head(r, stdout);
	if (table_print_as(t, TABLE_PEOPLE, o != NULL ? options_text(o, "columns") : NULL, table_width(stdout), stdout,
	                   e) < 0)
		return -1;
	show_notes(r, stdout);
	return 0;
}

int show_cells(const struct report *r, const struct options *o, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("cells");
	struct show_columns c = columns_add(r, t);

	for (size_t i = 0; i < r->n_cells; i++)
		cell_add(r, t, &c, i);
	return table_write(r, t, o, e);
}

int show_sweep(struct store *s, int64_t sweep_id, bool as_json, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct report r;

	if (report_load(s, sweep_id, NULL, SCALE_DECIMAL, a, &r, e) < 0)
		return -1;
	return as_json ? show_json(&r, s, false, e) : show_cells(&r, NULL, e);
}

/* ---- pivot ---- */

struct pivot {
	const struct report *r;
	bool *is_by;                /* per axis: its values are columns */
	size_t *rows;               /* axes that make a row, in order */
	size_t n_rows;
	const char **heads;         /* distinct combinations of the by-axes, as text */
	size_t n_heads;
	const char **keys;          /* distinct combinations of the row axes */
	size_t n_keys;
	size_t *head_of, *key_of;   /* per cell */
};

/* The cell's values of some axes in one text, one below the other or joined by tabs. */
static const char *values_join(const struct report *r, size_t cell, const size_t *axes, size_t n, char between)
{
	AUTO_TEXT struct text joined = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			text_add_n(&joined, &between, 1);
		text_add(&joined, report_value_text(r, &r->cells[cell], r->axes[axes[i]].name));
	}
	return arena_strdup(r->arena, text_str(&joined));
}

static size_t distinct_add(const char **at, size_t *n, const char *s)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(at[i], s) == 0)
			return i;
	at[*n] = s;
	return (*n)++;
}

static int axes_read(const struct report *r, const char *list, size_t *ret, size_t *ret_n, struct err *e)
{
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ",");
		AUTO_FREE char *name = xstrndup(list, length);
		size_t axis;

		if (report_axis(r, name, &axis, e) < 0)
			return -1;
		for (size_t i = 0; i < *ret_n; i++)
			if (ret[i] == axis)
				return err_set(e, ERR_USAGE, "axis '%s' is named twice", name);
		if (*ret_n < r->n_axes)
			ret[(*ret_n)++] = axis;
		list += length + (list[length] == ',');
	}
	return 0;
}

static int pivot_build(const struct report *r, const char *by, const char *rows, struct pivot *ret, struct err *e)
{
	size_t *by_axes = arena_array(r->arena, r->n_axes + 1, sizeof(size_t)), n_by = 0;
	struct pivot p = {
		.r = r,
		.is_by = arena_array(r->arena, r->n_axes + 1, sizeof(bool)),
		.rows = arena_array(r->arena, r->n_axes + 1, sizeof(size_t)),
		.heads = arena_array(r->arena, r->n_cells + 1, sizeof(char *)),
		.keys = arena_array(r->arena, r->n_cells + 1, sizeof(char *)),
		.head_of = arena_array(r->arena, r->n_cells + 1, sizeof(size_t)),
		.key_of = arena_array(r->arena, r->n_cells + 1, sizeof(size_t)),
	};

	if (axes_read(r, by, by_axes, &n_by, e) < 0 || axes_read(r, rows, p.rows, &p.n_rows, e) < 0)
		return -1;
	for (size_t i = 0; i < n_by; i++) {
		for (size_t j = 0; j < p.n_rows; j++)
			if (p.rows[j] == by_axes[i])
				return err_set(e, ERR_USAGE, "axis '%s' cannot be rows and columns",
				               r->axes[by_axes[i]].name);
		p.is_by[by_axes[i]] = true;
	}
	for (size_t i = 0; i < r->n_axes; i++) { /* whatever else varies makes rows, so that no two cells share a place */
		bool is_row = false;

		for (size_t j = 0; j < p.n_rows; j++)
			is_row = is_row || p.rows[j] == i;
		if (!is_row && !p.is_by[i] && r->axes[i].varies && !r->axes[i].is_implied)
			p.rows[p.n_rows++] = i;
	}
	for (size_t c = 0; c < r->n_cells; c++) {
		p.head_of[c] = distinct_add(p.heads, &p.n_heads, values_join(r, c, by_axes, n_by, '\n'));
		p.key_of[c] = distinct_add(p.keys, &p.n_keys, values_join(r, c, p.rows, p.n_rows, '\t'));
	}
	*ret = p;
	return 0;
}

/* Names for programs: "dd-read.throughput[2MiB]". */
static void pivot_columns_add(const struct pivot *p, struct table *t)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		const char *name = p->r->axes[p->rows[i]].name;

		table_column(t, name, show_title(p->r->arena, name), TABLE_KEY);
	}
	for (size_t m = 0; m < p->r->n_metrics; m++)
		for (size_t h = 0; h < p->n_heads; h++) {
			char *name = arena_printf(p->r->arena, "%s[%s]", p->r->metrics[m].key, p->heads[h]);

			for (char *c = name; *c != '\0'; c++)
				*c = *c == '\n' ? ' ' : *c;
			table_column(t, name, arena_printf(p->r->arena, "%s\n%s", p->r->metrics[m].title, p->heads[h]),
			             TABLE_RIGHT | (h > 0 ? TABLE_GLUE : 0) |
			                     (p->r->metrics[m].aside != ASIDE_NO ? TABLE_EXTRA : 0));
		}
}

static void pivot_row_fill(const struct pivot *p, struct table *t, size_t key)
{
	bool has_axes = false;

	table_row(t);
	for (size_t c = 0; c < p->r->n_cells; c++) {
		if (p->key_of[c] != key)
			continue;
		for (size_t i = 0; i < p->n_rows && !has_axes; i++) {
			const struct shown_value *v = report_value(&p->r->cells[c], p->r->axes[p->rows[i]].name);

			table_text(t, i, v != NULL ? v->value : NULL);
			table_show(t, i, report_value_text(p->r, &p->r->cells[c], p->r->axes[p->rows[i]].name));
		}
		has_axes = true;
		for (size_t m = 0; m < p->r->n_metrics; m++) {
			size_t column = p->n_rows + m * p->n_heads + p->head_of[c];

			if (p->r->metrics[m].at[c] != NULL)
				table_number(t, column, p->r->metrics[m].at[c]->value,
				             report_figure(p->r, &p->r->metrics[m], c));
			else if (p->r->cells[c].state != CELL_OK)
				table_show(t, column, cell_state_name(p->r->cells[c].state));
		}
	}
}

int show_pivot(struct report *r, const char *by, const char *rows, const struct options *o, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("rows");
	struct pivot p;

	if (pivot_build(r, by, rows, &p, e) < 0)
		return -1;
	report_stand(r, p.head_of, p.n_heads);
	pivot_columns_add(&p, t);
	for (size_t k = 0; k < p.n_keys; k++)
		pivot_row_fill(&p, t, k);
	return table_write(r, t, o, e);
}
