/* SPDX-License-Identifier: MIT
 *
 * A memory limit by cgroup v2 (memory.max) or the v1 memory controller (memory.limit_in_bytes); see confine.h.
 * Sources: Documentation/admin-guide/cgroup-v2.rst, Documentation/admin-guide/cgroup-v1/memory.rst.
 *
 * In v2 the cgroup is a child of the worker's own, which systemd delegates (Delegate=memory); a controller can be
 * handed on only by a cgroup without processes, so the worker moves into a child first.  In v1 any place below the
 * mount point will do.
 */
#include "daemon/worker/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/worker/setting.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

#define V1_ROOT "/sys/fs/cgroup/memory"
#define V2_ROOT "/sys/fs/cgroup"
#define MIB INT64_C(1048576)
#define EMPTY_WAIT_NS (5 * INT64_C(1000000000))
#define PAUSE_NS (10 * 1000000L)

int64_t host_ram_bytes(void)
{
	AUTO_TEXT struct text info = { 0 };
	long long kib = 0;

	if (sysroot_read("/proc/meminfo", &info, NULL) == 0)
		sscanf(text_str(&info), "MemTotal: %lld kB", &kib);
	return (int64_t)kib * 1024;
}

/* The worker's own v2 cgroup: the line "0::/system.slice/iosweepd.service" of /proc/self/cgroup. */
static bool own_v2(char *ret, size_t size)
{
	AUTO_TEXT struct text groups = { 0 };
	const char *line;

	if (sysroot_read("/proc/self/cgroup", &groups, NULL) < 0)
		return false;
	line = text_starts(text_str(&groups), "0::") ? text_str(&groups) : strstr(text_str(&groups), "\n0::");
	if (line == NULL)
		return false;
	line = strstr(line, "0::") + 3;
	path_format(ret, size, V2_ROOT "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

static bool has_word(const char *path, const char *word)
{
	char text[512];
	size_t n = strlen(word);

	if (!sysroot_text(path, text, sizeof(text)))
		return false;
	for (const char *s = text; (s = strstr(s, word)) != NULL; s += n)
		if ((s == text || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
			return true;
	return false;
}

/* As containers get to see it. */
static bool is_read_only(const char *dir)
{
	char path[SYSROOT_PATH];

	return access(sysroot_path(path, dir), W_OK) < 0 && errno == EROFS;
}

const char *confine_controller(char *ret_why, size_t size)
{
	bool has_v1 = sysroot_exists(V1_ROOT "/memory.limit_in_bytes");
	char own[512], path[640];

	path_format(ret_why, size, "%s", "");
	if (has_v1 && !is_read_only(V1_ROOT))
		return "v1";
	if (has_v1) {
		path_format(ret_why, size, "'%s' is mounted read-only", V1_ROOT);
		return "";
	}
	if (own_v2(own, sizeof(own)) && sysroot_exists(V2_ROOT "/cgroup.controllers")) {
		if (has_word(path_format(path, sizeof(path), "%s/cgroup.controllers", own), "memory"))
			return "v2";
		path_format(ret_why, size,
		            "the memory controller is not delegated to '%s' (the unit needs Delegate=memory)", own);
		return "";
	}
	path_format(ret_why, size, "no memory controller is mounted below '%s'", V2_ROOT);
	return "";
}

static void group_dir(const struct worker *w, const char *controller, char *ret, size_t size)
{
	char own[512] = V2_ROOT, uuid[UUID_TEXT];
	char *leaf;

	/* By UUID: another daemon of this host, with a state directory of its own, counts its sweeps from 1 as well. */
	uuid_format(w->sweep.uuid, uuid);
	if (strcmp(controller, "v1") == 0) {
		path_format(ret, size, V1_ROOT "/iosweep-%s", uuid);
		return;
	}
	own_v2(own, sizeof(own));
	leaf = strstr(own, "/iosweep-worker");
	if (leaf != NULL)
		*leaf = '\0';
	path_format(ret, size, "%s/iosweep-%s", own, uuid);
}

static int file_write(const char *dir, const char *file, const char *value, struct err *e)
{
	char path[1024];

	return setting_write(path_format(path, sizeof(path), "%s/%s", dir, file), value, e);
}

/* v2 only: "no internal processes" (cgroup-v2.rst).  Everything in the worker's cgroup moves to a leaf, once. */
static int controller_hand_on(const char *group, struct err *e)
{
	AUTO_FREE char *own = xstrndup(group, (size_t)(strrchr(group, '/') - group));
	AUTO_FREE char *leaf = xasprintf("%s/iosweep-worker", own);
	AUTO_FREE char *control = xasprintf("%s/cgroup.subtree_control", own),
		       *procs = xasprintf("%s/cgroup.procs", own);
	AUTO_TEXT struct text pids = { 0 };

	if (has_word(control, "memory"))
		return 0;
	if (mkdir(leaf, 0755) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make cgroup '%s'", leaf);
	if (sysroot_read(procs, &pids, e) < 0)
		return -1;
	for (const char *s = text_str(&pids); *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n') {
		AUTO_FREE char *pid = xstrndup(s, strcspn(s, "\n"));

		file_write(leaf, "cgroup.procs", pid, NULL); /* a process that has ended meanwhile is none to move */
	}
	return file_write(own, "cgroup.subtree_control", "+memory", e);
}

static int limit_set(const char *controller, const char *dir, const char *bytes, struct err *e)
{
	if (strcmp(controller, "v1") == 0)
		return file_write(dir, "memory.limit_in_bytes", bytes, e);
	if (file_write(dir, "memory.max", bytes, e) < 0)
		return -1;
	return file_write(dir, "memory.swap.max", "0", NULL), 0; /* not every kernel accounts swap */
}

static int limit_read(const char *controller, const char *dir, int64_t *ret, struct err *e)
{
	char path[640], text[SETTING_TEXT];

	path_format(path, sizeof(path), "%s/%s", dir,
	            strcmp(controller, "v1") == 0 ? "memory.limit_in_bytes" : "memory.max");
	if (setting_read(path, text, sizeof(text), e) < 0)
		return -1;
	if (integer_parse(text, 0, INT64_MAX, ret) < 0)
		return err_set(e, ERR_MISMATCH, "'%s' reads '%s'", path, text);
	return 0;
}

int confine_read(struct worker *w, int64_t *ret, struct err *e)
{
	char why[256], dir[600];
	const char *controller = confine_controller(why, sizeof(why));

	group_dir(w, controller, dir, sizeof(dir));
	return limit_read(controller, dir, ret, e);
}

/* memory.events of v2 and memory.oom_control of v1 both have a line "oom_kill N". */
int64_t confine_oom_kills(const struct worker *w)
{
	AUTO_TEXT struct text events = { 0 };
	char why[256], dir[600], path[640];
	const char *controller = confine_controller(why, sizeof(why)), *line;

	if (w->submitter.cgroup_fd < 0 || controller[0] == '\0')
		return 0;
	group_dir(w, controller, dir, sizeof(dir));
	path_format(path, sizeof(path), "%s/%s", dir,
	            strcmp(controller, "v1") == 0 ? "memory.oom_control" : "memory.events");
	if (sysroot_read(path, &events, NULL) < 0)
		return 0;
	line = strstr(text_str(&events), "oom_kill ");
	return line == NULL ? 0 : strtol(line + strlen("oom_kill "), NULL, 10);
}

static int group_make(struct worker *w, const char *controller, const char *dir, struct err *e)
{
	if (undo_save(w, STEP_CONFINE, "cgroup", dir, "", e) < 0)
		return -1;
	if (strcmp(controller, "v2") == 0 && controller_hand_on(dir, e) < 0)
		return -1;
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make cgroup '%s'", dir);
	return 0;
}

/* What the cell asks for and what a rehearsal allows, whichever is less; 0: no limit. */
static int64_t limit_wanted(const struct worker *w, bool *ret_is_asked)
{
	const struct setting *s = cell_get(w->cell, "memory");
	int64_t most = w->plan->memory_max_bytes, bytes = 0;

	*ret_is_asked = s != NULL && strcmp(s->value, KERNEL_DEFAULT) != 0 && integer_parse(s->value, 1, INT64_MAX, &bytes) == 0;
	return *ret_is_asked && (most == 0 || bytes < most) ? bytes : most;
}

int confine_enter(struct worker *w, struct err *e)
{
	char why[256], dir[600], path[640], value[24], asked[SIZE_TEXT], has[SIZE_TEXT];
	const char *controller;
	bool is_asked;
	int64_t wanted = limit_wanted(w, &is_asked), limit;

	if (wanted == 0)
		return 0;
	controller = confine_controller(why, sizeof(why));
	if (controller[0] == '\0' && !is_asked)
		return 0; /* a rehearsal goes without */
	if (controller[0] == '\0')
		return err_set(e, ERR_INFEASIBLE, "memory: %s", why);
	if (wanted > host_ram_bytes()) /* no limit at all, and "2x ram" would be as much of what nobody has */
		return err_set(e, ERR_INFEASIBLE, "memory: %s is more than the %s of this host",
		               size_format(wanted, asked), size_format(host_ram_bytes() / MIB * MIB, has));
	snprintf(value, sizeof(value), "%lld", (long long)wanted);
	group_dir(w, controller, dir, sizeof(dir));
	if (group_make(w, controller, dir, e) < 0 || limit_set(controller, dir, value, e) < 0 ||
	    limit_read(controller, dir, &limit, e) < 0)
		return err_in(e, "memory");
	if (limit != wanted)
		return err_set(e, ERR_MISMATCH, "memory: asked for %s bytes, the cgroup reads %lld", value,
		               (long long)limit);
	w->submitter.cgroup_fd = open(path_format(path, sizeof(path), "%s/cgroup.procs", dir), O_WRONLY | O_CLOEXEC);
	if (w->submitter.cgroup_fd < 0)
		return err_sys(e, errno, "open '%s'", path);
	w->ram_bytes = limit;
	return 0;
}

/* A cgroup can be removed as soon as its last process is reaped; what it was charged for goes to its parent. */
static int group_remove(const char *dir, struct err *e)
{
	int64_t deadline_ns = clock_ns() + EMPTY_WAIT_NS;

	/* one that was never made: below a read-only mount rmdir(2) says no more than that */
	while (access(dir, F_OK) == 0 && rmdir(dir) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_ns() > deadline_ns)
			return err_sys(e, errno, "remove cgroup '%s'", dir);
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}

int confine_leave(struct worker *w, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct undo_entry *entries;
	size_t n;

	if (w->submitter.cgroup_fd > 0)
		close(w->submitter.cgroup_fd);
	w->submitter.cgroup_fd = -1;
	w->ram_bytes = host_ram_bytes();
	if (store_undo_pending(w->store, w->sweep_id, a, &entries, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (strcmp(entries[i].kind, "cgroup") == 0 &&
		    (group_remove(entries[i].object, e) < 0 ||
		     store_undo_finish(w->store, entries[i].id, "done", "", e) < 0))
			return -1;
	return 0;
}

int cgroup_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	(void)w;
	*ret_dropped = NULL;
	if (!text_starts(u->object, V2_ROOT "/") || strstr(u->object, "/iosweep-") == NULL ||
	    strstr(u->object, "..") != NULL)
		return err_set(e, ERR_REFUSED, "'%s' is not a cgroup of iosweep", u->object);
	return group_remove(u->object, e);
}
