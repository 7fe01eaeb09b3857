/* SPDX-License-Identifier: MIT
 *
 * A command of iosweep: one file cli/cmd_NAME.c that defines `const struct command cmd_NAME`.  The build lists these
 * files in the generated commands.h, so adding a command is adding its file (and its section in man/iosweep.1).
 *
 *     static const struct option_def options[] = {
 *             { "limit", 'n', "N", "show the newest N sweeps only" },
 *             OPTIONS_TABLE,
 *             OPTIONS_END
 *     };
 *     static int list_run(const struct options *o, struct err *e) { ...; return 0; }
 *     const struct command cmd_list = { .name = "list", .arguments = "", .about = "...", .options = options, .run = list_run };
 */
#ifndef IOSWEEP_CLI_COMMAND_H
#define IOSWEEP_CLI_COMMAND_H

#include "cli/options.h"
#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/base/text.h"

/* Exit statuses, as iosweep(1) promises them. */
enum {
	EXIT_GOOD = 0,
	EXIT_BAD = 1,         /* the thing asked about failed */
	EXIT_USAGE = 2,       /* command line, plan, id */
	EXIT_UNREACHABLE = 3, /* no daemon */
	EXIT_REGRESSION = 4
};

struct command {
	const char *name;
	const char *arguments; /* for the usage line: "PLAN", "[ID]", "ID..." or "" */
	int min_arguments;
	int max_arguments;     /* -1: any number */
	const char *about;     /* one line, for the list of commands; lower case, no full stop */
	const char *details;   /* further paragraphs for --help, lines up to 80 columns, or NULL */
	const struct option_def *options; /* ends with OPTIONS_END; --help is added */
	/* Returns the exit status, or -1 with *e: main then prints it and takes the status from the kind of error.
	 * Data goes to stdout, remarks to stderr. */
	int (*run)(const struct options *o, struct err *e);
};

/* The program's name in front of messages. */
#define PROGRAM "iosweep"

/* All commands, sorted by name. */
extern const struct command *const command_table[];
extern const size_t command_table_n;
const struct command *command_find(const char *name); /* or NULL */

#endif
