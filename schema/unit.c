/* SPDX-License-Identifier: MIT
 *
 * The table of units; see unit.h.
 */
#include "schema/unit.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Per base ascending by factor; unit_choose takes the last that leaves at least one whole unit. */
static const struct unit units[] = {
	{ "B/s", "B/s", 1 },
	{ "kB/s", "B/s", 1e3 },
	{ "KB/s", "B/s", 1e3 },
	{ "KiB/s", "B/s", 1024 },
	{ "MB/s", "B/s", 1e6 },
	{ "MiB/s", "B/s", 1048576 },
	{ "GB/s", "B/s", 1e9 },
	{ "GiB/s", "B/s", 1073741824 },
	{ "B", "B", 1 },
	{ "kB", "B", 1e3 },
	{ "KB", "B", 1e3 },
	{ "KiB", "B", 1024 },
	{ "MB", "B", 1e6 },
	{ "MiB", "B", 1048576 },
	{ "GB", "B", 1e9 },
	{ "GiB", "B", 1073741824 },
	{ "TB", "B", 1e12 },
	{ "TiB", "B", 1099511627776 },
	{ "ns", "ns", 1 },
	{ "us", "ns", 1e3 },
	{ "ms", "ns", 1e6 },
	{ "s", "ns", 1e9 },
	{ "min", "ns", 60e9 },
	{ "h", "ns", 3600e9 },
	{ "1/s", "1/s", 1 },
	{ "/s", "1/s", 1 },
	{ "tps", "1/s", 1 },
	{ "IOPS", "1/s", 1 },
	{ "k/s", "1/s", 1e3 },
	{ "%", "%", 1 },
	{ "1", "1", 1 },
};

const struct unit *unit_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

/* What a column is shown in: decimal or binary prefixes for bytes, up to seconds for time; rates stay plain. */
static bool unit_is_shown(const struct unit *u, bool is_binary)
{
	if (strcmp(u->base, "1/s") == 0)
		return strcmp(u->name, "1/s") == 0;
	if (strcmp(u->base, "ns") == 0)
		return u->factor <= 1e9;
	if (u->name[0] == 'K' && u->name[1] == 'B')
		return false;
	return u->factor == 1 || (strchr(u->name, 'i') != NULL) == is_binary;
}

const struct unit *unit_choose(const char *base, double typical, bool is_binary, struct unit *own)
{
	const struct unit *best = NULL;
	bool is_rate = strcmp(base, "B/s") == 0;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].base, base) != 0 || !unit_is_shown(&units[i], is_binary))
			continue;
		/* MB/s is what the field writes, even for 1035 of them */
		if (is_rate && units[i].factor > 2e6 && fabs(typical) < 1e4 * 1048576)
			continue;
		if (best == NULL || fabs(typical) >= units[i].factor)
			best = &units[i];
	}
	if (best != NULL)
		return best;
	*own = (struct unit){ base, base, 1 };
	return own;
}

int unit_parse(const char *s, const char *base, double *ret, struct err *e)
{
	size_t n = strspn(s, "+-0123456789.eE");
	const struct unit *u;
	double v;

	if (n > 0 && n < strlen(s) && tolower((unsigned char)s[n - 1]) == 'e')
		n--;
	if (number_parse_n(s, n, &v) < 0)
		return err_set(e, ERR_USAGE, "'%s' is not a number", s);
	while (s[n] == ' ')
		n++;
	if (s[n] == '\0' || strcmp(s + n, base) == 0) {
		*ret = v;
		return 0;
	}
	u = unit_find(s + n);
	if (u == NULL || strcmp(u->base, base) != 0) {
		err_set(e, ERR_USAGE, "'%s' has the unit '%s', which is not one of '%s'", s, s + n, base);
		return err_hint(e, "write a number alone, or with a unit such as %s",
		                strcmp(base, "B/s") == 0  ? "MB/s or MiB/s"
		                : strcmp(base, "ns") == 0 ? "us, ms or s"
		                                          : base);
	}
	*ret = v * u->factor;
	return 0;
}

char *unit_number(double v, char buf[SIZE_TEXT])
{
	double size = fabs(v);
	int decimals = size >= 100 || v == floor(v) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;

	if (size >= 1e12 || (size > 0 && size < 1e-3))
		snprintf(buf, SIZE_TEXT, "%.3g", v);
	else
		snprintf(buf, SIZE_TEXT, "%.*f", decimals, v);
	return buf;
}

char *unit_text(double v, const char *base, char buf[2 * SIZE_TEXT])
{
	struct unit own;
	const struct unit *u = unit_choose(base, v, false, &own);
	char number[SIZE_TEXT];

	snprintf(buf, 2 * SIZE_TEXT, "%s%s%.30s", unit_number(v / u->factor, number),
	         strcmp(u->name, "1") == 0 ? "" : " ", strcmp(u->name, "1") == 0 ? "" : u->name);
	return buf;
}

char *unit_change(double ratio, char buf[SIZE_TEXT])
{
	double percent = 100 * (ratio - 1);

	if (!isfinite(percent))
		snprintf(buf, SIZE_TEXT, "?");
	else if (fabs(percent) < 0.1 && percent != 0)
		snprintf(buf, SIZE_TEXT, "%+.2f %%", percent);
	else
		snprintf(buf, SIZE_TEXT, "%+.1f %%", percent);
	return buf;
}
