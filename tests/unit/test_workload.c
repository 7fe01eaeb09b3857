/* SPDX-License-Identifier: MIT
 *
 * Definitions: what is accepted, every fault with its place, argument lists, digests, the registry.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "schema/definition.h"
#include "schema/workload.h"
#include "tests/unit/tree.h"

#define METRIC "metrics: {m: {match: '(?<x>\\d+)', value: ':x', unit: s, better: lower}}\n"

static struct workload *read_ok(const char *text)
{
	struct workload *w = NULL;
	struct diags d;

	diags_init(&d, "w.yaml");
	if (workload_read(text, strlen(text), &d, &w) < 0) {
		diags_print(stderr, &d);
		fail_msg("refused");
	}
	diags_done(&d);
	return w;
}

/* The diagnostics, a line each. */
static void is_refused(const char *text, const char *want)
{
	struct workload *w = NULL;
	AUTO_TEXT struct text all = { 0 };
	struct diags d;

	diags_init(&d, "w.yaml");
	assert_int_equal(workload_read(text, strlen(text), &d, &w), -1);
	assert_null(w);
	for (size_t i = 0; i < d.n; i++)
		text_printf(&all, "%d:%d: %s\n", d.at[i].line, d.at[i].column, d.at[i].message);
	diags_done(&d);
	if (strcmp(text_str(&all), want) != 0)
		fail_msg("got:\n%swanted:\n%s", text_str(&all), want);
}

static void what_is_small_in_a_rehearsal_is_checked_and_is_no_part_of_the_digest(void **state)
{
	struct workload *plain = read_ok("workload: w\nparams: {size: 1GiB, n: 3}\nrun: [true]\n" METRIC);
	struct workload *small = read_ok("workload: w\nparams: {size: 1GiB, n: 3}\nrehearse: {at-most: {size: 8MiB}, set: {n: many}}\n"
	                                 "run: [true]\n" METRIC);

	(void)state;
	assert_memory_equal(plain->digest, small->digest, sizeof(small->digest));
	assert_string_equal(workload_rehearsed(small, "size", "0.1x ram"), "8MiB");
	assert_string_equal(workload_rehearsed(small, "size", "9MiB"), "8MiB");
	assert_string_equal(workload_rehearsed(small, "size", "8192k"), "8192k");
	assert_string_equal(workload_rehearsed(small, "size", "30min"), "8MiB"); /* not to be compared */
	assert_string_equal(workload_rehearsed(small, "n", "1"), "many");
	assert_string_equal(workload_rehearsed(plain, "size", "9MiB"), "9MiB");
	workload_free(plain);
	workload_free(small);
	is_refused("workload: w\nparams: {n: 3}\nrehearse: {at-most: {n: few, m: 1}, set: [n], other: 1}\nrun: [true]\n" METRIC,
	           "3:21: 'at-most' takes numbers, sizes and durations: 'few' is none; use 'set'\n"
	           "3:30: 'm' is not a parameter of this definition\n"
	           "3:42: 'set' must be a map of parameters and their values\n"
	           "3:47: unknown key 'other' in rehearse: known are at-most set\n");
	is_refused("workload: w\nrehearse: 5\nrun: [true]\n" METRIC, "2:11: 'rehearse' must be a map with 'at-most' and 'set'\n");
}

static void the_shape_of_a_definition(void **state)
{
	struct workload *w = read_ok("workload: w\nabout: x\nneeds: [dd, sync]\nparams: {size: 2x ram, n: 3}\nreads: yes\n"
	                             "prepare: [mkdir, d]\n"
	                             "run:\n  - {argv: [dd, a], copies: '${n}', timeout: 5min}\n  - [sync]\n"
	                             "after: [[rm, d], {argv: [rm, e], may-fail: yes}]\n" METRIC);

	(void)state;
	assert_string_equal(w->name, "w");
	assert_string_equal(w->needs[1], "sync");
	assert_int_equal(w->n_params, 2);
	assert_true(w->reads);
	assert_false(w->warm);
	assert_int_equal(w->n_steps[PHASE_PREPARE], 1);
	assert_int_equal(w->n_steps[PHASE_RUN], 2);
	assert_string_equal(w->steps[PHASE_RUN][0].copies, "${n}");
	assert_int_equal(w->steps[PHASE_RUN][0].timeout_ns, 300 * INT64_C(1000000000));
	assert_string_equal(w->steps[PHASE_RUN][1].words[0], "sync");
	assert_int_equal(w->n_steps[PHASE_AFTER], 2);
	assert_true(w->steps[PHASE_AFTER][1].may_fail);
	workload_free(w);
}

static void details_are_marked_and_not_all_there_is(void **state)
{
	struct workload *w = read_ok("workload: w\nrun: [dd]\nmetrics:\n  a: {value: '1', unit: s, better: lower}\n"
	                             "  b: {value: '2', unit: s, better: lower, detail: yes}\n");

	(void)state;
	assert_false(w->metrics[0].is_detail);
	assert_true(w->metrics[1].is_detail);
	workload_free(w);
	is_refused("workload: w\nrun: [dd]\nmetrics:\n  a: {value: '1', unit: s, better: lower, detail: yes}\n",
	           "4:3: every metric is a detail: one at least must be what the workload is run for\n");
	is_refused("workload: w\nrun: [dd]\nmetrics:\n  a: {value: '1', unit: s, better: lower, detail: some}\n",
	           "4:51: 'detail' must be yes or no\n");
}

static void every_fault_is_reported_with_its_place(void **state)
{
	(void)state;
	is_refused("workload: w\nrum: [dd]\n" METRIC,
	           "1:1: the key 'run' (what is measured) is missing\n"
	           "2:1: unknown key 'rum' in a workload definition: did you mean 'run'?\n");
	is_refused("workload: w\nrun: [dd]\nmetrics:\n"
	           "  a: {match: '(', value: '1', unit: s, better: lower}\n"
	           "  b: {json: '$.jobs[', value: ':value', unit: s, better: lower}\n"
	           "  c: {match: '(?<x>.)', value: ':y', unit: s, better: lower}\n"
	           "  d: {match: '(?<x>.)', value: '(select 1 from t)', unit: s, better: lower}\n"
	           "  e: {match: '(?<x>.)', value: ':x'}\n"
	           "  f: {match: '(?<x>.)', value: ':x', unit: s, better: more, kombine: sum}\n",
	           "4:14: match: pattern '(' does not compile: missing closing parenthesis at character 2\n"
	           "5:13: '$.jobs[' is not a JSON path: '[' is no key, [number], [*] or .*\n"
	           "6:32: value: ':y' is no field of this source, no fact, no parameter and no earlier metric\n"
	           "7:32: value: 'select' is no function and no :variable in '(select 1 from t)'\n"
	           "8:6: metric 'e' has no 'unit' (\"\" for a plain number)\n"
	           "8:6: metric 'e' has no 'better': higher, lower or neither\n"
	           "9:55: 'better' is 'more'; it must be one of higher, lower, neither\n"
	           "9:61: unknown key 'kombine' in a metric: did you mean 'combine'?\n");
	is_refused("workload: w\nrun: [dd]\nsources: {s: {match: x}}\nmetrics:\n  a: {use: t, value: '1', unit: s, better: lower}\n"
	           "  b: {csv: c, value: '1', unit: s, better: lower}\n  c: {match: a, step: rum, value: '1', unit: s, better: lower}\n"
	           "fail-if: {match: x}\n",
	           "5:12: 'use' names 't', which is not under 'sources'\n"
	           "6:12: 'csv' names 'c', which is not under the definition's 'csv'\n"
	           "7:23: 'step' is 'rum'; it must be prepare, before, run, after or cleanup\n"
	           "8:10: the rule has no 'reason'\n");
	is_refused("workload: 'A b'\nrun: {copies: 3}\nparams: {X: 1, only: 2, copies: 3, elapsed: 4}\npath: [lib]\nwarm: 7\n" METRIC,
	           "1:11: 'A b' is no name for a workload: use a-z, 0-9, _ and -\n"
	           "2:6: a step is a list of words, as in [dd, if=/dev/zero], under the key 'argv'\n"
	           "3:10: 'X' is no name for a parameter: use a-z, 0-9, _ and -\n"
	           "3:16: 'only' cannot name a parameter: it means something else in plans or definitions\n"
	           "3:25: 'copies' cannot name a parameter: it means something else in plans or definitions\n"
	           "3:36: 'elapsed' cannot name a parameter: it means something else in plans or definitions\n"
	           "4:7: 'lib' in 'path' must begin with /\n"
	           "5:7: 'warm' must be yes or no\n");
#define NOTHING(name, has) "'${" name "}' stands for nothing: write 'dir', 'device', 'copy', 'copies', 'repetition' or one of " \
	"'params:', which has" has "\n"
	is_refused("workload: w\nparams: {a: '', b: '${c}'}\nmore-params: {prefix: s_, words: ['${name}', '${nam}']}\n"
	           "run: {argv: [x, '${?d:y${e}}', '${!root:z}', '${@f}', 'q${a/g}', '${a'], copies: '${h}', only-if: '${i=1}'}\n" METRIC,
	           "2:20: " NOTHING("c", " a b") "3:46: " NOTHING("nam", " a b") "4:17: " NOTHING("d", " a b") "4:17: " NOTHING("e", " a b")
	           "4:46: " NOTHING("f", " a b") "4:55: " NOTHING("g", " a b") "4:66: '${a': '${' is not closed: write '${NAME}'\n"
	           "4:82: " NOTHING("h", " a b") "4:99: " NOTHING("i", " a b"));
#undef NOTHING
}

static char **argv_of(struct arena *a, const char *words, const struct expansion *x)
{
	AUTO_FREE char *text = xasprintf("workload: w\nparams: {size: 2x ram, bs: 8KiB, none: '', more: -a 'b c', nested: '', time: 1s}\n"
	                                 "more-params: {prefix: set_, words: [-c, '${name}=${value}']}\nrun: [tool%s]\n" METRIC, words);
	struct workload *w = read_ok(text);
	struct err e;
	char **argv;

	if (workload_expand(&w->steps[PHASE_RUN][0], x, a, &argv, &e) < 0)
		fail_msg("%s", e.text);
	workload_free(w);
	return argv;
}

static const struct workload_param some_params[] = {
	{ "size", "2x ram" }, { "bs", "8KiB" }, { "none", "" }, { "more", "-a 'b c'" }, { "set_x", "1MB" }, { "nested", "${bs:B}!" },
	{ "time", "90s" }, { "indirect", "${nothing}" },
};
static const struct expansion some = {
	.dir = "/d", .ram_bytes = 1000000, .copy = 2, .copies = 3, .repetition = 7, .params = some_params,
	.n_params = ARRAY_SIZE(some_params),
};

static void words_expand(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	static const char *const want[] = {
		"tool", "of=/d/2.3.7", "2000000", "1954", "2", "8192", "8KiB", "245", "8192!", "90", "$HOME", "yes", "no", "x8192", "set",
		"-a", "b c", "-c", "x=1MB",
	};
	char **argv = argv_of(a, ", 'of=${dir}/${copy}.${copies}.${repetition}', '${size}', '${size:KiB}', '${size:MiB}', '${bs:B}', "
	                         "'${bs}', '${size/bs}', '${nested}', '${time:s}', '$HOME', '${bs=8KiB}', '${bs=x}', '${?bs:x${bs:B}}', "
	                         "'${?none:never}', '${!none:set}', '${@more}', '${@options}'", &some);
	size_t n = 0;

	(void)state;
	for (; argv[n] != NULL && n < ARRAY_SIZE(want); n++)
		assert_string_equal(argv[n], want[n]);
	assert_int_equal(n, ARRAY_SIZE(want));
	assert_null(argv[n]);
}

static void expansion_fails(const char *word, const char *why)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE char *text = xasprintf("workload: w\nparams: {bs: '', time: '', indirect: ''}\nrun: [tool, '%s']\n" METRIC, word);
	struct workload *w = read_ok(text);
	struct err e = { 0 };
	char **argv;

	assert_int_equal(workload_expand(&w->steps[PHASE_RUN][0], &some, a, &argv, &e), -1);
	assert_string_equal(e.text, why);
	workload_free(w);
}

static void words_that_cannot_expand(void **state)
{
	(void)state;
	expansion_fails("${indirect}",
	                "word 2 of the argument list: parameter 'indirect': '${nothing}' stands for nothing: no such parameter");
	expansion_fails("${bs:MiB}",
	                "word 2 of the argument list: parameter 'bs' is 8192 bytes, which is no whole number of MiB");
	expansion_fails("${bs:kB}",
	                "word 2 of the argument list: '${bs:kB}': the unit must be B, KiB, MiB, GiB or sectors");
	expansion_fails("${device}",
	                "word 2 of the argument list: '${device}' is asked for, and a directory target has none");
	expansion_fails("${time:B}", "word 2 of the argument list: parameter 'time': '90s' has the unknown unit 's'");
}

static void parameters_that_name_each_other_end(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	const struct workload_param params[] = { { "a", "${b}" }, { "b", "${a}" } };
	const struct expansion x = { .dir = "/", .params = params, .n_params = 2 };
	const char *text;
	struct err e;

	(void)state;
	assert_int_equal(workload_expand_text("${a}", &x, a, &text, &e), -1);
	assert_non_null(strstr(e.text, "parameters name each other more than 4 deep"));
}

static void copies_and_conditions(void **state)
{
	struct workload *w = read_ok("workload: w\nparams: {n: 1, m: yes}\nrun: {argv: [x], copies: '${n}', only-if: '${m=yes}'}\n" METRIC);
	struct workload_param params[] = { { "n", "3" }, { "m", "yes" } };
	const struct expansion x = { .dir = "/", .params = params, .n_params = 2 };
	bool is_wanted;
	struct err e;
	int n;

	(void)state;
	assert_int_equal(workload_copies(&w->steps[PHASE_RUN][0], &x, &n, &e), 0);
	assert_int_equal(n, 3);
	assert_int_equal(workload_step_wanted(&w->steps[PHASE_RUN][0], &x, &is_wanted, &e), 0);
	assert_true(is_wanted);
	params[0].value = "0";
	params[1].value = "never";
	assert_int_equal(workload_copies(&w->steps[PHASE_RUN][0], &x, &n, &e), -1);
	assert_string_equal(e.text, "copies is '0'; it must be a whole number from 1 to 1024");
	assert_int_equal(workload_step_wanted(&w->steps[PHASE_RUN][0], &x, &is_wanted, &e), 0);
	assert_false(is_wanted);
	workload_free(w);
}

static void digest(const struct workload *w, const char *size, const char *bs, uint8_t ret[32])
{
	const struct workload_param params[] = { { "size", size }, { "bs", bs } };

	workload_digest(w, params, 2, ret);
}

static void digests_follow_meaning(void **state)
{
	static const char text[] = "workload: w\nabout: one\nrun: [dd, x]\n" METRIC;
	struct workload *w = read_ok(text), *same = read_ok("# a comment\n{workload: w, about: two, package: coreutils, space: [2GiB], run: [dd, 'x'], " METRIC "}");
	struct workload *other = read_ok("workload: w\nrun: [dd, y]\n" METRIC);
	uint8_t a[32], b[32];

	(void)state;
	digest(w, "2x ram", "8KiB", a);
	digest(same, "2 x ram", "8192B", b);
	assert_memory_equal(a, b, 32);
	digest(w, "2x ram", "16KiB", b);
	assert_memory_not_equal(a, b, 32);
	digest(w, "48GiB", "8KiB", b);
	assert_memory_not_equal(a, b, 32);
	digest(other, "2x ram", "8KiB", b);
	assert_memory_not_equal(a, b, 32);
	workload_free(w);
	workload_free(same);
	workload_free(other);
}

static void parameters_survive_the_store(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text json = { 0 };
	struct workload_param *params;
	struct err e;
	size_t n;

	(void)state;
	workload_params_json(some_params, ARRAY_SIZE(some_params), &json);
	assert_int_equal(workload_params_from_json(json.s, a, &params, &n, &e), 0);
	assert_int_equal(n, ARRAY_SIZE(some_params));
	assert_string_equal(params[3].value, "-a 'b c'");
	assert_int_equal(workload_params_from_json("[1]", a, &params, &n, &e), -1);
}

/* What stands under `command` in a plan is kept as a definition of its own. */
static void a_command_can_be_read_back(void **state)
{
	static const char plan[] = "run: [echo, \"a \\\"b\\\" \\\\ c\\n\"]\nmetrics:\n"
	                           "  m: {match: 'x \"(?<n>\\d+)\"', value: ':n', unit: s, better: lower}\n";
	AUTO_ARENA struct arena *a = arena_new();
	struct workload *w, *back;
	struct node *body;
	struct diags d;

	(void)state;
	diags_init(&d, "plan.yaml");
	assert_int_equal(yaml_read(a, plan, strlen(plan), &d, &body), 0);
	assert_int_equal(workload_from_plan(body, plan, strlen(plan), &d, &w), 0);
	diags_done(&d);
	back = read_ok(w->source);
	assert_string_equal(back->name, "command");
	assert_string_equal(back->steps[PHASE_RUN][0].words[1], "a \"b\" \\ c\n");
	assert_memory_equal(w->digest, back->digest, 32);
	workload_free(w);
	workload_free(back);
}

static void space_is(const struct workload *w, const char *auto_value, const char *processes, int64_t bytes,
                     const char *factors)
{
	struct workload_param params[] = { { "auto", auto_value }, { "max", "2x ram" }, { "size", "1GiB" }, { "processes", processes } };
	const struct expansion x = { .ram_bytes = 1 << 20, .params = params, .n_params = 4 };
	AUTO_TEXT struct text what = { 0 };

	assert_int_equal(workload_space(w, &x, &what), bytes);
	assert_string_equal(text_str(&what), factors);
}

static void space_is_the_first_product_that_holds(void **state)
{
	static const char text[] = "workload: w\nrun: [dd]\nparams: {auto: yes, max: 1GiB, size: 1GiB, processes: ''}\n"
	                           "space: [[if auto, max], [unless auto, size, processes]]\n" METRIC;
	struct workload *w = read_ok(text), *none = read_ok("workload: w\nrun: [dd]\n" METRIC);

	(void)state;
	space_is(w, "yes", "", 2 << 20, "max");
	space_is(w, "no", "", 1 << 30, "size x processes");
	space_is(w, "no", "3", INT64_C(3) << 30, "size x processes");
	space_is(w, "no", "many", 0, "size");
	space_is(none, "yes", "", 0, "");
	workload_free(w);
	workload_free(none);
	is_refused("workload: w\nrun: [dd]\nspace: [if nothing, x]\n" METRIC,
	           "3:8: 'space': 'if nothing' names no parameter\n"
	           "3:8: 'space' takes parameters, numbers and sizes: 'x' is none of them\n");
}

static void file_write(const char *dir, const char *name, const char *text)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_bad_file_leaves_the_others(void **state)
{
	char dir[] = "/tmp/iosweep-test-XXXXXX";
	struct registry *r = registry_new();
	AUTO_FREE char *want = NULL;
	struct diags d;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	file_write(dir, "good.yaml", "workload: good\nabout: mine\nrun: [dd]\n" METRIC);
	file_write(dir, "bad.yaml", "workload: bad\nrun: [dd]\nmetrics: {m: {value: '1', unit: s}}\n");
	file_write(dir, "note.txt", "no definition");
	diags_init(&d, "workloads");
	assert_int_equal(registry_load(r, "sweeps/workloads", false, &d, &e), 0);
	assert_int_equal(d.n, 0);
	assert_int_equal(registry_load(r, dir, false, &d, &e), 0);
	assert_int_equal(d.n, 1);
	want = xasprintf("%s/bad.yaml:3:14: metric 'm' has no 'better': higher, lower or neither", dir);
	assert_string_equal(d.at[0].message, want);
	assert_non_null(registry_find(r, "good"));
	assert_null(registry_find(r, "bad"));
	assert_non_null(registry_find(r, "dd-write"));
	file_write(dir, "dd.yaml", "workload: dd-write\nabout: mine\nrun: [dd]\n" METRIC);
	assert_int_equal(registry_load(r, dir, false, &d, &e), 0);
	assert_string_equal(registry_find(r, "dd-write")->about, "mine");
	file_write(dir, "later.yaml", "# one too many\nworkload: good\nabout: other\nrun: [dd]\n" METRIC);
	assert_int_equal(registry_load(r, dir, false, &d, &e), 0);
	free(want);
	want = xasprintf("%s/later.yaml:2:11: 'good' is defined in '%s/good.yaml' as well: name one of them otherwise",
	                 dir, dir);
	assert_string_equal(d.at[d.n - 1].message, want);
	assert_string_equal(registry_find(r, "good")->about, "mine");
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(registry_load(r, dir, true, &d, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	diags_done(&d);
	registry_free(r);
	tree_remove(dir);
}

static void programs_are_found_in_the_highest_version(void **state)
{
	char dir[] = "/tmp/iosweep-test-XXXXXX";
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE char *text = NULL, *want = NULL;
	struct workload *w;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		AUTO_FREE char *version = xasprintf("%s/%s", dir, i == 0 ? "9.6" : "15"),
			       *path = xasprintf("%s/initdb", version);

		assert_int_equal(mkdir(version, 0755), 0);
		file_write(version, "initdb", "");
		assert_int_equal(chmod(path, 0755), 0);
	}
	text = xasprintf("workload: w\nneeds: [initdb, nothing-like-it]\npath: [\"%s/*\"]\nrun: [initdb]\n" METRIC, dir);
	w = read_ok(text);
	want = xasprintf("%s/15/initdb", dir);
	assert_string_equal(workload_program(w, "initdb", a), want);
	assert_string_equal(workload_missing(w), "nothing-like-it");
	workload_free(w);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_small_in_a_rehearsal_is_checked_and_is_no_part_of_the_digest),
		cmocka_unit_test(the_shape_of_a_definition),
		cmocka_unit_test(details_are_marked_and_not_all_there_is),
		cmocka_unit_test(every_fault_is_reported_with_its_place),
		cmocka_unit_test(words_expand),
		cmocka_unit_test(words_that_cannot_expand),
		cmocka_unit_test(parameters_that_name_each_other_end),
		cmocka_unit_test(copies_and_conditions),
		cmocka_unit_test(digests_follow_meaning),
		cmocka_unit_test(parameters_survive_the_store),
		cmocka_unit_test(a_command_can_be_read_back),
		cmocka_unit_test(space_is_the_first_product_that_holds),
		cmocka_unit_test(a_bad_file_leaves_the_others),
		cmocka_unit_test(programs_are_found_in_the_highest_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
