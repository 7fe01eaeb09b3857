/* SPDX-License-Identifier: MIT
 *
 * The `memory` axis: a limit on the memory of the workload, its page cache included, by a cgroup.  The step itself is
 * confine_enter and confine_leave (steps.h).
 */
#ifndef IOSWEEP_CONFINE_H
#define IOSWEEP_CONFINE_H

#include "daemon/worker/context.h"

/* Which controller this host has: "v2", "v1", or "" if neither can be used; ret_why then says why. */
const char *confine_controller(char *ret_why, size_t size);
/* RAM of the host: MemTotal of proc_meminfo(5), in bytes. */
int64_t host_ram_bytes(void);
/* The limit as the kernel has it now, in bytes. */
int confine_read(struct worker *w, int64_t *ret, struct err *e);

/* Processes of the cell that were killed so far for want of memory; 0 without a limit. */
int64_t confine_oom_kills(const struct worker *w);

#endif
