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

#include "schema/base/mem.h"

pid_t namespace_clone(int *ret_pidfd)
{
	/* Without a stack of its own the child goes on as after fork(2).  The order of arguments is that of x86-64,
	 * arm64, riscv64 and ppc64 as far as the third: clone(2), C library/kernel differences. */
	return (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_NEWPID | CLONE_NEWNS | CLONE_PIDFD | SIGCHLD), NULL,
	                      ret_pidfd, NULL, NULL);
}

/* Below chroot(2) "/" is no mount point, and its mount cannot be named to make it a slave.  So a copy of the tree,
 * all of it slaves, is put on /proc, whose mount can be named, and becomes the root: nothing mounted in it reaches
 * the host (open_tree, OPEN_TREE_CLONE and mount_setattr(2)). */
static int root_copy(struct err *e)
{
	struct mount_attr slave = { .propagation = MS_SLAVE };
	AUTO_CLOSE int tree = open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	if (tree < 0)
		return err_sys(e, errno, "copy the tree of mounts");
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &slave, sizeof(slave)) < 0 ||
	    mount(NULL, "/proc", NULL, MS_SLAVE, NULL) < 0)
		return err_sys(e, errno, "take the mounts out of the host's sight");
	if (move_mount(tree, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0 || chdir("/proc") < 0 ||
	    chroot(".") < 0 || chdir(cwd != NULL ? cwd : "/") < 0)
		return err_sys(e, errno, "enter the copy of the tree of mounts");
	return 0;
}

int namespace_hide_mounts(struct err *e)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
		return 0;
	return errno == EINVAL ? root_copy(e) : err_sys(e, errno, "take the mounts out of the host's sight");
}

int namespace_enter(int *ret_host_proc_fd, struct err *e)
{
	int fd;

	if (namespace_hide_mounts(e) < 0)
		return -1;
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
