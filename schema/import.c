/* SPDX-License-Identifier: MIT
 *
 * The rows of a published table -> cells and trials; see import.h.  One row at a time: memory grows with the hosts of
 * the table and with the joined file, not with the table.
 */
#include "schema/import.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/import_map.h"
#include "schema/store_import.h"
#include "schema/yaml.h"

#define WORKLOADS_MAX 64
#define METRICS_MAX 64
#define HOSTS_MAX 256

/* A row of the joined file. */
struct joined_row {
	const char *key;
	const char **texts;
};

struct host {
	struct import_sweep sweep;
	int64_t workload_ids[WORKLOADS_MAX];
};

struct importer {
	struct store *s;
	struct arena *a;
	struct import_map map;
	struct csv csv, joined_csv;
	bool has_join;
	struct joined_row *joined;
	size_t n_joined, cap_joined;
	const struct joined_row *row; /* of the joined file, for the record at hand */
	struct diags *faults;
	uint8_t digest[DIGEST_SIZE];  /* of everything that is read */
	char submitter[64];
	struct text cell_text, facts_text; /* of the row before: rows of one cell usually stand together */
	const struct host *cell_host;
	int64_t cell_id, environment_id;
	struct host *hosts;
	size_t n_hosts;
	struct import_report report;
};

static const struct csv_field *field_at(const struct importer *im, const struct import_field *f)
{
	static const struct csv_field nowhere;

	if (f->index < 0 || (size_t)f->index >= im->csv.n_names)
		return im->csv.n_fields > 0 ? &im->csv.fields[0] : &nowhere;
	return &im->csv.fields[f->index];
}

static const char *column_text_at(const struct importer *im, int index)
{
	if ((size_t)index < im->csv.n_names)
		return im->csv.fields[index].text;
	return im->row != NULL ? im->row->texts[(size_t)index - im->csv.n_names] : "";
}

/* What a field says in this row, translated. */
static const char *field_text(const struct importer *im, const struct import_field *f)
{
	const char *text = f->index < 0 ? f->value : column_text_at(im, f->index);

	for (size_t i = 0; i < f->n_values; i++)
		if (strcmp(f->values[i].from, text) == 0)
			return f->values[i].to;
	return text;
}

#define fault(im, f, ...) \
	diags_add((im)->faults, field_at(im, f)->line, field_at(im, f)->column, __VA_ARGS__)

static bool where_holds(const struct importer *im, const struct import_where *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(column_text_at(im, w[i].index), w[i].value) != 0)
			return false;
	return true;
}

/* ---- the joined file ---- */

/* Points im->row at the joined row of the record; a fault if there is none. */
static int joined_row_find(struct importer *im)
{
	int on;

	im->row = NULL;
	if (!im->has_join)
		return 0;
	on = csv_column(&im->csv, im->map.join_on);
	for (size_t i = 0; i < im->n_joined; i++)
		if (strcmp(im->joined[i].key, im->csv.fields[on].text) == 0)
			im->row = &im->joined[i];
	if (im->row != NULL)
		return 0;
	diags_add(im->faults, im->csv.fields[on].line, im->csv.fields[on].column, "'%s' has no row whose %s is '%s'",
	          im->map.join_file, im->map.join_on, im->csv.fields[on].text);
	return -1;
}

static void joined_rows_read(struct importer *im, int on)
{
	while (csv_next(&im->joined_csv) > 0) {
		struct joined_row row = { .texts = arena_array(im->a, im->joined_csv.n_names, sizeof(char *)) };

		for (size_t i = 0; i < im->joined_csv.n_names; i++)
			row.texts[i] = arena_strdup(im->a, im->joined_csv.fields[i].text);
		row.key = row.texts[on];
		for (size_t i = 0; i < im->n_joined; i++)
			if (strcmp(im->joined[i].key, row.key) == 0)
				diags_add(im->faults, im->joined_csv.fields[on].line, im->joined_csv.fields[on].column,
				          "%s '%s' is there twice in '%s'", im->map.join_on, row.key, im->map.join_file);
		ARRAY_GROW(im->joined, im->n_joined, im->cap_joined);
		im->joined[im->n_joined++] = row;
	}
}

static FILE *file_open(const char *path, SHA256_CTX *sha, struct err *e)
{
	FILE *in = fopen(path, "re");
	char buf[8192];
	size_t n;

	if (in == NULL) {
		err_sys(e, errno, "open '%s'", path);
		return NULL;
	}
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		SHA256Update(sha, (const uint8_t *)buf, n);
	if (ferror(in)) {
		err_sys(e, errno, "read '%s'", path);
		fclose(in);
		return NULL;
	}
	rewind(in);
	return in;
}

static int join_read(struct importer *im, const char *map_path, SHA256_CTX *sha, struct diags *map_faults,
                     struct err *e)
{
	const char *slash = strrchr(map_path, '/');
	AUTO_FREE char *path = xasprintf("%.*s%s", slash != NULL ? (int)(slash - map_path + 1) : 0, map_path,
	                                 im->map.join_file);
	FILE *in = file_open(path, sha, e);
	int on;

	if (in == NULL)
		return -1;
	if (csv_begin(&im->joined_csv, in, im->faults) == 0) {
		on = csv_column(&im->joined_csv, im->map.join_on);
		if (on < 0 || csv_column(&im->csv, im->map.join_on) < 0)
			diags_add(map_faults, im->map.join_line, im->map.join_column,
			          "'%s' is a column of both tables: '%s' has none", im->map.join_on,
			          on < 0 ? im->map.join_file : "the table");
		else
			joined_rows_read(im, on);
	}
	fclose(in);
	im->has_join = true;
	return im->faults->n > 0 || map_faults->n > 0 ? err_set(e, ERR_USAGE, "'%s' cannot be joined", path) : 0;
}

/* ---- rows ---- */

/* One axis of the row's cell; false if the row says nothing of it or is faulty. */
static bool setting_make(struct importer *im, const struct import_axis *x, struct arena *row_arena, struct setting *ret)
{
	const char *text = field_text(im, &x->field);
	struct err why = { 0 };
	int64_t bytes;

	if (text[0] == '\0')
		return false;
	*ret = (struct setting){ .axis = x->name, .def = x->def, .value = text };
	ret->requested = x->field.unit != NULL ? arena_printf(row_arena, "%s%s", text, x->field.unit) : text;
	if (strcmp(text, KERNEL_DEFAULT) == 0 || x->def->kind == AXIS_FILESYSTEM || x->def->kind == AXIS_WORDS ||
	    x->def->kind == AXIS_TEXT)
		return true;
	if (x->def->kind == AXIS_SIZE) { /* what was measured is true even where it is no multiple of a page */
		if (size_parse(ret->requested, SIZE_SECTORS, &bytes, &why) < 0) {
			fault(im, &x->field, "%s: %s%s%s", x->name, why.text, why.hint[0] != '\0' ? "; " : "",
			      why.hint);
			return false;
		}
		ret->value = arena_printf(row_arena, "%lld", (long long)bytes);
		return true;
	}
	if (axis_canonical(x->def, ret->requested, row_arena, &ret->value, &why) == 0)
		return true;
	fault(im, &x->field, "%s: %s%s%s", x->name, why.text, why.hint[0] != '\0' ? "; " : "", why.hint);
	return false;
}

static int setting_compare(const void *a, const void *b)
{
	return strcmp(((const struct setting *)a)->axis, ((const struct setting *)b)->axis);
}

static void cell_make(struct importer *im, struct arena *row_arena, struct cell *ret)
{
	*ret = (struct cell){ .position = im->csv.record - 1 };
	for (size_t i = 0; i < im->map.n_axes; i++)
		if (setting_make(im, &im->map.axes[i], row_arena, &ret->at[ret->n]))
			ret->n++;
	qsort(ret->at, ret->n, sizeof(ret->at[0]), setting_compare);
}

static int environment_find(struct importer *im, int64_t *ret, struct err *e)
{
	struct environment_fact facts[METRICS_MAX];
	AUTO_TEXT struct text all = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < im->map.n_facts && n < ARRAY_SIZE(facts); i++) {
		const char *value = field_text(im, &im->map.facts[i].field);

		if (value[0] == '\0')
			continue;
		facts[n++] = (struct environment_fact){ im->map.facts[i].key, value, FACT_CONTEXT };
		text_printf(&all, "%zu %s\n", i, value);
	}
	*ret = 0;
	if (n == 0)
		return 0;
	if (strcmp(text_str(&all), text_str(&im->facts_text)) != 0) {
		if (store_environment(im->s, facts, n, &im->environment_id, e) < 0)
			return -1;
		text_clear(&im->facts_text);
		text_add(&im->facts_text, all.s);
	}
	*ret = im->environment_id;
	return 0;
}

/* The row's cell in the store; that of the row before if it has the same settings. */
static int cell_find(struct importer *im, const struct host *h, const struct cell *c, int64_t *ret, struct err *e)
{
	AUTO_TEXT struct text all = { 0 };

	for (size_t i = 0; i < c->n; i++)
		text_printf(&all, "%s=%s\n", c->at[i].axis, c->at[i].value);
	if (h != im->cell_host || strcmp(text_str(&all), text_str(&im->cell_text)) != 0) {
		if (store_import_cell(im->s, h->sweep.id, c, im->map.published_ms, &im->cell_id, e) < 0)
			return -1;
		im->cell_host = h;
		text_clear(&im->cell_text);
		text_add(&im->cell_text, text_str(&all));
	}
	*ret = im->cell_id;
	return 0;
}

/* 1: the row has this figure; 0: it has not, rightly; -1: fault. */
static int figure_read(struct importer *im, const struct import_metric *m, struct measured *ret)
{
	const char *text;
	double v;

	if (!where_holds(im, m->where, m->n_where))
		return 0;
	text = field_text(im, &m->field);
	if (text[0] == '\0' && m->is_optional)
		return 0;
	if (text[0] == '\0') {
		fault(im, &m->field,
		      "%s.%s: the field is empty; a metric that is not always measured says optional: yes in the map",
		      im->map.workloads[m->workload].name, m->name);
		return -1;
	}
	if (strchr(text, ',') != NULL || number_parse(text, &v) < 0 || !isfinite(v * m->factor)) { /* 1e308 GB/s */
		fault(im, &m->field, "%s.%s: '%s' is not a number", im->map.workloads[m->workload].name, m->name, text);
		return -1;
	}
	*ret = (struct measured){ .name = m->name, .label = m->label, .unit = m->unit, .better = m->better, .value = v * m->factor };
	return 1;
}

/* Whether any metric of the map stands in this row. */
static bool row_has_figure(const struct importer *im)
{
	for (size_t i = 0; i < im->map.n_metrics; i++) {
		const struct import_metric *m = &im->map.metrics[i];

		if (where_holds(im, m->where, m->n_where) && (!m->is_optional || field_text(im, &m->field)[0] != '\0'))
			return true;
	}
	return false;
}

static size_t flags_make(struct importer *im, struct arena *row_arena, struct trial_flag *ret)
{
	size_t n = 0;

	if (im->map.keep == KEEP_SINGLE)
		ret[n++] = (struct trial_flag){ "single", "a single figure, as published" };
	else if (im->map.of > 1)
		ret[n++] = (struct trial_flag){
			"summary", arena_printf(row_arena, "the %s of %d runs, as published; the runs are not known",
			                        im->map.keep == KEEP_MEAN ? "mean" : "middle", im->map.of)
		};
	for (size_t i = 0; i < im->map.n_flags && n < METRICS_MAX; i++)
		if (strcmp(field_text(im, &im->map.flags[i].field), im->map.flags[i].is) == 0)
			ret[n++] = (struct trial_flag){ im->map.flags[i].name, "as published" };
	return n;
}

static struct host *host_find(struct importer *im, struct err *e)
{
	const char *name = field_text(im, &im->map.host);
	struct import_new n = { .host = name, .plan = im->map.name, .about = im->map.about, .text = im->map.text,
		                .source = im->map.source, .keep = im->map.keep, .at_ms = im->map.published_ms,
		                .submitter = im->submitter };
	AUTO_TEXT struct text seed = { 0 };
	uint8_t digest[DIGEST_SIZE];
	struct host *h;

	for (size_t i = 0; i < im->n_hosts; i++)
		if (strcmp(im->hosts[i].sweep.host, name) == 0)
			return &im->hosts[i];
	if (name[0] == '\0' || im->n_hosts == HOSTS_MAX) {
		fault(im, &im->map.host, name[0] == '\0' ? "the host is empty" : "more than 256 hosts");
		return NULL;
	}
	n.uid = getuid();
	n.gid = getgid();
	h = &im->hosts[im->n_hosts];
	text_add_n(&seed, (const char *)im->digest, sizeof(im->digest));
	text_add(&seed, name);
	digest_of(seed.s, seed.n, digest);
	memcpy(n.uuid, digest, 16);
	n.uuid[6] = (uint8_t)((n.uuid[6] & 0x0f) | 0x80); /* version 8, RFC 9562 */
	n.uuid[8] = (uint8_t)((n.uuid[8] & 0x3f) | 0x80);
	h->sweep.host = arena_strdup(im->a, name);
	if (store_import_sweep(im->s, &n, &h->sweep.id, &h->sweep.is_known, e) < 0)
		return NULL;
	for (size_t i = 0; i < im->map.n_workloads && !h->sweep.is_known; i++) {
		const struct import_workload *w = &im->map.workloads[i];

		if (store_import_workload(im->s, h->sweep.id, (int64_t)i, w->name, w->definition, w->parameters,
		                          &h->workload_ids[i], e) < 0)
			return NULL;
	}
	im->n_hosts++;
	return h;
}

/* The figures of one workload in this row, as one trial; row: what the trials of a row share.  -1 only on a system
 * error. */
static int workload_import(struct importer *im, struct host *h, size_t workload, const struct import_trial *row,
                           struct err *e)
{
	struct measured measured[METRICS_MAX];
	const struct import_metric *of[METRICS_MAX];
	struct import_trial t = *row;
	size_t n = 0;
	int duplicate = -1;

	for (size_t i = 0; i < im->map.n_metrics; i++) {
		int rc = im->map.metrics[i].workload == workload && n < METRICS_MAX
		                 ? figure_read(im, &im->map.metrics[i], &measured[n])
		                 : 0;

		if (rc > 0)
			of[n++] = &im->map.metrics[i];
	}
	if (n == 0 || h == NULL || h->sweep.is_known || im->faults->n > 0)
		return 0;
	t.measured = measured;
	t.n_measured = n;
	t.workload_id = h->workload_ids[workload];
	if (store_import_trial(im->s, &t, &duplicate, e) < 0)
		return -1;
	if (duplicate >= 0)
		fault(im, &of[duplicate]->field, "%s.%s: an earlier row has the same axes%s",
		      im->map.workloads[workload].name, of[duplicate]->name,
		      im->map.has_repetition ? " and repetition" : "; an axis or 'repetition' is missing in the map");
	h->sweep.n_figures += n;
	return 0;
}

static int repetition_read(struct importer *im)
{
	int64_t n = 1;

	if (im->map.has_repetition && integer_parse(field_text(im, &im->map.repetition), 1, 1000000, &n) < 0)
		fault(im, &im->map.repetition, "'%s' is not the number of a repetition",
		      field_text(im, &im->map.repetition));
	return (int)n;
}

static int row_import(struct importer *im, struct err *e)
{
	AUTO_ARENA struct arena *row_arena = arena_new();
	struct trial_flag flags[METRICS_MAX + 1];
	struct import_trial t = { .at_ms = im->map.published_ms, .flags = flags };
	struct host *h;
	struct cell c;

	if (joined_row_find(im) < 0)
		return 0;
	im->report.n_rows++;
	if (!where_holds(im, im->map.rows, im->map.n_rows) || !row_has_figure(im)) {
		im->report.n_skipped++;
		return 0;
	}
	cell_make(im, row_arena, &c);
	t.repetition = repetition_read(im);
	t.n_flags = flags_make(im, row_arena, flags);
	h = host_find(im, e);
	if (h == NULL && im->faults->n == 0)
		return -1;
	if (im->faults->n == 0 && !h->sweep.is_known &&
	    (environment_find(im, &t.environment_id, e) < 0 ||
	     cell_find(im, h, &c, &t.cell_id, e) < 0))
		return -1;
	for (size_t i = 0; i < im->map.n_workloads; i++)
		if (workload_import(im, h, i, &t, e) < 0)
			return -1;
	return 0;
}

static int rows_import(struct importer *im, struct err *e)
{
	int rc;

	while ((rc = csv_next(&im->csv)) > 0)
		if (row_import(im, e) < 0)
			return -1;
	if (rc < 0 || im->faults->n > 0)
		return err_set(e, ERR_USAGE, "nothing was imported: '%s' has %zu error%s", im->faults->file,
		               im->faults->n + im->faults->n_lost, im->faults->n + im->faults->n_lost == 1 ? "" : "s");
	if (im->n_hosts == 0)
		return err_set(e, ERR_USAGE, "nothing was imported: '%s' has no row with a figure", im->faults->file);
	for (size_t i = 0; i < im->n_hosts; i++)
		if (!im->hosts[i].sweep.is_known &&
		    store_import_end(im->s, im->hosts[i].sweep.id, im->map.published_ms, e) < 0)
			return -1;
	return 0;
}

static int table_import(struct importer *im, const char *csv_path, const char *map_path, struct diags *map_faults,
                        struct err *e)
{
	AUTO_TEXT struct text map = { 0 };
	SHA256_CTX sha;
	FILE *in;
	int rc = -1;

	if (file_read(AT_FDCWD, map_path, YAML_MAX_BYTES, &map, e) < 0)
		return -1;
	if (import_map_read(im->a, arena_strndup(im->a, text_str(&map), map.n), map.n, map_faults, &im->map) < 0)
		return err_set(e, ERR_USAGE, "nothing was imported: the map has errors");
	if (im->map.n_workloads > WORKLOADS_MAX || im->map.n_metrics > METRICS_MAX)
		return err_set(e, ERR_USAGE, "'%s': more than %d metrics", map_path, METRICS_MAX);
	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)map.s, map.n);
	in = file_open(csv_path, &sha, e);
	if (in == NULL)
		return -1;
	if (csv_begin(&im->csv, in, im->faults) < 0)
		err_set(e, ERR_USAGE, "nothing was imported: '%s' is not a table", csv_path);
	else if (im->map.join_file == NULL || join_read(im, map_path, &sha, map_faults, e) == 0)
		rc = 0;
	if (rc == 0 && import_map_bind(&im->map, &im->csv, im->has_join ? &im->joined_csv : NULL, map_faults) < 0)
		rc = err_set(e, ERR_USAGE, "nothing was imported: map and table do not go together");
	SHA256Final(im->digest, &sha);
	if (rc == 0)
		rc = rows_import(im, e);
	fclose(in);
	return rc;
}

int import_table(struct store *s, const char *csv_path, const char *map_path, struct arena *a, struct diags *map_faults,
                 struct diags *csv_faults, struct import_report *ret, struct err *e)
{
	struct importer im = { .s = s, .a = a, .faults = csv_faults };
	const struct passwd *pw = getpwuid(getuid());
	int rc;

	snprintf(im.submitter, sizeof(im.submitter), "%s", pw != NULL ? pw->pw_name : "");
	im.hosts = arena_array(a, HOSTS_MAX, sizeof(*im.hosts));
	if (store_begin(s, e) < 0)
		return -1;
	rc = table_import(&im, csv_path, map_path, map_faults, e);
	if (rc < 0)
		store_rollback(s);
	else
		rc = store_commit(s, e);
	im.report.sweeps = arena_array(a, im.n_hosts + 1, sizeof(*im.report.sweeps));
	im.report.n_sweeps = im.n_hosts;
	for (size_t i = 0; i < im.n_hosts; i++)
		im.report.sweeps[i] = im.hosts[i].sweep;
	csv_end(&im.csv);
	csv_end(&im.joined_csv);
	free(im.joined);
	text_done(&im.cell_text);
	text_done(&im.facts_text);
	if (rc == 0)
		*ret = im.report;
	return rc;
}
