/* SPDX-License-Identifier: MIT
 *
 * The dialects of a definition (csv: layouts by first field; grids: printed tables) and the checks that sources share:
 * patterns, paths, names of fields.
 */
#include <string.h>

#include "schema/workload_read.h"

const char *reader_text(struct metric_reader *r, const struct node *node, const char *key)
{
	if (node->kind == NODE_SCALAR)
		return arena_strdup(r->w->arena, node->text);
	diags_add(r->d, node->line, node->column, "'%s' must be a scalar, not %s", key, node_kind_name(node));
	return "";
}

const pcre2_code *reader_pattern(struct metric_reader *r, const struct node *node, const char *key)
{
	const pcre2_code *re = NULL;
	struct err e;

	if (pattern_compile(r->w->arena, reader_text(r, node, key), &re, &e) < 0)
		diags_add(r->d, node->line, node->column, "%s: %s", key, e.text);
	return re;
}

void reader_path(struct metric_reader *r, const struct node *node, struct json_path *ret)
{
	struct err e;

	if (json_path_parse(r->w->arena, reader_text(r, node, "a JSON path"), ret, &e) < 0)
		diags_add(r->d, node->line, node->column, "%s", e.text);
}

const struct csv *reader_csv(struct metric_reader *r, const struct node *node)
{
	const char *name = reader_text(r, node, "csv");

	for (size_t i = 0; i < r->n_csvs; i++)
		if (strcmp(r->csvs[i].name, name) == 0)
			return &r->csvs[i];
	diags_add(r->d, node->line, node->column, "'csv' names '%s', which is not under the definition's 'csv'", name);
	return NULL;
}

const struct grid *reader_grid(struct metric_reader *r, const struct node *node)
{
	const char *name = reader_text(r, node, "grid");

	for (size_t i = 0; i < r->n_grids; i++)
		if (strcmp(r->grids[i].name, name) == 0)
			return &r->grids[i];
	diags_add(r->d, node->line, node->column, "'grid' names '%s', which is not under the definition's 'grids'",
	          name);
	return NULL;
}

static bool csv_has_field(const struct csv *csv, const char *name)
{
	for (size_t i = 0; csv != NULL && i < csv->n; i++)
		for (size_t k = 0; k < csv->layouts[i].n; k++)
			if (strcmp(csv->layouts[i].names[k], name) == 0)
				return true;
	return csv == NULL; /* its absence was reported */
}

static bool names_have(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool grid_has_field(const struct grid *grid, const char *name)
{
	if (grid == NULL || names_have((const char *const *)grid->columns, grid->n, name))
		return true;
	for (size_t i = 0; i < grid->n_also; i++) {
		size_t n = strlen(grid->also[i].prefix);

		if (text_starts(name, grid->also[i].prefix) && name[n] == '_' &&
		    names_have((const char *const *)grid->columns, grid->n, name + n + 1))
			return true;
	}
	return false;
}

bool source_has_field(const struct source *s, const char *name)
{
	switch (s->kind) {
	case SOURCE_FACTS:
		return false;
	case SOURCE_MATCH:
		return s->re == NULL || pattern_group(s->re, name) > 0;
	case SOURCE_JSON:
		for (size_t i = 0; i < s->n_takes; i++)
			if (strcmp(s->takes[i].name, name) == 0)
				return true;
		return strcmp(name, "value") == 0 || strcmp(name, "document") == 0;
	case SOURCE_CSV:
		return csv_has_field(s->csv, name);
	case SOURCE_GRID:
		return grid_has_field(s->grid, name);
	}
	return false;
}

/* Notes that the definition names a fact; fact_table has fewer entries than w->uses. */
static void fact_note(struct workload *w, const char *name)
{
	size_t n = 0;

	while (w->uses[n] != NULL && strcmp(w->uses[n], name) != 0)
		n++;
	if (w->uses[n] == NULL && n + 1 < ARRAY_SIZE(w->uses))
		w->uses[n] = arena_strdup(w->arena, name);
}

bool reader_knows(const struct metric_reader *r, const struct source *s, const char *name)
{
	const struct workload *w = r->w;

	if (fact_is_known(name))
		fact_note(r->w, name);
	if (fact_is_known(name) || (s->kind != SOURCE_FACTS && strcmp(name, "copy") == 0))
		return true;
	for (size_t i = 0; i < w->n_params; i++)
		if (strcmp(w->params[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < w->n_metrics; i++)
		if (strcmp(w->metrics[i].name, name) == 0)
			return true;
	return false;
}

bool phase_is_known(const char *name)
{
	for (int i = 0; i < N_PHASES; i++)
		if (strcmp(phase_name((enum workload_phase)i), name) == 0)
			return true;
	return false;
}

void reader_template(struct metric_reader *r, const struct node *node, const char *template, const struct source *s)
{
	for (const char *p = strstr(template, "${"); p != NULL; p = strstr(p + 2, "${")) {
		const char *end = strchr(p, '}');
		AUTO_FREE char *name = end != NULL ? xstrndup(p + 2, (size_t)(end - p - 2)) : xstrdup(p);

		if (strcmp(name, "#") != 0 && strcmp(name, "copy") != 0 && !source_has_field(s, name))
			diags_add(r->d, node->line, node->column, "'${%s}' is no field of this source", name);
	}
}

/* A NULL-free array of names out of a list. */
static const char **names_read(struct metric_reader *r, const struct node *list, const char *what, size_t *ret_n)
{
	const char **names = arena_array(r->w->arena, list->n, sizeof(*names));

	*ret_n = list->n;
	if (list->kind != NODE_LIST || list->n == 0) {
		diags_add(r->d, list->line, list->column, "%s must be a list of names", what);
		*ret_n = 0;
	}
	for (size_t i = 0; i < *ret_n; i++)
		names[i] = reader_text(r, list->at[i], what);
	return names;
}

static void layout_read(struct metric_reader *r, const struct node *key, const struct node *node, struct layout *l)
{
	static const char *const known[] = { "fields", "at-least", NULL };
	const struct node *fields = node_get(node, "fields"), *least = node_get(node, "at-least");
	int64_t min;

	*l = (struct layout){ .first = strcmp(key->text, "*") != 0 ? arena_strdup(r->w->arena, key->text) : NULL };
	if (node->kind != NODE_MAP || fields == NULL) {
		diags_add(r->d, node->line, node->column, "layout '%s' must be a map with 'fields'", key->text);
		return;
	}
	node_check_keys(node, known, "a layout", r->d);
	l->names = names_read(r, fields, "'fields'", &l->n);
	l->min = l->n;
	if (least == NULL)
		return;
	if (integer_parse(reader_text(r, least, "at-least"), 1, (int64_t)l->n, &min) < 0)
		diags_add(r->d, least->line, least->column, "'at-least' must be a number from 1 to %zu", l->n);
	else
		l->min = (size_t)min;
}

static void csv_read(struct metric_reader *r, const struct node *key, const struct node *node, struct csv *csv)
{
	static const char *const known[] = { "separator", "layouts", NULL };
	const struct node *separator = node_get(node, "separator"), *layouts = node_get(node, "layouts");
	struct layout *at;

	*csv = (struct csv){ .name = arena_strdup(r->w->arena, key->text), .separator = ',' };
	if (node->kind != NODE_MAP || layouts == NULL || layouts->kind != NODE_MAP) {
		diags_add(r->d, node->line, node->column,
		          "csv '%s' must be a map with 'layouts': FIRST FIELD: {fields: [...]}", key->text);
		return;
	}
	node_check_keys(node, known, "a csv", r->d);
	if (separator != NULL) {
		const char *text = reader_text(r, separator, "separator");

		if (strlen(text) != 1)
			diags_add(r->d, separator->line, separator->column, "'separator' must be one character");
		csv->separator = *text;
	}
	at = arena_array(r->w->arena, layouts->n, sizeof(*at));
	for (size_t i = 0; i < layouts->n; i++)
		layout_read(r, layouts->keys[i], layouts->at[i], &at[i]);
	csv->layouts = at;
	csv->n = layouts->n;
}

static void grid_also(struct metric_reader *r, const struct node *map, struct grid *grid)
{
	struct also *also = arena_array(r->w->arena, map->n, sizeof(*also));

	if (map->kind != NODE_MAP) {
		diags_add(r->d, map->line, map->column, "'also' must be a map of prefixes and patterns");
		return;
	}
	for (size_t i = 0; i < map->n; i++)
		also[i] = (struct also){ arena_strdup(r->w->arena, map->keys[i]->text), reader_pattern(r, map->at[i], "also") };
	grid->also = also;
	grid->n_also = map->n;
}

static void grid_read(struct metric_reader *r, const struct node *key, const struct node *node, struct grid *grid)
{
	static const char *const known[] = { "heading", "columns", "names", "also", NULL };
	const struct node *heading = node_get(node, "heading"), *columns = node_get(node, "columns"), *more;
	int64_t n;

	*grid = (struct grid){ .name = arena_strdup(r->w->arena, key->text) };
	if (node->kind != NODE_MAP || heading == NULL || columns == NULL) {
		diags_add(r->d, node->line, node->column, "grid '%s' must be a map with 'heading' and 'columns'",
		          key->text);
		return;
	}
	node_check_keys(node, known, "a grid", r->d);
	grid->heading = reader_pattern(r, heading, "heading");
	grid->columns = names_read(r, columns, "'columns'", &grid->n);
	if (grid->n > 64)
		diags_add(r->d, columns->line, columns->column, "a grid has at most 64 columns");
	more = node_get(node, "names");
	if (more != NULL && integer_parse(reader_text(r, more, "names"), 0, (int64_t)grid->n, &n) < 0)
		diags_add(r->d, more->line, more->column, "'names' must be the number of columns that hold names");
	else if (more != NULL)
		grid->n_named = (size_t)n;
	more = node_get(node, "also");
	if (more != NULL)
		grid_also(r, more, grid);
}

void dialects_read(struct metric_reader *r, const struct node *root)
{
	const struct node *csvs = node_get(root, "csv"), *grids = node_get(root, "grids");

	if (csvs != NULL && csvs->kind == NODE_MAP) {
		r->csvs = arena_array(r->w->arena, csvs->n, sizeof(*r->csvs));
		for (size_t i = 0; i < csvs->n; i++)
			csv_read(r, csvs->keys[i], csvs->at[i], &r->csvs[r->n_csvs++]);
	} else if (csvs != NULL) {
		diags_add(r->d, csvs->line, csvs->column, "'csv' must be a map of dialects");
	}
	if (grids != NULL && grids->kind == NODE_MAP) {
		r->grids = arena_array(r->w->arena, grids->n, sizeof(*r->grids));
		for (size_t i = 0; i < grids->n; i++)
			grid_read(r, grids->keys[i], grids->at[i], &r->grids[r->n_grids++]);
	} else if (grids != NULL) {
		diags_add(r->d, grids->line, grids->column, "'grids' must be a map of tables");
	}
}
