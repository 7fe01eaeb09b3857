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

static size_t fact_add(struct environment_fact *ret, size_t n, const char *key, const char *value, enum fact_class class)
{
	if (n == HOSTFACTS_MAX)
		return n;
	ret[n] = (struct environment_fact){ .key = key, .value = value, .class = class };
	return n + 1;
}

/* Letters small, digits, '.', '_' and '-'. */
static bool key_is_valid(const char *s, size_t n)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return n > 0 && n <= KEY_MAX && strspn(s, allowed) >= n;
}

/* What is not printable ASCII is a '?': it ends in reports and comparisons. */
static const char *value_clean(const char *s, size_t n, struct arena *a)
{
	char *value;

	while (n > 0 && strchr(" \t\r", s[n - 1]) != NULL)
		n--;
	value = arena_strndup(a, s, n < VALUE_MAX ? n : VALUE_MAX);
	for (char *c = value; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			*c = '?';
	return value;
}

static bool line_take(const struct config_facts *f, const char *line, size_t n, struct arena *a,
                      struct environment_fact *ret, size_t *ret_n)
{
	size_t key = strcspn(line, "=\n"), skip = strspn(line, " \t");
	size_t end = key;
	const char *name;

	while (end > skip && strchr(" \t", line[end - 1]) != NULL)
		end--;
	if (key >= n || skip > end || !key_is_valid(line + skip, end - skip) || *ret_n == HOSTFACTS_MAX)
		return false;
	name = arena_strndup(a, line + skip, end - skip);
	key += 1 + strspn(line + key + 1, " \t");
	*ret_n = fact_add(ret, *ret_n, arena_printf(a, "%s.%s", f->name, name), value_clean(line + key, key < n ? n - key : 0, a),
	                  has_word(f->identity, name) ? FACT_IDENTITY :
	                  has_word(f->is_volatile, name) ? FACT_VOLATILE : FACT_CONTEXT);
	return true;
}

static const char *error_key(const struct config_facts *f, struct arena *a)
{
	return arena_printf(a, "%s.error", f->name);
}

size_t hostfacts_parse(const struct config_facts *f, const char *out, struct arena *a,
                       struct environment_fact *ret, size_t n)
{
	size_t bad = 0;

	for (const char *s = out; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n') {
		size_t length = strcspn(s, "\n");

		if (strspn(s, " \t\r") < length && !line_take(f, s, length, a, ret, &n))
			bad++;
	}
	if (bad > 0)
		n = fact_add(ret, n, error_key(f, a), arena_printf(a, "%zu lines are no key=value", bad), FACT_CONTEXT);
	return n;
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

static size_t program_run(struct worker *w, const struct config_facts *f, struct arena *a,
                          struct environment_fact *ret, size_t n)
{
	const struct tool_identity root = { .is_root = true, .cgroup_fd = -1 };
	const struct tool tool = { .argv = f->argv, .timeout_ns = DEADLINE_NS, .keep = KEEP_BYTES };
	struct tool_env env = w->tools;
	AUTO_TEXT struct text what = { 0 };
	struct tool_end end = { 0 };
	struct err e = { 0 };
	int rc = owner_check(f->argv[0], &e);

	env.room = NULL;
	if (rc == 0)
		rc = tool_run(&env, &root, &tool, &end, &e);
	if (rc == 0)
		n = hostfacts_parse(f, text_str(&end.out), a, ret, n);
	if (rc == 0 && (end.exit_status != 0 || end.exit_signal != 0))
		tool_end_describe(&end, f->argv[0], &what);
	else if (rc < 0)
		text_add(&what, e.text);
	if (what.n > 0)
		n = fact_add(ret, n, error_key(f, a), value_clean(what.s, what.n, a), FACT_CONTEXT);
	tool_end_done(&end);
	return n;
}

size_t hostfacts_collect(struct worker *w, struct arena *a, struct environment_fact ret[HOSTFACTS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < w->config->n_facts; i++)
		n = program_run(w, &w->config->facts[i], a, ret, n);
	return n;
}
