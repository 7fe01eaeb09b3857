/* SPDX-License-Identifier: MIT
 *
 * JSON written piece by piece; see json_write.h.
 */
#include "cli/json_write.h"

#include <assert.h>

#define STYLE (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

/* The line of the next item: after a comma if there is one before it. */
static void item_begin(struct json_writer *w, const char *name)
{
	if (w->depth > 0) {
		fputs(w->has_item[w->depth - 1] ? ",\n" : "\n", w->out);
		w->has_item[w->depth - 1] = true;
		fprintf(w->out, "%*s", 2 * w->depth, "");
	}
	if (name != NULL) {
		struct json_object *j = json_object_new_string(name);

		fprintf(w->out, "%s: ", json_object_to_json_string_ext(j, STYLE));
		json_object_put(j);
	}
}

void json_begin(struct json_writer *w, const char *name, char bracket)
{
	assert(w->depth < JSON_DEPTH_MAX);
	item_begin(w, name);
	fputc(bracket, w->out);
	w->close[w->depth] = bracket == '{' ? '}' : ']';
	w->has_item[w->depth++] = false;
}

void json_put(struct json_writer *w, const char *name, struct json_object *value)
{
	const char *text = json_object_to_json_string_ext(value, STYLE);

	item_begin(w, name);
	for (; *text != '\0'; text++) { /* its own lines are indented from the left margin on; within texts there are no line ends */
		fputc(*text, w->out);
		if (*text == '\n')
			fprintf(w->out, "%*s", 2 * w->depth, "");
	}
	json_object_put(value);
}

void json_end(struct json_writer *w)
{
	assert(w->depth > 0);
	w->depth--;
	if (w->has_item[w->depth])
		fprintf(w->out, "\n%*s", 2 * w->depth, "");
	fputc(w->close[w->depth], w->out);
	if (w->depth == 0)
		fputc('\n', w->out);
}
