/* SPDX-License-Identifier: MIT
 *
 * Reading the table of axes: names, and the one canonical value of each spelling.  The rows are in axis_table.c;
 * how a value is set on the machine is the worker's (daemon/worker/tunable.c).
 */
#include "schema/axis.h"

#include <string.h>

#include "schema/base/text.h"

const char *step_name(enum step_id step)
{
	static const char *const names[] = {
		[STEP_CLAIM] = "claim", [STEP_LAYOUT] = "layout", [STEP_QUEUE] = "queue", [STEP_FORMAT] = "format",
		[STEP_MOUNT] = "mount", [STEP_TUNE] = "tune",     [STEP_CONFINE] = "confine",
	};

	return step < N_STEPS ? names[step] : "none";
}

/* A family's row ends in a dot and stands for any suffix of [a-z0-9_]. */
static bool family_has(const struct axis *row, const char *name)
{
	size_t n = strlen(row->name), rest;

	if (row->name[n - 1] != '.' || !text_starts(name, row->name))
		return false;
	rest = strlen(name + n);
	return rest > 0 && rest <= 64 && strspn(name + n, "abcdefghijklmnopqrstuvwxyz0123456789_") == rest;
}

const struct axis *axis_find(const char *name)
{
	for (size_t i = 0; i < axis_table_n; i++)
		if (strcmp(axis_table[i].name, name) == 0 ? !text_ends(name, ".") : family_has(&axis_table[i], name))
			return &axis_table[i];
	return NULL;
}

const char *axis_parameter(const struct axis *def, const char *name, const char *workload)
{
	size_t n = strlen(workload);

	return def == &axis_workload && strncmp(name, workload, n) == 0 && name[n] == '.' ? name + n + 1 : NULL;
}

const char *axis_nearest(const char *name)
{
	static const struct { const char *said, *meant; } synonyms[] = {
		{ "fs", "filesystem" },   { "elevator", "scheduler" }, { "iosched", "scheduler" }, { "ra", "readahead" },
		{ "read_ahead_kb", "readahead" }, { "raid", "layout" }, { "queue.scheduler", "scheduler" },
		{ "queue.read_ahead_kb", "readahead" },
	};
	static const char *const label = "label.";
	const char *names[128], *last = strrchr(name, '.'), *nearest;
	AUTO_FREE char *family = xstrndup(name, strcspn(name, ".") + 1);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++)
		if (strcmp(synonyms[i].said, name) == 0)
			return synonyms[i].meant;
	last = last != NULL ? last + 1 : name;
	for (size_t i = 0; i < axis_table_n && n < ARRAY_SIZE(names); i++) {
		if (axis_table[i].attr != NULL && strcmp(axis_table[i].attr, last) == 0)
			return axis_table[i].name;
		names[n++] = axis_table[i].name;
	}
	nearest = text_nearest(name, names, n);
	return nearest != NULL || last == name ? nearest : text_nearest(family, &label, 1);
}

static int name_canonical(const char *spelling, struct arena *a, const char **ret, struct err *e)
{
	/* Schedulers of the old block layer that have one successor: Documentation/block/switching-sched.rst. */
	static const struct { const char *old, *new; } successors[] = { { "noop", "none" }, { "deadline", "mq-deadline" } };
	size_t n = strlen(spelling);

	if (n == 0 || n > 31 || strspn(spelling, "abcdefghijklmnopqrstuvwxyz0123456789_-") != n) {
		err_set(e, ERR_USAGE, "'%s' is not a scheduler's name", spelling);
		return err_hint(e, "write none, mq-deadline, bfq or kyber");
	}
	for (size_t i = 0; i < ARRAY_SIZE(successors); i++)
		if (strcmp(successors[i].old, spelling) == 0)
			spelling = successors[i].new;
	*ret = arena_strdup(a, spelling);
	return 0;
}

static int size_canonical(const struct axis *axis, const char *spelling, struct arena *a, const char **ret,
                          struct err *e)
{
	char buf1[SIZE_TEXT], buf2[SIZE_TEXT];
	int64_t bytes, down;

	if (size_parse(spelling, axis->place == AXIS_BDI ? SIZE_SECTORS : 0, &bytes, e) < 0)
		return -1;
	if (bytes < axis->min || bytes > axis->max) {
		err_set(e, ERR_USAGE, "'%s' is out of range", spelling);
		return err_hint(e, "'%s' is %s to %s", axis->name, size_format(axis->min, buf1),
		                size_format(axis->max, buf2));
	}
	if (bytes % axis->granule != 0) {
		down = bytes - bytes % axis->granule;
		err_set(e, ERR_USAGE, "'%s' is not a multiple of %s: the kernel would keep another value", spelling,
		        size_format(axis->granule, buf1));
		return err_hint(e, "write %s or %s", size_format(down, buf1), size_format(down + axis->granule, buf2));
	}
	*ret = arena_printf(a, "%lld", (long long)bytes);
	return 0;
}

static const struct time_unit {
	const char *unit; /* of the kernel's file */
	int64_t ns;
} time_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "centiseconds", 10000000 }, { "s", 1000000000 },
};

static const struct time_unit *time_unit_find(const char *unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		if (strcmp(time_units[i].unit, unit) == 0)
			return &time_units[i];
	return NULL;
}

/* "wbt_lat_usec", "dirty_expire_centisecs", "read_lat_nsec", "slice_idle_us", "..._seconds": the name says the unit. */
static bool name_says_unit(const char *name)
{
	static const char *const endings[] = { "_usec", "_nsec", "_centisecs", "_us", "_seconds" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (text_ends(name, endings[i]))
			return true;
	return false;
}

/* A number with the unit that the kernel's file has: "30s" "20%" "16MiB". */
static int integer_with_unit(const struct axis *axis, const char *spelling, int64_t *ret)
{
	const struct time_unit *unit = time_unit_find(axis->unit);
	AUTO_FREE char *number = xstrdup(spelling);
	int64_t v;

	if (unit != NULL && duration_parse(spelling, &v, NULL) == 0 && v % unit->ns == 0) {
		*ret = v / unit->ns;
		return 0;
	}
	if (strcmp(axis->unit, "KiB") == 0 && size_parse(spelling, 0, &v, NULL) == 0 && v % 1024 == 0) {
		*ret = v / 1024;
		return 0;
	}
	if (strcmp(axis->unit, "percent") != 0 || !text_ends(number, "%"))
		return -1;
	number[strlen(number) - 1] = '\0';
	return integer_parse(number, INT64_MIN, INT64_MAX, ret);
}

/* The number of an integer axis in the unit of the kernel's file. */
static int integer_read(const struct axis *axis, const char *spelling, int64_t *ret, struct err *e)
{
	bool has_unit = time_unit_find(axis->unit) != NULL || strcmp(axis->unit, "KiB") == 0;

	if (integer_parse(spelling, INT64_MIN, INT64_MAX, ret) == 0) {
		if (*ret < 0 || !has_unit || name_says_unit(axis->name))
			return 0;
		err_set(e, ERR_USAGE, "'%s' has no unit", spelling);
		return err_hint(e, "the kernel's unit here is %s: write %s%s", axis->unit, spelling, axis->unit);
	}
	if (integer_with_unit(axis, spelling, ret) == 0)
		return 0;
	err_set(e, ERR_USAGE, "'%s' is not a whole number%s%s", spelling, axis->unit[0] != '\0' ? " of " : "",
	        axis->unit);
	return err_hint(e, "'%s' is %lld to %lld", axis->name, (long long)axis->min, (long long)axis->max);
}

static int integer_canonical(const struct axis *axis, const char *spelling, struct arena *a, const char **ret,
                             struct err *e)
{
	int64_t v;

	if (integer_read(axis, spelling, &v, e) < 0)
		return -1;
	if (v < axis->min || v > axis->max) {
		err_set(e, ERR_USAGE, "'%s' is out of range", spelling);
		return err_hint(e, "'%s' is %lld to %lld%s%s", axis->name, (long long)axis->min, (long long)axis->max,
		                axis->unit[0] != '\0' ? " " : "", axis->unit);
	}
	*ret = arena_printf(a, "%lld", (long long)v);
	return 0;
}

static int choice_canonical(const struct axis *axis, const char *spelling, struct arena *a, const char **ret,
                            struct err *e)
{
	AUTO_TEXT struct text list = { 0 };

	for (size_t i = 0; axis->choices[i] != NULL; i++) {
		if (strcmp(axis->choices[i], spelling) == 0) {
			*ret = arena_strdup(a, spelling);
			return 0;
		}
		text_printf(&list, "%s'%s'", i > 0 ? " or " : "", axis->choices[i]);
	}
	err_set(e, ERR_USAGE, "'%s' is not a value of '%s'", spelling, axis->name);
	return err_hint(e, "write %s", text_str(&list));
}

#define TEXT_VALUE_MAX 256 /* bytes: a label is a few words; it stands in every table */

static int text_canonical(const char *spelling, struct arena *a, const char **ret, struct err *e)
{
	size_t n = strlen(spelling);

	if (n == 0)
		return err_set(e, ERR_USAGE, "an empty text is not a value");
	if (n > TEXT_VALUE_MAX)
		return err_set(e, ERR_USAGE, "a text of %zu bytes: %d are the most", n, TEXT_VALUE_MAX);
	if (!text_is_printable(spelling))
		return err_set(e, ERR_USAGE, "a control character or line break in a value");
	*ret = arena_strdup(a, spelling);
	return 0;
}

int axis_canonical(const struct axis *axis, const char *spelling, struct arena *a, const char **ret, struct err *e)
{
	if (strcmp(spelling, KERNEL_DEFAULT) == 0) {
		*ret = KERNEL_DEFAULT;
		return 0;
	}
	switch (axis->kind) {
	case AXIS_SIZE:
		return size_canonical(axis, spelling, a, ret, e);
	case AXIS_INTEGER:
		return integer_canonical(axis, spelling, a, ret, e);
	case AXIS_NAME:
		return name_canonical(spelling, a, ret, e);
	case AXIS_CHOICE:
		return choice_canonical(axis, spelling, a, ret, e);
	case AXIS_TEXT:
		return text_canonical(spelling, a, ret, e);
	case AXIS_FILESYSTEM:
	case AXIS_WORDS:
		break;
	}
	return err_set(e, ERR_USAGE, "'%s' has no single value", axis->name);
}
