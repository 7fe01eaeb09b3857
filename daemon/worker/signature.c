/* SPDX-License-Identifier: MIT
 *
 * What is written on a device, by libblkid's low-level probing; see device.h.  The high-level calls would answer from a
 * cache file and would skip devices that another program has locked.
 */
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/worker/device.h"
#include "daemon/worker/sysroot.h"

#define PROBE_AMBIVALENT (-2) /* blkid_do_safeprobe(): several that contradict */

static void auto_probe(blkid_probe *pr)
{
	if (*pr != NULL)
		blkid_free_probe(*pr);
}
#define AUTO_PROBE __attribute__((cleanup(auto_probe)))

static int probe_open(int fd, int superblock_flags, int partition_flags, blkid_probe *ret, struct err *e)
{
	AUTO_PROBE blkid_probe pr = blkid_new_probe();

	errno = ENOMEM;
	if (pr == NULL || blkid_probe_set_device(pr, fd, 0, 0) != 0)
		return err_sys(e, errno, "prepare to read the signatures");
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, superblock_flags);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, partition_flags);
	*ret = TAKE(pr);
	return 0;
}

static void value_take(blkid_probe pr, const char *name, char *ret, size_t size)
{
	const char *s;

	if (blkid_probe_lookup_value(pr, name, &s, NULL) == 0)
		path_format(ret, size, "%s", s);
}

int signature_read(int fd, struct signature *ret, struct err *e)
{
	AUTO_PROBE blkid_probe pr = NULL;
	struct signature s = { 0 };
	int rc;

	if (probe_open(fd, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_MAGIC, 0, &pr, e) <
	    0)
		return -1;
	errno = 0;
	rc = blkid_do_safeprobe(pr);
	if (rc == PROBE_AMBIVALENT) {
		path_format(s.type, sizeof(s.type), "several");
	} else if (rc < 0) {
		return err_sys(e, errno == 0 ? EIO : errno, "read the signatures");
	} else if (rc == 0) {
		value_take(pr, "TYPE", s.type, sizeof(s.type));
		value_take(pr, "USAGE", s.usage, sizeof(s.usage));
		value_take(pr, "UUID", s.uuid, sizeof(s.uuid));
		if (s.type[0] == '\0') {
			value_take(pr, "PTTYPE", s.type, sizeof(s.type));
			value_take(pr, "PTUUID", s.uuid, sizeof(s.uuid));
			path_format(s.usage, sizeof(s.usage), "partitions");
		}
	}
	*ret = s;
	return 0;
}

int signature_read_only(int fd, const char *type, struct signature *ret, struct err *e)
{
	AUTO_PROBE blkid_probe pr = NULL;
	AUTO_FREE char *name = xstrdup(type);
	char *names[] = { name, NULL };
	struct signature s = { 0 };

	if (probe_open(fd, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID, 0, &pr, e) < 0)
		return -1;
	blkid_probe_enable_partitions(pr, 0);
	if (blkid_probe_filter_superblocks_type(pr, BLKID_FLTR_ONLYIN, names) != 0)
		return err_set(e, ERR_SYSTEM, "libblkid does not know '%s'", type);
	errno = EIO;
	if (blkid_do_probe(pr) < 0)
		return err_sys(e, errno, "read the signature");
	value_take(pr, "TYPE", s.type, sizeof(s.type));
	value_take(pr, "UUID", s.uuid, sizeof(s.uuid));
	*ret = s;
	return 0;
}

int signature_wipe(int fd, const char *only_uuid, int *ret_n_wiped, struct err *e)
{
	AUTO_PROBE blkid_probe pr = NULL;
	int n_wiped = 0;

	if (probe_open(fd, BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID, BLKID_PARTS_MAGIC, &pr, e) < 0)
		return -1;
	while (blkid_do_probe(pr) == 0) {
		char uuid[64] = "";

		value_take(pr, "UUID", uuid, sizeof(uuid));
		if (only_uuid != NULL && strcmp(uuid, only_uuid) != 0)
			continue;
		errno = EIO;
		if (blkid_do_wipe(pr, 0) != 0)
			return err_sys(e, errno, "wipe a signature");
		n_wiped++;
	}
	if (n_wiped > 0 && fsync(fd) < 0)
		return err_sys(e, errno, "write the wiped signature to the device");
	*ret_n_wiped = n_wiped;
	return 0;
}
