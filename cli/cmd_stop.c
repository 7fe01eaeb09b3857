/* SPDX-License-Identifier: MIT
 *
 * iosweep stop: hands the machine back, and proves it with a table of every setting that the sweep had changed: as it
 * was before the sweep, during it, and now.  The values are read by this command itself, not told by the daemon.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/open.h"
#include "cli/table.h"
#include "schema/message.h"

static const struct option_def options[] = {
	{ "now", 0, NULL, "end the running trial at once instead of waiting for its end" },
	OPTIONS_TABLE,
	OPTIONS_END
};

#define POLL_NS 200000000

struct changed { /* arena */
	const char *object, *original, *during;
};

/* The choice in force: "[mq-deadline] none" -> "mq-deadline". */
static const char *bracketed(struct arena *a, const char *value)
{
	const char *open = strchr(value, '['), *close = open != NULL ? strchr(open, ']') : NULL;

	return close != NULL ? arena_strndup(a, open + 1, (size_t)(close - open) - 1) : value;
}

/* What a setting's file says, or NULL if it is gone (an image's loop device) or is no file at all. */
static const char *setting_read(struct arena *a, const char *path)
{
	AUTO_TEXT struct text value = { 0 };

	if (path[0] != '/' || file_read(AT_FDCWD, path, 4096, &value, NULL) < 0)
		return NULL;
	while (value.n > 0 && (value.s[value.n - 1] == '\n' || value.s[value.n - 1] == ' '))
		value.s[--value.n] = '\0';
	return bracketed(a, arena_strdup(a, text_str(&value)));
}

static int changed_collect(struct store *s, int64_t sweep, struct arena *a, struct changed **ret, size_t *ret_n,
                           struct err *e)
{
	struct undo_entry *entries;
	size_t n, used = 0;

	if (store_undo_pending(s, sweep, a, &entries, &n, e) < 0)
		return -1;
	*ret = arena_array(a, n + 1, sizeof(**ret));
	for (size_t i = n; i-- > 0;) { /* in the order they were changed */
		const char *kind = entries[i].kind;

		if (strcmp(kind, "sysfs") != 0 && strcmp(kind, "sysctl") != 0)
			continue;
		(*ret)[used++] = (struct changed){
			.object = entries[i].object,
			.original = bracketed(a, entries[i].original),
			.during = setting_read(a, entries[i].object),
		};
	}
	*ret_n = used;
	return 0;
}

static int sweep_running(struct store *s, struct arena *a, struct sweep *ret, struct err *e)
{
	struct sweep *sweeps;
	size_t n;

	*ret = (struct sweep){ 0 };
	if (store_sweep_list(s, 0, a, &sweeps, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (sweeps[i].state == SWEEP_RUNNING)
			*ret = sweeps[i];
	return 0;
}

/* Asks, and returns once nothing runs any more. */
static int stop_ask(struct store *s, int64_t sweep, bool is_now, struct err *e)
{
	struct json_object *request = client_request(is_now ? "stop" : "pause");
	struct timespec nap = { .tv_nsec = POLL_NS };
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep state = { .state = SWEEP_RUNNING };

	if (!is_now)
		json_object_object_add(request, "sweep", json_object_new_int64(sweep));
	if (client_ask(request, NULL, NULL, e) < 0)
		return -1;
	while (sweep != 0 && state.state == SWEEP_RUNNING) {
		if (store_sweep_get(s, sweep, a, &state, e) < 0)
			return -1;
		if (state.state == SWEEP_RUNNING)
			nanosleep(&nap, NULL);
	}
	return 0;
}

static struct table *settings_table(struct arena *a, const struct changed *at, size_t n, size_t *ret_wrong)
{
	struct table *t = table_new("settings");
	size_t object = table_column(t, "setting", "SETTING", 0), before = table_column(t, "before", "BEFORE", 0);
	size_t during = table_column(t, "during", "DURING", 0), after = table_column(t, "after", "NOW", 0);
	size_t verdict = table_column(t, "verdict", "VERDICT", 0);

	for (size_t i = 0; i < n; i++) {
		const char *now = setting_read(a, at[i].object);
		bool is_back = now != NULL && strcmp(now, at[i].original) == 0;

		table_row(t);
		table_text(t, object, at[i].object);
		table_text(t, before, at[i].original);
		table_text(t, during, at[i].during);
		table_text(t, after, now);
		table_text(t, verdict, now == NULL ? "device gone" : is_back ? "restored" : "NOT RESTORED");
		*ret_wrong += now != NULL && !is_back;
	}
	return t;
}

static int stop_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	AUTO_TABLE struct table *t = NULL;
	struct sweep running;
	struct changed *changed = NULL;
	enum table_format format;
	size_t n = 0, n_wrong = 0;

	if (table_format_of(o, &format, e) < 0 || open_store(&s, e) < 0 || sweep_running(s, a, &running, e) < 0)
		return -1;
	if (running.id != 0 && changed_collect(s, running.id, a, &changed, &n, e) < 0)
		return -1;
	if (running.id == 0 && !options_has(o, "now")) {
		fprintf(stderr, PROGRAM ": nothing runs\n");
		return EXIT_GOOD;
	}
	if (stop_ask(s, running.id, options_has(o, "now"), e) < 0)
		return -1;
	t = settings_table(a, changed, n, &n_wrong);
	if (running.id == 0)
		fprintf(stderr, PROGRAM ": nothing ran\n");
	else
		fprintf(stderr, PROGRAM ": sweep %" PRId64 " has stopped; '" PROGRAM " resume %" PRId64 "' goes on with it\n",
		        running.id, running.id);
	if (n == 0 && format == TABLE_PEOPLE)
		fprintf(stderr, PROGRAM ": no setting was changed\n");
	else if (table_print(t, o, stdout, e) < 0)
		return -1;
	return n_wrong == 0 ? EXIT_GOOD : EXIT_BAD;
}

const struct command cmd_stop = {
	.name = "stop",
	.arguments = "",
	.about = "stop the running sweep, undo everything, and show that it is undone",
	.details = "The sweep is paused: 'iosweep resume' goes on with the missing trials.  The table lists every\n"
	           "setting that was changed, as it was before the sweep, during it, and as read back now.",
	.options = options,
	.run = stop_run,
};
