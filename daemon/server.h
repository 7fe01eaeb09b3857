/* SPDX-License-Identifier: MIT
 *
 * The unix socket: accepts clients, knows who they are, cuts what they send into lines, and sends what others answer.
 * Everything is bounded: clients, bytes of a line and of all unfinished lines, time for a line, what a slow reader has
 * not taken yet.  A client that breaks a bound is told why, if it listens, and dropped.
 *
 *            ┌────────────── client_reply ───────────┐
 *            ▼                                       │
 *   accept ▶ READING ── a whole line ──▶ WORKING ────┤
 *            │  │                           │        └─ client_watch ─▶ WATCHING
 *            │  └─ a broken line, silence   │                              │ too slow, speaks
 *            ▼                              ▼ client_drop                  ▼
 *            └─ EOF ───────────────────▶ LEAVING (the last reply is on its way) ──▶ closed
 */
#ifndef IOSWEEP_SERVER_H
#define IOSWEEP_SERVER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/base/err.h"

struct daemon;
struct server;

#define CLIENTS_MAX 64
#define CLIENTS_FOR_ROOT 8                          /* places of these that only root gets */
#define CLIENT_SILENCE_MS 10000                     /* for a whole line to come in, and for a last reply to go out */
#define CLIENT_UNREAD_MAX_BYTES ((size_t)1 << 20)   /* events that a watching client has not read */
#define SERVER_INPUT_MAX_BYTES ((size_t)24 << 20)   /* unfinished lines of all clients together */

/* Who is asking, by the kernel's word: SO_PEERCRED and SO_PEERGROUPS, unix(7) and socket(7). */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	bool is_member; /* root, or in the group of the configuration by primary or supplementary group */
};

struct client;

/* Binds and listens.  ERR_BUSY if somebody answers on the socket; a dead socket is replaced. */
int server_new(struct daemon *d, struct server **ret, struct err *e);
/* Stops listening, removes the socket, drops every client.  Freed by the loop's close callbacks. */
void server_close(struct server *s);

const struct peer *client_peer(const struct client *c);
uint64_t client_id(const struct client *c);
/* The client with this id, if it is still there: for answers that come later. */
struct client *server_client(struct daemon *d, uint64_t id);

/* Takes over m.  The client may then ask again. */
void client_reply(struct client *c, struct json_object *m);
void client_fail(struct client *c, const struct err *e, const struct diags *diags);
/* client_fail, and that was it. */
void client_drop(struct client *c, const struct err *e);
/* From now on the client gets events, of one sweep or (0) of all. */
void client_watch(struct client *c, int64_t sweep_id);

/* One line to everybody who watches. */
void server_event(struct daemon *d, const char *kind, int64_t sweep_id, const char *text);

#endif
