/* SPDX-License-Identifier: MIT
 *
 * Whether what stands between ${ and } in a definition's words can stand for anything at all: known when the
 * definition is read, with the place of the word.  Whether the values fit (a size that is no whole number of MiB) is
 * known with a plan's parameters only; plan_expansion.c asks then.
 */
#include <string.h>

#include "schema/workload_read.h"

struct checker {
	const struct workload *w;
	const struct node *at; /* the word */
	bool is_option;        /* of more-params, where ${name} and ${value} are the parameter's */
	struct diags *d;
};

static bool name_is_known(const struct checker *c, const char *name)
{
	if (c->is_option && (strcmp(name, "name") == 0 || strcmp(name, "value") == 0))
		return true;
	return workload_name_is_builtin(name) || workload_takes(c->w, name);
}

static void name_check(const struct checker *c, const char *name, size_t n)
{
	AUTO_FREE char *own = xstrndup(name, n);
	AUTO_TEXT struct text list = { 0 };

	if (name_is_known(c, own))
		return;
	for (size_t i = 0; i < c->w->n_params; i++)
		text_printf(&list, " %s", c->w->params[i].name);
	diags_add(c->d, c->at->line, c->at->column,
	          "'${%s}' stands for nothing: write 'dir', 'device', 'copy', 'copies', 'repetition' or one of 'params:', which has%s",
	          own, list.n > 0 ? text_str(&list) : " none");
}

/* "name", "name:UNIT", "name/other", "name=VALUE" */
static void braces_check(const struct checker *c, const char *s, size_t n)
{
	size_t left = strcspn(s, ":/=");

	name_check(c, s, left < n ? left : n);
	if (left < n && s[left] == '/')
		name_check(c, s + left + 1, n - left - 1);
}

static void text_check(const struct checker *c, const char *s)
{
	for (s = strstr(s, "${"); s != NULL; s = strstr(s, "${")) {
		const char *end = strchr(s, '}');

		if (end == NULL) {
			diags_add(c->d, c->at->line, c->at->column, "'%s': '${' is not closed: write '${NAME}'", s);
			return;
		}
		braces_check(c, s + 2, (size_t)(end - s - 2));
		s = end + 1;
	}
}

/* "${@options}", "${@name}", "${?name:WORD}", "${!name:WORD}", or text. */
static void word_check(const struct checker *c, const char *word)
{
	bool is_closed = text_ends(word, "}");

	if (strcmp(word, "${@options}") == 0)
		return;
	if (text_starts(word, "${@") && is_closed) {
		name_check(c, word + 3, strlen(word) - 4);
	} else if ((text_starts(word, "${?") || text_starts(word, "${!")) && is_closed && strchr(word, ':') != NULL) {
		const char *colon = strchr(word, ':');
		AUTO_FREE char *rest = xstrndup(colon + 1, strlen(colon + 1) - 1);

		if (strncmp(word + 3, "root:", 5) != 0)
			name_check(c, word + 3, (size_t)(colon - word - 3));
		word_check(c, rest);
	} else {
		text_check(c, word);
	}
}

void workload_check_words(const struct workload *w, const struct node *node, bool is_option, struct diags *d)
{
	for (size_t i = 0; i < (node->kind == NODE_LIST ? node->n : 1); i++) {
		struct checker c = { .w = w, .at = node->kind == NODE_LIST ? node->at[i] : node, .is_option = is_option, .d = d };

		if (c.at->kind == NODE_SCALAR)
			word_check(&c, c.at->text);
	}
}
