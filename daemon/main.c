/* SPDX-License-Identifier: MIT
 *
 * iosweepd: options, the choice of the role, and the daemon's start and end.  The daemon accepts, queues and
 * supervises; it touches no block device and never waits for one.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "daemon/check.h"
#include "daemon/child.h"
#include "daemon/comeback.h"
#include "daemon/daemon.h"
#include "daemon/notify.h"
#include "daemon/server.h"
#include "daemon/state.h"
#include "daemon/supervisor.h"
#include "daemon/worker/worker.h"
#include "schema/base/log.h"
#include "schema/host.h"

#define STORE_PATIENCE_MS 1000 /* whoever locks the store longer gets an error or is asked again: the loop must go on */
#define FAREWELL_MS 2000 /* for helpers that were killed at the end, and for last replies */

static const char usage[] =
	"usage: iosweepd [--config FILE] [--verbose]\n"
	"Runs sweeps of storage settings for iosweep(1); in the foreground, log lines on standard error.\n"
	"\n"
	"  -c, --config FILE  the host's configuration (default: " CONFIG_FILE_DEFAULT ")\n"
	"  -v, --verbose      more log lines\n"
	"  -h, --help         this text\n"
	"  -V, --version      the version\n"
	"\n"
	"See iosweepd(8) and iosweepd.conf(5).\n";

enum role { ROLE_DAEMON, ROLE_WORKER, ROLE_DESCRIBE, ROLE_CHECK };

struct options {
	enum role role;
	const char *config_file;
	bool is_verbose;
	int64_t sweep_id;      /* ROLE_WORKER */
	enum worker_duty duty; /* ROLE_WORKER */
	bool rehearse; /* the check role */
	const char *what, *name, *extra; /* ROLE_DESCRIBE */
	int64_t uid;           /* ROLE_CHECK */
};

/* ---- start ---- */

static int config_load(const char *file, struct config **ret, struct err *e)
{
	struct diags d;
	int status;

	diags_init(&d, file);
	status = config_read(file, &d, ret, e);
	diags_print(stderr, &d);
	diags_done(&d);
	return status;
}

static int group_find(const struct config *c, gid_t *ret, struct err *e)
{
	const struct group *group = getgrnam(c->group);

	if (group == NULL) {
		err_set_(e, ERR_NOT_FOUND, "there is no group '%s' on this host", c->group);
		return err_hint(e, "groupadd --system %s", c->group);
	}
	if (getpwnam(c->user) == NULL)
		log_warning("there is no user '%s' on this host: sweeps that root submits cannot run (useradd --system %s)", c->user,
		            c->user);
	*ret = group->gr_gid;
	return 0;
}

/* Faults of definitions are said once, here; a bad one is left out. */
static int workloads_check(const struct config *c, struct err *e)
{
	struct registry *registry;
	struct diags d;
	int status;

	diags_init(&d, "workloads");
	status = config_registry(c, &d, &registry, e);
	diags_print(stderr, &d);
	diags_done(&d);
	if (status < 0)
		return -1;
	registry_free(registry);
	return 0;
}

static int store_start(struct daemon *d, struct err *e)
{
	AUTO_FREE char *path = xasprintf("%s/iosweep.db", d->config->state);
	AUTO_FREE char *name = NULL;
	uint8_t uuid[16];

	if (store_open(path, STORE_WRITE, &d->store, e) < 0)
		return -1;
	if (host_identity(d->config->state, uuid, &name, e) < 0)
		return -1;
	if (store_host(d->store, uuid, name, &d->host_id, e) < 0)
		return -1;
	store_set_patience(d->store, STORE_PATIENCE_MS);
	return 0;
}

static int daemon_prepare(struct daemon *d, const char *config_file, int *ret_lock, struct err *e)
{
	if (geteuid() != 0)
		return err_set(e, ERR_REFUSED, "iosweepd must run as root: it mounts, formats and changes settings");
	if (config_load(config_file, &d->config, e) < 0)
		return -1;
	d->config_file = d->config->file;
	if (group_find(d->config, &d->gid, e) < 0 || state_prepare(d->config, d->gid, e) < 0 ||
	    state_lock(d->config, ret_lock, e) < 0 || workloads_check(d->config, e) < 0 || store_start(d, e) < 0)
		return -1;
	d->supervisor = supervisor_new(d);
	d->comeback = comeback_new(d);
	if (supervisor_load(d->supervisor, e) < 0)
		return -1;
	return server_new(d, &d->server, e);
}

/* ---- end ---- */

static uv_signal_t signals[2];
static uv_timer_t farewell;

static void farewell_is_over(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

static void daemon_stopped(struct daemon *d, void *data)
{
	(void)data;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		uv_close((uv_handle_t *)&signals[i], NULL);
	supervisor_close(d->supervisor);
	comeback_close(d->comeback);
	notify_done();
	/* whatever is left ends the loop by closing, or is not waited for any longer */
	uv_timer_init(&d->loop, &farewell);
	uv_timer_start(&farewell, farewell_is_over, FAREWELL_MS, 0);
	uv_unref((uv_handle_t *)&farewell);
}

static void daemon_stop(uv_signal_t *signal, int number)
{
	struct daemon *d = signal->data;

	if (d->is_stopping)
		return;
	d->is_stopping = true;
	log_notice("signal %d: stopping%s", number,
	           supervisor_sweep(d->supervisor) != 0 ? "; the running trial ends and is undone" : "");
	notify_stopping();
	server_close(d->server);
	child_kill_all(d);
	supervisor_stop(d->supervisor, daemon_stopped);
}

static void signals_take(struct daemon *d)
{
	static const int numbers[] = { SIGTERM, SIGINT };

	signal(SIGPIPE, SIG_IGN); /* a client that went away is seen by write(2) */
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		uv_signal_init(&d->loop, &signals[i]);
		signals[i].data = d;
		uv_signal_start(&signals[i], daemon_stop, numbers[i]);
	}
}

static void daemon_run(struct daemon *d)
{
	signals_take(d);
	notify_init(&d->loop);
	notify_status("idle"); /* first: who waits for the start sees it at once */
	notify_ready();
	log_notice("listening on '%s', state in '%s', %zu sweeps in the queue", d->config->socket, d->config->state,
	           d->queue.n);
	supervisor_go(d->supervisor);
	malloc_trim(0);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&farewell, NULL);
	log_notice("ended");
}

static int daemon_main(const struct options *o)
{
	struct daemon d = { 0 };
	char program[4096];
	struct err e = { 0 };
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int lock_fd = -1, status;

	/* small and steady: an idle daemon is to stay within a few MiB */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	log_init("iosweepd", o->is_verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	program[n > 0 ? n : 0] = '\0';
	d.program = program;
	uv_loop_init(&d.loop);
	status = daemon_prepare(&d, o->config_file, &lock_fd, &e);
	if (status == 0)
		daemon_run(&d);
	else
		log_err(LOG_LEVEL_ERROR, &e, "cannot start");
	if (status < 0 && d.supervisor != NULL) {
		supervisor_close(d.supervisor);
		comeback_close(d.comeback);
	}
	uv_run(&d.loop, UV_RUN_NOWAIT); /* for the close callbacks */
	uv_loop_close(&d.loop);
	supervisor_free(d.supervisor);
	comeback_free(d.comeback);
	queue_done(&d.queue);
	store_close(d.store);
	config_free(d.config);
	if (lock_fd >= 0)
		close(lock_fd);
	return status == 0 ? 0 : err_exit_status(e.kind);
}

/* ---- the other roles ---- */

static int worker_role(const struct options *o)
{
	AUTO_CLOSE int lock_fd = -1;
	struct config *c = NULL;
	struct err e;
	int status;

	log_init("iosweepd", o->is_verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	status = config_load(o->config_file, &c, &e);
	if (status == 0)
		status = state_lock_worker(c, o->sweep_id, &lock_fd, &e);
	config_free(c);
	if (status < 0) {
		log_err(LOG_LEVEL_ERROR, &e, "worker of sweep %lld", (long long)o->sweep_id);
		return e.kind == ERR_CANCELLED ? WORKER_PAUSED : 2;
	}
	return worker_main(o->config_file, o->sweep_id, o->duty, lock_fd);
}

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "iosweepd: %s%s%s%s\niosweepd: see 'iosweepd --help'\n", what, value[0] ? " '" : "", value,
	        value[0] ? "'" : "");
	return -1;
}

static int operands_read(int argc, char **argv, struct options *o)
{
	if (o->role == ROLE_DESCRIBE) {
		o->name = optind < argc ? argv[optind++] : NULL;
		o->extra = optind < argc ? argv[optind++] : NULL;
	}
	if (o->role == ROLE_CHECK && optind < argc && strcmp(argv[optind], "rehearse") == 0) {
		o->rehearse = true;
		optind++;
	}
	return optind < argc ? usage_error("takes no operand", argv[optind]) : 0;
}

/* Returns 1 if that was all, -1 if it is wrong. */
static int option_take(int option, struct options *o)
{
	switch (option) {
	case 'c':
		o->config_file = optarg;
		return 0;
	case 'v':
		o->is_verbose = true;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1;
	case 'V':
		puts("iosweepd " IOSWEEP_VERSION);
		return 1;
	case 'w':
		o->role = ROLE_WORKER;
		return integer_parse(optarg, 1, INT64_MAX, &o->sweep_id) == 0 ? 0 : usage_error("no sweep", optarg);
	case 'u':
		o->duty = WORKER_UNDOES;
		return 0;
	case 'U':
		o->duty = WORKER_UNDOES_A_CRASH;
		return 0;
	case 'd':
		o->role = ROLE_DESCRIBE;
		o->what = optarg;
		return 0;
	case 'k':
		o->role = ROLE_CHECK;
		return integer_parse(optarg, 0, UINT32_MAX, &o->uid) == 0 ? 0 : usage_error("no uid", optarg);
	}
	return usage_error("wrong option", "");
}

static int options_read(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' }, { "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },         { "version", no_argument, NULL, 'V' },
		/* roles that the daemon starts; not for people, but usable by hand under a debugger */
		{ "worker", required_argument, NULL, 'w' }, { "undo-only", no_argument, NULL, 'u' },
		{ "undo-crash", no_argument, NULL, 'U' },
		{ "describe", required_argument, NULL, 'd' }, { "check", required_argument, NULL, 'k' },
		{ 0 },
	};
	int option, status;

	while ((option = getopt_long(argc, argv, "c:vhV", longs, NULL)) != -1) {
		status = option_take(option, o);
		if (status != 0)
			return status;
	}
	return operands_read(argc, argv, o);
}

int main(int argc, char **argv)
{
	struct options o = { .config_file = CONFIG_FILE_DEFAULT };
	int status = options_read(argc, argv, &o);

	if (status != 0)
		return status > 0 ? 0 : 2;
	switch (o.role) {
	case ROLE_DAEMON:
		return daemon_main(&o);
	case ROLE_WORKER:
		return worker_role(&o);
	case ROLE_DESCRIBE:
		return describe_main(o.config_file, o.what, o.name, o.extra);
	case ROLE_CHECK:
		return check_main(o.config_file, (uint32_t)o.uid, o.rehearse);
	}
	return 2;
}
