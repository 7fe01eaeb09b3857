/* SPDX-License-Identifier: MIT
 *
 * Work directories from the worker's side; see workplace.h.  The worker itself neither makes nor removes anything in
 * there: the helper does, or after a crash a child that becomes the submitter first.
 */
#include "daemon/worker/workplace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/bare.h"
#include "daemon/worker/guard.h"
#include "daemon/worker/helper.h"
#include "daemon/worker/room.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/target.h"
#include "daemon/worker/undo.h"
#include "daemon/worker/workdir.h"

#define WHOLE (INT64_C(1) << 20) /* what people are told in */

static bool has_files(const struct worker *w)
{
	return w->claimed.kind == TARGET_DIRECTORY || w->claimed.mount_fd >= 0;
}

void workplace_path(const struct worker *w, char ret[WORKPLACE_PATH])
{
	snprintf(ret, WORKPLACE_PATH, "%s/iosweep-%lld", has_files(w) ? "/target" : "/tmp", (long long)w->sweep_id);
}

static int journal_note(struct worker *w, struct err *e)
{
	char path[600];

	if (w->claimed.kind != TARGET_DIRECTORY || w->is_directory_noted)
		return 0;
	snprintf(path, sizeof(path), "%s/iosweep-%lld", w->claimed.directory, (long long)w->sweep_id);
	if (undo_save(w, STEP_CLAIM, "directory", path, "", e) < 0)
		return -1;
	w->is_directory_noted = true;
	return 0;
}

/* A workload on the bare device destroys what is on it as surely as mkfs does. */
static int bare_device_ask(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;
	struct signature there;

	if (c->private_node[0] == '\0' || c->mount_fd >= 0)
		return 0;
	if (guard_ask_again(w, &there, e) < 0)
		return -1;
	return bare_note(w, e);
}

int workplace_open(struct worker *w, struct err *e)
{
	char path[WORKPLACE_PATH];

	workplace_path(w, path);
	if (bare_device_ask(w, e) < 0 || journal_note(w, e) < 0 || node_note(w, e) < 0 || room_target_grant(w, e) < 0)
		return -1;
	if (helper_make_dir(w->helper, path, e) == 0)
		return 0;
	if (w->claimed.kind == TARGET_DIRECTORY)
		err_hint(e, "submitters need leave to write in '%s', as after chmod 1777", w->claimed.directory);
	return -1;
}

int workplace_check(const struct worker *w, struct err *e)
{
	char path[WORKPLACE_PATH], full[sizeof(w->room) + WORKPLACE_PATH];
	struct stat st;

	workplace_path(w, path);
	snprintf(full, sizeof(full), "%s%s", w->room, path);
	if (fstatat(AT_FDCWD, full, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, errno, "look at the work directory '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_REFUSED, "the work directory '%s' is no directory any more", path);
	if (has_files(w) && st.st_dev != w->claimed.mount_dev)
		return err_set(e, ERR_REFUSED,
		               "the work directory '%s' lies on device %u:%u, not on the target (%u:%u)", path,
		               major(st.st_dev), minor(st.st_dev), major(w->claimed.mount_dev),
		               minor(w->claimed.mount_dev));
	return 0;
}

int workplace_close(struct worker *w, struct err *e)
{
	char path[WORKPLACE_PATH];

	workplace_path(w, path);
	return helper_remove_dir(w->helper, path, e);
}

int workplace_extents(struct worker *w, struct extents *ret, struct err *e)
{
	char path[WORKPLACE_PATH];

	*ret = (struct extents){ 0 };
	if (!has_files(w))
		return 0;
	workplace_path(w, path);
	return helper_extents(w->helper, path, ret, e);
}

int workplace_check_space(const struct worker *w, int64_t bytes, const char *what, struct err *e)
{
	char need[SIZE_TEXT], have[SIZE_TEXT];
	struct statvfs st;
	int64_t left;

	if (!has_files(w)) /* they would be in memory, and no figure of theirs about the device */
		return err_set(e, ERR_REFUSED,
		               "no filesystem for its files (%s, %s): keep it to cells that have one, by 'only:'", what,
		               size_format(bytes, need));
	if (fstatvfs(w->claimed.mount_fd, &st) < 0)
		return err_sys(e, errno, "ask how much space is free");
	left = (int64_t)(st.f_bavail * st.f_frsize);
	if (bytes <= left)
		return 0;
	return err_set(e, ERR_REFUSED, "no space: it needs %s (%s), and %s are free", size_format(bytes, need), what,
	               size_format(left > WHOLE ? left / WHOLE * WHOLE : left, have));
}

/* The entry names a directory that the configuration offers, and in it a name that only iosweep makes. */
static bool path_is_ours(const struct worker *w, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL || !text_starts(slash, "/iosweep-"))
		return false;
	for (size_t i = 0; i < w->config->n_directories; i++) {
		const char *offered = w->config->directories[i].path;

		if (strlen(offered) == (size_t)(slash - path) && text_starts(path, offered))
			return true;
	}
	return false;
}

/* The submitter; or, if that user is gone, whoever the directory belongs to: it was made by the submitter. */
static struct tool_identity remover_of(const struct worker *w, const struct stat *st)
{
	if (w->submitter.login != NULL)
		return w->submitter;
	return (struct tool_identity){ .uid = st->st_uid, .gid = st->st_gid };
}

int workplace_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	struct tool_identity as;
	struct stat st;
	int status;
	pid_t pid;

	*ret_dropped = NULL;
	if (lstat(u->object, &st) < 0 && errno == ENOENT)
		return 0;
	if (!path_is_ours(w, u->object)) {
		*ret_dropped = "the configuration does not offer that directory any more";
		return 0;
	}
	as = remover_of(w, &st);
	if (as.uid == 0)
		return err_set(e, ERR_REFUSED, "'%s' belongs to root, and nothing is removed as root", u->object);
	as.room = NULL;
	as.cgroup_fd = -1;
	pid = fork();
	if (pid < 0)
		return err_sys(e, errno, "start a child");
	if (pid == 0)
		_exit(spawn_become(&as) < 0 || workdir_remove(u->object, NULL) < 0);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status == 0 ? 0 : err_set(e, ERR_SYSTEM, "cannot remove '%s' as user %u", u->object, (unsigned)as.uid);
}
