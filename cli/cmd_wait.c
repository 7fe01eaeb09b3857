/* SPDX-License-Identifier: MIT
 *
 * iosweep wait: for scripts, until sweeps have ended; silent.
 */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/progress.h"

static const struct option_def options[] = {
	{ "timeout", 't', "DURATION", "give up after this long (30s, 5min, 2h): exit status 1" },
	OPTIONS_END
};

static int wait_run(const struct options *o, struct err *e)
{
	struct progress_wanted wanted = { .is_quiet = true };
	AUTO_STORE struct store *s = NULL;
	AUTO_FREE int64_t *ids = xcalloc((size_t)o->n_arguments + 1, sizeof(*ids));
	int n = o->n_arguments, status = EXIT_GOOD;
	const char *timeout = options_text(o, "timeout");
	int64_t begin_ns = clock_ns(), timeout_ns = 0;

	if ((timeout != NULL && duration_parse(timeout, &timeout_ns, e) < 0) || open_store(&s, e) < 0)
		return -1;
	for (int i = 0; i < (n > 0 ? n : 1); i++) /* all names first: `last` may be another one later */
		if (open_sweep(s, n > 0 ? o->arguments[i] : NULL, &ids[i], e) < 0)
			return -1;
	for (int i = 0; i < (n > 0 ? n : 1); i++) {
		enum sweep_state state;
		int64_t left_ns = timeout_ns - (clock_ns() - begin_ns);

		wanted.timeout_ns = timeout == NULL ? 0 : left_ns > 0 ? left_ns : 1;
		if (progress_follow(s, ids[i], &wanted, &state, e) < 0)
			return -1;
		if (state != SWEEP_DONE && state != SWEEP_IMPORTED) {
			fprintf(stderr, PROGRAM ": sweep %" PRId64 " %s\n", ids[i],
			        state == SWEEP_CANCELLED ? "was cancelled" : "has failed");
			status = EXIT_BAD;
		}
	}
	return status;
}

const struct command cmd_wait = {
	.name = "wait",
	.arguments = "[ID...]",
	.max_arguments = -1,
	.about = "wait until sweeps have ended",
	.details = "The newest sweep if no ID is given.  Exit status 0 if all of them are done, 1 if one failed or was cancelled.",
	.options = options,
	.run = wait_run,
};
