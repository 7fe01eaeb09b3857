/* SPDX-License-Identifier: MIT
 *
 * The place of arrays and volumes in a cell's life: between claiming the members and setting their queues.  A plain
 * device, an image and a directory are their own layout, so there is nothing to do and nothing to undo; md and LVM
 * layouts come in here with the axis `layout`.
 */
#include "daemon/worker/steps.h"

int layout_make(struct worker *w, struct err *e)
{
	return err_set(e, ERR_INFEASIBLE, "%s: layouts are not built by this version", w->claimed.name);
}

int layout_undo(struct worker *w, struct err *e)
{
	(void)w;
	(void)e;
	return 0;
}
