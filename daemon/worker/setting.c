/* SPDX-License-Identifier: MIT
 *
 * Access to single settings, with a time limit; see setting.h.
 */
#include "daemon/worker/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/worker/sysroot.h"

#define STACK_BYTES ((size_t)256 * 1024)

int64_t setting_timeout_ns = 30 * INT64_C(1000000000);

/* One write on its way; shared with its thread, freed by whoever knows that the thread has ended. */
struct job {
	char path[SYSROOT_PATH]; /* as opened */
	char object[256];        /* as named */
	char value[SETTING_TEXT];
	int errnum;              /* of the outcome; 0: written */
	pthread_t thread;
	struct job *next;
	atomic_bool is_done;
};

static struct job *hanging;

static void job_run(struct job *j)
{
	AUTO_CLOSE int fd = open(j->path, O_WRONLY | O_CLOEXEC);

	j->errnum = fd < 0 || write(fd, j->value, strlen(j->value)) < 0 ? errno : 0;
}

static void *job_main(void *arg)
{
	struct job *j = arg;

	job_run(j);
	atomic_store(&j->is_done, true);
	return NULL;
}

/* Every signal stays with the main thread. */
static int job_start(struct job *j)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&j->thread, &attr, job_main, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

static int job_wait(struct job *j)
{
	int64_t end_ns = clock_ns() + setting_timeout_ns;
	struct timespec end = { .tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000 };

	return pthread_clockjoin_np(j->thread, NULL, CLOCK_MONOTONIC, &end);
}

/* "/sys/block/sdb/queue/scheduler" -> length of "/sys/block/sdb/"; 0 for what is not a disk's. */
static size_t disk_prefix(const char *path)
{
	size_t skip = strlen("/sys/block/"), name;

	if (!text_starts(path, "/sys/block/"))
		return 0;
	name = strcspn(path + skip, "/");
	return path[skip + name] == '/' ? skip + name + 1 : 0;
}

/* Collects what has ended meanwhile; true if a write to the same disk still hangs. */
static bool is_hanging(const char *path)
{
	size_t n = disk_prefix(path);
	bool found = false;

	for (struct job **at = &hanging; *at != NULL;) {
		struct job *j = *at;

		if (atomic_load(&j->is_done)) {
			pthread_join(j->thread, NULL);
			*at = j->next;
			free(j);
			continue;
		}
		found |= n > 0 && strncmp(j->object, path, n) == 0;
		at = &j->next;
	}
	return found;
}

static int outcome(const char *path, const char *value, int errnum, struct err *e)
{
	switch (errnum) {
	case 0:
		return 0;
	case ENOENT:
		return err_set(e, ERR_INFEASIBLE, "'%s' does not exist: this kernel or device has no such setting",
		               path);
	case EINVAL:
	case ERANGE:
	case EOPNOTSUPP:
		return err_set(e, ERR_INFEASIBLE, "the kernel refused '%s' for '%s': %s", value, path,
		               strerror(errnum));
	}
	return err_sys(e, errnum, "write '%s' to '%s'", value, path);
}

int setting_write(const char *path, const char *value, struct err *e)
{
	struct job *j;
	int rc, errnum;

	if (is_hanging(path))
		return err_set(e, ERR_TIMEOUT, "'%s' is left alone: an earlier write to that disk still hangs", path);
	j = xcalloc(1, sizeof(*j));
	sysroot_path(j->path, path);
	path_format(j->object, sizeof(j->object), "%s", path);
	path_format(j->value, sizeof(j->value), "%s", value);
	if (disk_prefix(path) == 0 || job_start(j) != 0) {
		job_run(j);
		rc = 0;
	} else {
		rc = job_wait(j);
	}
	if (rc != 0) {
		j->next = hanging;
		hanging = j;
		return err_set(e, ERR_TIMEOUT, "writing '%s' to '%s' still hangs after %lld s", value, path,
		               (long long)((setting_timeout_ns + 999999999) / 1000000000));
	}
	errnum = j->errnum;
	free(j);
	return outcome(path, value, errnum, e);
}

int setting_read_raw(const char *path, char *ret, size_t size, struct err *e)
{
	if (is_hanging(path))
		return err_set(e, ERR_TIMEOUT, "'%s' is left alone: an earlier write to that disk still hangs", path);
	errno = 0;
	if (sysroot_text(path, ret, size))
		return 0;
	if (errno == ENOENT)
		return outcome(path, "", ENOENT, e);
	return err_sys(e, errno, "read '%s'", path);
}

int setting_read(const char *path, char *ret, size_t size, struct err *e)
{
	char raw[SETTING_TEXT], *open, *end;

	if (setting_read_raw(path, raw, sizeof(raw), e) < 0)
		return -1;
	open = strchr(raw, '[');
	end = open == NULL ? NULL : strchr(open, ']');
	if (end != NULL) {
		*end = '\0';
		path_format(ret, size, "%s", open + 1);
	} else {
		path_format(ret, size, "%s", raw);
	}
	return 0;
}

int setting_equals(const char *a, const char *b)
{
	int64_t x, y;

	if (strcmp(a, b) == 0)
		return 1;
	return integer_parse(a, INT64_MIN, INT64_MAX, &x) == 0 && integer_parse(b, INT64_MIN, INT64_MAX, &y) == 0 &&
	       x == y;
}

int setting_change(const char *path, const char *value, struct err *e)
{
	char now[SETTING_TEXT];

	if (setting_read(path, now, sizeof(now), e) < 0)
		return -1;
	if (setting_equals(now, value))
		return 0;
	if (setting_write(path, value, e) < 0 || setting_read(path, now, sizeof(now), e) < 0)
		return -1;
	if (!setting_equals(now, value))
		return err_set(e, ERR_MISMATCH, "'%s': wrote '%s', it reads '%s'", path, value, now);
	return 0;
}
