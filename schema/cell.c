/* SPDX-License-Identifier: MIT
 *
 * One cell: its canonical config, what mkfs and mount get, and which steps it takes to come to it from another.
 */
#include <string.h>

#include "schema/base/text.h"
#include "schema/matrix.h"
#include "schema/option.h"

const struct setting *cell_get(const struct cell *c, const char *axis)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(c->at[middle].axis, axis);

		if (order == 0)
			return &c->at[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool is_left_as_found(const struct setting *s)
{
	return strcmp(s->value, KERNEL_DEFAULT) == 0;
}

void cell_config(const struct cell *c, struct text *ret_canonical, uint8_t ret_digest[32])
{
	text_clear(ret_canonical);
	for (size_t i = 0; i < c->n; i++)
		if (!is_left_as_found(&c->at[i]))
			text_printf(ret_canonical, "%s=%s\n", c->at[i].axis, c->at[i].value);
	digest_of(text_str(ret_canonical), ret_canonical->n, ret_digest);
}

/* Order of two settings by axis; one that is missing comes last. */
static int settings_order(const struct setting *a, const struct setting *b)
{
	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	return a->axis == b->axis ? 0 : strcmp(a->axis, b->axis);
}

/* Whether an axis differs; one that a cell lacks (NULL) counts as left as found. */
static bool settings_differ(const struct setting *a, const struct setting *b)
{
	const char *x = a != NULL ? a->value : KERNEL_DEFAULT, *y = b != NULL ? b->value : KERNEL_DEFAULT;

	return x != y && strcmp(x, y) != 0;
}

enum step_id cell_first_difference(const struct cell *prev, const struct cell *next)
{
	enum step_id first = N_STEPS;
	size_t i = 0, j = 0;

	if (prev == NULL)
		return STEP_CLAIM;
	while (i < prev->n || j < next->n) { /* both are sorted by axis */
		const struct setting *a = i < prev->n ? &prev->at[i] : NULL, *b = j < next->n ? &next->at[j] : NULL;
		int order = settings_order(a, b);
		const struct axis *def = order <= 0 ? a->def : b->def;

		if (settings_differ(order <= 0 ? a : NULL, order >= 0 ? b : NULL) && def->step < first)
			first = def->step;
		i += order <= 0;
		j += order >= 0;
	}
	return first;
}

enum step_id cell_first_step(enum fresh fresh, const struct cell *prev, const struct cell *next)
{
	enum step_id first = cell_first_difference(prev, next);

	return fresh != FRESH_FILESYSTEM && first > STEP_FORMAT ? STEP_FORMAT : first;
}

static bool step_has_axis(const struct cell *c, enum step_id step)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->at[i].def->step == step && !is_left_as_found(&c->at[i]))
			return true;
	return false;
}

static bool setting_meets(const struct setting *s, const struct plan_axis *axis)
{
	/* A filesystem is meant by the name that the plan gave it, which its value, the type, does not tell. */
	const char *value = axis->def->kind == AXIS_FILESYSTEM ? s->requested : s->value;

	for (size_t i = 0; i < axis->n; i++)
		if (strcmp(axis->values[i].value, value) == 0)
			return true;
	return false;
}

bool cell_has_workload(const struct plan *p, const struct cell *c, size_t workload)
{
	const struct plan_pattern *only = &p->workloads[workload].only;

	for (size_t i = 0; i < only->n; i++) {
		const struct setting *s = cell_get(c, only->axes[i].name);

		if (s == NULL || !setting_meets(s, &only->axes[i]))
			return false;
	}
	return true;
}

bool cell_needs_step(const struct plan *p, const struct cell *c, enum step_id step)
{
	const struct setting *filesystem = cell_get(c, "filesystem");

	switch (step) {
	case STEP_CLAIM:
		return true;
	case STEP_QUEUE:
		return p->target.kind != TARGET_DIRECTORY;
	case STEP_FORMAT:
	case STEP_MOUNT:
		return p->target.kind != TARGET_DIRECTORY && filesystem != NULL &&
		       strcmp(filesystem->value, "none") != 0;
	case STEP_TUNE:
		return p->target.kind != TARGET_DIRECTORY || step_has_axis(c, step);
	case STEP_CONFINE:
		return p->memory_max_bytes > 0 || step_has_axis(c, step);
	case STEP_LAYOUT:
		return step_has_axis(c, step);
	case N_STEPS:
		break;
	}
	return false;
}

/* Canonical options are words without quotes, so that blanks alone part them. */
static int setting_words(const struct cell *c, const char *axis, struct arena *a, char ***ret, size_t *ret_n,
                         struct err *e)
{
	const struct setting *s = cell_get(c, axis);

	return words_split(a, s != NULL && !is_left_as_found(s) ? s->value : "", ret, ret_n, e);
}

int cell_format(const struct matrix *m, const struct cell *c, struct arena *a, struct format *ret, struct err *e)
{
	const struct setting *filesystem = cell_get(c, "filesystem");
	struct format f = { .type = "none" };
	const char *canonical;
	char **words;
	size_t n;

	(void)m;
	if (filesystem != NULL && !is_left_as_found(filesystem))
		f.type = filesystem->value;
	if (setting_words(c, "mkfs", a, &words, &n, e) < 0 ||
	    option_mkfs(f.type, (const char *const *)words, n, a, &canonical, &f.mkfs, e) < 0)
		return err_in(e, "mkfs options");
	if (setting_words(c, "mount", a, &words, &n, e) < 0 ||
	    option_mount(f.type, (const char *const *)words, n, a, &canonical, &f.mount, e) < 0)
		return err_in(e, "mount options");
	*ret = f;
	return 0;
}
