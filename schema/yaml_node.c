/* SPDX-License-Identifier: MIT
 *
 * Questions about nodes that have been read; see yaml.h.
 */
#include "schema/yaml.h"

#include <string.h>

#include "schema/base/text.h"

struct node *node_get(const struct node *map, const char *key)
{
	if (map == NULL || map->kind != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->keys[i]->text, key) == 0)
			return map->at[i];
	return NULL;
}

int node_check_keys(const struct node *map, const char *const *known, const char *where, struct diags *d)
{
	size_t n_known = 0;
	int rc = 0;

	while (known[n_known] != NULL)
		n_known++;
	for (size_t i = 0; i < map->n; i++) {
		const struct node *key = map->keys[i];
		const char *nearest;
		bool is_known = false;

		for (size_t j = 0; j < n_known && !is_known; j++)
			is_known = strcmp(key->text, known[j]) == 0;
		if (is_known)
			continue;
		rc = -1;
		nearest = text_nearest(key->text, known, n_known);
		if (nearest != NULL) {
			diags_add(d, key->line, key->column, "unknown key '%s' in %s: did you mean '%s'?", key->text,
			          where, nearest);
		} else {
			AUTO_TEXT struct text list = { 0 };

			for (size_t j = 0; j < n_known; j++)
				text_printf(&list, "%s%s", j > 0 ? " " : "", known[j]);
			diags_add(d, key->line, key->column, "unknown key '%s' in %s: known are %s", key->text, where,
			          text_str(&list));
		}
	}
	return rc;
}

bool node_misspells(const struct node *map, const char *const *known, const char *key)
{
	size_t n_known = 0;

	while (known[n_known] != NULL)
		n_known++;
	for (size_t i = 0; map->kind == NODE_MAP && i < map->n; i++) {
		const char *nearest = text_nearest(map->keys[i]->text, known, n_known);

		if (nearest != NULL && strcmp(nearest, key) == 0 && strcmp(map->keys[i]->text, key) != 0)
			return true;
	}
	return false;
}

const char *node_kind_name(const struct node *node)
{
	switch (node->kind) {
	case NODE_SCALAR:
		return "a scalar";
	case NODE_LIST:
		return "a list";
	case NODE_MAP:
		return "a map";
	}
	return "";
}

int node_bool(const struct node *node, bool *ret)
{
	static const char *const words[] = { "yes", "true", "on", "no", "false", "off" };

	if (node->kind != NODE_SCALAR)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(node->text, words[i]) == 0) {
			*ret = i < 3;
			return 0;
		}
	}
	return -1;
}
