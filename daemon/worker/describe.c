/* SPDX-License-Identifier: MIT
 *
 * The describe role: one JSON object about this host on stdout (worker.h, message.h).  Its own process, since looking
 * at a sick disk may hang.  Never writes to a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "daemon/worker/doctor.h"
#include "daemon/worker/guard.h"
#include "daemon/worker/sysroot.h"
#include "daemon/worker/worker.h"
#include "schema/message.h"

static void string_add(struct json_object *o, const char *key, const char *value)
{
	if (value != NULL && value[0] != '\0')
		json_object_object_add(o, key, json_object_new_string(value));
}

static int object_print(struct json_object *o)
{
	AUTO_TEXT struct text line = { 0 };

	message_encode(o, &line);
	json_object_put(o);
	return fwrite(text_str(&line), line.n, 1, stdout) == 1 && fflush(stdout) == 0 ? 0 : 1;
}

static int error_print(const struct err *e)
{
	return object_print(message_error(e, NULL));
}

/* ---- devices ---- */

/* The listed name of a device; several devices of one identity are all refused, see the reasons. */
static const struct config_device *listed_as(const struct config *c, const struct device *d)
{
	char why[160];

	for (size_t i = 0; i < c->n_devices; i++)
		if (device_matches(d, &c->devices[i], why, sizeof(why)))
			return &c->devices[i];
	return NULL;
}

static struct json_object *identity_object(const struct device *d)
{
	struct json_object *o = json_object_new_object();

	if (!d->is_partition) {
		string_add(o, "wwn", d->wwn);
		string_add(o, "serial", d->serial);
	}
	string_add(o, "by-id", d->n_by_id > 0 ? d->by_id[0] : "");
	string_add(o, "backing-file", d->backing_file);
	return o;
}

static void reason_add(struct json_object *reasons, const char *text)
{
	json_object_array_add(reasons, json_object_new_string(text));
}

static void reasons_add(struct json_object *reasons, const char *lines)
{
	for (const char *s = lines; *s != '\0'; s += strcspn(s, "\n"), s += *s == '\n') {
		AUTO_FREE char *line = xstrndup(s, strcspn(s, "\n"));

		reason_add(reasons, line);
	}
}

/* A signature alone does not make a device unusable: the plan may say `erase: yes`. */
static bool reasons_find(const struct device *d, const struct config *c, const struct config_device *listed,
                         int proc_fd, struct json_object *reasons, bool *ret_refused)
{
	AUTO_TEXT struct text why = { 0 };
	struct guard_facts f = { 0 };
	struct err e = { 0 };
	bool refuses;
	char text[200];

	if (guard_facts_read(d, proc_fd, GUARD_SIGNATURES, &f, &e) < 0) {
		reason_add(reasons, e.text);
		*ret_refused = true;
		return false;
	}
	f.may_erase = true;
	if (listed != NULL && device_find(listed, &(struct device){ 0 }, &f.n_matching, NULL) < 0)
		path_format(f.other_match, sizeof(f.other_match), "see the others with the name '%s'", listed->name);
	refuses = guard_refuses(&f, &why);
	reasons_add(reasons, text_str(&why));
	if (f.signature.type[0] != '\0')
		reason_add(reasons, path_format(text, sizeof(text),
		                                "'%s' carries a signature: %s; the plan must say `erase: yes`",
		                                f.signature_path, f.signature.type));
	if (listed == NULL)
		reason_add(reasons, path_format(text, sizeof(text), "not listed in %s", c->file));
	*ret_refused = refuses;
	return !refuses && listed != NULL;
}

static struct json_object *device_object(const struct device *d, const struct config *c, int proc_fd)
{
	const struct config_device *listed = listed_as(c, d);
	struct json_object *o = json_object_new_object(), *reasons = json_object_new_array();
	AUTO_TEXT struct text config = { 0 };
	bool is_refused, usable = reasons_find(d, c, listed, proc_fd, reasons, &is_refused);

	string_add(o, "path", d->path);
	json_object_object_add(o, "size", json_object_new_int64(d->size_bytes));
	string_add(o, "model", d->model);
	json_object_object_add(o, "identity", identity_object(d));
	json_object_object_add(o, "usable", json_object_new_boolean(usable));
	json_object_object_add(o, "refused", json_object_new_boolean(is_refused)); /* whatever the plan says */
	json_object_object_add(o, "reasons", reasons);
	if (listed != NULL)
		string_add(o, "name", listed->name);
	device_config_line(d, &config);
	string_add(o, "config", text_str(&config));
	return o;
}

/* Those of the list that no device answers to: a slip in the configuration, or a disk that is away. */
static struct json_object *absent_array(const struct config *c)
{
	struct json_object *absent = json_object_new_array();

	for (size_t i = 0; i < c->n_devices; i++) {
		struct json_object *o;
		struct device d;
		struct err e = { 0 };
		size_t n_matching = 0;

		if (device_find(&c->devices[i], &d, &n_matching, &e) == 0 || n_matching > 0)
			continue;
		o = json_object_new_object();
		string_add(o, "name", c->devices[i].name);
		string_add(o, "reason", e.text);
		json_object_array_add(absent, o);
	}
	return absent;
}

static int devices_describe(const struct config *c, int proc_fd)
{
	struct json_object *o = json_object_new_object(), *devices = json_object_new_array();
	AUTO_FREE struct device *all = NULL;
	struct err e = { 0 };
	size_t n;

	if (device_list(&all, &n, &e) < 0) {
		json_object_put(o);
		json_object_put(devices);
		return error_print(&e);
	}
	for (size_t i = 0; i < n; i++)
		json_object_array_add(devices, device_object(&all[i], c, proc_fd));
	json_object_object_add(o, "ok", json_object_new_boolean(true));
	json_object_object_add(o, "devices", devices);
	json_object_object_add(o, "absent", absent_array(c));
	return object_print(o);
}

/* ---- guard ---- */

static bool option_given(const char *options, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = options == NULL ? "" : options; (s = strstr(s, word)) != NULL; s += n)
		if ((s == options || s[-1] == ',' || s[-1] == ' ') && (s[n] == '\0' || s[n] == ',' || s[n] == ' '))
			return true;
	return false;
}

static int guard_describe(const struct config *c, const char *name, const char *options, int proc_fd)
{
	struct guard_ask ask = { .may_erase = option_given(options, "erase"), .host_proc_fd = proc_fd };
	struct json_object *o;
	struct device d;
	struct err e = { 0 };

	if (name == NULL) {
		err_set(&e, ERR_USAGE, "guard needs the name of a device");
		return error_print(&e);
	}
	ask.listed = config_find_device(c, name);
	if (ask.listed == NULL) {
		err_set(&e, ERR_REFUSED, "device '%s' is not listed by this host's configuration", name);
		err_hint(&e, "`iosweep devices` prints the lines that list a device");
		return error_print(&e);
	}
	if (guard_ask(&ask, &d, &e) < 0)
		return error_print(&e);
	o = json_object_new_object();
	json_object_object_add(o, "ok", json_object_new_boolean(true));
	string_add(o, "path", d.path);
	json_object_object_add(o, "size", json_object_new_int64(d.size_bytes));
	return object_print(o);
}

/* ---- doctor ---- */

static void check_add(void *data, const char *name, enum doctor_state state, const char *text, const char *hint)
{
	struct json_object *o = json_object_new_object();

	string_add(o, "name", name);
	string_add(o, "state", doctor_state_name(state));
	string_add(o, "text", text);
	string_add(o, "hint", hint);
	json_object_array_add(data, o);
}

static int doctor_describe(const struct config *c)
{
	struct json_object *o = json_object_new_object(), *checks = json_object_new_array();

	doctor_examine(c, check_add, checks);
	json_object_object_add(o, "ok", json_object_new_boolean(true));
	json_object_object_add(o, "checks", checks);
	return object_print(o);
}

int describe_main(const char *config_file, const char *what, const char *name, const char *options)
{
	AUTO_CLOSE int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct config *c = NULL;
	struct err e = { 0 };
	int status;

	if (proc_fd < 0) {
		err_sys(&e, errno, "open '/proc'");
		return error_print(&e);
	}
	if (config_read_one(config_file, &c, &e) < 0)
		return error_print(&e);
	if (strcmp(what, "devices") == 0) {
		status = devices_describe(c, proc_fd);
	} else if (strcmp(what, "doctor") == 0) {
		status = doctor_describe(c);
	} else if (strcmp(what, "guard") == 0) {
		status = guard_describe(c, name, options, proc_fd);
	} else {
		err_set(&e, ERR_USAGE, "nothing to describe is called '%s'", what);
		status = error_print(&e);
	}
	config_free(c);
	return status;
}
