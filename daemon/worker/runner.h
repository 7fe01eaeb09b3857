/* SPDX-License-Identifier: MIT
 *
 * Walks the step table: up to set a cell up, down to undo.  Knows how far up the machine stands and nothing of
 * what a step does.
 */
#ifndef IOSWEEP_RUNNER_H
#define IOSWEEP_RUNNER_H

#include "daemon/worker/steps.h"

#define RUNNER_TIMES_MAX (4 * N_STEPS)

struct runner {
	const struct step *table;   /* N_STEPS rows: step_table, or a test's */
	struct worker *w;
	enum fresh fresh;           /* the plan's */
	bool is_begun[N_STEPS];     /* run was called, and undo not yet since */
	struct cell cell;           /* for which what is begun was run; valid if has_cell */
	bool has_cell;
	bool has_undo_failed;       /* something could not be put back: nothing more may be run */
	struct err undo_error;      /* then: what */
	struct step_time times[RUNNER_TIMES_MAX]; /* since the last runner_times_clear; details owned */
	size_t n_times;
};

/* From where the machine stands to `next`: undoes from the top down to the first step whose axes differ (with `fresh`
 * counted in), then runs up from there.  w->cell is set to `next` between the two.  On a failure the failed step is
 * undone, the steps below stay, so that the next cell goes on from there. */
int runner_change(struct runner *r, const struct cell *next, struct err *e);

/* Undoes and runs again from the format step up: `fresh: trial`. */
int runner_refresh(struct runner *r, struct err *e);

/* Undoes everything, from the top down; every undo is tried, also after one failed.  The first failure is returned. */
int runner_down(struct runner *r, struct err *e);

void runner_times_clear(struct runner *r);

#endif
