/* SPDX-License-Identifier: MIT
 *
 * What a client may ask: one function per request, in one table (message.h lists fields and replies).  Root may ask
 * everything; a member of the group may submit and read, and steer the sweeps it submitted itself.
 */
#ifndef IOSWEEP_REQUESTS_H
#define IOSWEEP_REQUESTS_H

#include <stddef.h>

struct daemon;
struct client;

/* Serves one line (without its newline).  The answer may come after this returns; until then the server reads nothing
 * more from this client. */
void request_serve(struct daemon *d, struct client *c, const char *line, size_t n);

#endif
