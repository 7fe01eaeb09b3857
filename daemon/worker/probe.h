/* SPDX-License-Identifier: MIT
 *
 * Facts about the machine around a run (extract.h): taken before and after it, and only those that the workload's
 * definition names, since looking through all kernel threads costs milliseconds.
 */
#ifndef IOSWEEP_PROBE_H
#define IOSWEEP_PROBE_H

#include "daemon/worker/context.h"
#include "schema/extract.h"

struct probe {
	double io_stall;  /* s since boot; proc pressure/io, some (kernel Documentation/accounting/psi.rst); -1: not there */
	double cached;    /* B of page cache; meminfo Cached + Buffers; -1 */
	double kernel;    /* s of CPU time of kernel threads at work for block devices: kworker, md*, jbd2, xfs*, btrfs*; -1 */
};

void probe_take(const struct worker *w, const struct workload *def, struct probe *ret);
/* Adds what the definition names; returns how many facts were written (at most PROBE_FACTS). */
#define PROBE_FACTS 4
size_t probe_facts(const struct probe *before, const struct probe *after, struct fact *facts);

#endif
