/* SPDX-License-Identifier: MIT
 *
 * Runs programs: vfork, raw credential calls, execve; watched through pidfds in one poll(2) together with the cancel
 * descriptor and the deadline.  Output is kept up to a bound and counted beyond it.  Every tool gets the C locale, a
 * clean environment, no standard input, signals reset, no descriptor but 0-2.
 */
#ifndef IOSWEEP_TOOL_H
#define IOSWEEP_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

/* What all tools of a worker share. */
struct tool_env {
	int cancel_fd;          /* readable: end the running tool (TERM, then KILL) and return ERR_CANCELLED; -1: cannot be cancelled */
	int64_t kill_after_ns;  /* between TERM and KILL; 5 s */
	const char *room;       /* root directory of root's tools that name none themselves; NULL: the worker's own */
};

/* Whom a tool runs as. */
struct tool_identity {
	bool is_root;           /* mkfs and friends: argv that we built */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;    /* supplementary */
	size_t n_groups;
	const char *home, *login;
	/* a tool that is not root: no capabilities, no_new_privs, rlimits, and root directory `room` (room.h) */
	const char *room;       /* chroot before dropping privilege; NULL: none */
	int cgroup_fd;          /* cgroup.procs (or tasks) to join; -1: none */
};

struct tool {
	char *const *argv;      /* argv[0] is looked up on TOOL_PATH unless it has a '/'; a word that names a path below the
	                         * room is handed over as it is seen from inside */
	const char *dir;        /* working directory; NULL: / */
	int64_t timeout_ns;     /* 0: TOOL_TIMEOUT_NS */
	size_t keep;            /* bytes of each stream to keep; 0: TOOL_KEEP */
	bool discard;           /* standard output goes to /dev/null, not through a pipe */
	int stop_signal;        /* a server: what asks it to end; 0: SIGTERM */
};
#define TOOL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define TOOL_TIMEOUT_NS (600 * INT64_C(1000000000))
#define TOOL_KEEP ((size_t)1 << 20)

/* How one program ended. */
struct tool_end {
	int exit_status;        /* -1: killed by a signal */
	int exit_signal;
	int64_t elapsed_ns;     /* CLOCK_MONOTONIC, exec to exit */
	int64_t user_ns, system_ns; /* of the program and all children it waited for; wait4(2) */
	int64_t read_bytes;     /* that they made block devices read; getrusage(2), ru_inblock */
	struct text out, err;   /* owned; tool_end_done */
	size_t out_bytes, err_bytes; /* as printed */
};
void tool_end_done(struct tool_end *end);
/* "'mkfs.ext4' exited with status 1: LAST LINE IT PRINTED", or the signal. */
void tool_end_describe(const struct tool_end *end, const char *name, struct text *ret);

/* Runs n programs at once (copies) and waits for all of them.  ret: n ends, valid also on failure as far as it got. A
 * program that exits with an error status is not a failure here: look at the end.  One that cannot even be killed,
 * since it waits for a device, is waited for as long as that takes (hang.h).  Fails with ERR_TIMEOUT, ERR_CANCELLED,
 * ERR_INFEASIBLE (program not found: "needs 'iozone', which is not installed"), ERR_SYSTEM.  After it returns none of
 * the programs nor their descendants run (strays.h). */
int tools_run(const struct tool_env *env, const struct tool_identity *as, const struct tool *tools, size_t n,
              struct tool_end *ret, struct err *e);
int tool_run(const struct tool_env *env, const struct tool_identity *as, const struct tool *tool, struct tool_end *ret,
             struct err *e);
/* The same for a tool that must succeed: an exit status other than 0 is ERR_TOOL with the last line it printed.  For
 * root tools with a literal argument list. */
int tool_must(const struct tool_env *env, struct text *ret_out, struct err *e, const char *const *argv,
              int64_t timeout_ns);

/* Servers (workload_step.background): started, watched, ended later by their signal, then KILL.  What they print is
 * read as it comes, by a thread of its own, and kept as that of a tool. */
struct tool_server;
int tool_server_start(const struct tool_env *env, const struct tool_identity *as, const struct tool *tool,
                      struct tool_server **ret, struct err *e);
/* False once it has ended by itself; tool_server_stop tells how. */
bool tool_server_is_running(const struct tool_server *server);
void tool_server_stop(struct tool_server *server, int64_t grace_ns, struct tool_end *ret);

#endif
