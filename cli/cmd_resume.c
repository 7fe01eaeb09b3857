/* SPDX-License-Identifier: MIT
 *
 * iosweep resume: go on with paused sweeps.
 */
#include "cli/ask.h"
#include "cli/command.h"

static const struct option_def options[] = {
	{ "json", 0, NULL, "print JSON" },
	OPTIONS_END
};

static int resume_run(const struct options *o, struct err *e)
{
	return ask_sweeps(o, "resume", e);
}

const struct command cmd_resume = {
	.name = "resume",
	.arguments = "ID...",
	.min_arguments = 1,
	.max_arguments = -1,
	.about = "go on with paused sweeps",
	.details = "Only the missing trials run.  A sweep that paused for a reason (a lost device, a full disk) tries again.",
	.options = options,
	.run = resume_run,
};
