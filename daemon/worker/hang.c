/* SPDX-License-Identifier: MIT
 *
 * Telling that something hangs; see hang.h.
 *
 * The worker cannot tell of itself, so a second thread does: it sleeps in a read of a timer that the worker sets before
 * and clears after what may block.  That costs the worker one system call each, and nothing while a program runs.
 */
#include "daemon/worker/hang.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/worker/record.h"
#include "daemon/worker/sysroot.h"
#include "daemon/worker/target.h"
#include "daemon/worker/tunable.h"
#include "schema/base/log.h"

#define WATCH_STACK_BYTES ((size_t)256 << 10)
#define SECOND_NS INT64_C(1000000000)
#define LOOK_NS (5 * SECOND_NS) /* between two looks, in which a process that does not hang gets somewhere */

static struct {
	struct worker *w;       /* NULL: no watch */
	int timer_fd;
	pthread_mutex_t lock;   /* of what follows */
	bool is_armed;
	bool is_hanging;        /* the store and the daemon were told */
	bool is_paused;         /* the store's state was 'running' and is 'paused' for it */
	bool keeps_turn;        /* settings of the host are just being changed */
} hang = { .timer_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

int64_t hang_after_ns(void)
{
#ifdef IOSWEEP_TESTING
	const char *seconds = getenv("IOSWEEP_TEST_HANG_AFTER");

	if (seconds != NULL)
		return strtol(seconds, NULL, 10) * SECOND_NS;
#endif
	return 30 * SECOND_NS;
}

/* ---- who hangs ---- */

/* Through the host's /proc a pidfd shows the number that people there know: fdinfo, "Pid:" in proc(5). */
static pid_t host_pid(pid_t pid)
{
	AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	AUTO_TEXT struct text info = { 0 };
	char path[48];
	const char *line;

	if (pidfd < 0 || file_read(hang.w->host_proc_fd, path_format(path, sizeof(path), "self/fdinfo/%d", pidfd), 1024,
	                           &info, NULL) < 0)
		return pid;
	line = strstr(text_str(&info), "Pid:");
	return line == NULL ? pid : (pid_t)strtol(line + 4, NULL, 10);
}

/* ---- telling ---- */

/* The state is that of a sweep that runs; one whose leftovers are undone has another, which stays. */
static int pause_store(struct store *s, int64_t sweep_id, const char *reason, bool *ret_is_paused, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;

	if (store_sweep_get(s, sweep_id, a, &sweep, e) < 0)
		return -1;
	if (sweep.state == SWEEP_RUNNING && store_sweep_set_state(s, sweep_id, SWEEP_PAUSED, reason, e) < 0)
		return -1;
	*ret_is_paused = sweep.state == SWEEP_RUNNING;
	return store_event(s, sweep_id, "hangs", e, "%s", reason + strlen(REASON_HANGS));
}

/* What was set for the whole host must not stay while another sweep runs.  as: whose store and journal are used; the
 * worker itself may be in the middle of using its own.  The lock is held: whoever hangs does not go on before this is
 * decided. */
static void park(struct worker *as)
{
	struct worker *w = hang.w;
	struct err e;

	if (w->turn_fd < 0 || w->is_parked || (w->duty == WORKER_RUNS && !hang.is_paused) || hang.keeps_turn)
		return;
	if (host_settings_restore(as, &e) < 0) {
		log_err(LOG_LEVEL_WARNING, &e,
		        "settings of the host stay until the device answers, and nothing else runs");
		return;
	}
	w->is_parked = true;
	flock(w->turn_fd, LOCK_UN);
	record_line(w, "parked", "");
}

/* as: the calling thread's, see park.  What cannot be stored is told the daemon all the same. */
static void tell(struct worker *as, pid_t pid, const char *name, bool is_killed)
{
	const char *base = strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name;
	char reason[600];

	snprintf(reason, sizeof(reason), REASON_HANGS "%.300s does not answer: process %d ('%.60s') %s",
	         hang.w->claimed.name[0] != '\0' ? hang.w->claimed.name : hang.w->sweep.target, (int)host_pid(pid),
	         base, is_killed ? "does not end, not even killed" : "waits in the kernel");
	pthread_mutex_lock(&hang.lock);
	if (!hang.is_hanging && (is_killed || hang.is_armed)) {
		hang.is_hanging = true;
		record_line(hang.w, "hangs", reason + strlen(REASON_HANGS));
		if (as->store != NULL)
			pause_store(as->store, hang.w->sweep_id, reason, &hang.is_paused, NULL);
		park(as);
	}
	pthread_mutex_unlock(&hang.lock);
}

int hang_check(struct err *e)
{
	int rc = 0;

	if (hang.w == NULL)
		return 0;
	pthread_mutex_lock(&hang.lock);
	if (hang.w->is_parked)
		rc = err_set(e, ERR_DEVICE_LOST, "%s did not answer", hang.w->claimed.name);
	pthread_mutex_unlock(&hang.lock);
	return rc;
}

int hang_turn_keep(struct err *e)
{
	pthread_mutex_lock(&hang.lock);
	hang.keeps_turn = true;
	pthread_mutex_unlock(&hang.lock);
	if (hang_check(e) == 0)
		return 0;
	hang_turn_release();
	return -1;
}

void hang_turn_release(void)
{
	pthread_mutex_lock(&hang.lock);
	hang.keeps_turn = false;
	pthread_mutex_unlock(&hang.lock);
}

void hang_begin(pid_t pid, const char *name)
{
	if (hang.w == NULL)
		return;
	record_commit(hang.w, NULL);
	tell(hang.w, pid, name, true);
}

static void answer_tell(void)
{
	struct worker *w = hang.w;

	if (!hang.is_hanging)
		return;
	if (hang.is_paused && !w->is_parked)
		store_sweep_set_state(w->store, w->sweep_id, SWEEP_RUNNING, "", NULL);
	store_event(w->store, w->sweep_id, "answers", NULL, "what hung goes on");
	record_line(w, "answers", "what hung goes on");
	hang.is_hanging = hang.is_paused = false;
}

bool hang_end(void)
{
	if (hang.w == NULL)
		return false;
	pthread_mutex_lock(&hang.lock);
	answer_tell();
	pthread_mutex_unlock(&hang.lock);
	return hang.w->is_parked;
}

/* ---- the worker itself ---- */

static void timer_set(int64_t after_ns)
{
	struct itimerspec at = { .it_value = { after_ns / 1000000000, after_ns % 1000000000 } };

	timerfd_settime(hang.timer_fd, 0, &at, NULL);
}

void hang_arm(void)
{
	if (hang.w == NULL)
		return;
	pthread_mutex_lock(&hang.lock);
	hang.is_armed = true;
	timer_set(hang_after_ns());
	pthread_mutex_unlock(&hang.lock);
}

/* If the other thread is just telling, this waits until it has told. */
void hang_disarm(void)
{
	if (hang.w == NULL)
		return;
	pthread_mutex_lock(&hang.lock);
	hang.is_armed = false;
	timer_set(0);
	answer_tell();
	pthread_mutex_unlock(&hang.lock);
}

static void look_again(void)
{
	pthread_mutex_lock(&hang.lock);
	if (hang.is_armed)
		timer_set(LOOK_NS);
	pthread_mutex_unlock(&hang.lock);
}

/* State and number of sleeps so far of the first thread: /proc/PID/status in proc(5). */
static bool status_read(bool *ret_is_blocked, long *ret_sleeps)
{
	AUTO_TEXT struct text status = { 0 };
	const char *state, *sleeps;

	if (file_read(AT_FDCWD, "/proc/self/status", 8192, &status, NULL) < 0)
		return false;
	state = strstr(text_str(&status), "State:\t");
	sleeps = strstr(text_str(&status), "\nvoluntary_ctxt_switches:\t");
	if (state == NULL || sleeps == NULL)
		return false;
	*ret_is_blocked = state[7] == 'D';
	*ret_sleeps = strtol(sleeps + strlen("\nvoluntary_ctxt_switches:\t"), NULL, 10);
	return true;
}

static bool timer_wait(void)
{
	uint64_t n;

	while (read(hang.timer_fd, &n, sizeof(n)) != sizeof(n))
		if (errno != EINTR)
			return false;
	return true;
}

/* A connection of this thread's own: the worker's is in use, perhaps by what hangs.  Of the worker only what stays as
 * it is all its life. */
static void self_tell(void)
{
	AUTO_FREE char *path = xasprintf("%s/iosweep.db", hang.w->config->state);
	struct worker as = { .config = hang.w->config, .sweep_id = hang.w->sweep_id, .host_proc_fd = hang.w->host_proc_fd };

	memcpy(as.boot_id, hang.w->boot_id, sizeof(as.boot_id));
	claimed_init(&as.claimed);
	store_open(path, STORE_WRITE, &as.store, NULL);
	tell(&as, getpid(), "iosweepd --worker", false);
	store_close(as.store);
	tunables_free(&as);
}

static void *watch(void *arg)
{
	long before = -1, sleeps = 0;

	while (timer_wait()) {
		bool is_blocked = false;

		if (!status_read(&is_blocked, &sleeps))
			break;
		if (is_blocked && sleeps == before) {
			self_tell(); /* the timer stays off until the worker arms it again */
			before = -1;
			continue;
		}
		before = is_blocked ? sleeps : -1;
		look_again();
	}
	return arg;
}

int hang_watch(struct worker *w, struct err *e)
{
	pthread_attr_t attr;
	pthread_t thread;
	int errnum;

	hang.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (hang.timer_fd < 0)
		return err_sys(e, errno, "make the watch's timer");
	hang.w = w;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, WATCH_STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	errnum = pthread_create(&thread, &attr, watch, NULL);
	pthread_attr_destroy(&attr);
	if (errnum != 0)
		return err_sys(e, errnum, "start the watch");
	hang_arm();
	return 0;
}
