/* SPDX-License-Identifier: MIT
 *
 * The worker's namespaces: PID (it is the init: what it leaves dies with it) and mount (the host sees none of its
 * mounts).
 */
#ifndef IOSWEEP_NAMESPACE_H
#define IOSWEEP_NAMESPACE_H

#include <sys/types.h>

#include "schema/base/err.h"

#define WORKER_LINE_FD 3 /* of a worker that a daemon started: its end of the line */

/* Like fork(2) into new PID and mount namespaces; with a pidfd in the parent.  By clone(2): clone3(2) fails under
 * systemd's RestrictNamespaces=, whose filter cannot look into its argument. */
pid_t namespace_clone(int *ret_pidfd);

/* In a mount namespace of its own: from now on nothing that this process mounts reaches the host, while the host's own
 * unmounts still reach it.  The working directory stays. */
int namespace_hide_mounts(struct err *e);

/* In the new namespaces: takes the mounts out of the host's sight (but not the host's unmounts out of ours), keeps
 * the host's /proc as a descriptor and mounts a fresh one over it. */
int namespace_enter(int *ret_host_proc_fd, struct err *e);

/* For a worker run by hand: clones; the child returns 0, the parent waits, passes signals on and ends as the child
 * did. */
int namespace_clone_by_hand(struct err *e);

#endif
