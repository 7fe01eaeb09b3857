/* SPDX-License-Identifier: MIT
 *
 * The undo journal from the worker's side: an original is committed before the first change, and after a crash what is
 * still pending is put back, newest first.  The steps' own undo functions finish their entries themselves; this is
 * for what a dead worker left, and the last look before a worker ends.
 */
#include <string.h>

#include "daemon/worker/bare.h"
#include "daemon/worker/fault.h"
#include "daemon/worker/hang.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/undo.h"

const char undo_later[] = "later";

static const struct undo_kind kinds[] = {
	{ "sysfs",      true,  tunable_put_back },
	{ "sysctl",     true,  tunable_put_back },
	{ "image",      false, image_put_back },
	{ "filesystem", false, filesystem_put_back },
	{ "cgroup",     true,  cgroup_put_back },
	{ "directory",  false, workplace_put_back },
	{ "node",       true,  node_put_back },
	{ "bare",       false, bare_put_back },
};

int undo_save(struct worker *w, enum step_id step, const char *kind, const char *object, const char *original,
              struct err *e)
{
	struct undo_entry u = {
		.boot_id = w->boot_id, .step = step_name(step), .kind = kind, .object = object,
		.identity = w->claimed.identity, .original = original,
	};
	int64_t id;

	if (store_undo_add(w->store, w->sweep_id, &u, &id, e) < 0)
		return err_in(e, "save the present state of '%s'", object);
	fault_during();
	return 0;
}

struct replay {
	const struct undo_kind *kinds;
	size_t n_kinds;
	struct undo_entry *entries;
	const char **dropped; /* by entry: why, or NULL */
	bool *is_back;
	size_t n;
};

static const struct undo_kind *kind_find(const struct replay *r, const char *name)
{
	for (size_t i = 0; i < r->n_kinds; i++)
		if (strcmp(r->kinds[i].name, name) == 0)
			return &r->kinds[i];
	return NULL;
}

/* A worker that has given up its turn has put back what it had set for the host; it may be another's by now. */
static int kind_put_back(struct worker *w, const struct undo_kind *kind, const struct undo_entry *u,
                         const char **ret_dropped, struct err *e)
{
	int rc;

	if (strcmp(u->kind, "sysctl") != 0)
		return kind->put_back(w, u, ret_dropped, e);
	if (hang_turn_keep(NULL) < 0) {
		*ret_dropped = undo_later;
		return 0;
	}
	rc = kind->put_back(w, u, ret_dropped, e);
	hang_turn_release();
	return rc;
}

static int entry_put_back(struct worker *w, const struct replay *r, size_t i, struct err *e)
{
	const struct undo_entry *u = &r->entries[i];
	const struct undo_kind *kind = kind_find(r, u->kind);

	r->dropped[i] = NULL;
	if (kind == NULL)
		return err_set(e, ERR_STORE, "the journal has an entry of the unknown kind '%s'", u->kind);
	if (kind->is_kernel_state && strcmp(u->boot_id, w->boot_id) != 0) {
		r->dropped[i] = "the machine has been started anew since";
		return 0;
	}
	return kind_put_back(w, kind, u, &r->dropped[i], e) < 0 ? err_in(e, "put back '%s'", u->object) : 0;
}

/* Every entry is tried; e gets the first failure. */
static size_t replay_pass(struct worker *w, const struct replay *r, struct err *e)
{
	size_t n_failed = 0;

	for (size_t i = 0; i < r->n; i++) {
		r->is_back[i] = entry_put_back(w, r, i, n_failed == 0 ? e : NULL) == 0;
		n_failed += !r->is_back[i];
	}
	return n_failed;
}

static int replay_record(struct worker *w, const struct replay *r, struct err *e)
{
	if (store_begin(w->store, e) < 0)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		const char *why = r->dropped[i];

		if (!r->is_back[i] || why == undo_later)
			continue; /* stays pending: `iosweep restore` or the next start tries again */
		if (store_undo_finish(w->store, r->entries[i].id, why == NULL ? "done" : "dropped",
		                      why == NULL ? "" : why, e) < 0) {
			store_rollback(w->store);
			return -1;
		}
	}
	return store_commit(w->store, e);
}

int undo_replay_kinds(struct worker *w, const struct undo_kind *table, size_t n_kinds, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct replay r = { .kinds = table, .n_kinds = n_kinds };
	size_t n_failed;

	if (store_undo_pending(w->store, w->sweep_id, a, &r.entries, &r.n, e) < 0)
		return -1;
	if (r.n == 0)
		return 0;
	r.dropped = arena_array(a, r.n, sizeof(*r.dropped));
	r.is_back = arena_array(a, r.n, sizeof(*r.is_back));
	/* Twice: a queue limit that is written back late clobbers a readahead that was written early.  The second pass
	 * finds most of it in order and writes nothing. */
	replay_pass(w, &r, NULL);
	n_failed = replay_pass(w, &r, e);
	if (replay_record(w, &r, n_failed == 0 ? e : NULL) < 0 || n_failed > 0)
		return n_failed > 0 ? err_in(e, "%zu of %zu changes could not be put back", n_failed, r.n) : -1;
	return 0;
}

int undo_replay(struct worker *w, struct err *e)
{
	return undo_replay_kinds(w, kinds, ARRAY_SIZE(kinds), e);
}
