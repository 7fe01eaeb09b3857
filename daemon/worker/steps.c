/* SPDX-License-Identifier: MIT
 *
 * THE step table.  Each pair stands beside what it handles (steps.h); runner.c walks it.  Adding a step: a row here,
 * its place in enum step_id (schema/model.h), and the axes that name it (schema/axis_table.c).
 */
#include "daemon/worker/steps.h"

#include <string.h>

#include "daemon/worker/room.h"
#include "schema/axis.h"

static int claim_run(struct worker *w, struct err *e)
{
	if (target_claim(w, e) < 0 || precondition(w, e) < 0)
		return -1;
	return w->claimed.kind == TARGET_DIRECTORY ? room_directory_attach(w, e) : 0;
}

static int claim_undo(struct worker *w, struct err *e)
{
	int rc = w->claimed.kind == TARGET_DIRECTORY ? room_directory_detach(w, e) : 0;

	return target_release(w, rc == 0 ? e : NULL) < 0 ? -1 : rc;
}

/* True if the cell gives this step something other than the kernel's default to set. */
static bool cell_sets(const struct worker *w, enum step_id step)
{
	for (size_t i = 0; i < w->cell->n; i++) {
		const struct setting *s = &w->cell->at[i];

		if (s->def->step == step && strcmp(s->value, KERNEL_DEFAULT) != 0)
			return true;
	}
	return false;
}

static bool always_applies(const struct worker *w)
{
	(void)w;
	return true;
}

static bool layout_applies(const struct worker *w)
{
	return cell_sets(w, STEP_LAYOUT);
}

static bool queue_applies(const struct worker *w)
{
	return w->claimed.kind != TARGET_DIRECTORY;
}

static bool filesystem_applies(const struct worker *w)
{
	const struct setting *s = cell_get(w->cell, "filesystem");

	return w->claimed.kind != TARGET_DIRECTORY && s != NULL && strcmp(s->value, "none") != 0 &&
	       strcmp(s->value, KERNEL_DEFAULT) != 0;
}

static bool tune_applies(const struct worker *w)
{
	return w->claimed.kind != TARGET_DIRECTORY || cell_sets(w, STEP_TUNE);
}

static bool confine_applies(const struct worker *w)
{
	return cell_needs_step(w->plan, w->cell, STEP_CONFINE);
}

const struct step step_table[N_STEPS] = {
	/* step              name       run            undo           applies */
	[STEP_CLAIM]   = { "claim",   claim_run,     claim_undo,    always_applies },
	[STEP_LAYOUT]  = { "layout",  layout_make,   layout_undo,   layout_applies },
	[STEP_QUEUE]   = { "queue",   queue_apply,   queue_restore, queue_applies },
	[STEP_FORMAT]  = { "format",  format_make,   format_undo,   filesystem_applies },
	[STEP_MOUNT]   = { "mount",   mount_make,    mount_undo,    filesystem_applies },
	[STEP_TUNE]    = { "tune",    tune_apply,    tune_restore,  tune_applies },
	[STEP_CONFINE] = { "confine", confine_enter, confine_leave, confine_applies },
};
