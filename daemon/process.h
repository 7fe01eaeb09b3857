/* SPDX-License-Identifier: MIT
 *
 * One worker as a process of the host: its start, its line, its end.  It is known by its pidfd (exit) and its line
 * (hints for those who watch); while it runs the loop is woken by these alone.  What its end means is the
 * supervisor's matter.
 */
#ifndef IOSWEEP_PROCESS_H
#define IOSWEEP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/worker/worker.h"
#include "schema/base/err.h"

struct daemon;
struct process;

typedef void (*process_line_cb)(void *data, char *line); /* one line without its newline; may be changed */
typedef void (*process_exit_cb)(void *data, int status); /* as waitpid(2) says it; once, and the process is freed after it */

int process_start(struct daemon *d, int64_t sweep_id, enum worker_duty duty, process_line_cb on_line,
                  process_exit_cb on_exit, void *data, struct process **ret, struct err *e);
pid_t process_pid(const struct process *p);

/* "the worker was killed by signal 9 (Killed)": a status that a worker does not end with by itself. */
void process_status_text(int status, char *buf, size_t n);

/* From now on somebody else is told. */
void process_hand_on(struct process *p, process_line_cb on_line, process_exit_cb on_exit, void *data);

/* At the end of the daemon: it is not waited for; no callback comes any more, and it is freed. */
void process_let_go(struct process *p);

/* Tells it to end what it does and to undo; if it has not ended within PROCESS_PATIENCE_MS it is killed.  Safe to
 * repeat. */
#define PROCESS_PATIENCE_MS (600 * 1000) /* its tool's kill time, and an umount that flushes the page cache to a slow disk */
void process_end(struct process *p);

#endif
