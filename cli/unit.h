/* SPDX-License-Identifier: MIT
 *
 * Numbers for people: one unit and one precision for a whole column, so that figures can be compared by eye.
 * Stored values are in base units (B, B/s, ns, s, 1/s, %).
 */
#ifndef IOSWEEP_CLI_UNIT_H
#define IOSWEEP_CLI_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

/* Rates as MB/s (10^6, what dd and disk makers say) or MiB/s (2^20); sizes always binary; or base units throughout. */
enum unit_style { UNIT_DECIMAL, UNIT_BINARY, UNIT_BASE };
int unit_style_parse(const char *s, enum unit_style *ret, struct err *e); /* "decimal" "binary" "base"; NULL: decimal */

struct unit {
	char name[24];  /* "MB/s" "ms" "/s"; "" for a plain number */
	double divisor; /* base units in one of these */
	int decimals;
};

/* Chooses for a column of n values in the base unit: the largest in whose terms the largest value is at least 1, and as
 * many decimals as give the smallest one (but 0) three digits, four at most.  Whole numbers stay whole where nothing was
 * divided. */
struct unit unit_choose(const char *base, const double *values, size_t n, enum unit_style style);
/* "117.3"; the buffer is returned. */
char *unit_format(const struct unit *u, double value, char buf[SIZE_TEXT]);

#endif
