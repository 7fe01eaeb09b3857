/* SPDX-License-Identifier: MIT
 *
 * The wire between iosweep and iosweepd: one JSON object a line, at most MESSAGE_MAX_BYTES.
 *
 *   -> {"version":1,"request":"submit","plan":"...","file":"p.yaml","options":{...}}
 *   <- {"ok":true,"sweep":12,...}
 *   <- {"ok":false,"error":{"kind":"refused","text":"...","hint":"..."},"diags":[{"line":3,"column":5,"message":"..."}]}
 *
 * Requests: hello submit cancel pause resume stop devices doctor watch.  `watch` answers {"ok":true} and then one
 * {"event":"cell","sweep":12,"text":"..."} a line until the client closes.  What the store holds is read from the store.
 */
#ifndef IOSWEEP_MESSAGE_H
#define IOSWEEP_MESSAGE_H

#include <json-c/json.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

#define MESSAGE_VERSION 1
#define MESSAGE_MAX_BYTES ((size_t)8 << 20)
#define MESSAGE_MAX_DEPTH 8

/* Decodes one line (without its newline).  ret: owned, json_object_put.  ERR_PROTOCOL names what is wrong. */
int message_decode(const char *line, size_t n, struct json_object **ret, struct err *e);
/* Encodes with a newline at the end. */
void message_encode(struct json_object *m, struct text *ret);

/* Typed fields; ERR_PROTOCOL if missing (unless there is a default) or of another type. */
int message_string(struct json_object *m, const char *key, const char **ret, struct err *e);
int message_integer(struct json_object *m, const char *key, int64_t *ret, struct err *e);
const char *message_string_or(struct json_object *m, const char *key, const char *otherwise);
int64_t message_integer_or(struct json_object *m, const char *key, int64_t otherwise);
bool message_bool_or(struct json_object *m, const char *key, bool otherwise);

/* {"ok":false,...} from an error and, if d is not NULL, its diagnostics; and back on the client's side (d->at is filled). */
struct json_object *message_error(const struct err *e, const struct diags *d);
int message_reply_check(struct json_object *reply, struct diags *d, struct err *e); /* 0 if ok:true */

#endif
