/* SPDX-License-Identifier: MIT
 *
 * What the parts of iosweepd share: made by main, borrowed by all.
 *
 *   main ─▶ server (socket, clients) ─▶ requests (one function each) ─▶ queue (policy)
 *                                            │                            ▲
 *                                            ├─▶ supervisor (workers) ────┘
 *                                            │         comeback (devices that return) ─▶ supervisor
 *                                            ▼            │
 *                                          child (short-lived helpers that may block)
 */
#ifndef IOSWEEP_DAEMON_H
#define IOSWEEP_DAEMON_H

#include <sys/types.h>
#include <uv.h>

#include "daemon/queue.h"
#include "schema/config.h"
#include "schema/store.h"

struct daemon {
	uv_loop_t loop;
	const char *program;     /* this binary, for its other roles */
	const char *config_file;
	struct config *config;
	struct store *store;
	int64_t host_id;
	gid_t gid;               /* config->group */
	struct queue queue;
	struct server *server;
	struct supervisor *supervisor;
	struct comeback *comeback;
	bool is_stopping;        /* SIGTERM came: nothing is accepted or started any more */
};

#endif
