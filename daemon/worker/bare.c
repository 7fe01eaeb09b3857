/* SPDX-License-Identifier: MIT
 *
 * What workloads leave on a bare device; see bare.h.
 */
#include "daemon/worker/bare.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "daemon/worker/device.h"
#include "daemon/worker/mount.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/target.h"

int bare_note(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;
	AUTO_TEXT struct text loop = { 0 };

	c->is_written = c->is_bare = true;
	if (w->is_bare_noted || c->kind != TARGET_DEVICE)
		return 0;
	loop_state_format(&c->loop, &loop);
	if (undo_save(w, STEP_CLAIM, "bare", c->node, text_str(&loop), e) < 0)
		return -1;
	w->is_bare_noted = true;
	return 0;
}

int bare_finish(struct worker *w, struct err *e)
{
	w->claimed.is_bare = false;
	if (!w->is_bare_noted)
		return 0;
	if (journal_finish(w, "bare", NULL, e) < 0)
		return -1;
	w->is_bare_noted = false;
	return 0;
}

static int node_wipe(const char *node, const char *name, struct err *e)
{
	AUTO_CLOSE int fd = device_open_alone(node, O_RDWR);
	int n;

	if (fd < 0)
		return err_sys(e, errno, "wipe the signatures on %s", name);
	return signature_wipe(fd, NULL, &n, e) < 0 ? err_in(e, "%s", name) : 0;
}

int bare_wipe(struct worker *w, struct err *e)
{
	const struct claimed *c = &w->claimed;

	if (!c->is_bare || c->kind != TARGET_DEVICE || target_is_there(w, NULL) < 0)
		return 0;
	if (node_wipe(c->private_node, c->name, e) < 0)
		return target_is_there(w, NULL) < 0 ? 0 : -1; /* it may have died under this, which is the same */
	return bare_finish(w, e);
}

static int loop_put_back(const struct device *d, const char *original, struct err *e)
{
	struct loop_state was;
	AUTO_CLOSE int fd = -1;

	if (!loop_state_parse(original, &was))
		return 0;
	fd = open(d->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(e, errno, "open '%s'", d->path);
	return loop_state_restore(fd, &was, e);
}

/* Nothing of the kind is there: then nothing need be said. */
static bool is_clean(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct signature s;

	return fd >= 0 && signature_read(fd, &s, NULL) == 0 && s.type[0] == '\0';
}

int bare_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	struct device d;

	*ret_dropped = NULL;
	if (strcmp(u->boot_id, w->boot_id) != 0 || !target_of_entry(u, &d)) {
		*ret_dropped = "a workload had written to the bare device, which may carry a signature of its making: see wipefs(8)";
		return 0;
	}
	if (loop_put_back(&d, u->original, e) < 0)
		return -1;
	if (w->duty == WORKER_UNDOES_A_CRASH)
		return node_wipe(d.path, d.path, e);
	if (!is_clean(d.path))
		*ret_dropped = "it carries a signature, of a workload that wrote to it or of somebody since: see wipefs(8)";
	return 0;
}
