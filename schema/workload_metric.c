/* SPDX-License-Identifier: MIT
 *
 * The part of a definition that says where numbers come from: metrics, named sources, rules.  The dialects (csv,
 * grids) are workload_dialect.c's.  Everything is checked here, so that extraction meets no fault of a definition.
 */
#include <string.h>

#include "schema/workload_read.h"

/* Keys of a source, looked up in the source, then in the metric around it, then in the named source it uses. */
static const char *const source_keys[] = { "use", "match", "json", "csv", "grid", "step", "stream", "when", "unless", "take",
	                                   "where", "value", "weight", "units", "growing", "same", "once", "each", "label",
	                                   "combine", NULL };
static const char *const metric_keys[] = { "use", "match", "json", "csv", "grid", "step", "stream", "when", "unless", "take",
	                                   "where", "value", "weight", "units", "growing", "same", "once", "each", "label",
	                                   "combine", "unit", "better", "detail", "from", NULL };
static const char *const rule_keys[] = { "use", "match", "json", "csv", "grid", "step", "stream", "when", "unless", "take",
	                                 "where", "value", "units", "reason", NULL };
static const char *const named_keys[] = { "match", "json", "csv", "grid", "step", "stream", "when", "unless", "take", "where",
	                                  "weight", "units", "growing", "same", "once", "each", "label", "combine", NULL };

static const struct node *chain_get(const struct source_chain *chain, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(chain->at); i++) {
		const struct node *found = chain->at[i] != NULL ? node_get(chain->at[i], key) : NULL;

		if (found != NULL)
			return found;
	}
	return NULL;
}

static const char *chain_text(struct metric_reader *r, const struct source_chain *chain, const char *key)
{
	const struct node *node = chain_get(chain, key);

	return node != NULL ? reader_text(r, node, key) : NULL;
}

static const pcre2_code *chain_pattern(struct metric_reader *r, const struct source_chain *chain, const char *key)
{
	const struct node *node = chain_get(chain, key);

	return node != NULL ? reader_pattern(r, node, key) : NULL;
}

static bool bool_of(struct metric_reader *r, const struct node *node, const char *key)
{
	bool value = false;

	if (node != NULL && node_bool(node, &value) < 0)
		diags_add(r->d, node->line, node->column, "'%s' must be yes or no", key);
	return value;
}

/* One of a list of words; -1 and a diagnostic if it is none of them. */
static int word_choose(struct metric_reader *r, const struct node *node, const char *key, const char *const *words,
                       size_t n)
{
	const char *text = reader_text(r, node, key);
	AUTO_TEXT struct text all = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (strcmp(words[i], text) == 0)
			return (int)i;
		text_printf(&all, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	diags_add(r->d, node->line, node->column, "'%s' is '%s'; it must be one of %s", key, text, text_str(&all));
	return -1;
}

static void source_json(struct metric_reader *r, const struct node *node, struct source *s)
{
	size_t n = node->kind == NODE_LIST ? node->n : 1;
	struct json_path *paths = arena_array(r->w->arena, n, sizeof(*paths));

	s->kind = SOURCE_JSON;
	for (size_t i = 0; i < n; i++)
		reader_path(r, node->kind == NODE_LIST ? node->at[i] : node, &paths[i]);
	s->rows = paths;
	s->n_rows = n;
	s->text = paths[0].text != NULL ? paths[0].text : "";
}

static void source_takes(struct metric_reader *r, const struct node *map, struct source *s)
{
	struct take *takes = arena_array(r->w->arena, map->n, sizeof(*takes));

	if (map->kind != NODE_MAP || s->kind != SOURCE_JSON) {
		diags_add(r->d, map->line, map->column, "'take' is a map of names and paths, beside 'json'");
		return;
	}
	for (size_t i = 0; i < map->n; i++) {
		const struct node *node = map->at[i];
		size_t n = node->kind == NODE_LIST ? node->n : 1;
		struct json_path *paths = arena_array(r->w->arena, n, sizeof(*paths));

		for (size_t k = 0; k < n; k++)
			reader_path(r, node->kind == NODE_LIST ? node->at[k] : node, &paths[k]);
		takes[i] = (struct take){ arena_strdup(r->w->arena, map->keys[i]->text), paths, n };
	}
	s->takes = takes;
	s->n_takes = map->n;
}

/* The one of match, json, csv and grid nearest in the chain; none: facts. */
static void source_kind_read(struct metric_reader *r, const struct source_chain *chain, struct source *s)
{
	static const char *const kinds[] = { "match", "json", "csv", "grid" };

	for (size_t i = 0; i < ARRAY_SIZE(chain->at); i++) {
		const struct node *found = NULL;
		size_t kind = 0;

		for (size_t k = 0; k < ARRAY_SIZE(kinds) && chain->at[i] != NULL; k++) {
			const struct node *node = node_get(chain->at[i], kinds[k]);

			if (node != NULL && found != NULL)
				diags_add(r->d, node->line, node->column, "'%s' beside '%s': a source is one of them",
				          kinds[k], kinds[kind]);
			if (node != NULL && found == NULL) {
				found = node;
				kind = k;
			}
		}
		if (found == NULL)
			continue;
		if (kind == 0) {
			s->kind = SOURCE_MATCH;
			s->text = reader_text(r, found, "match");
			s->re = reader_pattern(r, found, "match");
		} else if (kind == 1) {
			source_json(r, found, s);
		} else if (kind == 2) {
			s->kind = SOURCE_CSV;
			s->text = reader_text(r, found, "csv");
			s->csv = reader_csv(r, found);
		} else {
			s->kind = SOURCE_GRID;
			s->text = reader_text(r, found, "grid");
			s->grid = reader_grid(r, found);
		}
		return;
	}
}

static void unit_read(struct metric_reader *r, const char *field, const struct node *node, struct unit *u)
{
	static const char *const tables[] = { "decimal", "binary", "time", "clock" };
	struct unit_word *words;

	*u = (struct unit){ .field = field };
	if (node->kind != NODE_MAP) {
		int kind = word_choose(r, node, field, tables, ARRAY_SIZE(tables));

		u->kind = kind >= 0 ? (enum unit_kind)kind : UNIT_DECIMAL;
		return;
	}
	words = arena_array(r->w->arena, node->n, sizeof(*words));
	u->kind = UNIT_TABLE;
	u->n = node->n;
	for (size_t i = 0; i < node->n; i++) {
		words[i].word = arena_strdup(r->w->arena, node->keys[i]->text);
		if (number_parse(reader_text(r, node->at[i], "a unit's factor"), &words[i].factor) < 0)
			diags_add(r->d, node->at[i]->line, node->at[i]->column, "the factor of '%s' must be a number",
			          words[i].word);
	}
	u->words = words;
}

static void source_units(struct metric_reader *r, const struct node *map, struct source *s)
{
	struct unit *units = arena_array(r->w->arena, map->n, sizeof(*units));

	if (map->kind != NODE_MAP) {
		diags_add(r->d, map->line, map->column, "'units' is a map of fields and units");
		return;
	}
	for (size_t i = 0; i < map->n; i++) {
		const char *field = arena_strdup(r->w->arena, map->keys[i]->text);

		unit_read(r, field, map->at[i], &units[i]);
	}
	s->units = units;
	s->n_units = map->n;
}

static const char **source_fields(struct metric_reader *r, const struct source_chain *chain, const char *key,
                                  const struct source *s, size_t *ret_n)
{
	const struct node *node = chain_get(chain, key);
	const char **names;
	size_t n;

	*ret_n = 0;
	if (node == NULL)
		return NULL;
	n = node->kind == NODE_LIST ? node->n : 1;
	names = arena_array(r->w->arena, n, sizeof(*names));
	for (size_t i = 0; i < n; i++) {
		const struct node *item = node->kind == NODE_LIST ? node->at[i] : node;

		names[i] = reader_text(r, item, key);
		if (!source_has_field(s, names[i]))
			diags_add(r->d, item->line, item->column, "'%s' names the unknown field '%s'", key, names[i]);
	}
	if (n > 4)
		diags_add(r->d, node->line, node->column, "'%s' names more than 4 fields", key);
	*ret_n = n;
	return names;
}

static void source_combine(struct metric_reader *r, const struct source_chain *chain, struct source *s)
{
	static const char *const combines[] = { "only", "sum", "mean", "weighted", "last", "min", "max" };
	static const char *const labels[] = { "always", "if-several" };
	const struct node *node = chain_get(chain, "combine");
	int i = node != NULL ? word_choose(r, node, "combine", combines, ARRAY_SIZE(combines)) : 0;

	s->combine = i >= 0 ? (enum combine)i : COMBINE_ONLY;
	node = chain_get(chain, "label");
	s->label_if_several = node != NULL && word_choose(r, node, "label", labels, ARRAY_SIZE(labels)) == 1;
	node = chain_get(chain, "weight");
	if ((s->combine == COMBINE_WEIGHTED) != (node != NULL) && s->combine == COMBINE_WEIGHTED)
		diags_add(r->d, s->line, s->column, "'combine: weighted' needs 'weight'");
}

/* An expression whose variables are all known. */
static const char *source_expression(struct metric_reader *r, const struct source_chain *chain, const char *key,
                                     const struct source *s)
{
	const struct node *node = chain_get(chain, key);
	const char *text;
	struct expression *x;
	struct err e;

	if (node == NULL)
		return NULL;
	text = reader_text(r, node, key);
	if (expression_compile(r->evaluator, text, &x, &e) < 0) {
		diags_add(r->d, node->line, node->column, "%s: %s", key, e.text);
		return text;
	}
	for (size_t i = 0; i < expression_variables(x); i++) {
		const char *name = expression_variable(x, i);

		if (!source_has_field(s, name) && !reader_knows(r, s, name))
			diags_add(r->d, node->line, node->column,
			          "%s: ':%s' is no field of this source, no fact, no parameter and no "
			          "earlier metric",
			          key, name);
	}
	return text;
}

static void source_each(struct metric_reader *r, const struct source_chain *chain, struct source *s)
{
	const struct node *node = chain_get(chain, "each");

	if (node == NULL)
		return;
	s->each = reader_text(r, node, "each");
	reader_template(r, node, s->each, s);
}

static void source_read(struct metric_reader *r, const struct source_chain *chain, struct source *s)
{
	static const char *const streams[] = { "stdout", "stderr" };
	const struct node *node = chain_get(chain, "stream");
	int stream = node != NULL ? word_choose(r, node, "stream", streams, ARRAY_SIZE(streams)) : -1;

	*s = (struct source){ .text = "", .line = chain->at[0]->line, .column = chain->at[0]->column };
	source_kind_read(r, chain, s);
	if ((node = chain_get(chain, "take")) != NULL)
		source_takes(r, node, s);
	s->stream = stream >= 0 ? streams[stream] : NULL;
	s->step = chain_text(r, chain, "step");
	if (s->step != NULL && !phase_is_known(s->step))
		diags_add(r->d, chain_get(chain, "step")->line, chain_get(chain, "step")->column,
		          "'step' is '%s'; it must be prepare, before, run, after or cleanup", s->step);
	s->when = chain_pattern(r, chain, "when");
	s->unless = chain_pattern(r, chain, "unless");
	if ((node = chain_get(chain, "units")) != NULL)
		source_units(r, node, s);
	s->growing = source_fields(r, chain, "growing", s, &s->n_growing);
	s->same = source_fields(r, chain, "same", s, &s->n_same);
	s->once = bool_of(r, chain_get(chain, "once"), "once");
	source_each(r, chain, s);
	source_combine(r, chain, s);
	s->where = source_expression(r, chain, "where", s);
	s->value = source_expression(r, chain, "value", s);
	s->weight = source_expression(r, chain, "weight", s);
}

/* Finds what `use` of the innermost map names, or else that of the metric. */
static void chain_use(struct metric_reader *r, struct source_chain *chain)
{
	const struct node *use = chain_get(chain, "use"), *found;
	const char *name;

	if (use == NULL)
		return;
	name = reader_text(r, use, "use");
	found = r->sources != NULL && r->sources->kind == NODE_MAP ? node_get(r->sources, name) : NULL;
	if (found == NULL || found->kind != NODE_MAP)
		diags_add(r->d, use->line, use->column, "'use' names '%s', which is not under 'sources'", name);
	else
		chain->at[2] = found;
}

static void metric_source(struct metric_reader *r, const struct node *metric, const struct node *source,
                          struct source *s)
{
	struct source_chain chain = { .at = { source, metric == source ? NULL : metric, NULL } };

	if (source->kind != NODE_MAP) {
		diags_add(r->d, source->line, source->column,
		          "a source is a map, as in {match: PATTERN, value: EXPRESSION}");
		return;
	}
	if (metric != source)
		node_check_keys(source, source_keys, "a source", r->d);
	chain_use(r, &chain);
	source_read(r, &chain, s);
	if (s->value == NULL)
		diags_add(r->d, source->line, source->column, "the source has no 'value'");
}

static void metric_head(struct metric_reader *r, const struct node *node, struct workload_metric *m)
{
	static const char *const betters[] = { "higher", "lower", "neither" };
	const struct node *unit = node_get(node, "unit"), *better = node_get(node, "better");
	int i = better != NULL ? word_choose(r, better, "better", betters, ARRAY_SIZE(betters)) : -1;

	if (unit == NULL)
		diags_add(r->d, node->line, node->column, "metric '%s' has no 'unit' (\"\" for a plain number)",
		          m->name);
	if (better == NULL)
		diags_add(r->d, node->line, node->column, "metric '%s' has no 'better': higher, lower or neither",
		          m->name);
	m->unit = unit != NULL ? reader_text(r, unit, "unit") : "";
	m->better = i >= 0 ? (enum better)i : BETTER_NEITHER;
	m->is_detail = bool_of(r, node_get(node, "detail"), "detail");
}

static void metric_read(struct metric_reader *r, const struct node *key, const struct node *node,
                        struct workload_metric *m)
{
	const struct node *from;
	struct source *sources;
	size_t n;

	m->name = arena_strdup(r->w->arena, key->text);
	if (m->name[0] == '\0' || m->name[strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
		diags_add(r->d, key->line, key->column, "'%s' is no name for a metric: use a-z, 0-9 and _", m->name);
	if (node->kind != NODE_MAP) {
		diags_add(r->d, node->line, node->column, "metric '%s' must be a map", m->name);
		return;
	}
	node_check_keys(node, metric_keys, "a metric", r->d);
	metric_head(r, node, m);
	from = node_get(node, "from");
	n = from != NULL && from->kind == NODE_LIST ? from->n : 1;
	if (from != NULL && (from->kind != NODE_LIST || n == 0)) {
		diags_add(r->d, from->line, from->column, "'from' must be a list of sources");
		return;
	}
	sources = arena_array(r->w->arena, n, sizeof(*sources));
	for (size_t i = 0; i < n; i++)
		metric_source(r, node, from != NULL ? from->at[i] : node, &sources[i]);
	m->sources = sources;
	m->n_sources = n;
}

static void rule_read(struct metric_reader *r, const struct node *node, const char *kind, struct rule *rule)
{
	struct source_chain chain = { .at = { node, NULL, NULL } };
	const struct node *reason;

	if (node->kind != NODE_MAP) {
		diags_add(r->d, node->line, node->column, "'%s' must be a map, as in {match: PATTERN, reason: TEXT}",
		          kind);
		return;
	}
	node_check_keys(node, rule_keys, kind, r->d);
	chain_use(r, &chain);
	source_read(r, &chain, &rule->source);
	reason = node_get(node, "reason");
	if (reason == NULL)
		diags_add(r->d, node->line, node->column, "the rule has no 'reason'");
	rule->reason = reason != NULL ? reader_text(r, reason, "reason") : "";
	if (reason != NULL)
		reader_template(r, reason, rule->reason, &rule->source);
	if (rule->source.kind == SOURCE_FACTS && rule->source.value == NULL)
		diags_add(r->d, node->line, node->column,
		          "the rule asks nothing: it needs match, json, csv, grid or value");
}

static void rules_read(struct metric_reader *r, const struct node *root, struct rules *rules)
{
	static const char *const kinds[N_RULES] = { "complete-if", "fail-if", "no-data-if", "suspect-if" };

	for (int kind = 0; kind < N_RULES; kind++) {
		const struct node *node = node_get(root, kinds[kind]);

		if (node == NULL)
			continue;
		rules->n[kind] = node->kind == NODE_LIST ? node->n : 1;
		rules->at[kind] = arena_array(r->w->arena, rules->n[kind], sizeof(struct rule));
		for (size_t i = 0; i < rules->n[kind]; i++)
			rule_read(r, node->kind == NODE_LIST ? node->at[i] : node, kinds[kind], &rules->at[kind][i]);
	}
}

static void named_sources_check(struct metric_reader *r)
{
	if (r->sources == NULL)
		return;
	if (r->sources->kind != NODE_MAP) {
		diags_add(r->d, r->sources->line, r->sources->column, "'sources' must be a map of named sources");
		return;
	}
	for (size_t i = 0; i < r->sources->n; i++) {
		const struct node *node = r->sources->at[i];

		if (node->kind != NODE_MAP)
			diags_add(r->d, node->line, node->column, "source '%s' must be a map",
			          r->sources->keys[i]->text);
		else
			node_check_keys(node, named_keys, "a named source", r->d);
	}
}

/* A definition without metrics of its own is timed: what a plan's command takes is the least that one wants to know. */
static const struct node *metrics_default(struct workload *w, struct diags *d)
{
	static const char text[] = "duration: {value: \":elapsed * 1000000000\", unit: ns, better: lower}";
	struct node *node;

	return yaml_read(w->arena, text, sizeof(text) - 1, d, &node) < 0 ? NULL : node;
}

int metrics_read(struct workload *w, const struct node *root, struct evaluator *ev, struct diags *d)
{
	struct metric_reader r = { .w = w, .evaluator = ev, .d = d, .sources = node_get(root, "sources") };
	const struct node *metrics = node_get(root, "metrics") != NULL ? node_get(root, "metrics") :
	                                                                 metrics_default(w, d);
	struct rules *rules = arena_alloc(w->arena, sizeof(*rules));
	size_t n_details = 0;

	named_sources_check(&r);
	dialects_read(&r, root);
	if (metrics == NULL || metrics->kind != NODE_MAP || metrics->n == 0) {
		const struct node *at = metrics != NULL ? metrics : root;

		diags_add(d, at->line, at->column, "'metrics' must be a map with at least one metric");
		return -1;
	}
	w->metrics = arena_array(w->arena, metrics->n, sizeof(*w->metrics));
	for (size_t i = 0; i < metrics->n; i++) {
		metric_read(&r, metrics->keys[i], metrics->at[i], &w->metrics[i]);
		w->n_metrics = i + 1; /* those read so far may be used by the next */
		n_details += w->metrics[i].is_detail;
	}
	if (n_details == metrics->n)
		diags_add(d, metrics->line, metrics->column,
		          "every metric is a detail: one at least must be what the workload is run for");
	rules_read(&r, root, rules);
	w->rules = rules;
	return 0;
}
