/* SPDX-License-Identifier: MIT
 *
 * Trials as `iosweep extract` needs them again: what was printed, the facts, the parameters, what was measured then.
 */
#ifndef IOSWEEP_KEPT_H
#define IOSWEEP_KEPT_H

#include "schema/store.h"

struct kept_trial {
	int64_t id, cell_id, workload_id;
	const char *workload;     /* its name in the plan */
	const char *definition;   /* the definition's name */
	const char *source;       /* the definition as it was then */
	int repetition, exit_status; /* 128 + signal if it was killed */
	const char *state;
	struct workload_param *params; /* with the cell's WORKLOAD.PARAM settings in; room for all of them */
	size_t n_params;
	struct fact *facts;
	size_t n_facts;
	struct measured *measured;
	size_t n_measured;
};

/* The ended trials of a sweep that have outputs, by cell, workload and repetition; all in the arena. */
int store_kept_trials(struct store *s, int64_t sweep_id, struct arena *a, struct kept_trial **ret, size_t *ret_n,
                      struct err *e);
/* Adds numbers that a good trial does not have yet, and the results of its cell that follow; those it has stay. */
int store_kept_add(struct store *s, const struct kept_trial *t, const struct measured *measured, size_t n,
                   struct err *e);

#endif
