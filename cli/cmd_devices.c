/* SPDX-License-Identifier: MIT
 *
 * iosweep devices: the block devices of the daemon's host, why each may or may not be used, and the configuration lines
 * that would list it.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/table.h"
#include "schema/message.h"

static const struct option_def options[] = {
	{ "config", 0, NULL, "print only the configuration lines" },
	OPTIONS_TABLE,
	OPTIONS_END
};

static int devices_ask(struct json_object **ret, struct err *e)
{
	struct json_object *reply = NULL, *report, *devices;

	if (client_ask(client_request("devices"), &reply, NULL, e) < 0)
		return -1;
	if (!json_object_object_get_ex(reply, "report", &report) ||
	    !json_object_object_get_ex(report, "devices", &devices) || !json_object_is_type(devices, json_type_array)) {
		json_object_put(reply);
		return err_set(e, ERR_PROTOCOL, "the daemon's answer has no list of devices");
	}
	*ret = json_object_get(report);
	json_object_put(reply);
	return 0;
}

static void reasons_join(struct json_object *device, struct text *ret)
{
	struct json_object *reasons;

	if (!json_object_object_get_ex(device, "reasons", &reasons) || !json_object_is_type(reasons, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(reasons); i++)
		text_printf(ret, "%s%s", i > 0 ? "; " : "",
		            json_object_get_string(json_object_array_get_idx(reasons, i)));
}

static void identity_join(struct json_object *device, struct text *ret)
{
	struct json_object *identity;

	if (!json_object_object_get_ex(device, "identity", &identity) ||
	    !json_object_is_type(identity, json_type_object))
		return;
	json_object_object_foreach(identity, key, value)
		if (json_object_is_type(value, json_type_string))
			text_printf(ret, "%s%s=%s", ret->n > 0 ? " " : "", key, json_object_get_string(value));
}

static struct table *devices_table(struct json_object *devices)
{
	struct table *t = table_new("devices");
	size_t path = table_column(t, "path", "PATH", TABLE_KEY), name = table_column(t, "name", "NAME", TABLE_KEY);
	size_t size = table_column(t, "size", "SIZE", TABLE_RIGHT), model = table_column(t, "model", "MODEL", 0);
	size_t usable = table_column(t, "usable", "USABLE", 0),
	       reasons = table_column(t, "reasons", "WHY NOT", TABLE_WRAP);
	size_t identity = table_column(t, "identity", "IDENTITY", TABLE_EXTRA);
	char buf[SIZE_TEXT];

	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);
		AUTO_TEXT struct text why = { 0 };
		AUTO_TEXT struct text who = { 0 };
		int64_t bytes = message_integer_or(device, "size", 0);

		reasons_join(device, &why);
		identity_join(device, &who);
		table_row(t);
		table_text(t, path, message_string_or(device, "path", ""));
		table_text(t, name, message_string_or(device, "name", NULL));
		table_integer(t, size, bytes);
		table_show(t, size, size_format(bytes, buf));
		table_text(t, model, message_string_or(device, "model", NULL));
		table_bool(t, usable, message_bool_or(device, "usable", false));
		table_text(t, reasons, text_str(&why));
		table_text(t, identity, text_str(&who));
	}
	return t;
}

/* A comment if the guard refuses the device as it is: nobody is to paste the root disk by mistake. */
static void device_config_print(struct json_object *device, FILE *out)
{
	const char *line = message_string_or(device, "config", "");

	if (line[0] != '\0')
		fprintf(out, "  %s%s\n", message_bool_or(device, "refused", false) ? "# " : "", line);
	else
		fprintf(out, "  # %s has no identity that would find it again\n",
		        message_string_or(device, "path", ""));
}

/* Listed ones have a name already. */
static void config_print(struct json_object *devices, FILE *out)
{
	fprintf(out, "devices:\n");
	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		if (message_string_or(device, "name", "")[0] == '\0')
			device_config_print(device, out);
	}
}

static void absent_print(struct json_object *report)
{
	struct json_object *absent;

	if (!json_object_object_get_ex(report, "absent", &absent) || !json_object_is_type(absent, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(absent); i++)
		fprintf(stderr, PROGRAM ": listed, but not here: %s\n",
		        message_string_or(json_object_array_get_idx(absent, i), "reason", ""));
}

static int devices_run(const struct options *o, struct err *e)
{
	struct json_object *report = NULL, *devices;
	AUTO_TABLE struct table *t = NULL;
	enum table_format format;
	int rc = 0;

	if (table_format_of(o, &format, e) < 0 || devices_ask(&report, e) < 0)
		return -1;
	if (format == TABLE_JSON && options_text(o, "columns") == NULL) {
		json_print(report, stdout);
		return EXIT_GOOD;
	}
	absent_print(report);
	json_object_object_get_ex(report, "devices", &devices);
	t = devices_table(devices);
	if (!options_has(o, "config"))
		rc = table_print(t, o, stdout, e);
	if (rc == 0 && (options_has(o, "config") || format == TABLE_PEOPLE)) {
		if (!options_has(o, "config"))
			printf("\nA device becomes a target when root lists it in iosweepd.conf(5); lines for those that are not:\n\n");
		config_print(devices, stdout);
	}
	json_object_put(report);
	return rc < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_devices = {
	.name = "devices",
	.arguments = "",
	.about = "list block devices, whether each may be used, and why not",
	.options = options,
	.run = devices_run,
};
