/* SPDX-License-Identifier: MIT
 *
 * mkfs: the argument list, the verdict on a failure, and what was made against what was asked, from recorded descriptions.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>

#include "daemon/worker/format.h"

#define UUID "01234567-89ab-7def-8123-456789abcdef"

static void argv_is(const char *type, const char *words, const char *expected)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text joined = { 0 };
	struct format f = { .type = type };
	struct err e = { 0 };
	char **argv;
	size_t n;

	assert_int_equal(words_split(a, words, &f.mkfs, &n, &e), 0);
	assert_int_equal(format_argv(&f, UUID, "/node", a, &argv, &e), 0);
	for (; *argv != NULL; argv++)
		text_printf(&joined, "%s%s", joined.n > 0 ? " " : "", *argv);
	assert_string_equal(text_str(&joined), expected);
}

static void our_options_come_first_and_the_node_last(void **state)
{
	(void)state;
	argv_is("ext4", "-b 4096", "mkfs.ext4 -F -q -U " UUID " -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_is("ext2", "", "mkfs.ext2 -F -q -U " UUID " -E lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_is("xfs", "-d su=64k,sw=12", "mkfs.xfs -f -m uuid=" UUID " -d su=64k,sw=12 /node");
	argv_is("btrfs", "-n 8192", "mkfs.btrfs -f -U " UUID " -n 8192 /node");
}

static void extended_options_of_the_plan_keep_their_one_place(void **state)
{
	(void)state;
	argv_is("ext3", "-E stride=16", "mkfs.ext3 -F -q -U " UUID " -E stride=16,lazy_itable_init=0,lazy_journal_init=0 /node");
	argv_is("ext4", "-E lazy_itable_init=1", "mkfs.ext4 -F -q -U " UUID " -E lazy_itable_init=1,lazy_journal_init=0 /node");
	argv_is("ext4", "-E lazy_itable_init=1,lazy_journal_init=1",
	        "mkfs.ext4 -F -q -U " UUID " -E lazy_itable_init=1,lazy_journal_init=1 /node");
}

static void a_lazy_plan_is_known_as_such(void **state)
{
	const char *lazy[] = { "-E", "stride=4,lazy_itable_init=1", NULL }, *eager[] = { "-E", "lazy_itable_init=0", NULL };

	(void)state;
	assert_true(format_is_lazy(&(struct format){ .type = "ext4", .mkfs = (char **)lazy }));
	assert_false(format_is_lazy(&(struct format){ .type = "ext4", .mkfs = (char **)eager }));
	assert_false(format_is_lazy(&(struct format){ .type = "xfs" }));
}

static void an_unknown_filesystem_has_no_arguments(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct err e = { 0 };
	char **argv;

	(void)state;
	assert_int_equal(format_argv(&(struct format){ .type = "zfs" }, UUID, "/node", a, &argv, &e), -1);
	assert_string_equal(e.text, "unknown filesystem 'zfs'");
}

static void judged(const char *err_text, int status, int signal, enum err_kind kind, const char *expected)
{
	struct tool_end end = { .exit_status = status, .exit_signal = signal };
	struct err e = { 0 };

	text_add(&end.err, err_text);
	assert_int_equal(format_judge("mkfs.xfs", &end, &e), -1);
	assert_string_equal(e.text, expected);
	assert_int_equal(e.kind, kind);
	text_done(&end.err);
}

static void usage_and_size_errors_are_infeasible_and_device_errors_are_not(void **state)
{
	(void)state;
	judged("Invalid value 3 for -b size option. Value is too small.\nUsage: mkfs.xfs\n", 1, 0, ERR_INFEASIBLE,
	       "mkfs.xfs refuses: Invalid value 3 for -b size option. Value is too small.");
	judged("Filesystem must be larger than 300MB.\n", 1, 0, ERR_INFEASIBLE,
	       "mkfs.xfs refuses: Filesystem must be larger than 300MB.");
	judged("mke2fs 1.47.0 (5-Feb-2023)\n\nmkfs.ext4: Input/output error while writing superblock\n", 1, 0, ERR_TOOL,
	       "mkfs.xfs: mkfs.ext4: Input/output error while writing superblock");
	judged("mkfs.xfs: cannot open /dev/x: Device or resource busy\n", 1, 0, ERR_BUSY,
	       "mkfs.xfs: mkfs.xfs: cannot open /dev/x: Device or resource busy");
	judged("", -1, 9, ERR_TOOL, "mkfs.xfs was ended by signal 9");
	judged("", 1, 0, ERR_INFEASIBLE, "mkfs.xfs refuses: it says nothing");
}

static void verdict_is(const char *type, const char *words, enum verdict expected, const char *why_expected)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text description = { 0 }, effective = { 0 }, why = { 0 };
	struct format f = { .type = type };
	struct err e = { 0 };
	char path[64];
	enum verdict v;
	size_t n;

	snprintf(path, sizeof(path), "tests/data/mkfs/%s.txt", type);
	assert_int_equal(file_read(AT_FDCWD, path, 65536, &description, &e), 0);
	assert_int_equal(words_split(a, words, &f.mkfs, &n, &e), 0);
	v = geometry_verdict(&f, text_str(&description), &effective, &why);
	if (v != expected)
		fail_msg("%s '%s': %s (%s)", type, words, verdict_name(v), text_str(&why));
	assert_string_equal(text_str(&why), why_expected);
}

static void geometry_that_was_made_is_confirmed(void **state)
{
	(void)state;
	verdict_is("ext4", "-b 4096 -I 512 -E stride=16,stripe-width=192", VERDICT_CONFIRMED, "");
	verdict_is("ext4", "-O ^metadata_csum,extent", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "-d su=64k,sw=12 -l size=64m", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "-d sunit=128,swidth=1536", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "-b size=4096 -i size=512 -m reflink=1,crc=1 -n size=4096", VERDICT_CONFIRMED, "");
	verdict_is("btrfs", "-n 8192 -s 4096", VERDICT_CONFIRMED, "");
	verdict_is("xfs", "", VERDICT_IMPLIED, "");
}

static void geometry_that_was_dropped_contradicts(void **state)
{
	(void)state;
	verdict_is("xfs", "-d su=128k,sw=12", VERDICT_CONTRADICTED, "-d su: asked for 131072, made with 65536");
	verdict_is("xfs", "-d su=64k,sw=4", VERDICT_CONTRADICTED, "-d sw: asked for 4 stripe units, made with 12");
	verdict_is("ext4", "-b 1024", VERDICT_CONTRADICTED, "-b: asked for 1024, made with 4096");
	verdict_is("ext4", "-E stride=32", VERDICT_CONTRADICTED, "-E stride: asked for 32, made with 16");
	verdict_is("ext4", "-O metadata_csum", VERDICT_CONTRADICTED, "-O metadata_csum: the filesystem has not the feature 'metadata_csum'");
	verdict_is("ext4", "-O ^extent", VERDICT_CONTRADICTED, "-O ^extent: the filesystem has the feature 'extent'");
	verdict_is("btrfs", "-n 16384", VERDICT_CONTRADICTED, "-n: asked for 16384, made with 8192");
}

static void an_option_that_cannot_be_read_back_is_unconfirmed(void **state)
{
	(void)state;
	verdict_is("ext4", "-b 4096 -m 1", VERDICT_UNCONFIRMED, "'-m' cannot be read back");
	verdict_is("xfs", "-K", VERDICT_UNCONFIRMED, "'-K' cannot be read back");
	verdict_is("ext4", "-E lazy_itable_init=1", VERDICT_CONFIRMED, "");
}

static void the_effective_geometry_is_told_in_bytes(void **state)
{
	AUTO_TEXT struct text description = { 0 }, effective = { 0 }, why = { 0 };
	struct format f = { .type = "xfs" };

	(void)state;
	assert_int_equal(file_read(AT_FDCWD, "tests/data/mkfs/xfs.txt", 65536, &description, NULL), 0);
	geometry_verdict(&f, text_str(&description), &effective, &why);
	assert_non_null(strstr(text_str(&effective), "block=4096 sunit=65536 swidth=786432 agcount=8"));
	assert_non_null(strstr(text_str(&effective), "log=67108864 logsunit=65536"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_options_come_first_and_the_node_last),
		cmocka_unit_test(extended_options_of_the_plan_keep_their_one_place),
		cmocka_unit_test(a_lazy_plan_is_known_as_such),
		cmocka_unit_test(an_unknown_filesystem_has_no_arguments),
		cmocka_unit_test(usage_and_size_errors_are_infeasible_and_device_errors_are_not),
		cmocka_unit_test(geometry_that_was_made_is_confirmed),
		cmocka_unit_test(geometry_that_was_dropped_contradicts),
		cmocka_unit_test(an_option_that_cannot_be_read_back_is_unconfirmed),
		cmocka_unit_test(the_effective_geometry_is_told_in_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
