/* SPDX-License-Identifier: MIT
 *
 * `precondition: yes`: the device is written over once before the first trial, so that flash, thin volumes and sparse
 * images measure what they are like in use, not what they are like empty.  Part of the claim step: nothing is on the
 * device yet.  mkfs is told not to discard it again (format.c).
 *
 * shred(1) writes what cannot be compressed or deduplicated, as fast as a disk takes it; the device's own counters say
 * whether it did.
 */
#include <string.h>

#include "daemon/worker/guard.h"
#include "daemon/worker/iostat.h"
#include "daemon/worker/record.h"
#include "daemon/worker/steps.h"

#define SLOWEST_BYTES_S 1000000 /* a disk slower than this is broken */
#define GRACE_NS        (3600 * INT64_C(1000000000))

static int device_overwrite(struct worker *w, struct err *e)
{
	const char *argv[] = { "shred", "--iterations=1", w->claimed.private_node, NULL };
	int64_t timeout_ns = GRACE_NS + w->claimed.size_bytes / SLOWEST_BYTES_S * INT64_C(1000000000);

	return tool_must(&w->tools, NULL, e, argv, timeout_ns);
}

static int counters_check(const struct worker *w, const struct io_count *before, int64_t *ret_bytes, struct err *e)
{
	char written[SIZE_TEXT], size[SIZE_TEXT];
	struct io_count after;

	iostat_read(w, &after);
	*ret_bytes = before->is_known && after.is_known ? after.target.written - before->target.written : 0;
	if (*ret_bytes >= w->claimed.size_bytes)
		return 0;
	return err_set(e, ERR_MISMATCH, "%s counted %s written of %s", w->claimed.name,
	               size_format(*ret_bytes, written), size_format(w->claimed.size_bytes, size));
}

/* A sweep that goes on after a pause has trials on the device as it was written then. */
static bool is_wanted(const struct worker *w)
{
	return w->plan->precondition && !w->is_preconditioned && w->sweep.trials_ok == 0 &&
	       w->claimed.kind != TARGET_DIRECTORY;
}

int precondition(struct worker *w, struct err *e)
{
	int64_t begun_ns = clock_ns(), bytes;
	char size[SIZE_TEXT], took[SIZE_TEXT];
	struct signature there;
	struct io_count before;

	if (!is_wanted(w))
		return 0;
	if (record_commit(w, e) < 0)
		return -1;
	record_hint(w, "precondition", "%s is written over once", w->claimed.name);
	iostat_read(w, &before);
	if (guard_ask_again(w, &there, e) < 0 || device_overwrite(w, e) < 0 ||
	    counters_check(w, &before, &bytes, e) < 0)
		return err_in(e, "precondition");
	w->is_preconditioned = true;
	return store_event(w->store, w->sweep_id, "preconditioned", e, "%s written to %s in %s",
	                   size_format(bytes, size), w->claimed.name, duration_format(clock_ns() - begun_ns, took));
}
