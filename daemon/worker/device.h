/* SPDX-License-Identifier: MIT
 *
 * What a block device is: its identity, size, queue facts and signature; and which device of the host a name of the
 * configuration means.  Reads only: no function here writes to a device or changes a setting.
 *
 * Facts come from sysfs (Documentation/ABI/stable/sysfs-block), from udev's database where udevd runs, and from
 * libblkid's low-level probing (never its cache).
 */
#ifndef IOSWEEP_DEVICE_H
#define IOSWEEP_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/base/err.h"
#include "schema/base/text.h"
#include "schema/config.h"

#define DEVICE_NAME 64

struct device {
	char name[DEVICE_NAME];   /* the kernel's: "sda1" */
	char path[80];            /* "/dev/sda1" */
	char sysfs[192];          /* "/sys/block/sda/sda1" */
	char disk[DEVICE_NAME];   /* the whole disk: "sda"; equal to name unless a partition */
	dev_t devno, disk_devno;
	bool is_partition, is_read_only, is_rotational;
	int64_t size_bytes;
	uint64_t diskseq;         /* grows with every device that takes the node; of the disk; 0: the kernel has none */
	/* identity; "" where there is none */
	char wwn[128];            /* as udev or sysfs says it, normalised: "0x5000c500a1b2c3d4" or "eui.0025..." */
	char serial[160];         /* short */
	char serial_long[256];    /* udev's ID_SERIAL: with the model in front */
	char by_id[8][256];       /* names below /dev/disk/by-id, the most telling first */
	size_t n_by_id;
	char backing_file[512];   /* of a loop device */
	/* description, of the disk */
	char model[128], firmware[64], scheduler[160], write_cache[32];
	int64_t logical_block_bytes, physical_block_bytes;
	bool is_loop_direct;      /* a loop device with direct I/O */
};

/* By the kernel's name.  ERR_NOT_FOUND if there is none. */
int device_read(const char *name, struct device *ret, struct err *e);
/* By device number (/sys/dev/block). */
int device_read_devno(dev_t devno, struct device *ret, struct err *e);
/* Every disk and partition with a size, by name; owned by the caller (free). */
int device_list(struct device **ret, size_t *ret_n, struct err *e);

/* What a loop device stands on, by numbers that are the same in every mount namespace; its path is spelt as the
 * namespace that attached it sees it, which says little below a chroot or in a copy of the mounts.  loop(4),
 * LOOP_GET_STATUS64. */
struct loop_backing {
	dev_t dev;  /* of the filesystem that the file is on */
	ino_t ino;
	dev_t rdev; /* of the block device that takes the file's place; 0 */
};
/* False for what is no attached loop device, or in a recorded tree. */
bool device_loop_backing(const char *name, struct loop_backing *ret);

/* True if every identity that the list gives is the device's own.  A partition is found by its by-id name only, since
 * udev gives it the identities of its disk.  ret_why: what differs, or "". */
bool device_matches(const struct device *d, const struct config_device *c, char *ret_why, size_t size);
/* The one device of the host that c means; ERR_DEVICE_LOST if none matches, ERR_REFUSED if several do: the message says
 * which, and what differs in one that matches but for size.  ret_n_matching may be NULL; it is set on failure, too. */
int device_find(const struct config_device *c, struct device *ret, size_t *ret_n_matching, struct err *e);

/* "diskseq=9 wwn=0x5000..." : for undo entries. */
void device_identity(const struct device *d, char *ret, size_t size);
/* The line that lists the device below devices: in iosweepd.conf(5), with every identity it has, the strongest first;
 * "" if it has none that is stable. */
void device_config_line(const struct device *d, struct text *ret);

/* What libblkid sees on an open device (read-only is enough): "" and "" if nothing. */
struct signature {
	char type[64];      /* "ext4" "linux_raid_member" "gpt" ...; "several" if more than one that contradict */
	char usage[32];     /* "filesystem" "raid" "crypto" "other"; "partitions" for a partition table */
	char uuid[64];
};
int signature_read(int fd, struct signature *ret, struct err *e);
/* The same, looking for one type of filesystem only: fifty times as fast. */
int signature_read_only(int fd, const char *type, struct signature *ret, struct err *e);
/* Removes signatures (writes): only those whose UUID is `only_uuid`, or all if that is NULL.  fd: O_RDWR. */
int signature_wipe(int fd, const char *only_uuid, int *ret_n_wiped, struct err *e);

#endif
