/* SPDX-License-Identifier: MIT
 *
 * Choice of unit and precision for a column; see scale.h.
 */
#include "cli/scale.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "schema/unit.h"

int scale_style_parse(const char *s, enum scale_style *ret, struct err *e)
{
	static const char *const names[] = { [SCALE_DECIMAL] = "decimal", [SCALE_BINARY] = "binary", [SCALE_BASE] = "base" };

	*ret = SCALE_DECIMAL;
	if (s == NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(s, names[i]) == 0) {
			*ret = (enum scale_style)i;
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

struct scale scale_choose(const char *base, const double *values, size_t n, enum scale_style style)
{
	struct scale u = { .divisor = 1 };
	double largest = 0, smallest = 0;
	bool all_whole = true;
	const char *name = base;

	for (size_t i = 0; i < n; i++) {
		double v = fabs(values[i]);

		largest = v > largest ? v : largest;
		smallest = v > 0 && (smallest == 0 || v < smallest) ? v : smallest;
		all_whole = all_whole && v == floor(v);
	}
	if (style != SCALE_BASE) {
		bool is_binary = style == SCALE_BINARY || strcmp(base, "B") == 0;
		struct unit own;
		const struct unit *chosen = unit_choose(base, largest, is_binary, &own);

		name = chosen->name;
		u.divisor = chosen->factor;
	}
	snprintf(u.name, sizeof(u.name), "%s", name);
	u.decimals = decimals_for(smallest / u.divisor, all_whole && u.divisor == 1);
	return u;
}

char *scale_format(const struct scale *u, double value, char buf[SIZE_TEXT])
{
	double v = value / u->divisor;

	if (fabs(v) >= 1e15) /* no column is that wide */
		snprintf(buf, SIZE_TEXT, "%.6g", v);
	else
		snprintf(buf, SIZE_TEXT, "%.*f", u->decimals, v);
	return buf;
}
