/* SPDX-License-Identifier: MIT
 *
 * iosweep pause: stop sweeps between two trials, to go on later.
 */
#include "cli/ask.h"
#include "cli/command.h"

static const struct option_def options[] = {
	{ "json", 0, NULL, "print JSON" },
	OPTIONS_END
};

static int pause_run(const struct options *o, struct err *e)
{
	return ask_sweeps(o, "pause", e);
}

const struct command cmd_pause = {
	.name = "pause",
	.arguments = "ID...",
	.min_arguments = 1,
	.max_arguments = -1,
	.about = "stop sweeps between two trials, to go on later",
	.details = "The running trial ends first; then everything is undone and the sweep waits for 'iosweep resume'.",
	.options = options,
	.run = pause_run,
};
