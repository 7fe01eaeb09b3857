/* SPDX-License-Identifier: MIT
 *
 * One trial of a workload in a directory, as the caller, without daemon, root or device: for whoever writes a
 * definition. What a sweep adds (cold caches, settings, limits, privilege) is not here.
 */
#ifndef IOSWEEP_CLI_TRY_H
#define IOSWEEP_CLI_TRY_H

#include "schema/extract.h"

struct try_options {
	const char *directory; /* a directory of its own is made below it, and removed afterwards */
	int64_t ram_bytes;     /* what "2x ram" refers to */
	const char *device;    /* ${device}; NULL: none */
	bool keep;             /* leave the directory */
	bool is_loud;          /* say on stderr what is run */
};

/* Runs prepare, before, run, after and cleanup; what was started is ended, also after a failure.  ret: arena.
 * Fails with ERR_INFEASIBLE if a program is missing, ERR_TOOL if a step outside `run` fails, ERR_TIMEOUT, ERR_CANCELLED
 * after SIGINT or SIGTERM. */
int try_workload(const struct workload *w, const struct workload_param *params, size_t n, const struct try_options *o,
                 struct arena *a, struct outcome *ret, struct err *e);

/* ---- between try*.c ---- */
struct try_program {
	char **argv;
	const char *dir;
	bool discard;      /* stdout to /dev/null */
	pid_t pid;         /* 0: not running */
	int out_fd, err_fd;/* memory files */
	int status;        /* wait(2) */
	int64_t started_ns, elapsed_ns, user_ns, system_ns;
};
int try_program_start(struct try_program *p, struct err *e);
/* Waits for all of n; ends them when the time is up or the caller is asked to stop. */
int try_programs_wait(struct try_program *p, size_t n, int64_t timeout_ns, struct err *e);
bool try_program_is_running(struct try_program *p);
void try_program_stop(struct try_program *p, int signal);
/* What it printed, into the arena; closes the files. */
void try_program_output(struct try_program *p, struct arena *a, struct capture *out, struct capture *err);
/* 128 + signal, or the exit status. */
int try_exit_status(const struct try_program *p);
void try_signals_catch(void);

#endif
