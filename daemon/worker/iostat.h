/* SPDX-License-Identifier: MIT
 *
 * What a block device has moved, from its stat file (kernel Documentation/admin-guide/iostats.rst): the counters are
 * never reset, so only differences mean something.
 */
#ifndef IOSWEEP_IOSTAT_H
#define IOSWEEP_IOSTAT_H

#include "daemon/worker/context.h"

struct io_bytes {
	int64_t read, written;
};

/* The counters of a trial: the target's own, and those of the disks below it. */
struct io_count {
	bool is_known;          /* false for a directory whose device has no such file */
	struct io_bytes target;
	struct io_bytes disk;   /* of the whole disk, if the target is a partition; else equal to target */
};

void iostat_read(const struct worker *w, struct io_count *ret);
/* Parses one stat file's text; false if it is none. */
bool iostat_parse(const char *text, struct io_bytes *ret);

#endif
