/* SPDX-License-Identifier: MIT
 *
 * The helper's own side of the socket; only helper.c includes this.
 */
#ifndef IOSWEEP_HELPER_SERVE_H
#define IOSWEEP_HELPER_SERVE_H

#include "schema/store.h"

enum helper_request {
	HELPER_EXTRACT,   /* workload, exit status, parameters, captures, facts -> outcome */
	HELPER_MAKE_DIR,  /* path -> */
	HELPER_REMOVE_DIR, /* path -> */
	HELPER_EXTENTS    /* path -> bytes, holes, unwritten, encoded */
};

/* Answers requests until the other end closes.  An answer begins with an err_kind: ERR_NONE, or the error and its
 * text. */
void helper_serve(int fd, const struct sweep_workload *workloads, size_t n_workloads);

#endif
