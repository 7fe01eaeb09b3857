/* SPDX-License-Identifier: MIT
 *
 * Counters of block devices; see iostat.h.  Read twice a trial.
 */
#include "daemon/worker/iostat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECTOR_BYTES 512 /* the unit of the stat file, whatever the device's own */

bool iostat_parse(const char *text, struct io_bytes *ret)
{
	long long v[7];

	/* reads merged sectors ms writes merged sectors ... */
	if (sscanf(text, "%lld %lld %lld %lld %lld %lld %lld", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]) != 7)
		return false;
	ret->read = v[2] * SECTOR_BYTES;
	ret->written = v[6] * SECTOR_BYTES;
	return true;
}

static bool stat_file_read(const char *dir, struct io_bytes *ret)
{
	char path[300], buf[512];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stat", dir);
	{
		AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

		n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	}
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return iostat_parse(buf, ret);
}

/* "/sys/block/sdb" of "/sys/block/sdb/sdb1" or of "/sys/class/block/sdb1": the one bottom queue of a partition. */
static const char *disk_of_partition(const struct claimed *c)
{
	return c->n_queues == 1 && c->lease_fd >= 0 ? c->queues[0] : NULL;
}

void iostat_read(const struct worker *w, struct io_count *ret)
{
	const struct claimed *c = &w->claimed;
	char dir[300];

	*ret = (struct io_count){ 0 };
	if (c->sysfs[0] != '\0')
		snprintf(dir, sizeof(dir), "%s", c->sysfs);
	else
		snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(c->mount_dev), minor(c->mount_dev));
	ret->is_known = stat_file_read(dir, &ret->target);
	ret->disk = ret->target;
	if (ret->is_known && disk_of_partition(c) != NULL)
		stat_file_read(disk_of_partition(c), &ret->disk);
}
