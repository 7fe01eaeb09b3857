/* SPDX-License-Identifier: MIT
 *
 * ${...} in argument lists.  One pass over the text; values of parameters are expanded again, to a bounded depth.  No
 * shell, no environment, no files.
 */
#include <inttypes.h>
#include <string.h>

#include "schema/workload_read.h"

#define DEPTH_MAX 4
#define WORDS_MAX 4096
#define TEXT_MAX ((size_t)1 << 20)

int workload_size(const char *value, int64_t ram_bytes, int64_t *ret_bytes, struct err *e)
{
	const char *x = strchr(value, 'x');
	double times;

	if (x == NULL || strcmp(x + 1 + strspn(x + 1, " "), "ram") != 0)
		return size_parse(value, SIZE_BARE, ret_bytes, e);
	if (number_parse_n(value, (size_t)(x - value), &times) < 0 || times <= 0 || times > 1000)
		return err_set(e, ERR_USAGE,
		               "'%s' is not a size: the factor before 'x ram' must be above 0 and at most 1000", value);
	if (ram_bytes <= 0)
		return err_set(e, ERR_USAGE, "'%s' is relative to the memory, which is not known here", value);
	*ret_bytes = (int64_t)(times * (double)ram_bytes);
	return 0;
}

static bool size_is_relative(const char *value)
{
	return text_ends(value, "ram") && strchr(value, 'x') != NULL;
}

static const char *param_find(const struct expansion *x, const char *name)
{
	for (size_t i = 0; i < x->n_params; i++)
		if (strcmp(x->params[i].name, name) == 0)
			return x->params[i].value;
	return NULL;
}

static int text_expand(const char *s, const struct expansion *x, int depth, struct text *out, struct err *e);

static int param_size(const struct expansion *x, const char *name, int64_t *ret, bool *ret_relative, struct err *e)
{
	const char *value = param_find(x, name);

	if (value == NULL)
		return err_set(e, ERR_USAGE, "'${%s}': there is no parameter '%s'", name, name);
	*ret_relative = size_is_relative(value);
	return workload_size(value, x->ram_bytes, ret, e) < 0 ? err_in(e, "parameter '%s'", name) : 0;
}

/* "${size:MiB}" */
static int unit_expand(const struct expansion *x, const char *name, const char *unit, struct text *out, struct err *e)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} units[] = { { "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 }, { "sectors", 512 } };
	const char *value = param_find(x, name);
	int64_t bytes;
	bool is_relative;

	if (strcmp(unit, "plain") == 0 && value != NULL && !size_is_relative(value) && !text_ends(value, "iB"))
		return text_expand(value, x, DEPTH_MAX, out, e);
	if (param_size(x, name, &bytes, &is_relative, e) < 0)
		return -1;
	if (strcmp(unit, "plain") == 0) {
		text_printf(out, "%lld", (long long)bytes);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		int64_t by = units[i].bytes;

		if (strcmp(units[i].name, unit) != 0)
			continue;
		if (bytes % by != 0 && !is_relative)
			return err_set(e, ERR_USAGE, "parameter '%s' is %lld bytes, which is no whole number of %s",
			               name, (long long)bytes, unit);
		text_printf(out, "%lld", (long long)((bytes + by - 1) / by));
		return 0;
	}
	return err_set(e, ERR_USAGE, "'${%s:%s}': the unit must be B, KiB, MiB, GiB or sectors", name, unit);
}

/* "${duration:s}": whole seconds, rounded up. */
static int seconds_expand(const struct expansion *x, const char *name, struct text *out, struct err *e)
{
	const char *value = param_find(x, name);
	int64_t ns;

	if (value == NULL)
		return err_set(e, ERR_USAGE, "'${%s:s}': there is no parameter '%s'", name, name);
	if (duration_parse(value, &ns, e) < 0)
		return err_in(e, "parameter '%s'", name);
	text_printf(out, "%lld", (long long)((ns + 999999999) / 1000000000));
	return 0;
}

/* "${fresh-data=trial}": yes or no. */
static int equal_expand(const struct expansion *x, const char *name, const char *want, struct text *out, struct err *e)
{
	const char *value = param_find(x, name);

	if (value == NULL)
		return err_set(e, ERR_USAGE, "'${%s=%s}': there is no parameter '%s'", name, want, name);
	text_add(out, strcmp(value, want) == 0 ? "yes" : "no");
	return 0;
}

/* "${size/bs}" */
static int quotient_expand(const struct expansion *x, const char *name, const char *by, struct text *out, struct err *e)
{
	int64_t a, b;
	bool ignored;

	if (param_size(x, name, &a, &ignored, e) < 0 || param_size(x, by, &b, &ignored, e) < 0)
		return -1;
	if (b <= 0)
		return err_set(e, ERR_USAGE, "'${%s/%s}': parameter '%s' must be more than 0", name, by, by);
	text_printf(out, "%" PRId64, a / b + (a % b != 0));
	return 0;
}

static int builtin_expand(const struct expansion *x, const char *name, struct text *out, bool *ret_known, struct err *e)
{
	*ret_known = true;
	if (strcmp(name, "dir") == 0)
		text_add(out, x->dir != NULL ? x->dir : ".");
	else if (strcmp(name, "copy") == 0)
		text_printf(out, "%d", x->copy > 0 ? x->copy : 1);
	else if (strcmp(name, "copies") == 0)
		text_printf(out, "%d", x->copies > 0 ? x->copies : 1);
	else if (strcmp(name, "repetition") == 0)
		text_printf(out, "%d", x->repetition);
	else if (strcmp(name, "device") == 0 && x->device == NULL)
		return err_set(e, ERR_INFEASIBLE, "'${device}' is asked for, and a directory target has none");
	else if (strcmp(name, "device") == 0)
		text_add(out, x->device);
	else
		*ret_known = false;
	return 0;
}

bool workload_name_is_builtin(const char *name)
{
	const struct expansion any = { .device = "" };
	AUTO_TEXT struct text out = { 0 };
	bool is_known = false;

	return builtin_expand(&any, name, &out, &is_known, NULL) == 0 && is_known;
}

static int param_expand(const struct expansion *x, const char *name, int depth, struct text *out, struct err *e)
{
	const char *value = param_find(x, name);
	int64_t bytes;

	if (value == NULL)
		return err_set(e, ERR_USAGE, "'${%s}' stands for nothing: no such parameter", name);
	if (!size_is_relative(value))
		return text_expand(value, x, depth + 1, out, e) < 0 ? err_in(e, "parameter '%s'", name) : 0;
	if (workload_size(value, x->ram_bytes, &bytes, e) < 0)
		return err_in(e, "parameter '%s'", name);
	text_printf(out, "%lld", (long long)bytes);
	return 0;
}

/* What stands between the braces. */
static int name_expand(const char *name, const struct expansion *x, int depth, struct text *out, struct err *e)
{
	AUTO_FREE char *left = xstrdup(name);
	char *mark = strpbrk(left, ":/="), kind;
	bool is_known;

	if (builtin_expand(x, name, out, &is_known, e) < 0)
		return -1;
	if (is_known)
		return 0;
	if (mark == NULL)
		return param_expand(x, name, depth, out, e);
	kind = *mark;
	*mark = '\0';
	if (kind == '=')
		return equal_expand(x, left, mark + 1, out, e);
	if (kind == '/')
		return quotient_expand(x, left, mark + 1, out, e);
	if (strcmp(mark + 1, "s") == 0)
		return seconds_expand(x, left, out, e);
	return unit_expand(x, left, mark + 1, out, e);
}

static int text_expand(const char *s, const struct expansion *x, int depth, struct text *out, struct err *e)
{
	if (depth > DEPTH_MAX)
		return err_set(e, ERR_USAGE, "'%s': parameters name each other more than %d deep", s, DEPTH_MAX);
	while (*s != '\0') {
		size_t plain = strcspn(s, "$");
		const char *end;

		text_add_n(out, s, plain);
		s += plain;
		if (*s == '\0')
			break;
		end = s[1] == '{' ? strchr(s, '}') : NULL;
		if (s[1] == '{' && end == NULL)
			return err_set(e, ERR_USAGE, "'%s': '${' is not closed", s);
		if (end == NULL) {
			text_add_n(out, s++, 1);
		} else {
			AUTO_FREE char *name = xstrndup(s + 2, (size_t)(end - s - 2));

			if (name_expand(name, x, depth, out, e) < 0)
				return -1;
			s = end + 1;
		}
		if (out->n > TEXT_MAX)
			return err_set(e, ERR_USAGE, "a word of more than %zu bytes", TEXT_MAX);
	}
	return 0;
}

int workload_expand_text(const char *text, const struct expansion *x, struct arena *a, const char **ret, struct err *e)
{
	AUTO_TEXT struct text out = { 0 };

	if (text_expand(text, x, 0, &out, e) < 0)
		return -1;
	*ret = arena_strdup(a, text_str(&out));
	return 0;
}

/* The argument list as it grows. */
struct argv {
	const struct workload_step *step;
	const struct expansion *x;
	struct arena *arena;
	char **at;
	size_t n, cap;
};

static int argv_add(struct argv *argv, const char *word, struct err *e)
{
	if (argv->n == WORDS_MAX)
		return err_set(e, ERR_USAGE, "an argument list of more than %d words", WORDS_MAX);
	if (argv->n + 1 >= argv->cap) {
		char **more = arena_array(argv->arena, argv->cap = argv->cap ? 2 * argv->cap : 32, sizeof(*more));

		if (argv->n > 0)
			memcpy(more, argv->at, argv->n * sizeof(*more));
		argv->at = more;
	}
	argv->at[argv->n++] = arena_strdup(argv->arena, word);
	return 0;
}

static int argv_add_text(struct argv *argv, const char *text, struct err *e)
{
	AUTO_TEXT struct text out = { 0 };

	return text_expand(text, argv->x, 0, &out, e) < 0 ? -1 : argv_add(argv, text_str(&out), e);
}

static bool param_is_named(const struct workload *w, const char *name)
{
	for (size_t i = 0; i < w->n_params; i++)
		if (strcmp(w->params[i].name, name) == 0)
			return true;
	return false;
}

/* The words of more-params for one parameter. */
static int option_add(struct argv *argv, const struct workload_param *param, struct err *e)
{
	const struct workload *w = argv->step->workload;
	const struct workload_param pair[] = { { "name", param->name + strlen(w->more_prefix) }, { "value", param->value } };
	struct expansion x = *argv->x, value_x = *argv->x;
	AUTO_TEXT struct text value = { 0 };
	struct workload_param expanded[2];

	if (text_expand(param->value, &value_x, 1, &value, e) < 0)
		return err_in(e, "parameter '%s'", param->name);
	expanded[0] = pair[0];
	expanded[1] = (struct workload_param){ "value", text_str(&value) };
	x.params = expanded;
	x.n_params = 2;
	for (char **word = w->more_words; *word != NULL; word++) {
		AUTO_TEXT struct text out = { 0 };

		if (text_expand(*word, &x, DEPTH_MAX - 1, &out, e) < 0 || argv_add(argv, text_str(&out), e) < 0)
			return -1;
	}
	return 0;
}

/* "${@options}": with a prefix, every parameter under it; without, those that the definition does not name. */
static int options_add(struct argv *argv, struct err *e)
{
	const struct workload *w = argv->step->workload;

	for (size_t i = 0; w != NULL && w->any_param && i < argv->x->n_params; i++) {
		const struct workload_param *param = &argv->x->params[i];
		bool is_option = *w->more_prefix != '\0' ? text_starts(param->name, w->more_prefix) :
		                                           !param_is_named(w, param->name);

		if (is_option && option_add(argv, param, e) < 0)
			return -1;
	}
	return 0;
}

/* "${@name}" */
static int words_add(struct argv *argv, const char *name, struct err *e)
{
	AUTO_TEXT struct text value = { 0 };
	char **words;
	size_t n;

	if (param_expand(argv->x, name, 0, &value, e) < 0)
		return -1;
	if (words_split(argv->arena, text_str(&value), &words, &n, e) < 0)
		return err_in(e, "parameter '%s'", name);
	for (size_t i = 0; i < n; i++)
		if (argv_add(argv, words[i], e) < 0)
			return -1;
	return 0;
}

static bool value_is_set(const char *value)
{
	return value != NULL && *value != '\0' && strcmp(value, "no") != 0;
}

/* A parameter, or "root": is the caller root (bonnie++ wants -u then)? */
static const char *condition_value(const struct expansion *x, const char *name)
{
	return strcmp(name, "root") == 0 ? x->is_root ? "yes" : "no" : param_find(x, name);
}

bool workload_param_is_set(const struct expansion *x, const char *name)
{
	return value_is_set(condition_value(x, name));
}

/* "${?name:WORD}" and "${!name:WORD}"; the word may hold ${...} itself, so it ends with the last brace. */
static int conditional_add(struct argv *argv, const char *word, struct err *e)
{
	const char *colon = strchr(word, ':');
	AUTO_FREE char *name = NULL, *rest = NULL;

	if (colon == NULL || !text_ends(word, "}"))
		return err_set(e, ERR_USAGE, "'%s' must be ${?name:WORD} or ${!name:WORD}", word);
	name = xstrndup(word + 3, (size_t)(colon - word - 3));
	rest = xstrndup(colon + 1, strlen(colon + 1) - 1);
	if (workload_param_is_set(argv->x, name) != (word[2] == '?'))
		return 0;
	if (strcmp(rest, "${@options}") == 0)
		return options_add(argv, e);
	if (text_starts(rest, "${@"))
		return words_add(argv, (rest[strlen(rest) - 1] = '\0', rest + 3), e);
	return argv_add_text(argv, rest, e);
}

static int word_add(struct argv *argv, const char *word, struct err *e)
{
	AUTO_FREE char *name = NULL;

	if (strcmp(word, "${@options}") == 0)
		return options_add(argv, e);
	if (text_starts(word, "${?") || text_starts(word, "${!"))
		return conditional_add(argv, word, e);
	if (!text_starts(word, "${@") || !text_ends(word, "}"))
		return argv_add_text(argv, word, e);
	name = xstrndup(word + 3, strlen(word) - 4);
	return words_add(argv, name, e);
}

int workload_expand(const struct workload_step *step, const struct expansion *x, struct arena *a, char ***ret_argv,
                    struct err *e)
{
	struct argv argv = { .step = step, .x = x, .arena = a };
	char *program;

	for (size_t i = 0; i < step->n; i++)
		if (word_add(&argv, step->words[i], e) < 0)
			return err_in(e, "word %zu of the argument list", i + 1);
	if (argv.n == 0 || *argv.at[0] == '\0')
		return err_set(e, ERR_USAGE, "the argument list is empty");
	argv.at[argv.n] = NULL;
	program = strchr(argv.at[0], '/') == NULL && step->workload != NULL ?
	                  workload_program(step->workload, argv.at[0], a) :
	                  NULL;
	if (program != NULL)
		argv.at[0] = program;
	*ret_argv = argv.at;
	return 0;
}

int workload_step_wanted(const struct workload_step *step, const struct expansion *x, bool *ret, struct err *e)
{
	AUTO_TEXT struct text out = { 0 };

	*ret = true;
	if (step->only_if == NULL)
		return 0;
	if (text_expand(step->only_if, x, 0, &out, e) < 0)
		return err_in(e, "only-if");
	*ret = value_is_set(text_str(&out));
	return 0;
}

int workload_copies(const struct workload_step *step, const struct expansion *x, int *ret, struct err *e)
{
	AUTO_TEXT struct text out = { 0 };
	int64_t n;

	*ret = 1;
	if (step->copies == NULL)
		return 0;
	if (text_expand(step->copies, x, 0, &out, e) < 0)
		return err_in(e, "copies");
	if (integer_parse(text_str(&out), 1, 1024, &n) < 0)
		return err_set(e, ERR_USAGE, "copies is '%s'; it must be a whole number from 1 to 1024",
		               text_str(&out));
	*ret = (int)n;
	return 0;
}
