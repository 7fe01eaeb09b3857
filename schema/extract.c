/* SPDX-License-Identifier: MIT
 *
 * Metrics and the verdict on a trial from its outputs; see extract.h.  Metrics first (also those of a trial that turns
 * out bad: they are shown, not stored), then the rules, which may use them.
 */
#include "schema/extract.h"

#include <ctype.h>
#include <string.h>

#include "schema/extract_row.h"

const struct fact_def fact_table[] = {
	{ "elapsed", "s", "wall time of the run phase, first step's start to last step's end" },
	{ "user", "s", "user time of its programs" },
	{ "system", "s", "system time of its programs" },
	{ "kernel", "s", "CPU time of the kernel threads that served the device" },
	{ "read_bytes", "B", "what the device read meanwhile" },
	{ "written_bytes", "B", "what the device wrote meanwhile" },
	{ "io_stall", "s", "time in which some task waited for I/O (PSI some)" },
	{ "cached_before", "B", "page cache before the run" },
	{ "cached_after", "B", "page cache after the run" },
	{ "exit_status", "", "of the run step; 128 + signal" },
	{ "ram_bytes", "B", "memory of the host, or the cell's limit" },
	{ "working_set_bytes", "B", "files that a workload with reads: yes finds before the run" },
	{ "copies", "", "concurrent streams of the run step" },
	{ "repetition", "", "number of the trial within its cell, from 1" },
};
const size_t fact_table_n = ARRAY_SIZE(fact_table);

bool fact_is_known(const char *name)
{
	for (size_t i = 0; i < fact_table_n; i++)
		if (strcmp(fact_table[i].name, name) == 0)
			return true;
	return false;
}

const char *extract_state_name(enum extract_state state)
{
	static const char *const names[] = { "ok", "failed", "no-data", "unparsable", "ambiguous", "partial" };

	return names[state];
}

/* What the metrics said, before the rules are asked. */
struct summary {
	size_t n_from_output;      /* metrics with a value that stands in an output */
	size_t n_output_metrics;   /* metrics that look for one */
	bool has_rows;             /* something was recognised, value or not */
	const char *unparsable, *ambiguous; /* the first of each; NULL */
};

static void measured_add(struct extraction *x, struct measured m)
{
	if (x->n_done == x->done_cap) {
		struct measured *more = arena_array(x->arena, x->done_cap = x->done_cap ? 2 * x->done_cap : 32,
		                                    sizeof(*more));

		if (x->n_done > 0)
			memcpy(more, x->done, x->n_done * sizeof(*more));
		x->done = more;
	}
	x->done[x->n_done++] = m;
}

static double found_combine(enum combine how, const struct found *const *rows, size_t n)
{
	double sum = 0, weights = 0, v = rows[0]->value;

	for (size_t i = 0; i < n; i++) {
		double x = rows[i]->value, weight = how == COMBINE_WEIGHTED ? rows[i]->weight : 1;

		sum += x * weight;
		weights += weight;
		if ((how == COMBINE_MIN && x < v) || (how == COMBINE_MAX && x > v) || how == COMBINE_LAST)
			v = x;
	}
	switch (how) {
	case COMBINE_SUM:
		return sum;
	case COMBINE_MEAN:
	case COMBINE_WEIGHTED:
		return weights > 0 ? sum / weights : v;
	case COMBINE_ONLY:
	case COMBINE_LAST:
	case COMBINE_MIN:
	case COMBINE_MAX:
		break;
	}
	return v;
}

static const char *combine_word(enum combine how)
{
	static const char *const words[] = { "of", "summed over", "mean of", "weighted mean of", "last of", "least of", "most of" };

	return words[how];
}

/* Every row of its own: what a result that is not usable looks like. */
static void rows_show(struct extraction *x, const struct workload_metric *m, const struct source *s,
                      const struct collected *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct found *f = &c->at[i];
		const char *label = *f->label != '\0' ? arena_printf(x->arena, "%s#%zu", f->label, f->number)
		                                      : arena_printf(x->arena, "#%zu", f->number);

		measured_add(x, (struct measured){ m->name, label, m->unit, m->better, f->value, m->is_detail, found_where(x, s, f) });
	}
}

static bool group_is_ambiguous(const struct source *s, size_t n)
{
	return n > 1 && s->combine == COMBINE_ONLY;
}

/* Rows with one label become one measured value.  at: rows left; those used are taken out. */
static int group_measure(struct extraction *x, const struct workload_metric *m, const struct source *s,
                         struct collected *c, bool *taken, const struct found **rows, size_t first)
{
	const char *label = c->at[first].label;
	const char *where = found_where(x, s, &c->at[first]);
	size_t n = 0;

	for (size_t i = first; i < c->n; i++) {
		if (taken[i] || strcmp(c->at[i].label, label) != 0)
			continue;
		taken[i] = true;
		rows[n++] = &c->at[i];
	}
	if (group_is_ambiguous(s, n))
		return -1;
	if (n > 1)
		where = arena_printf(x->arena, "%s %zu rows from %s", combine_word(s->combine), n, where);
	if (s->label_if_several && !c->has_several_labels)
		label = "";
	measured_add(x, (struct measured){ m->name, label, m->unit, m->better, found_combine(s->combine, rows, n), m->is_detail,
	                                  where });
	return 0;
}

/* All labels of a source.  A label per row (a grid) needs no search for its mates. */
static void groups_measure(struct extraction *x, const struct workload_metric *m, const struct source *s,
                           struct collected *c)
{
	AUTO_FREE bool *taken = xcalloc(c->n + 1, sizeof(*taken));
	AUTO_FREE const struct found **rows = xcalloc(c->n + 1, sizeof(*rows));
	size_t before = x->n_done;

	for (size_t i = 0; i < c->n; i++) {
		if (taken[i] || group_measure(x, m, s, c, taken, rows, i) == 0)
			continue;
		x->n_done = before;
		c->state = COLLECT_AMBIGUOUS;
		c->why = arena_printf(x->arena, "%zu results for '%s'", c->n, m->name);
		return;
	}
}

/* Tries the sources in turn until one gives a value. */
static int metric_measure(struct extraction *x, const struct workload_metric *m, struct summary *sum, struct err *e)
{
	const char *unparsable = NULL;
	bool is_from_output = false;

	for (size_t i = 0; i < m->n_sources; i++) {
		const struct source *s = &m->sources[i];
		struct collected c;

		if (source_collect(x, s, &c, e) < 0)
			return err_in(e, "metric '%s'", m->name);
		is_from_output |= s->kind != SOURCE_FACTS;
		sum->has_rows |= s->kind != SOURCE_FACTS && c.n_rows > 0;
		if (c.state == COLLECT_VALUES)
			groups_measure(x, m, s, &c);
		if (c.state == COLLECT_UNPARSABLE && unparsable == NULL)
			unparsable = arena_printf(x->arena, "%s: %s", m->name, c.why);
		if (c.state == COLLECT_AMBIGUOUS) {
			rows_show(x, m, s, &c);
			if (sum->ambiguous == NULL)
				sum->ambiguous = arena_printf(x->arena, "%s: %s", m->name, c.why);
		}
		if (c.state == COLLECT_VALUES || c.state == COLLECT_AMBIGUOUS) {
			sum->n_from_output += s->kind != SOURCE_FACTS;
			unparsable = NULL;
			break;
		}
	}
	sum->n_output_metrics += is_from_output;
	if (unparsable != NULL && sum->unparsable == NULL)
		sum->unparsable = unparsable;
	return 0;
}

/* The first rule of a kind that holds. */
static int rules_first(struct extraction *x, enum rule_kind kind, const char **ret_reason, struct err *e)
{
	const struct rules *rules = x->w->rules;

	for (size_t i = 0; rules != NULL && i < rules->n[kind]; i++) {
		const char *reason;
		bool holds;

		if (rule_holds(x, &rules->at[kind][i], NULL, &holds, &reason, e) < 0)
			return -1;
		if (holds) {
			*ret_reason = reason;
			return 1;
		}
	}
	return 0;
}

/* The first output of a program that printed something; a step beside the tool (sync) has nothing to complete. */
static bool step_is_first(const struct extraction *x, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < x->n_captures; k++)
		if (strcmp(x->captures[k].step, x->captures[i].step) == 0)
			n += x->captures[k].n;
	if (n == 0)
		return false;
	for (size_t k = 0; k < i; k++)
		if (strcmp(x->captures[k].step, x->captures[i].step) == 0)
			return false;
	return true;
}

/* 1 if every stream's output satisfies every complete-if. */
static int outputs_complete(struct extraction *x, const char **ret_reason, struct err *e)
{
	const struct rules *rules = x->w->rules;

	for (size_t i = 0; rules != NULL && i < rules->n[RULE_COMPLETE]; i++) {
		const struct rule *rule = &rules->at[RULE_COMPLETE][i];

		for (size_t k = 0; k < x->n_captures; k++) {
			const char *reason;
			bool holds;

			if (!source_fits(&rule->source, &x->captures[k]) || !step_is_first(x, k))
				continue;
			if (rule_holds(x, rule, x->captures[k].step, &holds, &reason, e) < 0)
				return -1;
			if (!holds) {
				*ret_reason = rule->reason;
				return 0;
			}
		}
	}
	return 1;
}

/* Whether a line is a tool's own message, as in "/bin/dd: error writing ...": error(3) puts the program in front. */
static bool line_is_message(const struct extraction *x, const char *line, size_t n)
{
	const struct workload *w = x->w;
	const char *colon = memchr(line, ':', n),
		   *base = colon != NULL ? memrchr(line, '/', (size_t)(colon - line)) : NULL;

	if (colon == NULL)
		return false;
	base = base != NULL ? base + 1 : line;

	for (size_t i = 0; i < w->n_steps[PHASE_RUN]; i++) {
		const char *program = w->steps[PHASE_RUN][i].words[0], *slash = strrchr(program, '/');
		const char *name = slash != NULL ? slash + 1 : program;

		if ((size_t)(colon - base) == strlen(name) && memcmp(base, name, strlen(name)) == 0)
			return true;
	}
	return false;
}

#define WORDS_MAX 200 /* bytes: a reason stands in tables */

/* What to show of a capture: the tool's last message, else the last line that is not blank; NULL if there is none. */
static const char *capture_words(const struct extraction *x, const struct capture *c)
{
	const char *last = NULL, *message = NULL;
	size_t last_n = 0, message_n = 0;
	AUTO_TEXT struct text words = { 0 };

	for (size_t from = 0, n; from < c->n; from += n + 1) {
		const char *line = c->data + from, *end = memchr(line, '\n', c->n - from);

		n = end != NULL ? (size_t)(end - line) : c->n - from;
		if (n == 0 || isspace((unsigned char)line[0]))
			continue;
		last = line;
		last_n = n;
		if (line_is_message(x, line, n)) {
			message = line;
			message_n = n;
		}
	}
	if (message == NULL) {
		message = last;
		message_n = last_n;
	}
	if (message == NULL)
		return NULL;
	text_add_printable(&words, message, message_n < WORDS_MAX ? message_n : WORDS_MAX);
	return arena_strdup(x->arena, text_str(&words));
}

/* What a failed tool said, from standard error.  What others said before and after it explains nothing. */
static const char *last_words(const struct extraction *x)
{
	const struct source of_run = { .step = NULL };

	for (size_t i = x->n_captures; i-- > 0;) {
		const char *words = NULL;

		if (source_fits(&of_run, &x->captures[i]) && strcmp(x->captures[i].stream, "stdout") != 0)
			words = capture_words(x, &x->captures[i]);
		if (words != NULL)
			return words;
	}
	return NULL;
}

static bool is_looked_into(const struct workload *w, const struct capture *c)
{
	for (size_t i = 0; i < w->n_metrics; i++)
		for (size_t k = 0; k < w->metrics[i].n_sources; k++)
			if (w->metrics[i].sources[k].kind != SOURCE_FACTS && source_fits(&w->metrics[i].sources[k], c))
				return true;
	return false;
}

/* In an output that some metric is taken from. */
static bool is_anything_printed(const struct extraction *x)
{
	for (size_t i = 0; i < x->n_captures; i++)
		if (x->captures[i].n > 0 && is_looked_into(x->w, &x->captures[i]))
			return true;
	return false;
}

struct verdict {
	enum extract_state state;
	const char *reason;
};

static int failed_verdict(struct extraction *x, int exit_status, struct verdict *ret, struct err *e)
{
	const char *reason = NULL;
	int rc = rules_first(x, RULE_FAIL, &reason, e);

	if (rc < 0)
		return -1;
	if (rc == 0 && exit_status == 0)
		return 0;
	if (rc == 0)
		reason = last_words(x);
	ret->state = EXTRACT_FAILED;
	ret->reason = reason != NULL ? reason : "";
	if (exit_status > 128)
		ret->reason = arena_printf(x->arena, "killed by signal %d%s%s", exit_status - 128, reason ? ": " : "",
		                           ret->reason);
	else if (exit_status != 0)
		ret->reason = arena_printf(x->arena, "exit status %d%s%s", exit_status, reason ? ": " : "",
		                           ret->reason);
	return 1;
}

static bool json_is_cut(const struct extraction *x)
{
	for (size_t i = 0; i < x->n_captures; i++)
		if (x->caches[i].has_documents && x->caches[i].documents.is_cut)
			return true;
	return false;
}

/* Nothing was measured that stands in an output: which kind of nothing? */
static void nothing_verdict(struct extraction *x, const struct summary *sum, struct verdict *ret)
{
	if (!is_anything_printed(x))
		*ret = (struct verdict){ EXTRACT_NO_DATA, "nothing was printed" };
	else if (json_is_cut(x))
		*ret = (struct verdict){ EXTRACT_UNPARSABLE, "the JSON document has no end" };
	else if (sum->has_rows)
		*ret = (struct verdict){ EXTRACT_NO_DATA, "a result without a rate: nothing was done, or in no time" };
	else
		*ret = (struct verdict){ EXTRACT_UNPARSABLE, "no result was recognised in what was printed" };
}

static int verdict_find(struct extraction *x, const struct summary *sum, int exit_status, struct verdict *ret,
                        struct err *e)
{
	const char *reason;
	int rc = failed_verdict(x, exit_status, ret, e);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	rc = rules_first(x, RULE_NO_DATA, &reason, e);
	if (rc != 0) {
		*ret = (struct verdict){ EXTRACT_NO_DATA, reason };
		return rc < 0 ? -1 : 0;
	}
	rc = outputs_complete(x, &reason, e);
	if (rc < 0)
		return -1;
	if (sum->unparsable != NULL)
		*ret = (struct verdict){ EXTRACT_UNPARSABLE, sum->unparsable };
	else if (sum->ambiguous != NULL)
		*ret = (struct verdict){ EXTRACT_AMBIGUOUS, sum->ambiguous };
	else if (sum->n_output_metrics > 0 && sum->n_from_output == 0)
		nothing_verdict(x, sum, ret);
	else if (rc == 0)
		*ret = (struct verdict){ EXTRACT_PARTIAL, reason };
	return 0;
}

static void outcome_fill(const struct extraction *x, const struct verdict *v, struct outcome *ret)
{
	*ret = (struct outcome){ .state = v->state, .reason = v->reason };
	if (v->state == EXTRACT_OK) {
		ret->at = x->done;
		ret->n = x->n_done;
	} else {
		ret->seen = x->done;
		ret->n_seen = x->n_done;
	}
}

int extract(const struct workload *w, const struct workload_param *params, size_t n_params,
            const struct capture *captures, size_t n_captures, const struct fact *facts, size_t n_facts,
            int exit_status, struct arena *a, struct outcome *ret, struct err *e)
{
	struct extraction x = { .w = w, .captures = captures, .n_captures = n_captures, .facts = facts, .n_facts = n_facts,
		                .params = params, .n_params = n_params, .arena = a };
	struct verdict v = { EXTRACT_OK, "" };
	struct summary sum = { 0 };
	const char *suspect = NULL;
	int rc;

	if (*w->evaluator == NULL && evaluator_new(w->evaluator, e) < 0)
		return -1;
	x.evaluator = *w->evaluator;
	x.caches = arena_array(a, n_captures, sizeof(*x.caches));
	for (size_t i = 0; i < w->n_metrics; i++)
		if (metric_measure(&x, &w->metrics[i], &sum, e) < 0)
			return -1;
	if (verdict_find(&x, &sum, exit_status, &v, e) < 0)
		return -1;
	rc = v.state == EXTRACT_OK ? rules_first(&x, RULE_SUSPECT, &suspect, e) : 0;
	if (rc < 0)
		return -1;
	outcome_fill(&x, &v, ret);
	ret->suspect = rc > 0 ? suspect : NULL;
	return 0;
}
