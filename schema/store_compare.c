/* SPDX-License-Identifier: MIT
 *
 * What `compare` needs beside the results: the trials behind them, and in which facts the environments differ.
 */
#include <string.h>

#include "schema/store_internal.h"
#include "schema/store_select.h"

int store_cell_trials(struct store *s, int64_t cell_id, struct cell_trials *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct cell_trials t = { 0 };
	size_t cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT metric_id, value FROM measurement WHERE cell_id = ? ORDER BY metric_id, trial_id",
	                   "i", cell_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		if (t.n == cap) {
			cap = cap > 0 ? 2 * cap : 16;
			t.metric_ids = xreallocarray(t.metric_ids, cap, sizeof(*t.metric_ids));
			t.values = xreallocarray(t.values, cap, sizeof(*t.values));
		}
		t.metric_ids[t.n] = column_int(st, 0);
		t.values[t.n++] = column_real(st, 1);
	}
	if (rc < 0)
		cell_trials_done(&t);
	else
		*ret = t;
	return rc;
}

void cell_trials_done(struct cell_trials *t)
{
	free(t->metric_ids);
	free(t->values);
	*t = (struct cell_trials){ 0 };
}

int fact_rank(const char *key)
{
	static const struct {
		const char *word;
		bool is_prefix;
		int rank;
	} rules[] = { /* the first that fits */
		{ "mkfs", false, 2 },       { "filesystem", true, 2 }, { "tool.", true, 0 },        { "kernel.", true, 1 },
		{ "firmware", false, 4 },   { "bios", false, 4 },      { "microcode", false, 4 },   { "write_cache", false, 6 },
		{ "write-cache", false, 6 }, { "device.", true, 3 },   { "controller.", true, 3 },  { "target.", true, 3 },
		{ "memory.", true, 5 },     { "cpu.", true, 5 },       { "default ", true, 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].is_prefix ? text_starts(key, rules[i].word) : strstr(key, rules[i].word) != NULL)
			return rules[i].rank;
	return 8;
}

/* ---- facts of one side ---- */

struct side_fact {
	const char *key, *values;
};
struct side_facts {
	struct side_fact *at; /* owned */
	size_t n, cap;
	int64_t *environments; /* owned */
	size_t n_environments, cap_environments;
};

static void environment_add(struct side_facts *f, int64_t id)
{
	size_t k = 0;

	while (k < f->n_environments && f->environments[k] != id)
		k++;
	if (k < f->n_environments || id == 0)
		return;
	ARRAY_GROW(f->environments, f->n_environments, f->cap_environments);
	f->environments[f->n_environments++] = id;
}

static int environments_collect(struct store *s, const struct side_cell *cells, size_t n, struct side_facts *f,
                                struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		AUTO_STATEMENT struct statement *st = NULL;
		int rc;

		if (cells[i].environment_id != 0) {
			environment_add(f, cells[i].environment_id);
			continue;
		}
		if (statement_open(s, &st, e, "SELECT environment_id FROM trial WHERE cell_id = ? AND state = 'ok'",
		                   "i", cells[i].id) < 0)
			return -1;
		while ((rc = statement_next(st, e)) > 0)
			environment_add(f, column_int(st, 0));
		if (rc < 0)
			return -1;
	}
	return 0;
}

static void fact_add(struct side_facts *f, const char *key, const char *value, struct arena *a)
{
	size_t i = 0;

	while (i < f->n && strcmp(f->at[i].key, key) != 0)
		i++;
	if (i == f->n) {
		ARRAY_GROW(f->at, f->n, f->cap);
		f->at[f->n++] = (struct side_fact){ arena_strdup(a, key), arena_strdup(a, value) };
	} else if (strcmp(f->at[i].values, value) != 0) {
		AUTO_FREE char *wrapped = xasprintf(" | %s | ", f->at[i].values),
			       *wanted = xasprintf(" | %s | ", value);

		if (strstr(wrapped, wanted) == NULL)
			f->at[i].values = arena_printf(a, "%s | %s", f->at[i].values, value);
	}
}

static int facts_collect(struct store *s, const struct side_cell *cells, size_t n, struct side_facts *f,
                         struct arena *a, struct err *e)
{
	if (environments_collect(s, cells, n, f, e) < 0)
		return -1;
	for (size_t i = 0; i < f->n_environments; i++) {
		AUTO_STATEMENT struct statement *st = NULL;
		int rc;

		/* ordered by value, so that equal sets of values give equal texts */
		if (statement_open(s, &st, e, "SELECT key, value FROM environment_fact WHERE environment_id = ? AND class <> 'volatile' "
		                   "ORDER BY value", "i", f->environments[i]) < 0)
			return -1;
		while ((rc = statement_next(st, e)) > 0)
			fact_add(f, column_borrow(st, 0), column_borrow(st, 1), a);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static const char *fact_values(const struct side_facts *f, const char *key)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->at[i].key, key) == 0)
			return f->at[i].values;
	return "";
}

/* Whether both texts hold the same values, in whatever order. */
static bool values_equal(const char *a, const char *b)
{
	AUTO_FREE char *wrapped = xasprintf(" | %s | ", b), *copy = xstrdup(a);
	char *rest = copy, *part;

	if (strlen(a) != strlen(b))
		return false;
	while ((part = rest) != NULL) {
		char *bar = strstr(part, " | ");
		AUTO_FREE char *wanted = NULL;

		if (bar != NULL)
			*bar = '\0';
		rest = bar != NULL ? bar + 3 : NULL;
		wanted = xasprintf(" | %s | ", part);
		if (strstr(wrapped, wanted) == NULL)
			return false;
	}
	return true;
}

static int difference_compare(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	return x->rank != y->rank ? x->rank - y->rank : strcmp(x->key, y->key);
}

int store_differences(struct store *s, const struct side_cell *a_cells, size_t n_a, const struct side_cell *b_cells,
                      size_t n_b, struct arena *a, struct difference **ret, size_t *ret_n, struct err *e)
{
	struct side_facts x = { 0 }, y = { 0 };
	int rc = facts_collect(s, a_cells, n_a, &x, a, e);

	if (rc == 0)
		rc = facts_collect(s, b_cells, n_b, &y, a, e);
	*ret = arena_array(a, x.n + y.n + 1, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = 0; rc == 0 && i < x.n + y.n; i++) {
		const char *key = i < x.n ? x.at[i].key : y.at[i - x.n].key;
		const char *va = fact_values(&x, key), *vb = fact_values(&y, key);

		if ((i >= x.n && va[0] != '\0') || values_equal(va, vb))
			continue;
		(*ret)[(*ret_n)++] = (struct difference){ key, va, vb, fact_rank(key) };
	}
	if (*ret_n > 1)
		qsort(*ret, *ret_n, sizeof(**ret), difference_compare);
	free(x.at);
	free(y.at);
	free(x.environments);
	free(y.environments);
	return rc;
}

/* ---- environments that meet in one dataset ---- */

void dataset_environment_add(struct dataset *d, int64_t host_id, int64_t environment_id)
{
	for (size_t i = d->n_environments; i-- > 0;)
		if (d->environments[i].id == environment_id && d->environments[i].host_id == host_id)
			return;
	if (environment_id == 0)
		return;
	ARRAY_GROW(d->environments, d->n_environments, d->cap_environments);
	d->environments[d->n_environments++] = (struct dataset_environment){ host_id, environment_id };
}

static int mixed_compare(const void *a, const void *b)
{
	const struct mixed_fact *x = a, *y = b;
	int host = strcmp(x->host, y->host);

	return host != 0 ? host : x->rank != y->rank ? x->rank - y->rank : strcmp(x->key, y->key);
}

/* Those of one host; ids: its environments. */
static int host_facts_mixed(struct store *s, const char *host, const char *ids, struct arena *a, struct mixed_fact **at,
                            size_t *n, size_t *cap, struct err *e)
{
	AUTO_FREE char *sql = xasprintf("SELECT key, group_concat(value, ' | ') FROM (SELECT DISTINCT key, value FROM environment_fact WHERE "
	                                "environment_id IN (%s) AND class <> 'volatile' AND key NOT GLOB 'tool.*' ORDER BY key, value) "
	                                "GROUP BY key HAVING count(*) > 1", ids);
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, sql, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(*at, *n, *cap);
		(*at)[*n] = (struct mixed_fact){ .host = host, .key = column_text(st, 0, a), .values = column_text(st, 1, a) };
		(*at)[*n].rank = fact_rank((*at)[*n].key);
		(*n)++;
	}
	return rc;
}

static const char *host_name(const struct dataset *d, int64_t host_id)
{
	size_t i = 0;

	while (i + 1 < d->n_sweeps && d->sweeps[i].host_id != host_id)
		i++;
	return d->sweeps[i].host;
}

int store_mixed_facts(struct store *s, struct dataset *d, struct err *e)
{
	AUTO_FREE struct mixed_fact *at = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < d->n_environments; i++) {
		AUTO_TEXT struct text ids = { 0 };
		bool is_first = true;
		size_t count = 0;

		for (size_t k = 0; k < d->n_environments; k++) {
			if (d->environments[k].host_id != d->environments[i].host_id)
				continue;
			is_first = is_first && k >= i;
			text_printf(&ids, "%s%lld", count++ > 0 ? "," : "", (long long)d->environments[k].id);
		}
		if (is_first && count > 1 &&
		    host_facts_mixed(s, host_name(d, d->environments[i].host_id), ids.s, d->arena, &at, &n, &cap, e) <
		            0)
			return -1;
	}
	if (n > 1)
		qsort(at, n, sizeof(*at), mixed_compare);
	d->mixed = rows_keep(d->arena, at, n, sizeof(*at));
	d->n_mixed = n;
	return 0;
}

int store_config_find(struct store *s, const char *digits, int64_t *ret_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE char *pattern = xasprintf("%s*", digits);
	int64_t id = 0;
	int rc, n = 0;

	if (digits[0] == '\0' || strspn(digits, "0123456789abcdef") != strlen(digits))
		return err_set(e, ERR_USAGE, "'%s' is not the start of a digest: hexadecimal digits in lower case",
		               digits);
	if (statement_open(s, &st, e, "SELECT id FROM config WHERE lower(hex(digest)) GLOB ? LIMIT 2", "t", pattern) <
	    0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		id = column_int(st, 0);
		n++;
	}
	if (rc == 0 && n != 1)
		return err_set(e, ERR_USAGE,
		               n == 0 ? "no config has a digest that begins with '%s'" :
		                        "several configs have digests that begin "
		                        "with '%s'",
		               digits);
	if (rc == 0)
		*ret_id = id;
	return rc;
}
