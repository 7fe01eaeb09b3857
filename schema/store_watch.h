/* SPDX-License-Identifier: MIT
 *
 * What a watcher of a running sweep shows: a few index look-ups, cheap enough to repeat every second while a trial runs
 * (reading the whole sweep would cost the trial something).
 */
#ifndef IOSWEEP_STORE_WATCH_H
#define IOSWEEP_STORE_WATCH_H

#include "schema/store.h"

struct watched {
	int64_t cell_id;        /* the cell that is running; 0: none */
	int64_t position;       /* of it, from 0 */
	struct shown_value *values; /* of its axes: requested and value only */
	size_t n_values;
	const char *workload;   /* of its newest trial; NULL: none yet */
	int repetition;
	bool is_running;        /* the newest trial has not ended */
	int64_t trial_id, trial_started_ms;
	const char *metric, *unit; /* first metric of that workload that has a direction; NULL: no good trial yet */
	double median;          /* of the cell's good trials so far */
	int64_t n_good;
};

/* ret's strings live in the arena. */
int store_watch(struct store *s, int64_t sweep_id, struct arena *a, struct watched *ret, struct err *e);

/* When each trial of the sweep after trial `after_id` began and, if it has, ended, in the order they began. */
struct trial_time {
	int64_t trial_id, started_ms;
	int64_t elapsed_ns; /* of the run step; 0: not ended */
};
int store_trial_times(struct store *s, int64_t sweep_id, int64_t after_id, struct arena *a, struct trial_time **ret,
                      size_t *ret_n, struct err *e);

/* Events of the sweep with a number above after_id, oldest first: what happened, for plain lines. */
struct shown_event {
	int64_t id, at_ms;
	const char *kind, *text;
};
int store_events(struct store *s, int64_t sweep_id, int64_t after_id, struct arena *a, struct shown_event **ret,
                 size_t *ret_n, struct err *e);

#endif
