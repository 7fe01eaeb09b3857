/* SPDX-License-Identifier: MIT
 *
 * JSON documents inside other text: what a tool printed may have warnings before and lines after the document, and
 * numbers that JSON does not have (nan, inf).  json-c reads whole messages (message.c); this finds where a document
 * begins and ends, and keeps the text of every number, so that one strict number grammar decides what it is.
 */
#ifndef IOSWEEP_JSON_READ_H
#define IOSWEEP_JSON_READ_H

#include <stdbool.h>

#include "schema/base/mem.h"

#define JSON_MAX_DEPTH 64

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT };

struct json {
	enum json_kind kind;
	const char *s;     /* string: decoded, terminated (arena); number: as printed, in the input */
	size_t len;
	size_t n;          /* list, object */
	struct json *first;
	struct json *next; /* in its parent */
	const char *key;   /* in an object */
};

enum json_end { JSON_WHOLE, JSON_BROKEN, JSON_CUT /* the text ends inside it */ };

/* Decodes one value at the front of the text; ret_used: bytes up to its end.  Fails on anything RFC 8259 does not
 * allow, but for the numbers nan, inf and infinity in any case and sign. */
enum json_end json_decode(struct arena *a, const char *s, size_t n, struct json **ret, size_t *ret_used);

struct json_documents {
	struct json **at;
	size_t n;
	bool is_cut; /* the last one has no end */
};

/* All documents (objects, and lists that hold one) of a text, in order. */
void json_find(struct arena *a, const char *s, size_t n, struct json_documents *ret);

#endif
