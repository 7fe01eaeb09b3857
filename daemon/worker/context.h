/* SPDX-License-Identifier: MIT
 *
 * What a worker knows while it works: handed to every step.  Fields are written by the module named beside them and
 * read by all.
 */
#ifndef IOSWEEP_CONTEXT_H
#define IOSWEEP_CONTEXT_H

#include "daemon/worker/loop.h"
#include "daemon/worker/tool.h"
#include "daemon/worker/worker.h"
#include "schema/base/err.h"
#include "schema/config.h"
#include "schema/matrix.h"
#include "schema/store.h"

struct helper; /* helper.h */

#define QUEUES_MAX 256

/* What is claimed.  target.c fills it in the claim step and empties it in its undo. */
struct claimed {
	bool is_begun;           /* target_claim ran: the descriptors below mean something */
	enum target_kind kind;
	char name[256];          /* in messages: "device 'md1120' (/dev/sdb)" or "image 4GiB (/dev/loop3)" */
	char node[64];           /* host's node: "/dev/loop3"; "" for a directory */
	char private_node[300];  /* ROOM/dev/NAME, a node of the verified device number made by target.c (root:root 0600), for
	                          * mkfs; root's tools run inside the room too, and tool.c hands them "/dev/NAME" */
	char identity[512];      /* "diskseq=9 wwn=..." as stored with undo entries */
	int fd;                  /* read-only on the verified device, holds the lease (flock); -1 */
	int lease_fd;            /* of the whole disk, if the device is a partition: then this one holds the lease; -1 */
	dev_t devno;             /* of the device to format and mount */
	bool is_written;         /* workloads have had the bare device: what stands on it is this sweep's own */
	bool is_bare;            /* and nothing was made over it since */
	uint64_t diskseq;
	int64_t size_bytes;
	char sysfs[128];         /* "/sys/block/loop3" (of the device itself, also a partition) */
	char *queues[QUEUES_MAX];/* owned: "/sys/block/sdb" of every bottom disk */
	size_t n_queues;
	char directory[256];     /* TARGET_DIRECTORY: its path on the host */
	char image_path[512];    /* TARGET_IMAGE */
	struct loop_state loop;  /* as claimed */
	/* mount.c: */
	int mount_fd;            /* of the mounted root; -1 */
	char mount_path[300];    /* where the worker sees it: always ROOM/target */
	dev_t mount_dev;         /* st_dev of files on it */
	char bdi[160];           /* directory of the bdi in use: "/sys/class/bdi/7:3", or btrfs's own */
	/* format.c: */
	char filesystem[16];     /* type made; "" */
	uint8_t filesystem_uuid[16];
	bool is_lazy;            /* ext: made with lazy initialisation, as the plan asked: settle waits for the thread */
	char *description;       /* owned: what the filesystem's own tool says of it (dumpe2fs -h ...); NULL */
	char *warning;           /* owned: what mkfs complained about although it succeeded; NULL */
};

struct worker {
	const char *config_file;
	struct config *config;
	struct store *store;
	int64_t sweep_id;
	enum worker_duty duty;
	struct sweep sweep;
	struct registry *registry;/* owned: the definitions that the plan names */
	struct plan *plan;
	struct matrix *matrix;
	struct sweep_workload *workloads;
	size_t n_workloads;
	struct arena *arena;     /* lives as long as the worker */
	struct arena *cell_arena;/* lives as long as the cell */
	int host_proc_fd;        /* the host's /proc, for the guard (other mount namespaces) */
	int line_fd;             /* to the daemon; -1 by hand */
	int cancel_fd;           /* readable once the worker was asked to stop (TERM, EOF, cancel) */
	int turn_fd;             /* holds the lock of the one worker at work on this host; -1: not to be given up */
	bool is_target_refused;  /* the target cannot be had as things stand on this host; the plan is sound */
	bool is_parked;          /* hang.c: it was given up, and the sweep ends here for this worker */
	struct tool_env tools;   /* for run; undo uses one that cannot be cancelled */
	struct tool_identity submitter; /* whom workloads run as */
	gid_t node_gid;          /* a group of this sweep's tools alone, whom the target's node lets in: 0 for a directory */
	/* room.c, before the first step: */
	char room[256];          /* root directory of every tool, as the worker sees it: a tmpfs of this mount namespace only */
	char target_dir[300];    /* ROOM/target: mount.c mounts there, tools see /target */
	char device_dir[300];    /* ROOM/dev: holds null, zero ... and, from target.c, the target's node and no other */
	struct helper *helper;   /* owned: what is done as the submitter; NULL in an undo-only worker */
	bool is_node_noted;      /* workplace.c: the journal knows that tools have had the node */
	bool is_bare_noted;      /* bare.c: the journal knows that workloads have written to the bare device */
	bool is_directory_noted; /* workplace.c: the journal knows of the work directory on a directory target */
	char boot_id[40];
	int64_t host_id;

	char private_dir[256];   /* on a tmpfs of the worker's mount namespace, no nodev: nodes and mount points; target.c makes it */
	bool is_preconditioned;  /* precondition.c: the device was written over by this worker */
	bool is_moving_on;       /* undo on the way to the next cell of this sweep: queue_restore, tune_restore and format_undo
	                          * leave alone what the next cell's run sets or overwrites anyway (worker.c sets it) */

	struct claimed claimed;
	bool has_batch;          /* record.c: a transaction is open over records that follow each other at once */
	struct text held_hints;  /* owned: lines for the daemon that wait for its commit */
	int64_t environment_id;  /* sweep.c: of the last cell; 0: not collected yet */
	struct tunables *tunables; /* owned by tunable.c: what was found before the first change; NULL before that */
	int64_t described_ns;    /* of the step just run: how long the tool took that only describes what the step has made */
	char *step_detail;       /* owned: what the step just run wants kept in step_run.detail; steps.c takes it (TAKE) */
	const struct cell *cell; /* the current one */
	int64_t cell_id;
	int64_t ram_bytes;       /* memory limit of the cell, or the host's RAM */
};

#endif
