/* SPDX-License-Identifier: MIT
 *
 * Who keeps a filesystem busy, for the message of an unmount that is refused; see mount.h.  Looks through every
 * process's working directory, root, descriptors and mapped files (proc(5)).
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/worker/mount.h"
#include "daemon/worker/sysroot.h"

static bool link_is_on(int proc_fd, const char *path, dev_t dev)
{
	struct stat st;

	return fstatat(proc_fd, path, &st, 0) == 0 && st.st_dev == dev;
}

static DIR *dir_open(int proc_fd, const char *path)
{
	int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL && fd >= 0)
		close(fd);
	return dir;
}

static bool descriptor_is_on(int proc_fd, const char *pid, dev_t dev)
{
	char path[96];
	DIR *dir = dir_open(proc_fd, path_format(path, sizeof(path), "%s/fd", pid));
	struct dirent *d;
	bool found = false;

	while (dir != NULL && !found && (d = readdir(dir)) != NULL)
		found = isdigit((unsigned char)d->d_name[0]) &&
		        link_is_on(proc_fd, path_format(path, sizeof(path), "%.20s/fd/%.20s", pid, d->d_name), dev);
	if (dir != NULL)
		closedir(dir);
	return found;
}

static bool mapping_is_on(int proc_fd, const char *pid, dev_t dev)
{
	char path[64], device[32];
	AUTO_TEXT struct text maps = { 0 };

	path_format(device, sizeof(device), " %02x:%02x ", major(dev), minor(dev));
	return file_read(proc_fd, path_format(path, sizeof(path), "%s/maps", pid), (size_t)1 << 20, &maps, NULL) == 0 &&
	       strstr(text_str(&maps), device) != NULL;
}

static const char *use_of(int proc_fd, const char *pid, dev_t dev)
{
	char path[64];

	if (link_is_on(proc_fd, path_format(path, sizeof(path), "%s/cwd", pid), dev))
		return "working directory";
	if (link_is_on(proc_fd, path_format(path, sizeof(path), "%s/root", pid), dev))
		return "root directory";
	if (descriptor_is_on(proc_fd, pid, dev))
		return "open file";
	return mapping_is_on(proc_fd, pid, dev) ? "mapped file" : NULL;
}

bool mount_holder(int proc_fd, dev_t dev, char *ret, size_t size)
{
	DIR *dir = dir_open(proc_fd, ".");
	struct dirent *d;
	bool found = false;

	while (dir != NULL && !found && (d = readdir(dir)) != NULL) {
		AUTO_TEXT struct text comm = { 0 };
		const char *use = isdigit((unsigned char)d->d_name[0]) ? use_of(proc_fd, d->d_name, dev) : NULL;
		char path[64];

		if (use == NULL)
			continue;
		found = true;
		file_read(proc_fd, path_format(path, sizeof(path), "%.20s/comm", d->d_name), 64, &comm, NULL);
		path_format(ret, size, "process %.20s (%.*s), %s", d->d_name, (int)strcspn(text_str(&comm), "\n"),
		            text_str(&comm), use);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}
