/* SPDX-License-Identifier: MIT
 *
 * Command lines by table; see options.h.  Not getopt_long(3): that one abbreviates, prints by itself and knows no
 * help text.
 */
#include "cli/options.h"

#include <assert.h>
#include <string.h>

#include "cli/command.h"

static const struct option_def option_help = { "help", 'h', NULL, "show this help" };

static size_t options_count(const struct command *c)
{
	size_t n = 0;

	while (c->options != NULL && c->options[n].name != NULL)
		n++;
	return n;
}

static const struct option_def *option_by_name(const struct command *c, const char *name, size_t n)
{
	if (n == strlen(option_help.name) && memcmp(name, option_help.name, n) == 0)
		return &option_help;
	for (size_t i = 0; i < options_count(c); i++)
		if (strlen(c->options[i].name) == n && memcmp(c->options[i].name, name, n) == 0)
			return &c->options[i];
	return NULL;
}

static const struct option_def *option_by_letter(const struct command *c, char letter)
{
	if (letter == option_help.letter)
		return &option_help;
	for (size_t i = 0; i < options_count(c); i++)
		if (c->options[i].letter == letter)
			return &c->options[i];
	return NULL;
}

static int option_unknown(const struct command *c, const char *word, struct err *e)
{
	size_t n = options_count(c), length = strcspn(word, "=");
	AUTO_FREE const char **names = xcalloc(n + 1, sizeof(*names));
	AUTO_FREE char *name = xstrndup(word, length);
	const char *nearest;

	for (size_t i = 0; i < n; i++)
		names[i] = c->options[i].name;
	names[n] = option_help.name;
	err_set(e, ERR_USAGE, "%s: unknown option '%s'", c->name, name);
	nearest = text_starts(name, "--") ? text_nearest(name + 2, names, n + 1) : NULL;
	if (nearest != NULL)
		return err_hint(e, "did you mean '--%s'? '" PROGRAM " %s --help' lists all", nearest, c->name);
	return err_hint(e, "'" PROGRAM " %s --help' lists all", c->name);
}

static int option_store(struct options *o, const struct option_def *def, const char *value, struct err *e)
{
	if (def == &option_help) {
		o->wants_help = true;
		return 0;
	}
	if (o->n_given == OPTIONS_GIVEN_MAX)
		return err_set(e, ERR_USAGE, "%s: more than %d options", o->command->name, OPTIONS_GIVEN_MAX);
	o->given[o->n_given].def = def;
	o->given[o->n_given++].value = value;
	return 0;
}

/* One word that starts with '-'; next is the word after it, or NULL.  ret_used_next: it was the option's value. */
static int option_read(struct options *o, const char *word, const char *next, bool *ret_used_next, struct err *e)
{
	const struct command *c = o->command;
	const struct option_def *def;
	const char *value = NULL;

	if (text_starts(word, "--")) {
		size_t n = strcspn(word + 2, "=");

		def = option_by_name(c, word + 2, n);
		if (def != NULL && word[2 + n] == '=')
			value = word + 2 + n + 1;
	} else {
		def = option_by_letter(c, word[1]);
		if (def != NULL && word[2] != '\0')
			value = word + 2;
	}
	if (def == NULL)
		return option_unknown(c, word, e);
	if (def->argument == NULL && value != NULL)
		return err_set(e, ERR_USAGE, "%s: option '--%s' takes no value: '%s'", c->name, def->name, word);
	if (def->argument != NULL && value == NULL) {
		if (next == NULL)
			return err_set(e, ERR_USAGE, "%s: option '--%s' needs a value: --%s %s", c->name, def->name,
			               def->name, def->argument);
		value = next;
		*ret_used_next = true;
	}
	return option_store(o, def, value, e);
}

static int options_count_check(const struct command *c, const struct options *o, struct err *e)
{
	if (o->n_arguments < c->min_arguments)
		err_set(e, ERR_USAGE, "%s: an argument is missing", c->name);
	else if (c->max_arguments >= 0 && o->n_arguments > c->max_arguments)
		err_set(e, ERR_USAGE, "%s: unexpected argument '%s'", c->name, o->arguments[c->max_arguments]);
	else
		return 0;
	return err_hint(e, "usage: " PROGRAM " %s%s%s [OPTION...]", c->name, c->arguments[0] != '\0' ? " " : "",
	                c->arguments);
}

int options_parse(const struct command *c, int argc, const char **argv, struct options *ret, struct err *e)
{
	struct options o = { .command = c, .arguments = argv };
	bool is_ended = false;

	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];
		bool used_next = false;

		if (is_ended || word[0] != '-' || word[1] == '\0') {
			argv[o.n_arguments++] = word;
		} else if (strcmp(word, "--") == 0) {
			is_ended = true;
		} else {
			if (option_read(&o, word, i + 1 < argc ? argv[i + 1] : NULL, &used_next, e) < 0)
				return -1;
			i += used_next;
		}
	}
	if (o.n_arguments < argc)
		argv[o.n_arguments] = NULL;
	if (!o.wants_help && options_count_check(c, &o, e) < 0)
		return -1;
	*ret = o;
	return 0;
}

const char *options_text_at(const struct options *o, const char *name, size_t i)
{
	assert(option_by_name(o->command, name, strlen(name)) != NULL);
	for (size_t g = 0; g < o->n_given; g++)
		if (strcmp(o->given[g].def->name, name) == 0 && i-- == 0)
			return o->given[g].value != NULL ? o->given[g].value : "";
	return NULL;
}

const char *options_text(const struct options *o, const char *name)
{
	const char *last = NULL, *value;

	for (size_t i = 0; (value = options_text_at(o, name, i)) != NULL; i++)
		last = value;
	return last;
}

bool options_has(const struct options *o, const char *name)
{
	return options_text_at(o, name, 0) != NULL;
}

int options_integer(const struct options *o, const char *name, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
	const char *value = options_text(o, name);

	if (value == NULL)
		return 0;
	if (integer_parse(value, min, max, ret) < 0)
		return err_set(e, ERR_USAGE, "%s: option '--%s': '%s' is not a whole number from %lld to %lld",
		               o->command->name, name, value, (long long)min, (long long)max);
	return 0;
}

static void option_help_line(const struct option_def *def, FILE *out)
{
	char spelling[64], letter[8] = "    ";

	if (def->letter != '\0')
		snprintf(letter, sizeof(letter), "-%c, ", def->letter);
	snprintf(spelling, sizeof(spelling), "%s--%s%s%s", letter, def->name, def->argument != NULL ? " " : "",
	         def->argument != NULL ? def->argument : "");
	fprintf(out, strlen(spelling) > 26 ? "  %s\n%30s%s\n" : "  %-26s%.0s  %s\n", spelling, "", def->about);
}

/* Without line ends at its end. */
static size_t details_length(const char *details)
{
	size_t n = strlen(details);

	while (n > 0 && details[n - 1] == '\n')
		n--;
	return n;
}

void options_help(const struct command *c, FILE *out)
{
	fprintf(out, "usage: " PROGRAM " %s%s%s [OPTION...]\n\n%c%s.\n", c->name, c->arguments[0] != '\0' ? " " : "",
	        c->arguments, c->about[0] >= 'a' && c->about[0] <= 'z' ? c->about[0] - 'a' + 'A' : c->about[0],
	        c->about + 1);
	if (c->details != NULL)
		fprintf(out, "\n%.*s\n", (int)details_length(c->details), c->details);
	fprintf(out, "\noptions:\n");
	for (size_t i = 0; i < options_count(c); i++)
		option_help_line(&c->options[i], out);
	option_help_line(&option_help, out);
}

static void option_list_line(const struct option_def *def, FILE *out)
{
	char letter[3] = { '-', def->letter, '\0' };

	fprintf(out, "--%s\t%s\t%s\t%s\n", def->name, letter, def->argument != NULL ? def->argument : "-", def->about);
}

void options_list(const struct command *c, FILE *out)
{
	for (size_t i = 0; i < options_count(c); i++)
		option_list_line(&c->options[i], out);
	option_list_line(&option_help, out);
}
