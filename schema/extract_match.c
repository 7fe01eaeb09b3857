/* SPDX-License-Identifier: MIT
 *
 * Patterns (PCRE2): compiling into an arena, searching within limits, and the source `match`, whose rows are the
 * matches and whose fields are the named groups.
 */
#include "schema/definition.h"

#include <string.h>

/* Enough for every shipped pattern on 1 MiB of output by a factor of 100; (a+)+$ on 40 characters needs 10^12. */
#define MATCH_LIMIT 2000000
#define DEPTH_LIMIT 10000
#define HEAP_LIMIT_KIB 65536

static void *arena_memory(size_t n, void *a)
{
	return arena_alloc(a, n);
}

static void arena_memory_free(void *p, void *a)
{
	(void)p, (void)a; /* the arena frees it */
}

/* Characters instead of bytes only where the pattern speaks of them: checking a megabyte for valid UTF-8 costs more
 * than searching it. */
static uint32_t pattern_options(const char *pattern)
{
	uint32_t options = PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;

	for (const char *s = pattern; *s != '\0'; s++)
		if ((unsigned char)*s >= 0x80 ||
		    (s[0] == '\\' && (s[1] == 'p' || s[1] == 'P' || s[1] == 'X' || s[1] == 'x')))
			options |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
	return options;
}

int pattern_compile(struct arena *a, const char *pattern, const pcre2_code **ret, struct err *e)
{
	pcre2_general_context *general = pcre2_general_context_create(arena_memory, arena_memory_free, a);
	pcre2_compile_context *context = pcre2_compile_context_create(general);
	PCRE2_UCHAR why[256];
	PCRE2_SIZE at;
	int code;

	pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF); /* pasted from elsewhere; and progress lines end with a CR */
	*ret = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, pattern_options(pattern), &code, &at, context);
	if (*ret != NULL)
		return 0;
	pcre2_get_error_message(code, why, sizeof(why));
	return err_set(e, ERR_USAGE, "pattern '%s' does not compile: %s at character %zu", pattern, why, at + 1);
}

int pattern_group(const pcre2_code *re, const char *name)
{
	int n = pcre2_substring_number_from_name(re, (PCRE2_SPTR)name);

	return n > 0 || n == PCRE2_ERROR_NOUNIQUESUBSTRING ? n : -1;
}

static pcre2_match_context *limits(void)
{
	static pcre2_match_context *context; /* one for the process: it holds three numbers */

	if (context == NULL) {
		context = pcre2_match_context_create(NULL);
		if (context == NULL)
			abort();
		pcre2_set_match_limit(context, MATCH_LIMIT);
		pcre2_set_depth_limit(context, DEPTH_LIMIT);
		pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
	}
	return context;
}

pcre2_match_data *pattern_match_data(const pcre2_code *re)
{
	uint32_t n_groups = 0;
	pcre2_match_data *data;

	pcre2_pattern_info(re, PCRE2_INFO_CAPTURECOUNT, &n_groups);
	data = pcre2_match_data_create(n_groups + 1, NULL);
	if (data == NULL)
		abort();
	return data;
}

int pattern_search(const pcre2_code *re, const char *s, size_t n, size_t from, pcre2_match_data *ret, struct err *e)
{
	int rc = pcre2_match(re, (PCRE2_SPTR)s, n, from, 0, ret, limits());
	PCRE2_UCHAR why[256];

	if (rc >= 0)
		return 1;
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	pcre2_get_error_message(rc, why, sizeof(why));
	return err_set(e, ERR_TOOL, "pattern took too much: %s", why);
}

int pattern_occurs(const pcre2_code *re, const char *s, size_t n, struct err *e)
{
	pcre2_match_data *data = pattern_match_data(re);
	int found = pattern_search(re, s, n, 0, data, e);

	pcre2_match_data_free(data);
	return found;
}

struct match {
	pcre2_match_data *data;
	const pcre2_code *re;
	const char *s;
};

static int match_get(const struct row *row, const char *name, struct field *ret)
{
	const struct match *m = row->data;
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(m->data);
	int group = pattern_group(m->re, name);

	if (group < 0)
		return -1;
	*ret = (struct field){ .s = "" };
	if (at[2 * group] != PCRE2_UNSET)
		*ret = (struct field){ .s = m->s + at[2 * group], .n = at[2 * group + 1] - at[2 * group] };
	return 0;
}

int match_rows(const struct source *s, const struct capture *c, struct row *row, row_cb cb, void *arg, struct err *e)
{
	pcre2_match_data *data = pattern_match_data(s->re);
	struct match m = { .data = data, .re = s->re, .s = c->data };
	size_t from = 0;
	int rc = 0;

	// cppcheck-suppress autoVariables ; for the callbacks below, and no longer
	row->data = &m;
	row->get = match_get;
	while (rc == 0 && from <= c->n) {
		const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
		int found = pattern_search(s->re, c->data, c->n, from, data, e);

		if (found <= 0) {
			rc = found;
			break;
		}
		from = at[1] > at[0] ? at[1] : at[1] + 1;
		row->match++;
		rc = cb(row, arg, e);
	}
	pcre2_match_data_free(data);
	return rc;
}
