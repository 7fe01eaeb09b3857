/* SPDX-License-Identifier: MIT
 *
 * Who uses a block device; see device_use.h.
 */
#include "daemon/worker/device_use.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/worker/sysroot.h"

#define FAMILY_MAX 260 /* a disk and 256 partitions */

/* The device and what shares its blocks. */
struct family {
	struct { dev_t devno; char name[DEVICE_NAME]; } at[FAMILY_MAX];
	size_t n;
};

static const char *family_has(const struct family *f, dev_t devno)
{
	for (size_t i = 0; i < f->n && devno != 0; i++)
		if (f->at[i].devno == devno)
			return f->at[i].name;
	return NULL;
}

static void family_add(struct family *f, const struct device *d)
{
	if (f->n == FAMILY_MAX)
		return;
	f->at[f->n].devno = d->devno;
	path_format(f->at[f->n++].name, DEVICE_NAME, "%s", d->name);
}

struct partitions {
	struct family *f;
	const char *disk;
};

static int family_add_partition(const char *name, void *data)
{
	struct partitions *p = data;
	struct device d;

	if (text_starts(name, p->disk) && device_read(name, &d, NULL) == 0 && d.is_partition &&
	    strcmp(d.disk, p->disk) == 0)
		family_add(p->f, &d);
	return 0;
}

static void family_of(const struct device *d, struct family *f)
{
	struct partitions partitions = { f, d->name };
	struct device disk;

	family_add(f, d);
	if (!d->is_partition)
		sysroot_each(d->sysfs, family_add_partition, &partitions);
	else if (device_read(d->disk, &disk, NULL) == 0)
		family_add(f, &disk);
}

static dev_t node_devno(const char *path)
{
	struct stat st;

	return path != NULL && path[0] == '/' && stat(path, &st) == 0 && S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

/* ---- what a loop device stands on ---- */

/* A file or block device, by its numbers; all are 0 for one that cannot be reached from here. */
struct standing {
	char path[512];
	dev_t dev, rdev;
	ino_t ino;
};

static void standing_by_path(const char *path, struct standing *ret)
{
	struct stat st;

	*ret = (struct standing){ 0 };
	path_format(ret->path, sizeof(ret->path), "%s", path);
	if (path[0] != '/' || stat(path, &st) < 0)
		return;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->rdev = S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

static bool loop_standing(const char *name, struct standing *ret)
{
	char path[128], backing[512];
	struct loop_backing on;

	if (!text_starts(name, "loop") ||
	    !sysroot_text(path_format(path, sizeof(path), "/sys/block/%s/loop/backing_file", name), backing,
	                  sizeof(backing)))
		return false;
	standing_by_path(backing, ret);
	if (device_loop_backing(name, &on)) {
		ret->dev = on.dev;
		ret->ino = on.ino;
		ret->rdev = on.rdev;
	}
	return true;
}

static bool is_same(const struct standing *a, const struct standing *b)
{
	if (strcmp(a->path, b->path) == 0)
		return true;
	if (a->rdev != 0 || b->rdev != 0)
		return a->rdev == b->rdev;
	return a->ino != 0 && a->dev == b->dev && a->ino == b->ino;
}

struct backing {
	struct family *f;
	const char *loop;
	struct standing on; /* what the loop device stands on */
};

static int twin_add(const char *name, void *data)
{
	struct backing *b = data;
	struct standing on;
	struct device d;

	if (strcmp(name, b->loop) != 0 && loop_standing(name, &on) && is_same(&b->on, &on) &&
	    device_read(name, &d, NULL) == 0)
		family_of(&d, b->f);
	return 0;
}

/* Other loop devices over the same file, whatever their offsets, and the block device that takes the file's place. */
static void family_add_backing(struct family *f, const struct device *d)
{
	struct device at = *d, below;

	for (int depth = 0; at.backing_file[0] != '\0' && depth < 8; depth++) {
		struct backing b = { .f = f, .loop = at.name };

		if (!loop_standing(at.name, &b.on))
			return;
		sysroot_each("/sys/block", twin_add, &b);
		if (device_read_devno(b.on.rdev, &below, NULL) < 0)
			return;
		family_of(&below, f);
		at = below;
	}
}

/* ---- mounts ---- */

/* A filesystem of an anonymous device number (btrfs) is known by its source only. */
static const char *mount_member(const struct family *f, struct libmnt_fs *fs)
{
	const char *name = family_has(f, mnt_fs_get_devno(fs));

	return name != NULL ? name : family_has(f, node_devno(mnt_fs_get_srcpath(fs)));
}

/* Parsing costs a hundred times as much as reading; most namespaces do not name the device at all. */
static bool mountinfo_may_name(const struct family *f, int proc_fd, const char *pid)
{
	AUTO_TEXT struct text info = { 0 };
	char path[64], devno[32];

	if (file_read(proc_fd, path_format(path, sizeof(path), "%.20s/mountinfo", pid), (size_t)8 << 20, &info, NULL) <
	    0)
		return true; /* the parser will say */
	if (strstr(text_str(&info), " - btrfs ") != NULL)
		return true;
	for (size_t i = 0; i < f->n; i++)
		if (strstr(text_str(&info), path_format(devno, sizeof(devno), " %u:%u ", major(f->at[i].devno),
		                                        minor(f->at[i].devno))) != NULL)
			return true;
	return false;
}

static void mountinfo_search(const struct family *f, const char *path, const char *pid, struct device_use *ret)
{
	struct libmnt_table *table = mnt_new_table_from_file(path);
	struct libmnt_iter *it = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	while (table != NULL && it != NULL && ret->mounted[0] == '\0' && mnt_table_next_fs(table, it, &fs) == 0) {
		const char *name = mount_member(f, fs), *target = mnt_fs_get_target(fs);

		if (name != NULL)
			path_format(ret->mounted, sizeof(ret->mounted), "on '%.150s' ('/dev/%s', seen by process %s)",
			            target == NULL ? "?" : target, name, pid);
	}
	mnt_free_iter(it);
	mnt_unref_table(table);
}

struct seen {
	char (*at)[32]; /* "mnt:[4026531841]" */
	size_t n, cap;
};

static bool namespace_is_new(int proc_fd, const char *pid, struct seen *seen)
{
	char path[64], id[32];
	ssize_t n = readlinkat(proc_fd, path_format(path, sizeof(path), "%s/ns/mnt", pid), id, sizeof(id) - 1);

	if (n < 0)
		return errno == EACCES; /* then each process is read */
	id[n] = '\0';
	for (size_t i = 0; i < seen->n; i++)
		if (strcmp(seen->at[i], id) == 0)
			return false;
	ARRAY_GROW(seen->at, seen->n, seen->cap);
	path_format(seen->at[seen->n++], sizeof(id), "%s", id);
	return true;
}

static int mounts_search(const struct family *f, int proc_fd, struct device_use *ret, struct err *e)
{
	int dir_fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
	struct seen seen = { 0 };
	struct dirent *d;
	char path[96];

	if (dir == NULL) {
		int errnum = errno;

		if (dir_fd >= 0)
			close(dir_fd);
		return err_sys(e, errnum, "read the host's /proc");
	}
	while (ret->mounted[0] == '\0' && (d = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)d->d_name[0]) || !namespace_is_new(proc_fd, d->d_name, &seen) ||
		    !mountinfo_may_name(f, proc_fd, d->d_name))
			continue;
		path_format(path, sizeof(path), "/proc/self/fd/%d/%.20s/mountinfo", proc_fd, d->d_name);
		mountinfo_search(f, path, d->d_name, ret);
	}
	closedir(dir);
	free(seen.at);
	return 0;
}

/* ---- swap ---- */

/* A swap area on a block device, of the device or what shares its blocks.  The node may be out of reach, as a backing
 * file may; its name is the kernel's all the same. */
static const char *swap_member(const struct family *f, const char *path, const char *type)
{
	const char *name = family_has(f, node_devno(path)), *base = strrchr(path, '/');

	for (size_t i = 0; i < f->n && name == NULL && base != NULL && strcmp(type, "partition") == 0; i++)
		if (node_devno(path) == 0 && strcmp(f->at[i].name, base + 1) == 0)
			name = f->at[i].name;
	return name;
}

/* proc(5): a header, then a line an area that begins with its path and "partition" or "file". */
static void swaps_search(const struct device *d, const struct family *f, int proc_fd, struct device_use *ret)
{
	AUTO_TEXT struct text swaps = { 0 };
	struct standing on, area;
	const char *line;

	if (file_read(proc_fd, "swaps", (size_t)1 << 20, &swaps, NULL) < 0)
		return;
	for (line = text_str(&swaps); *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t n = strcspn(line, " \t\n"), blanks = strspn(line + n, " \t");
		AUTO_FREE char *path = xstrndup(line, n);
		AUTO_FREE char *type = xstrndup(line + n + blanks, strcspn(line + n + blanks, " \t\n"));
		const char *name = swap_member(f, path, type);

		if (name != NULL)
			path_format(ret->swap, sizeof(ret->swap), "'/dev/%s'", name);
		else if (path[0] == '/' && loop_standing(d->name, &on) &&
		         (standing_by_path(path, &area), is_same(&on, &area)))
			path_format(ret->swap, sizeof(ret->swap), "'%.200s'", path);
	}
}

/* ---- what stands on it ---- */

struct search {
	const struct family *f;
	const char *name; /* whose holders are listed */
	struct device_use *ret;
};

static int holder_take(const char *holder, void *data)
{
	struct search *s = data;
	char path[192], dm[128];

	sysroot_text(path_format(path, sizeof(path), "/sys/class/block/%s/dm/name", holder), dm, sizeof(dm));
	path_format(s->ret->holder, sizeof(s->ret->holder), dm[0] ? "'/dev/%s' (%s), which stands on '/dev/%s'" :
	            "'/dev/%s'%s, which stands on '/dev/%s'", holder, dm, s->name);
	return 1;
}

static void holders_search(const struct family *f, struct device_use *ret)
{
	char dir[128];

	for (size_t i = 0; i < f->n && ret->holder[0] == '\0'; i++) {
		struct search s = { .f = f, .name = f->at[i].name, .ret = ret };

		sysroot_each(path_format(dir, sizeof(dir), "/sys/class/block/%s/holders", f->at[i].name), holder_take,
		             &s);
	}
}

/* One that is itself of the family stands below or beside the device, not on it. */
static int loop_take(const char *name, void *data)
{
	struct search *s = data;
	struct standing on;

	if (!loop_standing(name, &on) || family_has(s->f, on.rdev) == NULL)
		return 0;
	for (size_t i = 0; i < s->f->n; i++)
		if (strcmp(s->f->at[i].name, name) == 0)
			return 0;
	path_format(s->ret->loop, sizeof(s->ret->loop), "'/dev/%s'", name);
	return 1;
}

static int pool_member_take(const char *member, void *data)
{
	struct search *s = data;

	for (size_t i = 0; i < s->f->n; i++)
		if (strcmp(s->f->at[i].name, member) == 0)
			return 1;
	return 0;
}

/* A btrfs of several devices shows only one of them in mountinfo. */
static int pool_take(const char *uuid, void *data)
{
	struct search *s = data;
	char dir[192];

	if (sysroot_each(path_format(dir, sizeof(dir), "/sys/fs/btrfs/%s/devices", uuid), pool_member_take, s) == 0)
		return 0;
	path_format(s->ret->pool, sizeof(s->ret->pool), "%s", uuid);
	return 1;
}

/* ---- the root filesystem ---- */

struct bottoms {
	char (*at)[DEVICE_NAME];
	size_t n, max;
	int depth;
	const struct family *f; /* while looking for one of these on the way down */
	const char *hit;
};

static void bottoms_walk(const char *name, struct bottoms *b);

static int slave_walk(const char *name, void *data)
{
	bottoms_walk(name, data);
	return 0;
}

static int entry_stop(const char *name, void *data)
{
	(void)name;
	(void)data;
	return 1;
}

static void bottom_add(struct bottoms *b, const char *disk)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->at[i], disk) == 0)
			return;
	if (b->n < b->max)
		path_format(b->at[b->n++], DEVICE_NAME, "%s", disk);
}

/* Down from an array or mapping to the disks.  The depth ends a loop in a broken recorded tree. */
static void bottoms_walk(const char *name, struct bottoms *b)
{
	struct device d;
	char dir[256];
	bool is_stacked;

	if (b->depth > 16 || device_read(name, &d, NULL) < 0)
		return;
	if (b->f != NULL && b->hit == NULL)
		b->hit = family_has(b->f, d.devno);
	b->depth++;
	is_stacked = sysroot_each(path_format(dir, sizeof(dir), "%s/slaves", d.sysfs), entry_stop, NULL) != 0;
	sysroot_each(dir, slave_walk, b);
	if (d.is_partition)
		bottoms_walk(d.disk, b);
	b->depth--;
	if (!is_stacked && !d.is_partition)
		bottom_add(b, d.disk);
}

size_t device_bottoms(const struct device *d, char (*ret)[DEVICE_NAME], size_t max)
{
	struct bottoms b = { .at = ret, .max = max };

	bottoms_walk(d->name, &b);
	return b.n;
}

/* The device below "/": by its number, or by mountinfo's source where that is anonymous. */
static dev_t root_devno(int proc_fd)
{
	char path[64];
	struct libmnt_table *table;
	struct libmnt_fs *fs;
	struct device d;
	struct stat st;
	dev_t devno = 0;

	if (stat("/", &st) == 0 && device_read_devno(st.st_dev, &d, NULL) == 0)
		return st.st_dev;
	table = mnt_new_table_from_file(path_format(path, sizeof(path), "/proc/self/fd/%d/1/mountinfo", proc_fd));
	if (table != NULL && (fs = mnt_table_find_target(table, "/", MNT_ITER_BACKWARD)) != NULL)
		devno = node_devno(mnt_fs_get_srcpath(fs));
	mnt_unref_table(table);
	return devno;
}

/* A spare partition of the disk that holds the root filesystem is not under it; the disk itself is. */
static void root_search(const struct device *target, int proc_fd, struct device_use *ret)
{
	struct family f = { 0 };
	struct bottoms b = { .f = &f };
	struct device d;

	family_add(&f, target);
	if (device_read_devno(root_devno(proc_fd), &d, NULL) < 0)
		return;
	bottoms_walk(d.name, &b);
	if (b.hit != NULL)
		path_format(ret->root, sizeof(ret->root), "'%s'", d.path);
}

int device_use_read(const struct device *d, int host_proc_fd, struct device_use *ret, struct err *e)
{
	struct device_use use = { 0 };
	struct family f = { 0 };
	struct search s = { .f = &f, .ret = &use };

	family_of(d, &f);
	if (host_proc_fd >= 0) {
		family_add_backing(&f, d);
		if (mounts_search(&f, host_proc_fd, &use, e) < 0)
			return -1;
		swaps_search(d, &f, host_proc_fd, &use);
	}
	root_search(d, host_proc_fd, &use);
	holders_search(&f, &use);
	sysroot_each("/sys/block", loop_take, &s);
	sysroot_each("/sys/fs/btrfs", pool_take, &s);
	*ret = use;
	return 0;
}
