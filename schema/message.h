/* SPDX-License-Identifier: MIT
 *
 * The wire between iosweep and iosweepd: one JSON object a line, at most MESSAGE_MAX_BYTES.
 *
 *   -> {"version":1,"request":"submit","plan":"...","file":"p.yaml","options":{...}}
 *   <- {"ok":true,"sweep":12,...}
 *   <- {"ok":false,"error":{"kind":"refused","text":"...","hint":"..."},"diags":[{"line":3,"column":5,"message":"..."}]}
 *
 * What the store holds is read from the store.  SWEEP below is a whole number, or a string as store_sweep_find takes
 * it.
 *
 *   request   fields                       reply (beside "ok":true)
 *   hello     -                            "version" "program" "pid" "state" "db" "running" (0: none)
 *   submit    plan, file, options {strict, priority, ...}            "sweep" "uuid" "cells"
 *   cancel    sweep                        "sweep" "state" (of a running one: still "running", it ends soon)
 *   pause     sweep                        "sweep" "state" (a running one pauses between trials)
 *   resume    sweep                        "sweep" "state"
 *   stop      -                            "sweep" (0: none ran) "paused" [ids]; once everything is undone
 *   restore   dry-run (bool)               "entries" [{"sweep","kind","object","original","state","reason"}]; once replayed
 *   devices   -                            "report": what `--describe devices` prints
 *   doctor    -                            "report": what `--describe doctor` prints
 *   watch     sweep (optional)             then {"event":"trial","sweep":12,"text":"..."} a line until the client closes
 *
 * Reports: devices
 * {"devices":[{"path","size","identity":{"wwn","serial","by-id","backing-file"},"usable","reasons":[...],
 *                                "name" (if listed),"model","refused" (whatever a plan says),"config" (the line that lists
 *                                it; none without a stable identity)}],"absent":[{"name","reason"}] (listed, not here)}
 *          doctor   {"checks":[{"name","state":"ok"|"warning"|"problem","text","hint"}]}
 *
 * After an error of the kind "protocol" the daemon closes the connection.
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

/* {"ok":false,...} from an error and, if d is not NULL, its diagnostics; and back on the client's side (d->at is
 * filled). */
struct json_object *message_error(const struct err *e, const struct diags *d);
int message_reply_check(struct json_object *reply, struct diags *d, struct err *e); /* 0 if ok:true */

#endif
