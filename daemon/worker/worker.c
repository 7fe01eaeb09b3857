/* SPDX-License-Identifier: MIT
 *
 * The worker's life: namespaces, signals, what it needs to know of its sweep; then the sweep, the undoing of
 * everything, and one exit status that says how it ended.  Blocking code throughout; the daemon watches from outside.
 */
#include "daemon/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/hang.h"
#include "daemon/worker/helper.h"
#include "daemon/worker/namespace.h"
#include "daemon/worker/record.h"
#include "daemon/worker/room.h"
#include "daemon/worker/runner.h"
#include "daemon/worker/strays.h"
#include "daemon/worker/sweep.h"
#include "daemon/worker/target.h"
#include "daemon/worker/tunable.h"
#include "schema/base/log.h"
#include "schema/host.h"

/* Groups that no database gives to anybody: far above what systems assign (systemd's UIDS-GIDS), below (gid_t)-2. */
#define NODE_GID_BASE 0xF0000000u
#define NODE_GIDS     0x0FFFFF00
#define TOOL_KILL_AFTER_NS INT64_C(5000000000)

/* ---- before anything else: descriptors and signals ---- */

static bool line_is_there(void)
{
	struct stat st;

	return getpid() == 1 && fstat(WORKER_LINE_FD, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* One descriptor that becomes readable, and stays so, when the worker is to end: a signal waits, or the daemon's end
 * of the line is closed.  (An epoll descriptor can itself be polled: epoll(7).) */
static int cancel_fd_make(int line_fd, struct err *e)
{
	struct epoll_event told = { .events = EPOLLIN }, hangup = { .events = EPOLLRDHUP };
	AUTO_CLOSE int fd = epoll_create1(EPOLL_CLOEXEC);
	int signals_fd;
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGHUP);
	signals_fd = signalfd(-1, &stop, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0 || signals_fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, signals_fd, &told) < 0)
		return err_sys(e, errno, "watch for signals");
	if (line_fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, line_fd, &hangup) < 0)
		return err_sys(e, errno, "watch the line to the daemon");
	return TAKE_FD(fd);
}

static void signals_block(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP };
	sigset_t all;

	for (int signal_no = 1; signal_no < 32; signal_no++)
		if (signal_no != SIGKILL && signal_no != SIGSTOP)
			signal(signal_no, SIG_DFL);
	sigfillset(&all);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigdelset(&all, faults[i]);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Tools would inherit that of whoever started the daemon, and possessing it opens its keys to any user: keyrings(7).
 * One without keys takes its place.  ENOSYS: a kernel without any; EPERM: a filter forbids the call, to tools as
 * well. */
static int keyring_leave(struct err *e)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS || errno == EPERM)
		return 0;
	return err_sys(e, errno, "leave the session keyring");
}

static int worker_isolate(struct worker *w, struct err *e)
{
	w->line_fd = line_is_there() ? WORKER_LINE_FD : -1;
	if (w->line_fd < 0 && namespace_clone_by_hand(e) < 0)
		return -1;
	signals_block();
	/* A tool between vfork and execve shares this memory as the submitter: nobody of that user may look in.
	 * ptrace(2) */
	prctl(PR_SET_DUMPABLE, 0);
	if (w->line_fd >= 0 && fcntl(w->line_fd, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(e, errno, "prepare the line to the daemon");
	w->cancel_fd = cancel_fd_make(w->line_fd, e);
	if (keyring_leave(e) < 0 || w->cancel_fd < 0 || namespace_enter(&w->host_proc_fd, e) < 0)
		return -1;
	w->tools = (struct tool_env){ .cancel_fd = w->cancel_fd, .kill_after_ns = TOOL_KILL_AFTER_NS };
	return 0;
}

/* ---- what it needs to know ---- */

static int diags_to_err(const struct diags *d, const char *what, struct err *e)
{
	if (d->n == 0)
		return err_set(e, ERR_USAGE, "%s cannot be read", what);
	return err_set(e, ERR_USAGE, "%s:%d:%d: %s", what, d->at[0].line, d->at[0].column, d->at[0].message);
}

static int boot_id_read(struct worker *w, struct err *e)
{
	AUTO_TEXT struct text t = { 0 };

	if (file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 100, &t, e) < 0)
		return -1;
	snprintf(w->boot_id, sizeof(w->boot_id), "%.36s", text_str(&t));
	return 0;
}

/* root's sweeps run as the configured user: bonnie++ and PostgreSQL refuse root, and tools are not to be trusted. */
static int submitter_find(struct worker *w, struct err *e)
{
	uid_t uid = (uid_t)w->sweep.submitter_uid;
	const struct passwd *p = uid == 0 ? getpwnam(w->config->user) : getpwuid(uid);
	AUTO_FREE gid_t *groups = NULL;
	gid_t *kept;
	size_t n;

	if (p == NULL && uid == 0) {
		err_set(e, ERR_NOT_FOUND, "there is no user '%s' on this host, as whom sweeps of root run",
		        w->config->user);
		return err_hint(e, "useradd --system %s", w->config->user);
	}
	if (p == NULL)
		return err_set(e, ERR_NOT_FOUND, "the submitter (uid %u) is no user of this host any more",
		               (unsigned)uid);
	if (p->pw_uid == 0)
		return err_set(e, ERR_REFUSED, "tools would run as root ('%s')", p->pw_name);
	n = host_user_groups(p, &groups);
	kept = arena_array(w->arena, n + 1, sizeof(*kept));
	memcpy(kept, groups, n * sizeof(*kept));
	if (w->sweep.target_kind != TARGET_DIRECTORY)
		kept[n++] = w->node_gid = NODE_GID_BASE + (gid_t)(w->sweep_id % NODE_GIDS);
	w->submitter = (struct tool_identity){
		.uid = p->pw_uid, .gid = p->pw_gid, .groups = kept, .n_groups = n, .cgroup_fd = -1,
		.home = arena_strdup(w->arena, p->pw_dir), .login = arena_strdup(w->arena, p->pw_name),
	};
	return 0;
}

/* Of a sweep that waited long: whoever was taken out of the group meanwhile runs nothing any more. */
static int submitter_check(struct worker *w, struct err *e)
{
	const struct passwd *p;

	if (submitter_find(w, e) < 0)
		return -1;
	p = getpwuid((uid_t)w->sweep.submitter_uid);
	return p == NULL ? 0 : host_may_submit(p, w->config->group, e);
}

/* What both kinds of worker need. */
static int worker_open(struct worker *w, struct err *e)
{
	AUTO_FREE char *path = NULL, *name = NULL;
	uint8_t uuid[16];

	w->arena = arena_new();
	w->cell_arena = arena_new();
	claimed_init(&w->claimed);
	if (config_read_one(w->config_file, &w->config, e) < 0 || boot_id_read(w, e) < 0)
		return -1;
	path = xasprintf("%s/iosweep.db", w->config->state);
	if (store_open(path, STORE_WRITE, &w->store, e) < 0 ||
	    store_sweep_get(w->store, w->sweep_id, w->arena, &w->sweep, e) < 0)
		return -1;
	if (host_identity(w->config->state, uuid, &name, e) < 0 || store_host(w->store, uuid, name, &w->host_id, e) < 0)
		return -1;
	w->ram_bytes = host_ram_bytes();
	submitter_find(w, NULL); /* one who is gone runs nothing more, but leaves what is to be undone */
	return 0;
}

/* The definitions as they were when the sweep was submitted; the host's own may have changed or gone since. */
static int registry_fill(struct worker *w, struct err *e)
{
	struct diags d;
	int rc = 0;

	w->registry = registry_new();
	diags_init(&d, "workload");
	for (size_t i = 0; i < w->n_workloads && rc == 0; i++) {
		const struct workload *stored = w->workloads[i].definition;
		struct workload *copy;

		if (strcmp(stored->name, "command") == 0)
			continue; /* the plan holds it itself */
		if (workload_read(stored->source, strlen(stored->source), &d, &copy) == 0)
			registry_put(w->registry, copy);
		else
			rc = diags_to_err(&d, stored->name, e);
	}
	diags_done(&d);
	return rc;
}

static int plan_load(struct worker *w, struct err *e)
{
	const char *source;
	struct diags d;
	int rc;

	if (store_sweep_plan(w->store, w->sweep_id, w->arena, &source, e) < 0 ||
	    store_sweep_workloads(w->store, w->sweep_id, w->arena, &w->workloads, &w->n_workloads, e) < 0 ||
	    registry_fill(w, e) < 0)
		return -1;
	diags_init(&d, "plan");
	rc = plan_read(source, strlen(source), w->registry, &d, &w->plan);
	if (rc == 0 && w->sweep.is_rehearsal)
		plan_rehearse(w->plan);
	if (rc == 0)
		rc = matrix_new(w->plan, &d, &w->matrix);
	if (rc < 0)
		diags_to_err(&d, "plan", e);
	diags_done(&d);
	return rc;
}

static int worker_prepare(struct worker *w, struct err *e)
{
	struct err plan_e = { 0 };

	if (store_sweep_set_state(w->store, w->sweep_id, SWEEP_RUNNING, "", e) < 0 ||
	    store_trials_interrupt(w->store, w->sweep_id, "the worker died", e) < 0)
		return -1;
	if (plan_load(w, &plan_e) < 0) {
		undo_replay(w, NULL);
		*e = plan_e;
		return -1;
	}
	/* Of a worker that died, before this one changes anything. */
	if (undo_replay(w, e) < 0 || submitter_check(w, e) < 0 || room_make(w, e) < 0)
		return -1;
	w->tools.room = w->room;
	w->submitter.room = w->room;
	return helper_start(&w->submitter, w->workloads, w->n_workloads, &w->helper, e);
}

static void worker_close(struct worker *w)
{
	helper_stop(w->helper);
	store_sweep_workloads_done(w->workloads, w->n_workloads);
	tunables_free(w);
	matrix_free(w->matrix);
	plan_free(w->plan);
	registry_free(w->registry);
	claimed_done(&w->claimed); /* of a target that could not be released */
	store_close(w->store);
	config_free(w->config);
	arena_free(w->cell_arena);
	arena_free(w->arena);
	free(w->step_detail);
	text_done(&w->held_hints);
}

/* ---- how it ends ---- */

struct ending {
	int status;             /* WORKER_* */
	enum sweep_state state;
	const char *event;
	char reason[700];
};

static void ending_of_tally(const struct worker *w, const struct sweep_tally *t, struct ending *ret)
{
	int64_t n = t->n_ok + t->n_infeasible + t->n_failed;
	bool is_bad = t->n_failed > 0 || (w->sweep.strict && t->n_infeasible > 0);

	*ret = (struct ending){ .status = is_bad ? WORKER_FAILED : WORKER_DONE, .state = is_bad ? SWEEP_FAILED : SWEEP_DONE,
	                        .event = is_bad ? "failed" : "done" };
	if (t->n_failed > 0)
		snprintf(ret->reason, sizeof(ret->reason), "%lld of %lld cells failed%s%s", (long long)t->n_failed,
		         (long long)n, t->first_failure[0] != '\0' ? ": " : "", t->first_failure);
	else if (is_bad)
		snprintf(ret->reason, sizeof(ret->reason), "%lld of %lld cells are infeasible, and the sweep is strict",
		         (long long)t->n_infeasible, (long long)n);
}

static void ending_of_wish(const struct worker *w, struct ending *ret)
{
	switch (w->sweep.wanted) {
	case WANT_CANCEL:
		*ret = (struct ending){ WORKER_CANCELLED, SWEEP_CANCELLED, "cancelled", "" };
		return;
	case WANT_PAUSE:
		*ret = (struct ending){ WORKER_PAUSED, SWEEP_PAUSED, "paused", "paused by request" };
		return;
	case WANT_STOP:
		*ret = (struct ending){ WORKER_PAUSED, SWEEP_PAUSED, "paused", "stopped by request" };
		return;
	case WANT_NOTHING: /* this process is to end, not the sweep */
		break;
	}
	*ret = (struct ending){ WORKER_PAUSED, SWEEP_QUEUED, "interrupted", "" };
}

static void ending_of_failure(const struct worker *w, const struct err *why, struct ending *ret)
{
	bool is_pause = w->is_target_refused;

	switch (why->kind) {
	case ERR_CANCELLED:
		ending_of_wish(w, ret);
		return;
	case ERR_DEVICE_LOST:
		*ret = (struct ending){ WORKER_PAUSED, SWEEP_PAUSED, "paused", "" };
		snprintf(ret->reason, sizeof(ret->reason), "%s%.600s",
		         w->sweep.target_kind == TARGET_DEVICE ? REASON_LOST : "target lost: ", why->text);
		return;
	case ERR_NO_SPACE:
	case ERR_STORE:
	case ERR_BUSY:
	case ERR_REFUSED:   /* what this host refuses or lacks today may be otherwise tomorrow, and the plan stays as it is */
	case ERR_NOT_FOUND:
		is_pause = true;
		break;
	case ERR_NONE:
	case ERR_USAGE:
	case ERR_SYSTEM:
	case ERR_TOOL:
	case ERR_TIMEOUT:
	case ERR_INFEASIBLE:
	case ERR_MISMATCH:
	case ERR_PROTOCOL:
	case ERR_UNREACHABLE:
	case ERR_N_KINDS:
		break;
	}
	*ret = (struct ending){ is_pause ? WORKER_PAUSED : WORKER_FAILED, is_pause ? SWEEP_PAUSED : SWEEP_FAILED,
	                        is_pause ? "paused" : "failed", "" };
	snprintf(ret->reason, sizeof(ret->reason), "%.650s", why->text);
}

static void ending_of_undo(const struct err *why, struct ending *ret)
{
	*ret = (struct ending){ WORKER_UNDO_FAILED, SWEEP_PAUSED, "failed", "" };
	snprintf(ret->reason, sizeof(ret->reason), "not everything could be put back: %.600s", why->text);
}

/* The store may be what failed: what it cannot record is pending in the journal and is put back once more later. */
static bool is_store_trouble(const struct err *e)
{
	return e->kind == ERR_STORE || e->kind == ERR_NO_SPACE;
}

static void worker_undo(struct worker *w, struct runner *r, struct ending *ret)
{
	struct err e = { 0 };
	int rc;

	w->tools.cancel_fd = -1;
	record_commit(w, NULL); /* of what led to the end; a part of it may be what failed */
	/* All of it is tried, whatever fails; the first failure is told. */
	rc = strays_end(&e);
	if (runner_down(r, rc == 0 ? &e : NULL) < 0)
		rc = -1;
	if (undo_replay(w, rc == 0 ? &e : NULL) < 0)
		rc = -1;
	if (rc < 0 && !is_store_trouble(&e))
		ending_of_undo(&e, ret);
	else if (r->has_undo_failed && !is_store_trouble(&r->undo_error))
		ending_of_undo(&r->undo_error, ret);
}

static int worker_record_end(struct worker *w, const struct ending *end, struct err *e)
{
	if (w->is_parked) /* what becomes of the sweep was decided meanwhile */
		return end->status == WORKER_UNDO_FAILED ?
		               store_event(w->store, w->sweep_id, end->event, e, "%s", end->reason) :
		               0;
	if (end->state == SWEEP_DONE || end->state == SWEEP_FAILED)
		if (store_sweep_drift(w->store, w->sweep_id, e) < 0)
			return -1;
	if (store_begin(w->store, e) < 0)
		return -1;
	if (store_sweep_set_state(w->store, w->sweep_id, end->state, end->reason, e) < 0 ||
	    store_event(w->store, w->sweep_id, end->event, e, "%s", end->reason) < 0) {
		store_rollback(w->store);
		return -1;
	}
	return store_commit(w->store, e);
}

static int worker_run(struct worker *w)
{
	struct runner r = { .table = step_table, .w = w };
	struct sweep_tally tally;
	struct ending end;
	struct err e = { 0 };

	if (worker_prepare(w, &e) < 0) {
		ending_of_failure(w, &e, &end);
	} else {
		r.fresh = w->plan->fresh;
		store_event(w->store, w->sweep_id, w->sweep.cells_ended > 0 ? "resumed" : "started", NULL,
		            "%lld of %lld cells to do", (long long)(w->sweep.cells - w->sweep.cells_ended),
		            (long long)w->sweep.cells);
		record_hint(w, "started", "%s", w->sweep.plan_name);
		if (sweep_run(w, &r, &tally, &e) < 0)
			ending_of_failure(w, &e, &end);
		else
			ending_of_tally(w, &tally, &end);
	}
	worker_undo(w, &r, &end);
	runner_times_clear(&r);
	hang_disarm();
	if (worker_record_end(w, &end, &e) < 0)
		log_err(LOG_LEVEL_ERROR, &e, "the end of the sweep cannot be recorded");
	record_hint(w, end.event, "%s", end.reason);
	if (end.reason[0] != '\0')
		log_notice("%s: %s", end.event, end.reason);
	return end.status;
}

static int worker_undo_only(struct worker *w)
{
	struct err e = { 0 };
	int rc;

	w->tools.cancel_fd = -1;
	plan_load(w, NULL); /* says whether a filesystem is to be kept; the rest goes without it */
	rc = store_trials_interrupt(w->store, w->sweep_id, "the worker died", &e) < 0 ? -1 : undo_replay(w, &e);
	hang_disarm();
	if (rc < 0) {
		log_err(LOG_LEVEL_ERROR, &e, "undo");
		store_event(w->store, w->sweep_id, "failed", NULL, "not everything could be put back: %s", e.text);
		return is_store_trouble(&e) ? 1 : WORKER_UNDO_FAILED;
	}
	store_event(w->store, w->sweep_id, "restored", NULL, "everything is as it was before the sweep");
	record_hint(w, "restored", "everything is as it was before the sweep");
	return WORKER_DONE;
}

int worker_main(const char *config_file, int64_t sweep_id, enum worker_duty duty, int lock_fd)
{
	struct worker w = { .config_file = config_file, .sweep_id = sweep_id, .host_proc_fd = -1, .line_fd = -1, .cancel_fd = -1,
	                    .turn_fd = lock_fd, .duty = duty };
	char who[40];
	struct err e = { 0 };
	int status;

	snprintf(who, sizeof(who), "worker[%lld]", (long long)sweep_id);
	log_init(who, LOG_LEVEL_INFO);
	if (worker_isolate(&w, &e) < 0 || worker_open(&w, &e) < 0 || hang_watch(&w, &e) < 0) {
		log_err(LOG_LEVEL_ERROR, &e, "start");
		worker_close(&w);
		return WORKER_FAILED;
	}
	status = duty == WORKER_RUNS ? worker_run(&w) : worker_undo_only(&w);
	worker_close(&w);
	return status;
}
