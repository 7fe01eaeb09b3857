/* SPDX-License-Identifier: MIT
 *
 * The one place that opens files below /sys, /proc and /dev/disk by name, so that tests can point the worker at a
 * recorded tree.  Not for writing settings: those have a time limit of their own (setting.h).
 */
#ifndef IOSWEEP_SYSROOT_H
#define IOSWEEP_SYSROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

#define SYSROOT_PATH 1024

/* Puts prefix in front of every path from now on; "" (as at start) is the machine itself.  For tests only. */
void sysroot_set(const char *prefix);
bool sysroot_is_machine(void);

/* snprintf(3) for paths: what does not fit is cut, and such a path then names nothing.  The buffer is returned. */
char *path_format(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The path to open; the buffer is returned.  A path too long for it comes out as one that does not exist. */
char *sysroot_path(char buf[SYSROOT_PATH], const char *path);
/* The path with symbolic links resolved and the prefix taken off again; false if there is none. */
bool sysroot_resolve(const char *path, char *ret, size_t size);

bool sysroot_exists(const char *path);
/* The file's text without trailing newlines and blanks; "" and false if it cannot be read. */
bool sysroot_text(const char *path, char *ret, size_t size);
/* A whole number in a file; fallback if there is none. */
int64_t sysroot_integer(const char *path, int64_t fallback);
/* Like sysroot_text, for those who need to know why it failed. */
int sysroot_read(const char *path, struct text *ret, struct err *e);

/* Calls each with every entry but "." and ".." of a directory, sorted by name; stops at the first that does not
 * return 0 and returns that.  A missing directory has no entries. */
typedef int (*sysroot_entry_cb)(const char *name, void *data);
int sysroot_each(const char *dir, sysroot_entry_cb each, void *data);

#endif
