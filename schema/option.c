/* SPDX-License-Identifier: MIT
 *
 * Checks mkfs and mount options against the tables and brings them into one canonical form; see option.h.  The rows
 * are in option_mkfs_table.c and option_mount_table.c, the grammars of values in option_value.c.  Pure: it knows
 * neither the machine nor what a tool would say; that a tool refuses a combination of allowed options is found out by
 * the cell.
 */
#include "schema/option.h"

#include <stdlib.h>
#include <string.h>

#include "schema/base/text.h"
#include "schema/option_table.h"

static const struct option_family *family_find(const char *name)
{
	for (const struct option_family *f = option_families; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

bool option_family_known(const char *filesystem)
{
	return family_find(filesystem) != NULL;
}

/* ---- a set of keys, of each group the last one ---- */

struct chosen {
	const char *key, *group, *text; /* text: "key" or "key=value" */
};
struct choice {
	struct chosen *at; /* arena; room for as many as were given */
	size_t n;
};

/* "noatime" and "relatime" are of one group, "barrier" and "nobarrier", too. */
static const char *group_of(const struct option_key *key)
{
	const char *name = key->same != NULL ? key->same : key->key;

	if (key->group != NULL)
		return key->group;
	return text_starts(name, "no_") ? name + 3 : text_starts(name, "no") ? name + 2 : name;
}

static void choice_put(struct choice *c, const struct option_key *key, const char *value, struct arena *a)
{
	const char *name = key->same != NULL ? key->same : key->key, *group = group_of(key);
	size_t i = 0;

	while (i < c->n && strcmp(c->at[i].group, group) != 0)
		i++;
	c->at[i] = (struct chosen){
		.key = name, .group = group, .text = value != NULL ? arena_printf(a, "%s=%s", name, value) : name
	};
	c->n += i == c->n;
}

static int chosen_compare(const void *x, const void *y)
{
	return strcmp(((const struct chosen *)x)->text, ((const struct chosen *)y)->text);
}

static const char *choice_join(struct choice *c, struct arena *a)
{
	AUTO_TEXT struct text joined = { 0 };

	if (c->n > 1)
		qsort(c->at, c->n, sizeof(*c->at), chosen_compare);
	for (size_t i = 0; i < c->n; i++)
		text_printf(&joined, "%s%s", i > 0 ? "," : "", c->at[i].text);
	return arena_strdup(a, text_str(&joined));
}

static struct choice choice_make(struct arena *a, size_t room)
{
	return (struct choice){ .at = arena_array(a, room + 1, sizeof(struct chosen)) };
}

/* ---- mkfs ---- */

static int sub_refused(const struct option_family *f, const struct option_letter *l, const char *key, struct err *e)
{
	AUTO_TEXT struct text list = { 0 };

	for (const struct option_key *k = l->keys; k->key != NULL; k++)
		option_list_add(&list, k->key);
	err_set(e, ERR_USAGE, "'%s %s' is not allowed for %s", l->letter.key, key, f->name);
	return err_hint(e, "allowed with %s are %s", l->letter.key, text_str(&list));
}

/* "su=64k,sw=12" */
static int sub_value(const struct option_family *f, const struct option_letter *l, const char *value, struct arena *a,
                     const char **ret, struct err *e)
{
	char *rest = arena_strdup(a, value), *item;
	struct choice choice = choice_make(a, strlen(value) + 1);

	while ((item = strsep(&rest, ",")) != NULL) {
		const struct option_key *key = l->keys;
		char *given = item;
		const char *canonical;

		strsep(&given, "="); /* item ends at the sign; given is what follows, or NULL */
		while (key->key != NULL && strcmp(key->key, item) != 0)
			key++;
		if (key->key == NULL)
			return sub_refused(f, l, item, e);
		if (option_value(key, given, a, &canonical, e) < 0)
			return err_in(e, "'%s %s' for %s", l->letter.key, item, f->name);
		choice_put(&choice, key, canonical, a);
	}
	*ret = choice_join(&choice, a);
	return 0;
}

static int letter_refused(const struct option_family *f, const char *word, struct err *e)
{
	AUTO_TEXT struct text list = { 0 };

	for (const struct option_letter *l = f->letters; l->letter.key != NULL; l++)
		option_list_add(&list, l->letter.key);
	if (word[0] != '-')
		err_set(e, ERR_USAGE, "'%s' is no option of %s: a bare word could name a file or another device", word,
		        f->tool);
	else
		err_set(e, ERR_USAGE, "'%s' is not allowed for %s", word, f->name);
	return err_hint(e, "allowed are %s", text_str(&list));
}

static const struct option_letter *letter_find(const struct option_family *f, const char *word)
{
	for (const struct option_letter *l = f->letters; l->letter.key != NULL; l++)
		if (strncmp(word, l->letter.key, 2) == 0 && (word[2] == '\0' || l->letter.grammar != VALUE_NONE))
			return l;
	return NULL;
}

#define LETTERS_MAX 16

/* Collects what was given for each letter: lists add up, of anything else the last counts. */
static int letters_collect(const struct option_family *f, const char *const *words, size_t n, struct arena *a,
                           const char *given[LETTERS_MAX], struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const struct option_letter *l = letter_find(f, words[i]);
		const char *value = "";
		size_t at;

		if (l == NULL)
			return letter_refused(f, words[i], e);
		at = (size_t)(l - f->letters);
		if (l->letter.grammar != VALUE_NONE && words[i][2] != '\0')
			value = words[i] + 2;
		else if (l->letter.grammar != VALUE_NONE && ++i == n)
			return err_set(e, ERR_USAGE, "'%s' of %s needs a value", l->letter.key, f->tool);
		else if (l->letter.grammar != VALUE_NONE)
			value = words[i];
		if (given[at] != NULL && (l->letter.grammar == VALUE_SUB || l->letter.grammar == VALUE_FEATURES))
			value = arena_printf(a, "%s,%s", given[at], value);
		given[at] = value;
	}
	return 0;
}

static int letter_value(const struct option_family *f, const struct option_letter *l, const char *given,
                        struct arena *a, const char **ret, struct err *e)
{
	*ret = NULL;
	if (l->letter.grammar == VALUE_NONE)
		return 0;
	if (l->letter.grammar == VALUE_SUB)
		return sub_value(f, l, given, a, ret, e);
	if (option_value(&l->letter, given, a, ret, e) < 0)
		return err_in(e, "'%s' for %s", l->letter.key, f->name);
	return 0;
}

static int family_need(const char *filesystem, size_t n_words, const char *what, const struct option_family **ret,
                       struct err *e)
{
	*ret = family_find(filesystem);
	if (*ret == NULL && n_words > 0)
		return err_set(e, ERR_USAGE, "filesystem '%s' takes no %s options", filesystem, what);
	return 0;
}

int option_mkfs(const char *filesystem, const char *const *words, size_t n, struct arena *a, const char **ret_canonical,
                char ***ret_words, struct err *e)
{
	const char *given[LETTERS_MAX] = { NULL };
	const struct option_family *f;
	AUTO_TEXT struct text canonical = { 0 };
	char **argv = arena_array(a, 2 * LETTERS_MAX + 1, sizeof(*argv));
	size_t argc = 0;

	if (family_need(filesystem, n, "mkfs", &f, e) < 0 ||
	    (f != NULL && letters_collect(f, words, n, a, given, e) < 0))
		return -1;
	for (size_t i = 0; f != NULL && f->letters[i].letter.key != NULL; i++) {
		const char *value;

		if (given[i] == NULL)
			continue;
		if (letter_value(f, &f->letters[i], given[i], a, &value, e) < 0)
			return -1;
		text_printf(&canonical, "%s%s%s%s", argc > 0 ? " " : "", f->letters[i].letter.key,
		            value != NULL ? " " : "", value != NULL ? value : "");
		argv[argc++] = arena_strdup(a, f->letters[i].letter.key);
		if (value != NULL)
			argv[argc++] = arena_strdup(a, value);
	}
	*ret_canonical = arena_strdup(a, text_str(&canonical));
	*ret_words = argv;
	return 0;
}

/* ---- mount ---- */

static const struct option_key *mount_key_find(const struct option_family *f, const char *name)
{
	for (const struct option_key *k = option_mount_keys; k->key != NULL; k++)
		if ((k->families & f->bit) != 0 && strcmp(k->key, name) == 0)
			return k;
	return NULL;
}

static int mount_refused(const struct option_family *f, const char *name, struct err *e)
{
	const char *names[128], *nearest;
	size_t n = 0;

	err_set(e, ERR_USAGE, "the mount option '%s' is not allowed for %s", name, f->name);
	if (strcmp(name, "defaults") == 0 || strcmp(name, "nosuid") == 0 || strcmp(name, "nodev") == 0)
		return err_hint(e, "leave it out: %s", name[0] == 'd' ? "it asks for nothing" : "every mount has it");
	for (const struct option_key *k = option_mount_keys; k->key != NULL && n < ARRAY_SIZE(names); k++)
		if ((k->families & f->bit) != 0)
			names[n++] = k->key;
	nearest = text_nearest(name, names, n);
	if (nearest != NULL)
		return err_hint(e, "did you mean '%s'?", nearest);
	return err_hint(e, "iosweep-plan(5) lists the mount options of each filesystem");
}

/* One "key" or "key=value". */
static int mount_item(const struct option_family *f, char *item, struct choice *choice, struct arena *a, struct err *e)
{
	const struct option_key *key;
	const char *value;
	char *given = item;

	/* "barrier=0" and "barrier=1" are the numbers of nobarrier and barrier, Documentation/admin-guide/ext4.rst */
	if (strcmp(item, "barrier=0") == 0 || strcmp(item, "barrier=1") == 0)
		given = item = arena_strdup(a, item[8] == '0' ? "nobarrier" : "barrier");
	strsep(&given, "=");
	key = mount_key_find(f, item);
	if (key == NULL)
		return mount_refused(f, item, e);
	if (option_value(key, given, a, &value, e) < 0)
		return err_in(e, "the mount option '%s' for %s", item, f->name);
	choice_put(choice, key, value, a);
	return 0;
}

int option_mount(const char *filesystem, const char *const *words, size_t n, struct arena *a,
                 const char **ret_canonical, char ***ret_options, struct err *e)
{
	const struct option_family *f;
	struct choice choice;
	size_t room = 1;
	char **options;

	for (size_t i = 0; i < n; i++)
		room += strlen(words[i]) + 1;
	choice = choice_make(a, room);
	if (family_need(filesystem, n, "mount", &f, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		char *rest = arena_strdup(a, words[i]), *item;

		while ((item = strsep(&rest, ",")) != NULL)
			if (mount_item(f, item, &choice, a, e) < 0)
				return -1;
	}
	*ret_canonical = choice_join(&choice, a);
	options = arena_array(a, choice.n + 1, sizeof(*options));
	for (size_t i = 0; i < choice.n; i++)
		options[i] = arena_strdup(a, choice.at[i].text);
	*ret_options = options;
	return 0;
}
