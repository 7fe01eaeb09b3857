/* SPDX-License-Identifier: MIT
 *
 * iosweep check: what a plan would do.  Needs no daemon and touches nothing; the store is only read, for the estimate.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/source.h"
#include "cli/table.h"
#include "schema/config.h"
#include "schema/matrix.h"

static const struct option_def options[] = {
	{ "json", 0, NULL, "print JSON" },
	{ "rehearse", 0, NULL, "what 'submit --rehearse' would do: image target, small sizes" },
	{ "cells", 'c', NULL, "print every cell (otherwise the first 30), in the order in which they would run" },
	OPTIONS_END
};

#define CELLS_SHOWN 30

/* ---- reading ---- */

/* The definitions of this host.  Faults of definitions, or of a configuration that cannot be read, are remarks: the
 * plan may be meant for another host. */
static int registry_read(struct registry **ret, struct err *e)
{
	struct config *c = NULL;
	struct diags d;
	struct err ignored;
	int rc;

	diags_init(&d, CONFIG_FILE_DEFAULT);
	if (access(CONFIG_FILE_DEFAULT, R_OK) == 0)
		config_read(CONFIG_FILE_DEFAULT, &d, &c, &ignored);
	rc = config_registry(c, &d, ret, e);
	diags_print(stderr, &d);
	diags_done(&d);
	config_free(c);
	if (rc < 0 && e->hint[0] == '\0')
		err_hint(e,
		         "set IOSWEEP_DATA to where the directory 'workloads' is, such as 'sweeps' in a source tree");
	return rc;
}

/* Seconds by what the store knows, or -1: a host without history, or a store that is not ours to read. */
static double seconds_estimate(const struct plan *p, const struct step_counts *counts)
{
	AUTO_STORE struct store *s = NULL;
	struct err ignored;
	double seconds = -1;

	if (open_store(&s, &ignored) < 0 || store_estimate(s, p, counts, &seconds, &ignored) < 0)
		return -1;
	return seconds;
}

/* ---- printing ---- */

static struct json_object *errors_json(const struct diags *d)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < d->n; i++) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "line", json_object_new_int(d->at[i].line));
		json_object_object_add(one, "column", json_object_new_int(d->at[i].column));
		json_object_object_add(one, "message", json_object_new_string(d->at[i].message));
		json_object_array_add(list, one);
	}
	return list;
}

static struct json_object *cell_json(const struct cell *c)
{
	struct json_object *axes = json_object_new_object();

	for (size_t i = 0; i < c->n; i++) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "requested", json_object_new_string(c->at[i].requested));
		json_object_object_add(one, "value", json_object_new_string(c->at[i].value));
		json_object_object_add(axes, c->at[i].axis, one);
	}
	return axes;
}

static struct json_object *cells_json(const struct matrix *m)
{
	struct matrix_walk *w = matrix_walk_new(m);
	struct json_object *list = json_object_new_array();
	struct cell c;

	while (matrix_walk_next(w, &c))
		json_object_array_add(list, cell_json(&c));
	matrix_walk_free(w);
	return list;
}

/* p, m: NULL for a plan with errors. */
static void check_print_json(const struct plan *p, const struct matrix *m, const struct step_counts *counts,
                             double seconds, bool with_cells, const struct diags *d)
{
	struct json_object *j = json_object_new_object(), *steps = json_object_new_object();

	json_object_object_add(j, "plan", p != NULL ? json_object_new_string(p->name) : NULL);
	json_object_object_add(j, "cells", json_object_new_int64((int64_t)counts->cells));
	json_object_object_add(j, "trials", json_object_new_int64((int64_t)counts->trials));
	for (int i = 0; i < N_STEPS; i++)
		json_object_object_add(steps, step_name((enum step_id)i),
		                       json_object_new_int64((int64_t)counts->steps[i]));
	json_object_object_add(j, "steps", steps);
	json_object_object_add(j, "seconds", seconds >= 0 ? json_object_new_double(seconds) : NULL);
	json_object_object_add(j, "errors", errors_json(d));
	if (with_cells && m != NULL)
		json_object_object_add(j, "matrix", cells_json(m));
	json_print(j, stdout);
}

struct column {
	size_t axis; /* into cell.at */
	int width;
};

/* mkfs and mount options that come with the filesystem are known by its name: no column for them. */
static bool is_worth_a_column(const struct plan *p, const struct matrix *m, const struct setting *s)
{
	bool is_axis = s->def->kind != AXIS_WORDS;

	for (size_t i = 0; i < p->n_blocks && !is_axis; i++)
		for (size_t j = 0; j < p->blocks[i].n && !is_axis; j++)
			is_axis = strcmp(p->blocks[i].axes[j].name, s->axis) == 0;
	return is_axis && matrix_axis_varies(m, s->axis);
}

/* The axes that vary, wide enough for the first cells; later ones may stick out. */
static size_t columns_choose(const struct plan *p, const struct matrix *m, struct column columns[CELL_SETTINGS_MAX])
{
	struct matrix_walk *w = matrix_walk_new(m);
	struct cell c;
	size_t n = 0;

	for (uint64_t i = 0; i < 1000 && matrix_walk_next(w, &c); i++) {
		for (size_t k = 0; i == 0 && k < c.n; k++)
			if (is_worth_a_column(p, m, &c.at[k]))
				columns[n++] = (struct column){ .axis = k, .width = (int)strlen(c.at[k].axis) };
		for (size_t k = 0; k < n; k++)
			if ((int)strlen(c.at[columns[k].axis].requested) > columns[k].width)
				columns[k].width = (int)strlen(c.at[columns[k].axis].requested);
	}
	matrix_walk_free(w);
	return n;
}

static const char *shown(const char *requested)
{
	return requested[0] == '\0' || strcmp(requested, KERNEL_DEFAULT) == 0 ? "-" : requested;
}

/* Printed as they come, not through a table: there may be a million. */
static void cells_print(const struct plan *p, const struct matrix *m, uint64_t limit)
{
	struct column columns[CELL_SETTINGS_MAX];
	size_t n = columns_choose(p, m, columns);
	struct matrix_walk *w = matrix_walk_new(m);
	struct cell c;
	uint64_t i;

	for (i = 0; i < limit && matrix_walk_next(w, &c); i++) {
		if (i == 0) {
			printf("\n%6s", "CELL");
			for (size_t k = 0; k < n; k++)
				printf("  %-*s", k + 1 < n ? columns[k].width : 0, c.at[columns[k].axis].axis);
			printf("\n");
		}
		printf("%6" PRIu64, i + 1);
		for (size_t k = 0; k < n; k++)
			printf("  %-*s", k + 1 < n ? columns[k].width : 0, shown(c.at[columns[k].axis].requested));
		printf("\n");
	}
	if (i < matrix_count(m))
		printf("   and %" PRIu64 " more: --cells shows all\n", matrix_count(m) - i);
	matrix_walk_free(w);
}

static void target_print(const struct target *t)
{
	char size[SIZE_TEXT];

	switch (t->kind) {
	case TARGET_DEVICE:
		printf("target    device %s%s\n", t->name, t->erase ? ", may be erased" : "");
		break;
	case TARGET_IMAGE:
		printf("target    image of %s%s\n", size_format(t->image_bytes, size), t->direct ? "" : ", buffered");
		break;
	case TARGET_DIRECTORY:
		printf("target    directory %s\n", t->name);
		break;
	}
}

static void trials_print(const struct plan *p, const struct step_counts *counts)
{
	size_t n_everywhere = 0;

	for (size_t i = 0; i < p->n_workloads; i++)
		n_everywhere += counts->cells_of[i] == counts->cells;
	printf("trials    %" PRIu64 " (%zu workload%s x %d in each cell", counts->trials, n_everywhere,
	       n_everywhere == 1 ? "" : "s", p->trials);
	for (size_t i = 0; i < p->n_workloads; i++)
		if (counts->cells_of[i] < counts->cells)
			printf("; %s in %" PRIu64, p->workloads[i].name, counts->cells_of[i]);
	printf(")\n");
}

static void check_print(const struct plan *p, const struct matrix *m, const struct step_counts *counts, double seconds,
                        bool with_cells)
{
	char buf[SIZE_TEXT];
	const char *comma = "";

	printf("plan      %s%s%s\n", p->name, p->about[0] != '\0' ? ": " : "", p->about);
	target_print(&p->target);
	if (p->precondition)
		printf("          written over once before the first trial\n");
	printf("cells     %" PRIu64 ", order %s, fresh %s\n", counts->cells, order_name(p->order), fresh_name(p->fresh));
	trials_print(p, counts);
	printf("steps     ");
	for (int i = 0; i < N_STEPS; i++) {
		if (counts->steps[i] == 0)
			continue;
		printf("%s%s %" PRIu64, comma, step_name((enum step_id)i), counts->steps[i]);
		comma = ", ";
	}
	printf("\nestimate  %s\n", seconds >= 0 ? duration_format((int64_t)(seconds * 1e9), buf) : "no history");
	cells_print(p, m, with_cells ? UINT64_MAX : CELLS_SHOWN);
}

/* Schedulers that the kernels of today do not come with, so that nobody waits a night for cells that cannot be.
 * Others can be built for a kernel, so that they are no fault of the plan. */
static void scheduler_remark(const struct axis_value *v, const char *file)
{
	static const char *const known[] = { "none", "mq-deadline", "bfq", "kyber", KERNEL_DEFAULT };
	const char *nearest = text_nearest(v->value, known, ARRAY_SIZE(known));

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(v->value, known[i]) == 0)
			return;
	if (strcmp(v->value, "cfq") == 0)
		fprintf(stderr, "%s:%d:%d: note: 'cfq' is gone since Linux 5.0 and has no successor: its cells will be infeasible; "
		        "bfq is its nearest kin\n", file, v->line, v->column);
	else if (nearest != NULL)
		fprintf(stderr, "%s:%d:%d: note: '%s' is no scheduler that Linux comes with: did you mean '%s'?\n",
		        file, v->line, v->column, v->value, nearest);
	else
		fprintf(stderr, "%s:%d:%d: note: '%s' is no scheduler that Linux comes with: its cells will be infeasible unless the "
		        "host's kernel has it\n", file, v->line, v->column, v->value);
}

static void remarks_print(const struct plan *p, const char *file)
{
	for (size_t i = 0; i < p->n_blocks; i++)
		for (size_t j = 0; j < p->blocks[i].n; j++)
			for (size_t k = 0; k < p->blocks[i].axes[j].n; k++)
				if (strcmp(p->blocks[i].axes[j].def->name, "scheduler") == 0)
					scheduler_remark(&p->blocks[i].axes[j].values[k], file);
}

static int plan_check(const struct options *o, const char *data, size_t n, const struct registry *registry,
                      struct diags *d)
{
	struct step_counts counts = { 0 };
	struct plan *p = NULL;
	struct matrix *m = NULL;
	double seconds = -1;
	bool is_good = plan_read(data, n, registry, d, &p) == 0;

	if (is_good && options_has(o, "rehearse"))
		plan_rehearse(p);
	is_good = is_good && matrix_new(p, d, &m) == 0;
	if (is_good) {
		matrix_count_steps(m, &counts);
		seconds = seconds_estimate(p, &counts);
		remarks_print(p, d->file);
	}
	diags_print(stderr, d);
	if (options_has(o, "json"))
		check_print_json(p, m, &counts, seconds, options_has(o, "cells"), d);
	else if (is_good)
		check_print(p, m, &counts, seconds, options_has(o, "cells"));
	matrix_free(m);
	plan_free(p);
	return is_good ? EXIT_GOOD : EXIT_USAGE;
}

static int check_run(const struct options *o, struct err *e)
{
	AUTO_TEXT struct text data = { 0 };
	struct registry *registry = NULL;
	struct diags d;
	int status;

	if (source_read(o->arguments[0], &data, e) < 0 || registry_read(&registry, e) < 0)
		return -1;
	diags_init(&d, source_name(o->arguments[0]));
	status = plan_check(o, text_str(&data), data.n, registry, &d);
	diags_done(&d);
	registry_free(registry);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.arguments = "PLAN",
	.min_arguments = 1,
	.max_arguments = 1,
	.about = "say what a plan would do, or everything that is wrong with it",
	.details = "Prints the cells in the order in which they would run, how often each step runs, and the\n"
	           "time it would take by what the store knows of this host.  Needs no daemon and touches\n"
	           "nothing.  A PLAN of '-' is read from standard input.",
	.options = options,
	.run = check_run,
};
