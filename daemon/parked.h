/* SPDX-License-Identifier: MIT
 *
 * Workers whose device hangs and who hold nobody up: each has put back what it had set for the whole host, has given
 * up its turn, and waits for its device alone.  The device stays put aside; sweeps on other targets run meanwhile.
 * When the device answers, such a worker undoes the rest and ends, and its sweep is queued again.
 */
#ifndef IOSWEEP_PARKED_H
#define IOSWEEP_PARKED_H

#include <stdint.h>

struct daemon;
struct process;

/* Takes the process over.  target: as the queue calls it; why: for people. */
void parked_take(struct daemon *d, struct process *p, int64_t sweep_id, const char *target, const char *why);
/* Why the worker of this sweep (0: of any) waits, or NULL. */
const char *parked_why(int64_t sweep_id);
/* At the end of the daemon: they are not waited for. */
void parked_let_go(void);

#endif
