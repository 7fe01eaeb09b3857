/* SPDX-License-Identifier: MIT
 *
 * The decoder of json_read.h: recursive descent, one pass, some 200 MB/s.
 */
#include "schema/json_read.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct reader {
	struct arena *arena;
	const char *s, *end;
	bool is_cut; /* failed because the text ended */
};

static struct json *value_read(struct reader *r, int depth);

static void blanks_skip(struct reader *r)
{
	while (r->s < r->end && (*r->s == ' ' || *r->s == '\n' || *r->s == '\t' || *r->s == '\r'))
		r->s++;
}

/* The next character after blanks, or 0 at the end of the text. */
static char next_peek(struct reader *r)
{
	blanks_skip(r);
	if (r->s < r->end)
		return *r->s;
	r->is_cut = true;
	return '\0';
}

static struct json *json_new(struct reader *r, enum json_kind kind)
{
	struct json *j = arena_alloc(r->arena, sizeof(*j));

	j->kind = kind;
	return j;
}

static int hex4_read(const char *s, uint32_t *ret)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		int c = (unsigned char)s[i];

		if (!isxdigit(c))
			return -1;
		v = v * 16 + (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	*ret = v;
	return 0;
}

static char *utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* One \u escape at p (after the u); a pair of surrogates is one character.  Returns the bytes used, or -1. */
static int unicode_read(const char *p, const char *end, uint32_t *ret)
{
	uint32_t low;

	if (end - p < 4 || hex4_read(p, ret) < 0)
		return -1;
	if (*ret < 0xd800 || *ret > 0xdfff)
		return 4;
	if (*ret > 0xdbff || end - p < 10 || p[4] != '\\' || p[5] != 'u' || hex4_read(p + 6, &low) < 0 ||
	    low < 0xdc00 || low > 0xdfff)
		return -1;
	*ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
	return 10;
}

/* Decodes what stands between the quotes; NULL if an escape is none. */
static char *string_decode(struct reader *r, const char *s, const char *end, size_t *ret_len)
{
	static const char escapes[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	char *buf = arena_alloc(r->arena, (size_t)(end - s) + 1), *out = buf;

	while (s < end) {
		const char *known;
		uint32_t c;
		int used;

		if (*s != '\\') {
			*out++ = *s++;
			continue;
		}
		s++;
		if (*s != 'u') {
			known = strchr(escapes, *s);
			if (known == NULL || *s == '\0')
				return NULL;
			*out++ = means[known - escapes];
			s++;
			continue;
		}
		used = unicode_read(s + 1, end, &c);
		if (used < 0)
			return NULL;
		out = utf8_put(out, c);
		s += 1 + used;
	}
	*ret_len = (size_t)(out - buf);
	*out = '\0';
	return buf;
}

/* A string at the quote; NULL if it is none. */
static const char *string_read(struct reader *r, size_t *ret_len)
{
	const char *s = ++r->s;
	char *text;

	while (r->s < r->end && *r->s != '"') {
		if ((unsigned char)*r->s < 0x20)
			return NULL;
		r->s += *r->s == '\\' && r->s + 1 < r->end ? 2 : 1;
	}
	if (r->s >= r->end) {
		r->is_cut = true;
		return NULL;
	}
	text = string_decode(r, s, r->s, ret_len);
	r->s++;
	return text;
}

/* Adds children until the closing bracket. */
static struct json *container_read(struct reader *r, int depth, bool is_object)
{
	struct json *j = json_new(r, is_object ? JSON_OBJECT : JSON_LIST), **tail = &j->first;
	const char close = is_object ? '}' : ']';

	r->s++;
	if (next_peek(r) == close) {
		r->s++;
		return j;
	}
	for (;;) {
		const char *key = NULL;
		size_t len;
		char c;

		if (is_object) {
			if (next_peek(r) != '"' || (key = string_read(r, &len)) == NULL || next_peek(r) != ':')
				return NULL;
			r->s++;
		}
		*tail = value_read(r, depth + 1);
		if (*tail == NULL)
			return NULL;
		(*tail)->key = key;
		tail = &(*tail)->next;
		j->n++;
		c = next_peek(r);
		if (c != ',' && c != close)
			return NULL;
		r->s++;
		if (c == close)
			return j;
	}
}

static bool word_is_number(const char *s, size_t n)
{
	static const char *const others[] = { "nan", "inf", "infinity" };

	if (n > 0 && (*s == '-' || *s == '+'))
		s++, n--;
	if (n > 0 && isdigit((unsigned char)*s))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strlen(others[i]) == n && strncasecmp(s, others[i], n) == 0)
			return true;
	return false;
}

/* Numbers and the three words. */
static struct json *word_read(struct reader *r)
{
	static const struct {
		const char *word;
		enum json_kind kind;
	} words[] = { { "null", JSON_NULL }, { "false", JSON_FALSE }, { "true", JSON_TRUE } };
	const char *s = r->s;
	struct json *j;
	size_t n;

	while (r->s < r->end && (isalnum((unsigned char)*r->s) || strchr("+-.", *r->s) != NULL) && *r->s != '\0')
		r->s++;
	n = (size_t)(r->s - s);
	if (r->s == r->end)
		r->is_cut = true; /* more of the word may have followed */
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == n && memcmp(words[i].word, s, n) == 0)
			return json_new(r, words[i].kind);
	if (!word_is_number(s, n))
		return NULL;
	j = json_new(r, JSON_NUMBER);
	j->s = s;
	j->len = n;
	return j;
}

static struct json *value_read(struct reader *r, int depth)
{
	char c = next_peek(r);
	struct json *j;

	if (depth > JSON_MAX_DEPTH)
		return NULL;
	if (c == '{' || c == '[')
		return container_read(r, depth, c == '{');
	if (c != '"')
		return word_read(r);
	j = json_new(r, JSON_STRING);
	j->s = string_read(r, &j->len);
	return j->s != NULL ? j : NULL;
}

enum json_end json_decode(struct arena *a, const char *s, size_t n, struct json **ret, size_t *ret_used)
{
	struct reader r = { .arena = a, .s = s, .end = s + n };
	struct json *j = value_read(&r, 0);

	if (j == NULL)
		return r.is_cut ? JSON_CUT : JSON_BROKEN;
	*ret = j;
	*ret_used = (size_t)(r.s - s);
	return JSON_WHOLE;
}

/* "[3]" and "[ ]" in a message are no documents. */
static bool json_is_document(const struct json *j)
{
	if (j->kind == JSON_OBJECT)
		return j->n > 0;
	for (const struct json *item = j->first; item != NULL; item = item->next)
		if (item->kind == JSON_OBJECT)
			return true;
	return false;
}

/* Brackets that begin no document before the search gives up: each may cost a pass over all that follows. */
#define BROKEN_MAX 1000

void json_find(struct arena *a, const char *s, size_t n, struct json_documents *ret)
{
	size_t n_found = 0, cap = 0, used = 0, n_broken = 0;
	AUTO_FREE struct json **found = NULL;

	*ret = (struct json_documents){ 0 };
	for (size_t i = 0; i < n && n_broken < BROKEN_MAX; i++) {
		struct json *j;
		enum json_end end;

		if (s[i] != '{' && s[i] != '[')
			continue;
		end = json_decode(a, s + i, n - i, &j, &used);
		if (end == JSON_CUT) {
			ret->is_cut = true;
			break; /* everything behind it is inside it */
		}
		if (end == JSON_BROKEN) {
			n_broken++;
			continue;
		}
		i += used - 1;
		if (!json_is_document(j))
			continue;
		ARRAY_GROW(found, n_found, cap);
		found[n_found++] = j;
	}
	ret->at = arena_array(a, n_found, sizeof(*found));
	if (found != NULL)
		memcpy(ret->at, found, n_found * sizeof(*found));
	ret->n = n_found;
}
