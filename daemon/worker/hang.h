/* SPDX-License-Identifier: MIT
 *
 * A process that not even SIGKILL ends, or this worker itself in a system call that does not return: it waits for a
 * device that does not answer (state D of proc(5)).  Nothing can be done but wait; so that is told: the sweep is
 * 'paused' in the store with a reason that names the target and the process, and the daemon puts the target aside.
 * When the wait is over the sweep is 'running' again, and goes on from there as after any other time-out.
 *
 * The worker, also one that only undoes, then gives up its turn, so that sweeps on other targets go on: what it has
 * set for the whole host is put back, and when the wait is over it undoes the rest and ends ("parked").  From then on
 * it starts no tool that is not for undoing, and sets nothing for the host.
 *
 *   arm ─── 30 s without disarm, and no progress ──▶ HANGING ──▶ disarm
 *   tools: killed, and hang_after_ns() later still there ──▶ HANGING ──▶ it has ended
 */
#ifndef IOSWEEP_HANG_H
#define IOSWEEP_HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/base/err.h"

struct worker;

/* How long what was killed, or the worker itself, may be in a system call: a last fsync(2) may take its time. */
int64_t hang_after_ns(void);

/* Begins the watch over this process, once in its life, when its store is open.  Without it the calls below do nothing
 * (tests, roles other than the worker). */
int hang_watch(struct worker *w, struct err *e);

/* The worker is about to do what may block without end, or waits in poll(2) for a program: it is watched from the first
 * until the second. */
void hang_arm(void);
void hang_disarm(void);

/* A killed process does not end; safe to repeat.  hang_end: it has ended; true if the worker has given up its turn
 * and has nothing more to do than to undo. */
void hang_begin(pid_t pid, const char *name);
bool hang_end(void);
/* ERR_DEVICE_LOST if it has. */
int hang_check(struct err *e);

/* Around a change of settings of the whole host: the turn is not given up meanwhile.  ERR_DEVICE_LOST if it was
 * already. */
int hang_turn_keep(struct err *e);
void hang_turn_release(void);

#endif
