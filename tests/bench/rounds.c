/* SPDX-License-Identifier: MIT
 *
 * Compares commands side by side: each round runs every case once, in a fresh random order, and a figure is the median
 * of the per-round ratios to the first case.  Absolute times on a shared machine are noise; these ratios are not.
 *
 *   rounds ROUNDS UNIT NAME=COMMAND NAME=COMMAND...
 *
 * Each COMMAND is a program with blank-separated arguments that prints one number, the cost of one unit, in UNIT, as
 * the last line of its standard output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/base/mem.h"
#include "schema/base/text.h"
#include "schema/stats.h"

#define CASES_MAX 16
#define ROUNDS_MAX 1000

static double case_run(const char *command)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct err e = { 0 };
	AUTO_TEXT struct text out = { 0 };
	char **argv, buf[4096], *last;
	double figure;
	size_t argc;
	ssize_t n;
	int fds[2], status;
	pid_t pid;

	if (words_split(a, command, &argv, &argc, &e) < 0 || argc == 0 || pipe(fds) < 0)
		exit(2);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		text_add_n(&out, buf, (size_t)n);
	close(fds[0]);
	waitpid(pid, &status, 0);
	while (out.n > 0 && out.s[out.n - 1] == '\n')
		out.s[--out.n] = '\0';
	last = strrchr(text_str(&out), '\n');
	if (status != 0 || number_parse(last ? last + 1 : text_str(&out), &figure) < 0) {
		fprintf(stderr, "rounds: '%s' failed (status %d) or printed no number: %s\n", command, status,
		        text_str(&out));
		exit(1);
	}
	return figure;
}

static void shuffle(int *order, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = (int)(random() % (i + 1)), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

int main(int argc, char **argv)
{
	static double figure[CASES_MAX][ROUNDS_MAX], ratio[ROUNDS_MAX];
	const char *command[CASES_MAX];
	int order[CASES_MAX], n = argc - 3, rounds;

	if (argc < 4 || n > CASES_MAX || (rounds = (int)strtol(argv[1], NULL, 10)) < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: rounds ROUNDS UNIT NAME=COMMAND...\n");
		return 2;
	}
	srandom((unsigned)getpid());
	for (int i = 0; i < n; i++) {
		char *equals = strchr(argv[i + 3], '=');

		if (equals == NULL)
			return 2;
		*equals = '\0';
		command[i] = equals + 1;
		order[i] = i;
	}
	for (int r = 0; r < rounds; r++) {
		shuffle(order, n);
		for (int k = 0; k < n; k++)
			figure[order[k]][r] = case_run(command[order[k]]);
	}
	printf("%-28s %12s %10s %10s %10s   (%d rounds, ratios to '%s')\n", "case", argv[2], "ratio", "lowest",
	       "highest", rounds, argv[3]);
	for (int i = 0; i < n; i++) {
		double low, high;

		for (int r = 0; r < rounds; r++)
			ratio[r] = figure[i][r] / figure[0][r];
		low = high = ratio[0];
		for (int r = 1; r < rounds; r++) {
			low = ratio[r] < low ? ratio[r] : low;
			high = ratio[r] > high ? ratio[r] : high;
		}
		printf("%-28s %12.4g %10.3f %10.3f %10.3f\n", argv[i + 3], stats_median(figure[i], (size_t)rounds),
		       stats_median(ratio, (size_t)rounds), low, high);
	}
	return 0;
}
