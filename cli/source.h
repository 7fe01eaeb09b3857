/* SPDX-License-Identifier: MIT
 *
 * The text of a plan, as the commands that take one read it.
 */
#ifndef IOSWEEP_CLI_SOURCE_H
#define IOSWEEP_CLI_SOURCE_H

#include "schema/base/err.h"
#include "schema/base/text.h"

/* What messages call it. */
const char *source_name(const char *file);

/* The file's text, terminated; "-" is standard input, and a pipe will do.  Too large a text is a fault of the plan
 * like any other (yaml.h), so one byte more than YAML_MAX_BYTES is kept at least.  Fails with ERR_USAGE: the command
 * line is wrong. */
int source_read(const char *file, struct text *ret, struct err *e);

#endif
