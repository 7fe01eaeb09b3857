/* SPDX-License-Identifier: MIT
 *
 * The inside of a matrix.  A cell is a position (a number) that is turned into digits, one for each dimension of its
 * block, and the digits into ids, one for each axis of the plan.  Two cells are equal if their ids are; an id stands
 * for one canonical value of one axis.  Nothing is stored per cell.
 *
 * filesystem, mkfs and mount need care: the cell's mkfs options are those of the filesystem and of the mkfs axis
 * together, so two points of a block may be one cell, and a combination may be one that the family does not allow.
 * Their final values are kept per pair of values (struct combination), made when the first cell needs them.
 */
#ifndef IOSWEEP_MATRIX_PRIVATE_H
#define IOSWEEP_MATRIX_PRIVATE_H

#include "schema/matrix.h"

#define AXES_MAX CELL_SETTINGS_MAX

/* Texts <-> small numbers from 0. */
struct intern {
	const char **at; /* owned; texts are borrowed */
	size_t n, cap;
	uint32_t *slots; /* owned; index + 1, 0: free */
	size_t n_slots;  /* a power of two */
};
uint32_t intern_id(struct intern *t, const char *text);
#define INTERN_NONE UINT32_MAX
uint32_t intern_find(const struct intern *t, const char *text); /* or INTERN_NONE */
void intern_done(struct intern *t);

struct matrix_axis {
	const char *name;
	const struct axis *def;
	struct intern own;   /* values as the plan's axes name them; id 0 is KERNEL_DEFAULT */
	struct intern final; /* of filesystem, mkfs and mount: values of cells; id 0 is KERNEL_DEFAULT */
	uint32_t first;      /* id in the first cell */
	bool varies;         /* some cell has another */
};

enum combination_state { COMBINATION_NEW, COMBINATION_GOOD, COMBINATION_BAD };
struct combination {
	enum combination_state state;
	uint32_t final;
	const char *requested; /* arena */
};

struct id_index {
	uint32_t id, index;
};

/* One axis of a block. */
struct block_axis {
	const struct plan_axis *src;
	size_t axis;              /* into matrix.axes */
	size_t dim;               /* which digit selects its value */
	uint32_t *own;            /* id of each value */
	struct id_index *by_own;  /* the same, sorted by id */
};

/* What one digit selects: a value of one axis, or a row of the zip. */
struct dim {
	size_t radix, first, n_axes; /* of block.axes */
	enum step_id step;           /* lowest of its axes */
	uint64_t stride;             /* of the position; one-at-a-time: where its values begin, less one */
};

struct block {
	const struct plan_block *src;
	struct block_axis *axes;  /* as in src; zipped ones first */
	struct dim *dims;         /* slowest first */
	size_t n_dims;
	uint64_t first, n;        /* positions */
	int filesystem, mkfs, mount;   /* into axes; -1: absent */
	uint32_t *types;               /* [filesystem value]: final id */
	struct combination *mkfs_of;   /* [filesystem value][mkfs value]; NULL without a filesystem */
	struct combination *mount_of;
	bool may_repeat;          /* two of its points could be one cell */
	bool is_unique;           /* found by counting: no point is an earlier cell, so that walks need not look */
	const int *axis_of;       /* matrix.axes -> axes, -1: absent */
};

struct exclude_axis {
	size_t axis;     /* into matrix.axes */
	uint32_t *own;   /* ids, sorted */
	size_t n;
};

struct exclude {
	struct exclude_axis *axes;
	size_t n;
};

struct matrix {
	const struct plan *plan;
	struct arena *arena;
	struct matrix_axis axes[AXES_MAX]; /* sorted by name */
	size_t n_axes;
	size_t filesystem, mkfs, mount;    /* into axes */
	struct block *blocks;
	size_t n_blocks;
	struct exclude *excludes;
	size_t n_excludes;
	uint64_t n_positions, n_cells;
};

/* One position, taken apart. */
struct point {
	uint64_t position;
	const struct block *block;
	size_t digit[AXES_MAX];
	uint32_t id[AXES_MAX]; /* final values, by matrix.axes; INTERN_NONE: the combination is not allowed */
};

void point_digits(const struct matrix *m, uint64_t position, struct point *ret);
uint64_t point_position(const struct point *pt);
/* Ids from digits; the combinations it needs must have been made. */
void point_ids(const struct matrix *m, struct point *pt);
bool point_is_excluded(const struct matrix *m, const struct point *pt);
/* Whether an earlier position, not excluded, is the same cell. */
bool point_is_repeated(const struct matrix *m, const struct point *pt);
/* Index of the value of an axis that a point has, 0 for an absent axis. */
size_t point_value(const struct point *pt, int block_axis);
struct combination *block_combination(const struct block *b, bool is_mount, size_t filesystem, size_t words);

#endif
