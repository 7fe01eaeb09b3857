/* SPDX-License-Identifier: MIT
 *
 * `show --json`: the shape that scripts rely on; see iosweep(1), JSON.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli/json_write.h"
#include "cli/show.h"
#include "cli/table.h"

static struct json_object *string_or_null(const char *s)
{
	return s != NULL ? json_object_new_string(s) : NULL;
}

static struct json_object *time_or_null(int64_t ms)
{
	char buf[SIZE_TEXT];

	return ms != 0 ? json_object_new_string(time_format_utc(ms, buf)) : NULL;
}

static struct json_object *known_or_null(int64_t n)
{
	return n >= 0 ? json_object_new_int64(n) : NULL;
}

static struct json_object *flags_array(const char *flags)
{
	struct json_object *array = json_object_new_array();
	char flag[FLAG_TEXT];

	while (flag_next(&flags, flag))
		json_object_array_add(array, json_object_new_string(flag));
	return array;
}

static struct json_object *sweep_object(const struct sweep *s)
{
	static const char *const kinds[] = { [TARGET_DEVICE] = "device", [TARGET_IMAGE] = "image", [TARGET_DIRECTORY] = "directory" };
	struct json_object *o = json_object_new_object();
	char uuid[UUID_TEXT];

	json_object_object_add(o, "id", json_object_new_int64(s->id));
	json_object_object_add(o, "uuid", json_object_new_string(uuid_format(s->uuid, uuid)));
	json_object_object_add(o, "plan", json_object_new_string(s->plan_name));
	json_object_object_add(o, "about", json_object_new_string(s->about));
	json_object_object_add(o, "host", json_object_new_string(s->host));
	json_object_object_add(o, "state", json_object_new_string(sweep_state_name(s->state)));
	json_object_object_add(o, "reason", json_object_new_string(s->reason));
	json_object_object_add(o, "target_kind",
	                       json_object_new_string(s->state == SWEEP_IMPORTED ? "import" : kinds[s->target_kind]));
	json_object_object_add(o, "target", json_object_new_string(s->target));
	json_object_object_add(o, "submitter", json_object_new_string(s->submitter));
	json_object_object_add(o, "priority", json_object_new_int(s->priority));
	json_object_object_add(o, "keep", json_object_new_string(keep_name(s->keep)));
	json_object_object_add(o, "strict", json_object_new_boolean(s->strict));
	json_object_object_add(o, "rehearsal", json_object_new_boolean(s->is_rehearsal));
	json_object_object_add(o, "cells", json_object_new_int64(s->cells));
	json_object_object_add(o, "cells_ended", json_object_new_int64(s->cells_ended));
	json_object_object_add(o, "trials_ok", json_object_new_int64(s->trials_ok));
	json_object_object_add(o, "submitted", time_or_null(s->submitted_ms));
	json_object_object_add(o, "started", time_or_null(s->started_ms));
	json_object_object_add(o, "ended", time_or_null(s->ended_ms));
	return o;
}

static struct json_object *axes_object(const struct shown_cell *c)
{
	struct json_object *axes = json_object_new_object();

	for (size_t i = 0; i < c->n_values; i++) {
		const struct shown_value *v = &c->values[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "requested", json_object_new_string(v->requested));
		json_object_object_add(o, "value", json_object_new_string(v->value));
		json_object_object_add(o, "effective", string_or_null(v->effective));
		json_object_object_add(o, "verdict", json_object_new_string(v->verdict));
		json_object_object_add(axes, v->axis, o);
	}
	return axes;
}

static struct json_object *result_object(const struct report *r, const struct report_metric *m, size_t cell)
{
	const struct shown_result *result = m->at[cell];
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "value", number_json(result->value));
	json_object_object_add(o, "keep", json_object_new_string(keep_name(r->sweep.keep)));
	json_object_object_add(o, "min", number_json(result->min));
	json_object_object_add(o, "max", number_json(result->max));
	json_object_object_add(o, "n", json_object_new_int64(result->n));
	json_object_object_add(o, "left_out", json_object_new_int64(result->left_out));
	json_object_object_add(o, "unit", json_object_new_string(result->unit));
	json_object_object_add(o, "better", json_object_new_string(better_name(result->better)));
	json_object_object_add(o, "trial", result->trial_id != 0 ? json_object_new_int64(result->trial_id) : NULL);
	json_object_object_add(o, "best", json_object_new_boolean(m->standing[cell] == STANDING_BEST));
	json_object_object_add(o, "tie", json_object_new_boolean(m->standing[cell] == STANDING_TIE));
	json_object_object_add(o, "flags", flags_array(result->flags));
	return o;
}

static struct json_object *cell_object(const struct report *r, size_t cell)
{
	const struct shown_cell *c = &r->cells[cell];
	struct json_object *o = json_object_new_object(), *results = json_object_new_object();
	char digest[DIGEST_TEXT];

	for (size_t m = 0; m < r->n_metrics; m++)
		if (r->metrics[m].at[cell] != NULL)
			json_object_object_add(results, r->metrics[m].key, result_object(r, &r->metrics[m], cell));
	json_object_object_add(o, "cell", json_object_new_int64(c->position + 1));
	json_object_object_add(o, "config", json_object_new_string(digest_format(c->config, digest)));
	json_object_object_add(o, "state", json_object_new_string(cell_state_name(c->state)));
	json_object_object_add(o, "reason", json_object_new_string(c->reason));
	json_object_object_add(o, "axes", axes_object(c));
	json_object_object_add(o, "results", results);
	return o;
}

static struct json_object *trial_object(const struct report *r, const struct shown_trial *t)
{
	struct json_object *o = json_object_new_object(), *measured = json_object_new_object();

	for (size_t i = 0; i < t->n_measured; i++) {
		struct json_object *m;

		if (report_metric(r, t->measured[i].key) == NULL)
			continue;
		m = json_object_new_object();
		json_object_object_add(m, "value", number_json(t->measured[i].value));
		json_object_object_add(m, "unit", json_object_new_string(t->measured[i].unit));
		json_object_object_add(measured, t->measured[i].key, m);
	}
	json_object_object_add(o, "trial", json_object_new_int64(t->id));
	json_object_object_add(o, "workload", json_object_new_string(t->workload));
	json_object_object_add(o, "repetition", json_object_new_int(t->repetition));
	json_object_object_add(o, "state", json_object_new_string(t->state));
	json_object_object_add(o, "reason", json_object_new_string(t->reason));
	json_object_object_add(o, "flags", flags_array(t->flags));
	json_object_object_add(o, "flag_reasons", json_object_new_string(t->flag_reasons));
	json_object_object_add(o, "started", time_or_null(t->started_ms));
	json_object_object_add(o, "elapsed_ns", known_or_null(t->elapsed_ns));
	json_object_object_add(o, "user_ns", known_or_null(t->user_ns));
	json_object_object_add(o, "system_ns", known_or_null(t->system_ns));
	json_object_object_add(o, "read_bytes", known_or_null(t->read_bytes));
	json_object_object_add(o, "written_bytes", known_or_null(t->written_bytes));
	json_object_object_add(o, "exit_status", known_or_null(t->exit_status));
	json_object_object_add(o, "exit_signal", t->exit_signal > 0 ? json_object_new_int(t->exit_signal) : NULL);
	json_object_object_add(o, "measured", measured);
	return o;
}

int show_json(const struct report *r, struct store *s, bool trials, struct err *e)
{
	struct json_writer w = { .out = stdout };
	struct shown_trial *at = NULL;
	size_t n = 0;

	if (trials && store_show_trials(s, r->sweep.id, r->arena, &at, &n, e) < 0)
		return -1;
	json_begin(&w, NULL, '{');
	json_put(&w, "sweep", sweep_object(&r->sweep));
	json_begin(&w, "cells", '[');
	for (size_t c = 0; c < r->n_cells; c++) {
		struct json_object *cell = cell_object(r, c), *list = trials ? json_object_new_array() : NULL;

		for (size_t t = 0; t < n; t++)
			if (at[t].cell_id == r->cells[c].id && report_has_trial(r, &at[t]))
				json_object_array_add(list, trial_object(r, &at[t]));
		if (trials)
			json_object_object_add(cell, "trials", list);
		json_put(&w, NULL, cell);
	}
	json_end(&w);
	json_end(&w);
	return 0;
}
