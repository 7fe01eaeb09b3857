/* SPDX-License-Identifier: MIT
 *
 * The blocks of a plan's matrix, with zip and one-at-a-time, and what is excluded from them.
 */
#include <string.h>

#include "schema/base/text.h"
#include "schema/plan_private.h"

static const struct plan_axis *axis_in(const struct plan_axis *axes, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(axes[i].name, name) == 0)
			return &axes[i];
	return NULL;
}

/* Far above what a sweep can run; they keep the time that a hostile plan takes to read within a second or so. */
#define ROWS_MAX 10000
#define EXCLUDES_MAX 1000

/* ---- zip ---- */

static bool rows_equal(const struct plan_block *b, size_t i, size_t j)
{
	for (size_t k = 0; k < b->n_zipped; k++)
		if (strcmp(b->axes[k].values[i].value, b->axes[k].values[j].value) != 0)
			return false;
	return true;
}

static void row_read(struct plan_reader *r, const struct node *row, struct plan_block *b)
{
	for (size_t k = 0; k < b->n_zipped; k++) {
		struct plan_axis one = { .def = b->axes[k].def }, *axis = &b->axes[k];
		const struct node *value = node_get(row, axis->name), *key = row;

		for (size_t i = 0; i < row->n; i++)
			if (strcmp(row->keys[i]->text, axis->name) == 0)
				key = row->keys[i];
		if (value == NULL)
			PLAN_FAULT(r, row, "zip: this row has no '%s', and the first has", axis->name);
		else if (plan_axis_values(r, key, value, true, &one) == 0)
			axis->values[axis->n] = one.values[0];
		if (axis->values[axis->n].value == NULL)
			axis->values[axis->n] = (struct axis_value){ .requested = "", .value = "" }; /* a fault is on record */
		axis->n++;
	}
	for (size_t i = 0; i < row->n; i++)
		if (axis_in(b->axes, b->n_zipped, row->keys[i]->text) == NULL)
			PLAN_FAULT(r, row->keys[i], "zip: '%s' is not in the first row", row->keys[i]->text);
}

static void zip_read(struct plan_reader *r, const struct node *zip, struct plan_block *b)
{
	const struct node *first = zip->kind == NODE_LIST && zip->n > 0 ? zip->at[0] : NULL;

	if (zip->n > ROWS_MAX) {
		PLAN_FAULT(r, zip, "zip: more than %d rows", ROWS_MAX);
		return;
	}
	if (first == NULL || first->kind != NODE_MAP || first->n == 0) {
		PLAN_FAULT(r, zip, "'zip' takes a list of maps: values of one row go together");
		return;
	}
	for (size_t k = 0; k < first->n; k++) {
		const struct axis *def = plan_find_axis(r, first->keys[k]);

		if (def == NULL)
			return;
		b->axes[b->n++] = (struct plan_axis){
			.name = first->keys[k]->text,
			.def = def,
			.line = first->keys[k]->line,
			.column = first->keys[k]->column,
			.values = arena_array(r->a, zip->n, sizeof(struct axis_value)),
		};
	}
	b->n_zipped = b->n;
	for (size_t i = 0; i < zip->n; i++) {
		if (zip->at[i]->kind != NODE_MAP) {
			PLAN_FAULT(r, zip->at[i], "zip: a row is a map of axes, not %s", node_kind_name(zip->at[i]));
			continue;
		}
		row_read(r, zip->at[i], b);
		for (size_t j = 0; j < b->n_zip_rows; j++)
			if (rows_equal(b, j, b->n_zip_rows))
				PLAN_FAULT(r, zip->at[i], "zip: this row stands here a second time");
		b->n_zip_rows++;
	}
}

/* ---- blocks ---- */

/* The kernel sets a ratio to 0 when the size of the same name is written, and the other way round. */
static void conflicts_check(struct plan_reader *r, const struct plan_block *b)
{
	static const struct { const char *one, *other; } pairs[] = {
		{ "vm.dirty_ratio", "vm.dirty_bytes" }, { "vm.dirty_background_ratio", "vm.dirty_background_bytes" },
		{ "iosched.slice_idle", "iosched.slice_idle_us" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct plan_axis *other = axis_in(b->axes, b->n, pairs[i].other);

		if (other != NULL && axis_in(b->axes, b->n, pairs[i].one) != NULL)
			diags_add(r->d, other->line, other->column,
			          "'%s' and '%s' are one setting of the kernel: keep one in a block", pairs[i].one,
			          pairs[i].other);
	}
}

static void axis_read(struct plan_reader *r, const struct node *key, const struct node *value, struct plan_block *b)
{
	struct plan_axis axis = { .name = key->text, .line = key->line, .column = key->column };

	axis.def = plan_find_axis(r, key);
	if (axis.def == NULL)
		return;
	if (axis_in(b->axes, b->n, axis.name) != NULL) {
		PLAN_FAULT(r, key, "'%s' is in the block's zip already", axis.name);
		return;
	}
	if (plan_axis_values(r, key, value, false, &axis) == 0 && axis.n > 0)
		b->axes[b->n++] = axis;
}

/* What every block has without saying so: the top-level memory: */
static void memory_add(struct plan_reader *r, struct plan_block *b)
{
	struct node key = { .kind = NODE_SCALAR, .text = "memory" };

	if (r->memory == NULL || axis_in(b->axes, b->n, "memory") != NULL)
		return;
	key.line = r->memory->line;
	key.column = r->memory->column;
	axis_read(r, &key, r->memory, b);
}

static void block_read(struct plan_reader *r, const struct node *node)
{
	const struct node *zip = node_get(node, "zip"), *alone = node_get(node, "one-at-a-time");
	struct plan_block b = { .line = node->line, .column = node->column };
	size_t room = 1 + (zip != NULL && zip->kind == NODE_LIST && zip->n > 0 ? zip->at[0]->n : 0), n_before = r->d->n;

	if (node->kind != NODE_MAP) {
		PLAN_FAULT(r, node, "a block of the matrix is a map of axes, not %s", node_kind_name(node));
		return;
	}
	b.axes = arena_array(r->a, room + node->n, sizeof(*b.axes));
	if (zip != NULL)
		zip_read(r, zip, &b);
	if (alone != NULL && node_bool(alone, &b.one_at_a_time) < 0)
		PLAN_FAULT(r, alone, "'one-at-a-time' takes yes or no");
	for (size_t i = 0; i < node->n; i++)
		if (node->at[i] != zip && node->at[i] != alone)
			axis_read(r, node->keys[i], node->at[i], &b);
	memory_add(r, &b);
	conflicts_check(r, &b);
	if (r->p->target.kind != TARGET_DIRECTORY && node_get(node, "filesystem") == NULL &&
	    axis_in(b.axes, b.n, "filesystem") == NULL && r->d->n == n_before)
		PLAN_FAULT(r, node, "this block names no filesystem: add 'filesystem: xfs', or 'filesystem: none' for the bare "
		           "device");
	r->p->blocks[r->p->n_blocks++] = b;
}

void plan_read_matrix(struct plan_reader *r, const struct node *node)
{
	size_t n = node->kind == NODE_LIST ? node->n : 1;

	if (n == 0 || (node->kind == NODE_SCALAR)) {
		PLAN_FAULT(r, node, "'matrix' takes a map of axes, or a list of such maps");
		return;
	}
	r->p->blocks = arena_array(r->a, n, sizeof(*r->p->blocks));
	for (size_t i = 0; i < n; i++)
		block_read(r, node->kind == NODE_LIST ? node->at[i] : node);
}

/* ---- exclude ---- */

/* Whether some block of the plan has this value of the axis; a block without the axis leaves it as found. */
static bool value_exists(const struct plan *p, const char *axis, const char *value)
{
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct plan_axis *in = axis_in(p->blocks[i].axes, p->blocks[i].n, axis);

		if (in == NULL && strcmp(value, KERNEL_DEFAULT) == 0)
			return true;
		for (size_t j = 0; in != NULL && j < in->n; j++)
			if (strcmp(in->values[j].value, value) == 0)
				return true;
	}
	return false;
}

static bool axis_exists(const struct plan *p, const char *axis)
{
	for (size_t i = 0; i < p->n_blocks; i++)
		if (axis_in(p->blocks[i].axes, p->blocks[i].n, axis) != NULL)
			return true;
	return false;
}

/* what: the key it stands under, for messages. */
static void pattern_read(struct plan_reader *r, const struct node *node, const char *what, struct plan_pattern *ret)
{
	ret->axes = arena_array(r->a, node->n + 1, sizeof(*ret->axes));
	if (node->kind != NODE_MAP || node->n == 0) {
		PLAN_FAULT(r, node, "an entry of '%s' is a map of axes and values", what);
		return;
	}
	for (size_t i = 0; i < node->n; i++) {
		const struct node *key = node->keys[i];
		struct plan_axis axis = { .name = key->text, .line = key->line, .column = key->column };

		axis.def = plan_find_axis(r, key);
		if (axis.def == NULL || plan_axis_values(r, key, node->at[i], false, &axis) < 0)
			continue;
		if (!axis_exists(r->p, axis.name)) {
			PLAN_FAULT(r, key, "%s: no block of the matrix has the axis '%s'", what, axis.name);
			continue;
		}
		for (size_t j = 0; j < axis.n; j++)
			if (!value_exists(r->p, axis.name, axis.values[j].value))
				diags_add(r->d, axis.values[j].line, axis.values[j].column,
				          "%s: no block of the matrix has '%s' as a value of '%s'", what, axis.values[j].requested,
				          axis.name);
		ret->axes[ret->n++] = axis;
	}
}

void plan_read_exclude(struct plan_reader *r, const struct node *node)
{
	size_t n = node->kind == NODE_LIST ? node->n : 1;

	if (n > EXCLUDES_MAX) {
		PLAN_FAULT(r, node, "more than %d entries in 'exclude'", EXCLUDES_MAX);
		return;
	}
	r->p->excludes = arena_array(r->a, n + 1, sizeof(*r->p->excludes));
	for (size_t i = 0; i < n; i++)
		pattern_read(r, node->kind == NODE_LIST ? node->at[i] : node, "exclude",
		             &r->p->excludes[r->p->n_excludes++]);
}

/* ---- only ---- */

/* Cells are compared as they are walked, where options have lost who gave them. */
static void only_read(struct plan_reader *r, struct plan_workload *w)
{
	pattern_read(r, w->only_node, "only", &w->only);
	for (size_t i = 0; i < w->only.n; i++)
		if (w->only.axes[i].def->kind == AXIS_WORDS)
			diags_add(r->d, w->only.axes[i].line, w->only.axes[i].column,
			          "only: '%s' cannot be asked for: give its filesystem a name under 'define' and ask for that",
			          w->only.axes[i].name);
}

void plan_read_only(struct plan_reader *r)
{
	for (size_t i = 0; i < r->p->n_workloads; i++)
		if (r->p->workloads[i].only_node != NULL)
			only_read(r, &r->p->workloads[i]);
}
