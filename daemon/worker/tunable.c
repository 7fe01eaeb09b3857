/* SPDX-License-Identifier: MIT
 *
 * The steps `queue` and `tune`: a cell's values into the kernel's files; see tunable.h.
 *
 * Order matters.  The scheduler comes first, since a switch resets nr_requests and everything below iosched/;
 * read-ahead comes last, since a write to a queue limit computes it anew (blk_apply_bdi_limits() in the kernel's
 * block/blk-settings.c). A value that already stands is not written: the kernel drains the queue for it all the same,
 * 16 to 32 ms.
 */
#include "daemon/worker/tunable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/worker/hang.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

struct tunables *tunables_of(struct worker *w)
{
	if (w->tunables == NULL)
		w->tunables = xcalloc(1, sizeof(*w->tunables));
	return w->tunables;
}

void tunables_free(struct worker *w)
{
	struct tunables *t = w->tunables;

	if (t == NULL)
		return;
	free(t->originals.at);
	free(t->found.at);
	for (size_t i = 0; i < t->n_verified; i++)
		free(t->verified[i].effective);
	free(t->write_caches);
	free(t);
	w->tunables = NULL;
}

const struct replaced *replaced_find(const struct replaced_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->at[i].path, path) == 0)
			return &l->at[i];
	return NULL;
}

void replaced_add(struct replaced_list *l, const char *path, const char *value)
{
	if (replaced_find(l, path) != NULL)
		return;
	ARRAY_GROW(l->at, l->n, l->cap);
	path_format(l->at[l->n].path, TUNABLE_PATH, "%s", path);
	path_format(l->at[l->n++].value, SETTING_TEXT, "%s", value);
}

void replaced_remove(struct replaced_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->at[i].path, path) == 0) {
			l->at[i] = l->at[--l->n];
			return;
		}
}

void found_below_forget(struct worker *w, const char *dir)
{
	for (size_t i = w->tunables == NULL ? 0 : w->tunables->found.n; i-- > 0;)
		if (dir[0] != '\0' && text_starts(w->tunables->found.at[i].path, dir))
			replaced_remove(&w->tunables->found, w->tunables->found.at[i].path);
}

void claimed_disk(const struct claimed *c, char *ret, size_t size)
{
	size_t skip = strlen("/sys/block/");

	if (!text_starts(c->sysfs, "/sys/block/"))
		path_format(ret, size, "%s", "");
	else
		path_format(ret, size, "%.*s", (int)(skip + strcspn(c->sysfs + skip, "/")), c->sysfs);
}

static size_t queue_paths(const struct worker *w, const char *below, const char *attr, char (*ret)[TUNABLE_PATH],
                          size_t max)
{
	size_t n = w->claimed.n_queues < max ? w->claimed.n_queues : max;

	for (size_t i = 0; i < n; i++)
		path_format(ret[i], TUNABLE_PATH, "%s/%s/%s", w->claimed.queues[i], below, attr);
	return n;
}

/* Without a mounted filesystem (`filesystem: none`) the device's own is in use; its file below queue/ is the same
 * value. */
static size_t bdi_path(const struct worker *w, const char *attr, char (*ret)[TUNABLE_PATH])
{
	char disk[128];

	if (w->claimed.kind == TARGET_DIRECTORY)
		return 0;
	if (text_starts(w->claimed.bdi, "/sys/fs/btrfs/")) {
		path_format(ret[0], TUNABLE_PATH, "%s/%s", w->claimed.bdi, attr);
		return 1;
	}
	claimed_disk(&w->claimed, disk, sizeof(disk));
	path_format(ret[0], TUNABLE_PATH, "%s/queue/%s", disk, attr);
	return disk[0] != '\0';
}

size_t tunable_paths(const struct worker *w, const struct axis *def, char (*ret)[TUNABLE_PATH], size_t max)
{
	switch (def->place) {
	case AXIS_QUEUE:
		return queue_paths(w, "queue", def->attr, ret, max);
	case AXIS_IOSCHED:
		return queue_paths(w, "queue/iosched", def->attr, ret, max);
	case AXIS_BDI:
		return bdi_path(w, def->attr, ret);
	case AXIS_VM:
		path_format(ret[0], TUNABLE_PATH, "/proc/sys/vm/%s", def->attr);
		return 1;
	case AXIS_MD: /* with the layouts: the plan refuses it until then */
	case AXIS_CGROUP: /* confine.c */
	case AXIS_NOWHERE:
		return 0;
	}
	return 0;
}

size_t tunable_paths_max(const struct worker *w)
{
	return w->claimed.n_queues > 1 ? w->claimed.n_queues : 1;
}

static int64_t unit_bytes(const struct axis *def)
{
	return strcmp(def->unit, "KiB") == 0 ? 1024 : strcmp(def->unit, "sectors") == 0 ? 512 : 1;
}

void tunable_to_kernel(const struct axis *def, const char *value, char *ret, size_t size)
{
	int64_t v;

	if (def->kind == AXIS_SIZE && integer_parse(value, 0, INT64_MAX, &v) == 0)
		path_format(ret, size, "%lld", (long long)(v / unit_bytes(def)));
	else
		path_format(ret, size, "%s", value);
}

void tunable_from_kernel(const struct axis *def, const char *text, char *ret, size_t size)
{
	int64_t v;

	if (def->kind == AXIS_SIZE && integer_parse(text, 0, INT64_MAX / 1024, &v) == 0)
		path_format(ret, size, "%" PRId64, v * unit_bytes(def));
	else
		path_format(ret, size, "%s", text);
}

/* ---- setting ---- */

static bool is_default(const struct setting *s)
{
	return s == NULL || strcmp(s->value, KERNEL_DEFAULT) == 0;
}

static bool is_scheduler(const struct axis *def)
{
	return def->place == AXIS_QUEUE && strcmp(def->attr, "scheduler") == 0;
}

/* What belongs to a scheduler is gone after a switch; so is what we found under the old one. */
static void found_forget(struct tunables *t, const char *scheduler_path)
{
	size_t n = strlen(scheduler_path) - strlen("scheduler");

	for (size_t i = t->found.n; i-- > 0;) {
		const char *path = t->found.at[i].path, *rest = path + n;

		if (strncmp(path, scheduler_path, n) == 0 &&
		    (text_starts(rest, "iosched/") || strcmp(rest, "nr_requests") == 0))
			replaced_remove(&t->found, t->found.at[i].path);
	}
}

static int scheduler_refused(const char *path, const char *name, struct err *e)
{
	char raw[SETTING_TEXT];

	if (e == NULL || e->kind != ERR_INFEASIBLE)
		return -1;
	if (setting_read_raw(path, raw, sizeof(raw), NULL) < 0)
		return err_set(e, ERR_INFEASIBLE, "scheduler '%s': this device has none ('%s' does not exist)", name,
		               path);
	return err_set(e, ERR_INFEASIBLE, "scheduler '%s' is not in this kernel: '%s' offers %s", name, path, raw);
}

/* What goes back when a setting is put back: its own value, or that of its partner, which is the one in force. */
static int in_force_read(const char *path, const char *now, struct replaced *ret, struct err *e)
{
	const char *partner = sysctl_partner(path);
	char value[SETTING_TEXT];

	path_format(ret->path, sizeof(ret->path), "%s", path);
	path_format(ret->value, sizeof(ret->value), "%s", now);
	if (partner == NULL || !setting_equals(now, "0"))
		return 0;
	if (setting_read(partner, value, sizeof(value), e) < 0)
		return -1;
	if (!setting_equals(value, "0")) {
		path_format(ret->path, sizeof(ret->path), "%s", partner);
		path_format(ret->value, sizeof(ret->value), "%s", value);
	}
	return 0;
}

static bool is_found(const struct tunables *t, const char *path)
{
	const char *partner = sysctl_partner(path);

	return replaced_find(&t->found, path) != NULL || (partner != NULL && replaced_find(&t->found, partner) != NULL);
}

static int value_change(struct worker *w, const struct axis *def, const char *path, const char *text, struct err *e)
{
	struct tunables *t = tunables_of(w);
	struct replaced was;
	char now[SETTING_TEXT];

	if (setting_read(path, now, sizeof(now), e) < 0)
		return is_scheduler(def) ? scheduler_refused(path, text, e) : -1;
	if (setting_equals(now, text))
		return 0;
	if (in_force_read(path, now, &was, e) < 0)
		return -1;
	if (setting_change(path, text, e) < 0)
		return is_scheduler(def) ? scheduler_refused(path, text, e) : -1;
	if (is_scheduler(def))
		found_forget(t, path);
	if (!is_found(t, path))
		replaced_add(&t->found, was.path, was.value);
	return 0;
}

/* kernel-default: as found.  Something to do only if an earlier cell changed it. */
static int value_put_back(struct worker *w, const char *path, struct err *e)
{
	struct tunables *t = tunables_of(w);
	const struct replaced *r = replaced_find(&t->found, path);
	struct replaced was;

	if (r == NULL)
		return 0;
	was = *r;
	if (setting_change(path, was.value, e) < 0)
		return -1;
	if (text_ends(path, "/queue/scheduler"))
		found_forget(t, path);
	replaced_remove(&t->found, path);
	return 0;
}

static int setting_apply(struct worker *w, const struct axis *def, const struct setting *s, struct err *e)
{
	size_t max = tunable_paths_max(w), n;
	AUTO_FREE char (*paths)[TUNABLE_PATH] = xcalloc(max, TUNABLE_PATH);
	char text[SETTING_TEXT];

	n = tunable_paths(w, def, paths, max);

	if (n == 0 && !is_default(s))
		return err_set(e, ERR_INFEASIBLE, "'%s' has nothing to be set on: %s has no queue of its own", s->axis,
		               w->claimed.name);
	if (!is_default(s))
		tunable_to_kernel(def, s->value, text, sizeof(text));
	for (size_t i = 0; i < n; i++)
		if ((is_default(s) ? value_put_back(w, paths[i], e) : value_change(w, def, paths[i], text, e)) < 0)
			return s == NULL ? -1 : err_in(e, "set %s", s->axis);
	return 0;
}

/* Every axis of the table that has this place: what the cell names is set, what it does not name is put back. */
static int place_apply(struct worker *w, enum axis_place place, bool scheduler, struct err *e)
{
	for (size_t i = 0; i < axis_table_n; i++) {
		const struct axis *def = &axis_table[i];

		if (def->place == place && is_scheduler(def) == scheduler &&
		    setting_apply(w, def, cell_get(w->cell, def->name), e) < 0)
			return -1;
	}
	return 0;
}

static bool cell_sets(const struct worker *w, enum axis_place place)
{
	for (size_t i = 0; i < w->cell->n; i++)
		if (w->cell->at[i].def->place == place && !is_default(&w->cell->at[i]))
			return true;
	return false;
}

int queue_apply(struct worker *w, struct err *e)
{
	bool sets = cell_sets(w, AXIS_QUEUE) || cell_sets(w, AXIS_IOSCHED);

	if (!sets && tunables_of(w)->found.n == 0)
		return 0;
	if (w->claimed.n_queues > 0 && queue_baseline_save(w, e) < 0)
		return -1;
	if (place_apply(w, AXIS_QUEUE, true, e) < 0 || place_apply(w, AXIS_IOSCHED, false, e) < 0 ||
	    place_apply(w, AXIS_QUEUE, false, e) < 0)
		return -1;
	return 0;
}

static int sysctls_save(struct worker *w, struct err *e)
{
	char path[TUNABLE_PATH];

	for (size_t i = 0; i < w->cell->n; i++) {
		const struct setting *s = &w->cell->at[i];

		if (s->def->place != AXIS_VM || is_default(s))
			continue;
		path_format(path, sizeof(path), "/proc/sys/vm/%s", s->def->attr);
		if (sysctl_save(w, path, e) < 0)
			return err_in(e, "set %s", s->axis);
	}
	return 0;
}

static int sysctls_apply(struct worker *w, struct err *e)
{
	int rc = hang_turn_keep(e);

	if (rc < 0)
		return -1;
	rc = sysctls_save(w, e) < 0 ? -1 : place_apply(w, AXIS_VM, false, e);
	hang_turn_release();
	return rc;
}

int tune_apply(struct worker *w, struct err *e)
{
	if (cell_sets(w, AXIS_BDI) && w->claimed.n_queues > 0 && queue_baseline_save(w, e) < 0)
		return -1;
	if (sysctls_apply(w, e) < 0)
		return -1;
	return place_apply(w, AXIS_BDI, false, e);
}

/* While another cell follows, its own queue_apply changes what differs and puts back what it does not name. */
int queue_restore(struct worker *w, struct err *e)
{
	if (w->is_moving_on)
		return 0;
	if (w->tunables != NULL)
		w->tunables->found.n = 0;
	return journal_restore(w, STEP_QUEUE, e);
}

int tune_restore(struct worker *w, struct err *e)
{
	if (w->is_moving_on)
		return 0;
	return journal_restore(w, STEP_TUNE, e);
}
