/* SPDX-License-Identifier: MIT
 *
 * The start of a program; see spawn.h.  Between clone(2) and execve(2) the child shares the worker's memory while
 * the worker stands still, so it allocates nothing and calls the kernel directly: libc's setresuid(3) would signal
 * all threads of "the process" (nptl(7)), and the credentials are to change in the child alone.
 */
#include "daemon/worker/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)64 * 1024)
#define N_CANDIDATES 8

/* What mkfs, mdadm and LVM need of root; no raw I/O, no new nodes, no way into another process or out of the room. */
#define ROOT_CAPS \
	((1ULL << CAP_DAC_OVERRIDE) | (1ULL << CAP_DAC_READ_SEARCH) | (1ULL << CAP_FOWNER) | (1ULL << CAP_SYS_ADMIN) | \
	 (1ULL << CAP_IPC_LOCK) | (1ULL << CAP_SYS_RESOURCE))

struct start {
	const struct tool_identity *as;
	char *const *argv;
	char *const *envp;
	char candidates[N_CANDIDATES][256]; /* paths to try, in order; "" ends */
	const char *dir;
	int out_fd, err_fd;
	bool is_privileged; /* this process can change credentials */
	/* written by the child: */
	volatile int64_t started_ns;
	volatile int errnum;         /* 0: in execve */
	const char *volatile failed; /* the call that failed */
};

static const struct {
	int resource;
	rlim_t soft, hard;
} limits[] = {
	{ RLIMIT_CORE, 0, 0 },
	{ RLIMIT_NOFILE, 4096, 65536 },
	{ RLIMIT_NPROC, 8192, 8192 }, /* of the user, host-wide: setrlimit(2) */
};

static int capabilities_bound(uint64_t keep)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		if (keep >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return errno == EINVAL ? 0 : -1; /* past the kernel's last one: capabilities(7) */
	}
	return 0;
}

static int limits_set(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit l;

		/* A hard limit is only ever lowered. */
		if (getrlimit(limits[i].resource, &l) < 0)
			return -1;
		l.rlim_max = limits[i].hard < l.rlim_max ? limits[i].hard : l.rlim_max;
		l.rlim_cur = limits[i].soft < l.rlim_max ? limits[i].soft : l.rlim_max;
		if (setrlimit(limits[i].resource, &l) < 0)
			return -1;
	}
	return 0;
}

/* Each returns the name of the call that failed, with errno, or NULL. */
static const char *room_enter(const struct tool_identity *as)
{
	if (as->cgroup_fd >= 0 && write(as->cgroup_fd, "0", 1) < 0)
		return "join the cgroup";
	if (as->room != NULL && chroot(as->room) < 0)
		return "chroot";
	return chdir("/") < 0 ? "chdir" : NULL;
}

static const char *credentials_set(const struct tool_identity *as, bool is_privileged)
{
	if (limits_set() < 0)
		return "setrlimit";
	if (is_privileged && capabilities_bound(as->is_root ? ROOT_CAPS : 0) < 0)
		return "drop capabilities";
	if (!as->is_root && (is_privileged || as->uid != geteuid())) {
		if (syscall(SYS_setgroups, as->n_groups, as->groups) < 0)
			return "setgroups";
		if (syscall(SYS_setresgid, as->gid, as->gid, as->gid) < 0)
			return "setresgid";
		if (syscall(SYS_setresuid, as->uid, as->uid, as->uid) < 0) /* clears all capability sets: capabilities(7) */
			return "setresuid";
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? "no_new_privs" : NULL;
}

int spawn_become(const struct tool_identity *as)
{
	if (room_enter(as) != NULL)
		return -1;
	return credentials_set(as, geteuid() == 0) == NULL ? 0 : -1;
}

static const char *descriptors_set(const struct start *s)
{
	int null_fd;

	/* Opened in the room: a tool holds nothing that it could not have opened itself. */
	null_fd = open("/dev/null", O_RDONLY);
	if (null_fd < 0)
		return "open '/dev/null'";
	if (dup2(s->out_fd, 1) < 0 || dup2(s->err_fd, 2) < 0 || dup2(null_fd, 0) < 0)
		return "dup2";
	return syscall(SYS_close_range, 3, ~0U, 0) < 0 ? "close_range" : NULL;
}

static void signals_reset(void)
{
	static const uint64_t defaults[8]; /* the kernel's struct sigaction, all zero: SIG_DFL */
	sigset_t none;

	/* Handlers end at execve, ignored signals would stay ignored (execve(2)): also 32 and 33, which libc does not
	 * touch. */
	for (int signal = 1; signal <= 64; signal++)
		syscall(SYS_rt_sigaction, signal, defaults, NULL, sizeof(uint64_t));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* out and err may lie anywhere, so they are moved out of 0-2 by the caller's O_CLOEXEC pipes (always above 2). */
__attribute__((no_sanitize("address"))) static const char *child_prepare(const struct start *s)
{
	const char *failed;

	setsid();
	failed = room_enter(s->as);
	if (failed == NULL)
		failed = descriptors_set(s);
	if (failed == NULL)
		failed = credentials_set(s->as, s->is_privileged);
	if (failed == NULL && s->dir != NULL && chdir(s->dir) < 0)
		failed = "chdir";
	return failed;
}

__attribute__((no_sanitize("address"))) static int child_main(void *arg)
{
	struct start *s = arg;
	struct timespec now;
	const char *failed = child_prepare(s);
	int errnum = errno;

	if (failed == NULL) {
		signals_reset();
		clock_gettime(CLOCK_MONOTONIC, &now);
		s->started_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
		errnum = ENOENT;
		for (int i = 0; i < N_CANDIDATES && s->candidates[i][0] != '\0'; i++) {
			execve(s->candidates[i], s->argv, s->envp);
			if (errno != ENOENT && errno != ENOTDIR)
				errnum = errno;
			if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
				break;
		}
		failed = "execve";
	}
	s->failed = failed;
	s->errnum = errnum;
	syscall(SYS_exit_group, 127);
	return 127;
}

static int candidates_fill(struct start *s, const char *name, struct err *e)
{
	const char *p = TOOL_PATH;
	int n = 0;

	if (strlen(name) > 200)
		return err_set(e, ERR_USAGE, "the name of the program '%.40s...' is too long", name);
	if (strchr(name, '/') != NULL) {
		snprintf(s->candidates[0], sizeof(s->candidates[0]), "%s", name);
		return 0;
	}
	while (*p != '\0') {
		int len = (int)strcspn(p, ":");

		snprintf(s->candidates[n++], sizeof(s->candidates[0]), "%.*s/%s", len, p, name);
		p += len + (p[len] == ':');
	}
	return 0;
}

static int start_failed(const struct start *s, const char *name, struct err *e)
{
	int errnum = s->errnum;

	if (strcmp(s->failed, "chdir") == 0 && s->dir != NULL)
		return err_sys(e, errnum, "start '%s': chdir to '%s'", name, s->dir);
	if (strcmp(s->failed, "execve") != 0) /* whatever the errno, the target has no part in it */
		return err_set(e, ERR_SYSTEM, "start '%s': %s: %s", name, s->failed, strerror(errnum));
	if (errnum == ENOENT)
		return err_set(e, ERR_INFEASIBLE, "needs '%s', which is not installed", name);
	err_set(e, ERR_TOOL, "start '%s': %s", name, strerror(errnum));
	return -1;
}

struct environment {
	char home[300], user[300], logname[300];
	char *at[10];
};

static void environment_fill(struct environment *env, const struct tool_identity *as)
{
	static char path[] = "PATH=" TOOL_PATH, lc[] = "LC_ALL=C", lang[] = "LANG=C", tmp[] = "TMPDIR=/tmp",
		    shell[] = "SHELL=/bin/sh";
	const char *login = as->login != NULL ? as->login : as->is_root ? "root" : "iosweep";

	snprintf(env->home, sizeof(env->home), "HOME=%s", as->home != NULL ? as->home : "/");
	snprintf(env->user, sizeof(env->user), "USER=%s", login);
	snprintf(env->logname, sizeof(env->logname), "LOGNAME=%s", login);
	env->at[0] = path;
	env->at[1] = lc;
	env->at[2] = lang;
	env->at[3] = tmp;
	env->at[4] = shell;
	env->at[5] = env->home;
	env->at[6] = env->user;
	env->at[7] = env->logname;
	env->at[8] = NULL;
}

/* Words below the room, as seen from inside it.  The array is the caller's to free. */
static char **argv_inside(char *const *argv, const char *room)
{
	size_t n = 0, room_n = room != NULL ? strlen(room) : 0;
	char **inside;

	while (argv[n] != NULL)
		n++;
	inside = xcalloc(n + 1, sizeof(*inside));
	for (size_t i = 0; i < n; i++) {
		bool is_below = room_n > 1 && strncmp(argv[i], room, room_n) == 0 && argv[i][room_n] == '/';

		inside[i] = argv[i] + (is_below ? room_n : 0);
	}
	return inside;
}

int spawn_program(const struct tool_identity *as, const struct tool *tool, int out_fd, int err_fd, struct spawned *ret,
                  struct err *e)
{
	static char stack[STACK_SIZE] __attribute__((aligned(64))); /* one child at a time: the parent waits in vfork */
	AUTO_FREE char **argv = argv_inside(tool->argv, as->room);
	struct environment env;
	struct start s = {
		.as = as, .argv = argv, .envp = env.at, .dir = tool->dir, .out_fd = out_fd, .err_fd = err_fd,
		.is_privileged = geteuid() == 0,
	};
	int pidfd = -1;
	pid_t pid;

	environment_fill(&env, as);
	if (candidates_fill(&s, argv[0], e) < 0)
		return -1;
	pid = clone(child_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &s, &pidfd);
	if (pid < 0)
		return err_sys(e, errno, "start '%s'", argv[0]);
	if (s.errnum != 0) {
		close(pidfd);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		return start_failed(&s, argv[0], e);
	}
	*ret = (struct spawned){ .pid = pid, .pidfd = pidfd, .started_ns = s.started_ns };
	return 0;
}
