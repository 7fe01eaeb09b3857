/* SPDX-License-Identifier: MIT
 *
 * What can be changed of a loop device by whoever may write to it: no privilege is asked for (lo_ioctl() in the
 * kernel's drivers/block/loop.c; loop(4)).  A workload on the bare device may, so it is put back.
 */
#ifndef IOSWEEP_LOOP_H
#define IOSWEEP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

struct loop_state {
	bool is_loop;               /* the rest means something */
	uint64_t offset, sizelimit; /* bytes */
	uint32_t flags;             /* LO_FLAGS_* */
	int block_bytes;            /* logical */
	uint8_t partitions[32];     /* a bit each, that of number 1 first; the kernel has no more than 256 (DISK_MAX_PARTS) */
};

/* Of what fd is open on; is_loop is false for any other device. */
struct loop_state loop_state_read(int fd);
/* Puts back what differs, and removes the partitions that a scan has made.  That it would make them again stays until
 * the device is detached: the kernel does not let LO_FLAGS_PARTSCAN be taken back. */
int loop_state_restore(int fd, const struct loop_state *was, struct err *e);
/* As a line for the journal, "" for what is no loop device, and back; false if it is none. */
void loop_state_format(const struct loop_state *s, struct text *ret);
bool loop_state_parse(const char *line, struct loop_state *ret);
/* Detaches every loop device whose backing file's name is `name`; the last to have it open makes it so. */
int loop_detach(const char *name, struct err *e);

#endif
