/* SPDX-License-Identifier: MIT
 *
 * The check role; see check.h.  First all that needs root (configuration, definitions, facts about the places that are
 * offered), then privilege is given up for good, then the plan is read.
 */
#include "daemon/check.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "schema/base/text.h"
#include "schema/host.h"
#include "schema/matrix.h"
#include "schema/message.h"
#include "schema/plan.h"

#define CPU_MAX_S     60
#define MEMORY_MAX    ((rlim_t)512 << 20)
#define FILES_MAX     64
#define NOBODY        65534 /* where the configuration's user does not exist */

static const char *nearest_device(const struct config *c, const char *name)
{
	AUTO_FREE const char **names = xcalloc(c->n_devices + 1, sizeof(*names));

	for (size_t i = 0; i < c->n_devices; i++)
		names[i] = c->devices[i].name;
	return text_nearest(name, names, c->n_devices);
}

static const char *nearest_directory(const struct config *c, const char *name)
{
	AUTO_FREE const char **names = xcalloc(c->n_directories + 1, sizeof(*names));

	for (size_t i = 0; i < c->n_directories; i++)
		names[i] = c->directories[i].name;
	return text_nearest(name, names, c->n_directories);
}

int check_target(const struct target *t, const struct config *c, const struct check_facts *facts, struct err *e)
{
	const struct config_directory *dir;
	char size[SIZE_TEXT], limit[SIZE_TEXT], keep[SIZE_TEXT];
	const char *nearest;

	switch (t->kind) {
	case TARGET_DEVICE:
		if (config_find_device(c, t->name) != NULL)
			return 0;
		err_set_(e, ERR_NOT_FOUND, "this host lists no device '%s'", t->name);
		if ((nearest = nearest_device(c, t->name)) != NULL)
			return err_hint(e, "did you mean '%s'?", nearest);
		return err_hint(e, "root may add it under 'devices:' in '%s'; 'iosweep devices' prints the lines",
		                c->file);
	case TARGET_DIRECTORY:
		dir = config_find_directory(c, t->name);
		if (dir == NULL) {
			err_set_(e, ERR_NOT_FOUND, "this host offers no directory '%s'", t->name);
			if ((nearest = nearest_directory(c, t->name)) != NULL)
				return err_hint(e, "did you mean '%s'?", nearest);
			return err_hint(e, "root may add it under 'directories:' in '%s'", c->file);
		}
		if (!facts->is_directory[dir - c->directories])
			return err_set(e, ERR_NOT_FOUND, "directory '%s' is offered, but '%s' is not there", t->name,
			               dir->path);
		return 0;
	case TARGET_IMAGE:
		break;
	}
	size_format(t->image_bytes, size);
	if (c->images_path == NULL) {
		err_set_(e, ERR_REFUSED, "this host offers no images");
		return err_hint(e, "root may add 'images: {path: DIRECTORY}' to '%s'", c->file);
	}
	if (c->images_max_bytes > 0 && t->image_bytes > c->images_max_bytes)
		return err_set(e, ERR_REFUSED, "an image of %s is larger than the %s that this host allows", size,
		               size_format(c->images_max_bytes, limit));
	if (facts->images_free_bytes >= 0 && t->image_bytes > facts->images_free_bytes - c->images_keep_free_bytes)
		return err_set(e, ERR_NO_SPACE,
		               "an image of %s does not fit: '%s' has %s free, of which %s are kept free", size,
		               c->images_path, size_format(facts->images_free_bytes, limit),
		               size_format(c->images_keep_free_bytes, keep));
	return 0;
}

static int64_t free_bytes(const char *path)
{
	struct statvfs st;

	return path == NULL || statvfs(path, &st) < 0 ? -1 : (int64_t)(st.f_bavail * st.f_frsize);
}

static void facts_gather(const struct config *c, struct check_facts *ret)
{
	bool *is_directory = arena_array(c->arena, c->n_directories + 1, sizeof(*is_directory));

	for (size_t i = 0; i < c->n_directories; i++) {
		struct stat st;

		is_directory[i] = stat(c->directories[i].path, &st) == 0 && S_ISDIR(st.st_mode);
	}
	*ret = (struct check_facts){ .images_free_bytes = free_bytes(c->images_path), .is_directory = is_directory };
}

static void limits_set(void)
{
	const struct rlimit cpu = { CPU_MAX_S, CPU_MAX_S }, files = { FILES_MAX, FILES_MAX }, none = { 0, 0 };
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };

	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
#ifndef __SANITIZE_ADDRESS__ /* which reserves address space by the terabyte */
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
}

static int privilege_drop(const char *user, struct err *e)
{
	const struct passwd *pw = getpwnam(user);
	uid_t uid = pw == NULL ? NOBODY : pw->pw_uid;
	gid_t gid = pw == NULL ? NOBODY : pw->pw_gid;

	limits_set();
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, errno, "become user '%s'", user);
	return 0;
}

static int input_read(struct text *ret, struct err *e)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		text_add_n(ret, buf, (size_t)n);
		if (ret->n > MESSAGE_MAX_BYTES)
			return err_set(e, ERR_USAGE, "the plan is larger than %zu bytes", MESSAGE_MAX_BYTES);
	}
	return n == 0 ? 0 : err_sys(e, errno, "read the plan");
}

static struct json_object *answer_make(const struct target *t, uint64_t cells, const char *submitter)
{
	static const char *const kinds[] = {
		[TARGET_DEVICE] = "device", [TARGET_IMAGE] = "image", [TARGET_DIRECTORY] = "directory",
	};
	struct json_object *m = json_object_new_object();

	json_object_object_add(m, "ok", json_object_new_boolean(1));
	json_object_object_add(m, "cells", json_object_new_int64((int64_t)cells));
	json_object_object_add(m, "submitter", json_object_new_string(submitter));
	json_object_object_add(m, "kind", json_object_new_string(kinds[t->kind]));
	json_object_object_add(m, "name", json_object_new_string(t->name == NULL ? "" : t->name));
	json_object_object_add(m, "erase", json_object_new_boolean(t->erase));
	json_object_object_add(m, "bytes", json_object_new_int64(t->image_bytes));
	return m;
}

struct checking {
	struct config *config;
	struct registry *registry;
	struct plan *plan;
	struct matrix *matrix;
	struct check_facts facts;
	struct text text;
	char *submitter;
};

static void checking_done(struct checking *k)
{
	matrix_free(k->matrix);
	plan_free(k->plan);
	registry_free(k->registry);
	config_free(k->config);
	text_done(&k->text);
	free(k->submitter);
}

/* The part that runs as root. */
static int check_prepare(struct checking *k, const char *config_file, uint32_t uid, struct err *e)
{
	struct passwd *pw = getpwuid(uid);
	struct diags d;
	int status;

	if (config_read_one(config_file, &k->config, e) < 0)
		return -1;
	/* The socket let in whoever has the group in this session; the worker will ask the database, perhaps much
	 * later. */
	if (pw == NULL)
		return err_set(e, ERR_NOT_FOUND, "uid %u is no user of this host, and nothing can run as that", uid);
	if (host_may_submit(pw, k->config->group, e) < 0)
		return -1;
	k->submitter = xstrdup(pw->pw_name);
	diags_init(&d, config_file);
	status = config_registry(k->config, &d, &k->registry, e); /* bad definitions are left out: the daemon's log has them */
	diags_done(&d);
	if (status < 0)
		return -1;
	facts_gather(k->config, &k->facts);
	return privilege_drop(k->config->user, e);
}

static int check_plan(struct checking *k, bool rehearse, struct diags *d, struct err *e)
{
	int status;

	if (input_read(&k->text, e) < 0)
		return -1;
	status = plan_read(text_str(&k->text), k->text.n, k->registry, d, &k->plan);
	if (status == 0 && rehearse)
		plan_rehearse(k->plan);
	if (status < 0 || matrix_new(k->plan, d, &k->matrix) < 0)
		return err_set(e, ERR_USAGE, "the plan has %zu error%s", d->n + d->n_lost,
		               d->n + d->n_lost == 1 ? "" : "s");
	return check_target(&k->plan->target, k->config, &k->facts, e);
}

int check_main(const char *config_file, uint32_t uid, bool rehearse)
{
	struct checking k = { 0 };
	AUTO_TEXT struct text line = { 0 };
	struct json_object *answer;
	struct diags d;
	struct err e = { 0 };

	diags_init(&d, "plan");
	if (check_prepare(&k, config_file, uid, &e) < 0 || check_plan(&k, rehearse, &d, &e) < 0)
		answer = message_error(&e, &d);
	else
		answer = answer_make(&k.plan->target, matrix_count(k.matrix), k.submitter);
	message_encode(answer, &line);
	json_object_put(answer);
	diags_done(&d);
	checking_done(&k);
	return fwrite(line.s, 1, line.n, stdout) == line.n && fflush(stdout) == 0 ? 0 : 1;
}
