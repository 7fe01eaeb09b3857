/* SPDX-License-Identifier: MIT
 *
 * The state of loop devices; see loop.h.
 */
#include "daemon/worker/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "daemon/worker/sysroot.h"

struct loop_state loop_state_read(int fd)
{
	struct loop_state s = { 0 };
	struct loop_info64 info;

	if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0 || ioctl(fd, BLKSSZGET, &s.block_bytes) < 0)
		return (struct loop_state){ 0 };
	s.is_loop = true;
	s.offset = info.lo_offset;
	s.sizelimit = info.lo_sizelimit;
	s.flags = info.lo_flags;
	return s;
}

static int status_restore(int fd, const struct loop_state *was)
{
	struct loop_info64 info;

	if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
		return -1;
	info.lo_offset = was->offset;
	info.lo_sizelimit = was->sizelimit;
	info.lo_flags = (info.lo_flags & ~(uint32_t)LO_FLAGS_AUTOCLEAR) | (was->flags & LO_FLAGS_AUTOCLEAR);
	return ioctl(fd, LOOP_SET_STATUS64, &info);
}

int loop_state_restore(int fd, const struct loop_state *was, struct err *e)
{
	struct loop_state now = loop_state_read(fd);
	bool was_direct = was->flags & LO_FLAGS_DIRECT_IO, is_direct = now.flags & LO_FLAGS_DIRECT_IO;

	if (!was->is_loop || !now.is_loop)
		return 0;
	if ((now.offset != was->offset || now.sizelimit != was->sizelimit || ((now.flags ^ was->flags) & LO_FLAGS_AUTOCLEAR)) &&
	    status_restore(fd, was) < 0)
		return err_sys(e, errno, "put back the state of the loop device");
	if (now.block_bytes != was->block_bytes && ioctl(fd, LOOP_SET_BLOCK_SIZE, (unsigned long)was->block_bytes) < 0)
		return err_sys(e, errno, "put back the block size of the loop device");
	if (is_direct != was_direct && ioctl(fd, LOOP_SET_DIRECT_IO, (unsigned long)was_direct) < 0)
		return err_sys(e, errno, "put back direct I/O of the loop device");
	return 0;
}

struct detach {
	const char *name;
	struct err *e;
};

static int detach_if_named(const char *loop, void *data)
{
	struct detach *d = data;
	char path[128], backing[512];
	AUTO_CLOSE int fd = -1;

	/* the directories may be spelt as from another root, and a file that is gone has a word behind its name */
	if (!sysroot_text(path_format(path, sizeof(path), "/sys/block/%s/loop/backing_file", loop), backing, sizeof(backing)) ||
	    strstr(backing, d->name) == NULL)
		return 0;
	fd = open(path_format(path, sizeof(path), "/dev/%s", loop), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (ioctl(fd, LOOP_CLR_FD, 0) < 0 && errno != ENXIO))
		return err_sys(d->e, errno, "detach '%s'", path);
	return 0;
}

int loop_detach(const char *name, struct err *e)
{
	struct detach d = { name, e };

	return sysroot_each("/sys/block", detach_if_named, &d);
}
