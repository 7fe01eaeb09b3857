/* SPDX-License-Identifier: MIT
 *
 * Before a trial: cold caches, and a quiet machine; steps.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

#define PAUSE_MS 20

/* drop_caches leaves dirty pages alone, so the filesystem is written out first; both results count (vm.rst,
 * drop_caches). */
int caches_drop(struct worker *w, struct err *e)
{
	const struct claimed *c = &w->claimed;
	AUTO_CLOSE int fd = -1;
	char path[SYSROOT_PATH];

	if (c->mount_fd >= 0 && syncfs(c->mount_fd) < 0)
		return err_sys(e, errno, "write %s out before the caches are dropped", c->name);
	if (c->mount_fd < 0 && c->fd >= 0 && (fsync(c->fd) < 0 || ioctl(c->fd, BLKFLSBUF, 0) < 0))
		return err_sys(e, errno, "flush the buffers of %s", c->name);
	fd = open(sysroot_path(path, "/proc/sys/vm/drop_caches"), O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1)
		return err_sys(e, errno, "drop the caches");
	return 0;
}

/* ---- what may still be going on ---- */

static bool is_idle(const char *queue)
{
	char path[192], inflight[64];
	unsigned long reads, writes;

	return !sysroot_text(path_format(path, sizeof(path), "%s/inflight", queue), inflight, sizeof(inflight)) ||
	       sscanf(inflight, "%lu %lu", &reads, &writes) != 2 || reads + writes == 0;
}

/* The array itself and every array in between; Documentation/admin-guide/md.rst, sync_action. */
static int resync_note(const char *name, void *data)
{
	struct text *note = data;
	char path[192], action[32], done[64];

	if (!sysroot_text(path_format(path, sizeof(path), "/sys/block/%s/md/sync_action", name), action,
	                  sizeof(action)) ||
	    strcmp(action, "idle") == 0 || strcmp(action, "frozen") == 0)
		return 0;
	sysroot_text(path_format(path, sizeof(path), "/sys/block/%s/md/sync_completed", name), done, sizeof(done));
	text_printf(note, "%s%s of '%s' (%s sectors)", note->n > 0 ? "; " : "", action, name, done);
	return 0;
}

static void resyncs_note(const struct worker *w, struct text *note)
{
	char dir[192];
	const char *name = strrchr(w->claimed.sysfs, '/');

	if (name == NULL || w->claimed.kind == TARGET_DIRECTORY)
		return;
	resync_note(name + 1, note);
	sysroot_each(path_format(dir, sizeof(dir), "%s/slaves", w->claimed.sysfs), resync_note, note);
}

/* One kernel thread serves every ext4 of the host; it ends when the last table is written. */
static void lazy_init_note(const struct worker *w, struct text *note)
{
	AUTO_CLOSE int own = w->host_proc_fd >= 0 ? -1 : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int proc_fd = w->host_proc_fd >= 0 ? w->host_proc_fd : own;
	int dir_fd = w->claimed.is_lazy ? openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
	struct dirent *d;
	bool found = false;

	while (dir != NULL && !found && (d = readdir(dir)) != NULL) {
		AUTO_TEXT struct text comm = { 0 };
		char path[64];

		if (isdigit((unsigned char)d->d_name[0]) &&
		    file_read(proc_fd, path_format(path, sizeof(path), "%.20s/comm", d->d_name), 64, &comm, NULL) == 0)
			found = text_starts(text_str(&comm), "ext4lazyinit");
	}
	if (dir != NULL)
		closedir(dir);
	if (found)
		text_printf(note, "%sext4 initialises its tables lazily (ext4lazyinit)", note->n > 0 ? "; " : "");
}

static void inflight_note(const struct worker *w, struct text *note)
{
	for (size_t i = 0; i < w->claimed.n_queues; i++)
		if (!is_idle(w->claimed.queues[i])) {
			text_printf(note, "%sI/O in flight on '%s'", note->n > 0 ? "; " : "",
			            strrchr(w->claimed.queues[i], '/') + 1);
			return;
		}
}

static void busy_note(const struct worker *w, struct text *note)
{
	text_clear(note);
	resyncs_note(w, note);
	lazy_init_note(w, note);
	inflight_note(w, note);
}

/* Quiet at the first look is quiet; after that it must be quiet twice in a row. */
int settle_wait(struct worker *w, struct text *ret_note, struct err *e)
{
	int64_t deadline_ns = clock_ns() + w->plan->settle_ns;
	struct pollfd cancel = { .fd = w->cancel_fd, .events = POLLIN };
	int quiet = 1;

	text_clear(ret_note);
	if (w->plan->settle_ns == 0) {
		lazy_init_note(w, ret_note); /* no wait, but the trial is to be flagged */
		return 0;
	}
	for (;;) {
		busy_note(w, ret_note);
		quiet = ret_note->n == 0 ? quiet + 1 : 0;
		if (quiet >= 2 || clock_ns() >= deadline_ns)
			return 0;
		if (poll(&cancel, w->cancel_fd >= 0, PAUSE_MS) > 0)
			return err_set(e, ERR_CANCELLED, "cancelled while waiting for a quiet machine");
	}
}
