/* SPDX-License-Identifier: MIT
 *
 * Memory: allocation that aborts when there is none (a dead worker is an event the supervisor handles, a dead
 * daemon is restarted), scope cleanup for locals, and an arena for trees that live and die together.
 */
#ifndef IOSWEEP_MEM_H
#define IOSWEEP_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

/* malloc(3) and friends; never return NULL, overflow of n * size aborts. */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0), returns_nonnull));

/* Locals that clean up at the end of their scope, so that an early return is always safe. */
static inline void auto_free(void *p)
{
	free(*(void **)p);
}
static inline void auto_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define AUTO_FREE  __attribute__((cleanup(auto_free)))
#define AUTO_CLOSE __attribute__((cleanup(auto_close)))

/* Hands a local on: its value, and NULL (or -1) is left behind. */
#define TAKE(p)       ({ __typeof__(p) take_ = (p); (p) = NULL; take_; })
#define TAKE_FD(fd)   ({ int take_ = (fd); (fd) = -1; take_; })

/* Makes room for one more element in a plain array (p, n used, cap allocated; amortised doubling).
 *     ARRAY_GROW(list->at, list->n, list->cap);
 *     list->at[list->n++] = x; */
#define ARRAY_GROW(p, n, cap) \
	do { \
		if ((n) == (cap)) { \
			(cap) = (cap) ? 2 * (cap) : 8; \
			(p) = xreallocarray((p), (cap), sizeof(*(p))); \
		} \
	} while (0)

/* An arena: many small allocations, one free.  Nothing in it is freed singly.  Zeroed memory, 16-byte aligned. */
struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is fine */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
void *arena_array(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull)); /* aborts on overflow */
char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3), returns_nonnull));
size_t arena_used(const struct arena *a); /* bytes handed out so far */

static inline void auto_arena(struct arena **a)
{
	arena_free(*a);
}
#define AUTO_ARENA __attribute__((cleanup(auto_arena)))

#endif
