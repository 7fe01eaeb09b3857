/* SPDX-License-Identifier: MIT
 *
 * Who on this host still holds what a sweep is about to give back.  Looks through every process's working directory,
 * root, descriptors and mapped files (proc(5)).
 *
 * A block device that somebody has open is as good as any other to the kernel: nothing like the EBUSY of an unmount
 * stands in the way of its next use, and whoever holds it reads and writes what comes to stand on it.  So it is
 * looked for.
 */
#ifndef IOSWEEP_HOLDER_H
#define IOSWEEP_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* The target's node in the room's /dev, "target-7-3": the kernel says of a mapping or of a place in an io_uring no more than
 * the name of the file, so that the name says which device it is.  /dev/target is a link to it. */
#define NODE_LINK "target"
#define NODE_NAME_TEXT 32
const char *holder_node_name(dev_t devno, char buf[NODE_NAME_TEXT]);

/* Files of a filesystem.  ret: "process 812 (bash), working directory"; false if nobody is found.  proc_fd: the host's
 * /proc. */
bool holder_of_filesystem(int proc_fd, dev_t dev, char *ret, size_t size);

/* The device, through the node that workloads are given: a descriptor, a mapping, a place in an io_uring.  Of the
 * processes of `uid` every thread is looked at, since a thread can have descriptors of its own, and so are their
 * sockets: descriptors on their way from one process to another are in no table (unix(7); "scm_fds" in
 * /proc/PID/fdinfo since Linux 5.13). */
bool holder_of_node(int proc_fd, dev_t devno, uid_t uid, char *ret, size_t size);

#endif
