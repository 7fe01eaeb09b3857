/* SPDX-License-Identifier: MIT
 *
 * State outputs under tests/data/outputs (mdstat, filesystems, block-state) against what is expected of them, and texts
 * that are variations of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <json-c/json.h>
#include <string.h>

#include "schema/state.h"

#define DATA "tests/data/outputs/"

static const struct {
	const char *file, *kind;
	const char *asked[3];
} outputs[] = {
	{ "block-state/blockdev-report", "blockdev", { NULL } },
	{ "block-state/mdstop-busy", "blockdev", { NULL } },
	{ "filesystems/blkid-types", "blkid", { NULL } },
	{ "filesystems/btrfs-compress-nodatacow", "mounts", { "compress=zstd", "nodatacow" } },
	{ "filesystems/mkfs-ext4-in-use-forced", "mkfs", { NULL } },
	{ "filesystems/mkfs-xfs-refuses-signature", "mkfs", { NULL } },
	{ "filesystems/mkfs-xfs-small-volume-ignored", "mkfs", { NULL } },
	{ "filesystems/mounts-ext4-default-hidden", "mounts", { NULL } },
	{ "filesystems/xfs-info-su64k-sw12", "xfs-info", { NULL } },
	{ "mdstat/kernel24-headers", "mdstat", { NULL } },
	{ "mdstat/raid1-idle", "mdstat", { NULL } },
	{ "mdstat/raid1-pending-readonly", "mdstat", { NULL } },
	{ "mdstat/raid10-resync", "mdstat", { NULL } },
	{ "mdstat/raid5-degraded-quiet", "mdstat", { NULL } },
	{ "mdstat/raid5-recovery-bitmap", "mdstat", { NULL } },
	{ "mdstat/raid6-reshape-spares", "mdstat", { NULL } },
};

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return o != NULL && json_object_object_get_ex(o, key, &v) && v != NULL ? json_object_get_string(v) : NULL;
}

static const struct state_fact *fact_find(const struct state *s, const char *name, const char *label)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->at[i].name, name) == 0 && (label == NULL || strcmp(s->at[i].label, label) == 0))
			return &s->at[i];
	return NULL;
}

static void metrics_check(const char *file, struct json_object *expect, const struct state *s)
{
	struct json_object *list = NULL;

	json_object_object_get_ex(expect, "metrics", &list);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *m = json_object_array_get_idx(list, i), *labels = NULL, *value = NULL;
		const struct state_fact *got;
		const char *label;

		json_object_object_get_ex(m, "labels", &labels);
		json_object_object_get_ex(m, "value", &value);
		label = text_of(labels, "array") != NULL ? text_of(labels, "array") : text_of(labels, "device");
		got = fact_find(s, text_of(m, "name"), label);
		if (got == NULL || got->value != json_object_get_double(value))
			fail_msg("%s: %s is %g", file, text_of(m, "name"), got != NULL ? got->value : -1.0);
		if (!text_starts(text_of(m, "unit"), got->unit))
			fail_msg("%s: %s is in %s, not %s", file, got->name, got->unit, text_of(m, "unit"));
	}
}

static void text_check(const char *file, const struct state *s, const char *name, const char *label, const char *want)
{
	const struct state_fact *got = fact_find(s, name, label);

	if (want != NULL && (got == NULL || got->text == NULL || strcmp(got->text, want) != 0))
		fail_msg("%s: %s is %s, not %s", file, name, got != NULL ? got->text : "missing", want);
}

static void facts_check(const char *file, struct json_object *expect, const struct state *s)
{
	struct json_object *facts = NULL, *list = NULL;

	if (!json_object_object_get_ex(expect, "facts", &facts))
		return;
	text_check(file, s, "level", text_of(facts, "array"), text_of(facts, "level"));
	text_check(file, s, "layout", NULL, text_of(facts, "layout"));
	text_check(file, s, "action", NULL, text_of(facts, "action"));
	if (text_of(facts, "chunk_kib") != NULL)
		assert_true(fact_find(s, "chunk", NULL)->value == strtod(text_of(facts, "chunk_kib"), NULL));
	if (text_of(facts, "readonly") != NULL)
		assert_non_null(fact_find(s, "readonly", NULL));
	if (json_object_object_get_ex(facts, "failed", &list))
		text_check(file, s, "failed", NULL, json_object_get_string(json_object_array_get_idx(list, 0)));
	if (json_object_object_get_ex(facts, "missing", &list)) {
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++)
			n += strcmp(s->at[i].name, "missing") == 0;
		assert_int_equal(n, json_object_array_length(list));
		text_check(file, s, "missing", NULL, json_object_get_string(json_object_array_get_idx(list, 0)));
	}
	if (json_object_object_get_ex(facts, "types", &list)) {
		json_object_object_foreach(list, device, type) {
			AUTO_FREE char *want = xstrndup(json_object_get_string(type),
			                                strcspn(json_object_get_string(type), " "));

			text_check(file, s, "type", device, want);
		}
	}
}

static void output_check(void **state)
{
	const char *file = outputs[(size_t)*state].file;
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE char *path = xasprintf(DATA "%s.txt", file), *expect_path = xasprintf(DATA "%s.expect.json", file);
	AUTO_TEXT struct text data = { 0 };
	struct json_object *expect = json_object_from_file(expect_path);
	char *asked[] = { (char *)outputs[(size_t)*state].asked[0], (char *)outputs[(size_t)*state].asked[1], NULL };
	struct state s;
	struct err e;
	int exit_status;

	assert_non_null(expect);
	assert_int_equal(file_read(AT_FDCWD, path, 1 << 20, &data, &e), 0);
	exit_status = text_of(expect, "exit_code") != NULL ? (int)strtol(text_of(expect, "exit_code"), NULL, 10) : 0;
	assert_int_equal(state_parse(outputs[(size_t)*state].kind, text_str(&data), data.n, exit_status, asked, a, &s,
	                             &e),
	                 0);
	if (strcmp(state_verdict_name(s.verdict), text_of(expect, "status")) != 0)
		fail_msg("%s: is %s (%s), not %s", file, state_verdict_name(s.verdict), s.reason,
		         text_of(expect, "status"));
	metrics_check(file, expect, &s);
	facts_check(file, expect, &s);
	json_object_put(expect);
}

static void an_mdstat_says(const char *text, const char *verdict)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct state s;
	struct err e;

	assert_int_equal(state_parse("mdstat", text, strlen(text), 0, NULL, a, &s, &e), 0);
	assert_string_equal(state_verdict_name(s.verdict), verdict);
}

static void arrays_of_other_shapes_are_judged(void **state)
{
	(void)state;
	an_mdstat_says("Personalities : \nunused devices: <none>\n", "idle");
	an_mdstat_says("hello\n", "unparsable");
	an_mdstat_says("", "unparsable");
	an_mdstat_says("Personalities : [raid0]\nmd0 : active raid0 sda[0] sdb[1]\n      1024 blocks super 1.2 512k chunks\n", "idle");
	an_mdstat_says("Personalities : [raid5]\nmd0 : inactive sda[0](S) sdb[1](S)\n      1024 blocks super 1.2\n", "broken");
	an_mdstat_says("Personalities : [raid5]\nmd0 : active raid5 sda[0](F) sdb[1](F) sdc[2]\n"
	               "      1024 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/1] [__U]\n", "broken");
	an_mdstat_says("Personalities : [raid10]\nmd0 : active raid10 sda[0] sdc[2]\n"
	               "      1024 blocks super 1.2 64K chunks 2 near-copies [4/2] [U_U_]\n", "degraded");
	an_mdstat_says("Personalities : [raid10]\nmd0 : active raid10 sda[0] sdb[1]\n"
	               "      1024 blocks super 1.2 64K chunks 2 near-copies [4/2] [UU__]\n", "broken");
	an_mdstat_says("Personalities : [raid1]\nmd0 : active raid1 sda[0] sdb[1]\n      1024 blocks [2/2] [UU]\n"
	               "        resync=DELAYED\n\nmd1 : active raid1 sdc[0] sdd[1]\n      1024 blocks [2/2] [UU]\n", "busy");
	an_mdstat_says("Personalities : [raid1]\nmd0 : active raid1 sda[0] sdb[1]\n      1024 blocks [2/2] [UU]\n"
	               "      [=>...................]  check =  7.1% (72/1024) finish=0.1min speed=72K/sec\n", "busy");
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(outputs) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++)
		tests[i] = (struct CMUnitTest){ outputs[i].file, output_check, NULL, NULL, (void *)i };
	tests[ARRAY_SIZE(outputs)] = (struct CMUnitTest)cmocka_unit_test(arrays_of_other_shapes_are_judged);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
