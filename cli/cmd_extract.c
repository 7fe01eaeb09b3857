/* SPDX-License-Identifier: MIT
 *
 * iosweep extract: metrics of a sweep once more, from what its tools printed, by the definitions of today.  What was
 * stored stays; numbers that a trial lacks may be added.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "cli/definitions.h"
#include "cli/open.h"
#include "cli/scale.h"
#include "cli/table.h"
#include "schema/config.h"
#include "schema/kept.h"

static const struct option_def options[] = {
	{ "add", 0, NULL, "store the numbers that good trials do not have yet" },
	{ "all", 'a', NULL, "list what is as it was, too" },
	OPTIONS_TABLE,
	OPTIONS_END
};

struct extracting {
	const struct registry *registry;
	struct store *store;
	const struct options *o;
	struct table *table;
	size_t trial, workload, metric, label, unit, before, now, change;
	size_t n_trials, n_same, n_changed, n_new, n_gone, n_added, n_refused;
	bool does_add;
};

static void columns_add(struct extracting *x)
{
	struct table *t = x->table;

	x->trial = table_column(t, "trial", "TRIAL", TABLE_RIGHT | TABLE_KEY);
	x->workload = table_column(t, "workload", "WORKLOAD", TABLE_KEY);
	x->metric = table_column(t, "metric", "METRIC", TABLE_KEY);
	x->label = table_column(t, "label", "LABEL", 0);
	x->unit = table_column(t, "unit", "UNIT", 0);
	x->before = table_column(t, "stored", "STORED", TABLE_RIGHT);
	x->now = table_column(t, "now", "NOW", TABLE_RIGHT);
	x->change = table_column(t, "change", "CHANGE", 0);
}

static const struct measured *measured_find(const struct measured *at, size_t n, const struct measured *like)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(at[i].name, like->name) == 0 && strcmp(at[i].label, like->label) == 0)
			return &at[i];
	return NULL;
}

static void number_set(struct table *t, size_t column, const struct measured *m)
{
	struct scale scale = scale_choose(m->unit, &m->value, 1, SCALE_DECIMAL);
	char value[SIZE_TEXT];
	AUTO_FREE char *shown = xasprintf("%s %s", scale_format(&scale, m->value, value), scale.name);

	table_number(t, column, m->value, shown);
}

static void row_add(struct extracting *x, const struct kept_trial *t, const struct measured *before,
                    const struct measured *now, const char *change)
{
	const struct measured *m = now != NULL ? now : before;

	table_row(x->table);
	table_integer(x->table, x->trial, t->id);
	table_text(x->table, x->workload, t->workload);
	table_text(x->table, x->metric, m->name);
	table_text(x->table, x->label, m->label);
	table_text(x->table, x->unit, m->unit);
	if (before != NULL)
		number_set(x->table, x->before, before);
	if (now != NULL)
		number_set(x->table, x->now, now);
	table_text(x->table, x->change, change);
}

/* Equal but for the last digits of arithmetic. */
static bool values_agree(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static int trial_compare(struct extracting *x, const struct kept_trial *t, const struct outcome *o, struct arena *a,
                         struct err *e)
{
	struct measured *added = arena_array(a, o->n, sizeof(*added));
	size_t n_added = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct measured *before = measured_find(t->measured, t->n_measured, &o->at[i]);
		bool is_same = before != NULL && values_agree(before->value, o->at[i].value);

		x->n_same += is_same;
		x->n_changed += before != NULL && !is_same;
		if (before == NULL)
			added[n_added++] = o->at[i];
		if (!is_same || options_has(x->o, "all"))
			row_add(x, t, before, &o->at[i], is_same ? "same" : before != NULL ? "changed" : "new");
	}
	x->n_new += n_added;
	for (size_t i = 0; i < t->n_measured; i++) {
		if (measured_find(o->at, o->n, &t->measured[i]) != NULL)
			continue;
		x->n_gone++;
		row_add(x, t, &t->measured[i], NULL, o->state == EXTRACT_OK ? "gone" : extract_state_name(o->state));
	}
	if (!x->does_add || n_added == 0 || strcmp(t->state, "ok") != 0)
		return 0;
	x->n_added += n_added;
	return store_kept_add(x->store, t, added, n_added, e);
}

/* The definition of today, or the stored one where there is none of that name (command). */
static const struct workload *definition_find(const struct extracting *x, const struct kept_trial *t,
                                              struct workload **ret_own)
{
	const struct workload *w = registry_find(x->registry, t->definition);
	struct diags d;

	if (w != NULL)
		return w;
	diags_init(&d, t->definition);
	if (workload_read(t->source, strlen(t->source), &d, ret_own) < 0)
		*ret_own = NULL;
	diags_done(&d);
	return *ret_own;
}

static int trial_extract(struct extracting *x, const struct kept_trial *t, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct workload *own = NULL;
	const struct workload *w = definition_find(x, t, &own);
	struct capture *captures;
	struct outcome o = { 0 };
	struct err why = { 0 };
	size_t n;
	int rc = 0;

	if (store_output_get(x->store, t->id, a, &captures, &n, e) < 0) {
		workload_free(own);
		return -1;
	}
	x->n_trials++;
	if (w == NULL) {
		fprintf(stderr, PROGRAM ": trial %" PRId64 ": workload '%s': no definition '%s'\n", t->id, t->workload, t->definition);
		x->n_refused++;
	} else if (extract(w, t->params, t->n_params, captures, n, t->facts, t->n_facts, t->exit_status, a, &o, &why) <
	           0) {
		fprintf(stderr, PROGRAM ": trial %" PRId64 ": %s\n", t->id, why.text);
		x->n_refused++;
	} else if (strcmp(t->state, "ok") == 0 || o.state == EXTRACT_OK) {
		rc = trial_compare(x, t, &o, a, e);
	}
	workload_free(own);
	return rc;
}

static void summary_print(const struct extracting *x)
{
	fprintf(stderr, PROGRAM ": %zu trial%s: %zu numbers as they were, %zu changed, %zu new, %zu gone", x->n_trials,
	        x->n_trials == 1 ? "" : "s", x->n_same, x->n_changed, x->n_new, x->n_gone);
	if (x->does_add)
		fprintf(stderr, "; %zu added", x->n_added);
	else if (x->n_new > 0)
		fprintf(stderr, "; --add stores the new ones");
	fprintf(stderr, "\n");
}

static int extract_open(struct extracting *x, struct err *e)
{
	if (!x->does_add)
		return open_store(&x->store, e);
	if (store_open(config_default_db(), STORE_WRITE, &x->store, e) < 0)
		return err_hint(e, "--add writes to the store: only root may"), -1;
	return 0;
}

static int extract_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_DEFINITIONS struct definitions d = { 0 };
	AUTO_STORE struct store *s = NULL;
	AUTO_TABLE struct table *t = table_new("numbers");
	struct extracting x = { .o = o, .table = t, .does_add = options_has(o, "add") };
	struct kept_trial *trials;
	enum table_format format;
	int64_t sweep_id;
	size_t n;
	int rc;

	columns_add(&x);
	rc = table_format_of(o, &format, e) < 0 || definitions_open(&d, e) < 0 ? -1 : extract_open(&x, e);
	s = x.store;
	x.registry = d.registry;
	if (rc < 0 || open_sweep(s, o->n_arguments > 0 ? o->arguments[0] : NULL, &sweep_id, e) < 0 ||
	    store_kept_trials(s, sweep_id, a, &trials, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (trial_extract(&x, &trials[i], e) < 0)
			return err_in(e, "trial %" PRId64, trials[i].id);
	if ((table_rows(t) > 0 || format != TABLE_PEOPLE) && table_print(t, o, stdout, e) < 0)
		return -1;
	summary_print(&x);
	return x.n_refused > 0 ? EXIT_BAD : EXIT_GOOD;
}

const struct command cmd_extract = {
	.name = "extract",
	.arguments = "[ID]",
	.max_arguments = 1,
	.about = "take metrics out of a sweep's kept outputs again, by the definitions of today",
	.details = "What changed is shown.  Stored numbers are never overwritten; with --add, numbers\n"
	           "that a good trial does not have yet are stored, so that a metric added to a\n"
	           "definition reaches old trials.\n",
	.options = options,
	.run = extract_run,
};
