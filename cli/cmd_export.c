/* SPDX-License-Identifier: MIT
 *
 * iosweep export: sweeps in one portable file, for `iosweep import` elsewhere.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/choose.h"
#include "schema/store_merge.h"

static const struct option_def options[] = {
	{ "output", 'o', "FILE", "write there ('-': standard output, the default if that is no terminal)" },
	{ "lines", 0, NULL, "JSON lines instead, one object a line, without the raw outputs" },
	{ "no-outputs", 0, NULL, "leave out the raw outputs of the tools" },
	{ "list", 0, NULL, "only list what could be exported: UUID, state, cells, trials, end in ms" },
	OPTIONS_END
};

/* IDs and filters -> sweeps; no argument: all that have ended. */
static int sweeps_choose(const struct options *o, struct store *s, struct arena *a, struct merge_options *ret,
                         struct err *e)
{
	AUTO_FREE const char **words = xcalloc((size_t)o->n_arguments + 1, sizeof(*words));
	int64_t *ids = arena_array(a, (size_t)o->n_arguments + 1, sizeof(*ids)), *found = NULL;
	size_t n_words = 0, n = 0, n_found = 0;
	struct filter f;

	for (int i = 0; i < o->n_arguments; i++) {
		if (choose_is_filter(o->arguments[i]))
			words[n_words++] = o->arguments[i];
		else if (open_sweep(s, o->arguments[i], &ids[n++], e) < 0)
			return -1;
	}
	if (n_words > 0) {
		int64_t *both;

		if (filter_parse(words, n_words, a, &f, e) < 0 ||
		    store_select_sweeps(s, &f, a, &found, &n_found, e) < 0)
			return -1;
		both = arena_array(a, n + n_found + 1, sizeof(*both));
		memcpy(both, ids, n * sizeof(*ids));
		if (n_found > 0)
			memcpy(both + n, found, n_found * sizeof(*found));
		ids = both;
		n += n_found;
	}
	ret->sweep_ids = o->n_arguments > 0 ? ids : NULL;
	ret->n_sweep_ids = n;
	if (o->n_arguments > 0 && n == 0)
		return err_set(e, ERR_NOT_FOUND, "no sweep meets the filter");
	return 0;
}

static int file_write(struct store *s, const struct merge_options *m, const char *path, struct err *e)
{
	struct merge_report report = { 0 };
	bool to_stdout = path == NULL || strcmp(path, "-") == 0;
	char sweeps[COUNT_TEXT], cells[COUNT_TEXT], trials[COUNT_TEXT];

	if (to_stdout && isatty(STDOUT_FILENO)) {
		err_set(e, ERR_USAGE, "export: the file is compressed data and standard output is a terminal");
		return err_hint(e, "name a file: -o FILE");
	}
	if (store_export(s, m, to_stdout ? NULL : path, to_stdout ? STDOUT_FILENO : -1, &report, e) < 0)
		return -1;
	fprintf(stderr, PROGRAM ": %s, %s, %s\n", count_format(report.sweeps_new, "sweep", sweeps),
	        count_format(report.cells, "cell", cells), count_format(report.trials, "trial", trials));
	return 0;
}

/* The file appears under its name when it is whole. */
static int lines_file_write(struct store *s, const struct merge_options *m, const char *path, struct err *e)
{
	AUTO_FREE char *part = xasprintf("%s.part", path);
	FILE *out = fopen(part, "we");
	int rc;

	if (out == NULL)
		return err_sys(e, errno, "create '%s'", part);
	rc = store_export_lines(s, m, out, e);
	if (rc == 0 && (fflush(out) != 0 || fsync(fileno(out)) < 0))
		rc = err_sys(e, errno, "write '%s'", part);
	if (fclose(out) != 0 && rc == 0)
		rc = err_sys(e, errno, "write '%s'", part);
	if (rc == 0 && rename(part, path) < 0)
		rc = err_sys(e, errno, "write '%s'", path);
	if (rc < 0)
		unlink(part);
	return rc;
}

static int lines_write(struct store *s, const struct merge_options *m, const char *path, struct err *e)
{
	if (path == NULL || strcmp(path, "-") == 0)
		return store_export_lines(s, m, stdout, e);
	return lines_file_write(s, m, path, e);
}

static int export_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	struct merge_options m = { .with_outputs = !options_has(o, "no-outputs") };
	const char *path = options_text(o, "output");
	int rc;

	if (open_store(&s, e) < 0)
		return -1;
	if (options_has(o, "list"))
		return store_export_list(s, stdout, e) < 0 ? -1 : EXIT_GOOD;
	if (sweeps_choose(o, s, a, &m, e) < 0)
		return -1;
	rc = options_has(o, "lines") ? lines_write(s, &m, path, e) : file_write(s, &m, path, e);
	return rc < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_export = {
	.name = "export",
	.arguments = "[ID...] [FILTER...]",
	.max_arguments = -1,
	.about = "write sweeps to a portable file",
	.details = "Without arguments, all sweeps that have ended.  The file is a store of its own, compressed; 'iosweep import'\n"
	           "takes it in, in any order and any number of times.",
	.options = options,
	.run = export_run,
};
