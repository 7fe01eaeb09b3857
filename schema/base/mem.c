/* SPDX-License-Identifier: MIT
 *
 * Allocation that aborts, and the arena; see mem.h.  An arena is a list of blocks of ARENA_BLOCK bytes; a plan
 * of the usual size fits in the first.
 */
#include "schema/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARENA_BLOCK ((size_t)16 * 1024)
#define ARENA_ALIGN ((size_t)16)

static void *checked(void *p)
{
	if (p == NULL) {
		fputs("<2>out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return checked(s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

struct arena_block {
	struct arena_block *next;
	size_t used, size; /* of bytes[] */
	_Alignas(16) char bytes[];
};

struct arena {
	struct arena_block *blocks; /* owned, newest first */
	size_t used;
};

struct arena *arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	if (a == NULL)
		return;
	while (a->blocks != NULL) {
		struct arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	void *p;

	if (size > SIZE_MAX / 2)
		checked(NULL);
	size = (size + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
	if (b == NULL || b->size - b->used < size) {
		size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		b = xcalloc(1, sizeof(*b) + room);
		b->size = room;
		b->next = a->blocks;
		a->blocks = b;
	}
	p = b->bytes + b->used;
	b->used += size;
	a->used += size;
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		checked(NULL);
	return arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *s, *copy;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	copy = arena_strdup(a, s);
	free(s);
	return copy;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
