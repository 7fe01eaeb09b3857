/* SPDX-License-Identifier: MIT
 *
 * Starting one program: vfork(2), raw credential calls, execve(2).  The worker's resident size does not matter, and
 * an exec that fails reports its errno through the memory that parent and child share.  Watching it is tool.c's work.
 */
#ifndef IOSWEEP_SPAWN_H
#define IOSWEEP_SPAWN_H

#include "daemon/worker/tool.h"

struct spawned {
	pid_t pid;          /* leader of a session and process group of its own */
	int pidfd;          /* owned */
	int64_t started_ns; /* CLOCK_MONOTONIC just before execve */
};

/* out_fd, err_fd: the program's standard output and error, borrowed.  Returns once the program is in execve or could
 * not be. Fails with ERR_INFEASIBLE (no such program), ERR_TOOL (there is one, and it is no executable), ERR_SYSTEM. */
int spawn_program(const struct tool_identity *as, const struct tool *tool, int out_fd, int err_fd, struct spawned *ret,
                  struct err *e);

/* Sets this process's limits and credentials to those of a tool and enters its room; for children that are forked and
 * not executed (helper.c).  Never returns half done: the caller must _exit on -1. */
int spawn_become(const struct tool_identity *as);

#endif
