/* SPDX-License-Identifier: MIT
 *
 * The rows behind option.h, private to option*.c: which options exist, per family, and the grammar of each value.
 */
#ifndef IOSWEEP_OPTION_TABLE_H
#define IOSWEEP_OPTION_TABLE_H

#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

enum value_grammar {
	VALUE_NONE,      /* a flag */
	VALUE_NUMBER,    /* min..max */
	VALUE_DECIMAL,   /* min..max, with a decimal point */
	VALUE_SIZE,      /* bytes: bare, or with k m g KiB ...; min..max; canonical in bytes */
	VALUE_WORD,      /* one of words */
	VALUE_OPTIONAL,  /* nothing, or one of words */
	VALUE_COMPRESS,  /* nothing, or one of words, zlib:1..9, zstd:-15..15 (btrfs(5)) */
	VALUE_FEATURES,  /* names of words joined by commas, each switched off with ^ */
	VALUE_SUB        /* mkfs: sub-keys joined by commas */
};

/* One key: a letter's sub-key or a mount option. */
struct option_key {
	const char *key;
	enum value_grammar grammar;
	int64_t min, max;
	const char *const *words; /* NULL-terminated */
	const char *same;         /* canonical name, where tools know two spellings */
	const char *group;        /* of keys in one group the last wins; NULL: the key without a leading "no" */
	unsigned families;        /* mount: FAMILY_*; 0 in the tables of sub-keys */
};

/* One letter of a mkfs program. */
struct option_letter {
	struct option_key letter;      /* key "-b" */
	const struct option_key *keys; /* VALUE_SUB; ends with an empty row */
};

enum { FAMILY_EXT2 = 1, FAMILY_EXT3 = 2, FAMILY_EXT4 = 4, FAMILY_XFS = 8, FAMILY_BTRFS = 16 };
#define FAMILY_EXT (FAMILY_EXT2 | FAMILY_EXT3 | FAMILY_EXT4)
#define FAMILY_ANY (FAMILY_EXT | FAMILY_XFS | FAMILY_BTRFS)

struct option_family {
	const char *name;
	unsigned bit;
	const char *tool;                    /* "mkfs.ext4" */
	const struct option_letter *letters; /* in canonical order; ends with an empty row */
};
extern const struct option_family option_families[]; /* ends with an empty row */
extern const struct option_key option_mount_keys[];  /* ends with an empty row */

/* Canonical value (arena) of one key (option_value.c).  value NULL: none was given; *ret is NULL then. */
int option_value(const struct option_key *key, const char *value, struct arena *a, const char **ret, struct err *e);
/* Adds a word to a list for a hint, which is cut where it becomes too long for one. */
void option_list_add(struct text *list, const char *word);

#endif
