/* SPDX-License-Identifier: MIT
 *
 * What the files plan*.c share while they read one plan.  Every reader adds its faults to d and goes on, so that all of
 * a file's faults come at once; what it could not read stays at its default.
 */
#ifndef IOSWEEP_PLAN_PRIVATE_H
#define IOSWEEP_PLAN_PRIVATE_H

#include "schema/plan.h"

struct plan_reader {
	struct plan *p;
	struct arena *a; /* the plan's */
	struct diags *d;
	const struct registry *registry; /* NULL: no definitions are known */
	const char *data;                /* the text, for definitions inside the plan */
	size_t n_data;
	const struct node *memory;       /* top-level memory:, an axis of every block */
};

/* A fault at a node. */
#define PLAN_FAULT(r, node, ...) diags_add((r)->d, (node)->line, (node)->column, __VA_ARGS__)
/* "context: text: hint" at a node. */
void plan_fault_err(struct plan_reader *r, const struct node *node, const char *context, const struct err *e);
/* Text of a scalar that is not empty; else a fault ("'KEY' takes WHAT, not a list") and NULL. */
const char *plan_scalar(struct plan_reader *r, const struct node *node, const char *key, const char *what);
/* [A-Za-z0-9][A-Za-z0-9._-]*, at most 64 bytes; else a fault and NULL. */
const char *plan_name(struct plan_reader *r, const struct node *node, const char *key);
/* The size of an image; how many trials. */
void plan_image_size(struct plan_reader *r, const struct node *node, int64_t *ret_bytes);
void plan_trials(struct plan_reader *r, const struct node *node, int *ret);
/* Option words: a string to be split, or a list of words.  NULL-terminated; NULL after a fault. */
char **plan_words(struct plan_reader *r, const struct node *node, const char *key);

void plan_read_define(struct plan_reader *r, const struct node *node);
void plan_read_workloads(struct plan_reader *r, const struct node *node);
void plan_read_matrix(struct plan_reader *r, const struct node *node);
void plan_read_only(struct plan_reader *r); /* of all workloads; after the matrix */
void plan_read_rehearse(struct plan_reader *r, const struct node *node);
void plan_read_exclude(struct plan_reader *r, const struct node *node);

/* The row of an axis as this plan may use it; a fault at key and NULL if it may not (plan_axis.c). */
const struct axis *plan_find_axis(struct plan_reader *r, const struct node *key);
/* The values of one axis: a scalar or, unless is_single, a list of them.  -1 after a fault. */
int plan_axis_values(struct plan_reader *r, const struct node *key, const struct node *node, bool is_single,
                     struct plan_axis *ret);
/* A parameter that the definition gives as a size ("4KiB", "2x ram") must be one with its unit in the plan, too.
 * -1 after a fault. */
int plan_check_parameter(struct plan_reader *r, const struct node *node, const char *name, const char *standard);
/* Makes every argument list once, with each value of the axes that vary its parameters; a fault for each that cannot
 * be made (plan_expansion.c).  For a plan without faults so far. */
void plan_check_expansion(struct plan_reader *r);
const struct filesystem *plan_find_filesystem(const struct plan *p, const char *name);

#endif
