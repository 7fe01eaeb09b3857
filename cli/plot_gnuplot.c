/* SPDX-License-Identifier: MIT
 *
 * Charts by gnuplot(1); see plot.h.  gnuplot is started by an argument list, reads its script from a pipe and writes
 * the picture to a file that we opened.  Texts of the store go into the script as strings from which whatever gnuplot
 * would interpret is taken out: backquotes run programs there.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/plot.h"

extern char **environ;

/* Told apart in grey as well: by lightness, dashes and points together. */
static const struct {
	const char *color;
	int dash, point;
} styles[] = {
	{ "#000000", 1, 7 },  { "#d55e00", 1, 5 },  { "#0072b2", 2, 9 },  { "#8a8a8a", 1, 11 }, { "#009e73", 3, 13 }, { "#cc79a7", 2, 6 },
	{ "#56b4e9", 1, 4 },  { "#5a5a5a", 4, 8 },  { "#e69f00", 3, 10 }, { "#b0b0b0", 2, 12 }, { "#7a4a00", 5, 2 },  { "#004a70", 5, 1 },
};

/* The text between double quotes of a script or of a data line. */
static void string_write(const char *s, FILE *out)
{
	fputc('"', out);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '`')
			fputc('\'', out);
		else if (*s == '\\')
			fputc('/', out);
		else
			fputc((unsigned char)*s < ' ' ? ' ' : *s, out);
	}
	fputc('"', out);
}

static void number_write(double v, FILE *out)
{
	char buf[SIZE_TEXT];

	fprintf(out, " %s", isnan(v) ? "NaN" : number_format(v, buf));
}

/* Block i: one line; columns: position, value, min, max. */
static void data_write(const struct chart *c, FILE *out)
{
	for (size_t l = 0; l < c->n_lines; l++) {
		fprintf(out, "$line%zu << END_OF_DATA\n", l);
		for (size_t x = 0; x < c->n_x; x++) {
			const struct point *p = &c->points[l * c->n_x + x];

			if (isnan(p->value)) /* a gap is bridged: the points are marked */
				continue;
			fprintf(out, "%.0f", c->x_seconds != NULL ? c->x_seconds[x] : (double)x);
			number_write(p->value, out);
			number_write(p->min, out);
			number_write(p->max, out);
			fputc('\n', out);
		}
		fputs("END_OF_DATA\n", out);
	}
}

static void head_write(const struct chart *c, bool is_svg, FILE *out)
{
	size_t width = c->kind == CHART_BARS ? 500 + 40 * c->n_x : 960;

	width = width < 960 ? 960 : width > 2400 ? 2400 : width;
	if (is_svg)
		fprintf(out, "set terminal svg size %zu,600 noenhanced font 'sans,13' background rgb 'white'\n", width);
	else
		fprintf(out, "set terminal pngcairo size %zu,600 noenhanced font 'sans,11' background rgb 'white'\n",
		        width);
	fputs("set encoding utf8\nset title ", out);
	string_write(c->title, out);
	fputs(".\"\\n\".", out);
	string_write(c->subtitle, out);
	fputs("\nset xlabel ", out);
	string_write(c->x_label, out);
	fputs("\nset ylabel ", out);
	string_write(c->y_label, out);
	fputs("\nset border 3\nset tics nomirror out\nset grid ytics lc rgb '#d8d8d8'\n", out);
	if (c->kind == CHART_BARS || (c->n_x > 12 && c->kind != CHART_HISTORY))
		fprintf(out, "set xtics rotate by -40 left\nset rmargin %zu\n", 4 + strlen(c->x[c->n_x - 1]) * 3 / 4); /* the last one leans out */
}

static void tics_write(const char *axis, const char *const *names, size_t n, FILE *out)
{
	fprintf(out, "set %s (", axis);
	for (size_t i = 0; i < n; i++) {
		fputs(i > 0 ? ", " : "", out);
		string_write(names[i], out);
		fprintf(out, " %zu", i);
	}
	fputs(")\n", out);
}

#define DAY 86400.0

/* Visits where they lie in time; a margin on both sides. */
static void time_write(const struct chart *c, FILE *out)
{
	double from = c->x_seconds[0], to = c->x_seconds[c->n_x - 1], margin = fmax((to - from) / 50, 60);

	fprintf(out, "set xrange [%.0f:%.0f]\nset xtics time format '%s'\n", from - margin, to + margin,
	        to - from < 4 * DAY ? "%m-%d %H:%M" : "%Y-%m-%d");
}

static void lines_write(const struct chart *c, FILE *out)
{
	fputs("set yrange [0:*]\nset key outside right top title ", out);
	string_write(c->n_lines > 1 ? c->key_label : "", out);
	fputs("\n", out);
	if (c->x_seconds != NULL) {
		time_write(c, out);
	} else {
		fprintf(out, "set xrange [-0.3:%zu.3]\n", c->n_x - 1);
		tics_write("xtics", c->x, c->n_x, out);
	}
	fputs("plot ", out);
	for (size_t l = 0; l < c->n_lines; l++) {
		fprintf(out, "%s$line%zu using 1:2 with linespoints lw 2 lc rgb '%s' dt %d pt %d title ",
		        l > 0 ? ", " : "", l, styles[l].color, styles[l].dash, styles[l].point);
		string_write(c->n_lines > 1 ? c->lines[l] : "", out);
		fprintf(out, ", $line%zu using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lw 1 lc rgb '%s' notitle", l, styles[l].color);
	}
	fputc('\n', out);
}

static void bars_write(const struct chart *c, FILE *out)
{
	tics_write("xtics", c->x, c->n_x, out);
	fprintf(out, "set yrange [0:*]\nset xrange [-0.7:%zu.7]\nunset key\nset boxwidth 0.7\nset style fill solid 0.5 border lc rgb 'black'\n"
	             "plot $line0 using 1:2 with boxes lc rgb '#8a8a8a', "
	             "$line0 using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lw 1.5 lc rgb 'black'\n", c->n_x - 1);
}

/* Light is low: a grey print keeps the order; and none is so dark that the number in it could not be read. */
static void heat_write(const struct chart *c, FILE *out)
{
	fprintf(out, "unset grid\nset xrange [-0.5:%zu.5]\nset yrange [-0.5:%zu.5]\nset palette defined (0 '#ffffff', 1 '#c6dbef', 2 '#6baed6')\n",
	        c->n_x - 1, c->n_lines - 1);
	fputs("set cblabel ", out);
	string_write(c->y_label, out);
	fputs("\nset ylabel ", out);
	string_write(c->key_label, out);
	fputc('\n', out);
	tics_write("xtics", c->x, c->n_x, out);
	tics_write("ytics", c->lines, c->n_lines, out);
	fputs("$heat << END_OF_DATA\n", out);
	for (size_t l = 0; l < c->n_lines; l++) {
		for (size_t x = 0; x < c->n_x; x++) {
			char number[SIZE_TEXT];
			double v = c->points[l * c->n_x + x].value;

			fprintf(out, "%zu %zu", x, l);
			number_write(v, out);
			fprintf(out, " \"%s\"\n", isnan(v) ? "" : unit_number(v, number));
		}
		fputc('\n', out);
	}
	fputs("END_OF_DATA\nplot $heat using 1:2:3 with image notitle, $heat using 1:2:4 with labels font ',10' textcolor rgb 'black' notitle\n",
	      out);
}

static void script_write(const struct chart *c, bool is_svg, FILE *out)
{
	head_write(c, is_svg, out);
	if (c->kind != CHART_HEAT)
		data_write(c, out);
	switch (c->kind) {
	case CHART_LINE:
	case CHART_HISTORY:
		lines_write(c, out);
		return;
	case CHART_BARS:
		bars_write(c, out);
		return;
	case CHART_HEAT:
		heat_write(c, out);
		return;
	}
}

/* Starts gnuplot with the picture as its standard output; *ret_in: where the script goes. */
static int gnuplot_start(int picture, pid_t *ret_pid, int *ret_in, struct err *e)
{
	static char *const argv[] = { (char *)"gnuplot", (char *)"-d", NULL }; /* -d: no initialisation file of the user's */
	posix_spawn_file_actions_t actions;
	int ends[2], code;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, errno, "make a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
	code = posix_spawnp(ret_pid, "gnuplot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (code != 0) {
		close(ends[1]);
		err_sys(e, code, "run 'gnuplot'");
		return code == ENOENT ? err_hint(e, "install gnuplot (gnuplot-nox), or leave out the file: a text chart needs none") : -1;
	}
	*ret_in = ends[1];
	return 0;
}

static int picture_make(const struct chart *c, int picture, bool is_svg, struct err *e)
{
	pid_t pid;
	int in, status;
	FILE *script;

	if (gnuplot_start(picture, &pid, &in, e) < 0)
		return -1;
	signal(SIGPIPE, SIG_IGN); /* a gnuplot that dies early is found by its exit status */
	script = fdopen(in, "w");
	if (script != NULL) {
		script_write(c, is_svg, script);
		fclose(script);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, errno, "wait for 'gnuplot'");
	if (script == NULL || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(e, ERR_TOOL, "gnuplot failed with status %d",
		               WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

int chart_draw(const struct chart *c, const char *path, struct err *e)
{
	bool is_svg = text_ends(path, ".svg");
	AUTO_FREE char *part = xasprintf("%s.part", path);
	AUTO_CLOSE int fd = -1;

	if (!is_svg && !text_ends(path, ".png"))
		return err_set(e, ERR_USAGE, "plot: '%s' ends neither in .svg nor in .png", path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(e, errno, "create '%s'", part);
	if (picture_make(c, fd, is_svg, e) < 0) {
		unlink(part);
		return -1;
	}
	if (rename(part, path) < 0)
		return err_sys(e, errno, "create '%s'", path);
	return 0;
}
