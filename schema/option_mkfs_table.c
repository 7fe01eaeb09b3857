/* SPDX-License-Identifier: MIT
 *
 * What a plan may tell mkfs, per family, and nothing else: whatever is not here is refused.  Absent on purpose:
 * everything that names a file or a second device (mke2fs -d -z -J device=, mkfs.xfs -p -l logdev= -r rtdev=, bare
 * words), labels and UUIDs (iosweep's own), what happens on errors, offsets, and options that only say "yes" to a
 * question.
 *
 * Sources: mke2fs(8) of e2fsprogs 1.47, mkfs.xfs(8) of xfsprogs 6.1, mkfs.btrfs(8) of btrfs-progs 6.2.
 */
#include <stddef.h>

#include "schema/option_table.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define MANY INT64_C(4294967295)

static const char *const ext_features[] = {
	"64bit", "bigalloc", "dir_index", "dir_nlink", "ea_inode", "extent", "extents", "extra_isize", "ext_attr",
	"fast_commit", "filetype", "flex_bg", "has_journal", "huge_file", "inline_data", "large_dir", "large_file",
	"metadata_csum", "metadata_csum_seed", "meta_bg", "mmp", "none", "orphan_file", "project", "quota", "resize_inode",
	"sparse_super", "sparse_super2", "uninit_bg", NULL
};

static const struct option_key ext_extended[] = {
	{ "assume_storage_prezeroed", VALUE_NUMBER, 0, 1 },
	{ "discard", VALUE_NONE },
	{ "fast_commit_size", VALUE_NUMBER, 1, MANY },
	{ "lazy_itable_init", VALUE_NUMBER, 0, 1 },
	{ "lazy_journal_init", VALUE_NUMBER, 0, 1 },
	{ "nodiscard", VALUE_NONE },
	{ "num_backup_sb", VALUE_NUMBER, 0, 2 },
	{ "orphan_file_size", VALUE_SIZE, 4 * KIB, GIB },
	{ "packed_meta_blocks", VALUE_NUMBER, 0, 1 },
	{ "stride", VALUE_NUMBER, 1, MANY },
	{ "stripe-width", VALUE_NUMBER, 1, MANY, NULL, "stripe_width" },
	{ "stripe_width", VALUE_NUMBER, 1, MANY },
	{ NULL }
};

static const struct option_key ext_journal[] = {
	{ "fast_commit_size", VALUE_NUMBER, 1, MANY }, /* KiB */
	{ "size", VALUE_NUMBER, 1, MANY },             /* MiB */
	{ NULL }
};

static const struct option_letter ext_letters[] = {
	{ { "-b", VALUE_SIZE, KIB, 64 * KIB } },
	{ { "-C", VALUE_SIZE, KIB, 512 * MIB } }, /* cluster size, with bigalloc */
	{ { "-i", VALUE_SIZE, KIB, 4 * GIB } },   /* bytes per inode */
	{ { "-I", VALUE_SIZE, 128, 64 * KIB } },
	{ { "-N", VALUE_NUMBER, 1, MANY } },
	{ { "-m", VALUE_DECIMAL, 0, 50 } },
	{ { "-g", VALUE_NUMBER, 256, 524288 } },
	{ { "-G", VALUE_NUMBER, 1, MANY } },
	{ { "-j", VALUE_NONE } },
	{ { "-O", VALUE_FEATURES, .words = ext_features } },
	{ { "-E", VALUE_SUB }, ext_extended },
	{ { "-J", VALUE_SUB }, ext_journal },
	{ { NULL } }
};

static const struct option_key xfs_block[] = { { "size", VALUE_SIZE, 512, 64 * KIB }, { NULL } };

static const struct option_key xfs_data[] = {
	{ "agcount", VALUE_NUMBER, 1, 1000000 },
	{ "agsize", VALUE_SIZE, 16 * MIB, TIB },
	{ "noalign", VALUE_NONE },
	{ "su", VALUE_SIZE, 0, GIB },
	{ "sunit", VALUE_NUMBER, 0, MANY },  /* sectors of 512 bytes */
	{ "sw", VALUE_NUMBER, 0, 1000000 },
	{ "swidth", VALUE_NUMBER, 0, MANY }, /* sectors of 512 bytes */
	{ NULL }
};

static const struct option_key xfs_inode[] = {
	{ "align", VALUE_NUMBER, 0, 1 },
	{ "maxpct", VALUE_NUMBER, 0, 100 },
	{ "perblock", VALUE_NUMBER, 2, 256 },
	{ "projid32bit", VALUE_NUMBER, 0, 1 },
	{ "size", VALUE_SIZE, 256, 2 * KIB },
	{ "sparse", VALUE_NUMBER, 0, 1 },
	{ NULL }
};

static const struct option_key xfs_log[] = {
	{ "lazy-count", VALUE_NUMBER, 0, 1 },
	{ "size", VALUE_SIZE, MIB, 4 * GIB },
	{ "su", VALUE_SIZE, 512, 256 * KIB },
	{ "sunit", VALUE_NUMBER, 1, 512 }, /* sectors of 512 bytes */
	{ "version", VALUE_NUMBER, 1, 2 },
	{ NULL }
};

static const struct option_key xfs_metadata[] = {
	{ "bigtime", VALUE_NUMBER, 0, 1 },
	{ "crc", VALUE_NUMBER, 0, 1 },
	{ "finobt", VALUE_NUMBER, 0, 1 },
	{ "inobtcount", VALUE_NUMBER, 0, 1 },
	{ "reflink", VALUE_NUMBER, 0, 1 },
	{ "rmapbt", VALUE_NUMBER, 0, 1 },
	{ NULL }
};

static const struct option_key xfs_naming[] = {
	{ "ftype", VALUE_NUMBER, 0, 1 },
	{ "size", VALUE_SIZE, 512, 64 * KIB },
	{ "version", VALUE_NUMBER, 2, 2 },
	{ NULL }
};

static const struct option_key xfs_sector[] = { { "size", VALUE_SIZE, 512, 32 * KIB }, { NULL } };

static const struct option_letter xfs_letters[] = {
	{ { "-b", VALUE_SUB }, xfs_block },
	{ { "-d", VALUE_SUB }, xfs_data },
	{ { "-i", VALUE_SUB }, xfs_inode },
	{ { "-l", VALUE_SUB }, xfs_log },
	{ { "-m", VALUE_SUB }, xfs_metadata },
	{ { "-n", VALUE_SUB }, xfs_naming },
	{ { "-s", VALUE_SUB }, xfs_sector },
	{ { "-K", VALUE_NONE } },
	{ { NULL } }
};

/* Profiles that one device can hold. */
static const char *const btrfs_profiles[] = { "single", "dup", NULL };
static const char *const btrfs_features[] = {
	"block-group-tree", "extref", "free-space-tree", "mixed-bg", "no-holes", "quota", "skinny-metadata", "squota", NULL
};

static const struct option_letter btrfs_letters[] = {
	{ { "-n", VALUE_SIZE, 4 * KIB, 64 * KIB } },
	{ { "-s", VALUE_SIZE, 4 * KIB, 64 * KIB } },
	{ { "-m", VALUE_WORD, .words = btrfs_profiles } },
	{ { "-d", VALUE_WORD, .words = btrfs_profiles } },
	{ { "-O", VALUE_FEATURES, .words = btrfs_features } },
	{ { "-K", VALUE_NONE } },
	{ { NULL } }
};

const struct option_family option_families[] = {
	{ "ext2", FAMILY_EXT2, "mkfs.ext2", ext_letters },
	{ "ext3", FAMILY_EXT3, "mkfs.ext3", ext_letters },
	{ "ext4", FAMILY_EXT4, "mkfs.ext4", ext_letters },
	{ "xfs", FAMILY_XFS, "mkfs.xfs", xfs_letters },
	{ "btrfs", FAMILY_BTRFS, "mkfs.btrfs", btrfs_letters },
	{ NULL }
};
