/* SPDX-License-Identifier: MIT
 *
 * `show`: what stands above the table (the sweep, what is the same in all cells) and below it (marks, flags, the
 * reasons of cells that have no figures); see show.h.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/show.h"

#define LINE_COLUMNS 79

static void sweep_line(const struct report *r, FILE *out)
{
	static const char *const kinds[] = { [TARGET_DEVICE] = "device", [TARGET_IMAGE] = "image", [TARGET_DIRECTORY] = "directory" };
	static const char *const kept[] = {
		[KEEP_MEDIAN] = "median of the trials", [KEEP_MEAN] = "mean of the trials", [KEEP_SINGLE] = "single figures",
	};
	const struct sweep *s = &r->sweep;
	bool is_table = s->state == SWEEP_IMPORTED;
	AUTO_FREE char *line = NULL, *shown = NULL; /* names of another host's store are that host's words, too */
	AUTO_FREE char *about = text_printable(s->about);
	char buf[SIZE_TEXT];

	line = xasprintf("sweep %" PRId64 "  %s  on %s, %s%s%s: %s%s%s", s->id, s->plan_name, s->host,
	                 is_table ? "a published table" : kinds[s->target_kind], is_table ? "" : " ",
	                 is_table ? "" : s->target, sweep_state_name(s->state), s->reason[0] != '\0' ? ": " : "",
	                 s->reason);
	shown = text_printable(line);
	fprintf(out, "%s\n", shown);
	if (s->is_rehearsal)
		fprintf(out, "A rehearsal, with small sizes%s: its figures say nothing about the plan's own.\n",
		        s->target_kind == TARGET_IMAGE ? " and on an image" : "");
	if (about[0] != '\0')
		fprintf(out, "%s\n", about);
	fprintf(out, "%" PRId64 " of %" PRId64 " cell%s, %s", s->cells_ended, s->cells, s->cells == 1 ? "" : "s", kept[s->keep]);
	fprintf(out, "; submitted %s", time_format_local(s->submitted_ms, buf));
	if (s->started_ms != 0 && s->ended_ms > s->started_ms)
		fprintf(out, ", took %s", duration_format((s->ended_ms - s->started_ms) * 1000000, buf));
	fprintf(out, "\n");
}

/* Adds "name value" to lines that begin with `first` and are indented by its width; begins a new one where it is
 * full. */
static void item_add(struct text *lines, size_t *used, const char *first, const char *name, const char *value)
{
	size_t needs = strlen(name) + strlen(value) + 1;

	if (*used == 0) {
		text_add(lines, first);
		*used = strlen(first);
	} else if (*used + 2 + needs > LINE_COLUMNS) {
		text_printf(lines, ",\n%*s", (int)strlen(first), "");
		*used = strlen(first);
	} else {
		text_add(lines, ", ");
		*used += 2;
	}
	text_printf(lines, "%s %s", name, value);
	*used += needs;
}

/* Axes that are the same in every cell. */
static void constants_lines(const struct report *r, FILE *out)
{
	AUTO_TEXT struct text lines = { 0 };
	size_t used = 0;

	for (size_t i = 0; r->n_cells > 0 && i < r->n_axes; i++) {
		const char *name = r->axes[i].name, *value = report_value_text(r, &r->cells[0], name);

		if (!r->axes[i].varies && strcmp(value, "-") != 0)
			item_add(&lines, &used, r->n_cells > 1 ? "in every cell: " : "", name, value);
	}
	if (used > 0)
		fprintf(out, "%s\n", text_str(&lines));
}

/* What each filesystem's name stands for, where the columns mkfs and mount were left out for it. */
static void filesystem_lines(const struct report *r, FILE *out)
{
	AUTO_TEXT struct text told = { 0 };

	for (size_t c = 0; c < r->n_cells; c++) {
		const char *name = report_value_text(r, &r->cells[c], "filesystem");
		AUTO_FREE char *key = xasprintf("\n%s\n", name), *first = xasprintf("%s: ", name);
		AUTO_TEXT struct text lines = { 0 };
		size_t used = 0;

		if (strstr(text_str(&told), key) != NULL)
			continue;
		text_add(&told, key);
		for (size_t i = 0; i < r->n_axes; i++) {
			const char *value = report_value_text(r, &r->cells[c], r->axes[i].name);

			if (r->axes[i].is_implied && strcmp(value, "-") != 0)
				item_add(&lines, &used, first, r->axes[i].name, value);
		}
		if (used > 0)
			fprintf(out, "%s\n", text_str(&lines));
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
		fprintf(out, "*  best of its %s\n", r->stands_by_column ? "column" : "metric");
	if (has_tie)
		fprintf(out, "~  cannot be told from the best: noise may have put it behind\n");
	if (has_spread)
		fprintf(out, "%%  spread of the trials: (max - min) / %s\n", keep_name(r->sweep.keep));
}

/* Adds the flags of a result that are not in the list yet; "incomplete" is one that the report itself gives. */
static void flags_gather(const struct report *r, const struct report_metric *m, size_t cell, struct text *flags)
{
	const char *rest = m->at[cell]->flags;
	char flag[FLAG_TEXT], spaced[FLAG_TEXT + 2];

	while (flag_next(&rest, flag)) {
		snprintf(spaced, sizeof(spaced), " %s ", flag);
		if (!report_flag_is_common(r, flag) && strstr(text_str(flags), spaced) == NULL)
			text_add(flags, spaced);
	}
	if (m->at[cell]->n < m->n_max && strstr(text_str(flags), " incomplete ") == NULL)
		text_add(flags, " incomplete ");
}

static void flags_lines(const struct report *r, FILE *out)
{
	AUTO_TEXT struct text all = { 0 };
	const char *rest;
	char flag[FLAG_TEXT];

	for (size_t m = 0; m < r->n_metrics; m++)
		for (size_t c = 0; c < r->n_cells; c++)
			if (r->metrics[m].at[c] != NULL)
				flags_gather(r, &r->metrics[m], c, &all);
	for (rest = text_str(&all); flag_next(&rest, flag);)
		fprintf(out, "%c  %s: %s\n", flag_letter(flag), flag, flag_about(flag));
	for (rest = r->common_flags; flag_next(&rest, flag);)
		fprintf(out, "all figures are %s: %s\n", flag, flag_about(flag));
}

/* One line for each state and reason, with the numbers of its cells. */
static void reasons_lines(const struct report *r, FILE *out)
{
	AUTO_FREE bool *is_told = xcalloc(r->n_cells + 1, sizeof(*is_told));

	for (size_t c = 0; c < r->n_cells; c++) {
		const struct shown_cell *cell = &r->cells[c];
		AUTO_TEXT struct text numbers = { 0 };
		AUTO_FREE char *reason = text_printable(cell->reason);
		size_t n = 0;

		if (is_told[c] || cell->state == CELL_OK || cell->state == CELL_RUNNING || cell->state == CELL_PARTIAL)
			continue;
		for (size_t same = c; same < r->n_cells; same++) {
			if (r->cells[same].state != cell->state || strcmp(r->cells[same].reason, cell->reason) != 0)
				continue;
			is_told[same] = true;
			text_printf(&numbers, "%s%" PRId64, n++ > 0 ? ", " : "", r->cells[same].position + 1);
		}
		fprintf(out, "%s, cell%s %s: %s\n", cell_state_name(cell->state), n > 1 ? "s" : "", text_str(&numbers),
		        reason[0] != '\0' ? reason : "no reason recorded");
	}
}

/* Metrics of one kind that the table does not show. */
static void asides_line(const struct report *r, enum aside aside, const char *what, FILE *out)
{
	bool is_first = true;

	for (size_t m = 0; m < r->n_metrics; m++) {
		if (r->metrics[m].aside != aside)
			continue;
		if (is_first)
			fprintf(out, "not shown, %s (--metric NAME shows them): %s", what, r->metrics[m].key);
		else
			fprintf(out, ", %s", r->metrics[m].key);
		is_first = false;
	}
	if (!is_first)
		fprintf(out, "\n");
}

/* One line for each metric with labels that are not shown. */
static void labels_lines(const struct report *r, FILE *out)
{
	for (size_t m = 0; m < r->n_metrics; m++) {
		const char *key = r->metrics[m].key;
		int n = (int)strcspn(key, "{");
		size_t hidden = 0;
		bool is_told = false;

		for (size_t i = 0; i < r->n_metrics; i++) {
			if (r->metrics[i].aside != ASIDE_LABELS || strncmp(r->metrics[i].key, key, (size_t)n + 1) != 0)
				continue;
			hidden++;
			is_told = is_told || i < m;
		}
		if (r->metrics[m].aside == ASIDE_LABELS && !is_told)
			fprintf(out, "not shown, %zu label%s of %.*s (--metric %.*s shows all)\n", hidden,
			        hidden == 1 ? "" : "s", n, key, n, key);
	}
}

void show_notes(const struct report *r, FILE *out)
{
	char count[COUNT_TEXT];

	fprintf(out, "\n");
	marks_lines(r, out);
	flags_lines(r, out);
	reasons_lines(r, out);
	asides_line(r, ASIDE_DETAIL, "details", out);
	asides_line(r, ASIDE_NEITHER, "neither better nor worse", out);
	labels_lines(r, out);
	if (r->is_filtered && (int64_t)r->n_cells < r->sweep.cells)
		fprintf(out, "%zu of %s of the sweep meet%s the filter\n", r->n_cells,
		        count_format(r->sweep.cells, "cell", count), r->n_cells == 1 ? "s" : "");
	else if (r->n_cells < (size_t)r->sweep.cells && r->sweep.state != SWEEP_IMPORTED)
		fprintf(out, "%" PRId64 " of %" PRId64 " cells have not been visited%s\n",
		        r->sweep.cells - (int64_t)r->n_cells, r->sweep.cells,
		        r->sweep.state == SWEEP_RUNNING || r->sweep.state == SWEEP_QUEUED ? " yet" : "");
}
