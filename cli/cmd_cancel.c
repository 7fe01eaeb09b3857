/* SPDX-License-Identifier: MIT
 *
 * iosweep cancel: end sweeps for good.
 */
#include "cli/ask.h"
#include "cli/command.h"

static const struct option_def options[] = {
	{ "json", 0, NULL, "print JSON" },
	OPTIONS_END
};

static int cancel_run(const struct options *o, struct err *e)
{
	return ask_sweeps(o, "cancel", e);
}

const struct command cmd_cancel = {
	.name = "cancel",
	.arguments = "ID...",
	.min_arguments = 1,
	.max_arguments = -1,
	.about = "end sweeps for good",
	.details = "A running sweep ends its trial at once and undoes what it changed; what was measured stays in the store.\n"
	           "'iosweep wait ID' returns when that is done.",
	.options = options,
	.run = cancel_run,
};
