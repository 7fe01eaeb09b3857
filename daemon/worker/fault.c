/* SPDX-License-Identifier: MIT
 *
 * Faults on demand; see fault.h.
 */
#include "daemon/worker/fault.h"

#ifdef IOSWEEP_TESTING

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "schema/base/mem.h"

static struct {
	const char *step;
	bool is_undo, should_fail;
	const struct tool *tool; /* what the next tool is to be; NULL: itself */
} now;

static char *const argv_fail[] = { (char *)"/bin/false", NULL };
static char *const argv_hang[] = { (char *)"/bin/sleep", (char *)"1000", NULL };
static char *const argv_flood[] = { (char *)"/bin/dd", (char *)"if=/dev/zero", (char *)"bs=1M", (char *)"count=64", NULL };
static const struct {
	const char *action;
	struct tool tool;
} fault_programs[] = {
	{ "tool-fail", { .argv = argv_fail } },
	{ "tool-hang", { .argv = argv_hang, .timeout_ns = INT64_C(1000000000) } },
	{ "tool-flood", { .argv = argv_flood } },
};

static bool fault_is_wanted(const char *phase, const char **ret_action)
{
	const char *wanted = getenv("IOSWEEP_TEST_FAULT");
	char point[80];

	snprintf(point, sizeof(point), "%s:%s%s:", now.step, now.is_undo ? "undo-" : "", phase);
	if (wanted == NULL || strncmp(wanted, point, strlen(point)) != 0)
		return false;
	*ret_action = wanted + strlen(point);
	return true;
}

/* True for the first that comes here, over all restarts of the worker. */
static bool fault_is_first(const char *what)
{
	const char *log = getenv("IOSWEEP_TEST_FAULT_LOG");
	AUTO_CLOSE int fd = log == NULL ? -1 : open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return log == NULL || (fd >= 0 && dprintf(fd, "%s\n", what) > 0);
}

/* The init of a PID namespace takes no SIGKILL from itself (pid_namespaces(7)), but one from the kernel: here for
 * using more CPU time than its hard limit (setrlimit(2), RLIMIT_CPU). */
static void die_by_sigkill(void)
{
	struct rlimit limit = { 1, 1 };

	setrlimit(RLIMIT_CPU, &limit);
	for (volatile unsigned long i = 0;; i++)
		continue;
}

/* Polls a file: only tests wait here, and inotify would be one more thing to go wrong under them. */
static void wait_for_go(void)
{
	const char *log = getenv("IOSWEEP_TEST_FAULT_LOG");
	char path[512];

	snprintf(path, sizeof(path), "%s.go", log != NULL ? log : "");
	for (int i = 0; i < 1500 && access(path, F_OK) < 0; i++)
		poll(NULL, 0, 20);
}

static void fault_act(const char *action)
{
	if (strcmp(action, "kill") == 0)
		die_by_sigkill();
	if (strcmp(action, "hang") == 0 || strcmp(action, "stop") == 0)
		for (;;)
			pause();
	if (strcmp(action, "exit") == 0)
		_exit(1);
	if (strcmp(action, "term") == 0)
		kill(getpid(), SIGTERM);
	if (strcmp(action, "fail") == 0)
		now.should_fail = true;
	if (strcmp(action, "wait") == 0)
		wait_for_go();
	for (size_t i = 0; i < ARRAY_SIZE(fault_programs); i++)
		if (strcmp(action, fault_programs[i].action) == 0)
			now.tool = &fault_programs[i].tool;
}

const struct tool *fault_tools(const struct tool *tools, size_t n)
{
	const struct tool *other = now.tool;

	now.tool = NULL;
	return other != NULL && n == 1 ? other : tools;
}

static void fault_point(const char *phase)
{
	const char *action;

	if (now.step != NULL && fault_is_wanted(phase, &action) && fault_is_first(getenv("IOSWEEP_TEST_FAULT")))
		fault_act(action);
}

static int fault_verdict(struct err *e)
{
	if (!now.should_fail)
		return 0;
	now.should_fail = false;
	return err_set(e, ERR_TOOL, "step '%s' fails because a test wants it to", now.step);
}

int fault_before(const char *step, bool is_undo, struct err *e)
{
	now.step = step;
	now.is_undo = is_undo;
	fault_point("before");
	return fault_verdict(e);
}

void fault_during(void)
{
	fault_point("during");
}

int fault_after(const char *step, bool is_undo, struct err *e)
{
	int rc;

	now.step = step;
	now.is_undo = is_undo;
	fault_point("during"); /* steps in which nothing was ever half done have their middle at their end */
	fault_point("after");
	rc = fault_verdict(e);
	now.step = NULL;
	return rc;
}

#else
typedef int fault_nothing; /* ISO C wants a declaration in every file */
#endif
