/* SPDX-License-Identifier: MIT
 *
 * Reading and binding the map of a foreign table; see import_map.h.
 */
#include "schema/import_map.h"

#include <string.h>

#include "schema/filter.h"
#include "schema/store.h"
#include "schema/workload.h"
#include "schema/yaml.h"

struct reader {
	struct arena *a;
	struct diags *d;
	struct import_map *map;
};

#define fault(r, at, ...) diags_add((r)->d, (at)->line, (at)->column, __VA_ARGS__)

/* The text of a scalar: of one line, since it stands in tables; the end that a "key: >" leaves is none of it. */
static const char *line_text(const struct reader *r, const struct node *n, const char *what)
{
	const char *text = text_ends(n->text, "\n") ? arena_strndup(r->a, n->text, strlen(n->text) - 1) : n->text;

	if (!text_is_printable(text))
		fault(r, n, "%s is one line for people: write it without line breaks and control characters", what);
	return text;
}

/* Names of the map's own are keys. */
static void keys_check(const struct reader *r, const struct node *n)
{
	for (size_t i = 0; n->kind != NODE_SCALAR && i < n->n; i++) {
		if (n->kind == NODE_MAP && !text_is_printable(n->keys[i]->text))
			fault(r, n->keys[i], "a line break or control character in a name");
		keys_check(r, n->at[i]);
	}
}

/* A scalar under a key, or fallback; a fault if it is not one. */
static const char *scalar_get(const struct reader *r, const struct node *map, const char *key, const char *fallback)
{
	const struct node *n = node_get(map, key);

	if (n == NULL)
		return fallback;
	if (n->kind != NODE_SCALAR) {
		diags_add(r->d, n->line, n->column, "'%s' takes a scalar, not %s", key, node_kind_name(n));
		return fallback;
	}
	return line_text(r, n, key);
}

static bool is_map(const struct reader *r, const struct node *n, const char *what)
{
	if (n->kind == NODE_MAP)
		return true;
	diags_add(r->d, n->line, n->column, "%s is a map, not %s", what, node_kind_name(n));
	return false;
}

static struct import_pair *pairs_read(const struct reader *r, const struct node *map, const char *what, size_t *ret_n)
{
	struct import_pair *pairs;
	size_t n = 0;

	*ret_n = 0;
	if (map == NULL || !is_map(r, map, what))
		return NULL;
	pairs = arena_array(r->a, map->n + 1, sizeof(*pairs));
	for (size_t i = 0; i < map->n; i++) {
		if (map->at[i]->kind != NODE_SCALAR)
			fault(r, map->at[i], "'%s' takes a scalar here", map->keys[i]->text);
		else
			pairs[n++] = (struct import_pair){ map->keys[i]->text, line_text(r, map->at[i], map->keys[i]->text) };
	}
	*ret_n = n;
	return pairs;
}

static struct import_where *where_read(const struct reader *r, const struct node *map, const char *what, size_t *ret_n)
{
	struct import_where *where;
	struct import_pair *pairs = pairs_read(r, map, what, ret_n);

	where = arena_array(r->a, *ret_n + 1, sizeof(*where));
	for (size_t i = 0; i < *ret_n; i++)
		where[i] = (struct import_where){ pairs[i].from, pairs[i].to, -1, map->keys[i]->line, map->keys[i]->column };
	return where;
}

/* {column: X} or {value: X}, or a scalar, which is a constant. */
static struct import_field field_read(const struct reader *r, const struct node *n, const char *const *known,
                                      const char *what)
{
	static const char *const plain[] = { "column", "value", "unit", "values", NULL };
	struct import_field f = { .index = -1, .line = n->line, .column_at = n->column };

	if (n->kind == NODE_SCALAR) {
		f.value = line_text(r, n, what);
		return f;
	}
	if (!is_map(r, n, what))
		return f;
	node_check_keys(n, known != NULL ? known : plain, what, r->d);
	f.column = scalar_get(r, n, "column", NULL);
	f.value = scalar_get(r, n, "value", NULL);
	f.unit = scalar_get(r, n, "unit", NULL);
	f.values = pairs_read(r, node_get(n, "values"), "'values'", &f.n_values);
	if ((f.column == NULL) == (f.value == NULL))
		fault(r, n, "%s needs one of 'column' and 'value'", what);
	return f;
}

static void axes_read(const struct reader *r, const struct node *map)
{
	struct import_map *m = r->map;

	if (map == NULL || !is_map(r, map, "'axes'"))
		return;
	m->axes = arena_array(r->a, map->n + 1, sizeof(*m->axes));
	for (size_t i = 0; i < map->n; i++) {
		struct import_axis *axis = &m->axes[m->n_axes++];

		axis->name = map->keys[i]->text;
		axis->def = axis_find(axis->name);
		axis->field = field_read(r, map->at[i], NULL, "an axis");
		if (axis->def != NULL)
			continue;
		if (strchr(axis->name, '.') != NULL) { /* WORKLOAD.PARAM */
			axis->def = &axis_workload;
			continue;
		}
		diags_add(r->d, map->keys[i]->line, map->keys[i]->column, "unknown axis '%s'%s%s%s", axis->name,
		          axis_nearest(axis->name) ? ", did you mean '" : "",
		          axis_nearest(axis->name) ? axis_nearest(axis->name) : "",
		          axis_nearest(axis->name) ? "'?" : ": a name of your own is written label.NAME");
	}
	if (m->n_axes > CELL_SETTINGS_MAX)
		fault(r, map, "%s: more axes than a cell can have", "'axes'");
}

static void workload_read_node(const struct reader *r, const char *name, const struct node *n)
{
	static const char *const known[] = { "needs", "params", "about", NULL };
	struct import_workload *w = &r->map->workloads[r->map->n_workloads++];
	const struct node *needs;

	*w = (struct import_workload){ .name = name };
	if (n == NULL || !is_map(r, n, "a workload"))
		return;
	node_check_keys(n, known, "a workload", r->d);
	w->params = pairs_read(r, node_get(n, "params"), "'params'", &w->n_params);
	needs = node_get(n, "needs");
	if (needs == NULL)
		return;
	if (needs->kind != NODE_LIST) {
		fault(r, needs, "'%s' is a list of programs", "needs");
		return;
	}
	w->needs = arena_array(r->a, needs->n + 1, sizeof(*w->needs));
	for (size_t i = 0; i < needs->n; i++)
		w->needs[w->n_needs++] = needs->at[i]->text != NULL ? needs->at[i]->text : "";
}

/* The workload with this name, added if the map says nothing of it. */
static size_t workload_index(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->map->n_workloads; i++)
		if (strcmp(r->map->workloads[i].name, name) == 0)
			return i;
	workload_read_node(r, name, NULL);
	return r->map->n_workloads - 1;
}

/* Unit and direction: both must be said, since nobody can guess them from a number. */
static void metric_unit_read(const struct reader *r, const struct node *key, const struct node *n,
                             struct import_metric *m)
{
	const struct unit *unit = m->field.unit != NULL ? unit_find(m->field.unit) : NULL;
	const char *better = scalar_get(r, n, "better", "");

	if (m->field.unit == NULL)
		fault(r, n, "'%s' needs a unit: as MB/s, ms, 1/s, %%", key->text);
	m->unit = unit != NULL ? unit->base : m->field.unit;
	m->factor = unit != NULL ? unit->factor : 1;
	if (strcmp(better, "higher") != 0 && strcmp(better, "lower") != 0 && strcmp(better, "neither") != 0)
		fault(r, n, "'%s' needs better: higher, lower or neither", key->text);
	m->better = strcmp(better, "lower") == 0   ? BETTER_LOWER :
	            strcmp(better, "neither") == 0 ? BETTER_NEITHER :
	                                             BETTER_HIGHER;
}

static void metric_read(const struct reader *r, const struct node *key, const struct node *n)
{
	static const char *const known[] = { "column", "value", "unit", "values", "better", "label", "where", "optional", NULL };
	struct import_metric *m = &r->map->metrics[r->map->n_metrics];
	const char *dot = strrchr(key->text, '.');

	if (dot == NULL || dot == key->text || dot[1] == '\0') {
		fault(r, key, "a metric is WORKLOAD.METRIC, not '%s'", key->text);
		return;
	}
	if (!is_map(r, n, "a metric"))
		return;
	m->field = field_read(r, n, known, "a metric");
	m->name = dot + 1;
	m->label = scalar_get(r, n, "label", "");
	m->workload = workload_index(r, arena_strndup(r->a, key->text, (size_t)(dot - key->text)));
	m->where = where_read(r, node_get(n, "where"), "'where'", &m->n_where);
	if (node_get(n, "optional") != NULL && node_bool(node_get(n, "optional"), &m->is_optional) < 0)
		fault(r, node_get(n, "optional"), "'%s' takes yes or no", "optional");
	metric_unit_read(r, key, n, m);
	r->map->n_metrics++;
}

static void measured_read(const struct reader *r, const struct node *root)
{
	const struct node *workloads = node_get(root, "workloads"), *metrics = node_get(root, "metrics");

	if (metrics == NULL || metrics->kind != NODE_MAP || metrics->n == 0) {
		fault(r, metrics != NULL ? metrics : root, "'%s' is missing: which columns are figures", "metrics");
		return;
	}
	if (workloads != NULL && !is_map(r, workloads, "'workloads'"))
		return;
	r->map->workloads = arena_array(r->a, metrics->n + (workloads != NULL ? workloads->n : 0) + 1,
	                                sizeof(*r->map->workloads));
	r->map->metrics = arena_array(r->a, metrics->n + 1, sizeof(*r->map->metrics));
	for (size_t i = 0; workloads != NULL && i < workloads->n; i++)
		workload_read_node(r, workloads->keys[i]->text, workloads->at[i]);
	for (size_t i = 0; i < metrics->n; i++)
		metric_read(r, metrics->keys[i], metrics->at[i]);
}

static void facts_read(const struct reader *r, const struct node *facts, const struct node *flags)
{
	static const char *const known[] = { "column", "value", "values", "is", NULL };
	struct import_map *m = r->map;

	if (facts != NULL && is_map(r, facts, "'environment'")) {
		m->facts = arena_array(r->a, facts->n + 1, sizeof(*m->facts));
		for (size_t i = 0; i < facts->n; i++)
			m->facts[m->n_facts++] =
				(struct import_fact){ facts->keys[i]->text, field_read(r, facts->at[i], NULL, "a fact") };
	}
	if (flags == NULL || !is_map(r, flags, "'flags'"))
		return;
	m->flags = arena_array(r->a, flags->n + 1, sizeof(*m->flags));
	for (size_t i = 0; i < flags->n; i++)
		m->flags[m->n_flags++] = (struct import_flag){ flags->keys[i]->text,
			                                       flags->at[i]->kind == NODE_MAP ?
			                                               scalar_get(r, flags->at[i], "is", "yes") :
			                                               "",
			                                       field_read(r, flags->at[i], known, "a flag") };
}

static void keep_read(const struct reader *r, const struct node *root)
{
	const char *keep = scalar_get(r, root, "keep", NULL), *of = scalar_get(r, root, "of", "1");
	int64_t n = 1;

	if (keep == NULL)
		fault(r, root, "'%s' is missing: median, mean or single", "keep");
	else if (strcmp(keep, "median") != 0 && strcmp(keep, "mean") != 0 && strcmp(keep, "single") != 0)
		fault(r, node_get(root, "keep"), "'%s' is not one of median, mean and single", keep);
	else
		r->map->keep = keep[0] == 's' ? KEEP_SINGLE : strcmp(keep, "mean") == 0 ? KEEP_MEAN : KEEP_MEDIAN;
	if (integer_parse(of, 1, 1000000, &n) < 0)
		fault(r, node_get(root, "of"), "'%s' is not a number of runs", of);
	r->map->of = (int)n;
}

static void header_read(const struct reader *r, const struct node *root)
{
	struct import_map *m = r->map;
	const char *published = scalar_get(r, root, "published", NULL);
	const struct node *join = node_get(root, "join"), *host = node_get(root, "host"),
	                  *rep = node_get(root, "repetition");
	int64_t to_ms;

	m->name = scalar_get(r, root, "import", NULL);
	if (m->name == NULL || m->name[0] == '\0')
		fault(r, root, "'%s' is missing: the name under which the table is found", "import");
	m->about = scalar_get(r, root, "about", "");
	m->source = scalar_get(r, root, "source", NULL);
	if (m->source == NULL)
		fault(r, root, "'%s' is missing: where the table was published", "source");
	if (published == NULL)
		fault(r, root, "'%s' is missing: a date as 2008-11 or 2008-11-20", "published");
	else if (filter_date(published, &m->published_ms, &to_ms) < 0 || m->published_ms < 0 ||
	         to_ms > STORE_TIME_MAX_MS)
		fault(r, node_get(root, "published"),
		      "'%s' is not a date of 1970 to 2199: write 2008, 2008-11 or 2008-11-20", published);
	if (host == NULL)
		fault(r, root, "'%s' is missing: {value: NAME} or {column: NAME}", "host");
	else
		m->host = field_read(r, host, NULL, "'host'");
	m->has_repetition = rep != NULL;
	if (rep != NULL)
		m->repetition = field_read(r, rep, NULL, "'repetition'");
	if (join == NULL || !is_map(r, join, "'join'"))
		return;
	m->join_file = scalar_get(r, join, "file", NULL);
	m->join_on = scalar_get(r, join, "on", NULL);
	m->join_line = join->line;
	m->join_column = join->column;
	if (m->join_file == NULL || m->join_on == NULL)
		fault(r, join, "'%s' needs file: and on:", "join");
}

static void text_quote(struct text *t, const char *s)
{
	text_add(t, "'");
	for (; *s != '\0'; s++)
		text_printf(t, *s == '\'' ? "''" : "%c", *s == '\n' ? ' ' : *s);
	text_add(t, "'");
}

/* What the store keeps as the workload's definition: enough to tell it from a real one.  Tables that say the same of
 * it have the same workload, so that their figures can be compared. */
static void definitions_make(const struct reader *r)
{
	for (size_t i = 0; i < r->map->n_workloads; i++) {
		struct import_workload *w = &r->map->workloads[i];
		struct workload_param *params = arena_array(r->a, w->n_params + 1, sizeof(*params));
		AUTO_TEXT struct text yaml = { 0 }, json = { 0 };

		text_add(&yaml, "workload: ");
		text_quote(&yaml, w->name);
		text_add(&yaml, "\nabout: as published, not run by iosweep");
		text_add(&yaml, "\nneeds: [");
		for (size_t j = 0; j < w->n_needs; j++) {
			text_add(&yaml, j > 0 ? ", " : "");
			text_quote(&yaml, w->needs[j]);
		}
		text_add(&yaml, "]\n");
		for (size_t j = 0; j < w->n_params; j++)
			params[j] = (struct workload_param){ w->params[j].from, w->params[j].to };
		workload_params_json(params, w->n_params, &json);
		w->definition = arena_strdup(r->a, text_str(&yaml));
		w->parameters = arena_strdup(r->a, json.n > 0 ? text_str(&json) : "{}");
	}
}

int import_map_read(struct arena *a, const char *data, size_t n, struct diags *d, struct import_map *ret)
{
	static const char *const known[] = { "import", "about",       "source", "published", "keep",    "of",    "host", "join", "rows",
		                             "repetition", "environment", "axes",   "workloads", "metrics", "flags", NULL };
	struct import_map m = { .text = data, .n_text = n };
	struct reader r = { a, d, &m };
	struct node *root = NULL;

	if (yaml_read(a, data, n, d, &root) < 0)
		return -1;
	if (root->kind != NODE_MAP) {
		fault(&r, root, "a map is expected, with 'import: NAME' in it, not %s", node_kind_name(root));
		return -1;
	}
	node_check_keys(root, known, "a map of a table", d);
	keys_check(&r, root);
	header_read(&r, root);
	keep_read(&r, root);
	axes_read(&r, node_get(root, "axes"));
	measured_read(&r, root);
	facts_read(&r, node_get(root, "environment"), node_get(root, "flags"));
	m.rows = where_read(&r, node_get(root, "rows"), "'rows'", &m.n_rows);
	definitions_make(&r);
	diags_sort(d);
	if (d->n > 0)
		return -1;
	*ret = m;
	return 0;
}

/* ---- binding ---- */

static int column_find(const struct csv *table, const struct csv *joined, const char *name, int line, int column,
                       struct diags *d)
{
	int at = csv_column(table, name);
	const char *nearest;

	if (at < 0 && joined != NULL && csv_column(joined, name) >= 0)
		return (int)table->n_names + csv_column(joined, name);
	if (at >= 0)
		return at;
	nearest = text_nearest(name, (const char *const *)table->names, table->n_names);
	diags_add(d, line, column, "the table has no column '%s'%s%s%s", name, nearest ? ", did you mean '" : "",
	          nearest ? nearest : "", nearest ? "'?" : "");
	return -1;
}

static void field_bind(struct import_field *f, const struct csv *table, const struct csv *joined, struct diags *d)
{
	if (f->column != NULL)
		f->index = column_find(table, joined, f->column, f->line, f->column_at, d);
}

static void where_bind(struct import_where *w, size_t n, const struct csv *table, const struct csv *joined,
                       struct diags *d)
{
	for (size_t i = 0; i < n; i++)
		w[i].index = column_find(table, joined, w[i].column, w[i].line, w[i].column_at, d);
}

int import_map_bind(struct import_map *m, const struct csv *table, const struct csv *joined, struct diags *d)
{
	size_t before = d->n;

	field_bind(&m->host, table, joined, d);
	if (m->has_repetition)
		field_bind(&m->repetition, table, joined, d);
	for (size_t i = 0; i < m->n_axes; i++)
		field_bind(&m->axes[i].field, table, joined, d);
	for (size_t i = 0; i < m->n_metrics; i++) {
		field_bind(&m->metrics[i].field, table, joined, d);
		where_bind(m->metrics[i].where, m->metrics[i].n_where, table, joined, d);
	}
	for (size_t i = 0; i < m->n_facts; i++)
		field_bind(&m->facts[i].field, table, joined, d);
	for (size_t i = 0; i < m->n_flags; i++)
		field_bind(&m->flags[i].field, table, joined, d);
	where_bind(m->rows, m->n_rows, table, joined, d);
	diags_sort(d);
	return d->n > before ? -1 : 0;
}
