/* SPDX-License-Identifier: MIT
 *
 * A plan: the YAML of iosweep-plan(5) as structs.  Reading checks everything that can be known without the machine;
 * all faults of a file are reported at once, each with line and column.
 */
#ifndef IOSWEEP_PLAN_H
#define IOSWEEP_PLAN_H

#include "schema/axis.h"
#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/model.h"
#include "schema/workload.h"
#include "schema/yaml.h"

/* A value under define: filesystem: (or a bare type, which defines itself without options). */
struct filesystem {
	const char *name; /* as the plan says it */
	const char *type; /* ext2 ext3 ext4 xfs btrfs none */
	char **mkfs;      /* words as written, NULL-terminated; plan_expand replaces ${...} */
	char **mount;
	int line, column; /* 0: a bare type */
};

struct axis_value {
	const char *requested; /* spelling(s); equal canonical values in one list are one value with both spellings */
	const char *value;     /* canonical; AXIS_FILESYSTEM: its name; AXIS_WORDS: words as written joined by blanks, KERNEL_DEFAULT
	                        * if there are none; what the cell gets is made of both, per family (matrix.h) */
	const struct filesystem *filesystem; /* AXIS_FILESYSTEM */
	char **words;          /* AXIS_WORDS: as written, NULL-terminated */
	int line, column;
};

struct plan_axis {
	const char *name;
	const struct axis *def;
	struct axis_value *values;
	size_t n;
	int line, column;
};

/* One row of a zip: a value for each of its axes (indices into plan_axis.values). */
struct plan_block {
	struct plan_axis *axes; /* in the order written; zipped axes are marked */
	size_t n;
	size_t n_zip_rows;      /* > 0: the first n_zipped axes have n_zip_rows values each that go together */
	size_t n_zipped;
	bool one_at_a_time;
	int line, column;
};

struct plan_pattern { /* meets a cell that has, for every axis named, one of its values */
	struct plan_axis *axes;
	size_t n;
};

struct plan_workload {
	const char *name;                 /* as: or the definition's name */
	const struct workload *definition;/* owned by the plan's arena or the registry */
	struct workload_param *params;    /* all parameters of the definition, the plan's values in */
	size_t n_params;
	struct plan_pattern only;         /* cells that it is measured in; n 0: in all */
	const struct node *only_node;     /* as written; read when the matrix is known */
	struct workload_param *rehearse;  /* what the plan's rehearse: says of it */
	size_t n_rehearse;
	int line, column;
};

enum order { ORDER_NESTED, ORDER_ROUNDS, ORDER_RANDOM };
enum fresh { FRESH_CELL, FRESH_FILESYSTEM, FRESH_TRIAL };

struct plan {
	struct arena *arena; /* owns all below */
	const char *name, *about;
	struct target target;
	int64_t stripe_unit_bytes; /* geometry: 0: not said */
	int64_t data_disks;        /* geometry: 0: not said */
	struct filesystem *filesystems; /* define: */
	size_t n_filesystems;
	struct plan_block *blocks;
	size_t n_blocks;
	struct plan_pattern *excludes;
	size_t n_excludes;
	struct plan_workload *workloads;
	size_t n_workloads;
	struct workload **own;          /* definitions of `command` workloads; freed with the plan */
	size_t n_own;

	int trials;               /* repetitions; default 3 */
	enum keep keep;           /* default KEEP_MEDIAN */
	enum order order;         /* default ORDER_NESTED */
	uint64_t random_seed;     /* default 1 */
	enum fresh fresh;         /* default FRESH_CELL */
	int64_t timeout_ns;       /* per trial; default 1 h */
	int64_t settle_ns;        /* longest wait for a quiet machine before a trial; default 5 min; 0: no wait at all */
	bool stop_on_failure;     /* on-failure: stop */
	bool precondition;        /* the device is written over once before the first trial */
	int priority;             /* -100..100, default 0 */
	int64_t rehearse_image_bytes; /* rehearse: 0: not said */
	int rehearse_trials;          /* rehearse: 0: not said */
	bool is_rehearsal;            /* plan_rehearse was called */
	int64_t memory_max_bytes;     /* of a rehearsal: no cell's workloads get more; 0: no such limit */
};

/* Where workload definitions come from: name -> definition.  See workload.h. */
struct registry;

/* Reads and checks a plan.  ret: to be freed by plan_free.  Fails with -1 and diagnostics in d. */
int plan_read(const char *data, size_t n, const struct registry *workloads, struct diags *d, struct plan **ret);
void plan_free(struct plan *p);

/* Turns a plan into its rehearsal (submit --rehearse): cells and tools stay; the target is an image (or the directory
 * as before), sizes and counts of the workloads are small, so is the memory they get, there is one trial unless the
 * plan says more.  Before a matrix is made of it; not to be repeated. */
void plan_rehearse(struct plan *p);
/* A parameter's value in a rehearsal, given the plan's or a cell's. */
const char *plan_rehearsed(const struct plan_workload *w, const char *name, const char *value);
/* What results are kept by: workload_digest; for a rehearsal another one, so that its figures meet no real ones. */
void plan_workload_digest(const struct plan *p, const struct plan_workload *w, uint8_t ret[32]);

/* Replaces ${...} in option words (arena): ${stripe_unit} in bytes, ${stripe_unit:KiB} and :B :MiB :GiB, ${data_disks},
 * ${stride} = stripe unit / block size, ${stripe_width} = stride x data disks, both in filesystem blocks (mke2fs(8),
 * -E).  The block size is that of a -b among the words, else 4096.  Fails with ERR_USAGE. */
int plan_expand(const struct plan *p, char *const *words, struct arena *a, char ***ret, size_t *ret_n, struct err *e);

const char *order_name(enum order order);
const char *fresh_name(enum fresh fresh);

#endif
