/* SPDX-License-Identifier: MIT
 *
 * The room: the root directory of every tool.  A small tmpfs, visible in the worker's mount namespace only, on which
 * hang
 *
 *   /usr /etc /home ...   the host's own, read-only, nosuid, nodev
 *   /dev                  null zero full random urandom tty shm, and the claimed target's node: no other device
 *   /proc                 of the worker's PID namespace, read-only, other users' processes hidden
 *   /sys                  read-only
 *   /tmp                  empty, in memory, of limited size
 *   /target               the filesystem under test, or the directory target: the only thing of the host to write to
 *
 * The worker itself lives outside, with the host's /dev and /sys.
 */
#ifndef IOSWEEP_ROOM_H
#define IOSWEEP_ROOM_H

#include "daemon/worker/context.h"

/* Makes the room below the state directory and fills in w->room, target_dir and device_dir.  Once in a worker's life;
 * goes away with its mount namespace.  Refuses (ERR_REFUSED) to work in the mount namespace of the host's init. */
int room_make(struct worker *w, struct err *e);

/* Shows a directory target as /target, and takes it away again (safe to repeat).  Sets claimed.mount_dev. */
int room_directory_attach(struct worker *w, struct err *e);
int room_directory_detach(struct worker *w, struct err *e);

/* Lets the submitter at what the cell prepared: the root directory of a filesystem made by mkfs becomes his; the
 * target's node is his to read and write if there is no filesystem on it, to read if there is. */
int room_target_grant(struct worker *w, struct err *e);

#endif
