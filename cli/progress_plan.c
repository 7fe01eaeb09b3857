/* SPDX-License-Identifier: MIT
 *
 * For the progress line: which axes a plan varies, and how fast a sweep goes; see progress.h.  The plan is only
 * looked at as YAML, since its workloads need the daemon's configuration to be understood.
 */
#include <string.h>

#include "cli/progress.h"
#include "schema/yaml.h"

/* ---- pace ---- */

#define PAUSE_MS 3600000 /* a gap this much longer than the trial was a pause or a night without power, not work */

void pace_add(struct pace *p, int64_t trial_id, int64_t started_ms, int64_t elapsed_ms)
{
	int64_t gap_ms = started_ms - p->last_start_ms;

	if (p->last_id != 0 && gap_ms >= 0 && gap_ms < p->last_elapsed_ms + PAUSE_MS) {
		p->sum_ms += gap_ms;
		p->n++;
	}
	p->last_id = trial_id;
	p->last_start_ms = started_ms;
	p->last_elapsed_ms = elapsed_ms;
}

int64_t pace_left_ms(const struct pace *p, int64_t trials_left, bool is_running, int64_t now_ms)
{
	int64_t each_ms, first_ms;

	if (p->n == 0)
		return -1;
	if (trials_left <= 0)
		return 0;
	each_ms = p->sum_ms / p->n;
	first_ms = is_running ? each_ms - (now_ms - p->last_start_ms) : each_ms;
	return each_ms * (trials_left - 1) + (first_ms > 0 ? first_ms : 0);
}

/* ---- the plan's axes ---- */

struct seen {
	const char *axis;
	const char *first; /* its first value; NULL: a list or map of several */
	size_t blocks;     /* matrix blocks that have it */
	bool varies;
};

struct axes {
	struct arena *arena;
	struct seen at[CELL_SETTINGS_MAX];
	size_t n;
};

static void axis_value_see(struct seen *s, const struct node *value)
{
	if (value->kind == NODE_SCALAR) {
		if (s->first != NULL && strcmp(s->first, value->text) != 0)
			s->varies = true;
		s->first = s->first != NULL ? s->first : value->text;
		return;
	}
	if (value->kind == NODE_LIST)
		for (size_t i = 0; i < value->n; i++) {
			if (value->at[i]->kind != NODE_SCALAR)
				s->varies = s->varies || value->n > 1;
			else
				axis_value_see(s, value->at[i]);
		}
}

static struct seen *axis_see(struct axes *x, const char *axis)
{
	for (size_t i = 0; i < x->n; i++)
		if (strcmp(x->at[i].axis, axis) == 0)
			return &x->at[i];
	if (x->n == CELL_SETTINGS_MAX)
		return NULL;
	x->at[x->n] = (struct seen){ .axis = arena_strdup(x->arena, axis) };
	return &x->at[x->n++];
}

static void block_see(struct axes *x, const struct node *block)
{
	for (size_t i = 0; block->kind == NODE_MAP && i < block->n; i++) {
		const char *key = block->keys[i]->text;
		struct seen *s;

		if (strcmp(key, "one-at-a-time") == 0)
			continue;
		if (strcmp(key, "zip") == 0) {
			for (size_t row = 0; block->at[i]->kind == NODE_LIST && row < block->at[i]->n; row++)
				block_see(x, block->at[i]->at[row]);
			continue;
		}
		s = axis_see(x, key);
		if (s != NULL) {
			s->blocks++;
			axis_value_see(s, block->at[i]);
		}
	}
}

int progress_plan(const char *source, struct arena *a, const char ***ret_axes, size_t *ret_n, size_t *ret_n_workloads)
{
	struct axes x = { .arena = a };
	struct node *root = NULL, *matrix, *workloads;
	struct diags ignored;
	size_t n = 0, n_blocks = 1;
	int rc;

	diags_init(&ignored, "plan");
	rc = yaml_read(a, source, strlen(source), &ignored, &root);
	diags_done(&ignored);
	if (rc < 0 || root->kind != NODE_MAP)
		return -1;
	matrix = node_get(root, "matrix");
	workloads = node_get(root, "workloads");
	if (matrix != NULL && matrix->kind == NODE_LIST) {
		n_blocks = matrix->n;
		for (size_t i = 0; i < matrix->n; i++)
			block_see(&x, matrix->at[i]);
	} else if (matrix != NULL) {
		block_see(&x, matrix);
	}
	*ret_axes = arena_array(a, x.n + 1, sizeof(**ret_axes));
	for (size_t i = 0; i < x.n; i++)
		if (x.at[i].varies || x.at[i].blocks < n_blocks)
			(*ret_axes)[n++] = x.at[i].axis;
	*ret_n = n;
	*ret_n_workloads = workloads != NULL && workloads->kind == NODE_LIST ? workloads->n : 1;
	return 0;
}
