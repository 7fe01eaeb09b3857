/* SPDX-License-Identifier: MIT
 *
 * Mount options as asked against what kernels show of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "daemon/worker/mount.h"

#define EXT4_PROC "rw\nbsddf\nnogrpid\nblock_validity\ndioread_nolock\nnodiscard\ndelalloc\nnowarn_on_error\njournal_checksum\n" \
	"barrier\nauto_da_alloc\nuser_xattr\nacl\nnoquota\nresuid=0\nresgid=0\nerrors=continue\ncommit=5\nmin_batch_time=0\n" \
	"max_batch_time=15000\nstripe=0\ndata=ordered\ninode_readahead_blks=32\ninit_itable=10\nmax_dir_size_kb=0\n"

static const struct row {
	const char *wanted; /* words */
	const char *shown, *proc;
	enum verdict verdict;
	const char *why;
} rows[] = {
	{ "noatime", "rw,nosuid,nodev,noatime,rw", "", VERDICT_CONFIRMED, "" },
	{ "noatime", "rw,nosuid,nodev,relatime,rw", "", VERDICT_CONTRADICTED, "'noatime' was asked for and is not in force" },
	{ "commit=30", "rw,noatime,rw,commit=30", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "commit=30s", "rw,rw,commit=30", "", VERDICT_CONFIRMED, "" },
	{ "commit=30", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'commit=30' was asked for, 'commit=5' is in force" },
	{ "data=writeback", "rw,rw,data=writeback", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "data=ordered", "rw,rw", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "data=writeback", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'data=writeback' was asked for, 'data=ordered' is in force" },
	{ "barrier=1", "rw,rw", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "barrier=0", "rw,rw,nobarrier", "", VERDICT_CONFIRMED, "" },
	{ "nobarrier", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'nobarrier' was asked for, 'barrier' is in force" },
	{ "nodelalloc", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'nodelalloc' was asked for, 'delalloc' is in force" },
	{ "logbsize=262144", "rw,rw,attr2,inode64,logbufs=8,logbsize=256k,noquota", "", VERDICT_CONFIRMED, "" },
	{ "logbsize=256k", "rw,rw,logbsize=32k", "", VERDICT_CONTRADICTED, "'logbsize=256k' was asked for, 'logbsize=32k' is in force" },
	{ "allocsize=1m", "rw,rw,allocsize=1024k", "", VERDICT_CONFIRMED, "" },
	{ "allocsize=64k", "rw,rw", "", VERDICT_UNCONFIRMED, "'allocsize=64k' is not shown by the kernel" },
	{ "compress=zstd", "rw,rw,compress=zstd:3,ssd", "", VERDICT_CONFIRMED, "" },
	{ "compress=zstd:1", "rw,rw,compress=zstd:3,ssd", "", VERDICT_CONTRADICTED,
	  "'compress=zstd:1' was asked for, 'compress=zstd:3' is in force" },
	{ "nodatacow", "rw,rw,nodatasum,nodatacow", "", VERDICT_CONFIRMED, "" },
	{ "autodefrag", "rw,rw,space_cache=v2", "", VERDICT_UNCONFIRMED, "'autodefrag' is not shown by the kernel" },
	{ "relatime", "rw,nosuid,noatime,rw", "", VERDICT_CONTRADICTED, "'relatime' was asked for, 'noatime' is in force" },
	{ "defaults", "rw,relatime", "", VERDICT_IMPLIED, "" },
	{ "sync", "rw,relatime,rw,sync", "", VERDICT_CONFIRMED, "" },
	{ "noatime commit=30", "rw,noatime,rw,commit=5", "", VERDICT_CONTRADICTED, "'commit=30' was asked for, 'commit=5' is in force" },
};

static void each_option_gets_the_verdict_that_the_kernel_supports(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_TEXT struct text why = { 0 };
		char **words;
		enum verdict v;
		size_t n;

		assert_int_equal(words_split(a, rows[i].wanted, &words, &n, NULL), 0);
		v = mount_options_verdict(words, rows[i].shown, rows[i].proc, &why);
		if (v != rows[i].verdict)
			fail_msg("%s against %s: %s (%s)", rows[i].wanted, rows[i].shown, verdict_name(v), text_str(&why));
		assert_string_equal(text_str(&why), rows[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option_gets_the_verdict_that_the_kernel_supports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
