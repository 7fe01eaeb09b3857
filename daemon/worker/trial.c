/* SPDX-License-Identifier: MIT
 *
 * One trial; see trial.h.  The order of things: the claim is committed before anything runs, nothing is committed
 * while the tool runs, and one transaction at the end holds outcome, numbers, flags and outputs.
 */
#include "daemon/worker/trial.h"

#include <stdio.h>
#include <string.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/fault.h"
#include "daemon/worker/flags.h"
#include "daemon/worker/helper.h"
#include "daemon/worker/record.h"
#include "daemon/worker/probe.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/target.h"
#include "daemon/worker/workplace.h"

#define FACTS_MAX (13 + PROBE_FACTS)

struct trial {
	struct bench *b;
	struct worker *w;
	struct arena *a;
	int repetition;
	int64_t id;
	struct phase_end before, run, after;
	struct trial_io io;
	int64_t working_set_bytes; /* of a read's files; 0: not looked at */
	struct probe probe_before, probe_after;
	struct flags flags;
	struct outcome outcome;
	bool is_followed;
	int64_t oom_kills; /* of the cell, before it */
	bool has_run; /* the run phase has begun: its figures mean something */
};

static int trial_settle(struct trial *t, struct err *e)
{
	struct worker *w = t->w;
	AUTO_TEXT struct text note = { 0 };

	if (!t->b->def->definition->warm && caches_drop(w, e) < 0)
		return -1;
	iostat_read(w, &t->io.before_settle);
	if (w->plan->settle_ns > 0 && settle_wait(w, &note, e) < 0)
		return -1;
	if (note.n > 0)
		flag_add(&t->flags, t->a, "disturbed", "%s", text_str(&note));
	if (w->claimed.is_lazy) /* also when the thread is not on just now: it starts again after each mount */
		flag_add(&t->flags, t->a, "lazy",
		         "the filesystem was made with lazy initialisation, which may go on beside a trial");
	return 0;
}

static bool is_btrfs(const struct trial *t)
{
	return strcmp(t->w->claimed.filesystem, "btrfs") == 0;
}

/* Before the caches are dropped, which makes up for what the look itself brings into them. */
static int extents_before(struct trial *t, struct err *e)
{
	struct extents x;

	if (!t->b->def->definition->reads)
		return 0;
	if (workplace_extents(t->w, &x, e) < 0)
		return -1;
	t->working_set_bytes = x.bytes;
	flags_unwritten(&t->flags, t->a, &x);
	flags_small(&t->flags, t->a, x.bytes, t->w->ram_bytes);
	return 0;
}

/* While the files are still there. */
static int extents_after(struct trial *t, struct err *e)
{
	struct extents x;

	if (!is_btrfs(t))
		return 0;
	if (workplace_extents(t->w, &x, e) < 0)
		return -1;
	flags_compressible(&t->flags, t->a, &x);
	return 0;
}

static int trial_phases(struct trial *t, struct err *e)
{
	struct bench *b = t->b;
	int rc;

	t->oom_kills = confine_oom_kills(t->w);
	if (workplace_check(t->w, e) < 0 || fault_before("trial", false, e) < 0)
		return -1;
	if (bench_phase(b, PHASE_BEFORE, t->repetition, t->a, &t->before, e) < 0 || extents_before(t, e) < 0 ||
	    trial_settle(t, e) < 0) {
		bench_servers_stop(b, PHASE_BEFORE);
		return -1;
	}
	probe_take(t->w, b->def->definition, t->a, &t->probe_before);
	iostat_read(t->w, &t->io.before_run);
	if (b->n_servers > 0)
		t->io.before_settle.is_known = false; /* a server of ours may have moved what moved since */
	t->has_run = true;
	rc = bench_phase(b, PHASE_RUN, t->repetition, t->a, &t->run, e);
	iostat_read(t->w, &t->io.after_run);
	probe_take(t->w, b->def->definition, t->a, &t->probe_after);
	t->io.tools_read_bytes = t->run.tools_read_bytes;
	t->io.is_shared = t->w->claimed.kind == TARGET_DIRECTORY;
	if (rc == 0)
		rc = extents_after(t, e);
	if (rc == 0)
		rc = bench_phase(b, PHASE_AFTER, t->repetition, t->a, &t->after, e);
	bench_servers_stop(b, PHASE_RUN);
	bench_servers_stop(b, PHASE_BEFORE);
	return rc == 0 ? fault_after("trial", false, e) : rc;
}

static int64_t io_read_bytes(const struct trial *t)
{
	return t->io.after_run.target.read - t->io.before_run.target.read;
}

static int64_t io_written_bytes(const struct trial *t)
{
	return t->io.after_run.target.written - t->io.before_run.target.written;
}

static int status_of(const struct phase_end *p)
{
	return p->exit_signal != 0 ? 128 + p->exit_signal : p->exit_status;
}

/* Those that have no column in the store, and are kept for a later extraction. */
static size_t facts_beside(const struct trial *t, struct fact *facts)
{
	size_t n = 0;

	facts[n++] = (struct fact){ "ram_bytes", (double)t->w->ram_bytes };
	facts[n++] = (struct fact){ "copies", t->run.copies > 0 ? t->run.copies : 1 };
	if (t->working_set_bytes > 0)
		facts[n++] = (struct fact){ "working_set_bytes", (double)t->working_set_bytes };
	return n + probe_facts(&t->probe_before, &t->probe_after, &facts[n]);
}

static size_t facts_fill(const struct trial *t, struct fact facts[FACTS_MAX])
{
	size_t n = 0;

	facts[n++] = (struct fact){ "elapsed", (double)t->run.elapsed_ns / 1e9 };
	facts[n++] = (struct fact){ "user", (double)t->run.user_ns / 1e9 };
	facts[n++] = (struct fact){ "system", (double)t->run.system_ns / 1e9 };
	facts[n++] = (struct fact){ "exit_status", status_of(&t->run) };
	if (t->io.before_run.is_known && t->io.after_run.is_known) {
		facts[n++] = (struct fact){ "read_bytes", (double)io_read_bytes(t) };
		facts[n++] = (struct fact){ "written_bytes", (double)io_written_bytes(t) };
	}
	facts[n++] = (struct fact){ "repetition", t->repetition };
	return n + facts_beside(t, &facts[n]);
}

/* run first: a pattern without a step means what `run` printed. */
static size_t captures_join(const struct trial *t, struct capture **ret)
{
	const struct phase_end *phases[] = { &t->run, &t->before, &t->after };
	size_t n = 0;

	*ret = arena_array(t->a, t->run.n_captures + t->before.n_captures + t->after.n_captures + 1, sizeof(**ret));
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		for (size_t k = 0; k < phases[i]->n_captures; k++)
			(*ret)[n++] = phases[i]->captures[k];
	return n;
}

static int trial_extract(struct trial *t, struct err *e)
{
	struct capture *captures;
	size_t n = captures_join(t, &captures);
	struct fact facts[FACTS_MAX];
	size_t n_facts = facts_fill(t, facts);

	return helper_extract(t->w->helper, t->b->workload, t->b->params, t->b->n_params, captures, n, facts, n_facts,
	                      status_of(&t->run), t->a, &t->outcome, e);
}

static int trial_flags(struct trial *t, struct err *e)
{
	AUTO_TEXT struct text changed = { 0 };

	if (settings_changed(t->w, &changed, e) < 0)
		return -1;
	if (changed.n > 0)
		flag_add(&t->flags, t->a, "disturbed", "%s", text_str(&changed));
	flags_foreign(&t->flags, t->a, &t->io);
	flags_cached(&t->flags, t->a, &t->io, t->b->def->definition->reads, t->outcome.at, t->outcome.n,
	             t->run.elapsed_ns);
	if (t->outcome.suspect != NULL)
		flag_add(&t->flags, t->a, "suspect", "%s", t->outcome.suspect);
	return 0;
}

/* Only outputs with something in them are stored. */
static size_t captures_keep(struct capture *captures, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (captures[i].n > 0)
			captures[kept++] = captures[i];
	return kept;
}

static int trial_store(struct trial *t, const char *state, const char *reason, int64_t environment_id, struct err *e)
{
	struct capture *captures;
	size_t n_all = captures_join(t, &captures), n = captures_keep(captures, n_all);
	struct fact facts[FACTS_MAX];
	size_t n_facts = t->has_run ? facts_beside(t, facts) : 0;
	bool has_io = t->has_run && t->io.before_run.is_known && t->io.after_run.is_known;
	struct trial_end end = {
		.state = state, .reason = reason, .environment_id = environment_id,
		.elapsed_ns = t->run.elapsed_ns, .user_ns = t->run.user_ns, .system_ns = t->run.system_ns,
		.read_bytes = has_io ? io_read_bytes(t) : -1, .written_bytes = has_io ? io_written_bytes(t) : -1,
		.exit_status = t->has_run && t->run.exit_signal == 0 ? t->run.exit_status : -1, .exit_signal = t->run.exit_signal,
		.measured = t->outcome.at, .n_measured = t->outcome.n, .flags = t->flags.at, .n_flags = t->flags.n,
		.captures = captures, .n_captures = n, .facts = facts, .n_facts = n_facts,
	};
	int rc;

	if (fault_before("record", false, e) < 0 || (t->is_followed && record_batch(t->w, false, e) < 0))
		return -1;
	rc = store_trial_end(t->w->store, t->id, &end, e);
	return rc == 0 ? fault_after("record", false, e) : rc;
}

static const char *verdict_state(enum trial_verdict v)
{
	switch (v) {
	case TRIAL_OK:
		return "ok";
	case TRIAL_FAILED:
		return "failed";
	case TRIAL_INFEASIBLE:
		return "infeasible";
	}
	return "failed";
}

/* What a tool's failure means depends on whether the target is still there: an unplugged disk answers with any errno.
 * */
static bool is_end_of_sweep(struct trial *t, struct err *e)
{
	if (e->kind == ERR_CANCELLED || e->kind == ERR_DEVICE_LOST || t->w->is_target_refused)
		return true;
	if (t->w->claimed.kind != TARGET_DIRECTORY && target_is_there(t->w, e) < 0)
		return true;
	return false;
}

static int trial_interrupted(struct trial *t, int64_t environment_id, struct err *e)
{
	struct err why = *e;

	t->outcome = (struct outcome){ 0 };
	if (trial_store(t, "interrupted", why.text, environment_id, e) < 0)
		return -1;
	*e = why;
	return -1;
}

/* SIGKILL out of the blue is explained. */
static const char *memory_told(const struct trial *t, const char *reason)
{
	int64_t n = confine_oom_kills(t->w) - t->oom_kills;
	char limit[SIZE_TEXT];

	if (n <= 0)
		return reason;
	return arena_printf(t->w->cell_arena, "%s; %lld process%s killed for want of memory: the cell allows %s",
	                    reason, (long long)n, n == 1 ? " was" : "es were", size_format(t->w->ram_bytes, limit));
}

static int trial_finish(struct trial *t, int64_t environment_id, struct err *why, struct trial_report *ret,
                        struct err *e)
{
	ret->verdict = TRIAL_OK;
	ret->reason = "";
	if (why->kind != ERR_NONE) {
		ret->verdict = why->kind == ERR_INFEASIBLE ? TRIAL_INFEASIBLE : TRIAL_FAILED;
		ret->reason = arena_strdup(t->w->cell_arena, why->text);
	} else if (t->outcome.state != EXTRACT_OK) {
		ret->verdict = TRIAL_FAILED;
		ret->reason = arena_printf(t->w->cell_arena, "%s", t->outcome.reason[0] != '\0' ? t->outcome.reason :
		                           extract_state_name(t->outcome.state));
	}
	if (ret->verdict != TRIAL_OK) {
		t->outcome.n = 0;
		ret->reason = memory_told(t, ret->reason);
		if (is_end_of_sweep(t, why)) {
			*e = *why;
			return trial_interrupted(t, environment_id, e);
		}
	}
	return trial_store(t, verdict_state(ret->verdict), ret->reason, environment_id, e);
}

int trial_run(struct bench *b, int repetition, bool is_followed, int64_t environment_id, struct trial_report *ret,
              struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial t = { .b = b, .w = b->w, .a = a, .repetition = repetition, .is_followed = is_followed };
	struct err why = { 0 };

	if (record_batch(b->w, true, e) < 0 ||
	    store_trial_begin(b->w->store, b->w->cell_id, b->def->workload_id, repetition, &t.id, e) < 0 ||
	    record_commit(b->w, e) < 0)
		return -1;
	if (trial_phases(&t, &why) < 0 || trial_extract(&t, &why) < 0 || trial_flags(&t, &why) < 0) {
		if (is_end_of_sweep(&t, &why)) {
			*e = why;
			return trial_interrupted(&t, environment_id, e);
		}
	}
	return trial_finish(&t, environment_id, &why, ret, e);
}

int trial_record_failure(struct bench *b, int repetition, int64_t environment_id, const struct phase_end *phase,
                         const struct err *why, struct trial_report *ret, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial t = { .b = b, .w = b->w, .a = a, .repetition = repetition, .before = *phase };
	struct err copy = *why;

	if (store_trial_begin(b->w->store, b->w->cell_id, b->def->workload_id, repetition, &t.id, e) < 0)
		return -1;
	return trial_finish(&t, environment_id, &copy, ret, e);
}
