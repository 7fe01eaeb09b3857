/* SPDX-License-Identifier: MIT
 *
 * The parts of a plan that are about options: named filesystems under define:, option words, and the ${...} of the
 * geometry inside them.
 */
#include <string.h>

#include "schema/base/text.h"
#include "schema/option.h"
#include "schema/plan_private.h"

/* ---- words ---- */

char **plan_words(struct plan_reader *r, const struct node *node, const char *key)
{
	char **words;
	struct err e;
	size_t n;

	if (node->kind == NODE_SCALAR) {
		if (words_split(r->a, strcmp(node->text, KERNEL_DEFAULT) == 0 ? "" : node->text, &words, &n, &e) < 0) {
			plan_fault_err(r, node, key, &e);
			return NULL;
		}
		return words;
	}
	if (node->kind == NODE_MAP) {
		PLAN_FAULT(r, node, "'%s' takes option words, as a string or a list, not a map", key);
		return NULL;
	}
	words = arena_array(r->a, node->n + 1, sizeof(*words));
	for (size_t i = 0; i < node->n; i++) {
		if (node->at[i]->kind != NODE_SCALAR || node->at[i]->text[0] == '\0') {
			PLAN_FAULT(r, node->at[i], "a word of '%s' is a text, not %s", key,
			           node->at[i]->kind == NODE_SCALAR ? "nothing" : node_kind_name(node->at[i]));
			return NULL;
		}
		words[i] = arena_strdup(r->a, node->at[i]->text);
	}
	return words;
}

/* ---- ${...} ---- */

/* Block size of the filesystem that these words make: "-b 1024" or "-b1024", else 4096 (mke2fs.conf(5) of Debian). */
static int64_t words_block_bytes(char *const *words)
{
	int64_t bytes = 4096, v;

	for (size_t i = 0; words[i] != NULL; i++) {
		const char *value = words[i][0] != '-' || words[i][1] != 'b' ? NULL :
		                    words[i][2] != '\0' ? words[i] + 2 : words[i + 1];

		if (value != NULL && size_parse(value, SIZE_BARE, &v, NULL) == 0 && v > 0)
			bytes = v;
	}
	return bytes;
}

static const struct variable {
	const char *name;
	bool needs_unit, needs_disks; /* of the geometry */
} variables[] = {
	{ "stripe_unit", true, false },
	{ "data_disks", false, true },
	{ "stride", true, false },
	{ "stripe_width", true, true },
};

static const struct variable *variable_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (strcmp(variables[i].name, name) == 0)
			return &variables[i];
	return NULL;
}

/* Whether the geometry has what the variable is made of. */
static int variable_check(const struct plan *p, const char *name, struct err *e)
{
	const struct variable *v = variable_find(name);

	if (v == NULL) {
		err_set(e, ERR_USAGE, "'${%s}' is not known", name);
		return err_hint(e,
		                "there are ${stripe_unit} ${stripe_unit:KiB} ${data_disks} ${stride} ${stripe_width}");
	}
	if (v->needs_unit && p->stripe_unit_bytes == 0) {
		err_set(e, ERR_USAGE, "'${%s}' needs the stripe unit", name);
		return err_hint(e, "add 'geometry: {stripe_unit: 64KiB, data_disks: 12}' with the layout's numbers");
	}
	if (v->needs_disks && p->data_disks == 0) {
		err_set(e, ERR_USAGE, "'${%s}' needs the number of data disks", name);
		return err_hint(e, "add 'data_disks: 12' with the layout's number to 'geometry'");
	}
	return 0;
}

/* The number behind ${name}, before its unit. */
static int variable_value(const struct plan *p, const char *name, int64_t block_bytes, int64_t *ret, struct err *e)
{
	if (variable_check(p, name, e) < 0)
		return -1;
	if (strcmp(name, "data_disks") == 0) {
		*ret = p->data_disks;
		return 0;
	}
	if (strcmp(name, "stripe_unit") == 0) {
		*ret = p->stripe_unit_bytes;
		return 0;
	}
	if (p->stripe_unit_bytes % block_bytes != 0)
		return err_set(e, ERR_USAGE, "'${%s}' is no whole number of blocks of %lld bytes", name,
		               (long long)block_bytes);
	*ret = p->stripe_unit_bytes / block_bytes * (strcmp(name, "stripe_width") == 0 ? p->data_disks : 1);
	return 0;
}

/* inner: what stands between ${ and }. */
static int variable_expand(const struct plan *p, char *inner, int64_t block_bytes, struct text *ret, struct err *e)
{
	static const struct { const char *unit; int64_t bytes; } units[] = {
		{ "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 }
	};
	char *unit = strchr(inner, ':');
	int64_t v;

	if (unit != NULL)
		*unit++ = '\0';
	if (variable_value(p, inner, block_bytes, &v, e) < 0)
		return -1;
	if (unit == NULL) {
		text_printf(ret, "%lld", (long long)v);
		return 0;
	}
	if (strcmp(inner, "stripe_unit") != 0)
		return err_set(e, ERR_USAGE, "'${%s:%s}' has a unit, and '%s' is no size", inner, unit, inner);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].unit, unit) != 0)
			continue;
		if (v % units[i].bytes != 0)
			return err_set(e, ERR_USAGE, "'${%s:%s}' is no whole number", inner, unit);
		text_printf(ret, "%lld", (long long)(v / units[i].bytes));
		return 0;
	}
	err_set(e, ERR_USAGE, "'${%s:%s}' has an unknown unit", inner, unit);
	return err_hint(e, "the units are B KiB MiB GiB");
}

static int word_expand(const struct plan *p, const char *word, int64_t block_bytes, struct arena *a, char **ret,
                       struct err *e)
{
	AUTO_TEXT struct text out = { 0 };
	const char *open;

	while ((open = strstr(word, "${")) != NULL) {
		const char *close = strchr(open, '}');
		AUTO_FREE char *inner = close != NULL ? xstrndup(open + 2, (size_t)(close - open) - 2) : NULL;

		if (close == NULL)
			return err_set(e, ERR_USAGE, "'%s' is not closed with '}'", open);
		text_add_n(&out, word, (size_t)(open - word));
		if (variable_expand(p, inner, block_bytes, &out, e) < 0)
			return -1;
		word = close + 1;
	}
	text_add(&out, word);
	*ret = arena_strdup(a, text_str(&out));
	return 0;
}

int plan_expand(const struct plan *p, char *const *words, struct arena *a, char ***ret, size_t *ret_n, struct err *e)
{
	int64_t block_bytes = words_block_bytes(words);
	size_t n = 0;
	char **out;

	while (words[n] != NULL)
		n++;
	out = arena_array(a, n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		if (word_expand(p, words[i], block_bytes, a, &out[i], e) < 0)
			return -1;
	*ret = out;
	*ret_n = n;
	return 0;
}

/* ---- define: ---- */

static const char *const types[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", "none" };

const struct filesystem *plan_find_filesystem(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_filesystems; i++)
		if (strcmp(p->filesystems[i].name, name) == 0)
			return &p->filesystems[i];
	return NULL;
}

/* The options of a definition against its own family, so that the fault is reported where it stands. */
static void options_check(struct plan_reader *r, const struct node *node, const struct filesystem *f, bool is_mount)
{
	const char *what = is_mount ? "mount" : "mkfs", *canonical;
	char **words, **out;
	struct err e;
	size_t n;
	int rc;

	if (plan_expand(r->p, is_mount ? f->mount : f->mkfs, r->a, &words, &n, &e) < 0) {
		plan_fault_err(r, node, what, &e);
		return;
	}
	rc = is_mount ? option_mount(f->type, (const char *const *)words, n, r->a, &canonical, &out, &e)
	              : option_mkfs(f->type, (const char *const *)words, n, r->a, &canonical, &out, &e);
	if (rc < 0)
		plan_fault_err(r, node, what, &e);
}

static const char *type_read(struct plan_reader *r, const struct node *node)
{
	const char *type = plan_scalar(r, node, "type", "one of ext2 ext3 ext4 xfs btrfs none");

	if (type == NULL || option_family_known(type) || strcmp(type, "none") == 0)
		return type;
	PLAN_FAULT(r, node, "the type '%s' is not known: write one of ext2 ext3 ext4 xfs btrfs none", type);
	return NULL;
}

/* The words of mkfs: or mount:, none if it is absent; NULL after a fault. */
static char **options_read(struct plan_reader *r, const struct node *map, const char *key)
{
	const struct node *node = node_get(map, key);

	return node != NULL ? plan_words(r, node, key) : arena_array(r->a, 1, sizeof(char *));
}

static void filesystem_add(struct plan *p, const struct filesystem *f)
{
	const struct filesystem *bare = plan_find_filesystem(p, f->name);

	p->filesystems[bare != NULL ? (size_t)(bare - p->filesystems) : p->n_filesystems++] = *f;
}

static void filesystem_read(struct plan_reader *r, const struct node *key, const struct node *node)
{
	static const char *const known[] = { "type", "mkfs", "mount", NULL };
	struct filesystem f = { .name = plan_name(r, key, "filesystem"), .line = key->line, .column = key->column };

	if (node->kind != NODE_MAP) {
		PLAN_FAULT(r, node, "a filesystem is a map with 'type', and 'mkfs' and 'mount' where needed");
		return;
	}
	node_check_keys(node, known, "a filesystem", r->d);
	if (node_get(node, "type") == NULL) {
		if (!node_misspells(node, known, "type"))
			PLAN_FAULT(r, node, "a filesystem needs 'type': one of ext2 ext3 ext4 xfs btrfs none");
		return;
	}
	f.type = type_read(r, node_get(node, "type"));
	f.mkfs = options_read(r, node, "mkfs");
	f.mount = options_read(r, node, "mount");
	if (f.type != NULL && f.mkfs != NULL && f.mkfs[0] != NULL)
		options_check(r, node_get(node, "mkfs"), &f, false);
	if (f.type != NULL && f.mount != NULL && f.mount[0] != NULL)
		options_check(r, node_get(node, "mount"), &f, true);
	if (f.name != NULL && f.type != NULL && f.mkfs != NULL && f.mount != NULL)
		filesystem_add(r->p, &f);
}

/* node NULL: the bare types alone, which a definition of the same name replaces. */
void plan_read_define(struct plan_reader *r, const struct node *node)
{
	static const char *const known[] = { "filesystem", NULL };
	const struct node *list = node != NULL ? node_get(node, "filesystem") : NULL;
	size_t room = ARRAY_SIZE(types) + (list != NULL && list->kind == NODE_MAP ? list->n : 0);
	struct plan *p = r->p;

	p->filesystems = arena_array(r->a, room, sizeof(*p->filesystems));
	p->n_filesystems = 0;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		char **none = arena_array(r->a, 1, sizeof(*none));

		p->filesystems[p->n_filesystems++] = (struct filesystem){
			.name = types[i], .type = types[i], .mkfs = none, .mount = none
		};
	}
	if (node == NULL)
		return;
	if (node->kind != NODE_MAP || (list != NULL && list->kind != NODE_MAP)) {
		PLAN_FAULT(r, node, "'define' takes 'filesystem:' with a map of names");
		return;
	}
	node_check_keys(node, known, "define", r->d);
	for (size_t i = 0; list != NULL && i < list->n; i++)
		filesystem_read(r, list->keys[i], list->at[i]);
}
