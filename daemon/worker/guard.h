/* SPDX-License-Identifier: MIT
 *
 * The guard: may this device be written to? The rules are pure functions over facts, one row of a table each; the
 * facts come from a thin adapter (guard_facts.c).  Asked when a sweep is submitted, at claim, and right before mkfs.
 *
 * There is no flag that turns a rule off.  `erase: yes` of a plan concerns the signature row alone.
 */
#ifndef IOSWEEP_GUARD_H
#define IOSWEEP_GUARD_H

#include "daemon/worker/context.h"
#include "daemon/worker/device.h"

#define GUARD_TEXT 256

/* What the rules look at.  A text is "" where there is nothing to object to; else it completes the row's sentence. */
struct guard_facts {
	char what[400];               /* "device 'md1120' (/dev/sdb)" */
	size_t n_matching;            /* devices of this host with every identity that the list gives */
	char other_match[GUARD_TEXT]; /* their paths, if several */
	bool is_gone;                 /* there is no such device any more */
	char changed[GUARD_TEXT];     /* "diskseq was 9 and is 12": since it was claimed */
	bool is_read_only;
	char root[GUARD_TEXT];        /* "'/dev/sda2'": the part of it that the root filesystem is on */
	char mounted[GUARD_TEXT];     /* "on '/srv' in the mount namespace of process 812" */
	char swap[GUARD_TEXT];        /* "'/dev/sdb2'" */
	char holder[GUARD_TEXT];      /* "'md0'", "'dm-3' (vg-lv)" : as a member or below a mapping */
	char loop[GUARD_TEXT];        /* "'/dev/loop4'": whose backing file it is */
	char pool[GUARD_TEXT];        /* UUID of a mounted btrfs of several devices */
	bool is_busy;                 /* an exclusive open says EBUSY and none of the above tells why */
	struct signature signature;   /* of the device; or of the first of its partitions that has one */
	char signature_path[80];      /* which of them */
	bool is_ours;                 /* its UUID is in this sweep's journal */
	bool may_erase;               /* the plan says `erase: yes` */
};

/* Every reason to refuse, one a line, in the order of the table; false if there is none.  The first line is the error
 * to show.  Pure. */
bool guard_refuses(const struct guard_facts *f, struct text *ret_reasons);
/* The same as ERR_REFUSED (ERR_DEVICE_LOST if the device is gone or is another one now), with a hint. */
int guard_judge(const struct guard_facts *f, struct err *e);

/* The facts of a device now.  GUARD_SIGNATURES: of the device and its partitions; reads them.  GUARD_EXCLUSIVE: tries
 * an exclusive open as well, which waits up to a second for a probing udevd.  GUARD_QUICK: tries that first; if it
 * succeeds the device is mounted nowhere and is no swap, since both claim it (bd_prepare_to_claim() in block/bdev.c),
 * and the namespaces of the host, which take longer than all the rest, are not searched.  Not so for a listed loop
 * device (with GUARD_SIGNATURES): what it stands on can be mounted without it. */
enum { GUARD_SIGNATURES = 1, GUARD_EXCLUSIVE = 2, GUARD_QUICK = 4 };
int guard_facts_read(const struct device *d, int host_proc_fd, unsigned flags, struct guard_facts *ret, struct err *e);

/* At submit and claim: finds the listed device and asks.  ours: UUIDs of this sweep's journal (n of them, 16 bytes
 * each). */
struct guard_ask {
	const struct config_device *listed;
	bool may_erase;
	int host_proc_fd;
	const uint8_t (*ours)[16];
	size_t n_ours;
};
int guard_ask(const struct guard_ask *ask, struct device *ret, struct err *e);
/* Right before a destructive step, for what is claimed: also that it is still the same device.  For an image, that
 * the loop device is the one attached by us and still has our file.  ret: what the device carries (nothing for an
 * image). */
int guard_ask_again(struct worker *w, struct signature *ret, struct err *e);

/* UUIDs of the filesystems that this sweep made and has not wiped; arena. */
int guard_journal(struct worker *w, struct arena *a, uint8_t (**ret)[16], size_t *ret_n, struct err *e);

#endif
