/* SPDX-License-Identifier: MIT
 *
 * Directories that unit tests make below /tmp.
 */
#ifndef IOSWEEP_TESTS_TREE_H
#define IOSWEEP_TESTS_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

static inline int tree_entry_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

/* With all that is in it; not into what is mounted there. */
static inline int tree_remove(const char *dir)
{
	return nftw(dir, tree_entry_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

#endif
