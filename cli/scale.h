/* SPDX-License-Identifier: MIT
 *
 * Numbers for people: one unit and one precision for a whole column, so that figures can be compared by eye.
 * Stored values are in base units (B, B/s, ns, s, 1/s, %).
 */
#ifndef IOSWEEP_CLI_SCALE_H
#define IOSWEEP_CLI_SCALE_H

#include <stddef.h>

#include "schema/base/err.h"
#include "schema/base/text.h"

/* Rates as MB/s (10^6, what dd and disk makers say) or MiB/s (2^20); sizes always binary; or base units throughout. */
enum scale_style { SCALE_DECIMAL, SCALE_BINARY, SCALE_BASE };
int scale_style_parse(const char *s, enum scale_style *ret, struct err *e); /* "decimal" "binary" "base"; NULL: decimal */

struct scale {
	char name[24];  /* "MB/s" "ms" "/s"; "" for a plain number */
	double divisor; /* base units in one of these */
	int decimals;
};

/* Chooses for a column of n values in the base unit: the unit that suits the largest (schema/unit.h), and as many
 * decimals as give the smallest one (but 0) three digits, four at most.  Whole numbers stay whole where nothing was
 * divided. */
struct scale scale_choose(const char *base, const double *values, size_t n, enum scale_style style);
/* "117.3"; the buffer is returned. */
char *scale_format(const struct scale *u, double value, char buf[SIZE_TEXT]);

#endif
