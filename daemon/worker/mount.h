/* SPDX-License-Identifier: MIT
 *
 * Mounting, and what the kernel made of the options.  The step itself is mount_make and mount_undo (steps.h).
 */
#ifndef IOSWEEP_MOUNT_H
#define IOSWEEP_MOUNT_H

#include "daemon/worker/context.h"
#include "daemon/worker/tunable.h"

/* ---- mount_verdict.c: options against what the kernel shows; pure ---- */

/* wanted: NULL-terminated "key" or "key=value"; shown: mountinfo's options of the mount and of the superblock, commas
 * between; proc: /proc/fs/ext4/DEV/options, one a line, or "".  The worst verdict of all options is returned; ret_why
 * names the option and what was found.  Implied: not shown, but nothing contrary is, and it is the default. */
enum verdict mount_options_verdict(char *const *wanted, const char *shown, const char *proc, struct text *ret_why);

/* For settings_verify: effective options and verdict of the mounted filesystem. */
enum verdict mount_verdict(struct worker *w, struct text *ret_effective, struct text *ret_why);

/* How long an unmount waits for others to let go; 10 s, tests make it shorter. */
extern int64_t mount_busy_wait_ns;
/* Opens a device exclusively, waiting as long for whoever has it: the mounts of a worker that was killed go a moment
 * after it.  access: O_RDONLY or O_RDWR.  -1 with errno. */
int device_open_alone(const char *node, int access);

#endif
