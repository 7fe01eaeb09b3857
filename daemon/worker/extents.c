/* SPDX-License-Identifier: MIT
 *
 * See extents.h.
 */
#include "daemon/worker/extents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/base/mem.h"

#define DEPTH_MAX 32
#define BATCH     128 /* extents asked for at once */

struct scan {
	dev_t dev;
	int n_files;
	struct extents sum;
};

/* The part of an extent that lies within the file. */
static int64_t extent_bytes(const struct fiemap_extent *x, int64_t size)
{
	int64_t end = (int64_t)(x->fe_logical + x->fe_length);

	return (end < size ? end : size) - (int64_t)x->fe_logical;
}

static void file_scan(struct scan *s, int fd, int64_t size)
{
	struct fiemap *m = xcalloc(1, sizeof(*m) + BATCH * sizeof(m->fm_extents[0]));
	struct extents own = { .bytes = size, .holes = size };
	bool is_last = false, is_known = false;
	uint64_t from = 0;

	while (!is_last && from < (uint64_t)size) {
		*m = (struct fiemap){ .fm_start = from, .fm_length = (uint64_t)size - from,
			              .fm_flags = FIEMAP_FLAG_SYNC, .fm_extent_count = BATCH };
		if (ioctl(fd, FS_IOC_FIEMAP, m) < 0)
			break;
		is_known = true;
		is_last = m->fm_mapped_extents < BATCH;
		for (uint32_t i = 0; i < m->fm_mapped_extents && i < BATCH; i++) {
			const struct fiemap_extent *x = &m->fm_extents[i];
			int64_t bytes = (int64_t)x->fe_logical < size ? extent_bytes(x, size) : 0;

			own.holes -= bytes;
			own.unwritten += (x->fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0 ? bytes : 0;
			own.encoded += (x->fe_flags & FIEMAP_EXTENT_ENCODED) != 0 ? bytes : 0;
			from = x->fe_logical + x->fe_length;
			is_last = is_last || (x->fe_flags & FIEMAP_EXTENT_LAST) != 0;
		}
	}
	free(m);
	if (!is_known)
		return;
	s->sum.bytes += own.bytes;
	s->sum.holes += own.holes;
	s->sum.unwritten += own.unwritten;
	s->sum.encoded += own.encoded;
}

static void directory_scan(struct scan *s, int fd, int depth);

static void entry_scan(struct scan *s, int dir_fd, const char *name, int depth)
{
	/* O_NONBLOCK: a tool may have left a FIFO. */
	AUTO_CLOSE int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != s->dev)
		return;
	if (S_ISREG(st.st_mode) && st.st_size > 0 && s->n_files++ < EXTENTS_FILES_MAX)
		file_scan(s, fd, st.st_size);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		directory_scan(s, fd, depth + 1);
}

static void directory_scan(struct scan *s, int fd, int depth)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (dir == NULL) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while (s->n_files < EXTENTS_FILES_MAX && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			entry_scan(s, fd, entry->d_name, depth);
	closedir(dir);
}

int extents_scan(const char *path, struct extents *ret, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct scan s = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "open the work directory '%s'", path);
	s.dev = st.st_dev;
	directory_scan(&s, fd, 0);
	*ret = s.sum;
	return 0;
}
