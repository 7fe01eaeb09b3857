/* SPDX-License-Identifier: MIT
 *
 * A filesystem as made against the mkfs options asked for; see format.h.  Pure: reads the text that the filesystem's
 * own tool printed.  mkfs.xfs, for one, drops a stripe that the device is too small for, warns, and exits 0.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/format.h"
#include "daemon/worker/sysroot.h"

/* Where a description states a value. */
struct stated {
	const char *family;  /* "ext", "xfs", "btrfs" */
	const char *name;    /* in the effective text */
	const char *label;   /* in the description: "Block size:", "bsize=" */
	const char *within;  /* xfs: the line or part of it that the label must follow ("data", "log"); else NULL */
	const char *unit;    /* NULL: bytes or a bare number; "block": blocks of the filesystem */
	bool is_shown;       /* part of the effective text */
};

static const struct stated stated[] = {
	{ "ext", "block", "Block size:", NULL, NULL, true },
	{ "ext", "inode", "Inode size:", NULL, NULL, true },
	{ "ext", "inodes", "Inode count:", NULL, NULL, true },
	{ "ext", "inodes_per_group", "Inodes per group:", NULL, NULL, false },
	{ "ext", "stride", "RAID stride:", NULL, NULL, true },
	{ "ext", "stripe_width", "RAID stripe width:", NULL, NULL, true },
	{ "ext", "blocks_per_group", "Blocks per group:", NULL, NULL, true },
	{ "ext", "flex_bg", "Flex block group size:", NULL, NULL, true },
	{ "ext", "reserved", "Reserved block count:", NULL, NULL, false },
	{ "ext", "blocks", "Block count:", NULL, NULL, false },
	{ "ext", "journal_blocks", "Total journal blocks:", NULL, "block", false },
	{ "xfs", "block", "bsize=", "data", NULL, true },
	{ "xfs", "sunit", "sunit=", "data", "block", true },
	{ "xfs", "swidth", "swidth=", "data", "block", true },
	{ "xfs", "agcount", "agcount=", NULL, NULL, true },
	{ "xfs", "agsize", "agsize=", NULL, "block", true },
	{ "xfs", "inode", "isize=", NULL, NULL, true },
	{ "xfs", "imaxpct", "imaxpct=", NULL, NULL, true },
	{ "xfs", "log", "blocks=", "log", "block", true },
	{ "xfs", "logsunit", "sunit=", "log", "block", true },
	{ "xfs", "sector", "sectsz=", NULL, NULL, true },
	{ "xfs", "naming", "bsize=", "naming", NULL, true },
	{ "xfs", "crc", "crc=", NULL, NULL, true },
	{ "xfs", "finobt", "finobt=", NULL, NULL, true },
	{ "xfs", "rmapbt", "rmapbt=", NULL, NULL, true },
	{ "xfs", "reflink", "reflink=", NULL, NULL, true },
	{ "xfs", "bigtime", "bigtime=", NULL, NULL, true },
	{ "xfs", "inobtcount", "inobtcount=", NULL, NULL, true },
	{ "xfs", "sparse", "sparse=", NULL, NULL, true },
	{ "btrfs", "node", "nodesize", NULL, NULL, true },
	{ "btrfs", "sector", "sectorsize", NULL, NULL, true },
};

/* Which option asks for which stated value. */
static const struct asked {
	const char *family, *letter, *key; /* key "": the letter's own value */
	const char *name;                  /* in stated[] */
	enum { UNIT_ONE, UNIT_SECTORS, UNIT_BLOCKS } unit;
	enum {
		ROUND_NOT,
		ROUND_UP,   /* made at least as large */
		ROUND_GROUP /* up or down, to INODES_ROUND in each block group */
	} rounding;
} asked[] = {
	{ "ext", "-b", "", "block", UNIT_ONE, ROUND_NOT },
	{ "ext", "-I", "", "inode", UNIT_ONE, ROUND_NOT },
	{ "ext", "-N", "", "inodes", UNIT_ONE, ROUND_GROUP },
	{ "ext", "-g", "", "blocks_per_group", UNIT_ONE, ROUND_NOT },
	{ "ext", "-G", "", "flex_bg", UNIT_ONE, ROUND_NOT },
	{ "ext", "-E", "stride", "stride", UNIT_ONE, ROUND_NOT },
	{ "ext", "-E", "stripe-width", "stripe_width", UNIT_ONE, ROUND_NOT },
	{ "ext", "-E", "stripe_width", "stripe_width", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-b", "size", "block", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-d", "su", "sunit", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-d", "sunit", "sunit", UNIT_SECTORS, ROUND_NOT },
	{ "xfs", "-d", "swidth", "swidth", UNIT_SECTORS, ROUND_NOT },
	{ "xfs", "-d", "agcount", "agcount", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-d", "agsize", "agsize", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-i", "size", "inode", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-i", "maxpct", "imaxpct", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-i", "sparse", "sparse", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-l", "size", "log", UNIT_ONE, ROUND_UP },
	{ "xfs", "-l", "su", "logsunit", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-l", "sunit", "logsunit", UNIT_SECTORS, ROUND_NOT },
	{ "xfs", "-n", "size", "naming", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-s", "size", "sector", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-m", "crc", "crc", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-m", "finobt", "finobt", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-m", "rmapbt", "rmapbt", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-m", "reflink", "reflink", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-m", "bigtime", "bigtime", UNIT_ONE, ROUND_NOT },
	{ "xfs", "-m", "inobtcount", "inobtcount", UNIT_ONE, ROUND_NOT },
	{ "btrfs", "-n", "", "node", UNIT_ONE, ROUND_NOT },
	{ "btrfs", "-s", "", "sector", UNIT_ONE, ROUND_NOT },
};

static const char *family_of(const char *type)
{
	return text_starts(type, "ext") ? "ext" : type;
}

/* "data     =   bsize=4096 ..." and the lines that follow with a blank first column belong to one part. */
static const char *part_find(const char *description, const char *within)
{
	for (const char *line = description; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
		if (text_starts(line, within))
			return line;
	return NULL;
}

static bool number_at(const char *s, int64_t *ret)
{
	size_t n;
	AUTO_FREE char *digits = NULL;

	s += strspn(s, " \t");
	n = strspn(s, "0123456789");
	digits = xstrndup(s, n);
	return integer_parse(digits, 0, INT64_MAX, ret) == 0;
}

/* A label counts only where a word begins: "bsize=" is not in "xbsize=". */
static bool label_number(const char *from, const char *label, int64_t *ret)
{
	for (const char *s = from; (s = strstr(s, label)) != NULL; s += strlen(label))
		if ((s == from || !isalnum((unsigned char)s[-1])) && number_at(s + strlen(label), ret))
			return true;
	return false;
}

static bool stated_value(const char *family, const char *name, const char *description, int64_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(stated); i++) {
		const struct stated *s = &stated[i];
		const char *from = description;
		int64_t block;

		if (strcmp(s->family, family) != 0 || strcmp(s->name, name) != 0)
			continue;
		if (s->within != NULL && (from = part_find(description, s->within)) == NULL)
			return false;
		if (!label_number(from, s->label, ret))
			return false;
		if (s->unit != NULL && stated_value(family, "block", description, &block))
			*ret *= block;
		return true;
	}
	return false;
}

/* A size as mkfs takes it: a number and k, m, g, s (sectors) or b (blocks). */
static bool asked_value(const char *text, size_t n, int unit, int64_t block, int64_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	AUTO_FREE char *s = xstrndup(text, digits);
	int64_t v, factor = unit == UNIT_SECTORS ? 512 : unit == UNIT_BLOCKS ? block : 1;

	if (digits == 0 || digits > n || integer_parse(s, 0, INT64_MAX / 1024, &v) < 0)
		return false;
	if (digits < n)
		switch (tolower((unsigned char)text[digits])) {
		case 'k':
			factor = 1024;
			break;
		case 'm':
			factor = 1024 * 1024;
			break;
		case 'g':
			factor = 1024 * 1024 * 1024;
			break;
		case 's':
			factor = 512;
			break;
		case 'b':
			factor = block;
			break;
		}
	*ret = v * factor;
	return true;
}

struct judge {
	const char *family, *description;
	enum verdict worst;
	struct text *why;
};

static void judge_worsen(struct judge *j, enum verdict v, const char *why)
{
	if (v <= j->worst)
		return;
	j->worst = v;
	text_clear(j->why);
	text_add(j->why, why);
}

static const struct asked *asked_find(const char *family, const char *letter, const char *key, size_t n_key)
{
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
		if (strcmp(asked[i].family, family) == 0 && strcmp(asked[i].letter, letter) == 0 &&
		    strlen(asked[i].key) == n_key && strncmp(asked[i].key, key, n_key) == 0)
			return &asked[i];
	return NULL;
}

/* mke2fs deals the inodes out to its groups, and has whole multiples of 8 in each, 16 at least
 * (lib/ext2fs/initialize.c). */
#define INODES_ROUND 16

static bool is_as_asked(const struct judge *j, const struct asked *a, int64_t want, int64_t made)
{
	int64_t inodes, per_group;

	switch (a->rounding) {
	case ROUND_NOT:
		break;
	case ROUND_UP:
		return made >= want;
	case ROUND_GROUP:
		return stated_value(j->family, "inodes", j->description, &inodes) &&
		       stated_value(j->family, "inodes_per_group", j->description, &per_group) && per_group > 0 &&
		       llabs(made - want) <= inodes / per_group * INODES_ROUND;
	}
	return made == want;
}

/* One "key=value" of an option, or the letter's own value with an empty key. */
static void one_judge(struct judge *j, const char *letter, const char *key, size_t n_key, const char *value,
                      size_t n_value)
{
	const struct asked *a = asked_find(j->family, letter, key, n_key);
	int64_t want, made, block = 0;
	char name[96], why[256];

	if (strcmp(letter, "-E") == 0 && n_key > 5 && strncmp(key, "lazy_", 5) == 0)
		return; /* not a property of what was made */
	path_format(name, sizeof(name), "%s%s%.*s", letter, n_key ? " " : "", (int)n_key, key);
	stated_value(j->family, "block", j->description, &block);
	if (a == NULL) {
		judge_worsen(j, VERDICT_UNCONFIRMED, path_format(why, sizeof(why), "'%s' cannot be read back", name));
	} else if (!asked_value(value, n_value, a->unit, block, &want) ||
	           !stated_value(j->family, a->name, j->description, &made)) {
		judge_worsen(j, VERDICT_UNCONFIRMED, path_format(why, sizeof(why), "'%s' is not shown", name));
	} else if (!is_as_asked(j, a, want, made)) {
		path_format(why, sizeof(why), "%s: asked for %lld, made with %lld", name, (long long)want,
		            (long long)made);
		judge_worsen(j, VERDICT_CONTRADICTED, why);
	}
}

/* The stripe in units of the stripe unit: xfs' sw=12 means swidth = 12 su. */
static bool stripe_judge(struct judge *j, const char *key, size_t n_key, const char *value, size_t n)
{
	int64_t sunit, swidth, want;
	char why[160];

	if (strcmp(j->family, "xfs") != 0 || n_key != 2 || strncmp(key, "sw", 2) != 0)
		return false;
	if (!asked_value(value, n, UNIT_ONE, 0, &want) || !stated_value("xfs", "sunit", j->description, &sunit) ||
	    !stated_value("xfs", "swidth", j->description, &swidth))
		return false;
	path_format(why, sizeof(why), "-d sw: asked for %lld stripe units, made with %lld", (long long)want,
	            (long long)(sunit == 0 ? 0 : swidth / sunit));
	if (sunit * want != swidth || sunit == 0)
		judge_worsen(j, VERDICT_CONTRADICTED, why);
	return true;
}

/* Features are named by -O: "^has_journal,extent". */
static bool feature_judge(struct judge *j, const char *name, size_t n)
{
	const char *line = strstr(j->description, "Filesystem features:");
	bool is_off = n > 0 && *name == '^', found = false;
	AUTO_FREE char *feature = xstrndup(name + is_off, n - is_off), *features = NULL;
	char why[160];

	if (strcmp(j->family, "ext") != 0 || line == NULL)
		return false;
	if (strcmp(feature, "none") == 0) /* takes away those of the tool's defaults: mke2fs(8) */
		return true;
	features = xstrndup(line, strcspn(line, "\n"));
	for (const char *s = features; !found && (s = strstr(s, feature)) != NULL; s++)
		found = isspace((unsigned char)s[-1]) && strchr(" \t", s[strlen(feature)]) != NULL;
	path_format(why, sizeof(why), "-O %.*s: the filesystem has %s feature '%s'", (int)n, name,
	            found ? "the" : "not the", feature);
	if (found == is_off)
		judge_worsen(j, VERDICT_CONTRADICTED, why);
	return true;
}

static void option_judge(struct judge *j, const char *letter, const char *value)
{
	const char *rest = value;

	while (*rest != '\0') {
		size_t n = strcspn(rest, ","), n_key = strcspn(rest, "=,");
		bool has_key = n_key < n;
		bool is_judged = (strcmp(letter, "-O") == 0 && feature_judge(j, rest, n)) ||
		                 (has_key && stripe_judge(j, rest, n_key, rest + n_key + 1, n - n_key - 1));

		if (!is_judged && has_key)
			one_judge(j, letter, rest, n_key, rest + n_key + 1, n - n_key - 1);
		else if (!is_judged)
			one_judge(j, letter, "", 0, rest, n);
		rest += n;
		rest += *rest == ',';
	}
}

static void effective_add(const char *family, const char *description, struct text *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(stated); i++) {
		int64_t v;

		if (strcmp(stated[i].family, family) == 0 && stated[i].is_shown &&
		    stated_value(family, stated[i].name, description, &v))
			text_printf(ret, "%s%s=%lld", ret->n > 0 ? " " : "", stated[i].name, (long long)v);
	}
}

enum verdict geometry_verdict(const struct format *f, const char *description, struct text *ret_effective,
                              struct text *ret_why)
{
	struct judge j = { .family = family_of(f->type), .description = description, .worst = VERDICT_CONFIRMED, .why = ret_why };

	effective_add(j.family, description, ret_effective);
	if (f->mkfs == NULL || f->mkfs[0] == NULL)
		return VERDICT_IMPLIED;
	for (char **word = f->mkfs; *word != NULL; word++) {
		bool has_value = word[1] != NULL && word[1][0] != '-';

		if (has_value)
			option_judge(&j, word[0], word[1]);
		else
			one_judge(&j, word[0], "", 0, "", 0);
		word += has_value;
	}
	return j.worst;
}

/* A warning of mkfs takes the certainty away, even if all that can be read back is right. */
enum verdict format_verdict(struct worker *w, struct text *ret_effective, struct text *ret_why)
{
	const struct claimed *c = &w->claimed;
	struct format f;
	enum verdict v;

	if (cell_format(w->matrix, w->cell, w->cell_arena, &f, NULL) < 0 || strcmp(f.type, "none") == 0 ||
	    c->kind == TARGET_DIRECTORY)
		return VERDICT_NONE;
	v = geometry_verdict(&f, c->description == NULL ? "" : c->description, ret_effective, ret_why);
	if (c->warning != NULL && v < VERDICT_UNCONFIRMED) {
		text_clear(ret_why);
		text_printf(ret_why, "mkfs warns: %s", c->warning);
		return VERDICT_UNCONFIRMED;
	}
	return v;
}
