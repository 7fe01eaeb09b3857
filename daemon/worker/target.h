/* SPDX-License-Identifier: MIT
 *
 * What a sweep works on, claimed and released (target_claim, target_release in steps.h), and the worker's private
 * directory.
 */
#ifndef IOSWEEP_TARGET_H
#define IOSWEEP_TARGET_H

#include "daemon/worker/context.h"
#include "daemon/worker/device.h"
#include "schema/store.h"

/* Mounts a small tmpfs of the worker's own namespace below the state directory, unless w->private_dir is set already.
 * */
int private_dir_make(struct worker *w, struct err *e);
/* Nothing claimed, all descriptors -1. */
void claimed_init(struct claimed *c);
/* Frees what it owns, and nothing else. */
void claimed_done(struct claimed *c);
/* Commits that tools get the target's node, before the first one does. */
int node_note(struct worker *w, struct err *e);

/* ERR_BUSY if a process that is none of the sweep's has the device open through the node that tools were given. */
int target_is_free(struct worker *w, struct err *e);

/* ERR_DEVICE_LOST unless the claimed device is still there with the same diskseq. */
int target_is_there(const struct worker *w, struct err *e);
/* The device whose node a journal entry names, if it is there with the identity of the entry, diskseq included. */
bool target_of_entry(const struct undo_entry *u, struct device *ret);
/* Pending entries of this sweep of one kind (and one object, or NULL) are marked as done, in one transaction. */
int journal_finish(struct worker *w, const char *kind, const char *object, struct err *e);

#endif
