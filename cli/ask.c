/* SPDX-License-Identifier: MIT
 *
 * Requests about sweeps by ID; see ask.h.
 */
#include "cli/ask.h"

#include <inttypes.h>
#include <json-c/json.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/table.h"
#include "schema/message.h"

static int sweep_ask(struct client *c, const char *request, const char *sweep, struct table *t, struct err *e)
{
	struct json_object *message = client_request(request), *reply = NULL;

	json_object_object_add(message, "sweep", json_object_new_string(sweep));
	if (client_call(c, message, &reply, NULL, e) < 0) {
		if (e->kind == ERR_NOT_FOUND) { /* a wrong id is a usage error to the caller of a command */
			e->kind = ERR_USAGE;
			if (e->hint[0] == '\0')
				err_hint(e, "'" PROGRAM " list' shows the sweeps there are");
		}
		return -1;
	}
	table_row(t);
	table_integer(t, 0, message_integer_or(reply, "sweep", 0));
	table_text(t, 1, message_string_or(reply, "state", ""));
	json_object_put(reply);
	return 0;
}

int ask_sweeps(const struct options *o, const char *request, struct err *e)
{
	AUTO_CLIENT struct client *c = NULL;
	AUTO_TABLE struct table *t = table_new("sweeps");
	int status = EXIT_GOOD;

	table_column(t, "sweep", "SWEEP", TABLE_RIGHT);
	table_column(t, "state", "STATE", 0);
	if (client_open(&c, e) < 0)
		return -1;
	for (int i = 0; i < o->n_arguments; i++) {
		struct err inner = { 0 };

		if (sweep_ask(c, request, o->arguments[i], t, &inner) == 0)
			continue;
		err_print(stderr, PROGRAM, &inner);
		if (status == EXIT_GOOD)
			status = err_exit_status(inner.kind);
		if (inner.kind == ERR_UNREACHABLE)
			break;
	}
	if (options_has(o, "json"))
		return table_print_as(t, TABLE_JSON, NULL, 0, stdout, e) < 0 ? -1 : status;
	for (size_t r = 0; r < table_rows(t); r++)
		printf("sweep %" PRId64 ": %s\n", t->rows[r].cells[0].integer, t->rows[r].cells[1].text);
	return status;
}
