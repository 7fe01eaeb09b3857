/* SPDX-License-Identifier: MIT
 *
 * The step `mount`, by fsopen(2), fsconfig(2), fsmount(2) and move_mount(2): they tell a flag of the mount from an
 * option of the filesystem, and say in words what was wrong; see mount.h.
 *
 * A filesystem is never unmounted lazily: that only hides one that is still in use, and the next mkfs would meet it.
 */
#include "daemon/worker/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "daemon/worker/holder.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"
#include "daemon/worker/target.h"

#define BUSY_WAIT_NS (3 * INT64_C(1000000000))  /* a device that udev or mdadm looks at for a moment */
#define PAUSE_NS (20 * 1000000L)
#define MESSAGE_MAX 600

int64_t mount_busy_wait_ns = 10 * INT64_C(1000000000);

/* Flags of a mount, unknown to fsconfig; mount_setattr(2).  `sync`, `dirsync` and `lazytime` belong to the
 * superblock. */
static const struct {
	const char *option;
	unsigned attr;
} attrs[] = {
	{ "noatime", MOUNT_ATTR_NOATIME }, { "strictatime", MOUNT_ATTR_STRICTATIME }, { "relatime", 0 },
	{ "nodiratime", MOUNT_ATTR_NODIRATIME }, { "diratime", 0 }, { "noexec", MOUNT_ATTR_NOEXEC }, { "exec", 0 },
	{ "atime", 0 }, { "defaults", 0 }, { "nosuid", 0 }, { "nodev", 0 },
	{ "nosymfollow", MOUNT_ATTR_NOSYMFOLLOW }, { "symfollow", 0 },
};

static bool attr_find(const char *option, unsigned *attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++)
		if (strcmp(attrs[i].option, option) == 0) {
			*attr |= attrs[i].attr;
			return true;
		}
	return false;
}

/* ---- what the kernel says ---- */

static int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static void message_add(struct text *t, const char *s, size_t n)
{
	if (n == 0 || t->n > MESSAGE_MAX)
		return;
	text_add(t, t->n > 0 ? "; " : "");
	text_add_n(t, s, n);
}

/* A record each read: "priority,sequence,time,flags;text\n continuation" (Documentation/ABI/testing/dev-kmsg). */
static void kernel_log_read(int fd, struct text *ret)
{
	char record[1024];
	ssize_t n;

	while (fd >= 0 && ((n = read(fd, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE))) {
		char *text;

		if (n < 0)
			continue;
		record[n] = '\0';
		text = strchr(record, ';');
		if (text != NULL && record[0] <= '4' && (record[1] == ',')) /* warnings and worse */
			message_add(ret, text + 1, strcspn(text + 1, "\n"));
	}
}

/* The context's own log: a message each read, "e text", "w text" or "i text". */
static void context_log_read(int fd, struct text *ret)
{
	char message[512];
	ssize_t n;

	while ((n = read(fd, message, sizeof(message))) > 2) {
		while (n > 2 && message[n - 1] == '\n')
			n--;
		message_add(ret, message + 2, (size_t)n - 2);
	}
}

static enum err_kind kind_of(int errnum)
{
	switch (errnum) {
	case EINVAL:
	case EOPNOTSUPP:
	case ENOSYS:
	case ERANGE:
		return ERR_INFEASIBLE;
	}
	return err_kind_of_errno(errnum);
}

/* The error of a step of mounting, with what the kernel has to say: first the context's words, then the log's. */
static int refused(int fs, int log, int errnum, const char *type, const char *what, struct err *e)
{
	AUTO_TEXT struct text words = { 0 };

	context_log_read(fs, &words);
	kernel_log_read(log, &words);
	if (words.n == 0)
		text_add(&words, strerror(errnum));
	return err_set(e, kind_of(errnum), "mount %s: %s: %.700s", type, what, text_str(&words));
}

/* ---- mounting ---- */

static int option_set(int fs, const char *option)
{
	const char *eq = strchr(option, '=');
	AUTO_FREE char *key = eq == NULL ? NULL : xstrndup(option, (size_t)(eq - option));

	return eq == NULL ? fsconfig(fs, FSCONFIG_SET_FLAG, option, NULL, 0) :
	                    fsconfig(fs, FSCONFIG_SET_STRING, key, eq + 1, 0);
}

static int superblock_create(int fs)
{
	int64_t deadline_ns = clock_ns() + BUSY_WAIT_NS;

	while (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0) {
		if (errno != EBUSY || clock_ns() > deadline_ns)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}

/* Returns a descriptor of the detached mount. */
static int filesystem_mount(const struct format *f, const char *node, struct err *e)
{
	AUTO_CLOSE int fs = -1, log = kernel_log_open();
	unsigned attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	int mnt;

	fs = fsopen(f->type, FSOPEN_CLOEXEC);
	if (fs < 0 && errno == ENODEV)
		return err_set(e, ERR_INFEASIBLE, "mount %s: this kernel does not know the filesystem", f->type);
	if (fs < 0)
		return err_sys(e, errno, "mount %s", f->type);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "source", node, 0) < 0)
		return refused(fs, log, errno, f->type, "source", e);
	for (char **o = f->mount; o != NULL && *o != NULL; o++)
		if (!attr_find(*o, &attr) && option_set(fs, *o) < 0)
			return refused(fs, log, errno, f->type, *o, e);
	if (superblock_create(fs) < 0)
		return refused(fs, log, errno, f->type, "the kernel refused", e);
	mnt = fsmount(fs, FSMOUNT_CLOEXEC, attr);
	if (mnt < 0)
		return refused(fs, log, errno, f->type, "the kernel refused", e);
	return mnt;
}

/* Where the read-ahead of this filesystem lives.  btrfs has a bdi of its own and ignores the disk's. */
static void bdi_find(struct claimed *c, const char *type)
{
	char uuid[UUID_TEXT], disk[128], path[192], dev[32];

	if (strcmp(type, "btrfs") == 0) {
		path_format(c->bdi, sizeof(c->bdi), "/sys/fs/btrfs/%s/bdi", uuid_format(c->filesystem_uuid, uuid));
		return;
	}
	claimed_disk(c, disk, sizeof(disk));
	if (sysroot_text(path_format(path, sizeof(path), "%s/dev", disk), dev, sizeof(dev)))
		path_format(c->bdi, sizeof(c->bdi), "/sys/class/bdi/%s", dev);
}

static int mount_place(struct worker *w, int mnt, const char *type, struct err *e)
{
	struct claimed *c = &w->claimed;
	struct stat st;

	if (w->target_dir[0] != '\0')
		path_format(c->mount_path, sizeof(c->mount_path), "%s", w->target_dir);
	else /* without a room, as in tests */
		path_format(c->mount_path, sizeof(c->mount_path), "%s/mnt", w->private_dir);
	if (w->target_dir[0] == '\0' && mkdir(c->mount_path, 0755) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make '%s'", c->mount_path);
	if (move_mount(mnt, "", AT_FDCWD, c->mount_path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, errno, "mount %s on '%s'", type, c->mount_path);
	c->mount_fd = open(c->mount_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->mount_fd < 0 || fstat(c->mount_fd, &st) < 0)
		return err_sys(e, errno, "open '%s'", c->mount_path);
	c->mount_dev = st.st_dev;
	bdi_find(c, type);
	return 0;
}

int mount_make(struct worker *w, struct err *e)
{
	AUTO_CLOSE int mnt = -1;
	struct format f;

	if (w->claimed.kind == TARGET_DIRECTORY)
		return 0;
	if (cell_format(w->matrix, w->cell, w->cell_arena, &f, e) < 0)
		return -1;
	if (strcmp(f.type, "none") == 0)
		return 0;
	if (target_is_there(w, e) < 0)
		return -1;
	mnt = filesystem_mount(&f, w->claimed.private_node, e);
	if (mnt < 0)
		return target_is_there(w, e) < 0 ? -1 : err_in(e, "%s", w->claimed.name);
	return mount_place(w, mnt, f.type, e);
}

/* ---- unmounting ---- */

static int umount_wait(const char *path)
{
	int64_t deadline_ns = clock_ns() + mount_busy_wait_ns;

	while (umount2(path, UMOUNT_NOFOLLOW) < 0) {
		if (errno == EINVAL || errno == ENOENT) /* not mounted (any more) */
			return 0;
		if (errno != EBUSY || clock_ns() > deadline_ns)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}

int device_open_alone(const char *node, int access)
{
	int64_t deadline_ns = clock_ns() + mount_busy_wait_ns;

	for (;;) {
		int fd = open(node, access | O_EXCL | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0 || errno != EBUSY || clock_ns() > deadline_ns)
			return fd;
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
}

/* A mount elsewhere (a descriptor passed out of the namespace) keeps the filesystem alive after ours is gone: then the
 * device cannot be opened exclusively. */
static int device_wait(const struct claimed *c)
{
	AUTO_CLOSE int fd = device_open_alone(c->private_node, O_RDONLY);

	return fd >= 0 || errno != EBUSY ? 0 : -1; /* a device that is gone is not in use either */
}

static int unmount_refused(const struct worker *w, dev_t dev, int errnum, struct err *e)
{
	AUTO_CLOSE int own_proc = w->host_proc_fd >= 0 ? -1 : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char holder[256];

	if (errnum != EBUSY)
		return err_sys(e, errnum, "unmount %s", w->claimed.name);
	if (holder_of_filesystem(w->host_proc_fd >= 0 ? w->host_proc_fd : own_proc, dev, holder, sizeof(holder)))
		err_set(e, ERR_BUSY, "unmount %s: still used by %s", w->claimed.name, holder);
	else
		err_set(e, ERR_BUSY, "unmount %s: still in use, by whom cannot be seen", w->claimed.name);
	return err_hint(e, "the device is left in peace until it is free");
}

int mount_undo(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;

	if (c->kind == TARGET_DIRECTORY || c->mount_path[0] == '\0')
		return 0;
	if (c->mount_fd >= 0)
		close(TAKE_FD(c->mount_fd));
	if (umount_wait(c->mount_path) < 0)
		return unmount_refused(w, c->mount_dev, errno, e);
	if (c->private_node[0] != '\0' && device_wait(c) < 0)
		return unmount_refused(w, c->mount_dev, EBUSY, e);
	if (w->target_dir[0] == '\0' && rmdir(c->mount_path) < 0 && errno != ENOENT)
		return err_sys(e, errno, "remove '%s'", c->mount_path);
	found_below_forget(w, c->bdi);
	c->mount_path[0] = c->bdi[0] = '\0';
	c->mount_dev = 0;
	return 0;
}
