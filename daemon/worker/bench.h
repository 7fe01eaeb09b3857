/* SPDX-License-Identifier: MIT
 *
 * One workload in one cell: its work directory, what is prepared there, its servers, and the running of its phases.  A
 * trial (trial.h) is one measured pass through before, run and after.
 */
#ifndef IOSWEEP_BENCH_H
#define IOSWEEP_BENCH_H

#include "daemon/worker/context.h"
#include "daemon/worker/tool.h"
#include "schema/extract.h"

#define SERVERS_MAX 8

struct bench {
	struct worker *w;
	size_t workload;                    /* index into w->workloads */
	const struct sweep_workload *def;
	struct workload_param *params;      /* with the cell's WORKLOAD.PARAM axes in */
	size_t n_params;
	bool is_open;                       /* the work directory exists */
	struct {
		struct tool_server *at;
		enum workload_phase phase;  /* that started it */
	} servers[SERVERS_MAX];
	size_t n_servers;
};

/* What the steps of a phase did. */
struct phase_end {
	int64_t elapsed_ns, user_ns, system_ns;
	int64_t tools_read_bytes;    /* that the tools made block devices read */
	int copies;                  /* programs of the widest step */
	int exit_status, exit_signal;/* of the first step that did not end well, else 0; a signal leaves the status -1 */
	struct capture *captures;    /* arena: two for each program, empty ones included */
	size_t n_captures;
};

void bench_init(struct bench *b, struct worker *w, size_t workload, struct arena *a);

/* Makes the work directory and runs `prepare`.  On a failure ret (captures) tells as far as it got; bench_close is
 * due. */
int bench_open(struct bench *b, struct arena *a, struct phase_end *ret, struct err *e);
/* Runs `cleanup`, ends the servers, removes the work directory.  All of it is tried; cannot be cancelled.  is_end: the
 * sweep ends here, so what goes with the filesystem anyway is not removed first. */
int bench_close(struct bench *b, bool is_end, struct err *e);

/* Runs the steps of one phase in order; ret is added to.  In PHASE_RUN an error status ends the phase and is no error
 * here; in the others it is ERR_TOOL. */
int bench_phase(struct bench *b, enum workload_phase phase, int repetition, struct arena *a, struct phase_end *ret,
                struct err *e);
/* Ends the servers that this phase started. */
void bench_servers_stop(struct bench *b, enum workload_phase phase);

#endif
