/* SPDX-License-Identifier: MIT
 *
 * Looking things up in a dataset; see dataset.h.
 */
#include "schema/dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/base/text.h"

bool flag_next(const char **rest, char ret[FLAG_TEXT])
{
	const char *p = *rest != NULL ? *rest : "";
	size_t n;

	p += strspn(p, " ");
	n = strcspn(p, " ");
	snprintf(ret, FLAG_TEXT, "%.*s", (int)n, p);
	*rest = p + n;
	return n > 0;
}

bool flags_are_bad(const char *flags)
{
	static const char *const harmless[] = { "spread", "single", "summary", "approximate", "small" };
	char flag[FLAG_TEXT];

	while (flag_next(&flags, flag)) {
		bool is_harmless = false;

		for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
			is_harmless = is_harmless || strcmp(harmless[i], flag) == 0;
		if (!is_harmless)
			return true;
	}
	return false;
}

enum ranked result_ranked(const char *flags, bool cell_is_ok, int64_t n, int64_t repetitions)
{
	if (flags_are_bad(flags))
		return RANKED_NOT_FLAGGED;
	return !cell_is_ok && n < repetitions ? RANKED_NOT_INCOMPLETE : RANKED;
}

const struct dataset_result *dataset_find(const struct dataset *d, size_t cell, size_t series)
{
	size_t low = 0, high = d->n_results;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct dataset_result *r = &d->results[middle];

		if (r->series == series && r->cell == cell)
			return r;
		if (r->series < series || (r->series == series && r->cell < cell))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

int dataset_axis(const struct dataset *d, const char *name)
{
	for (size_t i = 0; i < d->n_axes; i++)
		if (strcmp(d->axes[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *axis_value_text(const struct axis *def, const char *value, char *buf, size_t size)
{
	char text[SIZE_TEXT];
	int64_t bytes;

	if (def == NULL || def->kind != AXIS_SIZE || integer_parse(value, 0, INT64_MAX, &bytes) < 0)
		return value;
	snprintf(buf, size, "%s", size_format(bytes, text));
	return buf;
}

char *dataset_cell_text(const struct dataset *d, size_t cell, const bool *which, struct arena *a)
{
	AUTO_TEXT struct text t = { 0 };

	for (size_t k = 0; k < d->n_axes; k++) {
		int level = dataset_level(d, cell, k);

		if (!(which != NULL ? which[k] : d->axes[k].n_values > 1) || d->axes[k].values[level][0] == '\0')
			continue;
		text_printf(&t, "%s%s=%s", t.n > 0 ? " " : "", d->axes[k].name, d->axes[k].shown[level]);
	}
	return arena_strdup(a, t.n > 0 ? text_str(&t) : "(one cell)");
}

void dataset_name_series(struct dataset *d)
{
	for (size_t i = 0; i < d->n_series; i++) {
		struct dataset_series *v = &d->series[i];
		bool key = false, tools = false, keep = false;

		for (size_t k = 0; k < d->n_series; k++) {
			const struct dataset_series *o = &d->series[k];

			if (k == i || strcmp(o->key, v->key) != 0)
				continue;
			key = key || (strcmp(o->tools, v->tools) == 0 && o->keep == v->keep);
			tools = tools || strcmp(o->tools, v->tools) != 0;
			keep = keep || o->keep != v->keep;
		}
		v->name = v->key;
		if (tools)
			v->name = arena_printf(d->arena, "%s [%s]", v->name,
			                       v->tools[0] != '\0' ? v->tools : "tool unknown");
		if (keep)
			v->name = arena_printf(d->arena, "%s [%s]", v->name, keep_name(v->keep));
		if (key)
			v->name = arena_printf(d->arena, "%s [workload %" PRId64 "]", v->name, v->workload_id);
	}
}

void dataset_free(struct dataset *d)
{
	if (d == NULL)
		return;
	free(d->cells);
	free(d->levels);
	free(d->results);
	free(d->environments);
	arena_free(d->arena);
	free(d);
}
