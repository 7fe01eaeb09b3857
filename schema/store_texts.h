/* SPDX-License-Identifier: MIT
 *
 * For store_show*.c: the few texts behind the many numbers of a sweep's rows, looked up once each and kept in an arena.
 */
#ifndef IOSWEEP_STORE_TEXTS_H
#define IOSWEEP_STORE_TEXTS_H

#include "schema/store_internal.h"

/* A hash table from row ids to what was read of the row. */
struct id_map {
	struct id_slot {
		int64_t id; /* 0: free */
		const void *value;
	} *at; /* owned */
	size_t n, cap;
};

struct shown_metric {
	const char *key, *unit; /* key: "dd-read.throughput{4KiB}" */
	enum better better;
	bool is_detail;
	int64_t workload_id;
	int64_t order; /* as the plan lists the workloads, then as the metrics were first seen */
};

/* Zero-initialise it but for s and a. */
struct texts {
	struct store *s;
	struct arena *a;
	struct id_map spellings; /* const char * */
	struct id_map metrics;   /* const struct shown_metric * */
};
void texts_done(struct texts *t);

/* The text of a spelling; NULL for id 0. */
int texts_spelling(struct texts *t, int64_t id, const char **ret, struct err *e);
/* Reads the metrics of a sweep's workloads, for texts_metric. */
int texts_metrics_read(struct texts *t, int64_t sweep_id, struct err *e);
const struct shown_metric *texts_metric(const struct texts *t, int64_t id); /* NULL: not of this sweep */

#endif
