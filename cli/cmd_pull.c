/* SPDX-License-Identifier: MIT
 *
 * iosweep pull: fetch what other hosts have measured, over ssh, all hosts at a time.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/pull.h"
#include "schema/config.h"

static const struct option_def options[] = {
	{ "command", 0, "WORDS", "how iosweep is called there (default 'iosweep'), as 'sudo iosweep'" },
	{ "jobs", 'j', "N", "hosts at a time (default 8)" },
	{ "no-outputs", 0, NULL, "leave out the raw outputs of the tools" },
	OPTIONS_END
};

#define HOSTS_MAX 1000

/* Runs in a child: its exit status is the command's for this host. */
static int child_run(const char *host, const struct pull_options *o)
{
	struct err e = { 0 };

	if (pull_host(host, o, &e) == 0)
		return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_BAD;
	err_in(&e, "%s", host);
	err_print(stderr, PROGRAM, &e);
	return EXIT_BAD;
}

/* Waits for one child; returns whether its host went well. */
static bool child_wait(void)
{
	int status;

	while (waitpid(-1, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_GOOD;
}

static int hosts_pull(const struct options *o, const struct pull_options *p, int64_t jobs, struct err *e)
{
	int64_t running = 0;
	int failed = 0;

	fflush(stdout);
	for (int i = 0; i < o->n_arguments; i++) {
		pid_t pid;

		if (running == jobs) {
			failed += !child_wait();
			running--;
		}
		pid = fork();
		if (pid < 0)
			return err_sys(e, errno, "start a process");
		if (pid == 0)
			_exit(child_run(o->arguments[i], p));
		running++;
	}
	for (; running > 0; running--)
		failed += !child_wait();
	if (failed > 0)
		fprintf(stderr,
		        PROGRAM
		        ": %d of %d hosts failed; what was fetched is kept, and the next pull goes on from there\n",
		        failed, o->n_arguments);
	return failed > 0 ? EXIT_BAD : EXIT_GOOD;
}

static int pull_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct store *s = NULL;
	struct pull_options p = { .db = config_default_db(), .with_outputs = !options_has(o, "no-outputs") };
	const char *command = options_has(o, "command") ? options_text(o, "command") : "iosweep";
	int64_t jobs = 8;
	size_t n;

	if (options_integer(o, "jobs", 1, HOSTS_MAX, &jobs, e) < 0 || words_split(a, command, &p.command, &n, e) < 0)
		return -1;
	if (n == 0 || n > 16)
		return err_set(e, ERR_USAGE, "pull: --command takes 1 to 16 words");
	for (int i = 0; i < o->n_arguments; i++)
		if (o->arguments[i][0] == '-' || o->arguments[i][0] == '\0')
			return err_set(e, ERR_USAGE, "pull: '%s' is not a host", o->arguments[i]);
	/* made here, so that the children do not race for it */
	if (store_open(p.db, STORE_WRITE, &s, e) < 0)
		return -1;
	store_close(s);
	return hosts_pull(o, &p, jobs, e);
}

const struct command cmd_pull = {
	.name = "pull",
	.arguments = "HOST...",
	.min_arguments = 1,
	.max_arguments = HOSTS_MAX,
	.about = "fetch the sweeps of other hosts over ssh",
	.details = "Runs 'ssh HOST iosweep export' on all hosts at a time and merges what this store lacks; a host that is down\n"
	           "does not keep the others.  ssh must work without a password; see ssh_config(5) for users, ports, keys.",
	.options = options,
	.run = pull_run,
};
