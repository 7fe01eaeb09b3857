/* SPDX-License-Identifier: MIT
 *
 * For the tests of the worker's steps on a real kernel: a worker with a real store, configuration, plan and matrix in
 * a directory of its own, and loop devices.  Only loop devices attached here are touched.  Without root and loop
 * devices the tests skip by name.
 */
#ifndef WORKER_FIXTURE_H
#define WORKER_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/worker/namespace.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/target.h"
#include "daemon/worker/tunable.h"
#include "tests/unit/tree.h"

#define OK(x) \
	do { \
		if ((x) < 0) \
			fail_msg("%s: %s", #x, f->e.text); \
	} while (0)
#define FAILS(x, kind_, text_) \
	do { \
		assert_int_equal((x), -1); \
		assert_string_equal(f->e.text, (text_)); \
		assert_int_equal(f->e.kind, (kind_)); \
	} while (0)

struct fixture {
	char dir[64];
	struct worker w;
	struct matrix_walk *walk;
	struct cell cell;
	struct err e;
	char loop[32], loop_file[96]; /* of fixture_loop; "" */
	int loop_fd;
};

static inline bool machine_can(void)
{
	return geteuid() == 0 && access("/dev/loop-control", R_OK | W_OK) == 0;
}

#define NEEDS_MACHINE() \
	do { \
		if (!machine_can()) \
			skip(); /* needs root and loop devices */ \
	} while (0)

static inline void file_put(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Mounts of a test are its own: they vanish with the program, and no other test sees them. */
static inline void namespace_own(void)
{
	static bool is_done;

	if (is_done)
		return;
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(namespace_hide_mounts(NULL), 0);
	is_done = true;
}

/* A loop device over a sparse file, attached for as long as the fixture lives: it frees itself at the last close. */
static inline void fixture_loop(struct fixture *f, int64_t bytes)
{
	struct loop_config config = { .info = { .lo_flags = LO_FLAGS_AUTOCLEAR } };
	int file, control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	snprintf(f->loop_file, sizeof(f->loop_file), "%s/disk.img", f->dir);
	file = open(f->loop_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(control >= 0 && file >= 0 && ftruncate(file, bytes) == 0);
	config.fd = (uint32_t)file;
	for (int i = 0; i < 50 && f->loop_fd < 0; i++) {
		int fd;

		snprintf(f->loop, sizeof(f->loop), "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
		fd = open(f->loop, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config) == 0)
			f->loop_fd = open(f->loop, O_RDONLY | O_CLOEXEC);
		else
			usleep(20000);
		if (fd >= 0)
			close(fd);
	}
	close(file);
	close(control);
	assert_true(f->loop_fd >= 0);
}

static inline void fixture_new(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	claimed_init(&f->w.claimed);
	f->loop_fd = -1;
	snprintf(f->dir, sizeof(f->dir), "/tmp/iosweep-test.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
}

/* target: the plan's target line; axes: lines of the one matrix block, each with its indentation of four. */
static inline void fixture_start(struct fixture *f, const char *target, const char *axes)
{
	AUTO_TEXT struct text plan = { 0 }, config = { 0 };
	struct registry *registry = registry_new();
	struct sweep_new n = { .host_id = 0, .submitter = "root", .options = "{}" };
	struct diags d;
	char path[128];
	uint8_t uuid[16];

	namespace_own();
	text_printf(&config, "state: %s\nimages: {path: %s, max: 4GiB, keep-free: 1MiB}\ndirectories: {here: %s}\n",
	            f->dir, f->dir, f->dir);
	if (f->loop[0] != '\0')
		text_printf(&config, "devices: {disk: {backing-file: %s}}\n", f->loop_file);
	snprintf(path, sizeof(path), "%s/iosweepd.yaml", f->dir);
	file_put(path, text_str(&config));
	text_printf(&plan, "plan: test\ntarget: %s\nmatrix:\n%s"
	            "workloads:\n  - command: {run: [true], metrics: {elapsed: {value: \":elapsed\", unit: s, better: lower}}}\n"
	            "settle: 2s\n", target, axes);
	diags_init(&d, "test");
	if (config_read(path, &d, &f->w.config, &f->e) < 0 ||
	    plan_read(text_str(&plan), plan.n, registry, &d, &f->w.plan) < 0 ||
	    matrix_new(f->w.plan, &d, &f->w.matrix) < 0) {
		diags_print(stderr, &d);
		fail_msg("%s", f->e.text);
	}
	diags_done(&d);
	registry_free(registry);
	snprintf(path, sizeof(path), "%s/iosweep.db", f->dir);
	OK(store_open(path, STORE_WRITE, &f->w.store, &f->e));
	uuid_make(uuid);
	OK(store_host(f->w.store, uuid, "here", &f->w.host_id, &f->e));
	n.target = f->w.plan->target.name == NULL ? "image" : f->w.plan->target.name;
	n.plan_source = text_str(&plan);
	n.plan = f->w.plan;
	n.host_id = f->w.host_id;
	OK(store_sweep_submit(f->w.store, &n, &f->w.sweep_id, &f->e));
	f->w.arena = arena_new();
	f->w.cell_arena = arena_new();
	OK(store_sweep_get(f->w.store, f->w.sweep_id, f->w.arena, &f->w.sweep, &f->e));
	f->w.host_proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->w.line_fd = f->w.cancel_fd = f->w.tools.cancel_fd = f->w.submitter.cgroup_fd = -1;
	f->w.tools.kill_after_ns = 1000000000;
	f->w.submitter.is_root = true;
	snprintf(f->w.boot_id, sizeof(f->w.boot_id), "this boot");
	snprintf(f->w.private_dir, sizeof(f->w.private_dir), "%s", f->dir);
	f->walk = matrix_walk_new(f->w.matrix);
}

/* The next cell; false after the last. */
static inline bool fixture_cell(struct fixture *f)
{
	enum cell_state before;

	if (!matrix_walk_next(f->walk, &f->cell))
		return false;
	f->w.cell = &f->cell;
	OK(store_cell_begin(f->w.store, f->w.sweep_id, &f->cell, &f->w.cell_id, &before, &f->e));
	return true;
}

/* Puts everything back that a failed test left, so that the machine is as before. */
static inline void fixture_end(struct fixture *f)
{
	f->w.is_moving_on = false;
	if (f->w.store != NULL) {
		confine_leave(&f->w, NULL);
		mount_undo(&f->w, NULL);
		tune_restore(&f->w, NULL);
		format_undo(&f->w, NULL);
		queue_restore(&f->w, NULL);
		target_release(&f->w, NULL);
		store_close(f->w.store);
	}
	tunables_free(&f->w);
	free(f->w.step_detail);
	matrix_walk_free(f->walk);
	matrix_free(f->w.matrix);
	plan_free(f->w.plan);
	config_free(f->w.config);
	arena_free(f->w.arena);
	arena_free(f->w.cell_arena);
	if (f->w.host_proc_fd > 0)
		close(f->w.host_proc_fd);
	if (f->loop_fd >= 0)
		close(f->loop_fd);
	tree_remove(f->dir);
}

/* "/sys/block/loop3/queue/ATTR" of the claimed device, as it is. */
static inline const char *queue_value(struct fixture *f, const char *attr)
{
	static char value[SETTING_TEXT];
	char path[256];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/%s", strrchr(f->w.claimed.node, '/') + 1, attr);
	assert_int_equal(setting_read(path, value, sizeof(value), NULL), 0);
	return value;
}

static inline const char *file_value(const char *path)
{
	static char value[SETTING_TEXT];

	assert_int_equal(setting_read(path, value, sizeof(value), NULL), 0);
	return value;
}

static inline size_t pending(struct fixture *f)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct undo_entry *entries;
	size_t n;

	OK(store_undo_pending(f->w.store, f->w.sweep_id, a, &entries, &n, &f->e));
	return n;
}

#endif
