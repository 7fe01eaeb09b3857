/* SPDX-License-Identifier: MIT
 *
 * What tools leave behind: processes that called setsid(2), forked twice, or were simply not waited for.  The worker
 * is the init of its PID namespace, so all of them are its to find and to end.
 */
#ifndef IOSWEEP_STRAYS_H
#define IOSWEEP_STRAYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/base/err.h"

/* Processes that stay, with all their descendants: servers, and the worker's own helper.  is_hidden: a child without
 * exit signal, which only __WALL waits for (the helper). */
void strays_spare(pid_t pid, bool is_hidden);
void strays_spare_no_more(pid_t pid);

/* Kills every other process of the namespace and waits until they are gone, also for one that waits for a device
 * (hang.h).  Nothing to find costs one system call.  Does nothing outside of a PID namespace of the worker's own. */
int strays_end(struct err *e);

/* Reaps orphans that have ended while tools run; is_ours tells the children that somebody else waits for. */
void strays_reap(bool (*is_ours)(pid_t pid, const void *arg), const void *arg);

#endif
