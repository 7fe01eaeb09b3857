/* SPDX-License-Identifier: MIT
 *
 * Making and removing trees that a stranger filled; see workdir.h.  Every step down is openat(2) with O_NOFOLLOW on a
 * descriptor, so a rename in between changes nothing.  A tree deeper than DEPTH_MAX is taken apart by moving its
 * lower parts up, since each level holds a descriptor.
 */
#include "daemon/worker/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/base/mem.h"

#define DEPTH_MAX 64

struct removal {
	int top_fd;
	dev_t dev;
	unsigned n_moved; /* parts that were moved up to the top, in all */
};

static int entry_remove(struct removal *r, int dir_fd, const char *name, int depth, struct err *e);

static int children_remove(struct removal *r, int dir_fd, int depth, struct err *e)
{
	struct dirent *entry;
	int copy = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0), rc = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (dir == NULL) {
		if (copy >= 0)
			close(copy);
		return err_sys(e, errno, "read a directory");
	}
	rewinddir(dir);
	while (rc == 0 && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = entry_remove(r, dir_fd, entry->d_name, depth, e);
	closedir(dir);
	return rc;
}

/* A tool may have taken its own right to look into a directory. */
static int child_open(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
		fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int directory_remove(struct removal *r, int dir_fd, const char *name, int depth, struct err *e)
{
	AUTO_CLOSE int fd = child_open(dir_fd, name);
	struct stat st;
	char up[40];

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "open '%.100s'", name);
	if (st.st_dev != r->dev)
		return err_set(e, ERR_REFUSED, "'%.100s' is on another device", name);
	fchmod(fd, 0700);
	if (depth >= DEPTH_MAX) {
		snprintf(up, sizeof(up), ".iosweep-deep-%u", r->n_moved++);
		return renameat(dir_fd, name, r->top_fd, up) < 0 ? err_sys(e, errno, "move '%.100s'", name) : 0;
	}
	if (children_remove(r, fd, depth + 1, e) < 0)
		return -1;
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
		return err_sys(e, errno, "remove '%.100s'", name);
	return 0;
}

static int entry_remove(struct removal *r, int dir_fd, const char *name, int depth, struct err *e)
{
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return err_sys(e, errno, "remove '%.100s'", name);
	return directory_remove(r, dir_fd, name, depth, e);
}

static int tree_empty(int fd, struct err *e)
{
	struct removal r = { .top_fd = fd };
	struct stat st;
	unsigned moved;

	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "look at a directory");
	r.dev = st.st_dev;
	do { /* what was moved up while the directory was read may or may not have been seen */
		moved = r.n_moved;
		if (children_remove(&r, fd, 0, e) < 0)
			return -1;
	} while (r.n_moved != moved);
	return 0;
}

int workdir_remove(const char *path, struct err *e)
{
	AUTO_CLOSE int fd = child_open(AT_FDCWD, path);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) /* a tool put a file or a link in its place: that goes, and no more */
		return unlink(path) < 0 && errno != ENOENT ? err_sys(e, errno, "remove '%s'", path) : 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, errno, "open '%s'", path);
	fchmod(fd, 0700);
	if (tree_empty(fd, e) < 0)
		return err_in(e, "empty '%s'", path);
	if (rmdir(path) < 0 && errno != ENOENT)
		return err_sys(e, errno, "remove '%s'", path);
	return 0;
}

int workdir_make(const char *path, struct err *e)
{
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return err_sys(e, errno, "make the work directory '%s'", path);
	if (lstat(path, &st) < 0)
		return err_sys(e, errno, "look at '%s'", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(e, ERR_REFUSED, "the work directory's name '%s' is taken by somebody else", path);
	if (workdir_remove(path, e) < 0)
		return -1;
	if (mkdir(path, 0700) < 0)
		return err_sys(e, errno, "make the work directory '%s'", path);
	return 0;
}
