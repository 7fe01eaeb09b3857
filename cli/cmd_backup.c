/* SPDX-License-Identifier: MIT
 *
 * iosweep backup: a consistent copy of the store, also while a sweep is recorded.
 */
#include "cli/command.h"
#include "cli/open.h"
#include "schema/store_merge.h"

static const struct option_def options[] = { OPTIONS_END };

static int backup_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;

	if (open_store(&s, e) < 0 || store_backup(s, o->arguments[0], e) < 0)
		return -1;
	return EXIT_GOOD;
}

const struct command cmd_backup = {
	.name = "backup",
	.arguments = "FILE",
	.min_arguments = 1,
	.max_arguments = 1,
	.about = "copy the whole store, also while a sweep is recorded",
	.details = "The store is three files while it is in use; copying them with other tools gives a damaged or incomplete\n"
	           "copy.  FILE is one file, checked after copying; IOSWEEP_DB=FILE reads it.",
	.options = options,
	.run = backup_run,
};
