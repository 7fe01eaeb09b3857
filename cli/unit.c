/* SPDX-License-Identifier: MIT
 *
 * Choice of units; see unit.h.
 */
#include "cli/unit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Per base unit, ascending. */
static const struct scale {
	const char *base;
	int style; /* -1: every style but UNIT_BASE */
	double divisor;
	const char *name;
} scales[] = {
	{ "B/s", UNIT_DECIMAL, 1, "B/s" },     { "B/s", UNIT_DECIMAL, 1e3, "kB/s" },   { "B/s", UNIT_DECIMAL, 1e6, "MB/s" },
	{ "B/s", UNIT_BINARY, 1, "B/s" },      { "B/s", UNIT_BINARY, 0x1p10, "KiB/s" }, { "B/s", UNIT_BINARY, 0x1p20, "MiB/s" },
	{ "B", -1, 1, "B" },                   { "B", -1, 0x1p10, "KiB" },             { "B", -1, 0x1p20, "MiB" },
	{ "B", -1, 0x1p30, "GiB" },            { "B", -1, 0x1p40, "TiB" },
	{ "ns", -1, 1, "ns" },                 { "ns", -1, 1e3, "us" },                { "ns", -1, 1e6, "ms" },
	{ "ns", -1, 1e9, "s" },
	{ "s", -1, 1e-6, "us" },               { "s", -1, 1e-3, "ms" },                { "s", -1, 1, "s" },
	{ "1/s", -1, 1, "/s" },                { "1/s", -1, 1e6, "M/s" },
};

int unit_style_parse(const char *s, enum unit_style *ret, struct err *e)
{
	static const char *const names[] = { [UNIT_DECIMAL] = "decimal", [UNIT_BINARY] = "binary", [UNIT_BASE] = "base" };

	*ret = UNIT_DECIMAL;
	if (s == NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(s, names[i]) == 0) {
			*ret = (enum unit_style)i;
			return 0;
		}
	}
	err_set(e, ERR_USAGE, "unknown units '%s'", s);
	return err_hint(e, "known are decimal (MB/s), binary (MiB/s) and base (B/s)");
}

static int decimals_for(double smallest, bool all_whole)
{
	if (all_whole && smallest >= 1)
		return 0;
	if (smallest == 0 || smallest >= 100)
		return smallest >= 1000 || smallest == 0 ? 0 : 1;
	if (smallest >= 10)
		return 1;
	return smallest >= 1 ? 2 : smallest >= 0.1 ? 3 : 4;
}

struct unit unit_choose(const char *base, const double *values, size_t n, enum unit_style style)
{
	struct unit u = { .divisor = 1 };
	double largest = 0, smallest = 0;
	bool all_whole = true;

	for (size_t i = 0; i < n; i++) {
		double v = fabs(values[i]);

		largest = v > largest ? v : largest;
		smallest = v > 0 && (smallest == 0 || v < smallest) ? v : smallest;
		all_whole = all_whole && v == floor(v);
	}
	snprintf(u.name, sizeof(u.name), "%s", strcmp(base, "1/s") == 0 ? "/s" : base);
	for (size_t i = 0, found = 0; style != UNIT_BASE && i < ARRAY_SIZE(scales); i++) {
		const struct scale *s = &scales[i];

		if (strcmp(s->base, base) != 0 || (s->style >= 0 && s->style != (int)style))
			continue;
		if (found++ > 0 && largest < s->divisor)
			continue;
		snprintf(u.name, sizeof(u.name), "%s", s->name);
		u.divisor = s->divisor;
	}
	u.decimals = decimals_for(smallest / u.divisor, all_whole && u.divisor == 1);
	return u;
}

char *unit_format(const struct unit *u, double value, char buf[SIZE_TEXT])
{
	double v = value / u->divisor;

	if (fabs(v) >= 1e15) /* no column is that wide */
		snprintf(buf, SIZE_TEXT, "%.6g", v);
	else
		snprintf(buf, SIZE_TEXT, "%.*f", u->decimals, v);
	return buf;
}
