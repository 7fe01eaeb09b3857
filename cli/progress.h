/* SPDX-License-Identifier: MIT
 *
 * Follows a sweep to its end: one line on a terminal, redrawn; plain lines elsewhere.  Everything shown is read from
 * the store; the daemon's events only say that it is time to read again, so following works without a daemon (by
 * looking once a second) and outlives its restart.
 */
#ifndef IOSWEEP_CLI_PROGRESS_H
#define IOSWEEP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/store.h"

struct progress_wanted {
	bool is_quiet;      /* draw nothing, not even remarks */
	bool ends_at_pause; /* return when the sweep is paused and nobody asked for that; the reason is printed, also if quiet */
	bool needs_daemon;  /* ERR_UNREACHABLE if there is none to begin with */
	int64_t timeout_ns; /* ERR_TIMEOUT after this long; 0: none */
};

/* Returns 0 once the sweep is done, failed or cancelled (or paused: ends_at_pause), with its state.  ERR_UNREACHABLE if
 * no daemon has answered for PROGRESS_ALONE_MS. */
#define PROGRESS_ALONE_MS (60 * 1000) /* a restart takes seconds */
int progress_follow(struct store *s, int64_t sweep_id, const struct progress_wanted *wanted, enum sweep_state *ret,
                    struct err *e);

/* Axes that a plan varies (arena), and the number of its workloads: as far as the text alone tells. */
int progress_plan(const char *source, struct arena *a, const char ***ret_axes, size_t *ret_n, size_t *ret_n_workloads);

/* What is left, learnt from the trials so far. */
struct pace {
	int64_t last_id;      /* newest trial taken in */
	int64_t last_start_ms;
	int64_t last_elapsed_ms;
	int64_t sum_ms, n;    /* from one trial's start to the next one's, preparation of cells included; pauses left out */
};
void pace_add(struct pace *p, int64_t trial_id, int64_t started_ms, int64_t elapsed_ms);
/* Milliseconds that trials_left more will take from now on; -1: not known yet.  is_running: the newest one taken in
 * is the first of them. */
int64_t pace_left_ms(const struct pace *p, int64_t trials_left, bool is_running, int64_t now_ms);

#endif
