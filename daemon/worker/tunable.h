/* SPDX-License-Identifier: MIT
 *
 * Tunables inside the worker: where the table of axes meets the kernel's files.  The steps themselves are declared in
 * steps.h (queue_apply, queue_restore, tune_apply, tune_restore, settings_verify, settings_changed).
 *
 *   tunable.c          paths, spellings, setting a cell's values
 *   tunable_journal.c  originals: committed before the first change, put back at the end
 *   tunable_verify.c   read back: effective value and verdict of every setting
 */
#ifndef IOSWEEP_TUNABLE_H
#define IOSWEEP_TUNABLE_H

#include "daemon/worker/context.h"
#include "daemon/worker/setting.h"

#define TUNABLE_PATH 256

/* A value that we have replaced, by the path of its file. */
struct replaced {
	char path[TUNABLE_PATH];
	char value[SETTING_TEXT];
};
struct replaced_list {
	struct replaced *at;
	size_t n, cap;
};
struct tunables {
	struct replaced_list originals; /* as in the journal: before the sweep */
	struct replaced_list found;     /* before our own change under the present scheduler: what kernel-default goes back to */
	struct {                        /* the present cell's settings as last verified */
		const char *axis;
		char *effective;        /* owned */
	} verified[CELL_SETTINGS_MAX];
	size_t n_verified;
	char *write_caches;             /* owned: of the bottom queues, as last verified; see write_caches_read */
};
struct tunables *tunables_of(struct worker *w); /* made at the first call */
void tunables_free(struct worker *w);

const struct replaced *replaced_find(const struct replaced_list *l, const char *path);
void replaced_add(struct replaced_list *l, const char *path, const char *value);
/* A filesystem's own bdi is gone with the mount: what was found there, too. */
void found_below_forget(struct worker *w, const char *dir);
void replaced_remove(struct replaced_list *l, const char *path);

/* The kernel's files that a setting stands for: one per bottom queue, or one.  Returns their number; 0 if the setting
 * is none of the kernel's. */
size_t tunable_paths(const struct worker *w, const struct axis *def, char (*ret)[TUNABLE_PATH], size_t max);
size_t tunable_paths_max(const struct worker *w); /* the largest number there can be, at least 1 */
/* Canonical value (sizes in bytes) to the kernel's spelling and back. */
void tunable_to_kernel(const struct axis *def, const char *value, char *ret, size_t size);
void tunable_from_kernel(const struct axis *def, const char *text, char *ret, size_t size);
/* "/sys/block/sdb": the disk of the claimed device or partition. */
void claimed_disk(const struct claimed *c, char *ret, size_t size);

/* Commits the settings of every bottom queue (and the read-ahead of the top device) as they are now; once a claim.
 * All of them, since one write changes others: a scheduler switch resets nr_requests, queue limits compute read-ahead
 * anew. */
int queue_baseline_save(struct worker *w, struct err *e);
/* Puts back what was set for the whole host (sysctls), and nothing that touches the device. */
int host_settings_restore(struct worker *w, struct err *e);
/* Commits one sysctl before its first change; of a pair such as dirty_ratio and dirty_bytes the one in force. */
int sysctl_save(struct worker *w, const char *path, struct err *e);
/* The other one of such a pair, or NULL.  The kernel shows 0 for the one that is not in force, and takes no 0 for a
 * size. */
const char *sysctl_partner(const char *path);
/* Puts back and verifies every pending entry of a step; tries all, returns the first failure with the count. */
int journal_restore(struct worker *w, enum step_id step, struct err *e);

/* A verdict as stored in cell_value.verdict. */
enum verdict { VERDICT_NONE, VERDICT_CONFIRMED, VERDICT_IMPLIED, VERDICT_UNCONFIRMED, VERDICT_CONTRADICTED };
const char *verdict_name(enum verdict v);

#endif
