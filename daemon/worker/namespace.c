/* SPDX-License-Identifier: MIT
 *
 * Namespaces; see namespace.h and namespaces(7).
 */
#include "daemon/worker/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t namespace_clone(int *ret_pidfd)
{
	/* Without a stack of its own the child goes on as after fork(2).  The order of arguments is that of x86-64,
	 * arm64, riscv64 and ppc64 as far as the third: clone(2), C library/kernel differences. */
	return (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_NEWPID | CLONE_NEWNS | CLONE_PIDFD | SIGCHLD), NULL, ret_pidfd,
	                      NULL, NULL);
}

int namespace_enter(int *ret_host_proc_fd, struct err *e)
{
	int fd;

	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_sys(e, errno, "take the mounts out of the host's sight");
	fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open '/proc'");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		close(fd);
		return err_sys(e, errno, "mount '/proc'");
	}
	*ret_host_proc_fd = fd;
	return 0;
}

static volatile pid_t passed_on_to;

static void signal_pass_on(int signal)
{
	kill(passed_on_to, signal);
}

int namespace_clone_by_hand(struct err *e)
{
	static const int passed[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction act = { .sa_handler = signal_pass_on };
	int pidfd = -1, status;
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = namespace_clone(&pidfd);
	if (pid == 0)
		return 0; /* signals stay blocked: the worker reads them from a descriptor */
	if (pid < 0)
		return err_sys(e, errno, "make namespaces for the worker");
	close(pidfd);
	passed_on_to = pid;
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaction(passed[i], &act, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			exit(1);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
