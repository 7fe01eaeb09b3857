/* SPDX-License-Identifier: MIT
 *
 * Rows to values; see extract_row.h.  The arithmetic is evaluate.c's, what a field means is extract_unit.c's.
 */
#include "schema/extract_row.h"

#include <string.h>

#define GROWING_MAX 4

const struct json_documents *output_documents(struct output_cache *cache, const struct capture *c)
{
	if (!cache->has_documents) {
		json_find(cache->arena, c->data, c->n, &cache->documents);
		cache->has_documents = true;
	}
	return &cache->documents;
}

/* Variables of one row: its own fields first. */
struct scope {
	struct extraction *x;
	const struct row *row;
	const char *bad; /* text that should have been a number; arena */
};

/* 1 a number, 0 absent, -1 no such field.  A field of a pattern must be a number; one of a table may be anything
 * ("+++++", a name), but nan and inf mean that the tool computed nonsense. */
static int field_number(struct scope *scope, const char *name, double *ret)
{
	const struct row *row = scope->row;
	const struct source *s = row->source;
	struct field f;
	int rc;

	if (row->get == NULL || row->get(row, name, &f) < 0)
		return -1;
	if (f.s == NULL) {
		*ret = f.number;
		return 1;
	}
	rc = unit_value(unit_of(s, name), f.s, f.n, ret);
	if (rc < 0 && ((s->kind == SOURCE_MATCH && f.n > 0) || field_is_nonsense(f.s, f.n)))
		scope->bad = arena_strndup(scope->x->arena, f.s, f.n < 60 ? f.n : 60);
	return rc > 0;
}

static int param_number(const struct extraction *x, const char *name, double *ret)
{
	for (size_t i = 0; i < x->n_params; i++) {
		int64_t bytes, ram = 0;

		if (strcmp(x->params[i].name, name) != 0)
			continue;
		if (number_parse(x->params[i].value, ret) == 0)
			return 0;
		for (size_t k = 0; k < x->n_facts; k++)
			if (strcmp(x->facts[k].name, "ram_bytes") == 0)
				ram = (int64_t)x->facts[k].value;
		if (workload_size(x->params[i].value, ram, &bytes, NULL) < 0)
			return -1;
		*ret = (double)bytes;
		return 0;
	}
	return -1;
}

static int variable_lookup(void *arg, const char *name, double *ret)
{
	struct scope *scope = arg;
	const struct extraction *x = scope->x;
	int rc = field_number(scope, name, ret);

	if (rc >= 0)
		return rc > 0 ? 0 : -1;
	if (strcmp(name, "copy") == 0 && scope->row->capture != NULL) {
		*ret = scope->row->copy;
		return 0;
	}
	for (size_t i = 0; i < x->n_done; i++)
		if (strcmp(x->done[i].name, name) == 0 && *x->done[i].label == '\0') {
			*ret = x->done[i].value;
			return 0;
		}
	for (size_t i = 0; i < x->n_facts; i++)
		if (strcmp(x->facts[i].name, name) == 0) {
			*ret = x->facts[i].value;
			return 0;
		}
	return param_number(x, name, ret);
}

static int scope_value(struct scope *scope, const char *expression, double *ret, struct err *e)
{
	struct expression *compiled;

	if (expression_compile(scope->x->evaluator, expression, &compiled, e) < 0)
		return -1;
	return expression_value(compiled, variable_lookup, scope, ret, e);
}

/* "${field}" and "${#}" of a label or a reason. */
static const char *template_expand(struct extraction *x, const char *template, const struct row *row)
{
	AUTO_TEXT struct text t = { 0 };

	for (const char *s = template; *s != '\0';) {
		const char *end = s[0] == '$' && s[1] == '{' ? strchr(s, '}') : NULL;
		AUTO_FREE char *name = NULL;
		struct field f;

		if (end == NULL) {
			text_add_n(&t, s++, 1);
			continue;
		}
		name = xstrndup(s + 2, (size_t)(end - s - 2));
		s = end + 1;
		if (strcmp(name, "#") == 0)
			text_printf(&t, "%zu", row->number);
		else if (row->get != NULL && row->get(row, name, &f) == 0 && f.s != NULL)
			text_add_printable(&t, f.s, f.n);
		else if (row->get != NULL && row->get(row, name, &f) == 0)
			text_printf(&t, "%g", f.number);
		else if (strcmp(name, "copy") == 0)
			text_printf(&t, "%d", row->copy);
	}
	return arena_strdup(x->arena, text_str(&t));
}

struct collector {
	struct extraction *x;
	const struct source *s;
	struct collected *c;
	size_t capture;
	/* within the current output: */
	size_t n_reports;              /* rows after growing */
	double last[GROWING_MAX];
	bool has_last, last_has_value;
	const char *same[GROWING_MAX]; /* fields of the first row */
};

/* Is this row a later report of the same run as the row before? */
static bool row_grows(struct collector *k, struct scope *scope)
{
	double now[GROWING_MAX] = { 0 };
	bool grows = k->has_last && k->s->n_growing > 0;

	for (size_t i = 0; i < k->s->n_growing && i < GROWING_MAX; i++) {
		if (field_number(scope, k->s->growing[i], &now[i]) <= 0 || (k->has_last && now[i] <= k->last[i]))
			grows = false;
	}
	memcpy(k->last, now, sizeof(now));
	k->has_last = true;
	return grows;
}

static void collected_ambiguous(struct collected *c, const char *why)
{
	if (c->state != COLLECT_AMBIGUOUS)
		c->why = why;
	c->state = COLLECT_AMBIGUOUS;
}

static void row_same(struct collector *k, const struct row *row)
{
	for (size_t i = 0; i < k->s->n_same && i < GROWING_MAX; i++) {
		AUTO_FREE char *template = xasprintf("${%s}", k->s->same[i]);
		const char *now = template_expand(k->x, template, row);

		if (k->same[i] == NULL)
			k->same[i] = now;
		else if (strcmp(k->same[i], now) != 0)
			collected_ambiguous(k->c, arena_printf(k->x->arena, "results of '%s' and of '%s' in one output",
			                                       k->same[i], now));
	}
}

static void found_add(struct collector *k, const struct row *row, const char *label, double value, double weight)
{
	struct collected *c = k->c;

	if (c->n == c->cap) {
		struct found *more = arena_array(k->x->arena, c->cap = c->cap ? 2 * c->cap : 4, sizeof(*more));

		if (c->n > 0)
			memcpy(more, c->at, c->n * sizeof(*more));
		c->at = more;
	}
	c->at[c->n++] = (struct found){ label, value, weight, k->capture, row->match, row->number };
}

static void label_note(struct collected *c, const char *label)
{
	if (c->first_label == NULL)
		c->first_label = label;
	else if (strcmp(c->first_label, label) != 0)
		c->has_several_labels = true;
}

/* Counts the row, and takes back the one before it if both are reports of one run. */
static void row_count(struct collector *k, struct row *row, struct scope *scope)
{
	row->number++;
	k->c->n_rows++;
	if (row_grows(k, scope)) {
		k->c->n -= k->last_has_value;
		k->n_reports--;
		row->number--;
	}
	k->last_has_value = false;
	k->n_reports++;
	if (k->s->once && k->n_reports > 1)
		collected_ambiguous(k->c, arena_printf(k->x->arena, "%zu results in one output", k->n_reports));
	row_same(k, row);
}

/* 1 and the value; 0 if the row has none, or `where` leaves it out. */
static int row_value(struct collector *k, struct scope *scope, double *ret, struct err *e)
{
	double where = 1;
	int rc = k->s->where != NULL ? scope_value(scope, k->s->where, &where, e) : 1;

	if (rc <= 0 || where == 0)
		return rc < 0 ? -1 : 0;
	scope->bad = NULL;
	rc = scope_value(scope, k->s->value, ret, e);
	if (rc == 0 && scope->bad != NULL && k->c->state < COLLECT_UNPARSABLE) {
		k->c->state = COLLECT_UNPARSABLE;
		k->c->why = arena_printf(k->x->arena, "'%s' is not a number", scope->bad);
	}
	return rc;
}

static int row_collect(struct row *row, void *arg, struct err *e)
{
	struct collector *k = arg;
	struct scope scope = { .x = k->x, .row = row };
	const char *label;
	double value, weight = 1;
	int rc;

	row_count(k, row, &scope);
	label = k->s->each != NULL ? template_expand(k->x, k->s->each, row) : "";
	label_note(k->c, label);
	rc = row_value(k, &scope, &value, e);
	if (rc <= 0)
		return rc;
	if (k->s->weight != NULL && scope_value(&scope, k->s->weight, &weight, e) < 0)
		return -1;
	found_add(k, row, label, value, weight);
	k->last_has_value = true;
	return 0;
}

bool source_fits(const struct source *s, const struct capture *c)
{
	const char *step = s->step != NULL ? s->step : "run";
	size_t n = strlen(step);

	if (strncmp(c->step, step, n) != 0 || (c->step[n] != '\0' && c->step[n] != '.'))
		return false;
	return s->stream == NULL || *c->stream == '\0' || strcmp(s->stream, c->stream) == 0;
}

/* 1 if the output is one that the source may look into, by its when and unless. */
static int conditions_hold(const struct source *s, const struct capture *c, struct err *e)
{
	int found = s->when != NULL ? pattern_occurs(s->when, c->data, c->n, e) : 1;

	if (found <= 0 || s->unless == NULL)
		return found;
	found = pattern_occurs(s->unless, c->data, c->n, e);
	return found < 0 ? -1 : !found;
}

static int copy_of(const struct capture *c)
{
	const char *dot = strchr(c->step, '.');
	int64_t copy = 1;

	if (dot != NULL)
		integer_parse(dot + 1, 1, 1000000, &copy);
	return (int)copy;
}

/* All rows of one output. */
static int output_rows(struct extraction *x, const struct source *s, size_t i, struct row *row, row_cb cb, void *arg,
                       struct err *e)
{
	const struct capture *c = &x->captures[i];
	int rc = conditions_hold(s, c, e);

	if (rc <= 0)
		return rc;
	row->source = s;
	row->capture = c;
	row->copy = copy_of(c);
	row->match = 0;
	x->caches[i].arena = x->arena;
	switch (s->kind) {
	case SOURCE_FACTS:
		return 0;
	case SOURCE_MATCH:
		return match_rows(s, c, row, cb, arg, e);
	case SOURCE_JSON:
		return json_rows(s, c, &x->caches[i], row, cb, arg, e);
	case SOURCE_CSV:
		return csv_rows(s, c, row, cb, arg, e);
	case SOURCE_GRID:
		return grid_rows(s, c, &x->caches[i], row, cb, arg, e);
	}
	return 0;
}

int source_collect(struct extraction *x, const struct source *s, struct collected *ret, struct err *e)
{
	struct collector k = { .x = x, .s = s, .c = ret };
	struct row row = { .source = s };

	*ret = (struct collected){ .why = "" };
	if (s->kind == SOURCE_FACTS && row_collect(&row, &k, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n_captures && s->kind != SOURCE_FACTS; i++) {
		if (!source_fits(s, &x->captures[i]))
			continue;
		k.capture = i;
		k.has_last = k.last_has_value = false;
		k.n_reports = 0;
		if (output_rows(x, s, i, &row, row_collect, &k, e) < 0)
			return -1;
	}
	if (ret->state == COLLECT_AMBIGUOUS)
		return 0;
	if (ret->n > 0)
		ret->state = COLLECT_VALUES;
	else if (ret->n_rows > 0 && ret->state == COLLECT_NOTHING)
		ret->state = COLLECT_ABSENT;
	return 0;
}

struct holder {
	struct extraction *x;
	const struct rule *rule;
	bool holds;
	const char *reason;
};

static int rule_row(struct row *row, void *arg, struct err *e)
{
	struct holder *h = arg;
	struct scope scope = { .x = h->x, .row = row };
	double value = 1;
	int rc = 1;

	row->number++;
	if (h->holds)
		return 0;
	if (h->rule->source.where != NULL)
		rc = scope_value(&scope, h->rule->source.where, &value, e);
	if (rc > 0 && value != 0 && h->rule->source.value != NULL)
		rc = scope_value(&scope, h->rule->source.value, &value, e);
	if (rc < 0)
		return -1;
	h->holds = rc > 0 && value != 0;
	if (h->holds)
		h->reason = template_expand(h->x, h->rule->reason, row);
	return 0;
}

int rule_holds(struct extraction *x, const struct rule *rule, const char *step, bool *ret, const char **ret_reason,
               struct err *e)
{
	const struct source *s = &rule->source;
	struct holder h = { .x = x, .rule = rule, .reason = rule->reason };
	struct row row = { .source = s };

	if (s->kind == SOURCE_FACTS && rule_row(&row, &h, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n_captures && s->kind != SOURCE_FACTS; i++) {
		if (!source_fits(s, &x->captures[i]) || (step != NULL && strcmp(step, x->captures[i].step) != 0))
			continue;
		if (output_rows(x, s, i, &row, rule_row, &h, e) < 0)
			return -1;
	}
	*ret = h.holds;
	*ret_reason = h.reason;
	return 0;
}

const char *found_where(struct extraction *x, const struct source *s, const struct found *f)
{
	static const char *const kinds[] = { "facts", "match", "json", "csv", "grid" };
	const struct capture *c = x->n_captures > 0 ? &x->captures[f->capture] : NULL;

	if (s->kind == SOURCE_FACTS || c == NULL)
		return "facts";
	if (s->kind == SOURCE_MATCH)
		return arena_printf(x->arena, "match %zu of %s %s", f->match, c->step, c->stream);
	return arena_printf(x->arena, "%s %s, row %zu of %s %s", kinds[s->kind], s->text, f->match, c->step, c->stream);
}
