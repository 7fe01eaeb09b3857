/* SPDX-License-Identifier: MIT
 *
 * Block devices as sysfs and udev describe them; see device.h.  Signatures are in signature.c, the choice of the device
 * that a configuration means in device_find.c.
 */
#include "daemon/worker/device.h"

#include <ctype.h>
#include <fcntl.h>
#include <libudev.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "daemon/worker/sysroot.h"

#define SECTOR_BYTES 512 /* of sysfs' size, whatever the device's own blocks are */

static bool attr_text(const char *dir, const char *attr, char *ret, size_t size)
{
	char path[SYSROOT_PATH];

	path_format(path, sizeof(path), "%s/%s", dir, attr);
	return sysroot_text(path, ret, size);
}

static int64_t attr_integer(const char *dir, const char *attr, int64_t fallback)
{
	char path[SYSROOT_PATH];

	path_format(path, sizeof(path), "%s/%s", dir, attr);
	return sysroot_integer(path, fallback);
}

static dev_t attr_devno(const char *dir)
{
	char s[32];
	unsigned major_no, minor_no;

	if (!attr_text(dir, "dev", s, sizeof(s)) || sscanf(s, "%u:%u", &major_no, &minor_no) != 2)
		return 0;
	return makedev(major_no, minor_no);
}

/* "naa.5000C5..." "0x5000c5..." and "t10.ATA     X" name one thing in several spellings; blanks are squeezed. */
static void wwn_normalise(char *s)
{
	char *to = s;

	if (text_starts(s, "naa.")) {
		s[0] = '0';
		s[1] = 'x';
		memmove(s + 2, s + 4, strlen(s + 4) + 1);
	}
	for (const char *from = s; *from != '\0'; from++)
		if (!isblank((unsigned char)*from))
			*to++ = (char)tolower((unsigned char)*from);
	*to = '\0';
}

/* Vital product data page 0x80 is binary: four bytes of header, then the serial number (SPC-4, 7.8.15). */
static void serial_from_vpd(const char *disk, char *ret, size_t size)
{
	char path[SYSROOT_PATH];
	AUTO_TEXT struct text page = { 0 };
	size_t n = 0;

	path_format(path, sizeof(path), "%s/device/vpd_pg80", disk);
	if (sysroot_read(path, &page, NULL) < 0)
		return;
	for (size_t i = 4; i < page.n && n + 1 < size; i++)
		if (isgraph((unsigned char)page.s[i]))
			ret[n++] = page.s[i];
	ret[n] = '\0';
}

static void identity_from_sysfs(struct device *d, const char *disk)
{
	if (!attr_text(disk, "wwid", d->wwn, sizeof(d->wwn)))
		attr_text(disk, "device/wwid", d->wwn, sizeof(d->wwn));
	wwn_normalise(d->wwn);
	if (!attr_text(disk, "serial", d->serial, sizeof(d->serial)) &&
	    !attr_text(disk, "device/serial", d->serial, sizeof(d->serial)))
		serial_from_vpd(disk, d->serial, sizeof(d->serial));
	if (attr_text(d->sysfs, "loop/backing_file", d->backing_file, sizeof(d->backing_file)))
		d->is_loop_direct = attr_integer(d->sysfs, "loop/dio", 0) != 0;
}

/* wwn- names say less than those with model and serial number. */
static void by_id_add(struct device *d, const char *name)
{
	bool is_last = text_starts(name, "wwn-") || text_starts(name, "nvme-eui") || text_starts(name, "lvm-pv-");

	if (d->n_by_id == ARRAY_SIZE(d->by_id))
		return;
	if (!is_last && d->n_by_id > 0) {
		memmove(d->by_id[1], d->by_id[0], d->n_by_id * sizeof(d->by_id[0]));
		path_format(d->by_id[0], sizeof(d->by_id[0]), "%s", name);
	} else {
		path_format(d->by_id[d->n_by_id], sizeof(d->by_id[0]), "%s", name);
	}
	d->n_by_id++;
}

static void property_take(struct udev_device *u, const char *property, char *ret, size_t size)
{
	const char *s = udev_device_get_property_value(u, property);

	if (s != NULL && s[0] != '\0')
		path_format(ret, size, "%s", s);
}

/* What only udev's rules know.  Without a running udevd the database is empty and sysfs has to do. */
static void identity_from_udev(struct device *d)
{
	static struct udev *udev; /* lives as long as the process */
	struct udev_device *u;

	if (udev == NULL && sysroot_is_machine())
		udev = udev_new();
	u = udev == NULL || !sysroot_is_machine() ? NULL :
	                                            udev_device_new_from_subsystem_sysname(udev, "block", d->name);

	if (u != NULL) {
		property_take(u, "ID_WWN", d->wwn, sizeof(d->wwn));
		property_take(u, "ID_WWN_WITH_EXTENSION", d->wwn, sizeof(d->wwn));
		wwn_normalise(d->wwn);
		property_take(u, "ID_SERIAL", d->serial_long, sizeof(d->serial_long));
		property_take(u, "ID_SERIAL_SHORT", d->serial, sizeof(d->serial));
		property_take(u, "ID_MODEL", d->model, sizeof(d->model));
		property_take(u, "ID_REVISION", d->firmware, sizeof(d->firmware));
		for (struct udev_list_entry *l = udev_device_get_devlinks_list_entry(u); l != NULL;
		     l = udev_list_entry_get_next(l))
			if (text_starts(udev_list_entry_get_name(l), "/dev/disk/by-id/"))
				by_id_add(d, udev_list_entry_get_name(l) + strlen("/dev/disk/by-id/"));
		udev_device_unref(u);
	}
}

static void description_read(struct device *d, const char *disk)
{
	attr_text(disk, "device/model", d->model, sizeof(d->model));
	if (!attr_text(disk, "device/rev", d->firmware, sizeof(d->firmware)))
		attr_text(disk, "device/firmware_rev", d->firmware, sizeof(d->firmware));
	attr_text(disk, "queue/scheduler", d->scheduler, sizeof(d->scheduler));
	attr_text(disk, "queue/write_cache", d->write_cache, sizeof(d->write_cache));
	d->logical_block_bytes = attr_integer(disk, "queue/logical_block_size", 0);
	d->physical_block_bytes = attr_integer(disk, "queue/physical_block_size", 0);
	d->is_rotational = attr_integer(disk, "queue/rotational", 0) != 0;
}

/* Names: of the device itself, and of the disk that it is a part of. */
static void names_read(struct device *d, const char *name, char *real)
{
	char path[SYSROOT_PATH], *cut;

	path_format(d->name, sizeof(d->name), "%s", name);
	path_format(d->path, sizeof(d->path), "/dev/%s", name);
	for (char *c = d->path; *c != '\0'; c++) /* cciss!c0d0 is /dev/cciss/c0d0 */
		if (*c == '!')
			*c = '/';
	d->is_partition = sysroot_exists(path_format(path, sizeof(path), "%s/partition", real));
	path_format(d->disk, sizeof(d->disk), "%s", name);
	if (d->is_partition && (cut = strrchr(real, '/')) != NULL) {
		*cut = '\0';
		cut = strrchr(real, '/');
		path_format(d->disk, sizeof(d->disk), "%s", cut == NULL ? name : cut + 1);
	}
}

int device_read(const char *name, struct device *ret, struct err *e)
{
	char link[128], real[SYSROOT_PATH], disk[128];
	struct device d = { 0 };

	path_format(link, sizeof(link), "/sys/class/block/%s", name);
	if (strlen(name) >= sizeof(d.name) || strchr(name, '/') != NULL || !sysroot_resolve(link, real, sizeof(real)))
		return err_set(e, ERR_NOT_FOUND, "no block device is called '%s'", name);
	names_read(&d, name, real);
	path_format(disk, sizeof(disk), "/sys/block/%s", d.disk);
	path_format(d.sysfs, sizeof(d.sysfs), "%s%s%s", disk, d.is_partition ? "/" : "", d.is_partition ? name : "");
	d.devno = attr_devno(d.sysfs);
	d.disk_devno = attr_devno(disk);
	d.size_bytes = attr_integer(d.sysfs, "size", 0) * SECTOR_BYTES;
	d.is_read_only = attr_integer(d.sysfs, "ro", 0) != 0;
	d.diskseq = (uint64_t)attr_integer(disk, "diskseq", 0);
	description_read(&d, disk);
	identity_from_sysfs(&d, disk);
	identity_from_udev(&d);
	*ret = d;
	return 0;
}

int device_read_devno(dev_t devno, struct device *ret, struct err *e)
{
	char link[64], real[SYSROOT_PATH];

	path_format(link, sizeof(link), "/sys/dev/block/%u:%u", major(devno), minor(devno));
	if (!sysroot_resolve(link, real, sizeof(real)))
		return err_set(e, ERR_NOT_FOUND, "no block device has number %u:%u", major(devno), minor(devno));
	return device_read(strrchr(real, '/') + 1, ret, e);
}

bool device_loop_backing(const char *name, struct loop_backing *ret)
{
	AUTO_CLOSE int fd = -1;
	struct loop_info64 info;
	char path[128];

	if (!text_starts(name, "loop") || !sysroot_is_machine())
		return false;
	fd = open(path_format(path, sizeof(path), "/dev/%s", name), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
		return false;
	*ret = (struct loop_backing){ .dev = info.lo_device, .ino = info.lo_inode, .rdev = info.lo_rdevice };
	return true;
}

struct list {
	struct device *at;
	size_t n, cap;
};

static int list_add(const char *name, void *data)
{
	struct list *l = data;
	char path[128];
	struct device d;

	/* asked first: a host may have a hundred loop devices without a file */
	if (sysroot_integer(path_format(path, sizeof(path), "/sys/class/block/%s/size", name), 0) == 0 ||
	    device_read(name, &d, NULL) < 0 || d.size_bytes == 0)
		return 0;
	ARRAY_GROW(l->at, l->n, l->cap);
	l->at[l->n++] = d;
	return 0;
}

int device_list(struct device **ret, size_t *ret_n, struct err *e)
{
	struct list l = { 0 };

	if (!sysroot_exists("/sys/class/block"))
		return err_set(e, ERR_SYSTEM, "'/sys/class/block' is missing: sysfs is not mounted");
	sysroot_each("/sys/class/block", list_add, &l);
	*ret = l.at;
	*ret_n = l.n;
	return 0;
}

void device_identity(const struct device *d, char *ret, size_t size)
{
	int n = snprintf(ret, size, "diskseq=%llu", (unsigned long long)d->diskseq);

	if (d->wwn[0] != '\0' && n < (int)size)
		n += snprintf(ret + n, size - (size_t)n, " wwn=%s", d->wwn);
	if (d->serial[0] != '\0' && n < (int)size)
		n += snprintf(ret + n, size - (size_t)n, " serial=%s", d->serial);
	if (d->backing_file[0] != '\0' && n < (int)size)
		snprintf(ret + n, size - (size_t)n, " backing-file=%s", d->backing_file);
}
