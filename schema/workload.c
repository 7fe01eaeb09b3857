/* SPDX-License-Identifier: MIT
 *
 * Definitions read from YAML: parameters and the steps of the phases.  Metrics and rules are workload_metric.c's,
 * ${...} is workload_expand.c's.
 */
#include "schema/workload.h"

#include <signal.h>
#include <string.h>

#include "schema/workload_read.h"

static const char *const phases[N_PHASES] = { "prepare", "before", "run", "after", "cleanup" };

const char *phase_name(enum workload_phase phase)
{
	return phases[phase];
}

static bool name_is_valid(const char *s)
{
	return *s != '\0' && strlen(s) <= 64 && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0' &&
	       *s != '-';
}

/* A scalar that must be there to be used; "" and a diagnostic otherwise. */
static const char *scalar_text(const struct node *node, const char *what, struct diags *d)
{
	if (node->kind == NODE_SCALAR)
		return node->text;
	diags_add(d, node->line, node->column, "%s must be a scalar, not %s", what, node_kind_name(node));
	return "";
}

/* A list of scalars as a NULL-terminated array; a scalar is a list of one. */
static char **words_read(struct workload *w, const struct node *node, const char *what, struct diags *d, size_t *ret_n)
{
	size_t n = node->kind == NODE_LIST ? node->n : 1;
	char **words = arena_array(w->arena, n + 1, sizeof(*words));

	if (node->kind == NODE_MAP) {
		diags_add(d, node->line, node->column, "%s must be a list of words", what);
		n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct node *item = node->kind == NODE_LIST ? node->at[i] : node;

		words[i] = arena_strdup(w->arena, scalar_text(item, what, d));
	}
	*ret_n = n;
	return words;
}

static bool node_is_argv(const struct node *node)
{
	return node->kind == NODE_LIST && node->n > 0 && node->at[0]->kind == NODE_SCALAR;
}

static int signal_by_name(const char *name)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = { { "TERM", SIGTERM }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "HUP", SIGHUP } };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (strcmp(signals[i].name, name) == 0)
			return signals[i].signal;
	return 0;
}

static bool bool_read(const struct node *map, const char *key, struct diags *d)
{
	const struct node *node = node_get(map, key);
	bool value = false;

	if (node != NULL && node_bool(node, &value) < 0)
		diags_add(d, node->line, node->column, "'%s' must be yes or no", key);
	return value;
}

static void step_timeout(struct workload_step *step, const struct node *map, struct diags *d)
{
	const struct node *node = node_get(map, "timeout");
	struct err e;

	if (node != NULL && duration_parse(scalar_text(node, "'timeout'", d), &step->timeout_ns, &e) < 0)
		diags_add(d, node->line, node->column, "timeout: %s", e.text);
}

/* A text with ${...}; NULL if the key is not there. */
static const char *template_read(struct workload *w, const struct node *map, const char *key, struct diags *d)
{
	const struct node *node = node_get(map, key);
	AUTO_FREE char *what = xasprintf("'%s'", key);

	if (node == NULL)
		return NULL;
	workload_check_words(w, node, false, d);
	return arena_strdup(w->arena, scalar_text(node, what, d));
}

static void step_options(struct workload *w, struct workload_step *step, const struct node *map, struct diags *d)
{
	static const char *const known[] = { "argv", "copies", "timeout", "background", "stop", "retry", "may-fail", "only-if",
		                             "discard", NULL };
	const struct node *node;

	node_check_keys(map, known, "a step", d);
	step->background = bool_read(map, "background", d);
	step->retry = bool_read(map, "retry", d);
	step->discard = bool_read(map, "discard", d);
	step->may_fail = bool_read(map, "may-fail", d);
	step_timeout(step, map, d);
	step->copies = template_read(w, map, "copies", d);
	step->only_if = template_read(w, map, "only-if", d);
	node = node_get(map, "stop");
	step->stop_signal = node != NULL ? signal_by_name(scalar_text(node, "'stop'", d)) : SIGTERM;
	if (step->stop_signal == 0)
		diags_add(d, node->line, node->column, "'stop' must be TERM, INT, QUIT or HUP");
}

/* "[dd, ...]", or a map with argv and how to run it. */
static void step_read(struct workload *w, const struct node *node, struct workload_step *step, struct diags *d)
{
	const struct node *argv = node;

	*step = (struct workload_step){ .line = node->line, .column = node->column, .workload = w, .stop_signal = SIGTERM };
	if (node->kind == NODE_MAP) {
		argv = node_get(node, "argv");
		step_options(w, step, node, d);
	}
	if (argv == NULL || argv->kind != NODE_LIST || argv->n == 0) {
		diags_add(d, node->line, node->column, "a step is a list of words, as in [dd, if=/dev/zero]%s",
		          node->kind == NODE_MAP ? ", under the key 'argv'" : "");
		return;
	}
	step->words = words_read(w, argv, "an argument list", d, &step->n);
	workload_check_words(w, argv, false, d);
}

static void phase_read(struct workload *w, enum workload_phase phase, const struct node *node, struct diags *d)
{
	size_t n = node->kind == NODE_LIST && !node_is_argv(node) ? node->n : 1;

	if (node->kind == NODE_SCALAR || n == 0) {
		diags_add(d, node->line, node->column, "'%s' must be a list of words or a list of steps",
		          phases[phase]);
		return;
	}
	w->steps[phase] = arena_array(w->arena, n, sizeof(struct workload_step));
	w->n_steps[phase] = n;
	for (size_t i = 0; i < n; i++)
		step_read(w, node->kind == NODE_LIST && !node_is_argv(node) ? node->at[i] : node, &w->steps[phase][i],
		          d);
}

/* Names by which a parameter could not be reached: from a plan, in a word, in an expression. */
static bool param_is_hidden(const char *name)
{
	return strcmp(name, "as") == 0 || strcmp(name, "only") == 0 || strcmp(name, "root") == 0 ||
	       workload_name_is_builtin(name) || fact_is_known(name);
}

static void params_read(struct workload *w, const struct node *map, struct diags *d)
{
	if (map->kind != NODE_MAP) {
		diags_add(d, map->line, map->column, "'params' must be a map of names and defaults");
		return;
	}
	w->params = arena_array(w->arena, map->n, sizeof(*w->params));
	for (size_t i = 0; i < map->n; i++) {
		const struct node *key = map->keys[i];

		if (!name_is_valid(key->text))
			diags_add(d, key->line, key->column, "'%s' is no name for a parameter: use a-z, 0-9, _ and -",
			          key->text);
		else if (param_is_hidden(key->text))
			diags_add(d, key->line, key->column,
			          "'%s' cannot name a parameter: it means something else in plans or definitions",
			          key->text);
		w->params[w->n_params++] = (struct workload_param){
			arena_strdup(w->arena, key->text),
			arena_strdup(w->arena, scalar_text(map->at[i], "a parameter's default", d))
		};
	}
	for (size_t i = 0; i < map->n; i++)
		workload_check_words(w, map->at[i], false, d);
}

static void more_params_read(struct workload *w, const struct node *map, struct diags *d)
{
	static const char *const known[] = { "prefix", "words", NULL };
	const struct node *words = node_get(map, "words"), *prefix = node_get(map, "prefix");
	size_t n;

	if (map->kind != NODE_MAP || words == NULL) {
		diags_add(d, map->line, map->column, "'more-params' must be a map with 'words' (and 'prefix')");
		return;
	}
	node_check_keys(map, known, "more-params", d);
	w->any_param = true;
	w->more_prefix = prefix != NULL ? arena_strdup(w->arena, scalar_text(prefix, "'prefix'", d)) : "";
	w->more_words = words_read(w, words, "'words'", d, &n);
	workload_check_words(w, words, true, d);
}

/* Where else programs are looked for. */
static char **path_read(struct workload *w, const struct node *node, struct diags *d)
{
	size_t n;
	char **path;

	if (node == NULL)
		return arena_array(w->arena, 1, sizeof(*path));
	path = words_read(w, node, "'path'", d, &n);
	for (size_t i = 0; i < n; i++)
		if (path[i][0] != '/')
			diags_add(d, node->line, node->column, "'%s' in 'path' must begin with /", path[i]);
	return path;
}

/* The words under a key; none if it is not there. */
static char **list_read(struct workload *w, const struct node *root, const char *key, struct diags *d)
{
	const struct node *node = node_get(root, key);
	size_t n;

	return node != NULL ? words_read(w, node, arena_printf(w->arena, "'%s'", key), d, &n) :
	                      arena_array(w->arena, 1, sizeof(char *));
}

/* One product, or a list of them. */
static char ***space_read(struct workload *w, const struct node *node, struct diags *d)
{
	bool is_several = node != NULL && node->kind == NODE_LIST && node->n > 0 && node->at[0]->kind == NODE_LIST;
	size_t n = is_several ? node->n : node != NULL, n_words;
	char ***space = arena_array(w->arena, n + 1, sizeof(*space));

	for (size_t i = 0; i < n; i++)
		space[i] = words_read(w, is_several ? node->at[i] : node, "'space'", d, &n_words);
	return space;
}

static void head_read(struct workload *w, const struct node *root, struct diags *d)
{
	const struct node *name = node_get(root, "workload"), *node;

	if (name != NULL)
		w->name = arena_strdup(w->arena, scalar_text(name, "'workload'", d));
	w->line = name != NULL ? name->line : 1;
	w->column = name != NULL ? name->column : 1;
	if (name != NULL && !name_is_valid(w->name))
		diags_add(d, name->line, name->column, "'%s' is no name for a workload: use a-z, 0-9, _ and -",
		          w->name);
	if (name == NULL && !w->is_body)
		diags_add(d, root->line, root->column, "the key 'workload' (its name) is missing");
	node = node_get(root, "about");
	w->about = node != NULL ? arena_strdup(w->arena, scalar_text(node, "'about'", d)) : "";
	node = node_get(root, "package");
	w->package = node != NULL ? arena_strdup(w->arena, scalar_text(node, "'package'", d)) : "";
	w->needs = list_read(w, root, "needs", d);
	w->version = list_read(w, root, "version", d);
	w->space = space_read(w, node_get(root, "space"), d);
	w->path = path_read(w, node_get(root, "path"), d);
	w->warm = bool_read(root, "warm", d);
	w->reads = bool_read(root, "reads", d);
}

/* The parameters, and what is said of them. */
static void all_params_read(struct workload *w, const struct node *root, struct diags *d)
{
	const struct node *node;

	node = node_get(root, "params");
	if (node != NULL)
		params_read(w, node, d);
	node = node_get(root, "more-params");
	if (node != NULL)
		more_params_read(w, node, d);
	node = node_get(root, "rehearse");
	if (node != NULL)
		rehearse_read(w, node, d);
	node = node_get(root, "space");
	if (node != NULL)
		workload_space_check(w, node, d);
}

/* Keys at the top of a definition that do not bear on its figures; the name is in the digest anyway. */
static bool is_beside(const char *key)
{
	static const char *const beside[] = { "about", "workload", "package", "rehearse", "space" };

	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		if (strcmp(key, beside[i]) == 0)
			return true;
	return false;
}

/* What a definition says, without layout, comments and those: equal for equal meaning, on every host. */
static void node_dump(const struct node *node, int depth, struct text *t)
{
	if (node->kind == NODE_SCALAR) {
		text_printf(t, "%zu:%s", strlen(node->text), node->text);
		return;
	}
	text_add(t, node->kind == NODE_MAP ? "{" : "[");
	for (size_t i = 0; i < node->n; i++) {
		if (node->kind == NODE_MAP && depth == 0 && is_beside(node->keys[i]->text))
			continue;
		if (node->kind == NODE_MAP)
			text_printf(t, "%zu:%s=", strlen(node->keys[i]->text), node->keys[i]->text);
		node_dump(node->at[i], depth + 1, t);
		text_add(t, ",");
	}
	text_add(t, node->kind == NODE_MAP ? "}" : "]");
}

static void string_quote(const char *s, struct text *t)
{
	text_add(t, "\"");
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			text_printf(t, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			text_printf(t, "\\x%02x", (unsigned char)*s);
		else
			text_add_n(t, s, 1);
	}
	text_add(t, "\"");
}

/* YAML in flow style. */
static void node_write(const struct node *node, struct text *t)
{
	if (node->kind == NODE_SCALAR) {
		string_quote(node->text, t);
		return;
	}
	text_add(t, node->kind == NODE_MAP ? "{" : "[");
	for (size_t i = 0; i < node->n; i++) {
		text_add(t, i > 0 ? ", " : "");
		if (node->kind == NODE_MAP) {
			string_quote(node->keys[i]->text, t);
			text_add(t, ": ");
		}
		node_write(node->at[i], t);
	}
	text_add(t, node->kind == NODE_MAP ? "}" : "]");
}

/* A definition of its own that says what stands under `command` in a plan: what the store keeps. */
static const char *body_source(const struct node *body, struct arena *a)
{
	AUTO_TEXT struct text t = { 0 };

	text_add(&t, "workload: command\n");
	for (size_t i = 0; body->kind == NODE_MAP && i < body->n; i++) {
		if (strcmp(body->keys[i]->text, "as") == 0)
			continue;
		string_quote(body->keys[i]->text, &t);
		text_add(&t, ": ");
		node_write(body->at[i], &t);
		text_add(&t, "\n");
	}
	return arena_strdup(a, t.s);
}

static void phases_read(struct workload *w, const struct node *root, struct diags *d)
{
	for (int i = 0; i < N_PHASES; i++) {
		const struct node *node = node_get(root, phases[i]);

		if (node != NULL)
			phase_read(w, (enum workload_phase)i, node, d);
	}
	if (w->n_steps[PHASE_RUN] == 0 && node_get(root, "run") == NULL)
		diags_add(d, root->line, root->column, "the key 'run' (what is measured) is missing");
}

/* Reads a definition's map into a new workload; faults go to d. */
static struct workload *definition_read(const struct node *root, const char *data, size_t n, bool is_body,
                                        struct diags *d)
{
	static const char *const known[] = { "workload", "about", "needs", "package", "version", "path", "params", "more-params", "rehearse",
		                             "space", "warm", "reads", "prepare", "before", "run", "after", "cleanup", "metrics",
		                             "sources", "csv", "grids", "complete-if", "fail-if", "no-data-if", "suspect-if", NULL };
	static const char *const known_in_plan[] = { "about", "needs", "package", "version", "path", "params", "rehearse", "space", "warm", "reads",
		                                     "prepare", "before", "run", "after", "cleanup", "metrics", "sources", "csv", "grids",
		                                     "complete-if", "fail-if", "no-data-if", "suspect-if", NULL };
	struct arena *a = arena_new();
	struct workload *w = arena_alloc(a, sizeof(*w));
	AUTO_EVALUATOR struct evaluator *evaluator = NULL;
	AUTO_TEXT struct text dump = { 0 };
	struct err e;

	*w = (struct workload){ .arena = a, .evaluator = arena_array(a, 1, sizeof(struct evaluator *)), .name = is_body ? "command" : "", .about = "", .package = "", .is_body = is_body,
		                .source = is_body ? body_source(root, a) : arena_strndup(a, data, n), .file = arena_strdup(a, d->file != NULL ? d->file : "") };
	if (root->kind != NODE_MAP) {
		diags_add(d, root->line, root->column, "a workload definition must be a map, not %s",
		          node_kind_name(root));
		return w;
	}
	if (evaluator_new(&evaluator, &e) < 0) {
		diags_add(d, 0, 0, "%s", e.text);
		return w;
	}
	node_check_keys(root, is_body ? known_in_plan : known, is_body ? "command" : "a workload definition", d);
	head_read(w, root, d);
	all_params_read(w, root, d);
	phases_read(w, root, d);
	metrics_read(w, root, evaluator, d);
	text_printf(&dump, "%s=", w->name);
	node_dump(root, 0, &dump);
	digest_of(dump.s, dump.n, w->digest);
	return w;
}

static int definition_finish(struct workload *w, size_t n_before, struct diags *d, struct workload **ret)
{
	diags_sort(d);
	if (d->n + d->n_lost > n_before) {
		workload_free(w);
		return -1;
	}
	*ret = w;
	return 0;
}

int workload_read(const char *data, size_t n, struct diags *d, struct workload **ret)
{
	AUTO_ARENA struct arena *a = arena_new();
	size_t before = d->n + d->n_lost;
	struct node *root;

	if (yaml_read(a, data, n, d, &root) < 0)
		return -1;
	return definition_finish(definition_read(root, data, n, false, d), before, d, ret);
}

int workload_from_plan(const struct node *body, const char *data, size_t n, struct diags *d, struct workload **ret)
{
	AUTO_TEXT struct text source = { 0 };
	size_t before = d->n + d->n_lost;

	(void)data; /* the plan as a whole: what is stored is the definition alone */
	(void)n;
	workload_source_write(body, &source);
	return definition_finish(definition_read(body, text_str(&source), source.n, true, d), before, d, ret);
}

void workload_free(struct workload *w)
{
	if (w == NULL)
		return;
	evaluator_free(*w->evaluator);
	arena_free(w->arena);
}

bool workload_uses(const struct workload *w, const char *fact)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->uses) && w->uses[i] != NULL; i++)
		if (strcmp(w->uses[i], fact) == 0)
			return true;
	return false;
}

bool workload_takes(const struct workload *w, const char *param)
{
	for (size_t i = 0; i < w->n_params; i++)
		if (strcmp(w->params[i].name, param) == 0)
			return true;
	return w->any_param && text_starts(param, w->more_prefix) && param[strlen(w->more_prefix)] != '\0';
}
