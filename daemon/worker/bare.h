/* SPDX-License-Identifier: MIT
 *
 * A listed device that workloads write to without a filesystem.  They can leave there what they like: a filesystem
 * with the UUID of one that the host mounts, a member of one of its arrays, a partition table.  Nothing of that is to
 * be found by whoever looks at the device next.
 */
#ifndef IOSWEEP_BARE_H
#define IOSWEEP_BARE_H

#include "daemon/worker/context.h"
#include "schema/store.h"

/* Commits that workloads get the bare device, before the first one does, and in what state it is. */
int bare_note(struct worker *w, struct err *e);
/* Wipes every signature, if workloads had the device last.  Nobody may have it open exclusively. */
int bare_wipe(struct worker *w, struct err *e);
/* What they have left there is gone: wiped, or overwritten by mkfs. */
int bare_finish(struct worker *w, struct err *e);
/* 'bare': after a crash.  Wipes only right after it: later, what is found there may be somebody's by now, and is
 * named. */
int bare_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);

#endif
