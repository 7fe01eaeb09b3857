/* SPDX-License-Identifier: MIT
 *
 * The claim step: from a plan's target to a verified descriptor with a lease on it, and back.
 *
 * The lease is a flock(2) on the node of the whole disk, which is udev's own protocol
 * (https://systemd.io/BLOCK_DEVICE_LOCKING): while it is held udevd neither probes the device nor acts on it.
 */
#include "daemon/worker/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "daemon/worker/bare.h"
#include "daemon/worker/device_use.h"
#include "daemon/worker/guard.h"
#include "daemon/worker/holder.h"
#include "daemon/worker/image.h"
#include "daemon/worker/mount.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"
#include "daemon/worker/tunable.h"
#include "daemon/worker/undo.h"

#define LEASE_WAIT_NS (2 * INT64_C(1000000000)) /* udevd holds a shared lock while it probes */
#define LEASE_PAUSE_NS (50 * 1000000L)
#define HOLDER_WAIT_NS INT64_C(1000000000)

void claimed_init(struct claimed *c)
{
	memset(c, 0, sizeof(*c));
	c->fd = c->lease_fd = c->mount_fd = -1;
}

int private_dir_make(struct worker *w, struct err *e)
{
	char dir[sizeof(w->private_dir)];

	if (w->private_dir[0] != '\0')
		return 0;
	path_format(dir, sizeof(dir), "%s/work", w->config->state);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make '%s'", dir);
	if (mount("iosweep", dir, "tmpfs", MS_NOSUID | MS_NOEXEC, "size=1m,mode=0700") < 0)
		return err_sys(e, errno, "mount a tmpfs on '%s'", dir);
	path_format(w->private_dir, sizeof(w->private_dir), "%s", dir);
	return 0;
}

static int lease_take(int fd, const char *what, struct err *e)
{
	int64_t deadline_ns = clock_ns() + LEASE_WAIT_NS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_sys(e, errno, "%s: take the lease", what);
		if (clock_ns() > deadline_ns) {
			err_set(e, ERR_BUSY, "%s: another program holds a lock on it", what);
			return err_hint(e, "flock(2) is how programs claim a device; fuser(1) names who has it open");
		}
		nanosleep(&(struct timespec){ .tv_nsec = LEASE_PAUSE_NS }, NULL);
	}
	return 0;
}

/* The descriptor decides from now on: what it is open on must be the device that the guard judged. */
static int descriptor_verify(int fd, const struct device *d, struct err *e)
{
	struct stat st;
	uint64_t diskseq;

	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "stat '%s'", d->path);
	if (!S_ISBLK(st.st_mode) || st.st_rdev != d->devno)
		return err_set(e, ERR_DEVICE_LOST, "'%s' is not the node of the device that was judged", d->path);
#ifdef BLKGETDISKSEQ
	if (d->diskseq != 0 && ioctl(fd, BLKGETDISKSEQ, &diskseq) == 0 && diskseq != d->diskseq)
		return err_set(e, ERR_DEVICE_LOST, "'%s' became another device meanwhile: diskseq was %llu and is %llu",
		               d->path, (unsigned long long)d->diskseq, (unsigned long long)diskseq);
#endif
	return 0;
}

static int private_node_make(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;
	char name[NODE_NAME_TEXT], link[sizeof(c->private_node)];

	if (private_dir_make(w, e) < 0)
		return -1;
	holder_node_name(c->devno, name);
	path_format(c->private_node, sizeof(c->private_node), "%s/%s", w->private_dir, name);
	path_format(link, sizeof(link), "%s/" NODE_LINK, w->private_dir);
	if ((unlink(c->private_node) < 0 && errno != ENOENT) || (unlink(link) < 0 && errno != ENOENT))
		return err_sys(e, errno, "remove '%s'", c->private_node);
	if (mknod(c->private_node, S_IFBLK | 0600, c->devno) < 0 || symlink(name, link) < 0)
		return err_sys(e, errno, "make the node '%s'", c->private_node);
	return 0;
}

static void queues_find(struct claimed *c, const struct device *d)
{
	char names[QUEUES_MAX][DEVICE_NAME];

	c->n_queues = device_bottoms(d, names, QUEUES_MAX);
	for (size_t i = 0; i < c->n_queues; i++)
		c->queues[i] = xasprintf("/sys/block/%s", names[i]);
}

static int lease_of(struct claimed *c, const struct device *d, struct err *e)
{
	char disk[96];

	if (!d->is_partition)
		return lease_take(c->fd, c->name, e);
	path_format(disk, sizeof(disk), "/dev/%s", d->disk);
	c->lease_fd = open(disk, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (c->lease_fd < 0)
		return err_sys(e, errno, "open '%s'", disk);
	return lease_take(c->lease_fd, c->name, e);
}

/* What device and image have in common, once there is a descriptor. */
static int device_take(struct worker *w, const struct device *d, struct err *e)
{
	struct claimed *c = &w->claimed;

	path_format(c->node, sizeof(c->node), "%s", d->path);
	path_format(c->sysfs, sizeof(c->sysfs), "%s", d->sysfs);
	device_identity(d, c->identity, sizeof(c->identity));
	c->devno = d->devno;
	c->diskseq = d->diskseq;
	c->size_bytes = d->size_bytes;
	if (descriptor_verify(c->fd, d, e) < 0 || lease_of(c, d, e) < 0 || private_node_make(w, e) < 0)
		return -1;
	queues_find(c, d);
	c->loop = loop_state_read(c->fd);
	return 0;
}

static int device_claim(struct worker *w, struct err *e)
{
	const struct target *t = &w->plan->target;
	struct guard_ask ask = { .may_erase = t->erase, .host_proc_fd = w->host_proc_fd };
	AUTO_ARENA struct arena *a = arena_new();
	uint8_t (*ours)[16];
	struct device d;

	ask.listed = config_find_device(w->config, t->name);
	if (ask.listed == NULL) {
		err_set(e, ERR_REFUSED, "device '%s' is not listed by this host's configuration", t->name);
		return err_hint(e, "`iosweep devices` prints the lines that list a device");
	}
	if (guard_journal(w, a, &ours, &ask.n_ours, e) < 0)
		return -1;
	ask.ours = (const uint8_t (*)[16])ours;
	if (guard_ask(&ask, &d, e) < 0)
		return -1;
	path_format(w->claimed.name, sizeof(w->claimed.name), "device '%s' (%s)", t->name, d.path);
	w->claimed.fd = open(d.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (w->claimed.fd < 0)
		return err_sys(e, errno, "open '%s'", d.path);
	return device_take(w, &d, e);
}

static int image_claim(struct worker *w, struct err *e)
{
	char size[SIZE_TEXT];
	struct device d;

	if (image_attach(w, &d, &w->claimed.fd, e) < 0)
		return -1;
	path_format(w->claimed.name, sizeof(w->claimed.name), "image %s (%s)",
	            size_format(w->plan->target.image_bytes, size), d.path);
	if (device_take(w, &d, e) < 0)
		return -1;
	return queue_baseline_save(w, e); /* the settings of a loop device outlive it */
}

/* The device below a directory belongs to the whole host: its settings are not ours to change. */
static int directory_check(const struct worker *w, struct err *e)
{
	for (size_t i = 0; w->cell != NULL && i < w->cell->n; i++) {
		const struct setting *s = &w->cell->at[i];
		enum axis_place place = s->def == NULL ? AXIS_NOWHERE : s->def->place;

		if ((place == AXIS_QUEUE || place == AXIS_IOSCHED || place == AXIS_BDI || place == AXIS_MD) &&
		    strcmp(s->value, KERNEL_DEFAULT) != 0) {
			err_set(e, ERR_INFEASIBLE, "'%s' cannot be set for a directory: the device below it serves the rest of the host, too",
			        s->axis);
			return err_hint(e, "give the plan a device or an image as its target");
		}
	}
	return 0;
}

static int directory_claim(struct worker *w, struct err *e)
{
	const struct config_directory *listed = config_find_directory(w->config, w->plan->target.name);
	struct claimed *c = &w->claimed;
	struct device d;
	struct stat st;

	if (listed == NULL) {
		err_set(e, ERR_REFUSED, "directory '%s' is not offered by this host's configuration",
		        w->plan->target.name);
		return err_hint(e, "its configuration lists them below `directories:`");
	}
	if (directory_check(w, e) < 0)
		return -1;
	path_format(c->name, sizeof(c->name), "directory '%s' (%s)", listed->name, listed->path);
	path_format(c->directory, sizeof(c->directory), "%s", listed->path);
	path_format(c->mount_path, sizeof(c->mount_path), "%s", listed->path);
	c->fd = open(listed->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c->mount_fd = open(listed->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0 || c->mount_fd < 0 || fstat(c->fd, &st) < 0)
		return err_sys(e, errno, "open %s", c->name);
	c->mount_dev = st.st_dev;
	if (device_read_devno(st.st_dev, &d, NULL) == 0) { /* for its byte counters; btrfs and tmpfs have no such number */
		path_format(c->sysfs, sizeof(c->sysfs), "%s", d.sysfs);
		c->devno = d.devno;
	}
	path_format(c->identity, sizeof(c->identity), "directory=%s", listed->path);
	return lease_take(c->fd, c->name, e);
}

int target_claim(struct worker *w, struct err *e)
{
	claimed_init(&w->claimed);
	w->claimed.is_begun = true;
	w->claimed.kind = w->plan->target.kind;
	switch (w->claimed.kind) {
	case TARGET_DEVICE:
		return device_claim(w, e);
	case TARGET_IMAGE:
		return image_claim(w, e);
	case TARGET_DIRECTORY:
		return directory_claim(w, e);
	}
	return err_set(e, ERR_USAGE, "unknown kind of target");
}

static void descriptor_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void claimed_done(struct claimed *c)
{
	for (size_t i = 0; i < c->n_queues; i++)
		free(c->queues[i]);
	free(c->description);
	free(c->warning);
}

/* Descriptors that other programs of the submitter send each other are on their way for a moment, and look the same. */
static int device_is_free(const struct worker *w, const char *name, dev_t devno, struct err *e)
{
	const struct timespec pause = { .tv_nsec = LEASE_PAUSE_NS };
	int64_t deadline_ns = clock_ns() + HOLDER_WAIT_NS;
	char holder[256];

	for (;;) {
		if (w->host_proc_fd < 0 ||
		    !holder_of_node(w->host_proc_fd, devno, w->submitter.uid, holder, sizeof(holder)))
			return 0;
		if (clock_ns() >= deadline_ns)
			break;
		nanosleep(&pause, NULL);
	}
	err_set(e, ERR_BUSY, "%s: still in the hands of %s", name, holder);
	return err_hint(e,
	                "whoever has a device open reads and writes what comes to stand on it later: end that process");
}

int target_is_free(struct worker *w, struct err *e)
{
	if (device_is_free(w, w->claimed.name, w->claimed.devno, e) == 0)
		return 0;
	w->is_target_refused = true;
	return -1;
}

/* When no tool is left.  The node goes first: nobody can open it any more. */
static int node_withdraw(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;

	if (c->private_node[0] == '\0')
		return 0;
	if (bare_wipe(w, e) < 0)
		return -1;
	if (unlink(c->private_node) < 0 && errno != ENOENT)
		return err_sys(e, errno, "remove '%s'", c->private_node);
	if (!w->is_node_noted)
		return 0;
	if (device_is_free(w, c->name, c->devno, e) < 0 || journal_finish(w, "node", c->node, e) < 0)
		return -1;
	w->is_node_noted = false;
	return 0;
}

int node_note(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;

	if (c->private_node[0] == '\0' || w->is_node_noted)
		return 0;
	if (undo_save(w, STEP_CLAIM, "node", c->node, "", e) < 0)
		return -1;
	w->is_node_noted = true;
	return 0;
}

bool target_of_entry(const struct undo_entry *u, struct device *ret)
{
	const char *slash = strrchr(u->object, '/');
	char identity[sizeof(((struct claimed *)NULL)->identity)];

	if (slash == NULL || device_read(slash + 1, ret, NULL) < 0)
		return false;
	device_identity(ret, identity, sizeof(identity));
	return strcmp(identity, u->identity) == 0;
}

/* After a crash.  A device that is gone, or another one by now, is out of everybody's reach. */
int node_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	struct device d;

	*ret_dropped = NULL;
	return target_of_entry(u, &d) ? device_is_free(w, u->object, d.devno, e) : 0;
}

/* Settings first, while the device is still ours; an image's file last, when nothing is attached to it any more. */
int target_release(struct worker *w, struct err *e)
{
	struct claimed *c = &w->claimed;
	int rc;

	if (!c->is_begun)
		return 0;
	rc = c->n_queues > 0 ? queue_restore(w, e) : 0;
	descriptor_close(&c->mount_fd);
	if (c->fd >= 0 && loop_state_restore(c->fd, &c->loop, rc == 0 ? e : NULL) < 0)
		rc = -1;
	if (node_withdraw(w, rc == 0 ? e : NULL) < 0)
		rc = -1;
	descriptor_close(&c->lease_fd);
	descriptor_close(&c->fd);
	if (c->image_path[0] != '\0' && (image_remove(w, rc == 0 ? e : NULL) < 0 ||
	                                 journal_finish(w, "image", c->image_path, rc == 0 ? e : NULL) < 0))
		rc = -1;
	if (rc < 0)
		return -1;
	claimed_done(c);
	claimed_init(c);
	return 0;
}

/* The kernel marks a disk as dead, so that it cannot be opened any more, some time before its entry goes:
 * del_gendisk() in block/genhd.c. */
static bool node_is_dead(const char *node)
{
	AUTO_CLOSE int fd = node[0] == '\0' ? -1 : open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	return node[0] != '\0' && fd < 0 && (errno == ENXIO || errno == ENODEV);
}

int target_is_there(const struct worker *w, struct err *e)
{
	const struct claimed *c = &w->claimed;
	struct device d;

	if (c->kind == TARGET_DIRECTORY || c->fd < 0)
		return 0;
	if (device_read_devno(c->devno, &d, NULL) < 0 || node_is_dead(c->private_node))
		return err_set(e, ERR_DEVICE_LOST, "%s: the device is gone", c->name);
	if (d.diskseq != c->diskseq)
		return err_set(e, ERR_DEVICE_LOST, "%s: it is another device now: diskseq was %llu and is %llu",
		               c->name, (unsigned long long)c->diskseq, (unsigned long long)d.diskseq);
	return 0;
}

int journal_finish(struct worker *w, const char *kind, const char *object, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct undo_entry *entries;
	size_t n;

	if (store_begin(w->store, e) < 0)
		return -1;
	if (store_undo_pending(w->store, w->sweep_id, a, &entries, &n, e) < 0) {
		store_rollback(w->store);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (strcmp(entries[i].kind, kind) != 0 || (object != NULL && strcmp(entries[i].object, object) != 0))
			continue;
		if (store_undo_finish(w->store, entries[i].id, "done", "", e) < 0) {
			store_rollback(w->store);
			return -1;
		}
	}
	return store_commit(w->store, e);
}
