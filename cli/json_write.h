/* SPDX-License-Identifier: MIT
 *
 * JSON written piece by piece, in the style of json_print: a report over years is not held in memory to be printed.
 *
 *     struct json_writer w = { .out = stdout };
 *
 *     json_begin(&w, NULL, '{');
 *     json_put(&w, "sweep", json_object_new_int64(12));
 *     json_begin(&w, "cells", '[');
 *     json_put(&w, NULL, ...);                           one for each
 *     json_end(&w);
 *     json_end(&w);                                      the last one ends the line
 */
#ifndef IOSWEEP_CLI_JSON_WRITE_H
#define IOSWEEP_CLI_JSON_WRITE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 8
struct json_writer {
	FILE *out;
	int depth;
	char close[JSON_DEPTH_MAX];    /* of each open object or array */
	bool has_item[JSON_DEPTH_MAX];
};
/* bracket: '{' or '['.  name: within an object; NULL within an array and at the top. */
void json_begin(struct json_writer *w, const char *name, char bracket);
void json_put(struct json_writer *w, const char *name, struct json_object *value); /* takes the value over; NULL: null */
void json_end(struct json_writer *w);

#endif
