/* SPDX-License-Identifier: MIT
 *
 * The parts of the journal that are not every step's business; undo_save, undo_replay and struct undo_kind are in
 * steps.h.
 */
#ifndef IOSWEEP_UNDO_H
#define IOSWEEP_UNDO_H

#include "daemon/worker/steps.h"

/* undo_replay with a table of kinds; for tests. */
int undo_replay_kinds(struct worker *w, const struct undo_kind *table, size_t n_kinds, struct err *e);

/* 'directory' (workplace.c): the work directory left on a directory target. */
int workplace_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);

/* 'node' (target.c): tools have had the target's node; whether somebody still has it open. */
int node_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e);

#endif
