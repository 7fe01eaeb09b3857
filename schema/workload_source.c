/* SPDX-License-Identifier: MIT
 *
 * The definition that a plan gives for itself (`command:`), as a document of its own, so that the store keeps every
 * definition in the same form and a resumed sweep or a later extraction can read it.  Written as JSON, which is YAML.
 */
#include <string.h>

#include "schema/workload_read.h"

static void string_write(const char *s, struct text *ret)
{
	text_add(ret, "\"");
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			text_printf(ret, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			text_printf(ret, "\\u%04x", c);
		else
			text_add_n(ret, s, 1);
	}
	text_add(ret, "\"");
}

static void node_write(const struct node *node, int depth, struct text *ret)
{
	bool is_first = depth > 0;

	if (node->kind == NODE_SCALAR) {
		string_write(node->text, ret);
		return;
	}
	if (depth > 0)
		text_add(ret, node->kind == NODE_MAP ? "{" : "[");
	for (size_t i = 0; i < node->n; i++) {
		if (depth == 0 && node->kind == NODE_MAP && strcmp(node->keys[i]->text, "as") == 0)
			continue;
		if (!is_first)
			text_add(ret, ", ");
		is_first = false;
		if (node->kind == NODE_MAP) {
			string_write(node->keys[i]->text, ret);
			text_add(ret, ": ");
		}
		node_write(node->at[i], depth + 1, ret);
	}
	if (depth > 0)
		text_add(ret, node->kind == NODE_MAP ? "}" : "]");
}

void workload_source_write(const struct node *body, struct text *ret)
{
	text_add(ret, "{\"workload\": \"command\"");
	node_write(body, 0, ret);
	text_add(ret, "}\n");
}
