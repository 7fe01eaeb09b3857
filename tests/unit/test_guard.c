/* SPDX-License-Identifier: MIT
 *
 * The guard's rules, one by one, without a machine: every reason to refuse a device, and what lets one through.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "daemon/worker/guard.h"

#define MATCHING(n, ...) \
	{ .what = "device 'scratch' (/dev/sdx)", .n_matching = (n), .signature_path = "/dev/sdx", __VA_ARGS__ }
#define WITH(...) MATCHING(1, __VA_ARGS__)

static const struct row {
	const char *about;
	struct guard_facts facts;
	const char *reason; /* NULL: it may be used */
	enum err_kind kind;
} rows[] = {
	{ "an unused disk", WITH(.may_erase = false), NULL, ERR_NONE },
	{ "no device with the identity", MATCHING(0), "no device of this host has its identity", ERR_REFUSED },
	{ "two devices with one identity", MATCHING(2, .other_match = "'/dev/sdx', '/dev/sdy'"),
	  "2 devices have its identity: '/dev/sdx', '/dev/sdy'", ERR_REFUSED },
	{ "a device that vanished", WITH(.is_gone = true), "the device is gone", ERR_DEVICE_LOST },
	{ "another device under the name", WITH(.changed = "diskseq was 9 and is 12"),
	  "it is another device now: diskseq was 9 and is 12", ERR_DEVICE_LOST },
	{ "another size", WITH(.changed = "size was 4096 bytes and is 8192"),
	  "it is another device now: size was 4096 bytes and is 8192", ERR_DEVICE_LOST },
	{ "read-only", WITH(.is_read_only = true), "the device is read-only", ERR_REFUSED },
	{ "the root disk", WITH(.root = "'/dev/sdx2'"), "the root filesystem is on it: '/dev/sdx2'", ERR_REFUSED },
	{ "mounted", WITH(.mounted = "on '/srv' ('/dev/sdx', seen by process 1)"),
	  "mounted on '/srv' ('/dev/sdx', seen by process 1)", ERR_REFUSED },
	{ "a partition of it is mounted", WITH(.mounted = "on '/srv' ('/dev/sdx1', seen by process 812)"),
	  "mounted on '/srv' ('/dev/sdx1', seen by process 812)", ERR_REFUSED },
	{ "swap", WITH(.swap = "'/dev/sdx2'"), "in use as swap: '/dev/sdx2'", ERR_REFUSED },
	{ "member of a running array", WITH(.holder = "'/dev/md0', which stands on '/dev/sdx'"),
	  "held by '/dev/md0', which stands on '/dev/sdx'", ERR_REFUSED },
	{ "below a mapping", WITH(.holder = "'/dev/dm-3' (vg-lv), which stands on '/dev/sdx'"),
	  "held by '/dev/dm-3' (vg-lv), which stands on '/dev/sdx'", ERR_REFUSED },
	{ "below a loop device", WITH(.loop = "'/dev/loop4'"), "the loop device '/dev/loop4' stands on it", ERR_REFUSED },
	{ "in a mounted btrfs of several devices", WITH(.pool = "0e0e"), "part of the mounted btrfs 0e0e", ERR_REFUSED },
	{ "open exclusively by somebody", WITH(.is_busy = true),
	  "in use: another program or the kernel has it open exclusively", ERR_REFUSED },
	{ "a physical volume without active volumes, even with erase",
	  WITH(.signature = { .type = "LVM2_member", .uuid = "abc" }, .may_erase = true),
	  "'/dev/sdx' is a member of a volume group or pool (LVM2_member)", ERR_REFUSED },
	{ "a member of a pool", WITH(.signature = { .type = "zfs_member" }, .may_erase = true),
	  "'/dev/sdx' is a member of a volume group or pool (zfs_member)", ERR_REFUSED },
	{ "a filesystem, without erase", WITH(.signature = { .type = "ext4", .uuid = "12-34" }),
	  "'/dev/sdx' carries a signature: ext4 12-34", ERR_REFUSED },
	{ "a partition table, without erase", WITH(.signature = { .type = "gpt", .usage = "partitions" }),
	  "'/dev/sdx' carries a signature: gpt", ERR_REFUSED },
	{ "an idle member of an array, without erase", WITH(.signature = { .type = "linux_raid_member", .uuid = "1" }),
	  "'/dev/sdx' carries a signature: linux_raid_member 1", ERR_REFUSED },
	{ "a filesystem, with erase", WITH(.signature = { .type = "ext4" }, .may_erase = true), NULL, ERR_NONE },
	{ "an idle member of an array, with erase", WITH(.signature = { .type = "linux_raid_member" }, .may_erase = true), NULL,
	  ERR_NONE },
	{ "a filesystem that this sweep made", WITH(.signature = { .type = "xfs" }, .is_ours = true), NULL, ERR_NONE },
};

static void each_row_is_refused_with_its_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_TEXT struct text why = { 0 };
		bool refuses = guard_refuses(&rows[i].facts, &why);

		if (refuses != (rows[i].reason != NULL))
			fail_msg("%s: %s", rows[i].about, refuses ? text_str(&why) : "not refused");
		assert_string_equal(text_str(&why), rows[i].reason == NULL ? "" : rows[i].reason);
	}
}

static void a_refusal_names_the_device_and_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = { 0 };
		char text[512];
		int rc = guard_judge(&rows[i].facts, &e);

		assert_int_equal(rc, rows[i].reason == NULL ? 0 : -1);
		if (rc == 0)
			continue;
		snprintf(text, sizeof(text), "device 'scratch' (/dev/sdx): %s", rows[i].reason);
		assert_string_equal(e.text, text);
		assert_int_equal(e.kind, rows[i].kind);
	}
}

static void erase_does_not_excuse_use(void **state)
{
	struct guard_facts f = WITH(.mounted = "on '/srv'", .signature = { .type = "ext4" }, .may_erase = true, .is_ours = true);
	AUTO_TEXT struct text why = { 0 };

	(void)state;
	assert_true(guard_refuses(&f, &why));
	assert_string_equal(text_str(&why), "mounted on '/srv'");
}

static void all_reasons_are_listed_one_a_line(void **state)
{
	struct guard_facts f = WITH(.is_read_only = true, .mounted = "on '/'", .root = "'/dev/sdx'",
	                            .signature = { .type = "ext4", .uuid = "77" });
	AUTO_TEXT struct text why = { 0 };

	(void)state;
	assert_true(guard_refuses(&f, &why));
	assert_string_equal(text_str(&why),
	                    "the device is read-only\nthe root filesystem is on it: '/dev/sdx'\nmounted on '/'\n"
	                    "'/dev/sdx' carries a signature: ext4 77");
}

static void a_signature_is_refused_with_the_word_that_would_allow_it(void **state)
{
	struct guard_facts f = WITH(.signature = { .type = "ext4" });
	struct err e = { 0 };

	(void)state;
	assert_int_equal(guard_judge(&f, &e), -1);
	assert_string_equal(e.hint, "if what is on it may be destroyed, say `erase: yes` in the plan's target");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_is_refused_with_its_reason),
		cmocka_unit_test(a_refusal_names_the_device_and_the_reason),
		cmocka_unit_test(erase_does_not_excuse_use),
		cmocka_unit_test(all_reasons_are_listed_one_a_line),
		cmocka_unit_test(a_signature_is_refused_with_the_word_that_would_allow_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
