/* SPDX-License-Identifier: MIT
 *
 * Visits of the same config in the order of time.
 */
#ifndef IOSWEEP_CLI_HISTORY_H
#define IOSWEEP_CLI_HISTORY_H

#include "cli/choose.h"

struct visit {
	const struct dataset_result *r;
	size_t group;          /* config and series: number from 0 */
	double change;         /* value / value of the visit before on the same host; NAN: the first */
	const char *changes;   /* "kernel.release 6.1 -> 6.18, ..."; "" (arena) */
};
struct history {
	const struct dataset *d;
	struct visit *at; /* owned; by group, then time */
	size_t n, n_groups;
	int64_t limit;    /* configs */
	size_t n_hidden;  /* groups beyond it */
};

/* digest: start of a config's digest, or NULL.  ERR_USAGE if no config has it. */
int history_make(struct store *s, const struct dataset *d, const char *digest, struct arena *a, struct history *ret,
                 struct err *e);
void history_done(struct history *h);
int history_print(const struct history *h, enum table_format format, const struct options *o, struct err *e);

#endif
