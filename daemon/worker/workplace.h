/* SPDX-License-Identifier: MIT
 *
 * The work directory of a workload's trials: below the target, made, owned and emptied by the submitter.
 */
#ifndef IOSWEEP_WORKPLACE_H
#define IOSWEEP_WORKPLACE_H

#include "daemon/worker/context.h"
#include "daemon/worker/extents.h"

#define WORKPLACE_PATH 128

/* Where it is, as the tools see it: "/target/iosweep-12", or below /tmp for raw workloads on a device without
 * filesystem. */
void workplace_path(const struct worker *w, char ret[WORKPLACE_PATH]);

/* Makes it anew, empty.  On a directory target the journal knows of it first. */
int workplace_open(struct worker *w, struct err *e);
/* Asked before anything is written: it must lie on the device of the cell, ERR_REFUSED otherwise. */
int workplace_check(const struct worker *w, struct err *e);
/* Removes it with all that is in it. */
int workplace_close(struct worker *w, struct err *e);

/* Where the data of the work directory is.  Nothing is known of one that is not on the target (filesystem: none). */
int workplace_extents(struct worker *w, struct extents *ret, struct err *e);
/* Whether so many bytes of files have room on the target; ERR_REFUSED otherwise, with both sizes if there is a
 * filesystem. what: "size x streams". */
int workplace_check_space(const struct worker *w, int64_t bytes, const char *what, struct err *e);

#endif
