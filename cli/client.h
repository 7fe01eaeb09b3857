/* SPDX-License-Identifier: MIT
 *
 * The command's end of the socket: blocking, one request at a time.  What the store holds is read from the store; the
 * socket is for asking the daemon to do something.
 */
#ifndef IOSWEEP_CLI_CLIENT_H
#define IOSWEEP_CLI_CLIENT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "schema/base/err.h"

#define CLIENT_GREETING_MS 5000 /* without a reply: then it is asked whether the daemon answers at all */
#define CLIENT_TIMEOUT_MS 60000 /* for one reply: the daemon may look at every device of the host for it */

struct client;

/* Connects to config_default_socket().  ERR_UNREACHABLE, with a hint, if nobody listens there; ERR_REFUSED if this
 * user may not connect. */
int client_open(struct client **ret, struct err *e);
void client_close(struct client *c); /* NULL is fine */
int client_fd(const struct client *c);
static inline void auto_client(struct client **c)
{
	client_close(*c);
}
#define AUTO_CLIENT __attribute__((cleanup(auto_client)))

/* A request object with its version and name; the caller adds fields. */
struct json_object *client_request(const char *name);

/* Sends a request (taken over) and waits for its reply.  ret: owned, json_object_put; NULL: the reply is not wanted.
 * d: gets the diagnostics of a refused plan; may be NULL.  Fails with the daemon's own error, ERR_UNREACHABLE if the
 * line broke or the daemon does not even greet (stopped, say: known after twice CLIENT_GREETING_MS), ERR_TIMEOUT. */
int client_call(struct client *c, struct json_object *request, struct json_object **ret, struct diags *d,
                struct err *e);

/* The same on a connection of its own. */
int client_ask(struct json_object *request, struct json_object **ret, struct diags *d, struct err *e);

/* Waits for events and throws them away: they are hints to read the store again. */
enum client_event {
	CLIENT_EVENT_LOST = -1, /* the line is closed */
	CLIENT_EVENT_NONE = 0,  /* time-out */
	CLIENT_EVENT_SMALL = 1, /* cells and trials only, which may come a thousand a second */
	CLIENT_EVENT_STATE = 2  /* something else: the sweep started, paused, ended ... */
};
enum client_event client_events_wait(struct client *c, int timeout_ms);

#endif
