/* SPDX-License-Identifier: MIT
 *
 * Reads and writes one setting of the kernel (a file of sysfs or /proc/sys), with a time limit.
 *
 * A write to a disk's queue waits until the queue is drained, which a sick disk may never be: such writes run in a
 * thread of their own, so that the worker goes on when the limit passes.  That costs 0.05 ms against 16 to 32 ms of
 * the write. A disk with a write that still hangs is left alone: every further access fails at once until it has
 * ended.
 */
#ifndef IOSWEEP_SETTING_H
#define IOSWEEP_SETTING_H

#include <stddef.h>
#include <stdint.h>

#include "schema/base/err.h"

#define SETTING_TEXT 512

/* 30 s; tests make it shorter. */
extern int64_t setting_timeout_ns;

/* The value without the trailing newline; of a choice in brackets ("[none] mq-deadline"), the one chosen. */
int setting_read(const char *path, char *ret, size_t size, struct err *e);
/* As the file has it, with its brackets. */
int setting_read_raw(const char *path, char *ret, size_t size, struct err *e);
/* One write(2).  ERR_INFEASIBLE: no such setting on this device or kernel (ENOENT), or refused as invalid (EINVAL,
 * ERANGE, EOPNOTSUPP); ERR_TIMEOUT: hangs; ERR_DEVICE_LOST, ERR_SYSTEM. */
int setting_write(const char *path, const char *value, struct err *e);
/* Writes only if another value stands there, and reads it back: ERR_MISMATCH if the kernel kept another one. */
int setting_change(const char *path, const char *value, struct err *e);
/* Equal as text or as whole numbers. */
int setting_equals(const char *a, const char *b);

#endif
