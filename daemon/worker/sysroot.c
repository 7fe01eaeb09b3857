/* SPDX-License-Identifier: MIT
 *
 * Reading small kernel files; see sysroot.h.
 */
#include "daemon/worker/sysroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_FILE_MAX ((size_t)1 << 20)

static char prefix[512];

void sysroot_set(const char *new_prefix)
{
	snprintf(prefix, sizeof(prefix), "%s", new_prefix);
}

bool sysroot_is_machine(void)
{
	return prefix[0] == '\0';
}

char *path_format(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return buf;
}

char *sysroot_path(char buf[SYSROOT_PATH], const char *path)
{
	if (snprintf(buf, SYSROOT_PATH, "%s%s", prefix, path) >= SYSROOT_PATH)
		buf[0] = '\0';
	return buf;
}

bool sysroot_resolve(const char *path, char *ret, size_t size)
{
	char buf[SYSROOT_PATH], real[PATH_MAX];
	size_t skip = strlen(prefix);

	if (realpath(sysroot_path(buf, path), real) == NULL || strncmp(real, prefix, skip) != 0)
		return false;
	return snprintf(ret, size, "%s", real + skip) < (int)size;
}

bool sysroot_exists(const char *path)
{
	char buf[SYSROOT_PATH];

	return access(sysroot_path(buf, path), F_OK) == 0;
}

bool sysroot_text(const char *path, char *ret, size_t size)
{
	char buf[SYSROOT_PATH];
	AUTO_CLOSE int fd = open(sysroot_path(buf, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	if (n < 0) {
		ret[0] = '\0';
		return false;
	}
	while (n > 0 && (ret[n - 1] == '\n' || ret[n - 1] == ' ' || ret[n - 1] == '\0'))
		n--;
	ret[n] = '\0';
	return true;
}

int64_t sysroot_integer(const char *path, int64_t fallback)
{
	char s[32];
	int64_t v;

	if (!sysroot_text(path, s, sizeof(s)) || integer_parse(s, INT64_MIN, INT64_MAX, &v) < 0)
		return fallback;
	return v;
}

int sysroot_read(const char *path, struct text *ret, struct err *e)
{
	char buf[SYSROOT_PATH];

	if (file_read(AT_FDCWD, sysroot_path(buf, path), KERNEL_FILE_MAX, ret, e) < 0)
		return -1;
	while (ret->n > 0 && (ret->s[ret->n - 1] == '\n' || ret->s[ret->n - 1] == ' '))
		ret->s[--ret->n] = '\0';
	return 0;
}

static int entry_is_real(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

int sysroot_each(const char *dir, sysroot_entry_cb each, void *data)
{
	char buf[SYSROOT_PATH];
	struct dirent **entries = NULL;
	int n = scandir(sysroot_path(buf, dir), &entries, entry_is_real, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = each(entries[i]->d_name, data);
		free(entries[i]);
	}
	free(entries);
	return rc;
}
