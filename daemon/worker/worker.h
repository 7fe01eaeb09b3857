/* SPDX-License-Identifier: MIT
 *
 * The worker role of iosweepd: one process per running sweep, blocking code, the init of its own PID namespace with a
 * mount namespace of its own.  The only header of the worker side that the daemon includes.
 */
#ifndef IOSWEEP_WORKER_H
#define IOSWEEP_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

/* The hidden roles:   iosweepd --config FILE --worker SWEEP [--undo-only|--undo-crash]
 *                     iosweepd --config FILE --describe devices|doctor|guard [NAME]
 * worker: runs or resumes a sweep; exit status: WORKER_*.
 * describe: prints one JSON object about this host on stdout and exits; never writes to a device; may block on one,
 * which is why the daemon does not do it itself. */
enum {
	WORKER_DONE = 0,       /* every cell ended well or was infeasible */
	WORKER_FAILED = 1,     /* the sweep ended, some cell failed (or is infeasible under strict) */
	WORKER_PAUSED = 10,    /* stopped between trials as wanted, or for a reason in sweep.reason; everything undone */
	WORKER_CANCELLED = 11,
	WORKER_UNDO_FAILED = 12 /* something could not be put back: the device is put aside; reason in the store */
};

enum worker_duty {
	WORKER_RUNS,
	WORKER_UNDOES,         /* what another has left in the journal, and nothing else */
	WORKER_UNDOES_A_CRASH  /* the same, seconds after that other one died: nobody else has come to its device since */
};

/* Starts the role in new PID and mount namespaces by clone(2): returns the worker's pid and a pidfd.
 * line_fd: the worker's end of a socketpair; it becomes descriptor 3.  The worker writes one line an event (a hint
 * only: "read the store again") and takes EOF on it as the daemon's death: it then undoes and exits. */
int worker_spawn(const char *program, const char *config_file, int64_t sweep_id, enum worker_duty duty, int line_fd,
                 pid_t *ret_pid, int *ret_pidfd, struct err *e);

/* Entry of the role, called by main.  lock_fd: holds the flock(2) of the one worker that is at work on this host;
 * given up when the device hangs.  Clones itself into namespaces first if it is not PID 1 of one (run by hand). */
int worker_main(const char *config_file, int64_t sweep_id, enum worker_duty duty, int lock_fd);

/* Entry of the describe role. */
int describe_main(const char *config_file, const char *what, const char *name, const char *options);

#endif
