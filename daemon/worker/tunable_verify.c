/* SPDX-License-Identifier: MIT
 *
 * Every setting of the cell read back: what took effect, and how sure that is; see tunable.h and steps.h.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/format.h"
#include "daemon/worker/mount.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

const char *verdict_name(enum verdict v)
{
	switch (v) {
	case VERDICT_NONE:
		return "";
	case VERDICT_CONFIRMED:
		return "confirmed";
	case VERDICT_IMPLIED:
		return "implied";
	case VERDICT_UNCONFIRMED:
		return "unconfirmed";
	case VERDICT_CONTRADICTED:
		return "contradicted";
	}
	return "";
}

/* What was found about one setting. */
struct found {
	enum verdict verdict;
	struct text effective; /* owned; empty if there is nothing to read */
	struct text why;       /* owned; of a contradiction */
};

static void auto_found(struct found *f)
{
	text_done(&f->effective);
	text_done(&f->why);
}
#define AUTO_FOUND __attribute__((cleanup(auto_found)))

/* One value if all queues agree; else each with its disk: "sdb=none sdc=bfq". */
static int values_read(const struct axis *def, char (*paths)[TUNABLE_PATH], size_t n, struct text *ret, struct err *e)
{
	AUTO_TEXT struct text each = { 0 };
	char first[SETTING_TEXT] = "", value[SETTING_TEXT], text[SETTING_TEXT];
	bool is_same = true;

	for (size_t i = 0; i < n; i++) {
		if (setting_read(paths[i], text, sizeof(text), e) < 0)
			return -1;
		tunable_from_kernel(def, text, value, sizeof(value));
		if (i == 0)
			path_format(first, sizeof(first), "%s", value);
		is_same = is_same && strcmp(first, value) == 0;
		text_printf(&each, "%s%.*s=%s", i > 0 ? " " : "", (int)strcspn(paths[i] + strlen("/sys/block/"), "/"),
		            paths[i] + strlen("/sys/block/"), value);
	}
	text_add(ret, is_same ? first : text_str(&each));
	return 0;
}

static int tunable_find(struct worker *w, const struct setting *s, struct found *f, struct err *e)
{
	size_t max = tunable_paths_max(w);
	AUTO_FREE char (*paths)[TUNABLE_PATH] = xcalloc(max, TUNABLE_PATH);
	size_t n = tunable_paths(w, s->def, paths, max);
	bool is_default = strcmp(s->value, KERNEL_DEFAULT) == 0;

	if (n == 0)
		return 0;
	if (values_read(s->def, paths, n, &f->effective, e) < 0)
		return is_default ? 0 : -1; /* what the kernel does not have cannot be recorded */
	if (is_default) {
		f->verdict = VERDICT_IMPLIED;
	} else if (setting_equals(text_str(&f->effective), s->value)) {
		f->verdict = VERDICT_CONFIRMED;
	} else {
		f->verdict = VERDICT_CONTRADICTED;
		text_printf(&f->why, "asked for %s, it reads %s", s->value, text_str(&f->effective));
	}
	return 0;
}

static int memory_find(struct worker *w, const struct setting *s, struct found *f, struct err *e)
{
	int64_t limit;

	if (strcmp(s->value, KERNEL_DEFAULT) == 0) {
		text_printf(&f->effective, "%lld", (long long)w->ram_bytes);
		f->verdict = VERDICT_IMPLIED;
		return 0;
	}
	if (confine_read(w, &limit, e) < 0)
		return -1;
	text_printf(&f->effective, "%lld", (long long)limit);
	f->verdict = setting_equals(text_str(&f->effective), s->value) ? VERDICT_CONFIRMED :
	             limit == w->plan->memory_max_bytes ? VERDICT_IMPLIED : VERDICT_CONTRADICTED;
	if (f->verdict == VERDICT_CONTRADICTED)
		text_printf(&f->why, "asked for %s, it reads %s", s->value, text_str(&f->effective));
	return 0;
}

static int setting_find(struct worker *w, const struct setting *s, struct found *f, struct err *e)
{
	switch (s->def->place) {
	case AXIS_QUEUE:
	case AXIS_IOSCHED:
	case AXIS_BDI:
	case AXIS_VM:
		return tunable_find(w, s, f, e);
	case AXIS_CGROUP:
		return memory_find(w, s, f, e);
	case AXIS_MD:
	case AXIS_NOWHERE:
		break;
	}
	if (strcmp(s->axis, "filesystem") == 0) {
		text_add(&f->effective, w->claimed.filesystem);
		f->verdict = w->claimed.filesystem[0] == '\0' ? VERDICT_NONE : VERDICT_CONFIRMED; /* by format_make, with libblkid */
	} else if (strcmp(s->axis, "mkfs") == 0) {
		f->verdict = format_verdict(w, &f->effective, &f->why);
	} else if (strcmp(s->axis, "mount") == 0) {
		f->verdict = mount_verdict(w, &f->effective, &f->why);
	}
	return 0;
}

static void verified_forget(struct tunables *t)
{
	for (size_t i = 0; i < t->n_verified; i++)
		free(t->verified[i].effective);
	t->n_verified = 0;
}

/* Set by the cell or not: a controller whose battery fails goes over to write through by itself, and trials of before
 * and after that must not be averaged unseen. */
static void write_caches_read(const struct worker *w, struct text *ret)
{
	char path[TUNABLE_PATH], state[SETTING_TEXT];

	for (size_t i = 0; i < w->claimed.n_queues; i++)
		if (sysroot_text(path_format(path, sizeof(path), "%s/queue/write_cache", w->claimed.queues[i]), state,
		                 sizeof(state)))
			text_printf(ret, "%s%s: %s", ret->n > 0 ? ", " : "", strrchr(w->claimed.queues[i], '/') + 1,
			            state);
}

static int settings_store(struct worker *w, const char *when, struct text *wrong, struct err *e)
{
	struct tunables *t = tunables_of(w);
	AUTO_TEXT struct text caches = { 0 };

	write_caches_read(w, &caches);
	free(t->write_caches);
	t->write_caches = xstrdup(text_str(&caches));
	verified_forget(t);
	for (size_t i = 0; i < w->cell->n; i++) {
		const struct setting *s = &w->cell->at[i];
		AUTO_FOUND struct found f = { 0 };

		if (setting_find(w, s, &f, e) < 0)
			return err_in(e, "read %s back %s", s->axis, when);
		if (f.verdict == VERDICT_NONE)
			continue;
		if (store_cell_effective(w->store, w->cell_id, s->axis, text_str(&f.effective), verdict_name(f.verdict),
		                         e) < 0)
			return -1;
		if (f.verdict == VERDICT_CONTRADICTED)
			text_printf(wrong, "%s%s: %s", wrong->n > 0 ? "; " : "", s->axis, text_str(&f.why));
		t->verified[t->n_verified].axis = s->axis;
		t->verified[t->n_verified++].effective = xstrdup(text_str(&f.effective));
	}
	return 0;
}

int settings_verify(struct worker *w, const char *when, struct err *e)
{
	AUTO_TEXT struct text wrong = { 0 };

	if (store_begin(w->store, e) < 0)
		return -1;
	if (settings_store(w, when, &wrong, e) < 0) {
		store_rollback(w->store);
		return -1;
	}
	if (store_commit(w->store, e) < 0)
		return -1;
	return wrong.n == 0 ? 0 : err_set(e, ERR_MISMATCH, "%s: %s", when, text_str(&wrong));
}

static const char *verified_find(const struct tunables *t, const char *axis)
{
	for (size_t i = 0; i < t->n_verified; i++)
		if (strcmp(t->verified[i].axis, axis) == 0)
			return t->verified[i].effective;
	return NULL;
}

static void write_caches_compare(struct worker *w, struct text *ret_changed)
{
	AUTO_TEXT struct text now = { 0 };
	const char *before = tunables_of(w)->write_caches;

	write_caches_read(w, &now);
	if (before != NULL && strcmp(before, text_str(&now)) != 0 && cell_get(w->cell, "queue.write_cache") == NULL)
		text_printf(ret_changed, "%sthe write cache was (%s) and is (%s)", ret_changed->n > 0 ? "; " : "",
		            before, text_str(&now));
}

/* mkfs and filesystem do not change under a mounted filesystem, and their tools are not run again. */
int settings_changed(struct worker *w, struct text *ret_changed, struct err *e)
{
	text_clear(ret_changed);
	for (size_t i = 0; i < w->cell->n; i++) {
		const struct setting *s = &w->cell->at[i];
		const char *before = verified_find(tunables_of(w), s->axis);
		AUTO_FOUND struct found f = { 0 };

		if (before == NULL || s->def->step == STEP_FORMAT)
			continue;
		if (setting_find(w, s, &f, e) < 0)
			return err_in(e, "read %s back after the trial", s->axis);
		if (strcmp(before, text_str(&f.effective)) != 0)
			text_printf(ret_changed, "%s%s: %s became %s", ret_changed->n > 0 ? "; " : "", s->axis, before,
			            text_str(&f.effective));
	}
	write_caches_compare(w, ret_changed);
	return 0;
}
