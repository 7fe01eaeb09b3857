/* SPDX-License-Identifier: MIT
 *
 * Charts in characters, for a terminal; see plot.h.  Each point is a bar; a heat map is a grid of numbers with its
 * shades.
 */
#include <math.h>
#include <string.h>

#include "cli/plot.h"

static double chart_max(const struct chart *c)
{
	double max = 0;

	for (size_t i = 0; i < c->n_lines * c->n_x; i++)
		if (!isnan(c->points[i].value))
			max = fmax(max, c->points[i].max);
	return max;
}

static size_t longest(const char *const *names, size_t n)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = strlen(names[i]) > most ? strlen(names[i]) : most;
	return most;
}

/* "======|---|" : the bar ends at the value; from minimum to maximum there are dashes. */
static void bar_print(const struct point *p, double max, size_t room, FILE *out)
{
	size_t low = (size_t)lround(p->min / max * (double)room), value = (size_t)lround(p->value / max * (double)room),
	       high = (size_t)lround(p->max / max * (double)room);

	for (size_t i = 0; i < room; i++) {
		if (i < value)
			fputc(i >= low && p->min < p->value ? '+' : '=', out);
		else if (i < high)
			fputc('-', out);
	}
}

static void rows_print(const struct chart *c, size_t width, FILE *out)
{
	size_t names = longest(c->x, c->n_x), room;
	double max = chart_max(c);

	names = names > width / 2 ? width / 2 : names;
	room = width > names + 20 ? width - names - 14 : 10;
	for (size_t l = 0; l < c->n_lines; l++) {
		if (c->n_lines > 1)
			fprintf(out, "%s\n", c->lines[l]);
		for (size_t x = 0; x < c->n_x; x++) {
			const struct point *p = &c->points[l * c->n_x + x];
			char number[SIZE_TEXT];

			if (isnan(p->value))
				continue;
			fprintf(out, "%s%-*.*s %9s ", c->n_lines > 1 ? "  " : "", (int)names, (int)names, c->x[x],
			        unit_number(p->value, number));
			if (max > 0 && p->value >= 0)
				bar_print(p, max, room - 2, out);
			fputc('\n', out);
		}
	}
}

static void heat_print(const struct chart *c, FILE *out)
{
	static const char *const shades[] = { " ", "░", "▒", "▓", "█" };
	double max = 0, min = INFINITY;
	size_t names = longest(c->lines, c->n_lines), column = longest(c->x, c->n_x);

	column = column < 8 ? 8 : column;
	for (size_t i = 0; i < c->n_lines * c->n_x; i++) {
		if (isnan(c->points[i].value))
			continue;
		max = fmax(max, c->points[i].value);
		min = fmin(min, c->points[i].value);
	}
	fprintf(out, "%-*s", (int)names, "");
	for (size_t x = 0; x < c->n_x; x++)
		fprintf(out, "  %*s ", (int)column, c->x[x]);
	fputc('\n', out);
	for (size_t l = 0; l < c->n_lines; l++) {
		fprintf(out, "%-*s", (int)names, c->lines[l]);
		for (size_t x = 0; x < c->n_x; x++) {
			double v = c->points[l * c->n_x + x].value;
			size_t shade = isnan(v) || max == min ? 0 : (size_t)lround((v - min) / (max - min) * 4);
			char number[SIZE_TEXT];

			fprintf(out, "  %*s%s", (int)column, isnan(v) ? "-" : unit_number(v, number), shades[shade]);
		}
		fputc('\n', out);
	}
}

void chart_text(const struct chart *c, size_t width, FILE *out)
{
	AUTO_FREE char *subtitle = text_printable(c->subtitle);

	fprintf(out, "%s in %s\n%s\n\n", c->title, c->unit, subtitle);
	if (c->kind == CHART_HEAT)
		fprintf(out, "%s over %s\n", c->key_label, c->x_label);
	else
		fprintf(out, "%s%s%s\n", c->x_label, c->n_lines > 1 ? ", by " : "", c->n_lines > 1 ? c->key_label : "");
	if (c->kind == CHART_HEAT)
		heat_print(c, out);
	else
		rows_print(c, width > 0 ? width : 100, out);
}
