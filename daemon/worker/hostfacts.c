/* SPDX-License-Identifier: MIT
 *
 * See hostfacts.h.
 */
#include "daemon/worker/hostfacts.h"

#include <string.h>
#include <sys/stat.h>

#include "schema/base/text.h"

#define DEADLINE_NS (10 * INT64_C(1000000000))
#define KEEP_BYTES  ((size_t)64 << 10)
#define KEY_MAX     64
#define VALUE_MAX   256

static bool has_word(const char *const *words, const char *word)
{
	for (; *words != NULL; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

/* Letters small, digits, '.', '_' and '-'. */
static bool key_is_valid(const char *s, size_t n)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	for (size_t i = 0; i < n; i++)
		if (s[i] == '\0' || strchr(allowed, s[i]) == NULL)
			return false;
	return n > 0 && n <= KEY_MAX;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* What is not printable ASCII is a '?': it ends in reports and comparisons. */
static const char *value_clean(const char *s, size_t n, struct arena *a)
{
	char *value;

	while (n > 0 && is_blank(s[n - 1]))
		n--;
	n = n < VALUE_MAX ? n : VALUE_MAX;
	value = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++)
		value[i] = (unsigned char)s[i] < 0x20 || (unsigned char)s[i] > 0x7e ? '?' : s[i];
	return value;
}

/* What is wrong with a program or its lines. */
struct faults {
	size_t n_no_fact, n_repeated, n_beyond;
};

/* Whether a key has been taken since the program's first fact. */
static bool is_taken(const struct environment_facts *ret, size_t first, const char *key)
{
	for (size_t i = first; i < ret->n; i++)
		if (strcmp(ret->at[i].key, key) == 0)
			return true;
	return false;
}

static void line_take(const struct config_facts *f, const char *line, size_t n, size_t first,
                      struct environment_facts *ret, struct faults *faults)
{
	const char *equals = memchr(line, '=', n), *key, *name;
	size_t skip = 0, end = equals != NULL ? (size_t)(equals - line) : 0, value;

	while (skip < end && is_blank(line[skip]))
		skip++;
	while (end > skip && is_blank(line[end - 1]))
		end--;
	if (!key_is_valid(line + skip, end - skip)) {
		faults->n_no_fact++;
		return;
	}
	name = arena_strndup(ret->a, line + skip, end - skip);
	key = arena_printf(ret->a, "%s.%s", f->name, name);
	if (is_taken(ret, first, key)) {
		faults->n_repeated++;
		return;
	}
	if (ret->n - first == HOSTFACTS_MAX) {
		faults->n_beyond++;
		return;
	}
	for (value = (size_t)(equals - line) + 1; value < n && is_blank(line[value]); value++)
		continue;
	environment_facts_add(ret,
	                      has_word(f->identity, name)    ? FACT_IDENTITY :
	                      has_word(f->is_volatile, name) ? FACT_VOLATILE :
	                                                       FACT_CONTEXT,
	                      key, value_clean(line + value, n - value, ret->a));
}

static void fault_add(struct text *ret, size_t n, const char *what)
{
	if (n > 0)
		text_printf(ret, "%s%zu line%s %s", ret->n > 0 ? "; " : "", n, n == 1 ? "" : "s", what);
}

void hostfacts_parse(const struct config_facts *f, const char *out, size_t n, struct environment_facts *ret,
                     struct text *ret_why)
{
	struct faults faults = { 0 };
	size_t first = ret->n;

	for (size_t from = 0, length; from < n; from += length + 1) {
		const char *line = out + from, *end = memchr(line, '\n', n - from);
		size_t blank = 0;

		length = end != NULL ? (size_t)(end - line) : n - from;
		while (blank < length && is_blank(line[blank]))
			blank++;
		if (blank < length)
			line_take(f, line, length, first, ret, &faults);
	}
	fault_add(ret_why, faults.n_no_fact, "without key=value");
	fault_add(ret_why, faults.n_repeated, "with a key that was there before");
	fault_add(ret_why, faults.n_beyond, "too many");
}

static int owner_check(const char *program, struct err *e)
{
	struct stat st;

	if (stat(program, &st) < 0)
		return err_set(e, ERR_NOT_FOUND, "'%s' is not there", program);
	if (st.st_uid != 0 || (st.st_mode & 022) != 0)
		return err_set(e, ERR_REFUSED, "'%s' can be written by others than root: it is not run", program);
	return 0;
}

static void program_run(struct worker *w, const struct config_facts *f, struct environment_facts *ret)
{
	const struct tool_identity root = { .is_root = true, .cgroup_fd = -1 };
	const struct tool tool = { .argv = f->argv, .timeout_ns = DEADLINE_NS, .keep = KEEP_BYTES };
	struct tool_env env = w->tools;
	AUTO_TEXT struct text why = { 0 };
	struct tool_end end = { 0 };
	struct err e = { 0 };
	int rc = owner_check(f->argv[0], &e);

	env.room = NULL;
	if (rc == 0)
		rc = tool_run(&env, &root, &tool, &end, &e);
	if (rc == 0 && (end.exit_status != 0 || end.exit_signal != 0))
		tool_end_describe(&end, f->argv[0], &why);
	else if (rc < 0)
		text_add(&why, e.text);
	if (rc == 0)
		hostfacts_parse(f, text_str(&end.out), end.out.n, ret, &why);
	if (why.n > 0)
		environment_facts_add(ret, FACT_CONTEXT, arena_printf(ret->a, "%s.error", f->name),
		                      value_clean(why.s, why.n, ret->a));
	tool_end_done(&end);
}

void hostfacts_collect(struct worker *w, struct environment_facts *ret)
{
	for (size_t i = 0; i < w->config->n_facts; i++)
		program_run(w, &w->config->facts[i], ret);
}
