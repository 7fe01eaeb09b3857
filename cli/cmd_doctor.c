/* SPDX-License-Identifier: MIT
 *
 * iosweep doctor: what on the daemon's host is missing or in the way, and how to mend it.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/table.h"
#include "schema/message.h"

static const struct option_def options[] = {
	{ "all", 'a', NULL, "list what is in order, too" },
	OPTIONS_TABLE,
	OPTIONS_END
};

struct verdict {
	size_t n_problems, n_warnings, n_ok;
};

static int doctor_ask(struct json_object **ret, struct err *e)
{
	struct json_object *reply = NULL, *report, *checks;

	if (client_ask(client_request("doctor"), &reply, NULL, e) < 0)
		return -1;
	if (!json_object_object_get_ex(reply, "report", &report) ||
	    !json_object_object_get_ex(report, "checks", &checks) || !json_object_is_type(checks, json_type_array)) {
		json_object_put(reply);
		return err_set(e, ERR_PROTOCOL, "the daemon's answer has no list of checks");
	}
	*ret = json_object_get(report);
	json_object_put(reply);
	return 0;
}

static struct table *checks_table(struct json_object *checks, bool all, struct verdict *ret)
{
	struct table *t = table_new("checks");
	size_t state = table_column(t, "state", "STATE", TABLE_KEY), name = table_column(t, "name", "CHECK", TABLE_KEY);
	size_t text = table_column(t, "text", "FOUND", TABLE_WRAP),
	       hint = table_column(t, "hint", "WHAT TO DO", TABLE_WRAP);

	for (size_t i = 0; i < json_object_array_length(checks); i++) {
		struct json_object *check = json_object_array_get_idx(checks, i);
		const char *how = message_string_or(check, "state", "");

		ret->n_problems += strcmp(how, "problem") == 0;
		ret->n_warnings += strcmp(how, "warning") == 0;
		ret->n_ok += strcmp(how, "ok") == 0;
		if (!all && strcmp(how, "ok") == 0)
			continue;
		table_row(t);
		table_text(t, state, how);
		table_text(t, name, message_string_or(check, "name", ""));
		table_text(t, text, message_string_or(check, "text", ""));
		table_text(t, hint, message_string_or(check, "hint", NULL));
	}
	return t;
}

static int doctor_run(const struct options *o, struct err *e)
{
	struct json_object *report = NULL, *checks;
	AUTO_TABLE struct table *t = NULL;
	struct verdict v = { 0 };
	enum table_format format;
	int rc = 0;

	if (table_format_of(o, &format, e) < 0 || doctor_ask(&report, e) < 0)
		return -1;
	json_object_object_get_ex(report, "checks", &checks);
	t = checks_table(checks, options_has(o, "all") || format != TABLE_PEOPLE, &v);
	if (format == TABLE_JSON && options_text(o, "columns") == NULL)
		json_print(json_object_get(report), stdout);
	else if (table_rows(t) > 0 || format != TABLE_PEOPLE)
		rc = table_print(t, o, stdout, e);
	json_object_put(report);
	if (rc < 0)
		return -1;
	if (format == TABLE_PEOPLE)
		fprintf(stderr, PROGRAM ": %zu in order, %zu warning%s, %zu problem%s\n", v.n_ok, v.n_warnings,
		        v.n_warnings == 1 ? "" : "s", v.n_problems, v.n_problems == 1 ? "" : "s");
	return v.n_problems > 0 ? EXIT_BAD : EXIT_GOOD;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.arguments = "",
	.about = "say what on this host is missing or in the way, and how to mend it",
	.details = "Exit status 1 if there is a problem that makes sweeps fail; a warning only narrows what can be swept.",
	.options = options,
	.run = doctor_run,
};
