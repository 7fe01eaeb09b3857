/* SPDX-License-Identifier: MIT
 *
 * `show`: what stands above the table (the sweep, what is the same in all cells) and below it (marks, flags, the reasons
 * of cells that have no figures); see show.h.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/show.h"

static void sweep_line(const struct report *r, FILE *out)
{
	static const char *const kinds[] = { [TARGET_DEVICE] = "device", [TARGET_IMAGE] = "image", [TARGET_DIRECTORY] = "directory" };
	const struct sweep *s = &r->sweep;
	const char *kind = s->state == SWEEP_IMPORTED ? "table" : kinds[s->target_kind];
	char buf[SIZE_TEXT];

	fprintf(out, "sweep %" PRId64 "  %s  on %s, %s %s: %s%s%s\n", s->id, s->plan_name, s->host, kind, s->target,
	        sweep_state_name(s->state), s->reason != NULL && s->reason[0] != '\0' ? ": " : "",
	        s->reason != NULL ? s->reason : "");
	if (s->about != NULL && s->about[0] != '\0')
		fprintf(out, "%s\n", s->about);
	fprintf(out, "%" PRId64 " of %" PRId64 " cells, %s of the trials", s->cells_ended, s->cells, keep_name(s->keep));
	fprintf(out, "; submitted %s", time_format_local(s->submitted_ms, buf));
	if (s->started_ms != 0 && s->ended_ms > s->started_ms)
		fprintf(out, ", took %s", duration_format((s->ended_ms - s->started_ms) * 1000000, buf));
	fprintf(out, "\n");
}

/* Axes that are the same in every cell, several a line. */
static void constants_lines(const struct report *r, FILE *out)
{
	size_t width = 0;

	for (size_t i = 0; i < r->n_axes; i++) {
		const struct report_axis *axis = &r->axes[i];
		const char *value = r->n_cells > 0 ? report_value_text(r, &r->cells[0], axis->name) : "";
		size_t needs = strlen(axis->name) + strlen(value) + 3;

		if (axis->varies || ((strcmp(axis->name, "mkfs") == 0 || strcmp(axis->name, "mount") == 0) && strcmp(value, "-") == 0))
			continue;
		if (width == 0)
			width = (size_t)fprintf(out, "in every cell: ");
		else if (width + needs > 78)
			width = (size_t)fprintf(out, "\n               ") - 1;
		width += (size_t)fprintf(out, "%s %s; ", axis->name, value);
	}
	if (width > 0)
		fprintf(out, "\n");
}

/* What each filesystem's name stands for, where the columns mkfs and mount were left out for it. */
static void filesystem_lines(const struct report *r, FILE *out)
{
	bool has_implied = false;

	for (size_t i = 0; i < r->n_axes; i++)
		has_implied = has_implied || r->axes[i].is_implied;
	for (size_t c = 0; has_implied && c < r->n_cells; c++) {
		const char *name = report_value_text(r, &r->cells[c], "filesystem");
		bool is_first = true;

		for (size_t before = 0; before < c && is_first; before++)
			is_first = strcmp(report_value_text(r, &r->cells[before], "filesystem"), name) != 0;
		if (!is_first)
			continue;
		fprintf(out, "%s:", name);
		for (size_t i = 0; i < r->n_axes; i++)
			if (r->axes[i].is_implied)
				fprintf(out, " %s %s;", r->axes[i].name, report_value_text(r, &r->cells[c], r->axes[i].name));
		fprintf(out, "\n");
	}
}

void show_head(const struct report *r, FILE *out)
{
	sweep_line(r, out);
	constants_lines(r, out);
	filesystem_lines(r, out);
	fprintf(out, "\n");
}

static void marks_lines(const struct report *r, FILE *out)
{
	bool has_best = false, has_tie = false, has_spread = false;

	for (size_t m = 0; m < r->n_metrics; m++) {
		has_spread = has_spread || r->metrics[m].spread_width > 0;
		for (size_t c = 0; c < r->n_cells; c++) {
			has_best = has_best || r->metrics[m].standing[c] == STANDING_BEST;
			has_tie = has_tie || r->metrics[m].standing[c] == STANDING_TIE;
		}
	}
	if (has_best)
		fprintf(out, "*  best of its metric\n");
	if (has_tie)
		fprintf(out, "~  not told apart from the best: the ranges of their trials overlap\n");
	if (has_spread)
		fprintf(out, "%%  spread of the trials: (max - min) / %s\n", keep_name(r->sweep.keep));
}

/* Adds the flags of a result that are not in the list yet; "incomplete" is one that the report itself gives. */
static void flags_gather(const struct report_metric *m, size_t cell, struct text *flags)
{
	const char *p = m->at[cell]->flags;
	char flag[32], spaced[36];

	while (p != NULL && sscanf(p, " %31s", flag) == 1) {
		snprintf(spaced, sizeof(spaced), " %s ", flag);
		if (strstr(text_str(flags), spaced) == NULL)
			text_add(flags, spaced);
		p = strstr(p, flag) + strlen(flag);
	}
	if (m->at[cell]->n < m->n_max && strstr(text_str(flags), " incomplete ") == NULL)
		text_add(flags, " incomplete ");
}

static void flags_lines(const struct report *r, FILE *out)
{
	AUTO_TEXT struct text all = { 0 };
	const char *p;
	char flag[32];

	for (size_t m = 0; m < r->n_metrics; m++)
		for (size_t c = 0; c < r->n_cells; c++)
			if (r->metrics[m].at[c] != NULL)
				flags_gather(&r->metrics[m], c, &all);
	for (p = text_str(&all); sscanf(p, " %31s", flag) == 1; p = strstr(p, flag) + strlen(flag))
		fprintf(out, "%c  %s: %s\n", flag_letter(flag), flag, flag_about(flag));
}

/* One line for each state and reason, with the numbers of its cells. */
static void reasons_lines(const struct report *r, FILE *out)
{
	AUTO_FREE bool *is_told = xcalloc(r->n_cells + 1, sizeof(*is_told));

	for (size_t c = 0; c < r->n_cells; c++) {
		const struct shown_cell *cell = &r->cells[c];
		size_t n = 0;

		if (is_told[c] || cell->state == CELL_OK || cell->state == CELL_RUNNING || cell->state == CELL_PARTIAL)
			continue;
		fprintf(out, "%s", cell_state_name(cell->state));
		for (size_t same = c; same < r->n_cells; same++) {
			if (r->cells[same].state != cell->state || strcmp(r->cells[same].reason, cell->reason) != 0)
				continue;
			is_told[same] = true;
			fprintf(out, "%s%" PRId64, n++ > 0 ? ", " : ", cell ", r->cells[same].position + 1);
		}
		fprintf(out, ": %s\n", cell->reason[0] != '\0' ? cell->reason : "no reason recorded");
	}
}

void show_notes(const struct report *r, FILE *out)
{
	fprintf(out, "\n");
	marks_lines(r, out);
	flags_lines(r, out);
	reasons_lines(r, out);
	if (r->n_cells < (size_t)r->sweep.cells && r->sweep.state != SWEEP_IMPORTED)
		fprintf(out, "%" PRId64 " of %" PRId64 " cells have not been visited%s\n", r->sweep.cells - (int64_t)r->n_cells,
		        r->sweep.cells, r->sweep.state == SWEEP_RUNNING || r->sweep.state == SWEEP_QUEUED ? " yet" : "");
}
