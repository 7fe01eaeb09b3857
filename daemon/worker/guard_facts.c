/* SPDX-License-Identifier: MIT
 *
 * The facts that the guard's rules look at, gathered from the machine; see guard.h.  What a device is used for comes
 * from device_use.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "daemon/worker/device_use.h"
#include "daemon/worker/guard.h"
#include "daemon/worker/sysroot.h"

#define EXCLUSIVE_TRIES 10
#define EXCLUSIVE_PAUSE_NS (100 * 1000000L)

/* Opens the node and makes sure that it is the device meant: names are reused. */
static int node_open(const struct device *d, int flags, struct err *e)
{
	AUTO_CLOSE int fd = open(d->path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_sys(e, errno, "open '%s'", d->path);
	if (fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != d->devno)
		return err_set(e, ERR_DEVICE_LOST, "'%s' is not the node of device '%s'", d->path, d->name);
	return TAKE_FD(fd);
}

/* A mounted device, an active array or mapping, swap and ZFS each claim the device; see bd_prepare_to_claim() in the
 * kernel's block/bdev.c.  Reading only, so that udev sees no close after writing. */
static bool exclusive_is_refused(const struct device *d)
{
	for (int i = 0; i < EXCLUSIVE_TRIES; i++) {
		AUTO_CLOSE int fd = node_open(d, O_RDONLY | O_EXCL, NULL);

		if (fd >= 0 || errno != EBUSY)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = EXCLUSIVE_PAUSE_NS }, NULL);
	}
	return true;
}

static int signature_of(const struct device *d, struct guard_facts *f, struct err *e)
{
	AUTO_CLOSE int fd = node_open(d, O_RDONLY, e);

	if (fd < 0)
		return -1;
	if (signature_read(fd, &f->signature, e) < 0)
		return err_in(e, "'%s'", d->path);
	path_format(f->signature_path, sizeof(f->signature_path), "%s", d->path);
	return 0;
}

struct partitions {
	struct guard_facts *f;
	const struct device *disk;
	struct err *e;
};

/* A volume on a partition matters more than the partition table that made it. */
static int partition_signature(const char *name, void *data)
{
	struct partitions *p = data;
	struct guard_facts own = { 0 };
	struct device d;

	if (!text_starts(name, p->disk->name) || device_read(name, &d, NULL) < 0 || !d.is_partition ||
	    strcmp(d.disk, p->disk->name) != 0)
		return 0;
	if (signature_of(&d, &own, p->e) < 0)
		return -1;
	if (strcmp(own.signature.type, "LVM2_member") == 0 || strcmp(own.signature.type, "zfs_member") == 0 ||
	    p->f->signature.type[0] == '\0') {
		p->f->signature = own.signature;
		path_format(p->f->signature_path, sizeof(p->f->signature_path), "%s", own.signature_path);
	}
	return 0;
}

static bool is_in_use(const struct guard_facts *f)
{
	return f->root[0] || f->mounted[0] || f->swap[0] || f->holder[0] || f->loop[0] || f->pool[0];
}

static int signatures_find(const struct device *d, struct guard_facts *f, struct err *e)
{
	struct partitions p = { .f = f, .disk = d, .e = e };

	if (signature_of(d, f, e) < 0)
		return -1;
	return d->is_partition ? 0 : sysroot_each(d->sysfs, partition_signature, &p);
}

int guard_facts_read(const struct device *d, int host_proc_fd, unsigned flags, struct guard_facts *ret, struct err *e)
{
	struct guard_facts f = { .n_matching = 1 };
	bool is_loop_of_others = (flags & GUARD_SIGNATURES) && d->backing_file[0] != '\0';
	bool is_free = (flags & GUARD_QUICK) && !is_loop_of_others && !exclusive_is_refused(d);
	struct device_use use;

	path_format(f.what, sizeof(f.what), "'%s'", d->path);
	if (device_use_read(d, is_free ? -1 : host_proc_fd, &use, e) < 0)
		return -1;
	f.is_read_only = d->is_read_only;
	path_format(f.root, sizeof(f.root), "%s", use.root);
	path_format(f.mounted, sizeof(f.mounted), "%s", use.mounted);
	path_format(f.swap, sizeof(f.swap), "%s", use.swap);
	path_format(f.holder, sizeof(f.holder), "%s", use.holder);
	path_format(f.loop, sizeof(f.loop), "%s", use.loop);
	path_format(f.pool, sizeof(f.pool), "%s", use.pool);
	if ((flags & GUARD_SIGNATURES) && signatures_find(d, &f, e) < 0 && !is_in_use(&f))
		return -1; /* what is in use is refused without its signature */
	f.is_busy = (flags & (GUARD_EXCLUSIVE | GUARD_QUICK)) && !is_free && !is_in_use(&f) && exclusive_is_refused(d);
	*ret = f;
	return 0;
}

static bool is_among(const char *uuid_text, const uint8_t (*ours)[16], size_t n)
{
	uint8_t uuid[16];

	if (uuid_parse(uuid_text, uuid) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (memcmp(uuid, ours[i], sizeof(uuid)) == 0)
			return true;
	return false;
}

int guard_ask(const struct guard_ask *ask, struct device *ret, struct err *e)
{
	struct guard_facts f;
	struct device d;

	if (device_find(ask->listed, &d, NULL, e) < 0 ||
	    guard_facts_read(&d, ask->host_proc_fd, GUARD_SIGNATURES | GUARD_EXCLUSIVE, &f, e) < 0)
		return -1;
	path_format(f.what, sizeof(f.what), "device '%s' (%s)", ask->listed->name, d.path);
	f.may_erase = ask->may_erase;
	f.is_ours = is_among(f.signature.uuid, ask->ours, ask->n_ours);
	if (guard_judge(&f, e) < 0)
		return -1;
	*ret = d;
	return 0;
}

/* The claimed device by its number; what differs from the time it was claimed. */
static void claim_compare(const struct claimed *c, struct device *d, struct guard_facts *f)
{
	char identity[sizeof(c->identity)];

	if (device_read_devno(c->devno, d, NULL) < 0) {
		f->is_gone = true;
		return;
	}
	device_identity(d, identity, sizeof(identity));
	if (d->diskseq != c->diskseq)
		path_format(f->changed, sizeof(f->changed), "diskseq was %llu and is %llu",
		            (unsigned long long)c->diskseq, (unsigned long long)d->diskseq);
	else if (d->size_bytes != c->size_bytes)
		path_format(f->changed, sizeof(f->changed), "size was %lld bytes and is %lld", (long long)c->size_bytes,
		            (long long)d->size_bytes);
	else if (strcmp(identity, c->identity) != 0)
		path_format(f->changed, sizeof(f->changed), "identity was '%.100s' and is '%.100s'", c->identity,
		            identity);
}

/* A second device with the identity may have come since the claim. */
static int identity_is_unique(const struct worker *w, struct err *e)
{
	const struct config_device *listed =
		w->claimed.kind == TARGET_DEVICE ? config_find_device(w->config, w->plan->target.name) : NULL;
	size_t n = 1;
	struct device d;

	return listed != NULL && device_find(listed, &d, &n, e) < 0 && n > 1 ? -1 : 0;
}

/* What an image carries can only be this sweep's own. */
int guard_ask_again(struct worker *w, struct signature *ret, struct err *e)
{
	bool is_image = w->claimed.kind == TARGET_IMAGE;
	struct guard_facts now = { .n_matching = 1 }, f = { .n_matching = 1 };
	AUTO_ARENA struct arena *a = arena_new();
	uint8_t (*ours)[16] = NULL;
	struct device d;
	size_t n_ours = 0;

	claim_compare(&w->claimed, &d, &now);
	if (!now.is_gone && now.changed[0] == '\0') {
		if (identity_is_unique(w, e) < 0) {
			w->is_target_refused = true;
			return -1;
		}
		if (guard_facts_read(&d, w->host_proc_fd, is_image ? GUARD_QUICK : GUARD_SIGNATURES | GUARD_QUICK, &f,
		                     e) < 0 ||
		    guard_journal(w, a, &ours, &n_ours, e) < 0)
			return -1;
		now = f;
		now.is_ours = is_among(f.signature.uuid, (const uint8_t (*)[16])ours, n_ours);
		now.may_erase = is_image || w->plan->target.erase || w->claimed.is_written;
	}
	path_format(now.what, sizeof(now.what), "%s", w->claimed.name);
	if (guard_judge(&now, e) < 0) {
		w->is_target_refused = true;
		return -1;
	}
	*ret = now.signature;
	return 0;
}

int guard_journal(struct worker *w, struct arena *a, uint8_t (**ret)[16], size_t *ret_n, struct err *e)
{
	struct undo_entry *entries;
	size_t n, n_ours = 0;
	uint8_t (*ours)[16];

	if (store_undo_pending(w->store, w->sweep_id, a, &entries, &n, e) < 0)
		return -1;
	ours = arena_array(a, n + 1, sizeof(*ours));
	for (size_t i = 0; i < n; i++)
		if (strcmp(entries[i].kind, "filesystem") == 0 && uuid_parse(entries[i].object, ours[n_ours]) == 0)
			n_ours++;
	*ret = ours;
	*ret_n = n_ours;
	return 0;
}
