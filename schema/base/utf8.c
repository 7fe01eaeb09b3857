/* SPDX-License-Identifier: MIT
 *
 * What of a text is UTF-8, and what of it a terminal may be given; see text.h.
 */
#include <stdint.h>
#include <string.h>

#include "schema/base/mem.h"
#include "schema/base/text.h"

/* RFC 3629, section 4: the range of the second byte for each first byte, so that overlong forms, surrogates and
 * code points above U+10FFFF are out. */
static const struct {
	unsigned char first, last, low, high;
	int more;
} utf8_heads[] = {
	{ 0x00, 0x7f, 0x00, 0x00, 0 }, { 0xc2, 0xdf, 0x80, 0xbf, 1 }, { 0xe0, 0xe0, 0xa0, 0xbf, 2 },
	{ 0xe1, 0xec, 0x80, 0xbf, 2 }, { 0xed, 0xed, 0x80, 0x9f, 2 }, { 0xee, 0xef, 0x80, 0xbf, 2 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 3 }, { 0xf1, 0xf3, 0x80, 0xbf, 3 }, { 0xf4, 0xf4, 0x80, 0x8f, 3 },
};

/* Length of the character at p, or 0 if it is none. */
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
	for (size_t i = 0; i < ARRAY_SIZE(utf8_heads); i++) {
		int more = utf8_heads[i].more;

		if (*p < utf8_heads[i].first || *p > utf8_heads[i].last)
			continue;
		if (end - p <= more || (more > 0 && (p[1] < utf8_heads[i].low || p[1] > utf8_heads[i].high)))
			return 0;
		for (int j = 2; j <= more; j++)
			if ((p[j] & 0xc0) != 0x80)
				return 0;
		return more + 1;
	}
	return 0;
}

bool utf8_is_valid(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	while (p < end) {
		int length = utf8_length(p, end);

		if (length == 0)
			return false;
		p += length;
	}
	return true;
}

static uint32_t utf8_code(const unsigned char *p, int length)
{
	uint32_t code = length == 1 ? *p : *p & (0xffU >> (length + 1));

	for (int i = 1; i < length; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

/* What moves a terminal's cursor or changes its state (ECMA-48: C0, DEL, C1), ends a line (Unicode 2028, 2029), or
 * turns the order of what follows around (Unicode TR 9, explicit formatting). */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/* Of those, what only begins a line or moves on in it: text of several lines has them, and no terminal comes to harm.
 * */
static bool is_layout(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r' || code == 0x85 || code >= 0x2028;
}

bool text_is_clean(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	while (p < end) {
		int length = 1;

		if (*p < 0x20 || *p >= 0x7f) {
			uint32_t code;

			length = utf8_length(p, end);
			code = length > 0 ? utf8_code(p, length) : 0;
			if (is_control(code) && !is_layout(code))
				return false;
		}
		p += length;
	}
	return true;
}

/* The next character of p into t if it may stay, else its bytes as \xNN; what follows it. */
static const unsigned char *character_add(struct text *t, const unsigned char *p, const unsigned char *end,
                                          bool keeps_layout)
{
	int length = utf8_length(p, end);
	uint32_t code = length > 0 ? utf8_code(p, length) : 0;

	if (!is_control(code) || (keeps_layout && is_layout(code))) {
		text_add_n(t, (const char *)p, (size_t)length);
		return p + length;
	}
	for (int i = 0; i < (length > 0 ? length : 1); i++)
		text_printf(t, "\\x%02x", *p++);
	return p;
}

void text_add_clean(struct text *t, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	while (p < end)
		p = character_add(t, p, end, true);
}

void text_add_printable(struct text *t, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	while (p < end) {
		if (*p == '\t') {
			text_add(t, " ");
			p++;
		} else {
			p = character_add(t, p, end, false);
		}
	}
}

bool text_is_printable(const char *s)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + strlen(s);

	while (p < end) {
		int length = utf8_length(p, end);

		if (length == 0 || is_control(utf8_code(p, length)))
			return false;
		p += length;
	}
	return true;
}

char *text_printable(const char *s)
{
	struct text t = { 0 };

	text_add_printable(&t, s, strlen(s));
	return t.s != NULL ? t.s : xstrdup("");
}
