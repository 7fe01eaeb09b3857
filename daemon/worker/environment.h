/* SPDX-License-Identifier: MIT
 *
 * Facts that a trial ran under (environment_collect in steps.h).  Keys are the field's words with dots:
 * "kernel.release", "device.model", "tool.fio".
 *
 *   identity  what the host, device and tools are: a comparison across different ones says so
 *   context   how they are set up: may explain a difference
 *   volatile  changes by itself (kernel names, paths): recorded, never compared
 */
#ifndef IOSWEEP_ENVIRONMENT_H
#define IOSWEEP_ENVIRONMENT_H

#include "daemon/worker/context.h"

/* As many as there are. */
struct environment_facts {
	struct arena *a; /* holds everything below */
	struct environment_fact *at;
	size_t n, cap;
};

/* key and value must live as long as the arena. */
void environment_facts_add(struct environment_facts *f, enum fact_class class, const char *key, const char *value);

/* The line that a program prints about its version, or "" if it is not there.  Arena string; kept for as long as the
 * worker lives, since a tool does not change under a running sweep without its trials being in doubt anyway. def
 * whose program it is: its `path` is looked through and its `version` asked, if that is of this program; or NULL */
const char *tool_version(struct worker *w, const struct workload *def, const char *program,
                         const struct tool_identity *as);

#endif
