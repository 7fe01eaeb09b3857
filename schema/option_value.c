/* SPDX-License-Identifier: MIT
 *
 * The grammars of option values: each value is checked and written in one canonical form.  Whatever a grammar does not
 * describe is refused, so nothing that a plan says reaches a tool unread.
 */
#include <stdlib.h>
#include <string.h>

#include "schema/base/text.h"
#include "schema/option_table.h"

#define LIST_LENGTH 260 /* bytes of a list of names in a hint, which has room for some more */

void option_list_add(struct text *list, const char *word)
{
	if (list->n < LIST_LENGTH)
		text_printf(list, "%s%s%s", list->n > 0 ? " " : "", word,
		            list->n + strlen(word) < LIST_LENGTH ? "" : " ...");
}

static int words_hint(const char *const *words, const char *word, struct err *e)
{
	AUTO_TEXT struct text list = { 0 };
	const char *nearest;
	size_t n = 0;

	for (; words[n] != NULL; n++)
		option_list_add(&list, words[n]);
	nearest = text_nearest(word, words, n);
	if (nearest != NULL && n > 6)
		return err_hint(e, "did you mean '%s'?", nearest);
	return err_hint(e, "allowed are %s", text_str(&list));
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

static int value_number(const struct option_key *key, const char *value, struct arena *a, const char **ret,
                        struct err *e)
{
	int64_t v;

	if (integer_parse(value, key->min, key->max, &v) < 0)
		return err_set(e, ERR_USAGE, "'%s' is not a whole number of %lld to %lld", value, (long long)key->min,
		               (long long)key->max);
	*ret = arena_printf(a, "%lld", (long long)v);
	return 0;
}

static int value_decimal(const struct option_key *key, const char *value, struct arena *a, const char **ret,
                         struct err *e)
{
	char buf[SIZE_TEXT];
	double v;

	if (strspn(value, "0123456789.") != strlen(value) || number_parse(value, &v) < 0 || v < (double)key->min ||
	    v > (double)key->max)
		return err_set(e, ERR_USAGE, "'%s' is not a number of %lld to %lld", value, (long long)key->min,
		               (long long)key->max);
	*ret = arena_strdup(a, number_format(v, buf));
	return 0;
}

static int value_size(const struct option_key *key, const char *value, struct arena *a, const char **ret, struct err *e)
{
	char low[SIZE_TEXT], high[SIZE_TEXT];
	int64_t v;

	if (size_parse(value, SIZE_BARE, &v, e) < 0)
		return -1;
	if (v < key->min || v > key->max)
		return err_set(e, ERR_USAGE, "'%s' is not a size of %s to %s", value, size_format(key->min, low),
		               size_format(key->max, high));
	*ret = arena_printf(a, "%lld", (long long)v);
	return 0;
}

static int value_word(const struct option_key *key, const char *value, struct arena *a, const char **ret, struct err *e)
{
	if (!is_one_of(value, key->words)) {
		err_set(e, ERR_USAGE, "'%s' is not allowed", value);
		return words_hint(key->words, value, e);
	}
	*ret = arena_strdup(a, value);
	return 0;
}

static int value_compress(const struct option_key *key, const char *value, struct arena *a, const char **ret,
                          struct err *e)
{
	const char *colon = strchr(value, ':');
	int64_t level;
	int rc = -1;

	if (colon == NULL)
		return value_word(key, value, a, ret, e);
	if (text_starts(value, "zlib:"))
		rc = integer_parse(colon + 1, 1, 9, &level);
	else if (text_starts(value, "zstd:"))
		rc = integer_parse(colon + 1, -15, 15, &level);
	if (rc < 0) {
		err_set(e, ERR_USAGE, "'%s' is not a compression", value);
		return err_hint(e, "with a level: zlib:1 to zlib:9, zstd:-15 to zstd:15");
	}
	*ret = arena_printf(a, "%.4s:%lld", value, (long long)level);
	return 0;
}

static const char *feature_name(const char *feature)
{
	return feature + (*feature == '^');
}

/* "none" clears all others: it stays in front. */
static int feature_compare(const void *x, const void *y)
{
	const char *a = feature_name(*(const char *const *)x), *b = feature_name(*(const char *const *)y);
	bool a_none = strcmp(a, "none") == 0, b_none = strcmp(b, "none") == 0;

	return a_none != b_none ? (int)b_none - (int)a_none : strcmp(a, b);
}

/* Of one feature the last word counts. */
static void feature_put(const char **list, size_t *n, const char *item)
{
	size_t i = 0;

	while (i < *n && strcmp(feature_name(list[i]), feature_name(item)) != 0)
		i++;
	list[i] = item;
	*n += i == *n;
}

static int value_features(const struct option_key *key, const char *value, struct arena *a, const char **ret,
                          struct err *e)
{
	char *rest = arena_strdup(a, value), *item;
	const char **list = arena_array(a, strlen(value) + 1, sizeof(*list));
	AUTO_TEXT struct text joined = { 0 };
	size_t n = 0;

	while ((item = strsep(&rest, ",")) != NULL) {
		if (!is_one_of(feature_name(item), key->words)) {
			err_set(e, ERR_USAGE, "the feature '%s' is not allowed", feature_name(item));
			return words_hint(key->words, feature_name(item), e);
		}
		if (strcmp(feature_name(item), "extents") == 0) /* mke2fs knows both */
			item[strlen(item) - 1] = '\0';
		feature_put(list, &n, item);
	}
	qsort(list, n, sizeof(*list), feature_compare);
	for (size_t i = 0; i < n; i++)
		text_printf(&joined, "%s%s", i > 0 ? "," : "", list[i]);
	*ret = arena_strdup(a, text_str(&joined));
	return 0;
}

int option_value(const struct option_key *key, const char *value, struct arena *a, const char **ret, struct err *e)
{
	if (key->grammar == VALUE_NONE && value != NULL)
		return err_set(e, ERR_USAGE, "it takes no value, and '%s' was given", value);
	if (key->grammar != VALUE_NONE && key->grammar != VALUE_OPTIONAL && key->grammar != VALUE_COMPRESS &&
	    value == NULL)
		return err_set(e, ERR_USAGE, "it takes a value");
	*ret = NULL;
	if (value == NULL)
		return 0;
	switch (key->grammar) {
	case VALUE_NUMBER:
		return value_number(key, value, a, ret, e);
	case VALUE_DECIMAL:
		return value_decimal(key, value, a, ret, e);
	case VALUE_SIZE:
		return value_size(key, value, a, ret, e);
	case VALUE_WORD:
	case VALUE_OPTIONAL:
		return value_word(key, value, a, ret, e);
	case VALUE_COMPRESS:
		return value_compress(key, value, a, ret, e);
	case VALUE_FEATURES:
		return value_features(key, value, a, ret, e);
	case VALUE_NONE:
	case VALUE_SUB:
		break;
	}
	return 0;
}
