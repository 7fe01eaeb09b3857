/* SPDX-License-Identifier: MIT
 *
 * The request `submit`: a plan is checked by a child without privilege, its device is looked at by another, and only
 * then is the sweep stored and queued.
 */
#ifndef IOSWEEP_SUBMIT_H
#define IOSWEEP_SUBMIT_H

#include <json-c/json.h>

#include "schema/base/err.h"

struct daemon;
struct client;

int submit(struct daemon *d, struct client *c, struct json_object *request, struct err *e);

#endif
