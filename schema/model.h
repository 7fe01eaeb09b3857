/* SPDX-License-Identifier: MIT
 *
 * The words of iosweep as plain structs: what a reader of any other file should know first.
 *
 *   plan -> matrix -> cell -> config          what to do        (plan.h, matrix.h)
 *   sweep -> trial -> measurement -> result   what came out     (store.h)
 *   target, device                            where             (config.h, device.h of the worker)
 */
#ifndef IOSWEEP_MODEL_H
#define IOSWEEP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_DEFAULT "kernel-default" /* canonical value of an axis that is left as found */

/* The steps of a cell's life, bottom to top.  Each has run and undo in daemon/worker/steps.c; an axis names the step
 * that sets it.  From one cell to the next, steps are undone from the top down to the first whose axes differ. */
enum step_id {
	STEP_CLAIM,   /* guard, lease; attaches an image */
	STEP_LAYOUT,  /* arrays and volumes; a plain device has nothing to do here */
	STEP_QUEUE,   /* scheduler first, then the other attributes of every bottom queue */
	STEP_FORMAT,  /* mkfs */
	STEP_MOUNT,   /* fsopen, fsconfig, fsmount */
	STEP_TUNE,    /* readahead of the bdi in use, sysctls */
	STEP_CONFINE, /* memory limit */
	N_STEPS
};
const char *step_name(enum step_id step); /* "claim" "layout" ... as stored in step_run.step; in axis.c */

/* One axis of one cell.  Strings belong to the matrix's plan. */
struct axis; /* axis.h */
struct setting {
	const char *axis;       /* full name: "readahead", "queue.nr_requests", "label.hw", "dd-write.bs" */
	const struct axis *def; /* its row in the table of axes */
	const char *requested;  /* the plan's spelling(s), joined by ", " */
	const char *value;      /* canonical, or KERNEL_DEFAULT */
};

#define CELL_SETTINGS_MAX 64
struct cell {
	uint64_t position; /* from 0, in the plan's own enumeration: stable however the order is chosen */
	size_t n;
	struct setting at[CELL_SETTINGS_MAX]; /* sorted by axis name */
};

/* How a result is made of its trials. */
enum keep { KEEP_MEDIAN, KEEP_MEAN, KEEP_SINGLE /* imported single figures */ };
const char *keep_name(enum keep keep); /* in stats.c */

enum better { BETTER_HIGHER, BETTER_LOWER, BETTER_NEITHER };
const char *better_name(enum better better); /* in stats.c */

enum target_kind { TARGET_DEVICE, TARGET_IMAGE, TARGET_DIRECTORY };

/* What a plan asks to work on. */
struct target {
	enum target_kind kind;
	const char *name;    /* device or directory: its name in the host's configuration */
	int64_t image_bytes; /* image */
	bool direct;         /* image: loop device with direct I/O; default yes */
	bool erase;          /* device: a signature on it may be destroyed */
	bool keep_filesystem;/* do not wipe the signature at the end of the sweep */
};

#endif
