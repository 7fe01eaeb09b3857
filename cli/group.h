/* SPDX-License-Identifier: MIT
 *
 * query --group-by: results put together by what they have in common.
 */
#ifndef IOSWEEP_CLI_GROUP_H
#define IOSWEEP_CLI_GROUP_H

#include "cli/choose.h"

/* Reads --group-by and --agg; prints a row for each group and series.  Exit status, or -1. */
int group_print(const struct options *o, struct store *s, const struct filter *f, struct err *e);

#endif
