/* SPDX-License-Identifier: MIT
 *
 * Every output under tests/data/outputs against its .expect.json: state and values through the shipped definitions.
 * The table of files is complete: a file that is in the directory and not here fails the test.  State outputs
 * (mdstat, filesystems, block-state) are in test_state_outputs.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "schema/extract.h"

#define DATA "tests/data/outputs/"

static struct registry *registry;

static const struct {
	const char *file;     /* below tests/data/outputs, without .txt */
	const char *workload; /* whose definition reads it */
} outputs[] = {
	{ "bonnie++/103-empty-name-csv", "bonnie" },
	{ "bonnie++/103e-fast-blank-columns", "bonnie" },
	{ "bonnie++/194-ms-and-large-us", "bonnie" },
	{ "bonnie++/197-two-hosts-cpu-over-100", "bonnie" },
	{ "bonnie++/200a-fast-human-garbage", "bonnie" },
	{ "bonnie++/200a-quiet-stderr-table", "bonnie" },
	{ "bonnie++/200a-root-refusal", "bonnie" },
	{ "bonnie++/200a-two-copies-one-log", "bonnie" },
	{ "bonnie++/200a-x3-header-mismatch", "bonnie" },
	{ "dbench/4-error-child", "dbench" },
	{ "dbench/4-two-clients", "dbench" },
	{ "dbench/4-unknown-option", "dbench" },
	{ "dd/busybox-three-line", "dd-write" },
	{ "dd/gnu52-transferred", "dd-write" },
	{ "dd/gnu597-seconds-word", "dd-read" },
	{ "dd/gnu91-einval-direct", "dd-write" },
	{ "dd/gnu91-io-error", "dd-write" },
	{ "dd/gnu91-locale-fr-fr", "dd-write" },
	{ "dd/gnu91-locale-ko-kr", "dd-read" },
	{ "dd/gnu91-locale-uk-ua", "dd-read-warm" },
	{ "dd/gnu91-read-cached", "dd-read" },
	{ "dd/gnu91-short-records", "dd-write" },
	{ "dd/gnu91-sigusr1", "dd-write" },
	{ "dd/gnu91-time-wrapper", "dd-write" },
	{ "dd/gnu91-under-1000", "dd-write" },
	{ "dd/gnu91-zero-sci", "dd-write" },
	{ "dd/uutils-one-decimal", "dd-write" },
	{ "fio/21x-int-iops-kib-io", "fio" },
	{ "fio/26-client-stats-mixed", "fio" },
	{ "fio/333-einval-error22", "fio" },
	{ "fio/333-json-group-reporting", "fio" },
	{ "fio/333-json-then-normal", "fio" },
	{ "fio/333-json-two-jobs", "fio" },
	{ "fio/333-no-such-engine", "fio" },
	{ "fio/333-note-before-brace", "fio" },
	{ "fio/333-sigkill-empty", "fio" },
	{ "fio/333-terse-v2-no-version-name", "fio" },
	{ "fio/333-terse-v3", "fio" },
	{ "fio/333-too-short", "fio" },
	{ "fio/336-generator-warning", "fio" },
	{ "fio/3x-normal-kib-stat-line", "fio" },
	{ "hdparm/965-regular-file", "hdparm" },
	{ "hdparm/965-tT", "hdparm" },
	{ "hdparm/965-two-devices", "hdparm" },
	{ "hdparm/slow-kB", "hdparm" },
	{ "ioping/13-R-1M-direct", "ioping" },
	{ "ioping/13-json-array", "ioping" },
	{ "ioping/13-plain", "ioping" },
	{ "ioping/old-ms-only", "ioping" },
	{ "iozone/489-Ra-zeros-not-measured", "iozone" },
	{ "iozone/489-close-fsync-xls", "iozone" },
	{ "iozone/489-error-empty-row", "iozone" },
	{ "iozone/489-ops-mode", "iozone" },
	{ "iozone/throughput-more-tests", "iozone" },
	{ "pgbench/11-progress-two-tps", "pgbench" },
	{ "pgbench/15-aborted", "pgbench" },
	{ "pgbench/15-init-not-a-result", "pgbench" },
	{ "pgbench/15-interrupted", "pgbench" },
	{ "pgbench/15-not-initialised", "pgbench" },
	{ "pgbench/15-progress-and-statements", "pgbench" },
	{ "pgbench/15-select-only-time", "pgbench-select" },
	{ "pgbench/15-weighted-builtins", "pgbench" },
	{ "pgbench/90-statement-latencies", "pgbench" },
	{ "pgbench/annotated-paste", "pgbench" },
	{ "sysbench/0412-fileio-mb-is-mib", "sysbench-fileio" },
	{ "sysbench/1020-fileio-not-prepared", "sysbench-fileio" },
	{ "sysbench/1020-fileio-seqrd-histogram", "sysbench-fileio" },
	{ "sysbench/1020-oltp-rw-errors", "sysbench-oltp" },
};

/* Their name -> ours.  A label is built from the expectation's labels: %key stands for one; a last '*' for any end. */
static const struct name_map {
	const char *tool, *theirs, *ours, *label;
	const char *workload; /* NULL: the file's; else the definition that has this metric */
} names[] = {
	{ "bonnie++", "*", "*", "%row%repeat", NULL }, /* same names */
	{ "dbench", "throughput", "throughput", "", NULL },
	{ "dbench", "max_latency", "max_latency", "", NULL },
	{ "dbench", "clients", "clients_run", "", NULL },
	{ "dbench", "op_latency_avg", "operation", "%op", NULL },
	{ "dbench", "op_latency_max", "operation_max", "%op", NULL },
	{ "dd", "bytes", "copied", "#%summary", NULL },
	{ "dd", "elapsed", "duration", "#%summary", NULL },
	{ "dd", "throughput", "throughput", "#%summary", NULL },
	{ "dd", "printed_rate", "printed_rate", "#%summary", NULL },
	{ "dd", "wall_real", "wall", "", "dd-write-sync" },
	{ "dd", "throughput_including_sync", "throughput", "", "dd-write-sync" },
	{ "fio", "bandwidth", "%dir_bandwidth", "%job", NULL },
	{ "fio", "iops", "%dir_iops", "%job", NULL },
	{ "fio", "io_total", "%dir_total", "%job", NULL },
	{ "fio", "clat_mean", "%dir_clat_mean", "%job", NULL },
	{ "fio", "clat_p99", "%dir_clat_p99", "%job", NULL },
	{ "hdparm", "cached_reads", "cached_reads", "", NULL },
	{ "hdparm", "buffered_disk_reads", "throughput", "%nth*", NULL },
	{ "ioping", "iops", "iops", "", NULL },
	{ "ioping", "throughput", "throughput", "", NULL },
	{ "ioping", "latency_avg", "latency", "", NULL },
	{ "ioping", "latency_max", "latency_max", "", NULL },
	{ "ioping", "latency_mdev", "latency_mdev", "", NULL },
	{ "ioping", "requests", "requests", "", NULL },
	{ "iozone", "children_throughput", "throughput", "%test", NULL },
	{ "iozone", "*", "*", "%file_kb/%reclen_kb", NULL },
	{ "pgbench", "tps", "tps", "", NULL },
	{ "pgbench", "tps_including_connections", "tps_including_connections", "", NULL },
	{ "pgbench", "latency_avg", "latency", "", NULL },
	{ "pgbench", "latency_stddev", "latency_stddev", "", NULL },
	{ "pgbench", "transactions", "transactions", "", NULL },
	{ "pgbench", "init_total", "initialisation", "", NULL },
	{ "pgbench", "statement_latency", "statement", "%statement*", NULL },
	{ "sysbench", "throughput", "throughput", "", NULL },
	{ "sysbench", "requests_per_s", "requests", "", NULL },
	{ "sysbench", "reads_per_s", "reads", "", NULL },
	{ "sysbench", "read_throughput", "read_throughput", "", NULL },
	{ "sysbench", "latency_avg", "latency", "", NULL },
	{ "sysbench", "latency_max", "latency_max", "", NULL },
	{ "sysbench", "latency_p95", "latency_p95", "", NULL },
	{ "sysbench", "tps", "tps", "", NULL },
	{ "sysbench", "qps", "qps", "", NULL },
	{ "sysbench", "ignored_errors", "ignored_errors", "", NULL },
};

static const struct {
	const char *unit, *stored;
	double factor;
} units[] = {
	{ "B", "B", 1 },         { "KiB", "B", 1024 },      { "B/s", "B/s", 1 },     { "KiB/s", "B/s", 1024 },
	{ "MiB/s", "B/s", 0x1p20 }, { "GiB/s", "B/s", 0x1p30 }, { "kB/s", "B/s", 1e3 }, { "MB/s", "B/s", 1e6 },
	{ "GB/s", "B/s", 1e9 },  { "ns", "ns", 1 },         { "us", "ns", 1e3 },     { "ms", "ns", 1e6 },
	{ "s", "ns", 1e9 },      { "1/s", "1/s", 1 },       { "%", "%", 1 },         { "1", "", 1 },
};

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) && v != NULL ? json_object_get_string(v) : NULL;
}

/* Replaces each %key by the label of that name; "" if the expectation has no such label. */
static char *template_fill(const char *template, struct json_object *labels)
{
	AUTO_TEXT struct text t = { 0 };
	bool has_label = strchr(template, '%') == NULL;

	for (const char *s = template; *s != '\0';) {
		size_t n = 0;
		const char *found = NULL;

		if (*s != '%') {
			text_add_n(&t, s++, 1);
			continue;
		}
		s++;
		if (labels != NULL) {
			json_object_object_foreach(labels, key, value) {
				(void)value;
				if (text_starts(s, key) && strlen(key) > n) {
					n = strlen(key);
					found = key;
				}
			}
		}
		if (found != NULL) {
			text_add(&t, text_of(labels, found));
			has_label = true;
			s += n;
		} else {
			s += strspn(s, "abcdefghijklmnopqrstuvwxyz");
		}
	}
	return xstrdup(has_label ? text_str(&t) : "");
}

static const struct name_map *name_find(const char *tool, const char *theirs)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].tool, tool) == 0 &&
		    (strcmp(names[i].theirs, theirs) == 0 || *names[i].theirs == '*'))
			return &names[i];
	fail_msg("no name of ours for %s '%s'", tool, theirs);
	return NULL;
}

static int parse(const char *workload, const char *file, int exit_status, struct arena *a, struct outcome *o)
{
	const struct workload *w = registry_find(registry, workload);
	AUTO_FREE char *path = xasprintf(DATA "%s.txt", file);
	struct text data = { 0 };
	struct capture c;
	struct err e;
	int rc;

	assert_non_null(w);
	assert_int_equal(file_read(AT_FDCWD, path, (size_t)1 << 24, &data, &e), 0);
	c = (struct capture){ .step = "run", .stream = "", .data = arena_strndup(a, text_str(&data), data.n), .n = data.n };
	text_done(&data);
	rc = extract(w, w->params, w->n_params, &c, 1, NULL, 0, exit_status, a, o, &e);
	if (rc < 0)
		fail_msg("%s: %s", file, e.text);
	return rc;
}

static bool label_fits(const char *label, const char *want)
{
	size_t n = strlen(want);

	if (n > 0 && want[n - 1] == '*')
		return strncmp(label, want, n - 1) == 0;
	return strcmp(label, want) == 0;
}

/* The measured value of a name and label; a metric without labels stands for any job. */
static const struct measured *measured_find(const struct outcome *o, const char *name, const char *label)
{
	const struct measured *all = o->n > 0 ? o->at : o->seen;
	size_t n = o->n > 0 ? o->n : o->n_seen;

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0 && (label_fits(all[i].label, label) || *all[i].label == '\0'))
			return &all[i];
	return NULL;
}

static char *ours_name(const struct name_map *map, struct json_object *m, const struct outcome *o)
{
	struct json_object *labels = NULL;
	const char *theirs = text_of(m, "name");

	json_object_object_get_ex(m, "labels", &labels);
	if (strcmp(map->tool, "iozone") == 0 && *map->ours == '*' && strcmp(text_of(m, "unit"), "1/s") == 0)
		return xasprintf("%s_ops", theirs);
	(void)o;
	return *map->ours == '*' ? xstrdup(theirs) : template_fill(map->ours, labels);
}

static void metric_check(const char *file, const char *tool, struct json_object *m, int exit_status,
                         const struct outcome *o)
{
	const struct name_map *map = name_find(tool, text_of(m, "name"));
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE char *label = NULL, *name = ours_name(map, m, o);
	struct json_object *labels = NULL, *value = NULL;
	const struct measured *got;
	struct outcome other;

	json_object_object_get_ex(m, "labels", &labels);
	json_object_object_get_ex(m, "value", &value);
	label = template_fill(map->label, labels);
	if (strcmp(tool, "pgbench") == 0 && labels != NULL && text_of(labels, "script") != NULL) {
		free(TAKE(name));
		free(TAKE(label));
		name = xstrdup("script_tps");
		label = xstrdup(strcmp(text_of(labels, "script"), "tpcb-like") == 0 ? "<builtin: TPC-B (sort of)>"
		                                                                  : "<builtin: select only>");
	}
	if (strcmp(tool, "bonnie++") == 0 && labels != NULL && text_of(labels, "copy") != NULL) {
		free(TAKE(label));
		label = xstrdup(strcmp(text_of(labels, "copy"), "copyA") == 0 ? "1#1" : "2#2");
	}
	if (map->workload != NULL) {
		parse(map->workload, file, exit_status, a, &other);
		o = &other;
	}
	got = measured_find(o, name, label);
	if (value == NULL) {
		if (got != NULL)
			fail_msg("%s: %s{%s} is %g; it was not measured", file, name, label, got->value);
		return;
	}
	if (got == NULL)
		fail_msg("%s: %s{%s} was not found", file, name, label);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double want = json_object_get_double(value) * units[i].factor;

		if (strcmp(units[i].unit, text_of(m, "unit")) != 0)
			continue;
		assert_string_equal(got->unit, units[i].stored);
		if (fabs(got->value - want) > 1e-6 * fabs(want) + 1e-9)
			fail_msg("%s: %s{%s} is %.12g, not %.12g", file, name, label, got->value, want);
		return;
	}
	fail_msg("%s: unknown unit '%s'", file, text_of(m, "unit"));
}

/* "NAME = NUMBER" among the wrong readings: nothing of that name may have that value, in any unit of that kind. */
static void must_not_check(const char *file, const char *tool, const char *text, const struct outcome *o)
{
	char name[64];
	double value;

	if (sscanf(text, "%63[a-z_] = %lf", name, &value) != 2)
		return;
	for (size_t i = 0; i < o->n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			if (strcmp(names[k].tool, tool) != 0 ||
			    (strcmp(names[k].theirs, name) != 0 && *names[k].theirs != '*'))
				continue;
			if (strcmp(o->at[i].name, *names[k].ours == '*' ? name : names[k].ours) != 0)
				continue;
			for (size_t u = 0; u < ARRAY_SIZE(units); u++)
				if (strcmp(units[u].stored, o->at[i].unit) == 0 &&
				    o->at[i].value == value * units[u].factor)
					fail_msg("%s: wrong reading '%s'", file, text);
		}
	}
}

static void state_check(const char *file, const char *want, const struct outcome *o)
{
	bool is_suspect = strcmp(want, "suspect") == 0;
	const char *state = is_suspect ? "ok" : want;

	if (strcmp(extract_state_name(o->state), state) != 0 || is_suspect != (o->suspect != NULL))
		fail_msg("%s: is %s%s (%s), not %s", file, extract_state_name(o->state),
		         o->suspect != NULL ? ", suspect" : "", o->reason, want);
	if (o->state != EXTRACT_OK) {
		assert_int_equal(o->n, 0); /* nothing that could be stored */
		assert_string_not_equal(o->reason, "");
	}
}

static void output_check(void **state)
{
	const char *file = outputs[(size_t)*state].file, *workload = outputs[(size_t)*state].workload;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE char *path = xasprintf(DATA "%s.expect.json", file);
	struct json_object *expect = json_object_from_file(path), *list = NULL;
	int exit_status;
	struct outcome o;
	const char *tool;

	assert_non_null(expect);
	tool = text_of(expect, "tool");
	exit_status = text_of(expect, "exit_code") != NULL ? (int)strtol(text_of(expect, "exit_code"), NULL, 10) : 0;
	parse(workload, file, exit_status, a, &o);
	state_check(file, text_of(expect, "status"), &o);
	json_object_object_get_ex(expect, "metrics", &list);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		metric_check(file, tool, json_object_array_get_idx(list, i), exit_status, &o);
	if (json_object_object_get_ex(expect, "must_not", &list))
		for (size_t i = 0; i < json_object_array_length(list); i++)
			must_not_check(file, tool, json_object_get_string(json_object_array_get_idx(list, i)), &o);
	json_object_put(expect);
}

static bool output_is_listed(const char *dir, const char *name)
{
	AUTO_FREE char *file = xasprintf("%s/%.*s", dir, (int)(strlen(name) - strlen(".txt")), name);

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++)
		if (strcmp(outputs[i].file, file) == 0)
			return true;
	return false;
}

static void every_output_is_in_the_table(void **state)
{
	static const char *const dirs[] = { "bonnie++", "dbench", "dd", "fio", "hdparm", "ioping", "iozone", "pgbench", "sysbench" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		AUTO_FREE char *path = xasprintf(DATA "%s", dirs[i]);
		DIR *dir = opendir(path);
		const struct dirent *entry;

		assert_non_null(dir);
		while ((entry = readdir(dir)) != NULL)
			if (text_ends(entry->d_name, ".txt") && !output_is_listed(dirs[i], entry->d_name))
				fail_msg("%s/%s is in no table", dirs[i], entry->d_name);
		closedir(dir);
	}
}

static int registry_setup(void **state)
{
	struct diags d;
	struct err e;
	int rc;

	(void)state;
	diags_init(&d, "sweeps/workloads");
	registry = registry_new();
	rc = registry_load(registry, "sweeps/workloads", false, &d, &e);
	diags_print(stderr, &d);
	rc = rc < 0 || d.n > 0 ? -1 : 0;
	diags_done(&d);
	return rc;
}

static int registry_teardown(void **state)
{
	(void)state;
	registry_free(registry);
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(outputs) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++)
		tests[i] = (struct CMUnitTest){ outputs[i].file, output_check, NULL, NULL, (void *)i };
	tests[ARRAY_SIZE(outputs)] = (struct CMUnitTest)cmocka_unit_test(every_output_is_in_the_table);
	return cmocka_run_group_tests(tests, registry_setup, registry_teardown);
}
