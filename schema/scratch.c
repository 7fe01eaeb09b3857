/* SPDX-License-Identifier: MIT
 *
 * Temporary directories that do not outlive their process for long; see scratch.h.
 */
#include "schema/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/base/mem.h"
#include "schema/base/text.h"

#define PREFIX "iosweep."
#define STALE_SECONDS 60 /* a younger one may be between its making and its lock */

static const char *scratch_base(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp != NULL && tmp[0] == '/' ? tmp : "/var/tmp";
}

/* Files only: nothing makes a directory in one. */
static void files_remove(int fd)
{
	int copy = dup(fd);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;

	if (dir == NULL) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewinddir(dir);
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	closedir(dir);
}

/* Whose directory it is, that it is none of another user's making, and that nobody holds its lock. */
static void stale_remove(int base, const char *name)
{
	AUTO_CLOSE int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mtime > time(NULL) - STALE_SECONDS ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	files_remove(fd);
	unlinkat(base, name, AT_REMOVEDIR);
}

static void stale_remove_all(void)
{
	DIR *dir = opendir(scratch_base());
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (text_starts(entry->d_name, PREFIX) && strlen(entry->d_name) == strlen(PREFIX "XXXXXX"))
			stale_remove(dirfd(dir), entry->d_name);
	if (dir != NULL)
		closedir(dir);
}

int scratch_make(struct scratch *ret, struct err *e)
{
	AUTO_FREE char *dir = xasprintf("%s/" PREFIX "XXXXXX", scratch_base());
	int fd;

	stale_remove_all();
	if (mkdtemp(dir) == NULL)
		return err_sys(e, errno, "make a directory '%s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err_sys(e, errno, "lock the directory '%s'", dir);
		if (fd >= 0)
			close(fd);
		rmdir(dir);
		return -1;
	}
	*ret = (struct scratch){ TAKE(dir), fd };
	return 0;
}

char *scratch_file(const struct scratch *s, const char *name)
{
	return xasprintf("%s/%s", s->dir, name);
}

void scratch_done(struct scratch *s)
{
	if (s->dir == NULL)
		return;
	files_remove(s->fd);
	rmdir(s->dir);
	close(s->fd);
	free(s->dir);
	*s = (struct scratch){ 0 };
}
