/* SPDX-License-Identifier: MIT
 *
 * mkfs and mount options: the canonical form of what is allowed, and the refusal of everything else.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "schema/base/text.h"
#include "schema/option.h"
#include "schema/option_table.h"

static int option_of(bool is_mount, const char *fs, const char *options, struct arena *a, const char **canonical,
                     char ***out, struct err *e)
{
	char **words;
	size_t n;

	assert_int_equal(words_split(a, options, &words, &n, NULL), 0);
	return is_mount ? option_mount(fs, (const char *const *)words, n, a, canonical, out, e)
	                : option_mkfs(fs, (const char *const *)words, n, a, canonical, out, e);
}

static void assert_canonical(bool is_mount, const char *fs, const char *options, const char *expected)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text joined = { 0 };
	const char *canonical = NULL;
	char **out = NULL;
	struct err e = { 0 };

	if (option_of(is_mount, fs, options, a, &canonical, &out, &e) < 0)
		print_message("%s: %s\n", e.text, e.hint);
	assert_non_null(canonical);
	assert_string_equal(canonical, expected);
	for (size_t i = 0; out[i] != NULL; i++)
		text_printf(&joined, "%s%s", i == 0 ? "" : is_mount ? "," : " ", out[i]);
	assert_string_equal(text_str(&joined), expected);
	/* canonical form is a fixed point */
	assert_int_equal(option_of(is_mount, fs, expected, a, &canonical, &out, &e), 0);
	assert_string_equal(canonical, expected);
}

static void assert_refused(bool is_mount, const char *fs, const char *options, const char *text, const char *hint)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *canonical = NULL;
	char **out = NULL;
	struct err e = { 0 };

	assert_int_equal(option_of(is_mount, fs, options, a, &canonical, &out, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.text, text);
	assert_string_equal(e.hint, hint);
	assert_null(canonical);
}

#define EXT_LETTERS "allowed are -b -C -i -I -N -m -g -G -j -O -E -J"
#define XFS_LETTERS "allowed are -b -d -i -l -m -n -s -K"

static void mkfs_options_have_one_canonical_form(void **state)
{
	(void)state;
	assert_canonical(false, "ext4", "", "");
	assert_canonical(false, "ext4", "-E stripe-width=192,stride=16 -b 4k", "-b 4096 -E stride=16,stripe_width=192");
	assert_canonical(false, "ext4", "-b1024 -b 4096 -m 0.5", "-b 4096 -m 0.5");
	assert_canonical(false, "ext4", "-O ^has_journal -O extents,dir_index,^dir_index",
	                 "-O ^dir_index,extent,^has_journal");
	assert_canonical(false, "ext4", "-O extent,none", "-O none,extent");
	assert_canonical(false, "ext3", "-j -J size=64 -I 256", "-I 256 -j -J size=64");
	assert_canonical(false, "ext2", "-E lazy_itable_init=1 -E lazy_itable_init=0", "-E lazy_itable_init=0");
	assert_canonical(false, "xfs", "-d sw=12,su=64k -b size=4096 -l size=64m,su=256k",
	                 "-b size=4096 -d su=65536,sw=12 -l size=67108864,su=262144");
	assert_canonical(false, "xfs", "-d agcount=16 -d su=64k,sw=2 -K", "-d agcount=16,su=65536,sw=2 -K");
	assert_canonical(false, "xfs", "-m crc=1,reflink=0", "-m crc=1,reflink=0");
	assert_canonical(false, "btrfs", "-n 16KiB -d single -m dup -O ^no-holes,block-group-tree",
	                 "-n 16384 -m dup -d single -O block-group-tree,^no-holes");
	assert_canonical(false, "none", "", "");
}

static void mkfs_refuses_what_could_reach_beyond_the_target(void **state)
{
	(void)state;
	assert_refused(false, "btrfs", "/dev/sdb",
	               "'/dev/sdb' is no option of mkfs.btrfs: a bare word could name a file or another device",
	               "allowed are -n -s -m -d -O -K");
	assert_refused(false, "xfs", "-p /etc/shadow", "'-p' is not allowed for xfs", XFS_LETTERS);
	assert_refused(false, "xfs", "-p/etc/shadow", "'-p/etc/shadow' is not allowed for xfs", XFS_LETTERS);
	assert_refused(false, "xfs", "-r rtdev=/dev/sdb", "'-r' is not allowed for xfs", XFS_LETTERS);
	assert_refused(false, "xfs", "-l logdev=/dev/sdb,size=64m", "'-l logdev' is not allowed for xfs",
	               "allowed with -l are lazy-count size su sunit version");
	assert_refused(false, "xfs", "-d file,name=/etc/passwd", "'-d file' is not allowed for xfs",
	               "allowed with -d are agcount agsize noalign su sunit sw swidth");
	assert_refused(false, "ext4", "-z /etc/passwd", "'-z' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "-d /root", "'-d' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "-L label", "'-L' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "-U clear", "'-U' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "-e panic", "'-e' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "-F", "'-F' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "--", "'--' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "-", "'-' is not allowed for ext4", EXT_LETTERS);
	assert_refused(false, "ext4", "''",
	               "'' is no option of mkfs.ext4: a bare word could name a file or another device", EXT_LETTERS);
	assert_refused(false, "ext4", "-J device=/dev/sdb", "'-J device' is not allowed for ext4",
	               "allowed with -J are fast_commit_size size");
	assert_refused(false, "ext4", "-O journal_dev", "'-O' for ext4: the feature 'journal_dev' is not allowed",
	               "allowed are 64bit bigalloc dir_index dir_nlink ea_inode extent extents extra_isize ext_attr fast_commit "
	               "filetype flex_bg has_journal huge_file inline_data large_dir large_file metadata_csum metadata_csum_seed "
	               "meta_bg mmp none orphan_file project quota resize_inode sparse_super ...");
	assert_refused(false, "ext4", "-O has_jurnal", "'-O' for ext4: the feature 'has_jurnal' is not allowed",
	               "did you mean 'has_journal'?");
	assert_refused(false, "btrfs", "-d raid1", "'-d' for btrfs: 'raid1' is not allowed", "allowed are single dup");
	assert_refused(false, "none", "-b 4096", "filesystem 'none' takes no mkfs options", "");
}

static void mkfs_values_follow_their_grammar(void **state)
{
	(void)state;
	assert_refused(false, "ext4", "-b", "'-b' of mkfs.ext4 needs a value", "");
	assert_refused(false, "ext4", "-b x", "'-b' for ext4: 'x' is not a size",
	               "write a number and a unit, as in 64KiB, 2MiB, 4GiB");
	assert_refused(false, "ext4", "-b 1m", "'-b' for ext4: '1m' is not a size of 1KiB to 64KiB", "");
	assert_refused(false, "ext4", "-m 51", "'-m' for ext4: '51' is not a number of 0 to 50", "");
	assert_refused(false, "ext4", "-m 0x1", "'-m' for ext4: '0x1' is not a number of 0 to 50", "");
	assert_refused(false, "ext4", "-N 1;reboot",
	               "'-N' for ext4: '1;reboot' is not a whole number of 1 to 4294967295", "");
	assert_refused(false, "ext4", "-E stride", "'-E stride' for ext4: it takes a value", "");
	assert_refused(false, "ext4", "-E discard=1", "'-E discard' for ext4: it takes no value, and '1' was given",
	               "");
	assert_refused(false, "xfs", "-KK", "'-KK' is not allowed for xfs", XFS_LETTERS);
	assert_refused(false, "xfs", "-d su=64k,,sw=2", "'-d ' is not allowed for xfs",
	               "allowed with -d are agcount agsize noalign su sunit sw swidth");
}

static void mount_options_have_one_canonical_form(void **state)
{
	(void)state;
	assert_canonical(true, "ext4", "noatime,data=writeback commit=30", "commit=30,data=writeback,noatime");
	assert_canonical(true, "ext4", "noatime relatime", "relatime");
	assert_canonical(true, "ext4", "barrier=0", "nobarrier");
	assert_canonical(true, "ext4", "nobarrier,barrier=1", "barrier");
	assert_canonical(true, "ext4", "delalloc,nodelalloc", "nodelalloc");
	assert_canonical(true, "ext4", "errors=remount-ro", "errors=remount-ro");
	assert_canonical(true, "xfs", "logbsize=256k,logbufs=8,allocsize=64m,largeio,swalloc,inode64",
	                 "allocsize=67108864,inode64,largeio,logbsize=262144,logbufs=8,swalloc");
	assert_canonical(true, "xfs", "noatime,nobarrier", "noatime,nobarrier"); /* the kernel says no: infeasible, not wrong */
	assert_canonical(true, "btrfs", "compress=lzo,compress-force=zstd:3,ssd,space_cache=v2,thread_pool=8",
	                 "compress-force=zstd:3,space_cache=v2,ssd,thread_pool=8");
	assert_canonical(true, "btrfs", "compress,nodatacow,discard=async", "compress,discard=async,nodatacow");
	assert_canonical(true, "none", "", "");
}

static void mount_refuses_what_is_not_listed(void **state)
{
	(void)state;
	assert_refused(true, "ext4", "errors=panic", "the mount option 'errors' for ext4: 'panic' is not allowed",
	               "allowed are remount-ro");
	assert_refused(true, "ext4", "nodatacow", "the mount option 'nodatacow' is not allowed for ext4",
	               "iosweep-plan(5) lists the mount options of each filesystem");
	assert_refused(true, "ext4", "noatme", "the mount option 'noatme' is not allowed for ext4",
	               "did you mean 'noatime'?");
	assert_refused(true, "ext4", "journal_path=/x", "the mount option 'journal_path' is not allowed for ext4",
	               "did you mean 'journal_ioprio'?");
	assert_refused(true, "xfs", "logdev=/dev/sdb", "the mount option 'logdev' is not allowed for xfs",
	               "iosweep-plan(5) lists the mount options of each filesystem");
	assert_refused(true, "btrfs", "subvol=/etc", "the mount option 'subvol' is not allowed for btrfs",
	               "iosweep-plan(5) lists the mount options of each filesystem");
	assert_refused(true, "btrfs", "device=/dev/sdb", "the mount option 'device' is not allowed for btrfs",
	               "iosweep-plan(5) lists the mount options of each filesystem");
	assert_refused(true, "btrfs", "compress=zstd:99",
	               "the mount option 'compress' for btrfs: 'zstd:99' is not a compression",
	               "with a level: zlib:1 to zlib:9, zstd:-15 to zstd:15");
	assert_refused(true, "ext4", "suid", "the mount option 'suid' is not allowed for ext4",
	               "iosweep-plan(5) lists the mount options of each filesystem");
	assert_refused(true, "ext4", "nosuid", "the mount option 'nosuid' is not allowed for ext4",
	               "leave it out: every mount has it");
	assert_refused(true, "ext4", "defaults", "the mount option 'defaults' is not allowed for ext4",
	               "leave it out: it asks for nothing");
	assert_refused(true, "ext4", "noatime=1",
	               "the mount option 'noatime' for ext4: it takes no value, and '1' was given", "");
	assert_refused(true, "none", "noatime", "filesystem 'none' takes no mount options", "");
}

static void the_tables_are_whole(void **state)
{
	(void)state;
	for (const struct option_family *f = option_families; f->name != NULL; f++) {
		assert_true(option_family_known(f->name));
		for (const struct option_letter *l = f->letters; l->letter.key != NULL; l++) {
			assert_int_equal(strlen(l->letter.key), 2);
			assert_int_equal(l->letter.grammar == VALUE_SUB, l->keys != NULL);
		}
	}
	for (const struct option_key *k = option_mount_keys; k->key != NULL; k++) {
		bool has_words = k->grammar == VALUE_WORD || k->grammar == VALUE_OPTIONAL ||
		                 k->grammar == VALUE_COMPRESS;

		assert_true(k->families != 0);
		assert_int_equal(has_words, k->words != NULL);
		for (const struct option_key *j = option_mount_keys; j < k; j++)
			assert_true(strcmp(j->key, k->key) != 0 || (j->families & k->families) == 0);
	}
	assert_false(option_family_known("none"));
	assert_false(option_family_known("vfat"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mkfs_options_have_one_canonical_form),
		cmocka_unit_test(mkfs_refuses_what_could_reach_beyond_the_target),
		cmocka_unit_test(mkfs_values_follow_their_grammar),
		cmocka_unit_test(mount_options_have_one_canonical_form),
		cmocka_unit_test(mount_refuses_what_is_not_listed),
		cmocka_unit_test(the_tables_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
