/* SPDX-License-Identifier: MIT
 *
 * The daemon's places on disk; see state.h.
 */
#include "daemon/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "schema/base/text.h"

/* Whether nothing lies in a directory but what a daemon makes there, and what mkfs does. */
static int is_used_by_others(const char *path, bool *ret, struct err *e)
{
	bool has_store = false, has_others = false;
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return err_sys(e, errno, "open the directory '%s'", path);
	while ((entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;

		has_store = has_store || strcmp(name, "iosweep.db") == 0;
		has_others = has_others || (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		                            strcmp(name, "lost+found") != 0 && !text_starts(name, "iosweep-"));
	}
	closedir(dir);
	*ret = has_others && !has_store;
	return 0;
}

/* A wrong path in the configuration must not take /tmp or /srv away from everybody else. */
static int shared_refuse(const char *path, const struct stat *st, mode_t mode, struct err *e)
{
	bool is_used = false;

	if ((st->st_mode & 07777) == mode)
		return 0;
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		err_set(e, ERR_REFUSED, "'%s' is shared: others than root may write in it", path);
		return err_hint(e, "name a directory of its own, such as '%s/iosweep'", path);
	}
	if (is_used_by_others(path, &is_used, e) < 0)
		return -1;
	if (!is_used)
		return 0;
	err_set(e, ERR_REFUSED, "'%s' holds other things, and would get the mode %04o", path, (unsigned)mode);
	return err_hint(e, "name a directory of its own, such as '%s/iosweep', or chmod it yourself", path);
}

static int directory_make(const char *path, gid_t gid, mode_t mode, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "open the directory '%s'", path);
	if (st.st_uid != geteuid())
		return err_set(e, ERR_REFUSED, "'%s' belongs to uid %u", path, (unsigned)st.st_uid);
	if (shared_refuse(path, &st, mode, e) < 0)
		return -1;
	if (fchown(fd, (uid_t)-1, gid) < 0 || fchmod(fd, mode) < 0)
		return err_sys(e, errno, "set owner and mode of '%s'", path);
	return 0;
}

static int store_make(const char *path, gid_t gid, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(e, errno, "open '%s'", path);
	if (fchown(fd, (uid_t)-1, gid) < 0 || fchmod(fd, 0640) < 0)
		return err_sys(e, errno, "set owner and mode of '%s'", path);
	return 0;
}

int state_prepare(const struct config *c, gid_t gid, struct err *e)
{
	AUTO_FREE char *store = xasprintf("%s/iosweep.db", c->state);

	if (directory_make(c->state, gid, 0750, e) < 0)
		return err_in(e, "state directory");
	if (store_make(store, gid, e) < 0)
		return err_in(e, "store");
	if (c->images_path != NULL && directory_make(c->images_path, (gid_t)-1, 0700, e) < 0)
		return err_in(e, "images directory");
	return 0;
}

static int lock_open(const struct config *c, const char *name, int *ret, struct err *e)
{
	AUTO_FREE char *path = xasprintf("%s/%s", c->state, name);
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(e, errno, "open '%s'", path);
	*ret = fd;
	return 0;
}

int state_lock(const struct config *c, int *ret, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	char pid[32] = "";

	if (lock_open(c, "lock", &fd, e) < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_sys(e, errno, "lock '%s/lock'", c->state);
		if (pread(fd, pid, sizeof(pid) - 1, 0) < 0)
			pid[0] = '\0';
		pid[strspn(pid, "0123456789")] = '\0';
		err_set_(e, ERR_BUSY, "another iosweepd (pid %s) works in '%s'", pid[0] == '\0' ? "unknown" : pid,
		         c->state);
		return err_hint(e, "give this one a state directory of its own");
	}
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, strlen(pid), 0) < 0)
		return err_sys(e, errno, "write the pid to '%s/lock'", c->state);
	*ret = TAKE_FD(fd);
	return 0;
}

static void signal_ignore(int signal)
{
	(void)signal; /* it ends the flock(2) */
}

int state_lock_worker(const struct config *c, int64_t sweep_id, int *ret, struct err *e)
{
	struct flock own = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sweep_id, .l_len = 1 };
	const struct sigaction interrupting = { .sa_handler = signal_ignore };
	struct sigaction before;
	AUTO_CLOSE int fd = -1;
	int status, errnum;

	if (lock_open(c, "worker.lock", &fd, e) < 0)
		return -1;
	sigaction(SIGTERM, &interrupting, &before);
	status = fcntl(fd, F_OFD_SETLKW, &own);
	if (status == 0)
		status = flock(fd, LOCK_EX);
	errnum = errno;
	sigaction(SIGTERM, &before, NULL);
	if (status < 0 && errnum == EINTR)
		return err_set(e, ERR_CANCELLED, "told to end while another worker was still undoing");
	if (status < 0)
		return err_sys(e, errnum, "lock '%s/worker.lock'", c->state);
	*ret = TAKE_FD(fd);
	return 0;
}

bool state_worker_is_there(const struct config *c, int64_t sweep_id)
{
	struct flock own = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = sweep_id, .l_len = 1 };
	AUTO_CLOSE int fd = -1;

	return lock_open(c, "worker.lock", &fd, NULL) == 0 && fcntl(fd, F_OFD_GETLK, &own) == 0 &&
	       own.l_type != F_UNLCK;
}
