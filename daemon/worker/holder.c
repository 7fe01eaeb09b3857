/* SPDX-License-Identifier: MIT
 *
 * Who holds a filesystem or a device; see holder.h.
 */
#include "daemon/worker/holder.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/worker/sysroot.h"

#define LINK_MAX_BYTES 4352 /* PATH_MAX and " (deleted)" */

/* What is searched for, and how: returns the kind of use, or NULL. */
struct wanted {
	const char *(*use)(const struct wanted *x, const char *pid);
	int proc_fd;
	dev_t dev; /* of the files, or of the device itself */
	uid_t uid;
};

static DIR *dir_open(int proc_fd, const char *path)
{
	int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL && fd >= 0)
		close(fd);
	return dir;
}

/* The first use that `look` finds at an entry of PATH that is a number: a process, a thread, a descriptor. */
static const char *numbers_each(const struct wanted *x, const char *path,
                                const char *(*look)(const struct wanted *x, const char *path, const char *number))
{
	DIR *dir = dir_open(x->proc_fd, path);
	const char *use = NULL;
	struct dirent *d;

	while (dir != NULL && use == NULL && (d = readdir(dir)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]))
			use = look(x, path, d->d_name);
	if (dir != NULL)
		closedir(dir);
	return use;
}

/* ---- a filesystem ---- */

static bool link_is_on(const struct wanted *x, const char *path)
{
	struct stat st;

	return fstatat(x->proc_fd, path, &st, 0) == 0 && st.st_dev == x->dev;
}

static const char *descriptor_on(const struct wanted *x, const char *dir, const char *number)
{
	char path[160];

	return link_is_on(x, path_format(path, sizeof(path), "%s/%.20s", dir, number)) ? "open file" : NULL;
}

static bool mapping_is_on(const struct wanted *x, const char *pid)
{
	char path[64], device[32];
	AUTO_TEXT struct text maps = { 0 };

	path_format(device, sizeof(device), " %02x:%02x ", major(x->dev), minor(x->dev));
	return file_read(x->proc_fd, path_format(path, sizeof(path), "%s/maps", pid), (size_t)1 << 20, &maps, NULL) == 0 &&
	       strstr(text_str(&maps), device) != NULL;
}

static const char *use_of_filesystem(const struct wanted *x, const char *pid)
{
	const char *use;
	char path[64];

	if (link_is_on(x, path_format(path, sizeof(path), "%s/cwd", pid)))
		return "working directory";
	if (link_is_on(x, path_format(path, sizeof(path), "%s/root", pid)))
		return "root directory";
	use = numbers_each(x, path_format(path, sizeof(path), "%s/fd", pid), descriptor_on);
	return use != NULL ? use : mapping_is_on(x, pid) ? "mapped file" : NULL;
}

/* ---- a device ---- */

const char *holder_node_name(dev_t devno, char buf[NODE_NAME_TEXT])
{
	snprintf(buf, NODE_NAME_TEXT, NODE_LINK "-%u-%u", major(devno), minor(devno));
	return buf;
}

/* However the path before it is spelt from here, the name is ours alone to give.  " (deleted)" may follow, of which some
 * files of /proc write the blank as \040. */
static bool is_node_name(const struct wanted *x, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[NODE_NAME_TEXT];
	size_t n = strlen(holder_node_name(x->dev, name));

	return slash != NULL && strncmp(slash + 1, name, n) == 0 &&
	       (slash[1 + n] == '\0' || slash[1 + n] == ' ' || slash[1 + n] == '\\');
}

/* A line for each file, with its path at the end: io_uring_show_fdinfo() in io_uring/fdinfo.c. */
static bool ring_has_node(const struct wanted *x, const char *info)
{
	AUTO_FREE char *copy = xstrdup(info);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (is_node_name(x, line))
			return true;
	return false;
}

static bool info_read(const struct wanted *x, const char *dir, const char *fd, struct text *ret)
{
	char path[160];

	return file_read(x->proc_fd, path_format(path, sizeof(path), "%s/../fdinfo/%.20s", dir, fd), (size_t)1 << 20,
	                 ret, NULL) == 0;
}

/* Descriptors that lie in the socket, unread. */
static bool socket_has_descriptors(const char *info)
{
	const char *found = strstr(info, "scm_fds:");

	return found != NULL && strtol(found + strlen("scm_fds:"), NULL, 10) > 0;
}

/* Not by the owner of the directory, which is root if the process does not let itself be looked at: proc(5). */
static bool is_of(const struct wanted *x, const char *pid_dir)
{
	AUTO_TEXT struct text status = { 0 };
	const char *uid;
	char path[128];

	if (file_read(x->proc_fd, path_format(path, sizeof(path), "%s/status", pid_dir), 8192, &status, NULL) < 0)
		return false;
	uid = strstr(text_str(&status), "\nUid:\t");
	return uid != NULL && strtoul(uid + strlen("\nUid:\t"), NULL, 10) == x->uid;
}

/* Looked at by name first: to ask for more of any open file of the host could wait for a server that does not
 * answer. */
static const char *descriptor_of(const struct wanted *x, const char *dir, const char *number)
{
	AUTO_TEXT struct text info = { 0 };
	char path[160], to[LINK_MAX_BYTES];
	struct stat st;
	ssize_t n = readlinkat(x->proc_fd, path_format(path, sizeof(path), "%s/%.20s", dir, number), to,
	                       sizeof(to) - 1);

	if (n <= 0)
		return NULL;
	to[n] = '\0';
	if (strcmp(to, "anon_inode:[io_uring]") == 0) {
		if (info_read(x, dir, number, &info) && ring_has_node(x, text_str(&info)))
			return "registered with an io_uring";
		return NULL;
	}
	if (text_starts(to, "socket:")) {
		if (is_of(x, path_format(path, sizeof(path), "%s/..", dir)) && info_read(x, dir, number, &info) &&
		    socket_has_descriptors(text_str(&info)))
			return "descriptors on their way through a socket";
		return NULL;
	}
	if (!is_node_name(x, to) || fstatat(x->proc_fd, path, &st, 0) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != x->dev)
		return NULL;
	return "open device";
}

/* Line by line: there may be any number of them. */
static bool node_is_mapped(const struct wanted *x, const char *path)
{
	int fd = openat(x->proc_fd, path, O_RDONLY | O_CLOEXEC);
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	AUTO_FREE char *line = NULL;
	bool found = false;
	size_t size = 0;

	if (maps == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && getline(&line, &size, maps) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = is_node_name(x, line);
	}
	fclose(maps);
	return found;
}

static const char *task_use(const struct wanted *x, const char *dir, const char *number)
{
	const char *use;
	char path[128];

	use = numbers_each(x, path_format(path, sizeof(path), "%.60s/%.20s/fd", dir, number), descriptor_of);
	if (use == NULL && node_is_mapped(x, path_format(path, sizeof(path), "%.60s/%.20s/maps", dir, number)))
		use = "mapped device";
	return use;
}

static const char *use_of_node(const struct wanted *x, const char *pid)
{
	char path[64];

	if (is_of(x, pid))
		return numbers_each(x, path_format(path, sizeof(path), "%.20s/task", pid), task_use);
	return task_use(x, ".", pid);
}

/* ---- every process ---- */

static bool holder_search(const struct wanted *x, char *ret, size_t size)
{
	DIR *dir = dir_open(x->proc_fd, ".");
	const char *use = NULL;
	struct dirent *d;
	char path[64];

	while (dir != NULL && use == NULL && (d = readdir(dir)) != NULL) {
		AUTO_TEXT struct text comm = { 0 };

		use = isdigit((unsigned char)d->d_name[0]) ? x->use(x, d->d_name) : NULL;
		if (use == NULL)
			continue;
		file_read(x->proc_fd, path_format(path, sizeof(path), "%.20s/comm", d->d_name), 64, &comm, NULL);
		path_format(ret, size, "process %.20s (%.*s), %s", d->d_name, (int)strcspn(text_str(&comm), "\n"),
		            text_str(&comm), use);
	}
	if (dir != NULL)
		closedir(dir);
	return use != NULL;
}

bool holder_of_filesystem(int proc_fd, dev_t dev, char *ret, size_t size)
{
	const struct wanted x = { .use = use_of_filesystem, .proc_fd = proc_fd, .dev = dev };

	return holder_search(&x, ret, size);
}

bool holder_of_node(int proc_fd, dev_t devno, uid_t uid, char *ret, size_t size)
{
	const struct wanted x = { .use = use_of_node, .proc_fd = proc_fd, .dev = devno, .uid = uid };

	return holder_search(&x, ret, size);
}
