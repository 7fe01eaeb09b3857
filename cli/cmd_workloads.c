/* SPDX-License-Identifier: MIT
 *
 * iosweep workloads: the definitions of this host, one trial of one of them, or the numbers in a saved output.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <string.h>

#include "cli/command.h"
#include "cli/definitions.h"
#include "cli/scale.h"
#include "cli/table.h"
#include "cli/try.h"
#include "schema/state.h"

#define VERSION_TIMEOUT_NS (5 * INT64_C(1000000000))

static const struct option_def options[] = {
	{ "directory", 'C', "DIR", "try: make the work directory below DIR (default: here)" },
	{ "ram", 0, "SIZE", "try: what '2x ram' refers to (default 128MiB)" },
	{ "device", 0, "PATH", "try: what '${device}' stands for" },
	{ "keep", 0, NULL, "try: leave the work directory" },
	{ "exit-status", 0, "N", "parse: how the tool ended (default 0)" },
	{ "elapsed", 0, "TIME", "parse: how long it took, for metrics that need it" },
	{ "asked", 0, "WORDS", "parse mounts: the mount options that were asked for" },
	OPTIONS_TABLE,
	OPTIONS_END
};

/* The first word that begins like a version in what the tool prints about itself. */
static const char *version_find(const struct capture *c, struct arena *a)
{
	for (size_t i = 0; i + 2 < c->n; i++) {
		size_t n = 0;

		if (c->data[i] < '0' || c->data[i] > '9' || (i > 0 && strchr(".0123456789", c->data[i - 1]) != NULL))
			continue;
		while (i + n < c->n && c->data[i + n] != '\0' && strchr(" \t\r\n,;()", c->data[i + n]) == NULL)
			n++;
		if (memchr(c->data + i, '.', n) != NULL)
			return arena_strndup(a, c->data + i, n);
		i += n;
	}
	return NULL;
}

static const char *tool_version(const struct workload *w, struct arena *a)
{
	struct try_program p = { .dir = "/", .out_fd = -1, .err_fd = -1 };
	struct capture out = { 0 }, err = { 0 };
	const char *version, *program;
	size_t n = 0;

	while (w->version[n] != NULL)
		n++;
	program = n > 0 ? workload_program(w, w->version[0], a) : NULL;
	if (program == NULL)
		return NULL;
	p.argv = arena_array(a, n + 1, sizeof(*p.argv));
	memcpy(p.argv, w->version, n * sizeof(*p.argv));
	p.argv[0] = arena_strdup(a, program);
	if (try_program_start(&p, NULL) < 0)
		return NULL;
	try_programs_wait(&p, 1, VERSION_TIMEOUT_NS, NULL);
	try_program_output(&p, a, &out, &err);
	version = version_find(&out, a);
	return version != NULL ? version : version_find(&err, a);
}

static int list_print(const struct registry *r, const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TABLE struct table *t = table_new("workloads");
	size_t name = table_column(t, "name", "NAME", TABLE_KEY), tool = table_column(t, "tool", "TOOL", 0);
	size_t state = table_column(t, "state", "STATE", 0),
	       metrics = table_column(t, "metrics", "METRICS", TABLE_RIGHT | TABLE_EXTRA);
	size_t about = table_column(t, "about", "ABOUT", TABLE_WRAP),
	       file = table_column(t, "file", "FROM", TABLE_WRAP);

	for (size_t i = 0; i < registry_count(r); i++) {
		const struct workload *w = registry_at(r, i);
		const char *missing = workload_missing(w), *version = missing == NULL ? tool_version(w, a) : NULL;
		const char *program = w->version[0] != NULL ? w->version[0] : w->needs[0] != NULL ? w->needs[0] : "";

		table_row(t);
		table_text(t, name, w->name);
		table_text(t, tool, version != NULL ? arena_printf(a, "%s %s", program, version) : program);
		table_text(t, state, missing == NULL ? "ready" : arena_printf(a, "needs %s", missing));
		table_integer(t, metrics, (int64_t)w->n_metrics);
		table_text(t, about, w->about);
		table_text(t, file, w->file);
	}
	return table_print(t, o, stdout, e);
}

static void measured_row(struct table *t, const size_t *columns, const struct measured *m)
{
	struct scale scale = scale_choose(m->unit, &m->value, 1, SCALE_DECIMAL);
	char value[SIZE_TEXT];

	table_row(t);
	table_text(t, columns[0], m->name);
	table_text(t, columns[1], m->label);
	table_number(t, columns[2], m->value, scale_format(&scale, m->value, value));
	table_text(t, columns[3], m->unit);
	table_show(t, columns[3], scale.name);
	table_text(t, columns[4], better_name(m->better));
	table_text(t, columns[5], m->found_by);
}

static void outcome_json(const char *workload, const struct outcome *u, FILE *out)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const struct measured *at = u->state == EXTRACT_OK ? u->at : u->seen;
	size_t n = u->state == EXTRACT_OK ? u->n : u->n_seen;

	json_object_object_add(o, "workload", json_object_new_string(workload));
	json_object_object_add(o, "state",
	                       json_object_new_string(u->suspect != NULL ? "suspect" : extract_state_name(u->state)));
	json_object_object_add(o, "reason", json_object_new_string(u->suspect != NULL ? u->suspect : u->reason));
	json_object_object_add(o, "stored", json_object_new_boolean(u->state == EXTRACT_OK));
	for (size_t i = 0; i < n; i++) {
		struct json_object *m = json_object_new_object();

		json_object_object_add(m, "metric", json_object_new_string(at[i].name));
		json_object_object_add(m, "label", json_object_new_string(at[i].label));
		json_object_object_add(m, "value", json_object_new_double(at[i].value));
		json_object_object_add(m, "unit", json_object_new_string(at[i].unit));
		json_object_object_add(m, "better", json_object_new_string(better_name(at[i].better)));
		json_object_object_add(m, "found_by", json_object_new_string(at[i].found_by));
		json_object_array_add(list, m);
	}
	json_object_object_add(o, "metrics", list);
	json_print(o, out);
}

/* Metrics on stdout, the verdict on stderr (in JSON: beside them).  Exit 0 only for what a sweep would store. */
static int outcome_print(const struct workload *w, const struct outcome *u, const struct options *o, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("metrics");
	const size_t columns[] = {
		table_column(t, "metric", "METRIC", TABLE_KEY), table_column(t, "label", "LABEL", TABLE_KEY),
		table_column(t, "value", "VALUE", TABLE_RIGHT), table_column(t, "unit", "UNIT", 0),
		table_column(t, "better", "BETTER", 0),         table_column(t, "found_by", "FOUND BY", TABLE_WRAP),
	};
	enum table_format format;

	if (table_format_of(o, &format, e) < 0)
		return -1;
	if (format == TABLE_JSON) {
		outcome_json(w->name, u, stdout);
		return u->state == EXTRACT_OK ? EXIT_GOOD : EXIT_BAD;
	}
	for (size_t i = 0; i < (u->state == EXTRACT_OK ? u->n : u->n_seen); i++)
		measured_row(t, columns, u->state == EXTRACT_OK ? &u->at[i] : &u->seen[i]);
	if (table_rows(t) > 0 && table_print(t, o, stdout, e) < 0)
		return -1;
	if (u->state != EXTRACT_OK)
		fprintf(stderr, PROGRAM ": %s: %s: %s; %s\n", w->name, extract_state_name(u->state), u->reason,
		        u->n_seen > 0 ? "a sweep would store none of these numbers" : "there is no number to store");
	else if (u->suspect != NULL)
		fprintf(stderr, PROGRAM ": %s: suspect: %s\n", w->name, u->suspect);
	return u->state == EXTRACT_OK ? EXIT_GOOD : EXIT_BAD;
}

static const struct workload *workload_named(const struct registry *r, const char *name, struct err *e)
{
	const struct workload *w = registry_find(r, name);
	AUTO_FREE const char **names = xcalloc(registry_count(r) + 1, sizeof(*names));
	const char *nearest;

	if (w != NULL)
		return w;
	for (size_t i = 0; i < registry_count(r); i++)
		names[i] = registry_at(r, i)->name;
	nearest = text_nearest(name, names, registry_count(r));
	err_set(e, ERR_USAGE, "there is no workload '%s'", name);
	if (nearest != NULL)
		err_hint(e, "did you mean '%s'?", nearest);
	return NULL;
}

/* PARAM=VALUE arguments over the defaults. */
static int params_set(const struct workload *w, const char *const *given, int n, struct arena *a,
                      struct workload_param **ret, size_t *ret_n, struct err *e)
{
	struct workload_param *params = arena_array(a, w->n_params + (size_t)n + 1, sizeof(*params));
	size_t n_params = w->n_params;

	if (n_params > 0)
		memcpy(params, w->params, n_params * sizeof(*params));
	for (int i = 0; i < n; i++) {
		const char *equals = strchr(given[i], '=');
		char *name = equals != NULL ? arena_strndup(a, given[i], (size_t)(equals - given[i])) : NULL;
		size_t at = 0;

		if (name == NULL)
			return err_set(e, ERR_USAGE, "'%s' is not PARAMETER=VALUE", given[i]);
		if (!workload_takes(w, name))
			return err_set(e, ERR_USAGE, "workload '%s' has no parameter '%s'", w->name, name);
		while (at < n_params && strcmp(params[at].name, name) != 0)
			at++;
		params[at] = (struct workload_param){ name, equals + 1 };
		n_params += at == n_params;
	}
	*ret = params;
	*ret_n = n_params;
	return 0;
}

static int try_print(const struct registry *r, const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	const struct workload *w = o->n_arguments > 1 ? workload_named(r, o->arguments[1], e) : NULL;
	struct try_options t = { .directory = ".", .ram_bytes = 128 << 20, .device = options_text(o, "device"),
		                 .keep = options_has(o, "keep"), .is_loud = true };
	struct workload_param *params;
	struct outcome outcome;
	size_t n;

	if (o->n_arguments < 2)
		return err_set(e, ERR_USAGE, "'workloads try' needs the name of a workload");
	if (w == NULL || params_set(w, o->arguments + 2, o->n_arguments - 2, a, &params, &n, e) < 0)
		return -1;
	if (options_has(o, "directory"))
		t.directory = options_text(o, "directory");
	if (options_has(o, "ram") && size_parse(options_text(o, "ram"), 0, &t.ram_bytes, e) < 0)
		return err_in(e, "--ram");
	if (try_workload(w, params, n, &t, a, &outcome, e) < 0)
		return err_in(e, "%s", w->name);
	return outcome_print(w, &outcome, o, e);
}

static bool kind_is_state(const char *kind)
{
	for (size_t i = 0; state_kinds[i] != NULL; i++)
		if (strcmp(state_kinds[i], kind) == 0)
			return true;
	return false;
}

static struct table *state_table(const struct state *s)
{
	struct table *t = table_new("facts");
	size_t name = table_column(t, "fact", "FACT", TABLE_KEY), of = table_column(t, "of", "OF", TABLE_KEY);
	size_t value = table_column(t, "value", "VALUE", 0), unit = table_column(t, "unit", "UNIT", 0);

	for (size_t i = 0; i < s->n; i++) {
		table_row(t);
		table_text(t, name, s->at[i].name);
		table_text(t, of, s->at[i].label);
		if (s->at[i].text != NULL)
			table_text(t, value, s->at[i].text);
		else
			table_number(t, value, s->at[i].value, NULL);
		table_text(t, unit, s->at[i].unit);
	}
	return t;
}

/* A text about the state of the machine; exit 0 for one in which a trial may begin. */
static int state_print(const struct options *o, const struct text *data, int exit_status, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TABLE struct table *t = NULL;
	char **asked = NULL;
	struct state s;
	size_t n;

	if (options_has(o, "asked") && words_split(a, options_text(o, "asked"), &asked, &n, e) < 0)
		return err_in(e, "--asked");
	if (state_parse(o->arguments[1], text_str(data), data->n, exit_status, asked, a, &s, e) < 0)
		return -1;
	t = state_table(&s);
	if (table_rows(t) > 0 && table_print(t, o, stdout, e) < 0)
		return -1;
	fprintf(stderr, PROGRAM ": %s: %s%s%s\n", o->arguments[1], state_verdict_name(s.verdict),
	        *s.reason != '\0' ? ": " : "", s.reason);
	return s.verdict == STATE_OK || s.verdict == STATE_IDLE || s.verdict == STATE_SUSPECT ? EXIT_GOOD : EXIT_BAD;
}

static int saved_read(const char *file, struct text *ret, struct err *e)
{
	return file_read(AT_FDCWD, strcmp(file, "-") == 0 ? "/dev/stdin" : file, (size_t)64 << 20, ret, e);
}

static int workload_parse(const struct workload *w, const struct options *o, const struct text *data, int exit_status,
                          struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	const struct capture c = { .step = "run", .stream = "", .data = text_str(data), .n = data->n };
	struct fact facts[] = { { "copies", 1 }, { "elapsed", 0 } };
	struct outcome outcome;
	int64_t elapsed_ns = 0;

	if (options_has(o, "elapsed") && duration_parse(options_text(o, "elapsed"), &elapsed_ns, e) < 0)
		return err_in(e, "--elapsed");
	facts[1].value = (double)elapsed_ns / 1e9;
	if (extract(w, w->params, w->n_params, &c, 1, facts, elapsed_ns > 0 ? 2 : 1, exit_status, a, &outcome, e) < 0)
		return err_in(e, "%s", w->name);
	return outcome_print(w, &outcome, o, e);
}

static int parse_print(const struct registry *r, const struct options *o, struct err *e)
{
	AUTO_TEXT struct text data = { 0 };
	const struct workload *w;
	int64_t exit_status = 0;

	if (o->n_arguments != 3)
		return err_set(e, ERR_USAGE, "'workloads parse' needs the name of a workload and a file");
	if (options_integer(o, "exit-status", 0, 255, &exit_status, e) < 0)
		return -1;
	w = registry_find(r, o->arguments[1]);
	if (w == NULL && kind_is_state(o->arguments[1]))
		return saved_read(o->arguments[2], &data, e) < 0 ? -1 : state_print(o, &data, (int)exit_status, e);
	w = workload_named(r, o->arguments[1], e);
	if (w == NULL || saved_read(o->arguments[2], &data, e) < 0)
		return -1;
	return workload_parse(w, o, &data, (int)exit_status, e);
}

/* As it was written: what it takes as parameters, and where to begin with one of one's own. */
static int definition_print(const struct registry *r, const struct options *o, struct err *e)
{
	const struct workload *w = o->n_arguments == 2 ? workload_named(r, o->arguments[1], e) : NULL;

	if (o->n_arguments != 2)
		return err_set(e, ERR_USAGE, "'workloads show' needs the name of a workload");
	if (w == NULL)
		return -1;
	fprintf(stderr, PROGRAM ": from %s\n", w->file);
	fputs(w->source, stdout);
	return EXIT_GOOD;
}

static int workloads_run(const struct options *o, struct err *e)
{
	AUTO_DEFINITIONS struct definitions d = { 0 };
	const char *what = o->n_arguments > 0 ? o->arguments[0] : "list";
	int status;

	if (definitions_open(&d, e) < 0)
		return -1;
	if (strcmp(what, "show") == 0)
		return definition_print(d.registry, o, e);
	if (strcmp(what, "try") == 0)
		return try_print(d.registry, o, e);
	if (strcmp(what, "parse") == 0)
		return parse_print(d.registry, o, e);
	if (strcmp(what, "list") != 0 || o->n_arguments > 1)
		return err_set(e, ERR_USAGE, "'workloads %s': it is list, show NAME, try NAME or parse NAME FILE",
		               what);
	status = list_print(d.registry, o, e);
	return status < 0 ? -1 : d.n_bad > 0 ? EXIT_BAD : EXIT_GOOD;
}

const struct command cmd_workloads = {
	.name = "workloads",
	.arguments = "[list | show NAME | try NAME [PARAMETER=VALUE...] | parse NAME FILE]",
	.max_arguments = -1,
	.about = "list the workload definitions, show or try one, or take a saved output apart",
	.details = "  list              where each comes from, whether its tools are here, and which version\n"
	           "  show NAME         the definition itself, with its parameters and what it measures\n"
	           "  try NAME          run one trial in a directory, as you, without the daemon; print the\n"
	           "                    metrics and how each was found\n"
	           "  parse NAME FILE   the same from a saved output; '-' is standard input.  NAME may also be\n"
	           "                    mdstat, blkid, mkfs, xfs-info, mounts or blockdev: the machine's state\n",
	.options = options,
	.run = workloads_run,
};
