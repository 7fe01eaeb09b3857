/* SPDX-License-Identifier: MIT
 *
 * iosweep list: the sweeps of the store, newest last.
 */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/table.h"

static const struct option_def options[] = {
	{ "limit", 'n', "N", "show the newest N sweeps only (default 20; 0: all)" },
	OPTIONS_TABLE,
	OPTIONS_END
};

struct list_columns {
	size_t id, plan, state, cells, trials, target, host, submitter, submitted, took, uuid, reason;
};

static struct list_columns columns_add(struct table *t)
{
	return (struct list_columns){
		.id = table_column(t, "id", "ID", TABLE_RIGHT | TABLE_KEY),
		.plan = table_column(t, "plan", "PLAN", TABLE_KEY),
		.state = table_column(t, "state", "STATE", 0),
		.cells = table_column(t, "cells_ended", "CELLS", TABLE_RIGHT),
		.trials = table_column(t, "cells", "OF CELLS", TABLE_RIGHT | TABLE_EXTRA),
		.target = table_column(t, "target", "TARGET", 0),
		.host = table_column(t, "host", "HOST", 0),
		.submitter = table_column(t, "submitter", "BY", TABLE_EXTRA),
		.submitted = table_column(t, "submitted", "SUBMITTED", 0),
		.took = table_column(t, "seconds", "TOOK", TABLE_RIGHT),
		.uuid = table_column(t, "uuid", "UUID", TABLE_EXTRA),
		.reason = table_column(t, "reason", "REASON", TABLE_WRAP),
	};
}

static void took_set(struct table *t, size_t column, const struct sweep *s)
{
	int64_t end_ms = s->ended_ms != 0 ? s->ended_ms : s->state == SWEEP_RUNNING ? now_ms() : 0;
	char buf[SIZE_TEXT];

	if (s->started_ms != 0 && end_ms > s->started_ms)
		table_number(t, column, (double)(end_ms - s->started_ms) / 1e3,
		             duration_format((end_ms - s->started_ms) * 1000000, buf));
}

static void sweep_add(struct table *t, const struct list_columns *c, const struct sweep *s)
{
	char time[SIZE_TEXT], uuid[UUID_TEXT], cells[64];

	table_row(t);
	table_integer(t, c->id, s->id);
	table_text(t, c->plan, s->plan_name);
	table_text(t, c->state, sweep_state_name(s->state));
	snprintf(cells, sizeof(cells), "%" PRId64 "/%" PRId64, s->cells_ended, s->cells);
	table_integer(t, c->cells, s->cells_ended);
	table_show(t, c->cells, cells);
	table_integer(t, c->trials, s->cells);
	table_text(t, c->target, s->target);
	if (s->is_rehearsal)
		table_show(t, c->target, "rehearsal");
	table_text(t, c->host, s->host);
	table_text(t, c->submitter, s->submitter);
	table_text(t, c->submitted, time_format_utc(s->submitted_ms, time));
	table_show(t, c->submitted, time_format_local(s->submitted_ms, time));
	took_set(t, c->took, s);
	table_text(t, c->uuid, uuid_format(s->uuid, uuid));
	table_text(t, c->reason, s->reason);
}

static int list_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	AUTO_TABLE struct table *t = table_new("sweeps");
	struct list_columns columns = columns_add(t);
	struct sweep *sweeps;
	enum table_format format;
	int64_t limit = 20;
	size_t n;

	if (table_format_of(o, &format, e) < 0 || options_integer(o, "limit", 0, INT64_MAX, &limit, e) < 0 ||
	    open_store(&s, e) < 0 || store_sweep_list(s, limit, a, &sweeps, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		sweep_add(t, &columns, &sweeps[i]);
	if (n == 0 && format == TABLE_PEOPLE) {
		fprintf(stderr, PROGRAM ": no sweep yet; '" PROGRAM " submit PLAN' makes one\n");
		return EXIT_GOOD;
	}
	return table_print(t, o, stdout, e) < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_list = {
	.name = "list",
	.arguments = "",
	.about = "list the sweeps, newest last",
	.options = options,
	.run = list_run,
};
