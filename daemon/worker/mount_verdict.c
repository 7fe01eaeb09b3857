/* SPDX-License-Identifier: MIT
 *
 * Mount options as asked against what the kernel shows; see mount.h.  Pure, but for mount_verdict at the end.
 *
 * Kernels echo options in their own spelling: commit=30s is commit=30, barrier=1 is barrier, compress=zstd is
 * compress=zstd:3, logbsize=262144 is logbsize=256k.  Many defaults are not echoed at all.
 */
#include <ctype.h>
#include <libmount.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "daemon/worker/mount.h"
#include "daemon/worker/sysroot.h"

/* Options that are what a mount is without them; `contrary` shows if they are not in force. */
static const struct {
	const char *option, *contrary;
} defaults[] = {
	{ "defaults", NULL }, { "rw", "ro" }, { "exec", "noexec" }, { "atime", "noatime" }, { "diratime", "nodiratime" },
	{ "async", "sync" }, { "relatime", "noatime" }, { "strictatime", "relatime" }, { "symfollow", "nosymfollow" },
	{ "nolazytime", "lazytime" }, { "barrier", "nobarrier" }, { "attr2", "noattr2" }, { "acl", "noacl" },
	{ "user_xattr", "nouser_xattr" }, { "block_validity", "noblock_validity" }, { "delalloc", "nodelalloc" },
	{ "auto_da_alloc", "noauto_da_alloc" }, { "datacow", "nodatacow" }, { "datasum", "nodatasum" }, { "ikeep", "noikeep" },
	{ "nouuid_tree", NULL }, { "dioread_nolock", "dioread_lock" },
};

/* Flags that the kernel's own code shows whenever they are set (show_mnt_opts(), show_sb_opts() in
 * fs/proc_namespace.c). */
static const char *const always_shown[] = { "noatime", "nodiratime", "noexec", "nosymfollow", "sync", "dirsync", "lazytime", "ro" };

/* The next option of a list separated by commas or newlines; NULL at the end.  The span is not terminated. */
static const char *option_next(const char **rest, size_t *n)
{
	const char *s = *rest + strspn(*rest, ",\n ");

	*n = strcspn(s, ",\n ");
	*rest = s + *n;
	return *n == 0 ? NULL : s;
}

struct option {
	char key[64], value[128];
	bool has_value;
};

/* barrier=1 and barrier, barrier=0 and nobarrier are the same; noload and norecovery are words of their own. */
static void option_split(const char *s, size_t n, struct option *ret)
{
	const char *eq = memchr(s, '=', n);
	size_t n_key = eq == NULL ? n : (size_t)(eq - s);

	path_format(ret->key, sizeof(ret->key), "%.*s", (int)n_key, s);
	ret->has_value = eq != NULL;
	path_format(ret->value, sizeof(ret->value), "%.*s", eq == NULL ? 0 : (int)(n - n_key - 1),
	            eq == NULL ? "" : eq + 1);
	if (strcmp(ret->key, "barrier") == 0 && ret->has_value) {
		path_format(ret->key, sizeof(ret->key), "%s", strcmp(ret->value, "0") == 0 ? "nobarrier" : "barrier");
		ret->has_value = false;
		ret->value[0] = '\0';
	}
	if (strcmp(ret->key, "discard") == 0 && !ret->has_value) { /* so says btrfs of discard=sync, and nobody else has another */
		path_format(ret->value, sizeof(ret->value), "sync");
		ret->has_value = true;
	}
}

/* 262144, 256k and 256KiB are one number. */
static bool number_read(const char *s, double *ret)
{
	size_t n = strspn(s, "0123456789");
	int64_t v;
	AUTO_FREE char *digits = xstrndup(s, n);

	if (n == 0 || integer_parse(digits, 0, INT64_MAX, &v) < 0)
		return false;
	*ret = (double)v;
	switch (tolower((unsigned char)s[n])) {
	case '\0':
		return true;
	case 'k':
		*ret *= 1024.0;
		return true;
	case 'm':
		*ret *= 1024.0 * 1024.0;
		return true;
	case 'g':
		*ret *= 1024.0 * 1024.0 * 1024.0;
		return true;
	}
	return s[n] == 's' && s[n + 1] == '\0';
}

static bool value_equals(const char *wanted, const char *shown)
{
	double a, b;
	size_t n = strlen(wanted);

	if (strcmp(wanted, shown) == 0 || (strncmp(wanted, shown, n) == 0 && shown[n] == ':'))
		return true;
	return number_read(wanted, &a) && number_read(shown, &b) && a <= b && a >= b;
}

/* Looks for one option in a list. */
static enum verdict list_verdict(const struct option *wanted, const char *list, struct text *why)
{
	const char *s, *rest = list;
	size_t n;

	while ((s = option_next(&rest, &n)) != NULL) {
		struct option o;

		option_split(s, n, &o);
		if (strcmp(o.key, wanted->key) == 0) {
			if (!wanted->has_value || value_equals(wanted->value, o.value))
				return VERDICT_CONFIRMED;
			text_printf(why, "'%s=%s' was asked for, '%s=%s' is in force", wanted->key, wanted->value,
			            o.key, o.value);
			return VERDICT_CONTRADICTED;
		}
		if ((text_starts(o.key, "no") && strcmp(o.key + 2, wanted->key) == 0) ||
		    (text_starts(wanted->key, "no") && strcmp(wanted->key + 2, o.key) == 0)) {
			text_printf(why, "'%s' was asked for, '%s' is in force", wanted->key, o.key);
			return VERDICT_CONTRADICTED;
		}
	}
	return VERDICT_NONE;
}

static bool list_has(const char *list, const char *key)
{
	const char *s, *rest = list;
	size_t n;

	while ((s = option_next(&rest, &n)) != NULL)
		if (n == strlen(key) && strncmp(s, key, n) == 0)
			return true;
	return false;
}

static enum verdict silent_verdict(const struct option *wanted, const char *shown, const char *proc, struct text *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		const char *contrary = defaults[i].contrary;

		if (strcmp(defaults[i].option, wanted->key) != 0)
			continue;
		if (contrary == NULL || (!list_has(shown, contrary) && !list_has(proc, contrary)))
			return VERDICT_IMPLIED;
		text_printf(why, "'%s' was asked for, '%s' is in force", wanted->key, contrary);
		return VERDICT_CONTRADICTED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(always_shown); i++)
		if (strcmp(always_shown[i], wanted->key) == 0) {
			text_printf(why, "'%s' was asked for and is not in force", wanted->key);
			return VERDICT_CONTRADICTED;
		}
	if (text_starts(wanted->key, "no") && !wanted->has_value)
		return VERDICT_IMPLIED; /* the thing is not shown as being on */
	text_printf(why, "'%s%s%s' is not shown by the kernel", wanted->key, wanted->has_value ? "=" : "",
	            wanted->value);
	return VERDICT_UNCONFIRMED;
}

enum verdict mount_options_verdict(char *const *wanted, const char *shown, const char *proc, struct text *ret_why)
{
	enum verdict worst = VERDICT_CONFIRMED;

	for (; wanted != NULL && *wanted != NULL; wanted++) {
		AUTO_TEXT struct text why = { 0 };
		struct option o;
		enum verdict v;

		option_split(*wanted, strlen(*wanted), &o);
		v = list_verdict(&o, shown, &why);
		if (v == VERDICT_NONE)
			v = list_verdict(&o, proc, &why);
		if (v == VERDICT_NONE)
			v = silent_verdict(&o, shown, proc, &why);
		if (v > worst) {
			worst = v;
			text_clear(ret_why);
			text_add(ret_why, text_str(&why));
		}
	}
	return worst;
}

/* ---- the mounted filesystem ---- */

static void shown_read(const char *path, struct text *ret)
{
	struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
	struct libmnt_fs *fs = table == NULL ? NULL : mnt_table_find_target(table, path, MNT_ITER_BACKWARD);
	const char *vfs = fs == NULL ? NULL : mnt_fs_get_vfs_options(fs),
		   *sb = fs == NULL ? NULL : mnt_fs_get_fs_options(fs);

	/* both begin with rw or ro; what is the same is said once */
	if (vfs != NULL && sb != NULL && strncmp(vfs, sb, 2) == 0 && (sb[2] == ',' || sb[2] == '\0'))
		sb = sb[2] == ',' ? sb + 3 : NULL;
	text_printf(ret, "%s%s%s", vfs == NULL ? "" : vfs, vfs != NULL && sb != NULL ? "," : "", sb == NULL ? "" : sb);
	mnt_unref_table(table);
}

/* ext4 shows all of its options below /proc/fs, also those that tune2fs left in the superblock. */
static void proc_read(const struct claimed *c, struct text *ret)
{
	const char *name = strrchr(c->sysfs, '/');
	char path[128];

	if (name != NULL && text_starts(c->filesystem, "ext"))
		sysroot_read(path_format(path, sizeof(path), "/proc/fs/ext4/%s/options", name + 1), ret, NULL);
}

static void data_mode_add(const char *proc, struct text *effective)
{
	const char *s, *rest = proc;
	size_t n;

	while ((s = option_next(&rest, &n)) != NULL)
		if (n > 5 && strncmp(s, "data=", 5) == 0 && strstr(text_str(effective), "data=") == NULL)
			text_printf(effective, ",%.*s", (int)n, s);
}

enum verdict mount_verdict(struct worker *w, struct text *ret_effective, struct text *ret_why)
{
	AUTO_TEXT struct text shown = { 0 }, proc = { 0 };
	struct format f;
	enum verdict v;

	if (w->claimed.mount_path[0] == '\0' || w->claimed.kind == TARGET_DIRECTORY ||
	    cell_format(w->matrix, w->cell, w->cell_arena, &f, NULL) < 0)
		return VERDICT_NONE;
	shown_read(w->claimed.mount_path, &shown);
	proc_read(&w->claimed, &proc);
	v = mount_options_verdict(f.mount, text_str(&shown), text_str(&proc), ret_why);
	text_add(ret_effective, text_str(&shown));
	data_mode_add(text_str(&proc), ret_effective);
	return f.mount == NULL || f.mount[0] == NULL ? VERDICT_IMPLIED : v;
}
