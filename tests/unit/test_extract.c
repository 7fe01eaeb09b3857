/* SPDX-License-Identifier: MIT
 *
 * Extraction by small definitions: sources, units, combining, states and reasons, limits.  Real outputs are in
 * test_outputs.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "schema/definition.h"
#include "schema/extract.h"
#include "schema/json_read.h"

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static const struct fact facts[] = { { "elapsed", 2 }, { "user", 0.5 }, { "system", 0.25 }, { "copies", 1 }, { "ram_bytes", 1024 } };

static int run_outputs(const char *metrics, const struct capture *c, size_t n, int exit_status, struct outcome *o,
                       struct err *e)
{
	AUTO_FREE char *text = xasprintf("workload: w\nparams: {size: 2x ram, n: 3}\nrun: [x]\n%s", metrics);
	struct workload *w = NULL;
	struct diags d;
	int rc;

	diags_init(&d, "w.yaml");
	if (workload_read(text, strlen(text), &d, &w) < 0) {
		diags_print(stderr, &d);
		fail_msg("refused");
	}
	diags_done(&d);
	rc = extract(w, w->params, w->n_params, c, n, facts, ARRAY_SIZE(facts), exit_status, arena, o, e);
	for (size_t i = 0; rc == 0 && i < (o->n > 0 ? o->n : o->n_seen); i++) { /* they outlive the definition */
		struct measured *m = o->n > 0 ? &o->at[i] : &o->seen[i];

		m->name = arena_strdup(arena, m->name);
		m->unit = arena_strdup(arena, m->unit);
		m->label = arena_strdup(arena, m->label);
	}
	if (rc == 0) {
		o->reason = arena_strdup(arena, o->reason);
		o->suspect = o->suspect != NULL ? arena_strdup(arena, o->suspect) : NULL;
	}
	workload_free(w);
	return rc;
}

static struct outcome run(const char *metrics, const char *output)
{
	struct capture c = { .step = "run", .stream = "stdout", .data = output, .n = strlen(output) };
	struct outcome o;
	struct err e = { 0 };

	if (run_outputs(metrics, &c, 1, 0, &o, &e) < 0)
		fail_msg("%s", e.text);
	return o;
}

static void has(const struct outcome *o, const char *name, const char *label, double want)
{
	const struct measured *at = o->n > 0 ? o->at : o->seen;

	for (size_t i = 0; i < (o->n > 0 ? o->n : o->n_seen); i++) {
		if (strcmp(at[i].name, name) != 0 || strcmp(at[i].label, label) != 0)
			continue;
		if (fabs(at[i].value - want) > 1e-9 * fabs(want))
			fail_msg("%s{%s} is %g, not %g", name, label, at[i].value, want);
		return;
	}
	fail_msg("%s{%s} was not found (%s: %s)", name, label, extract_state_name(o->state), o->reason);
}

static void is_state(const struct outcome *o, enum extract_state state, const char *reason)
{
	if (o->state != state || strcmp(o->reason, reason) != 0)
		fail_msg("%s: %s", extract_state_name(o->state), o->reason);
	if (state != EXTRACT_OK)
		assert_int_equal(o->n, 0);
}

#define M(body) "metrics:\n  m: {" body ", unit: s, better: lower}\n"

static void facts_and_parameters_are_variables(void **state)
{
	struct outcome o = run("metrics:\n  cpu: {value: '100 * (:user + :system) / :elapsed', unit: '%', better: lower}\n"
	                       "  double: {value: ':cpu * 2', unit: '%', better: lower}\n"
	                       "  size: {value: ':size + :n', unit: B, better: lower}\n", "");

	(void)state;
	is_state(&o, EXTRACT_OK, "");
	has(&o, "cpu", "", 37.5);
	has(&o, "double", "", 75);
	has(&o, "size", "", 2051);
}

static void numbers_in_every_spelling(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "12", 12 }, { "12.5", 12.5 }, { "12,5", 12.5 }, { "-3e2", -300 }, { "2.9564e-05", 2.9564e-05 }, { "+7", 7 } };
	static const char *const bad[] = { "nan", "-nan", "NaN", "inf", "-inf", "1,234,567", "0x10", "12abc", "++", "1e" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		AUTO_FREE char *text = xasprintf("v=%s\n", good[i].text);
		struct outcome o = run(M("match: 'v=(?<x>\\S+)', value: ':x'"), text);

		has(&o, "m", "", good[i].value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO_FREE char *text = xasprintf("v=%s\n", bad[i]),
			       *reason = xasprintf("m: '%s' is not a number", bad[i]);
		struct outcome o = run(M("match: 'v=(?<x>\\S+)', value: ':x'"), text);

		is_state(&o, EXTRACT_UNPARSABLE, reason);
	}
}

static void units(void **state)
{
	static const struct {
		const char *kind, *text;
		double value;
	} good[] = {
		{ "decimal", "93.9m", 93.9e6 },      { "decimal", "4.0 GB/s", 4e9 },      { "decimal", "21.5 MiB/s", 21.5 * 0x1p20 },
		{ "decimal", "570 kB/s", 570e3 },    { "decimal", "12 B/s", 12 },         { "decimal", "117 bytes/sec", 117 },
		{ "decimal", "1.17 k", 1170 },       { "binary", "552.02 kB/sec", 552.02 * 1024 }, { "binary", "93.118Mb/sec", 93.118 * 0x1p20 },
		{ "binary", "2G", 0x1p31 },          { "time", "5625us", 5625e3 },        { "time", "351ms", 351e6 },
		{ "time", "2s", 2e9 },               { "time", "12.5 usec", 12500 },      { "time", "3 min", 180e9 },
		{ "clock", "0m0.328s", 0.328 },      { "clock", "1:02.5", 62.5 },         { "clock", "1h02m03s", 3723 },
		{ "clock", "0,25", 0.25 },           { "{foo: 3}", "4foo", 12 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		AUTO_FREE char *text = xasprintf("v=%s\n", good[i].text);
		AUTO_FREE char *metric = xasprintf("metrics:\n  m: {match: 'v=(?<x>.*)', units: {x: %s}, value: ':x', unit: s, better: lower}\n",
		                                   good[i].kind);
		struct outcome o = run(metric, text);

		has(&o, "m", "", good[i].value);
	}
	{
		struct outcome o = run(M("match: 'v=(?<x>.*)', units: {x: decimal}, value: ':x'"), "v=5 parsec\n");

		is_state(&o, EXTRACT_UNPARSABLE, "m: '5 parsec' is not a number");
	}
}

static void several_results_where_one_was_asked_for(void **state)
{
	struct outcome o = run(M("match: 'v=(?<x>\\d+)', value: ':x'"), "v=1\nv=2\n");

	(void)state;
	is_state(&o, EXTRACT_AMBIGUOUS, "m: 2 results for 'm'");
	has(&o, "m", "#1", 1);
	has(&o, "m", "#2", 2);
	o = run(M("match: 'v=(?<x>\\d+)', combine: sum, once: yes, value: ':x'"), "v=1\nv=2\n");
	is_state(&o, EXTRACT_AMBIGUOUS, "m: 2 results in one output");
	o = run(M("match: '(?<n>\\w)=(?<x>\\d+)', same: n, combine: sum, value: ':x'"), "a=1\nb=2\n");
	is_state(&o, EXTRACT_AMBIGUOUS, "m: results of 'a' and of 'b' in one output");
}

static void combining(void **state)
{
	static const struct {
		const char *how;
		double value;
	} ways[] = { { "sum", 9 }, { "mean", 3 }, { "min", 1 }, { "max", 6 }, { "last", 2 }, { "weighted, weight: ':x'", 41.0 / 9 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		AUTO_FREE char *metric = xasprintf("metrics:\n  m: {match: 'v=(?<x>\\d+)', combine: %s, value: ':x', unit: s, better: lower}\n",
		                                   ways[i].how);
		struct outcome o = run(metric, "v=1\nv=6\nv=2\n");

		has(&o, "m", "", ways[i].value);
	}
}

static void labels(void **state)
{
	struct outcome o = run(M("match: '(?<n>\\w)=(?<x>\\d+)', each: '${n}', combine: sum, value: ':x'"),
	                       "a=1\nb=2\na=3\n");

	(void)state;
	has(&o, "m", "a", 4);
	has(&o, "m", "b", 2);
	o = run(M("match: '(?<n>\\w)=(?<x>\\d+)', each: '${n}/${#}', value: ':x'"), "a=1\na=2\n");
	has(&o, "m", "a/2", 2);
	o = run(M("match: '(?<n>\\w)=(?<x>\\d+)', each: '${n}', label: if-several, where: ':x > 0', value: ':x'"),
	        "a=1\n");
	has(&o, "m", "", 1);
	o = run(M("match: '(?<n>\\w)=(?<x>\\d+)', each: '${n}', label: if-several, where: ':x > 0', value: ':x'"),
	        "a=1\nb=0\n");
	has(&o, "m", "a", 1); /* there is another job, even if it has nothing to say here */
}

static void reports_of_one_run(void **state)
{
	static const char metric[] = M("match: 'b=(?<b>\\d+) s=(?<s>\\d+)', growing: [b, s], once: yes, value: ':b / :s'");
	struct outcome o = run(metric, "b=10 s=1\nb=30 s=2\nb=60 s=3\n");

	(void)state;
	has(&o, "m", "", 20);
	o = run(metric, "b=10 s=2\nb=30 s=1\n");
	is_state(&o, EXTRACT_AMBIGUOUS, "m: 2 results in one output");
}

static void sources_are_tried_in_turn(void **state)
{
	static const char metric[] = "sources: {first: {match: 'a=(?<x>\\d+)'}}\nmetrics:\n  m:\n    unit: s\n    better: lower\n    from:\n"
	                             "      - {use: first, value: 'nullif(:x, 0)'}\n      - {match: 'b=(?<x>\\d+)', value: ':x * 10'}\n";
	struct outcome o = run(metric, "a=3 b=4\n");

	(void)state;
	has(&o, "m", "", 3);
	o = run(metric, "a=0 b=4\n");
	has(&o, "m", "", 40);
	o = run(metric, "a=0\n");
	is_state(&o, EXTRACT_NO_DATA, "a result without a rate: nothing was done, or in no time");
	o = run(metric, "c\n");
	is_state(&o, EXTRACT_UNPARSABLE, "no result was recognised in what was printed");
	o = run(metric, "");
	is_state(&o, EXTRACT_NO_DATA, "nothing was printed");
}

static void json_between_other_text(void **state)
{
	static const char metric[] = M("json: '$.jobs[*]', take: {n: name, x: [a.b, a.c]}, each: '${n}', value: ':x'");
	struct outcome o = run(metric,
	                       "note {see docs} [1] [ 2s ]\n{\"jobs\": [{\"name\": \"p\", \"a\": {\"b\": 1.5}}, "
	                       "{\"name\": \"q\\u00e9\", \"a\": {\"c\": 2}}]}\ntrailing }\n");

	(void)state;
	has(&o, "m", "p", 1.5);
	has(&o, "m", "q\xc3\xa9", 2);
	o = run(metric, "{\"jobs\": [{\"name\": \"p\", \"a\": {\"b\": 1.5");
	is_state(&o, EXTRACT_UNPARSABLE, "the JSON document has no end");
	o = run(M("json: '$[-1].x', value: ':value'"), "[{\"x\": 1}, {\"x\": 2}]");
	has(&o, "m", "", 2);
	o = run(M("json: '$.\"99.0\"', value: ':value'"), "{\"99.0\": -nan}");
	is_state(&o, EXTRACT_UNPARSABLE, "m: '-nan' is not a number");
	o = run(M("json: '$.x', same: [document], combine: sum, value: ':value'"), "{\"x\": 1}\n{\"y\": 2}\n");
	has(&o, "m", "", 1);
	o = run(M("json: '$.x', same: [document], combine: sum, value: ':value'"), "{\"x\": 1}\n{\"x\": 2}\n");
	is_state(&o, EXTRACT_AMBIGUOUS, "m: results of '1' and of '2' in one output");
	o = run(M("json: '$.x', where: ':document = 2', value: ':value'"), "{\"x\": 1}\n{\"x\": 2}\n");
	has(&o, "m", "", 2);
	o = run(M("json: '$.x', value: ':value'"), "{\"x\": 1}\n{\"x\": 2}\n");
	is_state(&o, EXTRACT_AMBIGUOUS, "m: 2 results for 'm'");
}

static void csv_by_its_first_field(void **state)
{
	static const char metric[] = "csv:\n  c: {separator: ';', layouts: {'2': {fields: [v, a, b]}, '*': {fields: [n, a]}}}\n"
	                             M("csv: c, each: '${#}', value: ':a'");
	struct outcome o = run(metric, "2;10;20\r\nhost;30\n2;+++++;5\nno such;line;here;4\n;7\n");

	(void)state;
	assert_int_equal(o.n, 3);
	has(&o, "m", "1", 10);
	has(&o, "m", "2", 30);
	has(&o, "m", "4", 7);
	o = run(metric, "host;30\n2;99\n"); /* cut, and no line of a host called 2 */
	assert_int_equal(o.n, 1);
	has(&o, "m", "1", 30);
	o = run(metric, "2;1e999;20\n");
	is_state(&o, EXTRACT_UNPARSABLE, "m: '1e999' is not a number");
	o = run(metric, "2; 1.234,5;20\n");
	is_state(&o, EXTRACT_UNPARSABLE, "m: ' 1.234,5' is not a number");
	o = run(metric, "2; -nan;20\n");
	is_state(&o, EXTRACT_UNPARSABLE, "m: ' -nan' is not a number");
}

static void a_printed_table_keeps_its_empty_cells(void **state)
{
	static const char metric[] = "grids: {g: {heading: '^name', columns: [name, a, b, c], names: 1, also: {lat: '^Lat'}}}\nmetrics:\n"
	                             "  a: {grid: g, each: '${name}', value: ':a', unit: s, better: lower}\n"
	                             "  b: {grid: g, each: '${name}', value: ':b', unit: s, better: lower}\n"
	                             "  c: {grid: g, each: '${name}', value: ':c', unit: s, better: lower}\n"
	                             "  l: {grid: g, each: '${name}', units: {lat_c: time}, value: ':lat_c', unit: s, better: lower}\n";
	struct outcome o = run(metric, "name        aaa   bbb   ccc\nhost1         1          33\nLat                     5ms\n"
	                               "host2              22\n\nhost3         9\n");

	(void)state;
	has(&o, "a", "host1", 1);
	has(&o, "c", "host1", 33);
	has(&o, "b", "host2", 22);
	has(&o, "l", "host1", 5e6);
	assert_int_equal(o.n, 4);
}

static void rules_decide(void **state)
{
	static const char metrics[] = M("match: 'v=(?<x>\\d+)', value: ':x'")
		"fail-if: {match: 'lost (?<n>\\d+)', value: ':n > 0', reason: '${n} were lost'}\n"
		"complete-if: {match: '^end$', reason: 'no end'}\n"
		"no-data-if: {match: '^init', value: ':m is null', reason: 'an initialisation'}\n"
		"suspect-if: {value: ':m < 10', reason: 'few'}\n";
	struct outcome o = run(metrics, "v=12\nlost 0\nend\n");

	(void)state;
	is_state(&o, EXTRACT_OK, "");
	assert_null(o.suspect);
	o = run(metrics, "v=5\nend\n");
	assert_string_equal(o.suspect, "few");
	o = run(metrics, "v=12\nlost 3\nend\n");
	is_state(&o, EXTRACT_FAILED, "3 were lost");
	has(&o, "m", "", 12); /* shown, not stored */
	o = run(metrics, "v=12\n");
	is_state(&o, EXTRACT_PARTIAL, "no end");
	o = run(metrics, "init\nend\n");
	is_state(&o, EXTRACT_NO_DATA, "an initialisation");
}

static void an_exit_status_fails_whatever_was_printed(void **state)
{
	struct capture c = { .step = "run", .stream = "stderr", .data = "v=1\nout of luck\n\n", .n = 17 };
	struct outcome o;
	struct err e;

	(void)state;
	assert_int_equal(run_outputs(M("match: 'v=(?<x>\\d+)', value: ':x'"), &c, 1, 3, &o, &e), 0);
	is_state(&o, EXTRACT_FAILED, "exit status 3: out of luck");
	assert_int_equal(run_outputs(M("match: 'v=(?<x>\\d+)', value: ':x'"), &c, 1, 137, &o, &e), 0);
	is_state(&o, EXTRACT_FAILED, "killed by signal 9: out of luck");
}

static void the_other_phases_explain_nothing_of_a_run(void **state)
{
	const struct capture c[] = {
		{ .step = "run", .stream = "stderr", .data = "no such option\n", .n = 15 },
		{ .step = "before.2", .stream = "stderr", .data = "done in 2 s\n", .n = 12 },
		{ .step = "after", .stream = "stderr", .data = "removed\n", .n = 8 },
	};
	struct outcome o;
	struct err e;

	(void)state;
	assert_int_equal(run_outputs(M("match: 'v=(?<x>\\d+)', value: ':x'"), c, 3, 1, &o, &e), 0);
	is_state(&o, EXTRACT_FAILED, "exit status 1: no such option");
	assert_int_equal(run_outputs(M("match: 'v=(?<x>\\d+)', value: ':x'"), c + 1, 2, 1, &o, &e), 0);
	is_state(&o, EXTRACT_FAILED, "exit status 1");
	assert_int_equal(run_outputs(M("match: 'v=(?<x>\\d+)', value: ':x'"), c + 1, 2, 0, &o, &e), 0);
	is_state(&o, EXTRACT_NO_DATA, "nothing was printed");
	assert_int_equal(run_outputs(M("match: 'v=(?<x>\\d+)', step: after, value: ':x'"), c + 1, 2, 0, &o, &e), 0);
	is_state(&o, EXTRACT_UNPARSABLE, "no result was recognised in what was printed");
}

static void streams_and_copies(void **state)
{
	const struct capture c[] = {
		{ .step = "run", .stream = "stdout", .data = "v=1", .n = 3 },   { .step = "run", .stream = "stderr", .data = "v=10", .n = 4 },
		{ .step = "run.2", .stream = "stdout", .data = "v=2", .n = 3 }, { .step = "before", .stream = "stdout", .data = "v=100", .n = 5 },
	};
	struct outcome o;
	struct err e;

	(void)state;
	assert_int_equal(run_outputs("metrics:\n"
	                             "  all: {match: 'v=(?<x>\\d+)', combine: sum, value: ':x', unit: s, better: lower}\n"
	                             "  out: {match: 'v=(?<x>\\d+)', stream: stdout, combine: sum, value: ':x', unit: s, better: lower}\n"
	                             "  copy: {match: 'v=(?<x>\\d+)', stream: stdout, each: '${copy}', value: ':x * :copy', unit: s, better: lower}\n"
	                             "  before: {match: 'v=(?<x>\\d+)', step: before, value: ':x', unit: s, better: lower}\n",
	                             c, 4, 0, &o, &e), 0);
	has(&o, "all", "", 13);
	has(&o, "out", "", 3);
	has(&o, "copy", "2", 4);
	has(&o, "before", "", 100);
}

/* A definition is read once and used for every trial of a night. */
static void searching_leaves_nothing_in_the_definition(void **state)
{
	const char *s = "aaaa aaab aaac aaad";
	pcre2_match_data *data;
	const pcre2_code *re;
	size_t before;

	(void)state;
	assert_int_equal(pattern_compile(arena, "(?<x>a+)b(?<y>.*)", &re, NULL), 0);
	before = arena_used(arena);
	for (int i = 0; i < 100; i++) {
		data = pattern_match_data(re);
		assert_int_equal(pattern_search(re, s, strlen(s), 0, data, NULL), 1);
		assert_int_equal(pcre2_get_ovector_count(data), 3);
		pcre2_match_data_free(data);
	}
	assert_int_equal(arena_used(arena), before);
}

/* (a+)+$ on 40 letters would take 2^40 steps. */
static void a_catastrophic_pattern_ends_at_the_limit(void **state)
{
	struct capture c = { .step = "run", .stream = "stdout", .data = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", .n = 41 };
	struct outcome o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_outputs(M("match: '(?<x>(a+)+$)', value: '1'"), &c, 1, 0, &o, &e), -1);
	assert_int_equal(e.kind, ERR_TOOL);
	assert_string_equal(e.text, "metric 'm': pattern took too much: match limit exceeded");
}

static void output_may_hold_anything(void **state)
{
	static const char data[] = "\0\xff\xfe v=7\0 \x80\n[[[[[[[[\"\\ud800\"{{{";
	struct capture c = { .step = "run", .stream = "stdout", .data = data, .n = sizeof(data) };
	struct outcome o;
	struct err e;

	(void)state;
	assert_int_equal(run_outputs("metrics:\n  m: {match: 'v=(?<x>\\d+)', value: ':x', unit: s, better: lower}\n"
	                             "  j: {json: '$.x', value: ':value', unit: s, better: lower}\n", &c, 1, 0, &o, &e), 0);
	has(&o, "m", "", 7);
}

static void brackets_without_end_cost_little(void **state)
{
	size_t n = 1 << 20;
	AUTO_FREE char *data = xmalloc(n);
	struct json_documents d;

	(void)state;
	memset(data, '[', n);
	json_find(arena, data, n, &d);
	assert_int_equal(d.n, 0);
	assert_true(arena_used(arena) < (size_t)64 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(facts_and_parameters_are_variables, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_in_every_spelling, setup, teardown),
		cmocka_unit_test_setup_teardown(units, setup, teardown),
		cmocka_unit_test_setup_teardown(several_results_where_one_was_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(combining, setup, teardown),
		cmocka_unit_test_setup_teardown(labels, setup, teardown),
		cmocka_unit_test_setup_teardown(reports_of_one_run, setup, teardown),
		cmocka_unit_test_setup_teardown(sources_are_tried_in_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(json_between_other_text, setup, teardown),
		cmocka_unit_test_setup_teardown(csv_by_its_first_field, setup, teardown),
		cmocka_unit_test_setup_teardown(a_printed_table_keeps_its_empty_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_decide, setup, teardown),
		cmocka_unit_test_setup_teardown(an_exit_status_fails_whatever_was_printed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_other_phases_explain_nothing_of_a_run, setup, teardown),
		cmocka_unit_test_setup_teardown(streams_and_copies, setup, teardown),
		cmocka_unit_test_setup_teardown(searching_leaves_nothing_in_the_definition, setup, teardown),
		cmocka_unit_test_setup_teardown(a_catastrophic_pattern_ends_at_the_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(output_may_hold_anything, setup, teardown),
		cmocka_unit_test_setup_teardown(brackets_without_end_cost_little, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
