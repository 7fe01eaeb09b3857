/* SPDX-License-Identifier: MIT
 *
 * iosweep annotate: a note on a sweep.
 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/open.h"
#include "schema/config.h"
#include "schema/store_merge.h"

static const struct option_def options[] = { OPTIONS_END };

static int annotate_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;
	AUTO_TEXT struct text note = { 0 };
	int64_t id;

	if (store_open(config_default_db(), STORE_WRITE, &s, e) < 0 || open_sweep(s, o->arguments[0], &id, e) < 0)
		return -1;
	for (int i = 1; i < o->n_arguments; i++)
		text_printf(&note, "%s%s", i > 1 ? " " : "", o->arguments[i]);
	if (!text_is_printable(text_str(&note)))
		return err_set(e, ERR_USAGE, "annotate: the note is not one line of UTF-8 without control characters");
	return store_annotate(s, id, text_str(&note), e) < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.arguments = "ID TEXT...",
	.min_arguments = 2,
	.max_arguments = -1,
	.about = "put a note on a sweep, in place of the one it has",
	.details = "An empty TEXT ('') takes the note away.",
	.options = options,
	.run = annotate_run,
};
