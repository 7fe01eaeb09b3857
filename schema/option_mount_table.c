/* SPDX-License-Identifier: MIT
 *
 * What a plan may tell mount, per family, and nothing else.  Absent on purpose: whatever names a device or a path
 * (journal_path, logdev, subvol), turns a fault into a panic (errors=panic, fatal_errors), skips recovery, changes who
 * may do what, or is iosweep's own (nosuid, nodev).  Options that the running kernel has dropped stay: a cell that
 * asks for one is infeasible, which is a result.
 *
 * Sources: Documentation/admin-guide/{ext4,xfs}.rst and Documentation/filesystems/ext2.rst of Linux 6.18, btrfs(5) of
 * btrfs-progs 6.2, mount(8) of util-linux 2.38; xfs barrier and nobarrier until Linux 4.19.
 */
#include <stddef.h>

#include "schema/option_table.h"

#define KIB INT64_C(1024)
#define GIB (1024 * 1024 * KIB)

static const char *const data_modes[] = { "journal", "ordered", "writeback", NULL };
static const char *const errors_modes[] = { "remount-ro", NULL };
static const char *const dax_modes[] = { "always", "inode", "never", NULL };
static const char *const discard_modes[] = { "sync", "async", NULL };
static const char *const cache_versions[] = { "v1", "v2", NULL };
static const char *const compressions[] = { "zlib", "lzo", "zstd", "no", "none", NULL };

#define E34 (FAMILY_EXT3 | FAMILY_EXT4)
#define E4  FAMILY_EXT4
#define X   FAMILY_XFS
#define B   FAMILY_BTRFS

#define FLAG(key_, families_) { .key = key_, .grammar = VALUE_NONE, .families = families_ }
#define NUMBER(key_, min_, max_, families_) \
	{ .key = key_, .grammar = VALUE_NUMBER, .min = min_, .max = max_, .families = families_ }
#define SIZE(key_, min_, max_, families_) \
	{ .key = key_, .grammar = VALUE_SIZE, .min = min_, .max = max_, .families = families_ }
#define WORD(key_, words_, families_) { .key = key_, .grammar = VALUE_WORD, .words = words_, .families = families_ }

const struct option_key option_mount_keys[] = {
	/* generic: attributes of the mount or superblock flags, mount(8) */
	{ .key = "noatime", .group = "atime", .families = FAMILY_ANY },
	{ .key = "relatime", .group = "atime", .families = FAMILY_ANY },
	{ .key = "strictatime", .group = "atime", .families = FAMILY_ANY },
	FLAG("diratime", FAMILY_ANY), FLAG("nodiratime", FAMILY_ANY),
	FLAG("lazytime", FAMILY_ANY), FLAG("nolazytime", FAMILY_ANY),
	{ .key = "sync", .group = "sync", .families = FAMILY_ANY },
	{ .key = "async", .group = "sync", .families = FAMILY_ANY },
	FLAG("dirsync", FAMILY_ANY), FLAG("noexec", FAMILY_ANY), FLAG("exec", FAMILY_ANY),

	/* ext2, ext3, ext4 */
	FLAG("acl", FAMILY_EXT | B), FLAG("noacl", FAMILY_EXT | B),
	FLAG("user_xattr", FAMILY_EXT), FLAG("nouser_xattr", FAMILY_EXT),
	WORD("errors", errors_modes, FAMILY_EXT),
	WORD("data", data_modes, E34),
	NUMBER("commit", 1, 900, E34 | B), /* s */
	FLAG("journal_checksum", E34), FLAG("nojournal_checksum", E34), FLAG("journal_async_commit", E34),
	{ .key = "barrier", .grammar = VALUE_NONE, .families = E34 | X | B }, FLAG("nobarrier", E34 | X | B),
	NUMBER("journal_ioprio", 0, 7, E34),
	FLAG("delalloc", E4), FLAG("nodelalloc", E4),
	FLAG("auto_da_alloc", E4), FLAG("noauto_da_alloc", E4),
	FLAG("dioread_lock", E4), FLAG("dioread_nolock", E4),
	FLAG("block_validity", E4), FLAG("noblock_validity", E4),
	NUMBER("inode_readahead_blks", 0, 1 << 30, E4),
	NUMBER("init_itable", 0, 1000000, E4), FLAG("noinit_itable", E4),
	NUMBER("max_batch_time", 0, 100000000, E4), /* us */
	NUMBER("min_batch_time", 0, 100000000, E4), /* us */
	NUMBER("max_dir_size_kb", 0, 1 << 30, E4),
	NUMBER("mb_optimize_scan", 0, 1, E4),
	NUMBER("stripe", 0, 1 << 30, E4),           /* blocks */
	FLAG("prefetch_block_bitmaps", E4), FLAG("no_prefetch_block_bitmaps", E4),
	FLAG("nombcache", E4),
	WORD("dax", dax_modes, E4 | X | FAMILY_EXT2),

	/* xfs */
	SIZE("allocsize", 4 * KIB, GIB, X),
	FLAG("attr2", X), FLAG("noattr2", X),
	FLAG("filestreams", X),
	FLAG("ikeep", X), FLAG("noikeep", X),
	{ .key = "inode32", .group = "inode", .families = X }, { .key = "inode64", .group = "inode", .families = X },
	FLAG("largeio", X), FLAG("nolargeio", X),
	NUMBER("logbufs", 2, 8, X),
	SIZE("logbsize", 0, 256 * KIB, X),
	FLAG("noalign", X),
	NUMBER("sunit", 0, 1 << 30, X),  /* sectors of 512 bytes */
	NUMBER("swidth", 0, 1 << 30, X), /* sectors of 512 bytes */
	FLAG("swalloc", X), FLAG("wsync", X),

	/* btrfs */
	FLAG("autodefrag", B), FLAG("noautodefrag", B),
	{ .key = "compress", .grammar = VALUE_COMPRESS, .words = compressions, .group = "compress", .families = B },
	{ .key = "compress-force", .grammar = VALUE_COMPRESS, .words = compressions, .group = "compress", .families = B },
	FLAG("datacow", B), FLAG("nodatacow", B),
	FLAG("datasum", B), FLAG("nodatasum", B),
	{ .key = "discard", .grammar = VALUE_OPTIONAL, .words = discard_modes, .families = B },
	FLAG("discard", FAMILY_EXT | X), FLAG("nodiscard", FAMILY_ANY),
	FLAG("flushoncommit", B), FLAG("noflushoncommit", B),
	SIZE("max_inline", 0, 64 * KIB, B),
	NUMBER("metadata_ratio", 0, 1000, B),
	{ .key = "space_cache", .grammar = VALUE_OPTIONAL, .words = cache_versions, .families = B }, FLAG("nospace_cache", B),
	FLAG("ssd", B), FLAG("nossd", B), FLAG("ssd_spread", B), FLAG("nossd_spread", B),
	NUMBER("thread_pool", 1, 1024, B),
	FLAG("treelog", B), FLAG("notreelog", B),
	{ NULL }
};
