/* SPDX-License-Identifier: MIT
 *
 * Facts about the machine around a run (extract.h): taken before and after it, and only those that the workload's
 * definition names, since looking through all kernel threads costs milliseconds.
 */
#ifndef IOSWEEP_PROBE_H
#define IOSWEEP_PROBE_H

#include "daemon/worker/context.h"
#include "schema/extract.h"

/* The target and what it lies on: "md127", "sda", "sdb". */
#define PROBE_STACK_MAX 64
struct probe_stack {
	char names[PROBE_STACK_MAX][32];
	size_t n; /* 0: not known */
};

/* A kernel thread that works for block devices: kworker, md*, jbd2, xfs*, btrfs*; not one that is another device's by
 * its name. */
struct probe_thread {
	int pid;
	unsigned long long started; /* ticks since boot: tells it from a later one of the same number */
	unsigned long long ticks;   /* of CPU time so far */
};

struct probe {
	double io_stall;  /* s since boot; proc pressure/io, some (kernel Documentation/accounting/psi.rst); -1: not there */
	double cached;    /* B of page cache; meminfo Cached + Buffers; -1 */
	bool has_threads;
	struct probe_thread *threads; /* arena */
	size_t n_threads;
};

void probe_take(const struct worker *w, const struct workload *def, struct arena *a, struct probe *ret);
/* For tests: comm of n bytes, as in the stat file. */
bool probe_thread_serves(const char *comm, size_t n, const struct probe_stack *stack);
/* CPU time in s that such threads took from one to the other.  Those that ended in between are not in it: what they had
 * taken before is not known to have been for us. */
double probe_kernel(const struct probe *before, const struct probe *after);
/* Adds what the definition names; returns how many facts were written (at most PROBE_FACTS). */
#define PROBE_FACTS 4
size_t probe_facts(const struct probe *before, const struct probe *after, struct fact *facts);

#endif
