/* SPDX-License-Identifier: MIT
 *
 * `show --trials`: one row a trial, in the order they ran, attempts that failed or were interrupted included; see
 * show.h.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/show.h"
#include "cli/table.h"

struct trials_columns {
	size_t trial, cell, workload, repetition, state, started, elapsed, cpu, read, written, exit, measured, flags,
		reason;
	size_t *axes;    /* per axis */
	size_t *metrics; /* per metric */
};

static struct trials_columns columns_add(const struct report *r, struct table *t)
{
	struct trials_columns c = {
		.axes = arena_array(r->arena, r->n_axes + 1, sizeof(size_t)),
		.metrics = arena_array(r->arena, r->n_metrics + 1, sizeof(size_t)),
	};

	c.cell = table_column(t, "cell", "CELL", TABLE_RIGHT | TABLE_KEY);
	for (size_t i = 0; i < r->n_axes; i++)
		c.axes[i] = table_column(t, r->axes[i].name, show_title(r->arena, r->axes[i].name),
		                         r->axes[i].varies && !r->axes[i].is_implied ? TABLE_KEY : TABLE_EXTRA);
	c.workload = table_column(t, "workload", "WORKLOAD", TABLE_KEY);
	c.repetition = table_column(t, "repetition", "TRIAL", TABLE_RIGHT | TABLE_KEY);
	c.state = table_column(t, "state", "STATE", 0);
	c.elapsed = table_column(t, "elapsed_ns", "TOOK", TABLE_RIGHT);
	c.cpu = table_column(t, "cpu_ns", "CPU", TABLE_RIGHT);
	c.read = table_column(t, "read_bytes", "READ", TABLE_RIGHT);
	c.written = table_column(t, "written_bytes", "WRITTEN", TABLE_RIGHT);
	c.trial = table_column(t, "trial", "ID", TABLE_RIGHT | TABLE_EXTRA);
	c.started = table_column(t, "started", "STARTED", TABLE_EXTRA);
	c.exit = table_column(t, "exit_status", "EXIT", TABLE_RIGHT | TABLE_EXTRA);
	for (size_t i = 0; i < r->n_metrics; i++)
		c.metrics[i] = table_column(t, r->metrics[i].key, r->metrics[i].title, TABLE_RIGHT | TABLE_EXTRA);
	c.measured = table_column(t, "measured", "MEASURED", TABLE_WRAP);
	c.flags = table_column(t, "flags", "FLAGS", 0);
	c.reason = table_column(t, "reason", "REASON", TABLE_WRAP);
	return c;
}

/* "512.0MiB": for people; programs get the bytes. */
static void bytes_set(struct table *t, size_t column, int64_t bytes)
{
	double value = (double)bytes;
	struct scale u = scale_choose("B", &value, 1, SCALE_DECIMAL);
	char number[SIZE_TEXT], shown[2 * SIZE_TEXT];

	if (bytes < 0) /* not known */
		return;
	snprintf(shown, sizeof(shown), "%s %s", scale_format(&u, value, number), u.name);
	table_integer(t, column, bytes);
	table_show(t, column, shown);
}

static void duration_set(struct table *t, size_t column, int64_t ns)
{
	char buf[SIZE_TEXT];

	if (ns < 0) /* not known */
		return;
	table_integer(t, column, ns);
	table_show(t, column, duration_format(ns, buf));
}

static void measured_set(const struct report *r, struct table *t, const struct trials_columns *c,
                         const struct shown_trial *trial)
{
	AUTO_TEXT struct text all = { 0 };
	char buf[SIZE_TEXT];

	for (size_t i = 0; i < trial->n_measured; i++) {
		const char *key = trial->measured[i].key, *name = strchr(key, '.');

		const struct report_metric *m = report_metric(r, key);

		if (m == NULL)
			continue;
		table_number(t, c->metrics[m - r->metrics], trial->measured[i].value,
		             scale_format(&m->unit, trial->measured[i].value, buf));
		text_printf(&all, "%s%s %s%s%s", all.n > 0 ? ", " : "", name != NULL ? name + 1 : key, buf,
		            m->unit.name[0] != '\0' ? " " : "", m->unit.name);
	}
	table_text(t, c->measured, text_str(&all));
}

static void trial_add(const struct report *r, struct table *t, const struct trials_columns *c,
                      const struct shown_cell *cell, const struct shown_trial *trial)
{
	char time[SIZE_TEXT];

	table_row(t);
	table_integer(t, c->cell, cell->position + 1);
	for (size_t i = 0; i < r->n_axes; i++) {
		const struct shown_value *v = report_value(cell, r->axes[i].name);

		table_text(t, c->axes[i], v != NULL ? v->value : NULL);
		table_show(t, c->axes[i], report_value_text(r, cell, r->axes[i].name));
	}
	table_integer(t, c->trial, trial->id);
	table_text(t, c->workload, trial->workload);
	table_integer(t, c->repetition, trial->repetition);
	table_text(t, c->state, trial->state);
	table_text(t, c->started, time_format_utc(trial->started_ms, time));
	duration_set(t, c->elapsed, trial->elapsed_ns);
	duration_set(t, c->cpu, trial->user_ns < 0 || trial->system_ns < 0 ? -1 : trial->user_ns + trial->system_ns);
	bytes_set(t, c->read, trial->read_bytes);
	bytes_set(t, c->written, trial->written_bytes);
	if (trial->exit_status >= 0)
		table_integer(t, c->exit, trial->exit_status);
	measured_set(r, t, c, trial);
	table_text(t, c->flags, trial->flags);
	table_text(t, c->reason, trial->reason[0] != '\0' ? trial->reason : trial->flag_reasons);
}

int show_trials(const struct report *r, struct store *s, const struct options *o, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("trials");
	struct trials_columns columns = columns_add(r, t);
	struct shown_trial *trials;
	enum table_format format;
	size_t n;

	if (table_format_of(o, &format, e) < 0 || store_show_trials(s, r->sweep.id, r->arena, &trials, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < r->n_cells; c++)
			if (r->cells[c].id == trials[i].cell_id && report_has_trial(r, &trials[i]))
				trial_add(r, t, &columns, &r->cells[c], &trials[i]);
	if (format == TABLE_PEOPLE)
		show_head(r, stdout);
	return table_print(t, o, stdout, e);
}
