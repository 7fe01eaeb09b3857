/* SPDX-License-Identifier: MIT
 *
 * The store: one SQLite file in WAL mode.  store*.c are the only files that know SQLite (and evaluate.c).
 *
 * Daemon and worker each open it for writing; the commands open it read-only, with or without a daemon.  A function
 * that writes is one transaction with synchronous=FULL, so that what it acknowledged survives a power cut.
 * Queries for reports are in store_show.c and friends, beside this core.
 *
 * Out of the ordinary errors: ERR_NO_SPACE when the disk is full, ERR_BUSY when another writer kept the lock for
 * longer than the busy timeout (STORE_BUSY_MS), ERR_STORE for everything else SQLite says.
 */
#ifndef IOSWEEP_STORE_H
#define IOSWEEP_STORE_H

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/extract.h"
#include "schema/model.h"
#include "schema/matrix.h"
#include "schema/plan.h"

#define STORE_BUSY_MS 15000

struct store;

#define STORE_TIME_MAX_MS INT64_C(7258118400000) /* the end of 2199: nanoseconds between two times of a store fit in 64 bits */

enum store_mode {
	STORE_WRITE,  /* creates and migrates */
	STORE_READ,   /* read-only; refuses a store that needs a migration by a newer daemon */
	STORE_SCRATCH /* as STORE_WRITE, for a file that nobody else opens and that goes again: one file without a log, not forced
	               * to the disk */
};
int store_open(const char *path, enum store_mode mode, struct store **ret, struct err *e);
void store_close(struct store *s);
/* How long to wait for another writer, instead of STORE_BUSY_MS: for one who must not block. */
void store_set_patience(struct store *s, int ms);

/* Explicit transactions, for several writes that belong together; they nest (only the outermost counts). */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);
/* From now on commits need not be on the disk when they return (lazy): a power cut may take them back, a crash of the
 * process does not; or they must be, which is the rule.  Without effect inside a transaction. */
void store_lazy(struct store *s, bool is_lazy);
/* Ends a transaction by how it went: commits if rc is 0, else rolls back.  Returns 0 or -1. */
int store_finish(struct store *s, int rc, struct err *e);

/* ---- hosts and environments (store_environment.c) ---- */
enum fact_class { FACT_IDENTITY, FACT_CONTEXT, FACT_VOLATILE };
struct environment_fact {
	const char *key, *value;
	enum fact_class class;
};
int store_host(struct store *s, const uint8_t uuid[16], const char *name, int64_t *ret_id, struct err *e);
/* Content-addressed by the sorted identity and context facts; an equal environment gives the same id. */
int store_environment(struct store *s, const struct environment_fact *facts, size_t n, int64_t *ret_id, struct err *e);

/* ---- sweeps and the queue (store_sweep.c) ---- */
enum sweep_state { SWEEP_QUEUED, SWEEP_RUNNING, SWEEP_PAUSED, SWEEP_DONE, SWEEP_FAILED, SWEEP_CANCELLED, SWEEP_IMPORTED, N_SWEEP_STATES };
const char *sweep_state_name(enum sweep_state state);
enum wanted { WANT_NOTHING, WANT_PAUSE, WANT_CANCEL, WANT_STOP };

struct sweep {
	int64_t id;
	uint8_t uuid[16];
	char *plan_name, *about, *host; /* arena */
	enum sweep_state state;
	char *reason;
	enum wanted wanted;
	int priority;
	enum target_kind target_kind;
	char *target;
	int64_t submitter_uid, submitter_gid;
	char *submitter;
	int64_t cells, trials_per_cell;
	int64_t repetitions; /* trials of each workload in a whole cell */
	enum keep keep;
	bool strict;
	char *options; /* JSON */
	bool is_rehearsal; /* of options */
	int64_t submitted_ms, started_ms, ended_ms; /* 0: not yet */
	int64_t cells_ended, trials_ok;             /* progress, counted */
};

/* How the reason of a sweep begins that is paused because its device went away, or does not answer: the daemon goes
 * on with it by itself when the device is back.  All other pauses last until somebody resumes. */
#define REASON_LOST "device lost: "
#define REASON_HANGS "device hangs: "
bool reason_awaits_device(const char *reason);
/* Somebody asked for the pause ("by alice", "stopped by request"): that one will also resume it. */
bool reason_is_wish(const char *reason);
bool sweep_awaits_device(const struct sweep *s); /* paused, and for such a reason */

struct sweep_new { /* borrowed */
	const char *plan_source;
	const struct plan *plan;
	int64_t host_id;
	const char *target;
	uint64_t cells;
	int64_t uid, gid;
	const char *submitter;
	int priority;
	bool strict;
	const char *options; /* JSON object */
};
int store_sweep_submit(struct store *s, const struct sweep_new *n, int64_t *ret_id, struct err *e);
int store_sweep_get(struct store *s, int64_t id, struct arena *a, struct sweep *ret, struct err *e);
/* "12", "last", "last~1", a UUID or a unique prefix of at least 4 digits of one. */
int store_sweep_find(struct store *s, const char *name, int64_t *ret_id, struct err *e);
/* All sweeps, newest last, limited to the newest `limit` (0: all). */
int store_sweep_list(struct store *s, int64_t limit, struct arena *a, struct sweep **ret, size_t *ret_n, struct err *e);
int store_sweep_plan(struct store *s, int64_t id, struct arena *a, const char **ret_source, struct err *e);
/* The sweep to run next: queued, highest priority, oldest; 0 if none. */
int store_sweep_next(struct store *s, int64_t *ret_id, struct err *e);
int store_sweep_set_state(struct store *s, int64_t id, enum sweep_state state, const char *reason, struct err *e);
int store_sweep_set_wanted(struct store *s, int64_t id, enum wanted wanted, struct err *e);
/* Sweeps that are 'running' although no worker is (after a crash), or that have pending undo entries. */
int store_sweep_orphans(struct store *s, struct arena *a, int64_t **ret_ids, size_t *ret_n, struct err *e);
/* Those on devices that do not run and have left something to be put back, by id. */
int store_sweep_left(struct store *s, struct arena *a, int64_t **ret_ids, size_t *ret_n, struct err *e);
/* The workloads of a sweep as submitted, so that a resumed sweep uses the same definitions. */
struct sweep_workload {
	int64_t workload_id;
	const char *name;              /* in the plan */
	struct workload *definition;   /* read from the stored text; owned: store_sweep_workloads_done */
	struct workload_param *params;
	size_t n_params;
};
int store_sweep_workloads(struct store *s, int64_t id, struct arena *a, struct sweep_workload **ret, size_t *ret_n,
                          struct err *e);
void store_sweep_workloads_done(struct sweep_workload *w, size_t n); /* frees the definitions; the array is the arena's */

/* ---- cells and trials (store_trial.c) ---- */
enum cell_state { CELL_RUNNING, CELL_OK, CELL_INFEASIBLE, CELL_FAILED, CELL_PARTIAL };
const char *cell_state_name(enum cell_state state);

/* Finds or makes the row of a cell (config, values); sets it running.  ret_before: its state until now, CELL_RUNNING
 * if it is new. */
int store_cell_begin(struct store *s, int64_t sweep_id, const struct cell *c, int64_t *ret_id,
                     enum cell_state *ret_before, struct err *e);
int store_cell_effective(struct store *s, int64_t cell_id, const char *axis, const char *effective, const char *verdict,
                         struct err *e);
struct step_time {
	const char *step;   /* a step's name (axis.h), or "describe" for a tool that only tells what a step has made */
	int64_t elapsed_ns;
	const char *state;  /* "done" "failed" "undone" */
	const char *detail; /* or NULL */
};
/* Ends a cell, or a visit of it (CELL_PARTIAL: more repetitions are missing): state, step times, results recomputed.
 * Trials that are still running become interrupted. */
int store_cell_end(struct store *s, int64_t cell_id, enum cell_state state, const char *reason,
                   const struct step_time *steps, size_t n, struct err *e);
/* State of the cell with this config in this sweep; *ret_exists false if it was never visited. */
int store_cell_find(struct store *s, int64_t sweep_id, const uint8_t digest[32], bool *ret_exists, int64_t *ret_id,
                    enum cell_state *ret_state, struct err *e);

struct trial_flag {
	const char *flag, *reason; /* "cached", "read 1 MiB of the device for 1 GiB of data" */
};
struct trial_end {
	const char *state;        /* "ok" "failed" "interrupted" "infeasible" */
	const char *reason;
	int64_t environment_id;   /* 0: none */
	int64_t elapsed_ns, user_ns, system_ns;
	int64_t read_bytes, written_bytes; /* -1: not known, NULL in the store */
	int exit_status;          /* -1: none */
	int exit_signal;          /* 0: none */
	const struct measured *measured; /* stored only if state is "ok" */
	size_t n_measured;
	const struct trial_flag *flags;
	size_t n_flags;
	const struct fact *facts; /* trial_fact rows */
	size_t n_facts;
	const struct capture *captures; /* outputs, compressed here; stored up to STORE_OUTPUT_MAX bytes each */
	size_t n_captures;
};
#define STORE_OUTPUT_MAX ((size_t)1 << 20)
/* Claims the trial before it runs (state 'running'), so that a crash shows what was on. */
int store_trial_begin(struct store *s, int64_t cell_id, int64_t workload_id, int repetition, int64_t *ret_id,
                      struct err *e);
int store_trial_end(struct store *s, int64_t trial_id, const struct trial_end *t, struct err *e);
/* Repetitions that have a good trial, as a bit mask-like array: ret_done[r - 1] for r in 1..n. */
int store_trials_done(struct store *s, int64_t cell_id, int64_t workload_id, int n, bool *ret_done, struct err *e);
int store_trial_flag(struct store *s, int64_t trial_id, const char *flag, const char *reason, struct err *e);
/* Marks what a dead worker left 'running' as interrupted, and its cell as partial. */
int store_trials_interrupt(struct store *s, int64_t sweep_id, const char *reason, struct err *e);
/* What a trial printed, in the order stored; is_cut where more was printed than kept (store_output.c). */
int store_output_get(struct store *s, int64_t trial_id, struct arena *a, struct capture **ret, size_t *ret_n,
                     struct err *e);

/* ---- results (store_result.c) ---- */
/* Recomputes the rows of `result` for one cell, with the flags 'spread' and 'drift' of each metric. */
int store_result_update(struct store *s, int64_t cell_id, struct err *e);
/* The drift that only many cells show; called once when a sweep ends, safe to repeat.  A metric has moved in a cell
 * if its good trials, at least three, rise or fall strictly in order of repetition, by however little.  Where that is
 * the same direction in two thirds of the cells with three trials, and there are at least SWEEP_DRIFT_CELLS of them,
 * those cells' results get the flag 'drift'.  (By chance alone, three trials rise in one cell of six.) */
#define SWEEP_DRIFT_CELLS 6
int store_sweep_drift(struct store *s, int64_t sweep_id, struct err *e);

/* ---- the undo journal (store_undo.c) ---- */
struct undo_entry {
	int64_t id;
	const char *boot_id, *step, *kind, *object, *identity, *original;
};
/* Adds an entry unless one for the same sweep, kind and object is pending already (the first original counts). */
int store_undo_add(struct store *s, int64_t sweep_id, const struct undo_entry *u, int64_t *ret_id, struct err *e);
int store_undo_pending(struct store *s, int64_t sweep_id, struct arena *a, struct undo_entry **ret, size_t *ret_n,
                       struct err *e); /* newest first: the order of replay */
/* What has become of an entry: 'pending' 'done' 'dropped' 'failed', and why (arena). */
int store_undo_end(struct store *s, int64_t undo_id, struct arena *a, const char **ret_state, const char **ret_reason,
                   struct err *e);
/* Alone, not as part of a transaction, it is no commit to wait for: a power cut may take it back.  The entry is then
 * pending once more, and found not to apply any more when it is replayed. */
int store_undo_finish(struct store *s, int64_t undo_id, const char *state, const char *reason, struct err *e);

/* ---- events (store_sweep.c) ---- */
int store_event(struct store *s, int64_t sweep_id, const char *kind, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* ---- reading for `show` (store_show.c) ---- */
struct shown_value { const char *axis, *requested, *value, *effective, *verdict; };
struct shown_result {
	const char *key;  /* "WORKLOAD.METRIC" or "WORKLOAD.METRIC{LABEL}" */
	double value, min, max;
	int64_t n, left_out, trial_id; /* trial_id 0: none */
	const char *unit, *flags;
	enum better better;
	bool is_detail; /* reported only where it is asked for by name */
};
struct shown_cell {
	int64_t id, position;
	uint8_t config[32];
	enum cell_state state;
	const char *reason;
	struct shown_value *values;
	size_t n_values;
	struct shown_result *results;
	size_t n_results;
};
int store_show_cells(struct store *s, int64_t sweep_id, struct arena *a, struct shown_cell **ret, size_t *ret_n,
                     struct err *e);
struct shown_trial {
	int64_t id, cell_id;
	const char *workload, *state, *reason, *flags;
	const char *flag_reasons; /* "inconsistent: vm.swappiness was '60', then '10'; cached: ..." */
	int repetition, exit_status, exit_signal;
	int64_t started_ms;
	int64_t elapsed_ns, user_ns, system_ns, read_bytes, written_bytes; /* -1: not known (a published figure, a trial cut off) */
	struct shown_measurement { const char *key, *unit; double value; } *measured; /* key as in shown_result */
	size_t n_measured;
};
int store_show_trials(struct store *s, int64_t sweep_id, struct arena *a, struct shown_trial **ret, size_t *ret_n,
                      struct err *e);
/* Expected seconds of a plan from what this store knows of its steps and workloads on this host; -1: no history. */
int store_estimate(struct store *s, const struct plan *p, const struct step_counts *counts, double *ret_seconds,
                   struct err *e);

#endif
