/* SPDX-License-Identifier: MIT
 *
 * Images and their loop devices; see image.h.
 */
#include "daemon/worker/image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "daemon/worker/loop.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

#define ATTACH_TRIES 20
#define DETACH_WAIT_NS (10 * INT64_C(1000000000))
#define PAUSE_NS (5 * 1000000L)

static int room_check(const struct worker *w, int64_t bytes, struct err *e)
{
	const struct config *c = w->config;
	char image[SIZE_TEXT], other[SIZE_TEXT], free_text[SIZE_TEXT];
	struct statvfs st;
	int64_t free_bytes;

	if (c->images_path == NULL) {
		err_set(e, ERR_REFUSED, "this host offers no images");
		return err_hint(e, "its configuration needs `images: {path: ...}`, see iosweepd.conf(5)");
	}
	if (c->images_max_bytes > 0 && bytes > c->images_max_bytes)
		return err_set(e, ERR_REFUSED, "an image of %s is larger than this host allows (%s)",
		               size_format(bytes, image), size_format(c->images_max_bytes, other));
	if (statvfs(c->images_path, &st) < 0)
		return err_sys(e, errno, "images directory '%s'", c->images_path);
	free_bytes = (int64_t)st.f_bavail * (int64_t)st.f_frsize;
	if (free_bytes - bytes < c->images_keep_free_bytes)
		return err_set(e, ERR_NO_SPACE, "an image of %s does not fit in '%s': %s free, %s to be kept free",
		               size_format(bytes, image), c->images_path,
		               size_format(free_bytes >> 20 << 20, free_text),
		               size_format(c->images_keep_free_bytes, other));
	return 0;
}

/* A file of that name can only be what an earlier run of this very sweep left: the name carries the sweep's UUID. */
static int file_make(struct worker *w, int64_t bytes, struct err *e)
{
	AUTO_CLOSE int fd = -1;

	if (unlink(w->claimed.image_path) < 0 && errno != ENOENT)
		return err_sys(e, errno, "remove the old image '%s'", w->claimed.image_path);
	fd = open(w->claimed.image_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, errno, "make image '%s'", w->claimed.image_path);
	if (ftruncate(fd, bytes) < 0)
		return err_sys(e, errno, "make image '%s' %lld bytes long", w->claimed.image_path, (long long)bytes);
	return TAKE_FD(fd);
}

static int loop_open_free(int control, char *ret_name, size_t size, struct err *e)
{
	char path[64];
	int n = ioctl(control, LOOP_CTL_GET_FREE), fd;

	if (n < 0)
		return err_sys(e, errno, "ask for a free loop device");
	path_format(ret_name, size, "loop%d", n);
	fd = open(path_format(path, sizeof(path), "/dev/loop%d", n), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open '%s'", path);
	return fd;
}

/* Direct I/O is asked for first; a filesystem below that has none refuses, and the fact shows in the environment. */
static int loop_configure(int loop, int file, bool direct)
{
	struct loop_config config = { .fd = (uint32_t)file };

	config.info.lo_flags = LO_FLAGS_AUTOCLEAR | (direct ? LO_FLAGS_DIRECT_IO : 0);
	if (ioctl(loop, LOOP_CONFIGURE, &config) == 0)
		return 0;
	if (!direct || errno == EBUSY)
		return -1;
	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	return ioctl(loop, LOOP_CONFIGURE, &config);
}

/* Whoever is faster gets the free one, so several tries.  The descriptor that configures must be open for writing, or
 * the loop device is read-only; the one that is kept need not be. */
static int loop_attach(int file, bool direct, char *ret_name, size_t size, struct err *e)
{
	AUTO_CLOSE int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	char path[64];

	if (control < 0)
		return err_sys(e, errno, "open '/dev/loop-control'");
	for (int i = 0; i < ATTACH_TRIES; i++) {
		AUTO_CLOSE int loop = loop_open_free(control, ret_name, size, e);
		int fd;

		if (loop < 0)
			return -1;
		if (loop_configure(loop, file, direct) == 0) {
			fd = open(path_format(path, sizeof(path), "/dev/%s", ret_name), O_RDONLY | O_CLOEXEC);
			return fd < 0 ? err_sys(e, errno, "open '%s'", path) : fd;
		}
		if (errno != EBUSY)
			return err_sys(e, errno, "attach the image to '/dev/%s'", ret_name);
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return err_set(e, ERR_BUSY, "no loop device stayed free long enough to be attached");
}

int image_attach(struct worker *w, struct device *ret, int *ret_fd, struct err *e)
{
	const struct target *t = &w->plan->target;
	char name[DEVICE_NAME], uuid[UUID_TEXT];
	AUTO_CLOSE int file = -1, fd = -1;

	if (room_check(w, t->image_bytes, e) < 0)
		return -1;
	path_format(w->claimed.image_path, sizeof(w->claimed.image_path), "%s/iosweep-%s.img", w->config->images_path,
	            uuid_format(w->sweep.uuid, uuid));
	if (undo_save(w, STEP_CLAIM, "image", w->claimed.image_path, "", e) < 0)
		return -1;
	file = file_make(w, t->image_bytes, e);
	if (file < 0)
		return -1;
	fd = loop_attach(file, t->direct, name, sizeof(name), e);
	if (fd < 0 || device_read(name, ret, e) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* The last close detaches; a tool that still ends may hold it for a moment longer. */
static int detach_wait(const char *loop, const char *image, struct err *e)
{
	int64_t deadline_ns = clock_ns() + DETACH_WAIT_NS;
	char path[128], backing[512];
	const char *name = strrchr(image, '/') + 1; /* has a UUID in it; the directories may be spelt as from another root */

	path_format(path, sizeof(path), "/sys/block/%s/loop/backing_file", loop);
	while (sysroot_text(path, backing, sizeof(backing)) && strstr(backing, name) != NULL) {
		if (clock_ns() > deadline_ns)
			return err_set(e, ERR_BUSY, "'/dev/%s' stays attached to '%s': something still uses it", loop,
			               image);
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}

int image_remove(struct worker *w, struct err *e)
{
	const char *slash = strrchr(w->claimed.node, '/');

	if (slash != NULL && detach_wait(slash + 1, w->claimed.image_path, e) < 0)
		return -1;
	if (unlink(w->claimed.image_path) < 0 && errno != ENOENT)
		return err_sys(e, errno, "remove image '%s'", w->claimed.image_path);
	return 0;
}

/* After a crash. */
int image_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	const char *name = strrchr(u->object, '/');

	(void)w;
	*ret_dropped = NULL;
	if (name == NULL || !text_starts(name, "/iosweep-") || !text_ends(name, ".img"))
		return err_set(e, ERR_REFUSED, "'%s' is not the name of an image of iosweep", u->object);
	if (loop_detach(name + 1, e) < 0) /* unless a workload has seen to it, the kernel did so when the worker died */
		return -1;
	if (unlink(u->object) < 0 && errno != ENOENT)
		return err_sys(e, errno, "remove image '%s'", u->object);
	return 0;
}
