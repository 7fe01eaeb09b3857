/* SPDX-License-Identifier: MIT
 *
 * Commands that ask the daemon something about the sweeps named on the command line: cancel, pause, resume.
 */
#ifndef IOSWEEP_CLI_ASK_H
#define IOSWEEP_CLI_ASK_H

#include "cli/options.h"

/* Sends one request per argument; prints "sweep 12: STATE" for each (or, with --json, the answers).  All are asked;
 * returns 0 or the exit status of the first that was refused, which is printed. */
int ask_sweeps(const struct options *o, const char *request, struct err *e);

#endif
