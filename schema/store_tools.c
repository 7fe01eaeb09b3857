/* SPDX-License-Identifier: MIT
 *
 * Which tool versions stand behind a workload's numbers.  Results of different ones are not put into one comparison
 * unless the user says so; versions of tools that had no part in it (fio's, for a dd) do not matter.
 */
#include <string.h>

#include "schema/store_internal.h"
#include "schema/store_select.h"
#include "schema/yaml.h"

/* The programs a workload runs: its `needs`, or the first word of its `run`; NULL-terminated, arena. */
static int programs_read(struct store *s, int64_t workload_id, struct arena *a, const char ***ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct diags d;
	struct node *root = NULL;
	const struct node *list;
	const char *definition;
	int rc;

	*ret = arena_array(a, 1, sizeof(**ret));
	if (statement_open(s, &st, e, "SELECT definition FROM workload WHERE id = ?", "i", workload_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	definition = column_text(st, 0, a);
	diags_init(&d, "definition");
	rc = yaml_read(a, definition, strlen(definition), &d, &root);
	diags_done(&d);
	list = rc == 0 && root->kind == NODE_MAP ? node_get(root, "needs") : NULL;
	if (list == NULL && rc == 0 && root->kind == NODE_MAP)
		list = node_get(root, "run");
	if (list == NULL || list->kind != NODE_LIST)
		return 0;
	*ret = arena_array(a, list->n + 1, sizeof(**ret));
	for (size_t i = 0, n = 0; i < list->n; i++) {
		const char *word = list->at[i]->kind == NODE_SCALAR ? list->at[i]->text : "";
		const char *slash = strrchr(word, '/');

		if (word[0] != '\0')
			(*ret)[n++] = slash != NULL ? slash + 1 : word;
		if (node_get(root, "needs") == NULL)
			break;
	}
	return 0;
}

int store_tools_text(struct store *s, int64_t environment_id, int64_t workload_id, struct arena *a, const char **ret,
                     struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_TEXT struct text t = { 0 };
	const char **programs;
	int rc;

	if (programs_read(s, workload_id, a, &programs, e) < 0)
		return -1;
	if (statement_open(s, &st, e, "SELECT substr(key, 6), value FROM environment_fact WHERE environment_id = ? "
	                   "AND key >= 'tool.' AND key < 'tool/' ORDER BY key", "i", environment_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		bool is_used = false;

		for (const char **p = programs; *p != NULL; p++)
			is_used = is_used || strcmp(*p, column_borrow(st, 0)) == 0;
		if (!is_used)
			continue;
		text_printf(&t, "%s%s", t.n > 0 ? ", " : "",
		            text_starts(column_borrow(st, 1), column_borrow(st, 0)) ? "" : column_borrow(st, 0));
		text_printf(&t, "%s%s", text_starts(column_borrow(st, 1), column_borrow(st, 0)) ? "" : " ",
		            column_borrow(st, 1));
	}
	*ret = arena_strdup(a, text_str(&t));
	return rc;
}
