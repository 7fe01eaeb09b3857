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
	const char *step;   /* "run", "run.2" (second copy), "after" ...; several steps of one phase share the name */
	const char *stream; /* "stdout" or "stderr"; "" in a saved file that may hold both */
	const char *data;
	size_t n;
	bool is_cut;        /* more was printed than kept */
	size_t n_printed;   /* then: how much, for the store; 0 if that is not known */
};

/* A number that every trial has, usable as :name in value expressions, beside the parameters that are sizes or numbers.
 * Names and units: fact_table in extract.c (also the list in iosweep-workload(5)); one that the caller does not have is
 * absent in expressions.  elapsed is the wall time from the start of the first step of `run` to the end of the last;
 * user and system are summed over its programs. */
struct fact {
	const char *name;
	double value;
};

struct fact_def {
	const char *name, *unit, *about;
};
extern const struct fact_def fact_table[];
extern const size_t fact_table_n;

struct measured {
	const char *name, *label; /* label "" without each */
	const char *unit;
	enum better better;
	double value;             /* finite */
	bool is_detail;           /* as struct workload_metric */
	const char *found_by;     /* "match 2 of stdout", "json .jobs[*].read.bw_bytes summed over 3" : for `workloads try` */
};

enum extract_state {
	EXTRACT_OK,
	EXTRACT_FAILED,   /* fail-if, an error status, or complete-if not met: no number may be stored */
	EXTRACT_NO_DATA,  /* nothing measurable in it, e.g. zero bytes in zero seconds */
	EXTRACT_UNPARSABLE,
	EXTRACT_AMBIGUOUS, /* several results where one was asked for */
	EXTRACT_PARTIAL    /* broken off: complete-if is not met, though some numbers stand there */
};
const char *extract_state_name(enum extract_state state); /* "ok" "failed" "no-data" "unparsable" "ambiguous" "partial" */

struct outcome {
	enum extract_state state;
	const char *reason;      /* "" if ok */
	const char *suspect;     /* why a good trial carries the flag 'suspect'; NULL if it does not */
	struct measured *at;     /* arena; empty unless EXTRACT_OK */
	size_t n;
	struct measured *seen;   /* what stands in an output that is not ok: to be shown, never to be stored */
	size_t n_seen;
};

/* exit_status: of the run step, 128 + signal if it was killed.  Fails (-1) only on an internal limit (PCRE2 match or
 * depth limit, evaluator limit): ERR_TOOL with the metric named. */
int extract(const struct workload *w, const struct workload_param *params, size_t n_params,
            const struct capture *captures, size_t n_captures, const struct fact *facts, size_t n_facts,
            int exit_status, struct arena *a, struct outcome *ret, struct err *e);

#endif
