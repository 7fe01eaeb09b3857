/* SPDX-License-Identifier: MIT
 *
 * Originals: committed to the store before the first change, put back from it; see tunable.h.
 *
 * Entries are replayed newest first, so they are saved in the reverse of the order in which they must be put back:
 * read-ahead first, the scheduler last.
 */
#include "daemon/worker/tunable.h"

#include <stdio.h>
#include <string.h>

#include "daemon/worker/device.h"
#include "daemon/worker/fault.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

/* Of a pair the kernel keeps one in force and shows the other as 0 (admin-guide/sysctl/vm.rst, dirty_bytes). */
static const char *const pairs[][2] = {
	{ "/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes" },
	{ "/proc/sys/vm/dirty_background_ratio", "/proc/sys/vm/dirty_background_bytes" },
};

const char *sysctl_partner(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		for (int k = 0; k < 2; k++)
			if (strcmp(path, pairs[i][k]) == 0)
				return pairs[i][!k];
	return NULL;
}

static int original_save(struct worker *w, enum step_id step, const char *kind, const char *path, const char *identity,
                         struct err *e)
{
	struct undo_entry u = { .boot_id = w->boot_id, .step = step_name(step), .kind = kind, .object = path,
	                        .identity = identity };
	char value[SETTING_TEXT];
	int64_t id;

	if (replaced_find(&tunables_of(w)->originals, path) != NULL)
		return 0;
	if (setting_read(path, value, sizeof(value), e) < 0)
		return -1;
	u.original = value;
	if (store_undo_add(w->store, w->sweep_id, &u, &id, e) < 0)
		return err_in(e, "save the present value of '%s'", path);
	replaced_add(&tunables_of(w)->originals, path, value);
	return 0;
}

int sysctl_save(struct worker *w, const char *path, struct err *e)
{
	char value[SETTING_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (strcmp(path, pairs[i][0]) != 0 && strcmp(path, pairs[i][1]) != 0)
			continue;
		if (replaced_find(&tunables_of(w)->originals, pairs[i][0]) != NULL ||
		    replaced_find(&tunables_of(w)->originals, pairs[i][1]) != NULL)
			return 0;
		if (setting_read(pairs[i][1], value, sizeof(value), e) < 0)
			return -1;
		path = setting_equals(value, "0") ? pairs[i][0] : pairs[i][1];
		break;
	}
	if (original_save(w, STEP_TUNE, "sysctl", path, "", e) < 0)
		return -1;
	fault_during();
	return 0;
}

struct saver {
	struct worker *w;
	const char *queue;    /* "/sys/block/sdb" */
	char identity[512];   /* of that disk */
	struct err *e;
};

/* What this kernel or device does not have, or does not show, cannot be changed either. */
static int attr_save(struct saver *s, const char *attr)
{
	char path[TUNABLE_PATH], value[SETTING_TEXT];

	path_format(path, sizeof(path), "%s/queue/%s", s->queue, attr);
	if (!sysroot_text(path, value, sizeof(value)))
		return 0;
	return original_save(s->w, STEP_QUEUE, "sysfs", path, s->identity, s->e);
}

static int iosched_attr_save(const char *name, void *data)
{
	char attr[128];

	for (size_t i = 0; i < axis_table_n; i++)
		if (axis_table[i].place == AXIS_IOSCHED && strcmp(axis_table[i].attr, name) == 0)
			return attr_save(data, path_format(attr, sizeof(attr), "iosched/%s", name));
	return 0;
}

static int read_ahead_save(struct saver *s)
{
	char name[DEVICE_NAME];
	struct device d;

	path_format(name, sizeof(name), "%s", strrchr(s->queue, '/') + 1);
	if (device_read(name, &d, s->e) < 0)
		return -1;
	device_identity(&d, s->identity, sizeof(s->identity));
	return attr_save(s, "read_ahead_kb");
}

static int disk_save(struct saver *s)
{
	char dir[TUNABLE_PATH];

	if (read_ahead_save(s) < 0)
		return -1;
	for (size_t i = 0; i < axis_table_n; i++)
		if (axis_table[i].place == AXIS_QUEUE && strcmp(axis_table[i].attr, "scheduler") != 0 &&
		    attr_save(s, axis_table[i].attr) < 0)
			return -1;
	if (sysroot_each(path_format(dir, sizeof(dir), "%s/queue/iosched", s->queue), iosched_attr_save, s) < 0)
		return -1;
	return attr_save(s, "scheduler");
}

static int disks_save(struct worker *w, struct err *e)
{
	char top[128];
	struct saver s = { .w = w, .e = e };

	claimed_disk(&w->claimed, top, sizeof(top));
	for (size_t i = 0; i < w->claimed.n_queues; i++) {
		s.queue = w->claimed.queues[i];
		if (disk_save(&s) < 0)
			return -1;
		if (strcmp(s.queue, top) == 0)
			top[0] = '\0';
	}
	s.queue = top;
	/* An array or mapping has a read-ahead of its own.  Its other attributes follow what it stands on (a dm table
	 * that fails all I/O has no write cache), and are never set. */
	return top[0] == '\0' ? 0 : read_ahead_save(&s);
}

int queue_baseline_save(struct worker *w, struct err *e)
{
	size_t n_before = tunables_of(w)->originals.n;
	char path[TUNABLE_PATH];

	if (w->claimed.n_queues == 0)
		return 0;
	path_format(path, sizeof(path), "%s/queue/read_ahead_kb", w->claimed.queues[0]);
	if (replaced_find(&tunables_of(w)->originals, path) != NULL)
		return 0;
	if (store_begin(w->store, e) < 0)
		return -1;
	if (disks_save(w, e) < 0) {
		store_rollback(w->store);
		w->tunables->originals.n = n_before; /* sysctls are saved by themselves */
		return -1;
	}
	if (store_commit(w->store, e) < 0) {
		w->tunables->originals.n = n_before;
		return -1;
	}
	fault_during();
	return 0;
}

/* ---- putting back ---- */

/* A loop device's settings outlive it: they are put back when it is free, or still (or again) ours.  Any other device
 * must be the very one. */
static const char *object_is_other(const struct worker *w, const struct undo_entry *u)
{
	char name[DEVICE_NAME], identity[512];
	struct device d;

	path_format(name, sizeof(name), "%.*s", (int)strcspn(u->object + strlen("/sys/block/"), "/"),
	            u->object + strlen("/sys/block/"));
	if (device_read(name, &d, NULL) < 0)
		return "the device is gone";
	device_identity(&d, identity, sizeof(identity));
	if (strcmp(identity, u->identity) == 0)
		return NULL;
	if (text_starts(name, "loop")) {
		bool is_ours = d.backing_file[0] == '\0' ||
		               (w->claimed.is_begun && w->claimed.fd >= 0 && w->claimed.devno == d.devno &&
		                w->claimed.diskseq == d.diskseq);

		return is_ours ? NULL : "the loop device is another one's now";
	}
	return "it is another device now";
}

static bool is_partner_in_force(const struct undo_entry *u)
{
	const char *partner = sysctl_partner(u->object);
	char value[SETTING_TEXT];

	return partner != NULL && setting_read(partner, value, sizeof(value), NULL) == 0 && !setting_equals(value, "0");
}

int tunable_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	*ret_dropped = NULL;
	if (strcmp(u->kind, "sysctl") == 0) {
		if (!text_starts(u->object, "/proc/sys/vm/") || strstr(u->object, "..") != NULL)
			return err_set(e, ERR_REFUSED, "'%s' is not a setting of iosweep", u->object);
		/* the kernel shows 0 for the one that is not in force: equal texts are not enough */
		if (is_partner_in_force(u))
			return setting_write(u->object, u->original, e);
		return setting_change(u->object, u->original, e);
	}
	if (!text_starts(u->object, "/sys/block/") || strstr(u->object, "..") != NULL)
		return err_set(e, ERR_REFUSED, "'%s' is not a setting of iosweep", u->object);
	*ret_dropped = object_is_other(w, u);
	if (*ret_dropped != NULL)
		return 0;
	return setting_change(u->object, u->original, e);
}

struct replay {
	struct undo_entry *entries;
	const char **dropped; /* why, by entry; NULL: put back */
	size_t n, n_failed;
};

/* Those of another boot are dropped, and only by undo_replay. */
static bool entry_is(const struct worker *w, const struct undo_entry *u, enum step_id step)
{
	return strcmp(u->boot_id, w->boot_id) == 0 && strcmp(u->step, step_name(step)) == 0 &&
	       (strcmp(u->kind, "sysfs") == 0 || strcmp(u->kind, "sysctl") == 0);
}

/* Once through all, the first failure in e. */
static size_t replay_pass(struct worker *w, struct replay *r, enum step_id step, struct err *e)
{
	size_t n_failed = 0;

	for (size_t i = 0; i < r->n; i++)
		if (entry_is(w, &r->entries[i], step) &&
		    tunable_put_back(w, &r->entries[i], &r->dropped[i], n_failed == 0 ? e : NULL) < 0)
			n_failed++;
	return n_failed;
}

static int replay_finish(struct worker *w, const struct replay *r, enum step_id step, struct err *e)
{
	if (store_begin(w->store, e) < 0)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		const char *why = r->dropped[i];

		if (entry_is(w, &r->entries[i], step) &&
		    store_undo_finish(w->store, r->entries[i].id, why == NULL ? "done" : "dropped",
		                      why == NULL ? "" : why, e) < 0) {
			store_rollback(w->store);
			return -1;
		}
	}
	return store_commit(w->store, e);
}

static void originals_forget(struct worker *w, const struct replay *r, enum step_id step)
{
	for (size_t i = 0; i < r->n && w->tunables != NULL; i++)
		if (entry_is(w, &r->entries[i], step))
			replaced_remove(&w->tunables->originals, r->entries[i].object);
}

/* The second pass verifies, and mends what a later write of the first has clobbered; it writes nothing if all is
 * well. */
int journal_restore(struct worker *w, enum step_id step, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct replay r = { 0 };
	size_t n_ours = 0, n_failed;

	if (store_undo_pending(w->store, w->sweep_id, a, &r.entries, &r.n, e) < 0)
		return -1;
	r.dropped = arena_array(a, r.n + 1, sizeof(*r.dropped));
	for (size_t i = 0; i < r.n; i++)
		n_ours += entry_is(w, &r.entries[i], step);
	if (n_ours == 0)
		return 0;
	replay_pass(w, &r, step, NULL);
	n_failed = replay_pass(w, &r, step, e);
	if (n_failed > 0)
		return err_in(e, "%zu of %zu settings could not be put back", n_failed, n_ours);
	originals_forget(w, &r, step);
	return replay_finish(w, &r, step, e);
}

/* The entries of this step are sysctls and no others. */
int host_settings_restore(struct worker *w, struct err *e)
{
	return journal_restore(w, STEP_TUNE, e);
}
