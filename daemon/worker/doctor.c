/* SPDX-License-Identifier: MIT
 *
 * The checks of `iosweep doctor`; see doctor.h.  One function a check; the table at the end is their order.
 */
#include "daemon/worker/doctor.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/sysroot.h"
#include "daemon/worker/tool.h"

const char *doctor_state_name(enum doctor_state state)
{
	switch (state) {
	case DOCTOR_OK:
		return "ok";
	case DOCTOR_WARNING:
		return "warning";
	case DOCTOR_PROBLEM:
		return "problem";
	}
	return "";
}

struct doctor {
	const struct config *c;
	doctor_cb report;
	void *data;
};

__attribute__((format(printf, 5, 6))) static void say(const struct doctor *d, const char *name, enum doctor_state state,
                                                      const char *hint, const char *fmt, ...)
{
	va_list ap;
	AUTO_FREE char *text = NULL;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	d->report(d->data, name, state, text, hint);
}

/* ---- tools ---- */

static const struct {
	const char *program, *package, *for_what;
	bool is_needed; /* without it a filesystem of the table of axes cannot be made */
} tools[] = {
	{ "mkfs.ext4", "e2fsprogs", "ext2, ext3 and ext4", true },
	{ "mkfs.xfs", "xfsprogs", "xfs", true },
	{ "xfs_db", "xfsprogs", "reading back the geometry of xfs", true },
	{ "mkfs.btrfs", "btrfs-progs", "btrfs", true },
	{ "dd", "coreutils", "the workloads dd-write and dd-read", true },
	{ "fio", "fio", "the workload fio", false },
	{ "bonnie++", "bonnie++", "the workload bonnie", false },
	{ "pgbench", "postgresql", "the workload pgbench", false },
	{ "iozone", "iozone3 (non-free)", "the workload iozone", false },
	{ "hdparm", "hdparm", "the workload hdparm", false },
	{ "ioping", "ioping", "the workload ioping", false },
	{ "dbench", "dbench", "the workload dbench", false },
	{ "sysbench", "sysbench", "the workload sysbench", false },
};

/* Debian keeps the server's programs of each version apart: /usr/lib/postgresql/15/bin. */
static bool postgresql_has(const char *program)
{
	DIR *dir = opendir("/usr/lib/postgresql");
	struct dirent *entry;
	bool found = false;
	char path[300];

	while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
		found = access(path_format(path, sizeof(path), "/usr/lib/postgresql/%s/bin/%s", entry->d_name, program),
		               X_OK) == 0;
	if (dir != NULL)
		closedir(dir);
	return found;
}

static bool program_is_there(const char *program)
{
	const char *rest = TOOL_PATH;
	char path[300];

	while (*rest != '\0') {
		size_t n = strcspn(rest, ":");

		if (access(path_format(path, sizeof(path), "%.*s/%s", (int)n, rest, program), X_OK) == 0)
			return true;
		rest += n;
		rest += *rest == ':';
	}
	return postgresql_has(program);
}

static void tools_check(const struct doctor *d)
{
	char name[64], hint[160];

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		path_format(name, sizeof(name), "tool %s", tools[i].program);
		path_format(hint, sizeof(hint), "apt-get install %s", tools[i].package);
		if (program_is_there(tools[i].program))
			say(d, name, DOCTOR_OK, "", "'%s' is installed", tools[i].program);
		else
			say(d, name, tools[i].is_needed ? DOCTOR_PROBLEM : DOCTOR_WARNING, hint,
			    "'%s' is not installed; it is needed for %s", tools[i].program, tools[i].for_what);
	}
}

/* ---- the kernel ---- */

static int schedulers_collect(const char *name, void *data)
{
	char path[128], value[256];

	if (sysroot_text(path_format(path, sizeof(path), "/sys/block/%s/queue/scheduler", name), value, sizeof(value)))
		text_printf(data, " %s ", value);
	return 0;
}

/* A scheduler that is a module appears in the list only once it is loaded. */
static bool module_exists(const char *scheduler)
{
	char release[128], path[300];
	AUTO_TEXT struct text modules = { 0 };
	AUTO_FREE char *file = xasprintf("/%s-iosched.ko", scheduler);
	AUTO_FREE char *short_file = xasprintf("/%s.ko", scheduler);

	sysroot_text("/proc/sys/kernel/osrelease", release, sizeof(release));
	if (file_read(AT_FDCWD, path_format(path, sizeof(path), "/lib/modules/%s/modules.dep", release),
	              (size_t)8 << 20, &modules, NULL) < 0)
		return false;
	return strstr(text_str(&modules), file) != NULL || strstr(text_str(&modules), short_file) != NULL;
}

static void schedulers_check(const struct doctor *d)
{
	static const char *const names[] = { "mq-deadline", "bfq", "kyber" };
	AUTO_TEXT struct text offered = { 0 };

	sysroot_each("/sys/block", schedulers_collect, &offered);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[64];

		path_format(name, sizeof(name), "scheduler %s", names[i]);
		if (strstr(text_str(&offered), names[i]) != NULL)
			say(d, name, DOCTOR_OK, "", "the kernel offers '%s'", names[i]);
		else if (module_exists(names[i]))
			say(d, name, DOCTOR_OK, "", "'%s' is a module; the kernel loads it when it is asked for",
			    names[i]);
		else
			say(d, name, DOCTOR_WARNING, "use another kernel, or leave the scheduler out of the plan",
			    "'%s' is not in this kernel: cells with it will be infeasible", names[i]);
	}
}

static void filesystems_check(const struct doctor *d)
{
	static const char *const names[] = { "ext4", "xfs", "btrfs" };
	AUTO_TEXT struct text known = { 0 };

	sysroot_read("/proc/filesystems", &known, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[64], word[32], hint[64];

		path_format(name, sizeof(name), "filesystem %s", names[i]);
		path_format(hint, sizeof(hint), "modprobe %s", names[i]);
		if (strstr(text_str(&known), path_format(word, sizeof(word), "\t%s\n", names[i])) != NULL ||
		    text_ends(text_str(&known), names[i]))
			say(d, name, DOCTOR_OK, "", "the kernel knows '%s'", names[i]);
		else
			say(d, name, DOCTOR_WARNING, hint, "'%s' is not loaded; the kernel may have it as a module",
			    names[i]);
	}
}

static void memory_check(const struct doctor *d)
{
	char why[256];
	const char *controller = confine_controller(why, sizeof(why));

	if (controller[0] != '\0')
		say(d, "memory controller", DOCTOR_OK, "", "cgroup %s limits memory", controller);
	else
		say(d, "memory controller", DOCTOR_WARNING,
		    "mount cgroup v2 with the memory controller, and set Delegate=memory in the unit",
		    "the axis 'memory' cannot be set: %s", why);
}

static void loop_check(const struct doctor *d)
{
	if (d->c->images_path == NULL)
		return;
	if (access("/dev/loop-control", R_OK | W_OK) == 0)
		say(d, "loop devices", DOCTOR_OK, "", "'/dev/loop-control' is there");
	else
		say(d, "loop devices", DOCTOR_PROBLEM,
		    "modprobe loop; in a container, pass '/dev/loop-control' and /dev/loop* in",
		    "'/dev/loop-control' cannot be opened: images cannot be attached");
}

/* ---- who else sets these things ---- */

/* Whether what follows a key is one of udev(7)'s operators that set it; "==" and "!=" ask. */
static bool is_assigning(const char *s)
{
	s += strspn(s, " \t");
	if (s[0] == '=')
		return s[1] != '=';
	return (s[0] == ':' || s[0] == '+') && s[1] == '=';
}

/* A line that assigns it, other than for zoned devices: those have no choice (64-btrfs-zoned.rules). */
static bool rules_assign(const char *rules, const char *key)
{
	for (const char *s = rules; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n') {
		AUTO_FREE char *line = xstrndup(s, strcspn(s, "\n"));
		const char *at = line[strspn(line, " \t")] == '#' ? NULL : strstr(line, key);

		if (at != NULL && is_assigning(at + strlen(key)) && strstr(line, "zoned") == NULL)
			return true;
	}
	return false;
}

static void rule_search(const char *path, struct text *found)
{
	static const char *const attrs[] = { "queue/scheduler", "queue/read_ahead_kb", "bdi/read_ahead_kb", "queue/nr_requests",
		                             "queue/rotational", "queue/max_sectors_kb" };
	AUTO_TEXT struct text rules = { 0 };

	if (!text_ends(path, ".rules") || sysroot_read(path, &rules, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		AUTO_FREE char *key = xasprintf("ATTR{%s}", attrs[i]);

		if (rules_assign(text_str(&rules), key))
			text_printf(found, "%s'%s' sets %s", found->n > 0 ? "; " : "", path, attrs[i]);
	}
}

/* In udev's order: of files with one name the first counts, and turns the others off. */
static const char *const rule_dirs[] = { "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d",
	                                 "/usr/lib/udev/rules.d" };

struct rules {
	size_t dir; /* index in rule_dirs */
	struct text *found;
};

static int rule_file(const char *name, void *data)
{
	const struct rules *r = data;
	char path[512];

	for (size_t i = 0; i < r->dir; i++)
		if (sysroot_exists(path_format(path, sizeof(path), "%s/%s", rule_dirs[i], name)))
			return 0;
	rule_search(path_format(path, sizeof(path), "%s/%s", rule_dirs[r->dir], name), r->found);
	return 0;
}

static void udev_check(const struct doctor *d)
{
	AUTO_TEXT struct text found = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rule_dirs); i++)
		sysroot_each(rule_dirs[i], rule_file, &(struct rules){ .dir = i, .found = &found });
	if (found.n > 0)
		say(d, "udev rules", DOCTOR_WARNING,
		    "exclude the target from these rules; a change during a trial is flagged",
		    "udev rules would fight over settings: %s", text_str(&found));
	else
		say(d, "udev rules", DOCTOR_OK, "", "no udev rule sets a queue attribute");
	if (!sysroot_exists("/run/udev/control"))
		say(d, "udev", DOCTOR_WARNING, "start systemd-udevd if devices are to be listed by wwn or by-id",
		    "udevd does not run: devices are known by what sysfs says of them alone");
	else
		say(d, "udev", DOCTOR_OK, "", "udevd runs");
}

static void tuned_check(const struct doctor *d)
{
	char profile[128];

	if (sysroot_text("/etc/tuned/active_profile", profile, sizeof(profile)) && profile[0] != '\0' &&
	    sysroot_exists("/run/tuned/tuned.pid"))
		say(d, "tuned", DOCTOR_WARNING,
		    "systemctl stop tuned while sweeps run, or take the disk plug-in out of the profile",
		    "tuned runs with profile '%s', which may set read-ahead, scheduler and sysctls", profile);
	else
		say(d, "tuned", DOCTOR_OK, "", "tuned does not run");
}

/* ---- places ---- */

static void state_check(const struct doctor *d)
{
	struct stat st;

	if (stat(d->c->state, &st) < 0)
		say(d, "state directory", DOCTOR_PROBLEM, "start iosweepd, which makes it", "'%s' does not exist",
		    d->c->state);
	else if (st.st_mode & S_IRWXO)
		say(d, "state directory", DOCTOR_PROBLEM,
		    "chmod o= on it: whoever can read the store's -shm file can hold its lock",
		    "'%s' is open to everybody (mode %04o)", d->c->state, (unsigned)st.st_mode & 07777);
	else if (st.st_uid != geteuid())
		say(d, "state directory", DOCTOR_PROBLEM, "chown it to the user that the daemon runs as",
		    "'%s' belongs to uid %u", d->c->state, (unsigned)st.st_uid);
	else
		say(d, "state directory", DOCTOR_OK, "", "'%s' is the daemon's alone", d->c->state);
}

static void images_check(const struct doctor *d)
{
	const struct config *c = d->c;
	char free_text[SIZE_TEXT], keep[SIZE_TEXT];
	struct statvfs st;
	int64_t free_bytes;

	if (c->images_path == NULL) {
		say(d, "images", DOCTOR_WARNING, "add `images: {path: DIRECTORY}` to iosweepd.conf(5)",
		    "this host offers no images");
		return;
	}
	if (statvfs(c->images_path, &st) < 0) {
		say(d, "images", DOCTOR_PROBLEM, "make it, owned by root", "images directory '%s' does not exist",
		    c->images_path);
		return;
	}
	free_bytes = (int64_t)st.f_bavail * (int64_t)st.f_frsize;
	size_format(free_bytes >> 20 << 20, free_text); /* whole MiB: people read it */
	size_format(c->images_keep_free_bytes, keep);
	if (free_bytes <= c->images_keep_free_bytes)
		say(d, "images", DOCTOR_PROBLEM, "make room, or lower keep-free",
		    "'%s' has %s free and is to keep %s free", c->images_path, free_text, keep);
	else
		say(d, "images", DOCTOR_OK, "", "'%s' has %s free, %s of it to be kept", c->images_path, free_text,
		    keep);
}

static void directories_check(const struct doctor *d)
{
	char name[128];
	struct stat st;

	for (size_t i = 0; i < d->c->n_directories; i++) {
		const struct config_directory *dir = &d->c->directories[i];

		path_format(name, sizeof(name), "directory %s", dir->name);
		if (stat(dir->path, &st) < 0 || !S_ISDIR(st.st_mode))
			say(d, name, DOCTOR_PROBLEM, "make it, or take it out of the configuration",
			    "'%s' is not a directory", dir->path);
		else
			say(d, name, DOCTOR_OK, "", "'%s' is there", dir->path);
	}
}

void doctor_examine(const struct config *c, doctor_cb report, void *data)
{
	static void (*const checks[])(const struct doctor *d) = {
		state_check, images_check, directories_check, loop_check, tools_check, filesystems_check,
		schedulers_check, memory_check, udev_check, tuned_check,
	};
	struct doctor d = { .c = c, .report = report, .data = data };

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](&d);
}
