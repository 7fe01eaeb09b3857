/* SPDX-License-Identifier: MIT
 *
 * iosweep watch: the progress of a sweep until it ends.
 */
#include "cli/command.h"
#include "cli/open.h"
#include "cli/progress.h"

static const struct option_def options[] = {
	OPTIONS_END
};

static int watch_run(const struct options *o, struct err *e)
{
	const struct progress_wanted wanted = { .needs_daemon = true };
	AUTO_STORE struct store *s = NULL;
	enum sweep_state state;
	int64_t id;

	if (open_store(&s, e) < 0 || open_sweep(s, o->arguments[0], &id, e) < 0 ||
	    progress_follow(s, id, &wanted, &state, e) < 0)
		return -1;
	return EXIT_GOOD;
}

const struct command cmd_watch = {
	.name = "watch",
	.arguments = "[ID]",
	.max_arguments = 1,
	.about = "show the progress of a sweep until it ends",
	.details = "The newest sweep if no ID is given.  On a terminal one line is redrawn; elsewhere a line is printed for each\n"
	           "trial, at most one a second.  A paused sweep is watched until somebody resumes it.  Exit status 0 when the\n"
	           "sweep has ended, however; 3 if no daemon answers, for then it does not go on.",
	.options = options,
	.run = watch_run,
};
