/* SPDX-License-Identifier: MIT
 *
 * Writing a published table as a sweep in state 'imported'.  All of it happens in one transaction of the caller
 * (store_begin), so that a fault in the last line leaves nothing behind.
 */
#ifndef IOSWEEP_STORE_IMPORT_H
#define IOSWEEP_STORE_IMPORT_H

#include "schema/store.h"

struct import_new { /* borrowed */
	uint8_t uuid[16];           /* made from the table's content: importing it again finds the sweep */
	const char *host;           /* its UUID is made from the name */
	const char *plan, *about, *text, *source;
	enum keep keep;
	int64_t at_ms;              /* when it was published */
	int64_t uid, gid;
	const char *submitter;
};
/* *ret_exists: it was imported before; nothing is to be written then. */
int store_import_sweep(struct store *s, const struct import_new *n, int64_t *ret_id, bool *ret_exists, struct err *e);
int store_import_workload(struct store *s, int64_t sweep_id, int64_t position, const char *name, const char *definition,
                          const char *parameters, int64_t *ret_id, struct err *e);
int store_import_cell(struct store *s, int64_t sweep_id, const struct cell *c, int64_t at_ms, int64_t *ret_id,
                      struct err *e);

struct import_trial { /* borrowed */
	int64_t cell_id, workload_id, environment_id, at_ms;
	int repetition;
	const struct measured *measured;
	size_t n_measured;
	const struct trial_flag *flags;
	size_t n_flags;
};
/* Adds to the trial if there is one already (a table with one metric a row).  *ret_duplicate: index of a metric that
 * the trial has already, and then nothing was written; -1: none. */
int store_import_trial(struct store *s, const struct import_trial *t, int *ret_duplicate, struct err *e);
/* Results, drift, counts and the state. */
int store_import_end(struct store *s, int64_t sweep_id, int64_t at_ms, struct err *e);

#endif
