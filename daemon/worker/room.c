/* SPDX-License-Identifier: MIT
 *
 * Building the room; see room.h.  Detached clones of the host's mounts get their attributes before they are attached
 * (mount_setattr(2)), so that nothing is ever writable in between.  All are slaves of the host's mounts: what the host
 * unmounts goes away here as well and is not kept busy.
 */
#include "daemon/worker/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SAFE_ATTRS (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Not taken from the host: made anew, or nobody's business. */
static const char *const own_names[] = { "dev", "proc", "sys", "tmp", "run", "target", "lost+found" };

static const struct {
	const char *name;
	unsigned minor;
	unsigned major;
} nodes[] = { /* kernel Documentation/admin-guide/devices.txt */
	{ "null", 3, 1 }, { "zero", 5, 1 }, { "full", 7, 1 }, { "random", 8, 1 }, { "urandom", 9, 1 }, { "tty", 0, 5 },
};

static const struct {
	const char *name, *to;
} links[] = {
	{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" }, { "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" },
};

static bool name_is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_names); i++)
		if (strcmp(name, own_names[i]) == 0)
			return true;
	return name[0] == '.';
}

/* A clone of what is at `from`, with everything mounted below it if is_recursive, attached at `to`. */
static int clone_attach(const char *from, const char *to, bool is_recursive, uint64_t attrs, struct err *e)
{
	struct mount_attr attr = { .attr_set = attrs };
	unsigned recursive = is_recursive ? AT_RECURSIVE : 0;
	AUTO_CLOSE int fd = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);

	if (fd < 0)
		return err_sys(e, errno, "clone the mount at '%s'", from);
	if (mount_setattr(fd, "", AT_EMPTY_PATH | recursive, &attr, sizeof(attr)) < 0)
		return err_sys(e, errno, "restrict the mount at '%s'", from);
	if (move_mount(fd, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, errno, "attach '%s' at '%s'", from, to);
	return 0;
}

static int tmpfs_mount(const char *path, unsigned long flags, const char *options, struct err *e)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make '%s'", path);
	if (mount("iosweep", path, "tmpfs", flags | MS_NOSUID, options) < 0)
		return err_sys(e, errno, "mount a tmpfs on '%s'", path);
	return 0;
}

static int entry_copy(const char *room, const char *name, struct err *e)
{
	char from[300], to[600], link[256];
	struct stat st;
	ssize_t n;

	snprintf(from, sizeof(from), "/%s", name);
	snprintf(to, sizeof(to), "%s/%s", room, name);
	if (lstat(from, &st) < 0)
		return err_sys(e, errno, "look at '%s'", from);
	if (S_ISLNK(st.st_mode)) {
		n = readlink(from, link, sizeof(link) - 1);
		if (n < 0)
			return err_sys(e, errno, "read the link '%s'", from);
		link[n] = '\0';
		return symlink(link, to) < 0 ? err_sys(e, errno, "make the link '%s'", to) : 0;
	}
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (mkdir(to, 0755) < 0)
		return err_sys(e, errno, "make '%s'", to);
	return clone_attach(from, to, true, SAFE_ATTRS | MOUNT_ATTR_RDONLY, e);
}

static int entries_copy(const char *room, struct err *e)
{
	DIR *dir = opendir("/");
	struct dirent *entry;
	int rc = 0;

	if (dir == NULL)
		return err_sys(e, errno, "open '/'");
	while (rc == 0 && (entry = readdir(dir)) != NULL)
		if (!name_is_own(entry->d_name))
			rc = entry_copy(room, entry->d_name, e);
	closedir(dir);
	return rc;
}

static int dev_make(struct worker *w, struct err *e)
{
	char path[600];

	if (tmpfs_mount(w->device_dir, MS_NOEXEC, "mode=0755,size=1m", e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->device_dir, nodes[i].name);
		if (mknod(path, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) < 0 || chmod(path, 0666) < 0)
			return err_sys(e, errno, "make the node '%s'", path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->room, links[i].name);
		if (symlink(links[i].to, path) < 0)
			return err_sys(e, errno, "make the link '%s'", path);
	}
	snprintf(path, sizeof(path), "%s/shm", w->device_dir);
	return tmpfs_mount(path, MS_NODEV, "mode=1777", e);
}

static int proc_and_sys_make(struct worker *w, struct err *e)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/proc", w->room);
	if (mkdir(path, 0755) < 0)
		return err_sys(e, errno, "make '%s'", path);
	/* A mount of its own with options of its own: kernel Documentation/filesystems/proc.rst, chapter 4 and 5. */
	if (mount("proc", path, "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=invisible") < 0)
		return err_sys(e, errno, "mount proc on '%s'", path);
	snprintf(path, sizeof(path), "%s/sys", w->room);
	if (mkdir(path, 0755) < 0)
		return err_sys(e, errno, "make '%s'", path);
	return clone_attach("/sys", path, true, SAFE_ATTRS | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, e);
}

static int namespace_check(struct worker *w, struct err *e)
{
	char own[64] = "", init[64] = "";

	if (readlink("/proc/self/ns/mnt", own, sizeof(own) - 1) < 0)
		return err_sys(e, errno, "read '/proc/self/ns/mnt'");
	if (w->host_proc_fd >= 0 && readlinkat(w->host_proc_fd, "1/ns/mnt", init, sizeof(init) - 1) >= 0 &&
	    strcmp(own, init) == 0)
		return err_set(e, ERR_REFUSED, "the room would be made in the host's own mount namespace");
	return 0;
}

int room_make(struct worker *w, struct err *e)
{
	char path[300];
	int n = snprintf(w->room, sizeof(w->room), "%s/room", w->config->state);

	if (n >= (int)sizeof(w->private_dir) - 8)
		return err_set(e, ERR_USAGE, "the path of the state directory '%.60s...' is too long",
		               w->config->state);
	snprintf(w->target_dir, sizeof(w->target_dir), "%s/target", w->room);
	snprintf(w->device_dir, sizeof(w->device_dir), "%s/dev", w->room);
	snprintf(w->private_dir, sizeof(w->private_dir), "%.247s/dev", w->room); /* where target.c makes its node */
	if (namespace_check(w, e) < 0 || tmpfs_mount(w->room, MS_NODEV, "mode=0755,size=1m", e) < 0)
		return -1;
	/* Unbindable: the clone of the directory that it lies in leaves it out.  mount_namespaces(7). */
	if (mount(NULL, w->room, NULL, MS_UNBINDABLE, NULL) < 0)
		return err_sys(e, errno, "set the propagation of '%s'", w->room);
	if (entries_copy(w->room, e) < 0 || dev_make(w, e) < 0 || proc_and_sys_make(w, e) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/tmp", w->room);
	if (tmpfs_mount(path, MS_NODEV, "mode=1777,size=256m", e) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/run", w->room);
	if (mkdir(path, 0755) < 0 || mkdir(w->target_dir, 0755) < 0)
		return err_sys(e, errno, "make '%s'", w->target_dir);
	if (mount(NULL, w->room, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0)
		return err_sys(e, errno, "make '%s' read-only", w->room);
	return 0;
}

int room_directory_attach(struct worker *w, struct err *e)
{
	struct stat st;

	if (clone_attach(w->claimed.directory, w->target_dir, false, SAFE_ATTRS, e) < 0)
		return -1;
	if (stat(w->target_dir, &st) < 0)
		return err_sys(e, errno, "look at '%s'", w->target_dir);
	w->claimed.mount_dev = st.st_dev;
	snprintf(w->claimed.mount_path, sizeof(w->claimed.mount_path), "%s", w->target_dir);
	return 0;
}

int room_directory_detach(struct worker *w, struct err *e)
{
	if (w->claimed.mount_path[0] == '\0')
		return 0;
	if (umount2(w->target_dir, UMOUNT_NOFOLLOW) < 0 && errno != EINVAL) /* EINVAL: it is no mount point (any more) */
		return err_sys(e, errno, "take '%s' out of the room", w->claimed.directory);
	w->claimed.mount_path[0] = '\0';
	return 0;
}

int room_target_grant(struct worker *w, struct err *e)
{
	const struct claimed *c = &w->claimed;
	bool has_filesystem = c->mount_fd >= 0;

	/* An offered directory is the host's and stays as it is. */
	if (has_filesystem && c->kind != TARGET_DIRECTORY &&
	    fchownat(c->mount_fd, "", w->submitter.uid, w->submitter.gid, AT_EMPTY_PATH) < 0)
		return err_sys(e, errno, "give the filesystem's root directory to the submitter");
	if (c->private_node[0] == '\0')
		return 0;
	/* Not to the submitter: other processes of that user reach into the room by /proc/PID/root. */
	if (chown(c->private_node, 0, w->node_gid) < 0 || chmod(c->private_node, has_filesystem ? 0440 : 0660) < 0)
		return err_sys(e, errno, "let tools use the node '%s'", c->private_node);
	return 0;
}
