/* SPDX-License-Identifier: MIT
 *
 * iosweep submit: hands a plan to the daemon, and with --wait follows the sweep to its end and prints its table.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "cli/source.h"
#include "cli/table.h"
#include "schema/message.h"
#include "schema/yaml.h"

static const struct option_def options[] = {
	{ "wait", 'w', NULL, "wait until the sweep has ended, then print its table" },
	{ "strict", 0, NULL, "an infeasible cell makes the sweep fail" },
	{ "priority", 'p', "N", "-100 to 100, higher runs first (default: the plan's, or 0)" },
	{ "rehearse", 0, NULL, "same cells and tools, but on an image and with small sizes" },
	{ "quiet", 'q', NULL, "with --wait: no progress" },
	{ "json", 0, NULL, "print JSON" },
	OPTIONS_END
};

/* What makes a text no YAML at all cannot be sent (a NUL, invalid UTF-8), and needs no daemon to be found. */
static int source_check(const struct text *source, struct diags *d, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct node *root;

	if (yaml_read(a, text_str(source), source->n, d, &root) == 0)
		return 0;
	diags_sort(d);
	return err_set(e, ERR_USAGE, "'%s' is no plan", d->file);
}

static struct json_object *request_make(const struct options *o, const char *file, const struct text *source,
                                        int64_t priority)
{
	struct json_object *request = client_request("submit"), *submit_options = json_object_new_object();

	json_object_object_add(request, "plan", json_object_new_string_len(text_str(source), (int)source->n));
	json_object_object_add(request, "file", json_object_new_string(source_name(file)));
	if (options_has(o, "strict"))
		json_object_object_add(submit_options, "strict", json_object_new_boolean(1));
	if (options_has(o, "rehearse"))
		json_object_object_add(submit_options, "rehearse", json_object_new_boolean(1));
	if (options_has(o, "priority"))
		json_object_object_add(submit_options, "priority", json_object_new_int64(priority));
	json_object_object_add(request, "options", submit_options);
	return request;
}

/* The sweep's number and how many cells it has.  Diagnostics are printed here, as FILE:LINE:COLUMN. */
static int plan_send(const struct options *o, struct json_object **ret, struct err *e)
{
	AUTO_TEXT struct text source = { 0 };
	const char *file = o->arguments[0];
	int64_t priority = 0;
	struct diags d;
	int rc;

	if (options_integer(o, "priority", -100, 100, &priority, e) < 0 || source_read(file, &source, e) < 0)
		return -1;
	diags_init(&d, source_name(file));
	rc = source_check(&source, &d, e);
	if (rc == 0)
		rc = client_ask(request_make(o, file, &source, priority), ret, &d, e);
	if (rc < 0)
		diags_print(stderr, &d);
	diags_done(&d);
	return rc;
}

static int sweep_await(const struct options *o, int64_t id, struct err *e)
{
	const struct progress_wanted wanted = { .is_quiet = options_has(o, "quiet"), .ends_at_pause = true };
	AUTO_STORE struct store *s = NULL;
	enum sweep_state state;

	if (open_store(&s, e) < 0 || progress_follow(s, id, &wanted, &state, e) < 0 ||
	    show_sweep(s, id, options_has(o, "json"), e) < 0)
		return -1;
	return state == SWEEP_DONE ? EXIT_GOOD : EXIT_BAD;
}

static void accepted_print(const struct options *o, struct json_object *reply, int64_t id)
{
	int64_t cells = message_integer_or(reply, "cells", 0);

	if (options_has(o, "wait")) {
		if (!options_has(o, "quiet"))
			fprintf(stderr, PROGRAM ": sweep %" PRId64 ", %" PRId64 " cell%s\n", id, cells, cells == 1 ? "" : "s");
		return;
	}
	if (options_has(o, "json")) {
		json_object_object_del(reply, "ok");
		json_object_object_del(reply, "version");
		json_print(json_object_get(reply), stdout);
		return;
	}
	printf("sweep %" PRId64 ": %" PRId64 " cell%s\n", id, cells, cells == 1 ? "" : "s");
}

static int submit_run(const struct options *o, struct err *e)
{
	struct json_object *reply = NULL;
	int64_t id;

	if (plan_send(o, &reply, e) < 0)
		return -1;
	if (message_integer(reply, "sweep", &id, e) < 0) {
		json_object_put(reply);
		return -1;
	}
	accepted_print(o, reply, id);
	json_object_put(reply);
	return options_has(o, "wait") ? sweep_await(o, id, e) : EXIT_GOOD;
}

const struct command cmd_submit = {
	.name = "submit",
	.arguments = "PLAN",
	.min_arguments = 1,
	.max_arguments = 1,
	.about = "hand a plan to the daemon",
	.details = "PLAN is a file as iosweep-plan(5) describes it, or - for standard input.  Nothing is changed if it has\n"
	           "errors.  With --wait the exit status is 0 if every cell ended well or was infeasible, else 1, also if the sweep\n"
	           "is paused without anybody asking for it (its device is lost, say): the reason is printed then.  Ending\n"
	           "the command does not end the sweep, and the daemon may be restarted meanwhile.",
	.options = options,
	.run = submit_run,
};
