/* SPDX-License-Identifier: MIT
 *
 * The helper: a child of the worker that is the submitter.  It lives in the room, without privilege, with limits on
 * CPU time and memory, holding no descriptor but its socket.  It does what must not be done as root: taking numbers
 * out of what tools printed, and making and removing files below the target.
 *
 * If it dies (a pattern that never ends, a tool that killed it) the request fails with ERR_TOOL and the next one starts
 * another; a helper found dead before a request is replaced without a word.
 */
#ifndef IOSWEEP_HELPER_H
#define IOSWEEP_HELPER_H

#include "daemon/worker/extents.h"
#include "daemon/worker/tool.h"
#include "schema/extract.h"
#include "schema/store.h"

struct helper;

/* Starts it.  as and workloads are borrowed and outlive it: the child inherits the definitions with the worker's
 * memory. */
int helper_start(const struct tool_identity *as, const struct sweep_workload *workloads, size_t n_workloads,
                 struct helper **ret, struct err *e);
void helper_stop(struct helper *h); /* NULL is fine */

/* What extract() gives for the workload of this index; strings in the arena. */
int helper_extract(struct helper *h, size_t workload, const struct workload_param *params, size_t n_params,
                   const struct capture *captures, size_t n_captures, const struct fact *facts, size_t n_facts,
                   int exit_status, struct arena *a, struct outcome *ret, struct err *e);

/* workdir_make and workdir_remove as the submitter; path as seen inside the room. */
int helper_make_dir(struct helper *h, const char *path, struct err *e);
int helper_remove_dir(struct helper *h, const char *path, struct err *e);
/* extents_scan likewise. */
int helper_extents(struct helper *h, const char *path, struct extents *ret, struct err *e);

#endif
