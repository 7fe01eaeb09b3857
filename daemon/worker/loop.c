/* SPDX-License-Identifier: MIT
 *
 * The state of loop devices; see loop.h.
 */
#include "daemon/worker/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "daemon/worker/sysroot.h"

#define PARTITIONS_MAX 256
#define BUSY_WAIT_NS   INT64_C(2000000000) /* udevd may be looking at a partition */
#define BUSY_PAUSE_NS  (20 * 1000000L)

/* ---- partitions ---- */

static bool has_partition(const struct loop_state *s, int number)
{
	return (s->partitions[(number - 1) / 8] >> ((number - 1) % 8) & 1) != 0;
}

static void partition_add(struct loop_state *s, int64_t number)
{
	if (number >= 1 && number <= PARTITIONS_MAX)
		s->partitions[(number - 1) / 8] |= (uint8_t)(1 << ((number - 1) % 8));
}

struct look {
	const char *dir; /* of the device in sysfs */
	struct loop_state *s;
};

static int partition_take(const char *name, void *data)
{
	struct look *l = data;
	char path[192];

	partition_add(l->s, sysroot_integer(path_format(path, sizeof(path), "%s/%s/partition", l->dir, name), 0));
	return 0;
}

static void partitions_read(int fd, struct loop_state *ret)
{
	char dir[64];
	struct stat st;

	if (fstat(fd, &st) == 0)
		sysroot_each(path_format(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(st.st_rdev),
		                         minor(st.st_rdev)),
		             partition_take, &(struct look){ dir, ret });
}

static int partition_remove(int fd, int number)
{
	struct blkpg_partition which = { .pno = number };
	struct blkpg_ioctl_arg arg = { .op = BLKPG_DEL_PARTITION, .datalen = sizeof(which), .data = &which };
	int64_t deadline_ns = clock_ns() + BUSY_WAIT_NS;

	while (ioctl(fd, BLKPG, &arg) < 0) {
		if (errno == ENXIO)
			return 0;
		if (errno != EBUSY || clock_ns() > deadline_ns)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = BUSY_PAUSE_NS }, NULL);
	}
	return 0;
}

static int partitions_restore(int fd, const struct loop_state *was, const struct loop_state *now, struct err *e)
{
	for (int number = 1; number <= PARTITIONS_MAX; number++)
		if (has_partition(now, number) && !has_partition(was, number) && partition_remove(fd, number) < 0)
			return err_sys(e, errno, "remove partition %d of the loop device", number);
	return 0;
}

/* ---- the state as a whole ---- */

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
	partitions_read(fd, &s);
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
	if ((now.offset != was->offset || now.sizelimit != was->sizelimit ||
	     ((now.flags ^ was->flags) & LO_FLAGS_AUTOCLEAR)) &&
	    status_restore(fd, was) < 0)
		return err_sys(e, errno, "put back the state of the loop device");
	if (now.block_bytes != was->block_bytes && ioctl(fd, LOOP_SET_BLOCK_SIZE, (unsigned long)was->block_bytes) < 0)
		return err_sys(e, errno, "put back the block size of the loop device");
	if (is_direct != was_direct && ioctl(fd, LOOP_SET_DIRECT_IO, (unsigned long)was_direct) < 0)
		return err_sys(e, errno, "put back direct I/O of the loop device");
	return partitions_restore(fd, was, &now, e);
}

void loop_state_format(const struct loop_state *s, struct text *ret)
{
	if (!s->is_loop)
		return;
	text_printf(ret, "offset %" PRIu64 ", sizelimit %" PRIu64 ", flags %" PRIu32 ", blocks of %d, partitions",
	            s->offset, s->sizelimit, s->flags, s->block_bytes);
	for (int number = 1; number <= PARTITIONS_MAX; number++)
		if (has_partition(s, number))
			text_printf(ret, " %d", number);
}

bool loop_state_parse(const char *line, struct loop_state *ret)
{
	struct loop_state s = { .is_loop = true };
	char *end;
	int n = 0;

	if (sscanf(line, "offset %" SCNu64 ", sizelimit %" SCNu64 ", flags %" SCNu32 ", blocks of %d, partitions%n",
	           &s.offset, &s.sizelimit, &s.flags, &s.block_bytes, &n) != 4 || n == 0)
		return false;
	for (const char *at = line + n; *at != '\0'; at = end) {
		partition_add(&s, strtol(at, &end, 10));
		if (end == at)
			return false;
	}
	*ret = s;
	return true;
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
	if (!sysroot_text(path_format(path, sizeof(path), "/sys/block/%s/loop/backing_file", loop), backing,
	                  sizeof(backing)) ||
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
