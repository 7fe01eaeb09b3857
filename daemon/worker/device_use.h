/* SPDX-License-Identifier: MIT
 *
 * What a block device is used for at the moment: by mounts of any namespace, swap, arrays, mappings, loop devices.
 * Reads only.  The device itself, its partitions, and the disk of a partition are looked at; for a loop device also
 * other loop devices over the same file, and the block device or swap file that it stands on.
 */
#ifndef IOSWEEP_DEVICE_USE_H
#define IOSWEEP_DEVICE_USE_H

#include "daemon/worker/device.h"

/* "" where it is not used that way; else the text that completes "mounted ...", "held by ..." (guard.h). */
struct device_use {
	char root[256], mounted[256], swap[256], holder[256], loop[256], pool[256];
};

/* host_proc_fd: a directory descriptor of the host's /proc (proc_pid_mountinfo(5)): all its processes' namespaces are
 * read, each once.  A process that ends meanwhile is skipped.  A namespace that no process is in (kept by a bind mount)
 * is found by the exclusive open that the guard tries besides. */
int device_use_read(const struct device *d, int host_proc_fd, struct device_use *ret, struct err *e);

/* Kernel names of the disks at the bottom: the disk of a partition, the members of an array or mapping, and of those
 * again; at most max.  Returns their number. */
size_t device_bottoms(const struct device *d, char (*ret)[DEVICE_NAME], size_t max);

#endif
