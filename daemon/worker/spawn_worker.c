/* SPDX-License-Identifier: MIT
 *
 * The daemon's side of the worker: starting it in namespaces of its own (worker_spawn in worker.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/namespace.h"
#include "daemon/worker/worker.h"
#include "schema/base/mem.h"

/* In the child, which must do with async-signal-safe calls: the daemon has threads.  Returns errno. */
static int worker_exec(const char *program, char *const *argv, int line_fd)
{
	sigset_t none;

	/* Descriptor 3 is the line; dup2(2) clears close-on-exec unless it is there already. */
	if (line_fd == WORKER_LINE_FD ? fcntl(line_fd, F_SETFD, 0) < 0 : dup2(line_fd, WORKER_LINE_FD) < 0)
		return errno;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(program, argv);
	return errno;
}

int worker_spawn(const char *program, const char *config_file, int64_t sweep_id, enum worker_duty duty, int line_fd,
                 pid_t *ret_pid, int *ret_pidfd, struct err *e)
{
	AUTO_FREE char *program_arg = xstrdup(program), *config_arg = xstrdup(config_file);
	char config_opt[] = "--config", worker_opt[] = "--worker", id[24];
	char undo_opt[] = "--undo-only", crash_opt[] = "--undo-crash";
	char *argv[] = { program_arg, config_opt, config_arg, worker_opt, id,
	                 duty == WORKER_RUNS ? NULL : duty == WORKER_UNDOES ? undo_opt : crash_opt, NULL };
	int ends[2], pidfd = -1, errnum = 0;
	pid_t pid;

	snprintf(id, sizeof(id), "%lld", (long long)sweep_id);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, errno, "start a worker");
	pid = namespace_clone(&pidfd);
	if (pid == 0) {
		errnum = worker_exec(program, argv, line_fd);
		_exit(write(ends[1], &errnum, sizeof(errnum)) > 0 ? 127 : 126);
	}
	if (pid < 0)
		errnum = errno;
	close(ends[1]);
	/* End of file: the pipe was closed by a successful execve. */
	if (pid > 0)
		while (read(ends[0], &errnum, sizeof(errnum)) < 0 && errno == EINTR)
			continue;
	close(ends[0]);
	if (errnum != 0) {
		if (pid > 0) {
			waitpid(pid, NULL, 0);
			close(pidfd);
		}
		return err_sys(e, errnum, "start a worker ('%s')", program);
	}
	*ret_pid = pid;
	*ret_pidfd = pidfd;
	return 0;
}
