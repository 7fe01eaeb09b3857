/* SPDX-License-Identifier: MIT
 *
 * iosweep label: labels on a sweep, for filters (label.NAME=VALUE) and compare --label.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/table.h"
#include "schema/config.h"
#include "schema/store_merge.h"

static const struct option_def options[] = { OPTIONS_TABLE, OPTIONS_END };

static int labels_print(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	AUTO_TABLE struct table *t = table_new("labels");
	struct sweep_label *labels;
	int64_t id;
	size_t n;

	if (open_store(&s, e) < 0 || open_sweep(s, o->arguments[0], &id, e) < 0 ||
	    store_labels(s, id, a, &labels, &n, e) < 0)
		return -1;
	table_column(t, "name", "NAME", TABLE_KEY);
	table_column(t, "value", "VALUE", 0);
	for (size_t i = 0; i < n; i++) {
		table_row(t);
		table_text(t, 0, labels[i].name);
		table_text(t, 1, labels[i].value);
	}
	return table_print(t, o, stdout, e) < 0 ? -1 : EXIT_GOOD;
}

static int label_set(struct store *s, int64_t id, const char *word, struct err *e)
{
	const char *equals = strchr(word, '=');
	AUTO_FREE char *name = equals != NULL ? xstrndup(word, (size_t)(equals - word)) : NULL;

	if (name == NULL || name[0] == '\0' || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name)) {
		err_set(e, ERR_USAGE, "label: '%s' is not NAME=VALUE", word);
		return err_hint(e, "a name has lower-case letters, digits and '_'; NAME= removes it");
	}
	if (!text_is_printable(equals + 1))
		return err_set(e, ERR_USAGE,
		               "label: the value of '%s' is not one line of UTF-8 without control characters", name);
	return store_label(s, id, name, equals + 1, e);
}

static int labels_set(const struct options *o, struct store *s, struct err *e)
{
	int64_t id;

	if (open_sweep(s, o->arguments[0], &id, e) < 0)
		return -1;
	for (int i = 1; i < o->n_arguments; i++)
		if (label_set(s, id, o->arguments[i], e) < 0)
			return -1;
	return 0;
}

static int label_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;

	if (o->n_arguments == 1)
		return labels_print(o, e);
	if (store_open(config_default_db(), STORE_WRITE, &s, e) < 0 || store_begin(s, e) < 0)
		return -1;
	if (labels_set(o, s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, e) < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_label = {
	.name = "label",
	.arguments = "ID [NAME=VALUE...]",
	.min_arguments = 1,
	.max_arguments = -1,
	.about = "put labels on a sweep, or list them",
	.details = "Filters find them as label.NAME=VALUE; NAME= removes one.  Labels of a plan's cells are axes and stay.",
	.options = options,
	.run = label_run,
};
