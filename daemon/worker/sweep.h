/* SPDX-License-Identifier: MIT
 *
 * The walk over a sweep's cells: which are missing, in what order, and what each one's end means for the rest.
 */
#ifndef IOSWEEP_SWEEP_H
#define IOSWEEP_SWEEP_H

#include "daemon/worker/runner.h"

/* What came out, cells of earlier runs of this sweep included. */
struct sweep_tally {
	int64_t n_ok, n_infeasible, n_failed;
	char first_failure[512]; /* reason of the first failed cell of this run; "" */
};

/* Runs every trial that has no good row yet.  -1 ends the sweep early: ERR_CANCELLED (asked to: w->sweep.wanted says
 * what for, WANT_NOTHING: this process is to end), ERR_DEVICE_LOST, ERR_REFUSED or other (the target cannot be had:
 * w->is_target_refused), ERR_STORE, ERR_NO_SPACE, ERR_BUSY (the store).  Nothing is undone here but what stands
 * between cells. */
int sweep_run(struct worker *w, struct runner *r, struct sweep_tally *ret, struct err *e);

/* ERR_CANCELLED if the sweep is to stop now: a signal, the daemon's death, or a wish in the store.  Cheap enough to ask
 * before every trial; the store is looked at five times a second at most. */
int sweep_check_wanted(struct worker *w, struct err *e);

#endif
