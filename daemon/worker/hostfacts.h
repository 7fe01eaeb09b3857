/* SPDX-License-Identifier: MIT
 *
 * Facts from the host's own programs (facts: in iosweepd.conf(5)): what only the vendor's tool knows of a controller.
 *
 * They run as root, since the configuration that names them is root's, outside the room, since such tools need nodes and
 * files of the host; without capabilities that mkfs would not get either (spawn.c), with no input, a deadline and bounded
 * output.  A program that others than root can write is not run.  Whatever goes wrong with one is itself a fact,
 * NAME.error, and no reason to end a night.
 */
#ifndef IOSWEEP_HOSTFACTS_H
#define IOSWEEP_HOSTFACTS_H

#include "daemon/worker/context.h"

#define HOSTFACTS_MAX 128 /* of all programs together; lines beyond are counted in NAME.error */

/* Runs every program and adds what they print (arena).  Returns how many facts there are. */
size_t hostfacts_collect(struct worker *w, struct arena *a, struct environment_fact ret[HOSTFACTS_MAX]);

/* For tests: the facts in what a program printed.  n: how many there are already; returns the new count. */
size_t hostfacts_parse(const struct config_facts *f, const char *out, struct arena *a, struct environment_fact *ret, size_t n);

#endif
