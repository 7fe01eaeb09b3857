/* SPDX-License-Identifier: MIT
 *
 * Numbers out of tool outputs, by a workload's definition.  Pure: no files, no processes.  The worker calls it in a
 * child with limits (daemon/worker/extractor.c); `iosweep extract` and `iosweep workloads parse` call it directly.
 */
#ifndef IOSWEEP_EXTRACT_H
#define IOSWEEP_EXTRACT_H

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/model.h"
#include "schema/workload.h"

/* What one step printed.  data is not terminated and may hold NULs. */
struct capture {
	const char *step;   /* "run", "run.2" (second copy), "after" ... */
	const char *stream; /* "stdout" or "stderr" */
	const char *data;
	size_t n;
	bool is_cut;        /* more was printed than kept */
};

/* A number that every trial has: elapsed, user, system (s), read_bytes, written_bytes, exit_status ... usable as
 * :name in value expressions, beside the parameters that are sizes or numbers. */
struct fact {
	const char *name;
	double value;
};

struct measured {
	const char *name, *label; /* label "" without each */
	const char *unit;
	enum better better;
	double value;             /* finite */
	const char *found_by;     /* "match 2 of stdout", "json .jobs[*].read.bw_bytes summed over 3" : for `workloads try` */
};

enum extract_state {
	EXTRACT_OK,
	EXTRACT_FAILED,   /* fail-if, an error status, or complete-if not met: no number may be stored */
	EXTRACT_NO_DATA,  /* nothing measurable in it, e.g. zero bytes in zero seconds */
	EXTRACT_UNPARSABLE,
	EXTRACT_AMBIGUOUS /* several results where one was asked for */
};
const char *extract_state_name(enum extract_state state); /* "ok" "failed" "no-data" "unparsable" "ambiguous" */

struct outcome {
	enum extract_state state;
	const char *reason;      /* "" if ok */
	const char *suspect;     /* why a good trial carries the flag 'suspect'; NULL if it does not */
	struct measured *at;     /* arena; empty unless EXTRACT_OK */
	size_t n;
};

/* exit_status: of the run step, 128 + signal if it was killed.  Fails (-1) only on an internal limit (PCRE2 match or depth
 * limit, evaluator limit): ERR_TOOL with the metric named. */
int extract(const struct workload *w, const struct workload_param *params, size_t n_params,
            const struct capture *captures, size_t n_captures, const struct fact *facts, size_t n_facts, int exit_status,
            struct arena *a, struct outcome *ret, struct err *e);

#endif
