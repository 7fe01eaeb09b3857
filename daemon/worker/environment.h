/* SPDX-License-Identifier: MIT
 *
 * Facts that a trial ran under (environment_collect in steps.h).  Keys are the field's words with dots: "kernel.release",
 * "device.model", "tool.fio".
 *
 *   identity  what the host, device and tools are: a comparison across different ones says so
 *   context   how they are set up: may explain a difference
 *   volatile  changes by itself (kernel names, paths): recorded, never compared
 */
#ifndef IOSWEEP_ENVIRONMENT_H
#define IOSWEEP_ENVIRONMENT_H

#include "daemon/worker/context.h"

/* The first line that a program prints about its version, or "" if it is not there.  Arena string; kept for as long as
 * the process lives, since a tool does not change under a running sweep without its trials being in doubt anyway. */
const char *tool_version(struct worker *w, const char *program, const struct tool_identity *as);

#endif
