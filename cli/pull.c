/* SPDX-License-Identifier: MIT
 *
 * One host's sweeps over ssh; see pull.h.
 *
 * The host is asked by `iosweep export --list` what it has, then for what this store lacks by UUID.  Nothing is kept
 * about how far a pull got but the sweeps themselves.  On this side ssh is run by an argument list; on the other,
 * sshd joins the words for the user's shell, so only words without a character that means something there are sent.
 */
#include "cli/pull.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/open.h"
#include "schema/base/text.h"
#include "schema/scratch.h"
#include "schema/store_merge.h"

#define BATCH 100 /* sweeps asked for at a time */
#define COMMAND_WORDS_MAX 16

extern char **environ;

/* Options of ssh: no password prompt (a pull runs unattended), give up on a host that does not answer. */
static const char *const ssh_options[] = { "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15",
	                                   "-o", "ServerAliveCountMax=4" };

static bool word_is_plain(const char *word)
{
	for (; *word != '\0'; word++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,@%", *word) == NULL)
			return false;
	return true;
}

struct remote {
	const char *host;
	const struct pull_options *o;
	char *out, *err;  /* owned: files for what it prints */
};

static int status_read(const struct remote *r, int status, struct err *e)
{
	AUTO_TEXT struct text said = { 0 };
	const char *line;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	file_read(AT_FDCWD, r->err, 4096, &said, NULL);
	if (said.s != NULL)
		said.s[strcspn(said.s, "\r\n")] = '\0';
	line = text_str(&said);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* ssh(1), EXIT STATUS: its own failure */
		return err_set(e, ERR_TOOL, "%s", line[0] != '\0' ? line : "ssh failed");
	if (WIFEXITED(status))
		return err_set(e, ERR_TOOL, "'%s export' there exited with status %d: %s", r->o->command[0],
		               WEXITSTATUS(status), line);
	return err_set(e, ERR_TOOL, "ssh was killed by signal %d", WTERMSIG(status));
}

/* Runs ssh HOST COMMAND WORDS...; its standard output goes to r->out. */
static int remote_run(const struct remote *r, const char *const *words, struct err *e)
{
	const char *argv[ARRAY_SIZE(ssh_options) + COMMAND_WORDS_MAX + BATCH + 16];
	posix_spawn_file_actions_t actions;
	size_t n = 0;
	pid_t pid;
	int status, code;

	argv[n++] = "ssh";
	for (size_t i = 0; i < ARRAY_SIZE(ssh_options); i++)
		argv[n++] = ssh_options[i];
	argv[n++] = "--";
	argv[n++] = r->host;
	for (char **c = r->o->command; *c != NULL; c++)
		argv[n++] = *c;
	for (; *words != NULL && n + 1 < ARRAY_SIZE(argv); words++)
		argv[n++] = *words;
	argv[n] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, r->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, r->err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	code = posix_spawnp(&pid, "ssh", &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code != 0)
		return err_sys(e, code, "run 'ssh'");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, errno, "wait for 'ssh'");
	return status_read(r, status, e);
}

/* UUIDs in the list that the store lacks; owned array of arena strings. */
static int lacking_find(const struct remote *r, struct store *s, struct arena *a, const char ***ret, size_t *ret_n,
                        struct err *e)
{
	FILE *in = fopen(r->out, "re");
	char line[256];
	size_t cap = 0;
	int rc = 0;

	if (in == NULL)
		return err_sys(e, errno, "open '%s'", r->out);
	while (rc == 0 && fgets(line, sizeof(line), in) != NULL) {
		char uuid[UUID_TEXT];
		bool lacks = false;

		line[strcspn(line, "\r\n")] = '\0';
		rc = store_lacks(s, line, &lacks, uuid, e);
		if (rc < 0 || !lacks)
			continue;
		ARRAY_GROW(*ret, *ret_n, cap);
		(*ret)[(*ret_n)++] = arena_strdup(a, uuid);
	}
	fclose(in);
	return rc;
}

/* A store that another pull is merging into is waited for: the lock is held for some seconds at most. */
static int batch_import(const struct remote *r, struct merge_report *sum, struct err *e)
{
	for (int tries = 0;; tries++) {
		AUTO_STORE struct store *s = NULL;
		struct merge_report report = { 0 };
		struct err why = { 0 };

		if (store_open(r->o->db, STORE_WRITE, &s, &why) == 0 &&
		    store_import_file(s, r->out, &report, &why) == 0) {
			sum->sweeps_new += report.sweeps_new;
			sum->sweeps_updated += report.sweeps_updated;
			sum->trials += report.trials;
			return 0;
		}
		if (why.kind != ERR_BUSY || tries == 20) {
			*e = why;
			return -1;
		}
	}
}

static int batches_fetch(const struct remote *r, const char *const *uuids, size_t n, struct merge_report *sum,
                         struct err *e)
{
	for (size_t from = 0; from < n; from += BATCH) {
		const char *words[BATCH + 8];
		size_t k = 0;

		words[k++] = "export";
		words[k++] = "--output=-";
		if (!r->o->with_outputs)
			words[k++] = "--no-outputs";
		for (size_t i = from; i < n && i < from + BATCH; i++)
			words[k++] = uuids[i];
		words[k] = NULL;
		if (remote_run(r, words, e) < 0 || batch_import(r, sum, e) < 0)
			return -1;
	}
	return 0;
}

static int remote_pull(const struct remote *r, struct merge_report *sum, size_t *ret_lacking, struct err *e)
{
	static const char *const list[] = { "export", "--list", NULL };
	AUTO_ARENA struct arena *a = arena_new();
	struct store *s = NULL;
	const char **uuids = NULL;
	int rc;

	if (remote_run(r, list, e) < 0 || store_open(r->o->db, STORE_WRITE, &s, e) < 0)
		return -1;
	rc = lacking_find(r, s, a, &uuids, ret_lacking, e);
	store_close(s);
	if (rc == 0)
		rc = batches_fetch(r, uuids, *ret_lacking, sum, e);
	free(uuids);
	return rc;
}

int pull_host(const char *host, const struct pull_options *o, struct err *e)
{
	AUTO_SCRATCH struct scratch scratch = { 0 };
	struct remote r = { .host = host, .o = o, };
	struct merge_report sum = { 0 };
	char sweeps[COUNT_TEXT], trials[COUNT_TEXT];
	size_t lacking = 0;
	int rc;

	for (char **c = o->command; *c != NULL; c++)
		if (!word_is_plain(*c))
			return err_set(e, ERR_USAGE, "'%s' would mean something to the other side's shell", *c);
	if (scratch_make(&scratch, e) < 0)
		return -1;
	r.out = scratch_file(&scratch, "out");
	r.err = scratch_file(&scratch, "err");
	rc = remote_pull(&r, &sum, &lacking, e);
	if (rc == 0)
		printf("%s: %s, %" PRId64 " further along, %s\n", host, count_format(sum.sweeps_new, "new sweep", sweeps), sum.sweeps_updated,
		       count_format(sum.trials, "trial", trials));
	else if (sum.sweeps_new + sum.sweeps_updated > 0)
		err_in(e, "after %" PRId64 " of %zu sweeps", sum.sweeps_new + sum.sweeps_updated, lacking);
	free(r.out);
	free(r.err);
	return rc;
}
