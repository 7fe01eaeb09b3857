/* SPDX-License-Identifier: MIT
 *
 * Finding and ending leftover processes; see strays.h.  The usual answer, "there is none", comes from one wait4(2): the
 * helper is a child without exit signal, which a plain wait does not see (clone(2), __WCLONE), and an orphan becomes a
 * child of init with one.  Only if there is something, or a server runs, is /proc read.
 */
#include "daemon/worker/strays.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/worker/hang.h"
#include "schema/base/mem.h"
#include "schema/base/text.h"

#define SPARED_MAX 16
#define CHECK_NS 20000000 /* between two looks at those that are being killed; a child's end comes earlier as a signal */
#define HANG_CHECK_NS 500000000

static struct {
	struct {
		pid_t pid;
		bool is_hidden;
	} at[SPARED_MAX];
	size_t n;
} spared;

void strays_spare(pid_t pid, bool is_hidden)
{
	assert(spared.n < SPARED_MAX);
	spared.at[spared.n].pid = pid;
	spared.at[spared.n++].is_hidden = is_hidden;
}

void strays_spare_no_more(pid_t pid)
{
	for (size_t i = 0; i < spared.n; i++)
		if (spared.at[i].pid == pid)
			spared.at[i--] = spared.at[--spared.n];
}

struct process {
	pid_t pid, parent;
	bool is_zombie, is_spared;
	char name[32];
};

struct processes {
	struct process *at; /* owned */
	size_t n, cap;
};

/* "PID (NAME) STATE PPID ...", where NAME may hold anything: proc(5), /proc/PID/stat. */
static int process_read(int proc_fd, const char *pid_text, struct process *ret)
{
	char path[32], buf[512], *name, *end;
	ssize_t n;

	snprintf(path, sizeof(path), "%.20s/stat", pid_text);
	{
		AUTO_CLOSE int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);

		n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	}
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	name = strchr(buf, '(');
	end = strrchr(buf, ')');
	if (name == NULL || end == NULL || end[1] != ' ')
		return -1;
	*end = '\0';
	*ret = (struct process){ .pid = (pid_t)strtol(pid_text, NULL, 10), .is_zombie = end[2] == 'Z' };
	ret->parent = (pid_t)strtol(end + 4, NULL, 10);
	snprintf(ret->name, sizeof(ret->name), "%.31s", name + 1);
	return 0;
}

static bool pid_is_spared(pid_t pid)
{
	for (size_t i = 0; i < spared.n; i++)
		if (spared.at[i].pid == pid)
			return true;
	return false;
}

/* A process whose parent is spared is spared, too; repeated until nothing changes, since /proc is in no order. */
static void processes_spare(struct processes *all)
{
	bool has_changed = true;

	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < all->n; i++)
			for (size_t j = 0; j < all->n && !all->at[i].is_spared; j++)
				if (all->at[j].is_spared && all->at[i].parent == all->at[j].pid)
					all->at[i].is_spared = has_changed = true;
	}
}

static int processes_read(struct processes *ret, struct err *e)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	ret->n = 0;
	if (dir == NULL)
		return err_sys(e, errno, "open '/proc'");
	while ((entry = readdir(dir)) != NULL) {
		struct process p;

		if (!isdigit((unsigned char)entry->d_name[0]) || process_read(dirfd(dir), entry->d_name, &p) < 0 ||
		    p.pid == 1)
			continue;
		p.is_spared = pid_is_spared(p.pid);
		ARRAY_GROW(ret->at, ret->n, ret->cap);
		ret->at[ret->n++] = p;
	}
	closedir(dir);
	processes_spare(ret);
	return 0;
}

/* Number of strays still there; last gets one of them. */
static size_t processes_kill(const struct processes *all, struct process *last)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct process *p = &all->at[i];

		if (p->is_spared)
			continue;
		/* Reaped, or another stray's child.  0: its first thread has ended and others have not. */
		if (p->is_zombie && waitpid(p->pid, NULL, WNOHANG) != 0)
			continue;
		kill(p->pid, SIGKILL);
		*last = *p;
		n++;
	}
	return n;
}

static void child_wait(long limit_ns)
{
	struct timespec limit = { 0, limit_ns };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &limit);
}

/* True if a plain wait knows of no child at all; never asked while a server runs, whose end is not to be lost here. */
static bool is_childless(void)
{
	pid_t pid;

	for (size_t i = 0; i < spared.n; i++)
		if (!spared.at[i].is_hidden)
			return false;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid < 0 && errno == ECHILD;
}

int strays_end(struct err *e)
{
	int64_t deadline_ns;
	struct processes all = { 0 };
	struct process last = { 0 };
	bool hangs = false;
	int rc = 0;

	if (getpid() != 1)
		return 0;
	if (is_childless())
		return 0;
	deadline_ns = clock_ns() + hang_after_ns();
	for (;;) {
		rc = processes_read(&all, e);
		if (rc < 0 || processes_kill(&all, &last) == 0)
			break;
		if (!hangs && clock_ns() > deadline_ns) {
			hang_begin(last.pid, last.name);
			hangs = true;
		}
		child_wait(hangs ? HANG_CHECK_NS : CHECK_NS);
	}
	if (hangs)
		hang_end();
	free(all.at);
	return rc;
}

void strays_reap(bool (*is_ours)(pid_t pid, const void *arg), const void *arg)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return;
		if (is_ours(info.si_pid, arg) || pid_is_spared(info.si_pid))
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}
