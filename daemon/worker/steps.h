/* SPDX-License-Identifier: MIT
 *
 * THE step table: what happens to the machine in a cell, bottom to top, with its undo column.  Normal end, failure,
 * time-out, cancel and crash recovery all walk the same undo column, from the top down.
 */
#ifndef IOSWEEP_STEPS_H
#define IOSWEEP_STEPS_H

#include "daemon/worker/context.h"

struct step {
	const char *name;
	int (*run)(struct worker *w, struct err *e);
	/* Safe after a run that did all, half or nothing; safe to repeat; cannot be cancelled. */
	int (*undo)(struct worker *w, struct err *e);
	/* False if this target or cell has nothing for the step to do (it then costs nothing and is not counted). */
	bool (*applies)(const struct worker *w);
};
extern const struct step step_table[N_STEPS];

/* Implemented beside what they handle; run/undo pairs of the table:
 *   target.c    target_claim, target_release        format.c  format_make (wipes in undo at the sweep's end)
 *   tunable.c   queue_apply, queue_restore, tune_apply, tune_restore
 *   mount.c     mount_make, mount_undo              confine.c confine_enter, confine_leave */
int target_claim(struct worker *w, struct err *e);
int target_release(struct worker *w, struct err *e);
int layout_make(struct worker *w, struct err *e);
int layout_undo(struct worker *w, struct err *e);
int queue_apply(struct worker *w, struct err *e);
int queue_restore(struct worker *w, struct err *e);
int format_make(struct worker *w, struct err *e);
int format_undo(struct worker *w, struct err *e);
int mount_make(struct worker *w, struct err *e);
int mount_undo(struct worker *w, struct err *e);
int tune_apply(struct worker *w, struct err *e);
int tune_restore(struct worker *w, struct err *e);
int confine_enter(struct worker *w, struct err *e);
int confine_leave(struct worker *w, struct err *e);

/* Reads every setting of the current cell back and stores effective and verdict (tunable.c, mount.c, format.c).
 * when: "after setting", "after the mount", "after trial 2": for messages.  A contradiction is ERR_MISMATCH. */
int settings_verify(struct worker *w, const char *when, struct err *e);
/* Like it, for after a trial: stores nothing; ret_changed gets "readahead: 131072 became 4096" or stays empty. */
int settings_changed(struct worker *w, struct text *ret_changed, struct err *e);

/* Replays the pending entries of the journal, newest first; every entry is tried; those of another boot that name
 * kernel state are dropped.  The first failure is returned after all were tried (undo.c). */
int undo_replay(struct worker *w, struct err *e);
/* Commits an original value before its first change. */
int undo_save(struct worker *w, enum step_id step, const char *kind, const char *object, const char *original,
              struct err *e);

/* What undo_replay does with one entry, by its kind; each lives beside the code that saves such entries and may be
 * repeated.  An entry whose object is gone, or whose device is another one by now, is no failure: ret_dropped gets the
 * reason then (a static or arena string), else NULL.  Entries of a kind that is_kernel_state are void after a reboot.
 *  */
extern const char undo_later[]; /* as ret_dropped: cannot be done just now (the device is away); stays pending, is no failure */
struct undo_kind {
	const char *name;     /* undo.kind: "sysfs" "sysctl" "image" "filesystem" "cgroup" */
	bool is_kernel_state;
	int (*put_back)(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);
};
int tunable_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);
int image_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);
int filesystem_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);
int cgroup_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);

/* Before each trial: syncfs of the target and drop_caches (unless warm), then waits until the machine is quiet
 * (settle.c). ret_note: what it still found going on when the limit passed, else empty. */
int caches_drop(struct worker *w, struct err *e);
int settle_wait(struct worker *w, struct text *ret_note, struct err *e);

/* Facts of host, kernel, device and tools for store_environment (environment.c); arena. */
int environment_collect(struct worker *w, struct arena *a, struct environment_fact **ret, size_t *ret_n, struct err *e);

/* precondition.c: writes the claimed device over, if the plan asks for it and no trial was made on it yet.  Blocks
 * for as long as that takes.  ERR_MISMATCH if the device's counters do not show all of it. */
int precondition(struct worker *w, struct err *e);

#endif
