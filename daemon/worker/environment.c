/* SPDX-License-Identifier: MIT
 *
 * Facts of host, kernel, device and tools; see environment.h.  What cannot change while the worker lives is read once.
 */
#include "daemon/worker/environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/device.h"
#include "daemon/worker/hostfacts.h"
#include "daemon/worker/setting.h"
#include "daemon/worker/steps.h"
#include "daemon/worker/sysroot.h"

#define VERSION_TIMEOUT_NS (10 * INT64_C(1000000000))
#define FACTS_AT_FIRST ((size_t)64)

void environment_facts_add(struct environment_facts *f, enum fact_class class, const char *key, const char *value)
{
	if (f->n == f->cap) {
		struct environment_fact *grown;

		f->cap = f->cap > 0 ? 2 * f->cap : FACTS_AT_FIRST;
		grown = arena_array(f->a, f->cap, sizeof(*grown));
		if (f->n > 0)
			memcpy(grown, f->at, f->n * sizeof(*grown));
		f->at = grown;
	}
	f->at[f->n++] = (struct environment_fact){ .key = key, .value = value, .class = class };
}

static void fact_add(struct environment_facts *f, enum fact_class class, const char *key, const char *value)
{
	if (value != NULL && value[0] != '\0')
		environment_facts_add(f, class, key, arena_strdup(f->a, value));
}

static void fact_add_integer(struct environment_facts *f, enum fact_class class, const char *key, int64_t value)
{
	if (value > 0)
		fact_add(f, class, key, arena_printf(f->a, "%lld", (long long)value));
}

static void fact_add_file(struct environment_facts *f, enum fact_class class, const char *key, const char *path)
{
	char value[4096];

	if (sysroot_text(path, value, sizeof(value)))
		fact_add(f, class, key, value);
}

/* ---- the host: read once ---- */

/* The value of "key<separator>value" at the beginning of a line; quotes around it are taken off. */
static bool line_value(const char *text, const char *key, char separator, char *ret, size_t size)
{
	size_t n = strlen(key);

	for (const char *s = text; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n') {
		const char *v = s + n;

		if (strncmp(s, key, n) != 0)
			continue;
		v += strspn(v, " \t");
		if (*v != separator)
			continue;
		v += 1 + strspn(v + 1, " \t\"");
		path_format(ret, size, "%.*s", (int)strcspn(v, "\"\n"), v);
		return true;
	}
	return false;
}

static void host_facts(struct environment_facts *f)
{
	AUTO_TEXT struct text os = { 0 }, cpu = { 0 };
	char value[256];
	struct utsname u;

	if (uname(&u) == 0) {
		fact_add(f, FACT_IDENTITY, "kernel.release", u.release);
		fact_add(f, FACT_IDENTITY, "kernel.version", u.version);
		fact_add(f, FACT_IDENTITY, "host.machine", u.machine);
	}
	fact_add_file(f, FACT_CONTEXT, "kernel.command-line", "/proc/cmdline");
	if (sysroot_read("/etc/os-release", &os, NULL) == 0 &&
	    line_value(text_str(&os), "PRETTY_NAME", '=', value, sizeof(value)))
		fact_add(f, FACT_IDENTITY, "host.distribution", value);
	if (sysroot_read("/proc/cpuinfo", &cpu, NULL) == 0) {
		if (line_value(text_str(&cpu), "model name", ':', value, sizeof(value)))
			fact_add(f, FACT_IDENTITY, "cpu.model", value);
		if (line_value(text_str(&cpu), "microcode", ':', value, sizeof(value)))
			fact_add(f, FACT_CONTEXT, "cpu.microcode", value);
	}
	fact_add_integer(f, FACT_IDENTITY, "cpu.online", sysconf(_SC_NPROCESSORS_ONLN));
	fact_add_integer(f, FACT_IDENTITY, "memory.total", host_ram_bytes());
	fact_add_file(f, FACT_IDENTITY, "host.vendor", "/sys/class/dmi/id/sys_vendor");
	fact_add_file(f, FACT_IDENTITY, "host.product", "/sys/class/dmi/id/product_name");
	fact_add_file(f, FACT_CONTEXT, "host.bios", "/sys/class/dmi/id/bios_version");
}

/* What somebody may change at any moment. */
static void host_settings(struct environment_facts *f)
{
	char value[SETTING_TEXT];

	fact_add_file(f, FACT_CONTEXT, "cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	fact_add_file(f, FACT_CONTEXT, "cpu.boost", "/sys/devices/system/cpu/cpufreq/boost");
	if (setting_read("/sys/kernel/mm/transparent_hugepage/enabled", value, sizeof(value), NULL) == 0)
		fact_add(f, FACT_CONTEXT, "memory.transparent-hugepages", value);
	fact_add_file(f, FACT_CONTEXT, "memory.swappiness", "/proc/sys/vm/swappiness");
	fact_add_file(f, FACT_CONTEXT, "memory.dirty-ratio", "/proc/sys/vm/dirty_ratio");
	fact_add_file(f, FACT_CONTEXT, "memory.dirty-background-ratio", "/proc/sys/vm/dirty_background_ratio");
	fact_add_file(f, FACT_VOLATILE, "host.load", "/proc/loadavg");
}

/* ---- the device ---- */

static const char *loop_direct(const struct worker *w, const struct device *d)
{
	if (w->claimed.kind == TARGET_IMAGE && w->plan->target.direct && !d->is_loop_direct)
		return "refused";
	return d->is_loop_direct ? "yes" : "no";
}

/* The list without the brackets: which one is chosen belongs to the cell. */
static void schedulers_add(struct environment_facts *f, const char *scheduler)
{
	AUTO_TEXT struct text names = { 0 };

	for (const char *s = scheduler; *s != '\0'; s++)
		if (*s != '[' && *s != ']')
			text_add_n(&names, s, 1);
	fact_add(f, FACT_CONTEXT, "device.schedulers", text_str(&names));
}

static void device_facts(const struct worker *w, struct environment_facts *f)
{
	static const char *const kinds[] = { [TARGET_DEVICE] = "device", [TARGET_IMAGE] = "image", [TARGET_DIRECTORY] = "directory" };
	struct device d;

	fact_add(f, FACT_CONTEXT, "target.kind", kinds[w->claimed.kind]);
	if (w->plan->precondition)
		fact_add(f, FACT_CONTEXT, "target.preconditioned", "yes");
	if (w->claimed.devno == 0 || device_read_devno(w->claimed.devno, &d, NULL) < 0)
		return;
	fact_add(f, FACT_VOLATILE, "device.path", d.path);
	fact_add(f, FACT_IDENTITY, "device.model", d.model);
	fact_add(f, FACT_IDENTITY, "device.serial", d.serial);
	fact_add(f, FACT_IDENTITY, "device.wwn", d.wwn);
	fact_add(f, FACT_IDENTITY, "device.firmware", d.firmware);
	fact_add_integer(f, FACT_IDENTITY, "device.size", d.size_bytes);
	fact_add_integer(f, FACT_IDENTITY, "device.logical-block-size", d.logical_block_bytes);
	fact_add_integer(f, FACT_IDENTITY, "device.physical-block-size", d.physical_block_bytes);
	fact_add(f, FACT_CONTEXT, "device.rotational", d.is_rotational ? "yes" : "no");
	fact_add(f, FACT_CONTEXT, "device.write-cache", d.write_cache);
	schedulers_add(f, d.scheduler);
	if (d.backing_file[0] != '\0') {
		fact_add(f, FACT_CONTEXT, "loop.direct-io", loop_direct(w, &d));
		fact_add(f, FACT_VOLATILE, "loop.backing-file", d.backing_file);
	}
}

/* ---- tools ---- */

/* Programs that say their version in another way than --version. */
static const struct {
	const char *program, *option;
} version_options[] = {
	{ "mkfs.ext2", "-V" }, { "mkfs.ext3", "-V" }, { "mkfs.ext4", "-V" }, { "mkfs.xfs", "-V" }, { "bonnie++", "-h" },
	{ "iozone", "-v" }, { "hdparm", "-V" }, { "ioping", "-v" }, { "dbench", "-h" },
};

static struct {
	struct {
		const char *path, *version;
	} *at;
	size_t n, cap;
} versions;

/* A line with a digit in it, from either stream; usage texts of tools without a version option are of no use. */
static void version_line(const struct tool_end *end, char *ret, size_t size)
{
	const char *const streams[] = { text_str(&end->out), text_str(&end->err) };
	AUTO_TEXT struct text line = { 0 };

	path_format(ret, size, "%s", "");
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		for (const char *s = streams[i]; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n') {
			size_t n = strcspn(s, "\n");

			if (strcspn(s, "0123456789") >= n)
				continue;
			text_add_printable(&line, s + strspn(s, " \t"), n - strspn(s, " \t"));
			path_format(ret, size, "%s", line.s);
			return;
		}
}

static char *const *version_argv(const struct workload *def, const char *program, const char *path, struct arena *a)
{
	const char *option = "--version", **argv;
	size_t n = 0;

	if (def != NULL && def->version[0] != NULL && strcmp(def->version[0], program) == 0)
		while (def->version[n] != NULL)
			n++;
	argv = arena_array(a, n + 3, sizeof(*argv));
	if (n > 0)
		memcpy(argv, def->version, n * sizeof(*argv));
	for (size_t i = 0; i < ARRAY_SIZE(version_options); i++)
		if (strcmp(version_options[i].program, program) == 0)
			option = version_options[i].option;
	argv[0] = path;
	if (n == 0)
		argv[1] = option;
	return (char *const *)argv;
}

static const char *version_ask(struct worker *w, char *const *argv, const struct tool_identity *as)
{
	struct tool tool = { .argv = argv, .timeout_ns = VERSION_TIMEOUT_NS, .keep = 4096 };
	struct tool_end end = { 0 };
	char line[256] = "";

	if (tool_run(&w->tools, as, &tool, &end, NULL) == 0)
		version_line(&end, line, sizeof(line));
	tool_end_done(&end);
	return arena_strdup(w->arena, line);
}

const char *tool_version(struct worker *w, const struct workload *def, const char *program,
                         const struct tool_identity *as)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *found = def != NULL ? workload_program(def, program, a) : NULL,
		   *path = found != NULL ? found : program;

	for (size_t i = 0; i < versions.n; i++)
		if (strcmp(versions.at[i].path, path) == 0)
			return versions.at[i].version;
	ARRAY_GROW(versions.at, versions.n, versions.cap);
	versions.at[versions.n].path = arena_strdup(w->arena, path);
	versions.at[versions.n].version = version_ask(w, version_argv(def, program, path, a), as);
	return versions.at[versions.n++].version;
}

static void tool_fact(struct worker *w, struct environment_facts *f, const struct workload *def, const char *program,
                      const struct tool_identity *as)
{
	const char *base = strrchr(program, '/');
	const char *key = arena_printf(f->a, "tool.%s", base != NULL ? base + 1 : program);

	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->at[i].key, key) == 0)
			return;
	fact_add(f, FACT_IDENTITY, key, tool_version(w, def, program, as));
}

static void tool_facts(struct worker *w, struct environment_facts *f)
{
	static const struct tool_identity as_root = { .is_root = true, .cgroup_fd = -1 };
	struct tool_identity as = w->submitter;

	as.cgroup_fd = -1;
	if (w->claimed.filesystem[0] != '\0' && strcmp(w->claimed.filesystem, "none") != 0)
		tool_fact(w, f, NULL, arena_printf(f->a, "mkfs.%s", w->claimed.filesystem), &as_root);
	for (size_t i = 0; i < w->n_workloads; i++) {
		const struct workload *def = w->workloads[i].definition;

		for (char **needs = def->needs; needs != NULL && *needs != NULL; needs++)
			tool_fact(w, f, def, *needs, &as);
	}
}

int environment_collect(struct worker *w, struct arena *a, struct environment_fact **ret, size_t *ret_n, struct err *e)
{
	static struct environment_facts host;
	struct environment_facts f = { .a = a };

	(void)e;
	if (host.a == NULL) {
		host.a = w->arena;
		host_facts(&host);
	}
	for (size_t i = 0; i < host.n; i++)
		environment_facts_add(&f, host.at[i].class, host.at[i].key, host.at[i].value);
	host_settings(&f);
	device_facts(w, &f);
	tool_facts(w, &f);
	hostfacts_collect(w, &f);
	*ret = f.at;
	*ret_n = f.n;
	return 0;
}
