/* SPDX-License-Identifier: MIT
 *
 * The runner of the step table; see runner.h.
 */
#include "daemon/worker/runner.h"

#include "daemon/worker/fault.h"

static void time_add(struct runner *r, const char *step, int64_t elapsed_ns, const char *state, char *detail)
{
	if (r->n_times == RUNNER_TIMES_MAX) {
		free(detail);
		return;
	}
	r->times[r->n_times++] = (struct step_time){
		.step = step, .elapsed_ns = elapsed_ns, .state = state, .detail = detail,
	};
}

/* A run of a step; what a tool took only to tell what the step has made is a row of its own. */
static void run_time_add(struct runner *r, const char *step, int64_t elapsed_ns, const char *state)
{
	int64_t described_ns = r->w->described_ns;
	char *detail = TAKE(r->w->step_detail);

	time_add(r, step, elapsed_ns - described_ns, state, described_ns == 0 ? detail : NULL);
	if (described_ns > 0)
		time_add(r, "describe", described_ns, "done", detail);
}

void runner_times_clear(struct runner *r)
{
	for (size_t i = 0; i < r->n_times; i++)
		free((char *)r->times[i].detail);
	r->n_times = 0;
}

/* One undo; cannot be cancelled, whatever the state of the cancel descriptor. */
static int step_undo(struct runner *r, enum step_id step, struct err *e)
{
	const struct step *s = &r->table[step];
	int cancel_fd = r->w->tools.cancel_fd;
	int64_t begun_ns = clock_ns();
	int rc;

	r->w->tools.cancel_fd = -1;
	rc = fault_before(s->name, true, e);
	if (s->undo(r->w, rc == 0 ? e : NULL) < 0)
		rc = -1;
	if (fault_after(s->name, true, rc == 0 ? e : NULL) < 0)
		rc = -1;
	r->w->tools.cancel_fd = cancel_fd;
	r->is_begun[step] = false;
	time_add(r, s->name, clock_ns() - begun_ns, rc == 0 ? "undone" : "failed", NULL);
	return rc == 0 ? 0 : err_in(e, "undo '%s'", s->name);
}

/* From the top down to `last`. */
static int steps_undo(struct runner *r, enum step_id last, struct err *e)
{
	int rc = 0;

	for (int step = N_STEPS - 1; step >= (int)last; step--)
		if (r->is_begun[step] && step_undo(r, (enum step_id)step, rc == 0 ? e : NULL) < 0)
			rc = -1;
	return rc;
}

static int step_run(struct runner *r, enum step_id step, struct err *e)
{
	const struct step *s = &r->table[step];
	int64_t begun_ns = clock_ns();
	int rc;

	r->is_begun[step] = true;
	r->w->described_ns = 0;
	rc = fault_before(s->name, false, e);
	if (rc == 0)
		rc = s->run(r->w, e);
	if (rc == 0)
		rc = fault_after(s->name, false, e);
	run_time_add(r, s->name, clock_ns() - begun_ns, rc == 0 ? "done" : "failed");
	return rc;
}

static void undo_failed(struct runner *r, const struct err *e)
{
	r->has_undo_failed = true;
	r->undo_error = *e;
}

static int steps_run(struct runner *r, struct err *e)
{
	struct err undo_e = { 0 };

	for (int step = 0; step < N_STEPS; step++) {
		const struct step *s = &r->table[step];

		if (r->is_begun[step] || !s->applies(r->w))
			continue;
		if (step_run(r, (enum step_id)step, e) == 0)
			continue;
		/* What the failed step half did goes; what stands above it (nothing, on the way up) and below stays. */
		if (step_undo(r, (enum step_id)step, &undo_e) < 0)
			undo_failed(r, &undo_e);
		return err_in(e, "%s", s->name);
	}
	return 0;
}

int runner_change(struct runner *r, const struct cell *next, struct err *e)
{
	enum step_id first = cell_first_step(r->fresh, r->has_cell ? &r->cell : NULL, next);
	int rc;

	r->w->is_moving_on = true;
	rc = steps_undo(r, first, e);
	r->w->is_moving_on = false;
	if (rc < 0) {
		undo_failed(r, e);
		return -1;
	}
	r->cell = *next;
	r->has_cell = true;
	r->w->cell = &r->cell;
	return steps_run(r, e);
}

int runner_refresh(struct runner *r, struct err *e)
{
	int rc;

	r->w->is_moving_on = true;
	rc = steps_undo(r, STEP_FORMAT, e);
	r->w->is_moving_on = false;
	if (rc < 0) {
		undo_failed(r, e);
		return -1;
	}
	return steps_run(r, e);
}

int runner_down(struct runner *r, struct err *e)
{
	int rc;

	r->w->is_moving_on = false;
	rc = steps_undo(r, STEP_CLAIM, e);
	r->has_cell = false;
	return rc;
}
