/* SPDX-License-Identifier: MIT
 *
 * Making filesystems: one row a family.  The step itself is format_make and format_undo (steps.h).
 */
#ifndef IOSWEEP_FORMAT_H
#define IOSWEEP_FORMAT_H

#include "daemon/worker/context.h"
#include "daemon/worker/tool.h"
#include "daemon/worker/tunable.h"

/* Arguments of mkfs for a node, our own options added; argv in the arena, NULL-terminated.  ERR_USAGE for an unknown type.
 * keeps_blocks  mkfs is not to discard the device (which every family does by itself), unless the plan's words say otherwise:
 *               what `precondition` has written would be gone. */
int format_argv(const struct format *f, bool keeps_blocks, const char *uuid, const char *node, struct arena *a,
                char ***ret, struct err *e);
/* Whether the words ask mke2fs for lazy initialisation. */
bool format_is_lazy(const struct format *f);
/* Judges a mkfs that did not exit with 0: ERR_INFEASIBLE for a usage or size error, ERR_BUSY, ERR_TOOL for a device
 * error. */
int format_judge(const char *program, const struct tool_end *end, struct err *e);
/* The first line that tells something; "" if there is none. */
void format_first_line(const char *text, char *ret, size_t size);

/* ---- geometry.c: what was made against what was asked; pure ---- */

/* Reads the description (of dumpe2fs -h, xfs_db info, btrfs inspect-internal dump-super) and compares it with the
 * mkfs words. ret_effective: "block=4096 stripe-unit=65536 ..." as made; ret_why: the first difference. */
enum verdict geometry_verdict(const struct format *f, const char *description, struct text *ret_effective,
                              struct text *ret_why);

/* For settings_verify: verdict on the `filesystem` and `mkfs` axes of the mounted or just made filesystem. */
enum verdict format_verdict(struct worker *w, struct text *ret_effective, struct text *ret_why);

#endif
