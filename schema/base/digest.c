/* SPDX-License-Identifier: MIT
 *
 * SHA-256 through libmd, and UUIDs; see digest.h.
 */
#include "schema/base/digest.h"

#include <ctype.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "schema/base/text.h"

void digest_of(const void *data, size_t n, uint8_t ret[DIGEST_SIZE])
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, data, n);
	SHA256Final(ret, &ctx);
}

static void hex_format(const uint8_t *bytes, size_t n, char *buf)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		buf[2 * i] = digits[bytes[i] >> 4];
		buf[2 * i + 1] = digits[bytes[i] & 15];
	}
	buf[2 * n] = '\0';
}

char *digest_format(const uint8_t digest[DIGEST_SIZE], char buf[DIGEST_TEXT])
{
	hex_format(digest, DIGEST_SIZE, buf);
	return buf;
}

int digest_parse(const char *s, uint8_t ret[DIGEST_SIZE])
{
	if (strlen(s) != DIGEST_TEXT - 1)
		return -1;
	for (size_t i = 0; i < DIGEST_TEXT - 1; i++) {
		bool is_letter = s[i] >= 'a' && s[i] <= 'f';

		if (!is_letter && (s[i] < '0' || s[i] > '9'))
			return -1;
		ret[i / 2] = (uint8_t)((i % 2 ? ret[i / 2] << 4 : 0) | (is_letter ? s[i] - 'a' + 10 : s[i] - '0'));
	}
	return 0;
}

/* RFC 9562, section 5.7: 48 bits of Unix time in ms, version 7, the rest random. */
void uuid_make(uint8_t ret[16])
{
	int64_t ms = now_ms();

	if (getrandom(ret, 16, 0) != 16)
		abort();
	for (int i = 0; i < 6; i++)
		ret[i] = (uint8_t)(ms >> (40 - 8 * i));
	ret[6] = (ret[6] & 0x0f) | 0x70;
	ret[8] = (ret[8] & 0x3f) | 0x80;
}

char *uuid_format(const uint8_t uuid[16], char buf[UUID_TEXT])
{
	char hex[33];

	hex_format(uuid, 16, hex);
	snprintf(buf, UUID_TEXT, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
	return buf;
}

int uuid_parse(const char *s, uint8_t ret[16])
{
	char hex[33];
	size_t n = 0;

	for (; *s != '\0'; s++) {
		if (*s == '-')
			continue;
		if (!isxdigit((unsigned char)*s) || n == 32)
			return -1;
		hex[n++] = *s;
	}
	if (n != 32)
		return -1;
	for (size_t i = 0; i < 16; i++) {
		char pair[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		ret[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return 0;
}
