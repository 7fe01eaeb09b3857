/* SPDX-License-Identifier: MIT
 *
 * Which mkfs and mount options a plan may use, per filesystem family: an allow-list of letters, sub-keys and value
 * grammars.  Nothing that names a path, a second device, a label or UUID, or how errors are handled (design.md, 5).
 */
#ifndef IOSWEEP_OPTION_H
#define IOSWEEP_OPTION_H

#include <stdbool.h>

#include "schema/base/err.h"
#include "schema/base/mem.h"

/* "ext2" "ext3" "ext4" "xfs" "btrfs"; "none" takes no options. */
bool option_family_known(const char *filesystem);

/* Checks the words of a mkfs option list against the family's table. Canonical form: "-b 4096 -E
 * stride=16,stripe-width=192": letters in table order, sub-keys sorted, sizes in bytes where the grammar is a size,
 * later duplicates win.  ret_words: NULL-terminated argv words in canonical order, ready for exec.  Words must have
 * ${...} expanded already.  Fails with ERR_USAGE; the hint lists what the family allows. */
int option_mkfs(const char *filesystem, const char *const *words, size_t n, struct arena *a, const char **ret_canonical,
                char ***ret_words, struct err *e);

/* The same for mount options (each word may hold several, comma-separated): "data=writeback,noatime" sorted.
 * nosuid and nodev are ours and not listed. */
int option_mount(const char *filesystem, const char *const *words, size_t n, struct arena *a,
                 const char **ret_canonical, char ***ret_options, struct err *e);

#endif
