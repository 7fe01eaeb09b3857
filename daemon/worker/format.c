/* SPDX-License-Identifier: MIT
 *
 * The step `format`: mkfs on the claimed device, and the proof that it made what was asked; see format.h.
 *
 * mkfs is never relied on to refuse: without a terminal it asks nothing.  The guard is asked right before.  The UUID
 * is chosen by us and read back, since a mkfs that failed half-way, followed by a mount, finds the filesystem of the
 * cell before.
 */
#include "daemon/worker/format.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "daemon/worker/bare.h"
#include "daemon/worker/device.h"
#include "daemon/worker/guard.h"
#include "daemon/worker/mount.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"
#include "daemon/worker/target.h"

#define FORMAT_TIMEOUT_MIN_NS (60 * INT64_C(1000000000))
#define DESCRIBE_TIMEOUT_NS (60 * INT64_C(1000000000))
#define DETAIL_MAX 8192

static const struct tool_identity as_root = { .is_root = true, .cgroup_fd = -1 };

struct family {
	const char *type, *program;
	const char *first[4];     /* our own options, NULL-terminated */
	const char *uuid_option;  /* "-U" or "-m" */
	const char *uuid_prefix;  /* of its value: "" or "uuid=" */
	const char *no_discard;   /* of its own; the ext family has it among -E */
	bool is_ext;
	const char *describe[6];  /* argument list without the node */
};

static const struct family families[] = {
	{ "ext2", "mkfs.ext2", { "-F", "-q" }, "-U", "", NULL, true, { "dumpe2fs", "-h" } },
	{ "ext3", "mkfs.ext3", { "-F", "-q" }, "-U", "", NULL, true, { "dumpe2fs", "-h" } },
	{ "ext4", "mkfs.ext4", { "-F", "-q" }, "-U", "", NULL, true, { "dumpe2fs", "-h" } },
	{ "xfs", "mkfs.xfs", { "-f" }, "-m", "uuid=", "-K", false, { "xfs_db", "-r", "-c", "info" } },
	{ "btrfs", "mkfs.btrfs", { "-f" }, "-U", "", "-K", false, { "btrfs", "inspect-internal", "dump-super" } },
};

static const struct family *family_find(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (strcmp(families[i].type, type) == 0)
			return &families[i];
	return NULL;
}

static size_t words_count(char *const *words)
{
	size_t n = 0;

	while (words != NULL && words[n] != NULL)
		n++;
	return n;
}

bool format_is_lazy(const struct format *f)
{
	for (size_t i = 0; i < words_count(f->mkfs); i++)
		if (strstr(f->mkfs[i], "lazy_itable_init=1") != NULL ||
		    strstr(f->mkfs[i], "lazy_journal_init=1") != NULL)
			return text_starts(f->type, "ext");
	return false;
}

/* mke2fs takes the last -E only, so ours goes into the plan's. */
static const char *extended_options(const char *given, bool keeps_blocks, struct arena *a)
{
	const char *s = given;

	if (keeps_blocks && strstr(s, "discard") == NULL)
		s = arena_printf(a, "%s%snodiscard", s, s[0] == '\0' ? "" : ",");
	if (strstr(s, "lazy_itable_init") == NULL)
		s = arena_printf(a, "%s%slazy_itable_init=0", s, s[0] == '\0' ? "" : ",");
	if (strstr(s, "lazy_journal_init") == NULL)
		s = arena_printf(a, "%s,lazy_journal_init=0", s);
	return s;
}

static bool has_word(char *const *words, const char *word)
{
	for (size_t i = 0; i < words_count(words); i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

int format_argv(const struct format *f, bool keeps_blocks, const char *uuid, const char *node, struct arena *a,
                char ***ret, struct err *e)
{
	const struct family *family = family_find(f->type);
	size_t n_words = words_count(f->mkfs), n = 0;
	bool has_extended = false;
	const char **argv;

	if (family == NULL)
		return err_set(e, ERR_USAGE, "unknown filesystem '%s'", f->type);
	argv = arena_array(a, n_words + 16, sizeof(*argv));
	argv[n++] = family->program;
	for (size_t i = 0; family->first[i] != NULL; i++)
		argv[n++] = family->first[i];
	argv[n++] = family->uuid_option;
	argv[n++] = arena_printf(a, "%s%s", family->uuid_prefix, uuid);
	if (keeps_blocks && family->no_discard != NULL && !has_word(f->mkfs, family->no_discard))
		argv[n++] = family->no_discard;
	for (size_t i = 0; i < n_words; i++) {
		bool is_extended = family->is_ext && i > 0 && strcmp(f->mkfs[i - 1], "-E") == 0;

		has_extended |= is_extended;
		argv[n++] = is_extended ? extended_options(f->mkfs[i], keeps_blocks, a) : f->mkfs[i];
	}
	if (family->is_ext && !has_extended) {
		argv[n++] = "-E";
		argv[n++] = extended_options("", keeps_blocks, a);
	}
	argv[n++] = node;
	*ret = (char **)argv;
	return 0;
}

/* mkfs.btrfs follows its NOTE with indented lines. */
void format_first_line(const char *text, char *ret, size_t size)
{
	static const char *const banners[] = { "mke2fs ", "btrfs-progs v", "See http", "NOTE:", " ", "\t", "\n" };
	const char *line = text;

	path_format(ret, size, "%s", "");
	for (; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
		bool is_banner = false;

		for (size_t i = 0; i < ARRAY_SIZE(banners); i++)
			is_banner |= text_starts(line, banners[i]);
		if (is_banner)
			continue;
		path_format(ret, size, "%.*s", (int)strcspn(line, "\n"), line);
		return;
	}
}

static bool says(const struct tool_end *end, const char *words)
{
	return strstr(text_str(&end->err), words) != NULL || strstr(text_str(&end->out), words) != NULL;
}

int format_judge(const char *program, const struct tool_end *end, struct err *e)
{
	static const char *const sick[] = { "nput/output error", "No such device", "Read-only file system", "emote I/O error",
		                            "No data available", "Structure needs cleaning", "Cannot allocate memory",
		                            "Operation not permitted", "Permission denied" };
	static const char *const busy[] = { "esource busy", "is mounted", "in use by the system", "apparently in use" };
	char line[512];

	format_first_line(text_str(&end->err), line, sizeof(line));
	if (line[0] == '\0')
		format_first_line(text_str(&end->out), line, sizeof(line));
	if (end->exit_status < 0)
		return err_set(e, ERR_TOOL, "%s was ended by signal %d", program, end->exit_signal);
	for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
		if (says(end, busy[i]))
			return err_set(e, ERR_BUSY, "%s: %s", program, line);
	for (size_t i = 0; i < ARRAY_SIZE(sick); i++)
		if (says(end, sick[i]))
			return err_set(e, ERR_TOOL, "%s: %s", program, line);
	if (line[0] == '\0') /* a refusal has a reason */
		return err_set(e, ERR_TOOL, "%s ended with status %d and says nothing", program, end->exit_status);
	return err_set(e, ERR_INFEASIBLE, "%s refuses: %s", program, line);
}

/* Old signatures that mkfs would leave (a RAID superblock at the end) would contradict the new one.  The guard has
 * let them pass: the plan says `erase: yes`, or they are this sweep's own. */
static int signatures_clear(struct worker *w, const struct signature *there, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	int n;

	if (there->type[0] == '\0')
		return 0;
	fd = open(w->claimed.private_node, O_RDWR | O_EXCL | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open %s", w->claimed.name);
	return signature_wipe(fd, NULL, &n, e);
}

static bool is_made(const struct signature *s, const char *type, const char *uuid)
{
	return strcmp(s->type, type) == 0 && strcasecmp(s->uuid, uuid) == 0;
}

/* What libblkid calls ext2, ext3 or ext4 follows from the features (ext4 -O none reads as ext2).  Whether the driver
 * that the plan names takes them is for the mount to say. */
static int ext_verify(int fd, const char *uuid, bool *ret_is_made, struct err *e)
{
	static const char *const types[] = { "ext4", "ext3", "ext2" };
	struct signature s;

	for (size_t i = 0; i < ARRAY_SIZE(types) && !*ret_is_made; i++) {
		if (signature_read_only(fd, types[i], &s, e) < 0)
			return -1;
		*ret_is_made = is_made(&s, types[i], uuid);
	}
	return 0;
}

/* What counts is on the device, not in the page cache, which would hide writes that it acknowledged and lost. */
static int signature_verify(struct worker *w, const char *type, const char *uuid, struct err *e)
{
	AUTO_CLOSE int fd = open(w->claimed.private_node, O_RDONLY | O_CLOEXEC);
	struct signature s;
	bool ok;

	if (fd < 0)
		return err_sys(e, errno, "open %s", w->claimed.name);
	if (ioctl(fd, BLKFLSBUF, 0) < 0)
		return err_sys(e, errno, "%s: write what mkfs made", w->claimed.name);
	if (signature_read_only(fd, type, &s, e) < 0)
		return err_in(e, "%s", w->claimed.name);
	ok = is_made(&s, type, uuid);
	if (!ok && text_starts(type, "ext") && ext_verify(fd, uuid, &ok, e) < 0)
		return err_in(e, "%s", w->claimed.name);
	if (!ok)
		return err_set(e, ERR_MISMATCH, "%s: made %s %s, the device reads %s %s", w->claimed.name, type, uuid,
		               s.type[0] ? s.type : "nothing", s.uuid);
	return 0;
}

/* What the family's own tool says of the new filesystem; it is kept, but never decides over success. */
static void describe(struct worker *w, const struct family *family)
{
	const char *argv[8] = { NULL };
	struct tool tool = { .argv = (char *const *)argv, .timeout_ns = DESCRIBE_TIMEOUT_NS };
	int64_t begun_ns = clock_ns();
	struct tool_end end = { 0 };
	size_t n = 0;

	while (family->describe[n] != NULL) {
		argv[n] = family->describe[n];
		n++;
	}
	argv[n] = w->claimed.private_node;
	if (tool_run(&w->tools, &as_root, &tool, &end, NULL) == 0 && end.exit_status == 0)
		w->claimed.description = xstrndup(text_str(&end.out), DETAIL_MAX);
	tool_end_done(&end);
	w->described_ns = clock_ns() - begun_ns;
}

static int mkfs_run(struct worker *w, char **argv, struct err *e)
{
	int64_t limit_ns = w->plan->timeout_ns > FORMAT_TIMEOUT_MIN_NS ? w->plan->timeout_ns : FORMAT_TIMEOUT_MIN_NS;
	struct tool tool = { .argv = argv, .timeout_ns = limit_ns };
	struct tool_end end = { 0 };
	char line[512];
	int rc = tool_run(&w->tools, &as_root, &tool, &end, e);

	if (rc == 0 && end.exit_status != 0)
		rc = target_is_there(w, e) < 0 ? -1 : format_judge(argv[0], &end, e);
	format_first_line(text_str(&end.err), line, sizeof(line));
	if (rc == 0 && line[0] != '\0')
		w->claimed.warning = xstrdup(line);
	tool_end_done(&end);
	return rc;
}

static void filesystem_forget(struct claimed *c)
{
	c->filesystem[0] = '\0';
	c->is_lazy = false;
	free(TAKE(c->description));
	free(TAKE(c->warning));
}

/* The new UUID is committed before mkfs starts, the old ones are finished only when the new one is proven: whatever
 * moment a crash chooses, what stands on the device is known as ours. */
static int filesystem_make(struct worker *w, const struct format *f, const struct family *family,
                           const struct signature *there, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	uint8_t (*old)[16];
	char uuid[UUID_TEXT], **argv;
	size_t n_old;

	uuid_make(w->claimed.filesystem_uuid);
	uuid_format(w->claimed.filesystem_uuid, uuid);
	if (format_argv(f, w->plan->precondition, uuid, w->claimed.private_node, a, &argv, e) < 0 ||
	    guard_journal(w, a, &old, &n_old, e) < 0 ||
	    undo_save(w, STEP_FORMAT, "filesystem", uuid, w->claimed.node, e) < 0)
		return -1;
	if (signatures_clear(w, there, e) < 0 || mkfs_run(w, argv, e) < 0 || signature_verify(w, f->type, uuid, e) < 0)
		return -1;
	for (size_t i = 0; i < n_old; i++)
		if (journal_finish(w, "filesystem", uuid_format(old[i], uuid), e) < 0)
			return -1;
	path_format(w->claimed.filesystem, sizeof(w->claimed.filesystem), "%s", f->type);
	w->claimed.is_lazy = format_is_lazy(f);
	if (bare_finish(w, e) < 0)
		return -1;
	describe(w, family);
	return 0;
}

int format_make(struct worker *w, struct err *e)
{
	const struct family *family;
	struct signature there;
	struct format f;

	filesystem_forget(&w->claimed);
	if (w->claimed.kind == TARGET_DIRECTORY)
		return 0;
	if (cell_format(w->matrix, w->cell, w->cell_arena, &f, e) < 0)
		return -1;
	if (strcmp(f.type, "none") == 0) { /* the guard is asked before the bare device is handed over: workplace.c */
		path_format(w->claimed.filesystem, sizeof(w->claimed.filesystem), "none");
		return 0;
	}
	family = family_find(f.type);
	if (family == NULL)
		return err_set(e, ERR_USAGE, "unknown filesystem '%s'", f.type);
	/* Whoever can write below a mounted filesystem can make the kernel read what it must never read. */
	if (w->claimed.is_written && target_is_free(w, e) < 0)
		return -1;
	if (guard_ask_again(w, &there, e) < 0 || filesystem_make(w, &f, family, &there, e) < 0)
		return err_in(e, "make %s", f.type);
	free(w->step_detail);
	w->step_detail = w->claimed.description == NULL ? NULL : xstrdup(w->claimed.description);
	return 0;
}

/* ---- undo ---- */

static int filesystems_wipe(struct worker *w, uint8_t (*ours)[16], size_t n_ours, struct err *e)
{
	AUTO_CLOSE int fd = open(w->claimed.private_node, O_RDWR | O_EXCL | O_CLOEXEC);
	char uuid[UUID_TEXT];
	int n;

	if (fd < 0)
		return err_sys(e, errno, "wipe the signature on %s", w->claimed.name);
	for (size_t i = 0; i < n_ours; i++)
		if (signature_wipe(fd, uuid_format(ours[i], uuid), &n, e) < 0)
			return err_in(e, "%s", w->claimed.name);
	return 0;
}

/* An image goes with its file, and the next mkfs of this sweep overwrites: only a device that is handed back is
 * wiped. */
int format_undo(struct worker *w, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	uint8_t (*ours)[16];
	size_t n_ours;

	filesystem_forget(&w->claimed);
	if (w->is_moving_on || w->claimed.kind == TARGET_DIRECTORY || w->claimed.private_node[0] == '\0')
		return 0;
	if (guard_journal(w, a, &ours, &n_ours, e) < 0)
		return -1;
	if (n_ours == 0 || target_is_there(w, NULL) < 0)
		return 0; /* of a device that is away the entries stay: when it is back it is known as ours, and wiped */
	if (w->claimed.kind == TARGET_DEVICE && !w->plan->target.keep_filesystem &&
	    filesystems_wipe(w, ours, n_ours, e) < 0)
		return target_is_there(w, NULL) < 0 ? 0 : -1; /* it may have died under this, which is the same */
	return journal_finish(w, "filesystem", NULL, e);
}

/* After a crash or a reboot: the listed device is looked for again, and wiped only of the UUID in the entry.  While
 * it is away the entry stays, so that the device is known as ours when it comes back. */
int filesystem_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	bool is_device = w->sweep.target_kind == TARGET_DEVICE;
	bool may_go_on = w->sweep.state == SWEEP_RUNNING || w->sweep.state == SWEEP_PAUSED;
	const struct config_device *listed = is_device ? config_find_device(w->config, w->sweep.target) : NULL;
	AUTO_CLOSE int fd = -1;
	struct device d;
	struct signature s;
	int n;

	*ret_dropped = NULL;
	if (!is_device) {
		*ret_dropped = "it was on an image, which is gone";
		return 0;
	}
	if (w->plan == NULL) { /* undo must do without a plan that cannot be read any more */
		*ret_dropped = "the plan cannot be read, and may say keep-filesystem";
		return 0;
	}
	if (w->plan->target.keep_filesystem)
		return 0;
	if (listed == NULL || device_find(listed, &d, NULL, NULL) < 0) {
		*ret_dropped = listed == NULL && !may_go_on ? "the device is not listed any more" : undo_later;
		return 0;
	}
	fd = device_open_alone(d.path, O_RDWR);
	if (fd < 0)
		return err_sys(e, errno, "wipe the signature on '%s'", d.path);
	if (signature_read(fd, &s, e) < 0)
		return err_in(e, "'%s'", d.path);
	if (strcasecmp(s.uuid, u->object) != 0)
		return 0; /* mkfs never got so far, or it is somebody else's by now */
	return signature_wipe(fd, u->object, &n, e);
}
