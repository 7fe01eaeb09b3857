/* SPDX-License-Identifier: MIT
 *
 * A directory of this process alone, for files that are gone when it ends: below TMPDIR, else in /var/tmp, where
 * large files have their place.  Its lock (flock(2)) tells whether its process still lives: what a killed one left is
 * removed by the next that makes one.
 */
#ifndef IOSWEEP_SCRATCH_H
#define IOSWEEP_SCRATCH_H

#include "schema/base/err.h"

struct scratch {
	char *dir; /* owned */
	int fd;    /* of dir, locked */
};
int scratch_make(struct scratch *ret, struct err *e);
/* "DIR/NAME", for free(3). */
char *scratch_file(const struct scratch *s, const char *name);
/* Removes the directory and the files in it; a zeroed one is fine. */
void scratch_done(struct scratch *s);
#define AUTO_SCRATCH __attribute__((cleanup(scratch_done)))

#endif
