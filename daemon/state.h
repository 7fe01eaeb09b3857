/* SPDX-License-Identifier: MIT
 *
 * The daemon's places on disk: who may read them, and that one daemon alone works in them.
 */
#ifndef IOSWEEP_STATE_H
#define IOSWEEP_STATE_H

#include <sys/types.h>

#include "schema/base/err.h"
#include "schema/config.h"

/* Makes what is missing: the state directory 0750 root:GROUP, in it the store's file 0640 (SQLite gives -wal and -shm
 * the owner and mode of it), and the images directory 0700.  Puts owner and mode right where they differ. */
int state_prepare(const struct config *c, gid_t gid, struct err *e);

/* One daemon per state directory: flock(2) on STATE/lock, given up by the kernel when the process ends.
 * ret: the descriptor.  ERR_BUSY names the pid of the other one. */
int state_lock(const struct config *c, int *ret, struct err *e);

/* One worker per sweep, and one at a time per state directory, whatever became of the daemon that started it: waits
 * until those before have undone their changes and ended.  The latter is a flock(2), which a worker that waits for
 * its device gives up; the former is a lock on one byte (F_OFD_SETLKW, fcntl(2)), which it keeps.  ret: the
 * descriptor of both. ERR_CANCELLED on SIGTERM. */
int state_lock_worker(const struct config *c, int64_t sweep_id, int *ret, struct err *e);
/* Whether a worker of this sweep is there, of whichever daemon.  Waits for nothing. */
bool state_worker_is_there(const struct config *c, int64_t sweep_id);

#endif
