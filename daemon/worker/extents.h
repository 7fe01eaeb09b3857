/* SPDX-License-Identifier: MIT
 *
 * Where the data of a work directory is: which bytes a read would find on the device at all.  A file that was only made
 * long, or preallocated, is read at the speed of memory, whatever the disk.
 */
#ifndef IOSWEEP_EXTENTS_H
#define IOSWEEP_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"

/* Sums over the regular files of a tree, in bytes. */
struct extents {
	int64_t bytes;     /* lengths of the files */
	int64_t holes;     /* without any extent */
	int64_t unwritten; /* preallocated (FIEMAP_EXTENT_UNWRITTEN): fallocate(2) */
	int64_t encoded;   /* stored compressed (FIEMAP_EXTENT_ENCODED): btrfs */
};

/* Looks at the files below path, which it never leaves, by FIEMAP (kernel Documentation/filesystems/fiemap.rst);
 * delayed allocation is written out first.  Files of a filesystem without it, and those beyond the first
 * EXTENTS_FILES_MAX, are not counted.  Called as the submitter, in the helper. */
#define EXTENTS_FILES_MAX 20000
int extents_scan(const char *path, struct extents *ret, struct err *e);

#endif
