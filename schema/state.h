/* SPDX-License-Identifier: MIT
 *
 * What outputs say that describe the state of a machine rather than a measurement: /proc/mdstat, blkid, mkfs,
 * xfs_info, a mount table, blockdev --report.  For saved outputs (`iosweep workloads parse mdstat FILE`); the worker
 * itself asks the kernel, not a text.  Pure.
 */
#ifndef IOSWEEP_STATE_H
#define IOSWEEP_STATE_H

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/base/text.h"

enum state_verdict {
	STATE_OK,
	STATE_SUSPECT,    /* it went through, and is not what was asked for, or cannot be told from this text */
	STATE_FAILED,
	STATE_IDLE,       /* arrays: nothing is going on */
	STATE_BUSY,       /* resync, recovery, reshape, check; or waiting for one */
	STATE_DEGRADED,   /* members are missing; usable */
	STATE_BROKEN,     /* not usable */
	STATE_UNPARSABLE
};
const char *state_verdict_name(enum state_verdict v);

struct state_fact {
	const char *name, *label; /* "sync_percent", "md0" */
	const char *text;         /* of a fact that is no number; else NULL */
	double value;
	const char *unit;
};

struct state {
	enum state_verdict verdict;
	const char *reason;       /* "" if there is nothing to say */
	struct state_fact *at;
	size_t n, cap;
};

/* The kinds of text there are: "mdstat", "blkid", "mkfs", "xfs-info", "mounts", "blockdev". */
extern const char *const state_kinds[];

/* asked: words of the mount options that were asked for, or NULL.  Everything lives in the arena.  Fails with
 * ERR_USAGE for an unknown kind, ERR_TOOL at a pattern's limit. */
int state_parse(const char *kind, const char *text, size_t n, int exit_status, char *const *asked, struct arena *a,
                struct state *ret, struct err *e);

/* ---- between state*.c ---- */
struct state_reader {
	struct arena *arena;
	const char *text;
	size_t n;
	int exit_status;
	char *const *asked;
	struct state *state;
};
void state_number(struct state_reader *r, const char *name, const char *label, double value, const char *unit);
void state_text(struct state_reader *r, const char *name, const char *label, const char *text);
int state_read_mdstat(struct state_reader *r, struct err *e);
int state_read_blkid(struct state_reader *r, struct err *e);
int state_read_mkfs(struct state_reader *r, struct err *e);
int state_read_mounts(struct state_reader *r, struct err *e);
int state_read_blockdev(struct state_reader *r, struct err *e);

/* One search from *at; ret: the groups as arena strings ("" where unset), *at is moved behind the match.
 * 1 found, 0 not, -1 at a limit. */
#define STATE_GROUPS 12
int state_find(struct state_reader *r, const char *pattern, const char *s, size_t n, size_t *at, const char **ret,
               struct err *e);

#endif
