/* SPDX-License-Identifier: MIT
 *
 * iosweep, the command: finds the command's row, reads its options, runs it, prints its error.  What a command does
 * is in its own file, cmd_NAME.c.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "commands.h" /* generated: declares each cmd_NAME and defines COMMANDS */

const struct command *const command_table[] = { COMMANDS };
const size_t command_table_n = ARRAY_SIZE(command_table);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_table_n; i++)
		if (strcmp(command_table[i]->name, name) == 0)
			return command_table[i];
	return NULL;
}

static void usage_print(FILE *out)
{
	fprintf(out, "usage: " PROGRAM " COMMAND [ARGUMENT...] [OPTION...]\n\ncommands:\n");
	for (size_t i = 0; i < command_table_n; i++)
		fprintf(out, "  %-12s%s\n", command_table[i]->name, command_table[i]->about);
	fprintf(out, "\n'" PROGRAM " COMMAND --help' tells more of one; the manual is " PROGRAM "(1).\n"
	             "An ID is a sweep's number, 'last', 'last~1', or the start of its UUID.\n");
}

static int command_unknown(const char *name, struct err *e)
{
	AUTO_FREE const char **names = xcalloc(command_table_n + 1, sizeof(*names));
	const char *nearest;

	for (size_t i = 0; i < command_table_n; i++)
		names[i] = command_table[i]->name;
	err_set(e, ERR_USAGE, "unknown command '%s'", name);
	nearest = text_nearest(name, names, command_table_n);
	if (nearest != NULL)
		return err_hint(e, "did you mean '%s'? '" PROGRAM " --help' lists all", nearest);
	return err_hint(e, "'" PROGRAM " --help' lists all");
}

/* For completion: `iosweep --list` names the commands, `iosweep --list COMMAND` its options. */
static int list_print(const char *name, struct err *e)
{
	const struct command *c = name != NULL ? command_find(name) : NULL;

	if (name != NULL && c == NULL)
		return command_unknown(name, e);
	if (c != NULL)
		options_list(c, stdout);
	for (size_t i = 0; c == NULL && i < command_table_n; i++)
		printf("%s\t%s\t%s\n", command_table[i]->name,
		       command_table[i]->arguments[0] ? command_table[i]->arguments : "-", command_table[i]->about);
	return EXIT_GOOD;
}

static int command_run(int argc, const char **argv, struct err *e)
{
	const struct command *c = command_find(argv[0]);
	struct options o;

	if (c == NULL)
		return command_unknown(argv[0], e);
	if (options_parse(c, argc - 1, argv + 1, &o, e) < 0)
		return -1;
	if (o.wants_help) {
		options_help(c, stdout);
		return EXIT_GOOD;
	}
	return c->run(&o, e);
}

static int word_run(int argc, const char **argv, struct err *e)
{
	const char *first = argv[0];

	if (strcmp(first, "--version") == 0) {
		printf(PROGRAM " " IOSWEEP_VERSION "\n");
		return EXIT_GOOD;
	}
	if (strcmp(first, "--list") == 0)
		return list_print(argv[1], e);
	if (strcmp(first, "help") == 0 && argc > 1) {
		const char *help[] = { argv[1], "--help", NULL };

		return command_run(2, help, e);
	}
	if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
		usage_print(stdout);
		return EXIT_GOOD;
	}
	return command_run(argc, argv, e);
}

/* One thread, and reports of hundreds of thousands of fields: no lock for each, and writes of more than a page. */
static void output_speed_up(void)
{
	static char buffer[65536];

	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	int status;

	output_speed_up();
	setlocale(LC_CTYPE, ""); /* widths of characters in tables; numbers stay those of the C locale */
	if (argc < 2) {
		usage_print(stderr);
		return EXIT_USAGE;
	}
	status = word_run(argc - 1, (const char **)argv + 1, &e);
	if (fflush(stdout) != 0 && status >= 0)
		status = err_sys(&e, errno, "write to standard output");
	if (status < 0) {
		err_print(stderr, PROGRAM, &e);
		status = err_exit_status(e.kind);
	}
	return status;
}
