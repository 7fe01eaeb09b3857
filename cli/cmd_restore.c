/* SPDX-License-Identifier: MIT
 *
 * iosweep restore: has the daemon replay whatever the undo journals of ended or killed sweeps still hold.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/table.h"
#include "schema/message.h"

static const struct option_def options[] = {
	{ "dry-run", 'n', NULL, "only list what would be put back" },
	OPTIONS_TABLE,
	OPTIONS_END
};

/* Counts what is not as before. */
static struct table *entries_table(struct json_object *entries, size_t *ret_n_left)
{
	static const char *const columns[][2] = { { "kind", "KIND" }, { "object", "OBJECT" }, { "original", "ORIGINAL" },
		                                  { "state", "STATE" }, { "reason", "REASON" } };
	struct table *t = table_new("entries");
	size_t sweep = table_column(t, "sweep", "SWEEP", TABLE_RIGHT);

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
		table_column(t, columns[c][0], columns[c][1], c + 1 == ARRAY_SIZE(columns) ? TABLE_WRAP : 0);
	for (size_t i = 0; i < json_object_array_length(entries); i++) {
		struct json_object *entry = json_object_array_get_idx(entries, i);

		table_row(t);
		table_integer(t, sweep, message_integer_or(entry, "sweep", 0));
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			table_text(t, sweep + 1 + c, message_string_or(entry, columns[c][0], NULL));
		*ret_n_left += strcmp(message_string_or(entry, "state", ""), "failed") == 0 ||
		               strcmp(message_string_or(entry, "state", ""), "pending") == 0;
	}
	return t;
}

static int restore_run(const struct options *o, struct err *e)
{
	struct json_object *request = client_request("restore"), *reply = NULL, *entries;
	AUTO_TABLE struct table *t = NULL;
	enum table_format format = TABLE_PEOPLE;
	size_t n_left = 0;
	int rc;

	json_object_object_add(request, "dry-run", json_object_new_boolean(options_has(o, "dry-run")));
	if (client_ask(request, &reply, NULL, e) < 0)
		return -1;
	if (!json_object_object_get_ex(reply, "entries", &entries) || !json_object_is_type(entries, json_type_array)) {
		json_object_put(reply);
		return err_set(e, ERR_PROTOCOL, "the daemon's answer has no 'entries'");
	}
	t = entries_table(entries, &n_left);
	json_object_put(reply);
	rc = table_format_of(o, &format, e);
	if (rc == 0 && table_rows(t) == 0 && format == TABLE_PEOPLE)
		fprintf(stderr, PROGRAM ": nothing is left to put back\n");
	else if (rc == 0)
		rc = table_print(t, o, stdout, e);
	return rc < 0 ? -1 : n_left > 0 && !options_has(o, "dry-run") ? EXIT_BAD : EXIT_GOOD;
}

const struct command cmd_restore = {
	.name = "restore",
	.arguments = "",
	.about = "put back what a killed sweep left changed",
	.details = "Entries of another boot that name kernel state are dropped, and said to be: the kernel has forgotten them.\n"
	           "Those of a device that is away stay pending.  Exit status 1 if something is pending or has failed.",
	.options = options,
	.run = restore_run,
};
