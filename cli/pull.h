/* SPDX-License-Identifier: MIT
 *
 * Fetching from one other host over ssh(1), in a process of its own.
 */
#ifndef IOSWEEP_CLI_PULL_H
#define IOSWEEP_CLI_PULL_H

#include <stdbool.h>

#include "schema/base/err.h"

struct pull_options {
	char **command;      /* words of the remote command, NULL-terminated: {"iosweep"} */
	const char *db;      /* where it goes */
	bool with_outputs;
};

/* Asks what HOST has, fetches what is lacking, batch by batch, each merged before the next is asked for: what was
 * fetched before a connection broke is kept, and the next pull goes on from there.  Prints one line. */
int pull_host(const char *host, const struct pull_options *o, struct err *e);

#endif
