/* SPDX-License-Identifier: MIT
 *
 * Units of metrics: what people write and read (MB/s, MiB/s, ms) against the base unit that is stored (B/s, ns).
 * kB MB GB are 1000-based and KiB MiB GiB 1024-based here, always.  Not for sizes in plans; those are size_parse's.
 */
#ifndef IOSWEEP_UNIT_H
#define IOSWEEP_UNIT_H

#include "schema/base/err.h"
#include "schema/base/text.h"

/* A unit: value_in_base = value * factor. */
struct unit {
	const char *name; /* as written: "MB/s" */
	const char *base; /* as stored: "B/s" */
	double factor;
};

/* The unit of that name, or NULL.  A name that is not in the table is its own base unit to whoever accepts that. */
const struct unit *unit_find(const char *name);

/* The unit in which a value of that base unit reads best: 836000000 B/s -> MB/s, 740000 ns -> us.  is_binary: MiB/s
 * instead of MB/s.  Never NULL: a unit that is not in the table gives factor 1 and its own name (the struct is then
 * *own). */
const struct unit *unit_choose(const char *base, double typical, bool is_binary, struct unit *own);

/* "836MB/s", "2.5ms", "42" -> value in `base`.  A number without unit is taken as base.  ERR_USAGE for a unit of
 * another base. */
int unit_parse(const char *s, const char *base, double *ret, struct err *e);

/* Four significant digits without exponent where that is readable: "836", "0.1234", "12.3". */
char *unit_number(double v, char buf[SIZE_TEXT]);
/* The same with the unit chosen for this one value: "836 MB/s". */
char *unit_text(double v, const char *base, char buf[2 * SIZE_TEXT]);
/* A change as people read it: 1.919 -> "+91.9 %", 0.95 -> "-5.0 %". */
char *unit_change(double ratio, char buf[SIZE_TEXT]);

#endif
