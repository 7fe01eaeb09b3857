/* SPDX-License-Identifier: MIT
 *
 * Short-lived children that answer one question on their standard output: facts about devices, the check of a plan.
 * They may block on a sick disk or choke on a hostile text; the daemon waits in its loop, with a deadline.
 */
#ifndef IOSWEEP_CHILD_H
#define IOSWEEP_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "schema/base/err.h"

struct daemon;

#define CHILDREN_MAX 4                            /* at a time; beyond it ERR_BUSY */
#define CHILD_OUTPUT_MAX_BYTES ((size_t)4 << 20)
#define CHILD_ARGS_MAX 8

/* answer: one JSON object as printed, borrowed; NULL if e says why there is none.  Called exactly once. */
typedef void (*child_cb)(struct daemon *d, struct json_object *answer, const struct err *e, void *data);

/* Starts this binary with `--config FILE args...` (NULL-terminated).  input (may be NULL) is copied and goes to its
 * standard input.  what: for messages, "the check of the plan", a literal.  On failure the callback is not called. */
int child_start(struct daemon *d, const char *what, const char *const *args, const char *input, size_t n_input,
                uint64_t deadline_ms, child_cb cb, void *data, struct err *e);

/* Children that were answered for by a time-out, were killed and have not ended: they wait for a device. */
size_t child_n_stuck(void);

/* At the end of the daemon: kills all that still run. */
void child_kill_all(struct daemon *d);

#endif
