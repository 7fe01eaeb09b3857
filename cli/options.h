/* SPDX-License-Identifier: MIT
 *
 * The options of a command: one table drives parsing, --help, completion and the test that holds the manual against
 * them.
 *
 * Spelling: --name, --name=value, --name value, -x, -xVALUE, -x value; options and arguments in any order; "--" ends
 * the options. Nothing is abbreviated, so that a script does not break when an option is added.  Every command has
 * --help (-h).
 */
#ifndef IOSWEEP_CLI_OPTIONS_H
#define IOSWEEP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "schema/base/err.h"

struct command;

struct option_def {
	const char *name;     /* "priority", without the dashes */
	char letter;          /* 'p', or 0 */
	const char *argument; /* "N": takes a value, shown by this word; NULL: takes none */
	const char *about;    /* one line, lower case, no full stop */
};
#define OPTIONS_END { 0 }

/* Rows that every command which prints a table has; table_print reads them. */
#define OPTIONS_TABLE \
	{ "json", 0, NULL, "print JSON" }, \
	{ "csv", 0, NULL, "print comma-separated values with a header line (RFC 4180)" }, \
	{ "raw", 0, NULL, "print tab-separated values without a header line" }, \
	{ "format", 0, "FORMAT", "print as table, json, csv, raw, markdown or html" }, \
	{ "columns", 'o', "LIST", "print these columns only, in this order (comma-separated; 'help' lists them)" }

#define OPTIONS_GIVEN_MAX 64
struct options { /* all borrowed from argv */
	const struct command *command;
	struct {
		const struct option_def *def;
		const char *value;
	} given[OPTIONS_GIVEN_MAX];
	size_t n_given;
	const char **arguments; /* NULL-terminated */
	int n_arguments;
	bool wants_help;
};

/* Reads the words after the command's name; checks their number against the command.  argv is reordered: the arguments
 * come to its front.  ERR_USAGE names the word and the nearest option.  With --help nothing else is checked. */
int options_parse(const struct command *c, int argc, const char **argv, struct options *ret, struct err *e);

/* NAME must be in the command's table (asserted). */
bool options_has(const struct options *o, const char *name);
const char *options_text(const struct options *o, const char *name); /* the last one given, or NULL */
/* The i-th value of an option that may be given several times, or NULL after the last. */
const char *options_text_at(const struct options *o, const char *name, size_t i);
/* *ret is left alone if the option was not given; ERR_USAGE if it is not a whole number in min..max. */
int options_integer(const struct options *o, const char *name, int64_t min, int64_t max, int64_t *ret, struct err *e);

/* The command's manual page in small. */
void options_help(const struct command *c, FILE *out);
/* For completion and tests: "--name<TAB>-x<TAB>ARGUMENT<TAB>about" a line, --help included; empty fields are "-". */
void options_list(const struct command *c, FILE *out);

#endif
