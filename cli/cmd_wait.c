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

/* All names are looked up before the first wait: `last` may be another one later. */
static int names_find(const struct options *o, struct store *s, int64_t *ret_ids, int *ret_n, struct err *e)
{
	int n = o->n_arguments > 0 ? o->n_arguments : 1;

	for (int i = 0; i < n; i++)
		if (open_sweep(s, o->arguments[i], &ret_ids[i], e) < 0)
			return -1;
	*ret_n = n;
	return 0;
}

static int sweep_wait(struct store *s, int64_t id, int64_t deadline_ns, struct err *e)
{
	struct progress_wanted wanted = { .is_quiet = true, .ends_at_pause = true };
	enum sweep_state state;

	if (deadline_ns != 0)
		wanted.timeout_ns = deadline_ns > clock_ns() ? deadline_ns - clock_ns() : 1;
	if (progress_follow(s, id, &wanted, &state, e) < 0)
		return -1;
	if (state == SWEEP_DONE || state == SWEEP_IMPORTED)
		return EXIT_GOOD;
	if (state == SWEEP_PAUSED)
		return EXIT_BAD; /* the reason is told */
	fprintf(stderr, PROGRAM ": sweep %" PRId64 " %s\n", id, state == SWEEP_CANCELLED ? "was cancelled" : "has failed");
	return EXIT_BAD;
}

static int wait_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;
	AUTO_FREE int64_t *ids = xcalloc((size_t)o->n_arguments + 1, sizeof(*ids));
	const char *timeout = options_text(o, "timeout");
	int64_t timeout_ns = 0, deadline_ns;
	int n, worst = EXIT_GOOD;

	if ((timeout != NULL && duration_parse(timeout, &timeout_ns, e) < 0) || open_store(&s, e) < 0 ||
	    names_find(o, s, ids, &n, e) < 0)
		return -1;
	deadline_ns = timeout != NULL ? clock_ns() + timeout_ns : 0;
	for (int i = 0; i < n; i++) {
		int status = sweep_wait(s, ids[i], deadline_ns, e);

		if (status < 0)
			return -1;
		worst = status > worst ? status : worst;
	}
	return worst;
}

const struct command cmd_wait = {
	.name = "wait",
	.arguments = "[ID...]",
	.max_arguments = -1,
	.about = "wait until sweeps have ended",
	.details = "The newest sweep if no ID is given.  Exit status 0 if all of them are done, 1 if one failed or was cancelled,\n"
	           "or was paused without anybody asking for it (its device is lost, say): the reason is printed then.\n"
	           "3 if no daemon answers for a minute.",
	.options = options,
	.run = wait_run,
};
