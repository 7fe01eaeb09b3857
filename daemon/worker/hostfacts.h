/* SPDX-License-Identifier: MIT
 *
 * Facts from the host's own programs (facts: in iosweepd.conf(5)): what only the vendor's tool knows of a controller.
 *
 * They run as root, since the configuration that names them is root's, outside the room, since such tools need nodes
 * and files of the host; without capabilities that mkfs would not get either (spawn.c), with no input, a deadline and
 * bounded output.  A program that others than root can write is not run.  Whatever goes wrong with one is itself a
 * fact, NAME.error, and no reason to end a night.
 */
#ifndef IOSWEEP_HOSTFACTS_H
#define IOSWEEP_HOSTFACTS_H

#include "daemon/worker/environment.h"

#define HOSTFACTS_MAX 128 /* of one program; its further lines are counted in NAME.error */

/* Runs every program and adds what they print. */
void hostfacts_collect(struct worker *w, struct environment_facts *ret);

/* For tests: adds the facts in what a program printed (n bytes, whatever they are); what is wrong with it goes to
 * ret_why. */
void hostfacts_parse(const struct config_facts *f, const char *out, size_t n, struct environment_facts *ret,
                     struct text *ret_why);

#endif
