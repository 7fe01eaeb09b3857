/* SPDX-License-Identifier: MIT
 *
 * Builds the report of a sweep; see report.h.  Sizes: some thousand cells, some ten axes, up to a hundred metrics.
 */
#include "cli/report.h"

#include <string.h>

#include "schema/analysis.h"
#include "schema/axis.h"
#include "schema/stats.h"

const struct shown_value *report_value(const struct shown_cell *c, const char *axis)
{
	for (size_t i = 0; i < c->n_values; i++)
		if (strcmp(c->values[i].axis, axis) == 0)
			return &c->values[i];
	return NULL;
}

/* Sizes are stored as bytes. */
static const char *value_sized(const struct report *r, const char *axis, const char *value)
{
	const struct axis *def = axis_find(axis);
	char buf[SIZE_TEXT];
	int64_t bytes;

	if (def == NULL || def->kind != AXIS_SIZE || integer_parse(value, 0, INT64_MAX, &bytes) < 0)
		return value;
	return arena_strdup(r->arena, size_format(bytes, buf));
}

static bool is_option_axis(const char *axis)
{
	return strcmp(axis, "mkfs") == 0 || strcmp(axis, "mount") == 0;
}

const char *report_value_text(const struct report *r, const struct shown_cell *c, const char *axis)
{
	const struct shown_value *v = report_value(c, axis);

	if (v == NULL)
		return "-";
	if (strcmp(v->value, KERNEL_DEFAULT) == 0) {
		if (v->effective == NULL || v->effective[0] == '\0' || is_option_axis(axis)) /* what mkfs chose fills a page */
			return "default";
		return arena_printf(r->arena, "default (%s)", value_sized(r, axis, v->effective));
	}
	if (strcmp(axis, "filesystem") == 0 && v->requested[0] != '\0')
		return v->requested; /* the name under define:, where there is one */
	return v->value[0] == '\0' ? "-" : value_sized(r, axis, v->value);
}

/* ---- axes ---- */

static size_t axis_rank(const char *name)
{
	static const char *const first[] = { "filesystem", "mkfs", "mount", "readahead", "scheduler" };

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (strcmp(first[i], name) == 0)
			return i;
	return text_starts(name, "label.") ? ARRAY_SIZE(first) + 1 : ARRAY_SIZE(first);
}

static int axis_compare(const void *a, const void *b)
{
	const struct report_axis *x = a, *y = b;
	size_t rx = axis_rank(x->name), ry = axis_rank(y->name);

	return rx != ry ? (rx < ry ? -1 : 1) : strcmp(x->name, y->name);
}

static struct report_axis *axis_lookup(struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_axes; i++)
		if (strcmp(r->axes[i].name, name) == 0)
			return &r->axes[i];
	return NULL;
}

/* By what people read: a default that turned out differently (btrfs has a readahead of its own) is a difference. */
static bool values_differ(const struct report *r, size_t cell, size_t other, const char *axis)
{
	return strcmp(report_value_text(r, &r->cells[cell], axis), report_value_text(r, &r->cells[other], axis)) != 0;
}

static bool axis_varies(const struct report *r, const char *axis)
{
	for (size_t i = 1; i < r->n_cells; i++)
		if (values_differ(r, 0, i, axis))
			return true;
	return false;
}

/* True if cells with the same filesystem have the same value of this axis: then the filesystem's name says it all. */
static bool axis_is_implied(const struct report *r, const char *axis)
{
	if (!is_option_axis(axis))
		return false;
	for (size_t i = 0; i < r->n_cells; i++)
		for (size_t j = 0; j < i; j++) {
			if (values_differ(r, i, j, "filesystem"))
				continue;
			if (values_differ(r, i, j, axis))
				return false;
			break; /* equal to an earlier one, which was compared with those before it */
		}
	return true;
}

static void axes_build(struct report *r)
{
	size_t cap = 0;

	for (size_t i = 0; i < r->n_cells; i++)
		cap += r->cells[i].n_values;
	r->axes = arena_array(r->arena, cap < 256 ? cap + 1 : 256, sizeof(*r->axes));
	for (size_t i = 0; i < r->n_cells; i++)
		for (size_t v = 0; v < r->cells[i].n_values && r->n_axes < 256; v++)
			if (axis_lookup(r, r->cells[i].values[v].axis) == NULL)
				r->axes[r->n_axes++].name = r->cells[i].values[v].axis;
	for (size_t i = 0; i < r->n_axes; i++) {
		r->axes[i].varies = axis_varies(r, r->axes[i].name);
		r->axes[i].is_implied = r->axes[i].varies && axis_is_implied(r, r->axes[i].name);
	}
	qsort(r->axes, r->n_axes, sizeof(*r->axes), axis_compare);
}

int report_axis(const struct report *r, const char *name, size_t *ret, struct err *e)
{
	AUTO_FREE const char **names = xcalloc(r->n_axes + 1, sizeof(*names));
	AUTO_TEXT struct text all = { 0 };
	const char *nearest;

	for (size_t i = 0; i < r->n_axes; i++) {
		if (strcmp(r->axes[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
		names[i] = r->axes[i].name;
		text_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	nearest = text_nearest(name, names, r->n_axes);
	err_set(e, ERR_USAGE, "sweep %lld has no axis '%s'", (long long)r->sweep.id, name);
	if (nearest != NULL)
		return err_hint(e, "did you mean '%s'? it has %s", nearest, text_str(&all));
	return err_hint(e, "it has %s", r->n_axes > 0 ? text_str(&all) : "none yet");
}

/* ---- metrics ---- */

static struct report_metric *metric_lookup(struct report *r, const struct shown_result *result, size_t *cap)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (strcmp(r->metrics[i].key, result->key) == 0)
			return &r->metrics[i];
	if (r->n_metrics == *cap) {
		struct report_metric *grown = arena_array(r->arena, *cap ? 2 * *cap : 16, sizeof(*grown));

		if (r->n_metrics > 0)
			memcpy(grown, r->metrics, r->n_metrics * sizeof(*grown));
		r->metrics = grown;
		*cap = *cap ? 2 * *cap : 16;
	}
	r->metrics[r->n_metrics] = (struct report_metric){
		.key = result->key,
		.base = result->unit,
		.better = result->better,
		.is_detail = result->is_detail,
		.at = arena_array(r->arena, r->n_cells, sizeof(const struct shown_result *)),
		.standing = arena_array(r->arena, r->n_cells, sizeof(enum standing)),
	};
	return &r->metrics[r->n_metrics++];
}

static void metrics_build(struct report *r)
{
	size_t cap = 0;

	for (size_t c = 0; c < r->n_cells; c++)
		for (size_t i = 0; i < r->cells[c].n_results; i++) {
			const struct shown_result *result = &r->cells[c].results[i];
			struct report_metric *m = metric_lookup(r, result, &cap);

			m->at[c] = result;
			m->n_max = result->n > m->n_max ? result->n : m->n_max;
		}
}

/* Cells whose results of a metric are ranked, and these. */
struct ranks {
	size_t *cells;         /* owned */
	struct spread *spread; /* owned */
	bool *is_tied;         /* owned */
	size_t n, best;
};

static bool is_above(enum better better, double a, double b)
{
	return better == BETTER_LOWER ? a < b : a > b;
}

/* group: of each cell, and the one that counts; NULL: all. */
static void ranks_gather(const struct report *r, const struct report_metric *m, const size_t *group, size_t which,
                         struct ranks *k)
{
	for (size_t c = 0; c < r->n_cells; c++) {
		const struct shown_result *x = m->at[c];

		if (x == NULL || (group != NULL && group[c] != which) ||
		    result_ranked(x->flags, r->cells[c].state == CELL_OK, x->n, r->sweep.repetitions) != RANKED)
			continue;
		if (k->n == 0 || is_above(m->better, x->value, k->spread[k->best].value))
			k->best = k->n;
		k->cells[k->n] = c;
		k->spread[k->n++] = (struct spread){ x->value, x->min, x->max, (int)x->n };
	}
}

static void standing_build(const struct report *r, struct report_metric *m, const size_t *group, size_t which)
{
	struct ranks k = {
		.cells = xcalloc(r->n_cells + 1, sizeof(*k.cells)),
		.spread = xcalloc(r->n_cells + 1, sizeof(*k.spread)),
		.is_tied = xcalloc(r->n_cells + 1, sizeof(*k.is_tied)),
	};

	if (m->better != BETTER_NEITHER)
		ranks_gather(r, m, group, which, &k);
	ties_judge(k.spread, k.n, r->sweep.keep, m->better, k.is_tied);
	for (size_t i = 0; i < k.n; i++) {
		if (k.spread[i].value == k.spread[k.best].value)
			m->standing[k.cells[i]] = STANDING_BEST;
		else if (k.is_tied[i])
			m->standing[k.cells[i]] = STANDING_TIE;
	}
	free(k.cells);
	free(k.spread);
	free(k.is_tied);
}

/* "dd-read.latency{4KiB}" and the unit, one below the other. */
static const char *metric_title(const struct report *r, const struct report_metric *m)
{
	AUTO_TEXT struct text title = { 0 };
	const char *name = strchr(m->key, '.'), *label;

	text_add_n(&title, m->key, strcspn(m->key, "."));
	if (name != NULL) {
		label = strchr(name, '{');
		text_printf(&title, "\n%.*s", (int)strcspn(name + 1, "{"), name + 1);
		if (label != NULL)
			text_printf(&title, "\n%.*s", (int)strcspn(label + 1, "}"), label + 1);
	}
	text_printf(&title, "\n%s", m->unit.name);
	return arena_strdup(r->arena, text_str(&title));
}

static const char *spread_text(const struct shown_result *result, char buf[SIZE_TEXT])
{
	double percent = 100 * stats_spread(result->min, result->max, result->value);

	buf[0] = '\0';
	if (result->n > 1)
		snprintf(buf, SIZE_TEXT, percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
	return buf;
}

static void widths_build(const struct report *r, struct report_metric *m)
{
	AUTO_TEXT struct text marks = { 0 };
	char buf[SIZE_TEXT];

	for (size_t c = 0; c < r->n_cells; c++) {
		int width;

		if (m->at[c] == NULL)
			continue;
		text_clear(&marks);
		report_marks(r, m, c, &marks);
		width = (int)strlen(scale_format(&m->unit, m->at[c]->value, buf));
		m->width = width > m->width ? width : m->width;
		m->marks_width = (int)marks.n > m->marks_width ? (int)marks.n : m->marks_width;
		width = (int)strlen(spread_text(m->at[c], buf));
		m->spread_width = width > m->spread_width ? width : m->spread_width;
	}
}

const char *report_figure(const struct report *r, const struct report_metric *m, size_t cell)
{
	const struct shown_result *result = m->at[cell];
	AUTO_TEXT struct text marks = { 0 };
	char value[SIZE_TEXT], spread[SIZE_TEXT];

	if (result == NULL)
		return "";
	report_marks(r, m, cell, &marks);
	return arena_printf(r->arena, "%*s%-*s%s%*s", m->width, scale_format(&m->unit, result->value, value),
	                    m->marks_width, text_str(&marks), m->spread_width > 0 ? " " : "", m->spread_width,
	                    spread_text(result, spread));
}

static bool result_has_flag(const struct shown_result *x, const char *wanted)
{
	const char *rest = x->flags;
	char flag[FLAG_TEXT];

	while (flag_next(&rest, flag))
		if (strcmp(flag, wanted) == 0)
			return true;
	return false;
}

/* Flags of the first result that all others have, too; one result alone has its own. */
static void common_flags_find(struct report *r)
{
	AUTO_TEXT struct text common = { 0 };
	const struct shown_result *first = NULL;
	const char *rest;
	char flag[FLAG_TEXT];
	size_t n = 0;

	r->common_flags = "";
	for (size_t c = 0; c < r->n_cells; c++) {
		n += r->cells[c].n_results;
		if (first == NULL && r->cells[c].n_results > 0)
			first = &r->cells[c].results[0];
	}
	rest = n > 1 ? first->flags : "";
	while (flag_next(&rest, flag)) {
		size_t with = 0;

		for (size_t c = 0; c < r->n_cells; c++)
			for (size_t i = 0; i < r->cells[c].n_results; i++)
				with += result_has_flag(&r->cells[c].results[i], flag);
		if (with == n)
			text_printf(&common, " %s ", flag);
	}
	r->common_flags = common.n > 0 ? arena_strdup(r->arena, common.s) : "";
}

#define COLUMNS_MANY 12 /* metrics beside each other that people still read */
#define LABELS_FEW 4    /* labels of one metric that are shown even beside many */

/* Metrics that differ in their labels only. */
static bool is_family(const char *a, const char *b)
{
	size_t n = strcspn(a, "{");

	return a[n] == '{' && strncmp(a, b, n + 1) == 0;
}

static size_t family_size(const struct report *r, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_metrics; i++)
		n += is_family(key, r->metrics[i].key);
	return n;
}

static size_t metrics_shown(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_metrics; i++)
		n += r->metrics[i].aside == ASIDE_NO;
	return n;
}

/* Sets metrics of the table aside, unless there are no others. */
static void asides_set(struct report *r, bool (*is_meant)(const struct report_metric *m), enum aside aside)
{
	bool has_others = false;

	for (size_t i = 0; i < r->n_metrics; i++)
		has_others = has_others || (r->metrics[i].aside == ASIDE_NO && !is_meant(&r->metrics[i]));
	for (size_t i = 0; i < r->n_metrics && has_others; i++)
		if (r->metrics[i].aside == ASIDE_NO && is_meant(&r->metrics[i]))
			r->metrics[i].aside = aside;
}

static bool is_neither(const struct report_metric *m)
{
	return m->better == BETTER_NEITHER;
}

static bool is_detail(const struct report_metric *m)
{
	return m->is_detail;
}

/* Details, and numbers that are neither good nor bad, are left to those who name them; so are the labels of a metric
 * that has many of them in a table that is wide.  If nothing else is there, the first of them are shown. */
static void asides_build(struct report *r)
{
	asides_set(r, is_detail, ASIDE_DETAIL);
	asides_set(r, is_neither, ASIDE_NEITHER);
	if (metrics_shown(r) <= COLUMNS_MANY)
		return;
	for (size_t i = 0; i < r->n_metrics; i++)
		if (r->metrics[i].aside == ASIDE_NO && family_size(r, r->metrics[i].key) > LABELS_FEW)
			r->metrics[i].aside = ASIDE_LABELS;
	for (size_t i = 0, n = metrics_shown(r); i < r->n_metrics && n < LABELS_FEW; i++) {
		if (r->metrics[i].aside == ASIDE_LABELS) {
			r->metrics[i].aside = ASIDE_NO;
			n++;
		}
	}
}

static void units_build(struct report *r, enum scale_style style)
{
	AUTO_FREE double *values = xcalloc(r->n_cells + 1, sizeof(*values));

	for (size_t i = 0; i < r->n_metrics; i++) {
		struct report_metric *m = &r->metrics[i];
		size_t n = 0;

		for (size_t c = 0; c < r->n_cells; c++)
			if (m->at[c] != NULL)
				values[n++] = m->at[c]->value;
		m->unit = scale_choose(m->base, values, n, style);
		m->title = metric_title(r, m);
		standing_build(r, m, NULL, 0);
		widths_build(r, m);
	}
}

static bool filter_has_metrics(const struct filter *f)
{
	bool has = false;

	for (size_t i = 0; f != NULL && i < f->n; i++)
		has = has || f->at[i].kind == FILTER_METRIC || f->at[i].kind == FILTER_WORKLOAD;
	return has;
}

int report_load(struct store *s, int64_t sweep_id, const struct filter *f, enum scale_style style, struct arena *a,
                struct report *ret, struct err *e)
{
	const struct filter all = { 0 };
	struct report r = { .arena = a, .is_filtered = f != NULL && f->n > 0, .has_some_metrics = filter_has_metrics(f) };

	if (store_begin(s, e) < 0) /* one state of the store for the whole report, while a sweep records */
		return -1;
	if (store_sweep_get(s, sweep_id, a, &r.sweep, e) < 0 ||
	    store_show_selected(s, sweep_id, f != NULL ? f : &all, a, &r.cells, &r.n_cells, e) < 0) {
		store_rollback(s);
		return -1;
	}
	if (store_commit(s, e) < 0)
		return -1;
	axes_build(&r);
	metrics_build(&r);
	common_flags_find(&r);
	units_build(&r, style);
	asides_build(&r);
	*ret = r;
	return 0;
}

void report_stand(struct report *r, const size_t *group, size_t n)
{
	for (size_t i = 0; i < r->n_metrics; i++) {
		struct report_metric *m = &r->metrics[i];

		memset(m->standing, 0, r->n_cells * sizeof(*m->standing));
		for (size_t which = 0; which < n; which++)
			standing_build(r, m, group, which);
		m->width = m->marks_width = m->spread_width = 0;
		widths_build(r, m);
	}
	r->stands_by_column = true;
}

/* ---- flags ---- */

static const struct {
	const char *flag;
	char letter;
	const char *about;
} flags[] = {
	{ "cached", 'c', "the device moved far fewer bytes than the tool claims to have read" },
	{ "unwritten", 'w', "what was read had never been written: holes or preallocated extents, which need no device" },
	{ "small", 'f', "the files that were read are smaller than the memory; caches were dropped before" },
	{ "compressible", 'z', "the filesystem compresses, and the tool's data can be compressed: less is moved than the tool says" },
	{ "disturbed", 'x', "a setting changed or something else used the device while it ran" },
	{ "lazy", 'l', "the filesystem was made with lazy initialisation, which may go on beside a trial" },
	{ "inconsistent", 'v', "the machine was in another state for some of the trials, as --trials tells" },
	{ "drift", 'd', "the trials rise or fall steadily by more than 25 %" },
	{ "incomplete", 'i', "fewer good trials than the other results of this metric have" },
	{ "spread", 's', "the trials lie more than 10 % apart" },
	{ "suspect", '?', "the workload's own check doubts this output" },
	{ "single", '1', "a single figure, as published: nothing is known of its noise" },
	{ "summary", 'm', "published as the middle or the mean of runs that are not known" },
	{ "approximate", 'a', "published as a round number" },
	{ "rebuild", 'r', "published as measured while the array was being rebuilt" },
};

char flag_letter(const char *flag)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (strcmp(flags[i].flag, flag) == 0)
			return flags[i].letter;
	return '!';
}

const char *flag_about(const char *flag)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (strcmp(flags[i].flag, flag) == 0)
			return flags[i].about;
	return "see --trials";
}

bool report_flag_is_common(const struct report *r, const char *flag)
{
	char spaced[FLAG_TEXT + 2];

	snprintf(spaced, sizeof(spaced), " %s ", flag);
	return strstr(r->common_flags, spaced) != NULL;
}

void report_marks(const struct report *r, const struct report_metric *m, size_t cell, struct text *ret)
{
	const struct shown_result *result = m->at[cell];
	const char *rest = result->flags;
	char flag[FLAG_TEXT];

	if (m->standing[cell] != STANDING_NONE)
		text_add(ret, m->standing[cell] == STANDING_BEST ? "*" : "~");
	while (flag_next(&rest, flag)) {
		char letter = flag_letter(flag);

		if (!report_flag_is_common(r, flag))
			text_add_n(ret, &letter, 1);
	}
	if (result->n < m->n_max)
		text_add(ret, "i");
}
