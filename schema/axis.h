/* SPDX-License-Identifier: MIT
 *
 * THE table of axes: one row drives parsing, checking, applying, verifying, restoring, and the manual's list.
 * Adding a tunable is one row here, one paragraph in iosweep-plan(5) and one test.
 */
#ifndef IOSWEEP_AXIS_H
#define IOSWEEP_AXIS_H

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/model.h"

enum axis_kind {
	AXIS_FILESYSTEM, /* ext2 ext3 ext4 xfs btrfs none, or a name under define: */
	AXIS_WORDS,      /* mkfs, mount: option words, checked per family by option.h */
	AXIS_SIZE,       /* bytes; spelt with a unit */
	AXIS_INTEGER,    /* min..max, in unit */
	AXIS_NAME,       /* [a-z0-9_-]+ : a scheduler */
	AXIS_CHOICE,     /* one of choices */
	AXIS_TEXT        /* free text: label.X, WORKLOAD.PARAM */
};

/* Where the kernel keeps it; decides how the worker finds the file (daemon/worker/tunable.c). */
enum axis_place {
	AXIS_NOWHERE, /* label, workload parameter, filesystem and its options */
	AXIS_QUEUE,   /* /sys/block/DISK/queue/ATTR of every bottom disk */
	AXIS_IOSCHED, /* /sys/block/DISK/queue/iosched/ATTR */
	AXIS_BDI,     /* read_ahead_kb of the backing device info that the mounted filesystem uses */
	AXIS_MD,      /* /sys/block/MD/md/ATTR: with the layouts */
	AXIS_VM,      /* /proc/sys/vm/ATTR */
	AXIS_CGROUP   /* memory */
};

struct axis {
	const char *name; /* "readahead", "queue.nr_requests"; "label." and "workload." are families: any suffix */
	enum axis_kind kind;
	enum axis_place place;
	enum step_id step;          /* the step that sets it; N_STEPS: none does (label), or each trial (WORKLOAD.PARAM) */
	const char *attr;           /* file name below the place */
	const char *unit;           /* of the kernel's file: "KiB" "bytes" "ms" "us" "percent" "" ...: canonical sizes are
	                             * bytes all the same; an AXIS_INTEGER stays in the file's unit */
	int64_t min, max;           /* AXIS_INTEGER: inclusive; AXIS_SIZE: bytes */
	int64_t granule;            /* AXIS_SIZE: what the kernel would round to, bytes; other values are refused */
	const char *const *choices; /* AXIS_CHOICE: NULL-terminated */
	const char *about;          /* one line for the manual, with the kernel document it is from */
	const char *not_yet;        /* why a plan may not use it for now; NULL: it may */
};

extern const struct axis axis_table[];
extern const size_t axis_table_n;

/* The row for a full axis name, or NULL.  "label.hw" finds the "label." family.  A name WORKLOAD.PARAM is found by
 * the plan, which knows its workloads: it uses axis_workload. */
const struct axis *axis_find(const char *name);
extern const struct axis axis_workload;
/* PARAM, if the axis is "WORKLOAD.PARAM" of that workload; NULL otherwise. */
const char *axis_parameter(const struct axis *def, const char *name, const char *workload);

/* The name that was probably meant ("nr_requests" -> "queue.nr_requests"), for messages; or NULL. */
const char *axis_nearest(const char *name);

/* Canonical value of one spelling (arena string).  KERNEL_DEFAULT passes.  Sizes become bytes in decimal digits;
 * scheduler names with one successor become it (noop -> none, deadline -> mq-deadline; cfq stays, and is infeasible
 * when applied).  An integer whose unit is a time ("iosched.read_expire", ms) is spelt with it unless its name says it.
 * Not for AXIS_FILESYSTEM and AXIS_WORDS.  Fails with ERR_USAGE and a hint. */
int axis_canonical(const struct axis *axis, const char *spelling, struct arena *a, const char **ret, struct err *e);

#endif
