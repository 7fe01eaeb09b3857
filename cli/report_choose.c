/* SPDX-License-Identifier: MIT
 *
 * Which metrics of a sweep, and so which trials, `show` is asked for; see report.h.
 */
#include <string.h>

#include "cli/report.h"

/* "dd-*.throughput", "seq*": the whole key, or the name in it. */
static bool pattern_matches(const char *key, const char *word, size_t n)
{
	AUTO_FREE char *pattern = xstrndup(word, n);
	const char *name = strchr(key, '.');

	return strpbrk(pattern, "*?") != NULL &&
	       (filter_glob(pattern, key) || (name != NULL && filter_glob(pattern, name + 1)));
}

/* A word names a metric by its whole key, its workload, or its name with or without the label; * and ? as in filters.
 * */
static bool metric_matches(const char *key, const char *word, size_t n)
{
	const char *name = strchr(key, '.');
	size_t name_length;

	if (pattern_matches(key, word, n))
		return true;
	if (strncmp(key, word, n) == 0 && (key[n] == '\0' || key[n] == '.' || key[n] == '{'))
		return true;
	if (name == NULL)
		return false;
	name++;
	name_length = strcspn(name, "{");
	return strncmp(name, word, n) == 0 && (n == name_length || n == strlen(name));
}

/* Whole keys, workloads and names are candidates for what was meant. */
static const char *metric_nearest(const struct report *r, const char *word)
{
	AUTO_FREE const char **names = xcalloc(3 * r->n_metrics + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < r->n_metrics; i++) {
		const char *key = r->metrics[i].key, *name = strchr(key, '.');

		names[n++] = key;
		names[n++] = arena_strndup(r->arena, key, strcspn(key, "."));
		if (name != NULL)
			names[n++] = arena_strndup(r->arena, name + 1, strcspn(name + 1, "{"));
	}
	return text_nearest(word, names, n);
}

static int metric_unknown(const struct report *r, const char *word, size_t n, struct err *e)
{
	AUTO_FREE char *name = xstrndup(word, n);
	AUTO_TEXT struct text all = { 0 };
	const char *nearest = metric_nearest(r, name);

	for (size_t i = 0; i < r->n_metrics; i++)
		text_printf(&all, "%s%s", i > 0 ? ", " : "", r->metrics[i].key);
	err_set(e, ERR_USAGE, "sweep %lld has no metric '%s'", (long long)r->sweep.id, name);
	if (nearest != NULL)
		return err_hint(e, "did you mean '%s'? it has %s", nearest, text_str(&all));
	return err_hint(e, "it has %s", r->n_metrics > 0 ? text_str(&all) : "none yet");
}

int report_choose(struct report *r, const char *list, struct err *e)
{
	AUTO_FREE bool *chosen = xcalloc(r->n_metrics + 1, sizeof(*chosen));
	size_t n = 0;

	while (list != NULL && *list != '\0') {
		const char *brace = strchr(list, '{');
		size_t length = strcspn(list, ","), hits = 0;

		if (brace != NULL && brace < list + length && strchr(brace, '}') != NULL) /* a label may hold commas */
			length = (size_t)(strchr(brace, '}') - list) + 1;
		for (size_t i = 0; i < r->n_metrics; i++) {
			if (!metric_matches(r->metrics[i].key, list, length))
				continue;
			chosen[i] = true;
			hits++;
		}
		if (hits == 0)
			return metric_unknown(r, list, length, e);
		list += length + (list[length] == ',');
	}
	for (size_t i = 0; list != NULL && i < r->n_metrics; i++)
		if (chosen[i]) {
			r->metrics[n] = r->metrics[i];
			r->metrics[n++].aside = ASIDE_NO;
		}
	if (list != NULL)
		r->n_metrics = n;
	r->has_some_metrics = r->has_some_metrics || list != NULL;
	return 0;
}

bool report_has_trial(const struct report *r, const struct shown_trial *t)
{
	size_t n = strlen(t->workload);

	for (size_t i = 0; r->has_some_metrics && i < r->n_metrics; i++)
		if (strncmp(r->metrics[i].key, t->workload, n) == 0 && r->metrics[i].key[n] == '.')
			return true;
	return !r->has_some_metrics;
}

const struct report_metric *report_metric(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (strcmp(r->metrics[i].key, key) == 0)
			return &r->metrics[i];
	return NULL;
}
