/* SPDX-License-Identifier: MIT
 *
 * Sweeps from one store into another: the core of export, import and pull.
 *
 * A host is known by its UUID, a sweep by its UUID, an environment, a plan, a config and a workload by their digests,
 * a trial by sweep, config, workload, repetition and (unless it is good) start.  So merging is idempotent and its
 * order does not matter: of two states of one sweep the one that is further along stays, rows are only added, results
 * are made anew where trials came together.  The undo journal stays where it is; it is about one machine.
 */
#ifndef IOSWEEP_STORE_MERGE_H
#define IOSWEEP_STORE_MERGE_H

#include "schema/store.h"

struct merge_report {
	int64_t sweeps_new, sweeps_updated, sweeps_known;
	int64_t cells, trials, measurements; /* added */
};
struct merge_options {
	const int64_t *sweep_ids; /* of the source; NULL: all that have ended */
	size_t n_sweep_ids;
	bool with_outputs;        /* raw outputs of trials, too */
};
/* source: path of a store of this version (store_open has checked it).  One transaction: all of it or nothing. */
int store_merge(struct store *to, const char *source, const struct merge_options *o, struct merge_report *ret,
                struct err *e);

/* Writes the chosen sweeps of s to a new file at path: a store of their own, gzip-compressed (RFC 1952).  fd >= 0:
 * written there instead.  ERR_USAGE if one of the sweeps has not ended. */
int store_export(struct store *s, const struct merge_options *o, const char *path, int fd, struct merge_report *ret,
                 struct err *e);
/* Reads such a file (or a plain store, or JSON lines, compressed or not); refuses what is cut short, damaged, newer,
 * or no store, and changes nothing then. */
int store_import_file(struct store *s, const char *path, struct merge_report *ret, struct err *e);
/* ERR_USAGE if one of the sweeps has not ended. */
int store_export_check(struct store *s, const struct merge_options *o, struct err *e);
/* The same sweeps as JSON lines (store_lines.h), without raw outputs.  store_import_file reads them, too. */
int store_export_lines(struct store *s, const struct merge_options *o, FILE *out, struct err *e);

/* Sweeps that have ended: "UUID STATE CELLS TRIALS ENDED_MS" a line, by which another store knows what it lacks. */
int store_export_list(struct store *s, FILE *out, struct err *e);
/* Whether a line of that list is news to s: *ret_uuid (37 bytes) is what to ask for.  ERR_PROTOCOL for a line of
 * another form. */
int store_lacks(struct store *s, const char *line, bool *ret, char ret_uuid[37], struct err *e);

/* Consistent copy of the whole store, also while a sweep is recorded (sqlite3_backup).  path must not exist. */
int store_backup(struct store *s, const char *path, struct err *e);

/* iosweep annotate and label; value "" removes a label. */
int store_annotate(struct store *s, int64_t sweep_id, const char *note, struct err *e);
int store_label(struct store *s, int64_t sweep_id, const char *name, const char *value, struct err *e);
struct sweep_label {
	const char *name, *value;
};
int store_labels(struct store *s, int64_t sweep_id, struct arena *a, struct sweep_label **ret, size_t *ret_n,
                 struct err *e);

#endif
