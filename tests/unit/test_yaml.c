/* SPDX-License-Identifier: MIT
 *
 * The YAML reader: trees with positions, aliases and merge keys, and a diagnostic for every kind of bad text.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/base/text.h"
#include "schema/yaml.h"

/* All diagnostics of a text as "LINE:COLUMN message" lines. */
static void faults_of_n(const char *yaml, size_t n, struct text *ret)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct diags d;
	struct node *root;

	diags_init(&d, "t");
	text_clear(ret);
	if (yaml_read(a, yaml, n, &d, &root) == 0)
		text_add(ret, "none");
	for (size_t i = 0; i < d.n; i++)
		text_printf(ret, "%s%d:%d %s", i > 0 ? "\n" : "", d.at[i].line, d.at[i].column, d.at[i].message);
	diags_done(&d);
}

static void assert_faults(const char *yaml, const char *expected)
{
	AUTO_TEXT struct text got = { 0 };

	faults_of_n(yaml, strlen(yaml), &got);
	assert_string_equal(text_str(&got), expected);
}

static struct node *read_good(struct arena *a, const char *yaml)
{
	struct diags d;
	struct node *root = NULL;
	int rc;

	diags_init(&d, "t");
	rc = yaml_read(a, yaml, strlen(yaml), &d, &root);
	if (rc != 0)
		diags_print(stderr, &d);
	diags_done(&d);
	assert_int_equal(rc, 0);
	return root;
}

static void nodes_know_their_line_and_column(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct node *root = read_good(a, "a: 1\nlist:\n  - x\n  - {k: 'v w'}\n"), *list = node_get(root, "list");

	(void)state;
	assert_int_equal(root->kind, NODE_MAP);
	assert_int_equal(root->n, 2);
	assert_string_equal(node_get(root, "a")->text, "1");
	assert_true(node_get(root, "a")->is_plain);
	assert_int_equal(root->keys[1]->line, 2);
	assert_int_equal(list->kind, NODE_LIST);
	assert_int_equal(list->at[1]->line, 4);
	assert_int_equal(list->at[1]->column, 5);
	assert_string_equal(node_get(list->at[1], "k")->text, "v w");
	assert_false(node_get(list->at[1], "k")->is_plain);
	assert_int_equal(node_get(list->at[1], "k")->column, 9);
	assert_null(node_get(root, "b"));
}

static void an_empty_text_is_an_empty_map(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();

	(void)state;
	assert_int_equal(read_good(a, "")->kind, NODE_MAP);
	assert_int_equal(read_good(a, "# nothing\n")->n, 0);
}

static void aliases_and_merge_keys_are_resolved(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct node *root = read_good(a, "base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\n"
	                                 "one: {y: 9, <<: *b}\ntwo: {<<: [*b, *o]}\nsame: *b\n");
	struct node *one = node_get(root, "one"), *two = node_get(root, "two");

	(void)state;
	assert_int_equal(one->n, 2);
	assert_string_equal(node_get(one, "y")->text, "9");
	assert_string_equal(node_get(one, "x")->text, "1");
	assert_int_equal(two->n, 3);
	assert_string_equal(node_get(two, "y")->text, "2"); /* the earlier map of the list wins */
	assert_string_equal(node_get(two, "z")->text, "4");
	assert_ptr_equal(node_get(root, "same"), node_get(root, "base"));
}

static void a_quoted_merge_key_is_an_ordinary_key(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();

	(void)state;
	assert_string_equal(node_get(read_good(a, "'<<': x\n"), "<<")->text, "x");
}

static void a_byte_order_mark_and_carriage_returns_are_no_part_of_the_text(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	const struct node *root = read_good(a, "\xef\xbb\xbf" "a: 1\r\nb: x\r\n");

	(void)state;
	assert_string_equal(node_get(root, "a")->text, "1");
	assert_string_equal(node_get(root, "b")->text, "x");
	assert_faults("\xef\xbb\xbf" "a: 1\nb: 2\na: 3\n", "3:1 'a' stands here a second time (first in line 1)");
}

static void faults_are_named_with_their_position(void **state)
{
	(void)state;
	assert_faults("a: 1\nb: 2\na: 3\n", "3:1 'a' stands here a second time (first in line 1)");
	assert_faults("a: &x [1, *x]\n", "1:11 the alias '*x' is inside what it stands for: a cycle");
	assert_faults("a: *x\n", "1:4 no anchor '&x' before the alias '*x'");
	assert_faults("a: 1\n---\nb: 2\n", "2:1 a second document: one file holds one");
	assert_faults("a: !!int 1\n", "1:4 a tag ('tag:yaml.org,2002:int') means nothing here: leave it out");
	assert_faults("a: \"x\\0y\"\n", "1:4 a NUL character in a text");
	assert_faults("? [1]\n: 2\n", "1:3 a key is a word, not a list");
	assert_faults("<<: 1\n", "1:1 '<<' takes a map or a list of maps");
	assert_faults("<<: [[]]\n", "1:1 '<<' takes a map or a list of maps");
	assert_faults("a: [1, 2\nb: 3\n",
	              "2:2 not YAML: did not find expected ',' or ']', while parsing a flow sequence "
	              "(begun in line 1)");
	assert_faults("a:\n\tb: 1\n", "2:1 not YAML: a tab: lines are indented with blanks");
	assert_faults("a: 1\n\tb: 2\n", "2:1 not YAML: a tab: lines are indented with blanks");
	assert_faults("a: |\n x\n\ty\n", "3:1 not YAML: a tab: lines are indented with blanks");
	assert_faults("\xc3\xa4: 1\nb\xc3\xa4: @x\n",
	              "2:5 not YAML: '@' cannot begin a value: put the value in quotes");
	assert_faults("a:\n  b: 1\n c: 2\n", "3:2 not YAML: did not find expected key, while parsing a block mapping "
	              "(begun in line 1): indent the line like its neighbours, and close what stands before it");
	assert_faults("a: b: c\n",
	              "1:5 not YAML: mapping values are not allowed in this context: write one 'key: value' "
	              "a line, and a map inside of a line in braces");
	assert_faults("a: \x01\n", "1:4 not YAML: control characters are not allowed");
	assert_faults("a: {{b: c}}\nd: *e\n",
	              "1:5 a key is a word, not a map\n2:4 no anchor '&e' before the alias '*e'");
}

static void bytes_that_are_not_text_are_refused(void **state)
{
	AUTO_TEXT struct text got = { 0 };

	(void)state;
	faults_of_n("a: b\nc\0d: 1\n", 12, &got);
	assert_string_equal(text_str(&got), "2:2 a NUL byte: this is not text");
	assert_faults("a: b\nd: \xc3\xa9\xff\n", "2:5 not UTF-8: save the file in that encoding");
	assert_faults("a: \xc3", "1:4 not UTF-8: save the file in that encoding");
}

static void ten_thousand_nested_lists_are_one_fault(void **state)
{
	static char deep[10001];

	(void)state;
	memset(deep, '[', sizeof(deep) - 1);
	assert_faults(deep, "1:33 nested more than 32 levels deep");
}

static void aliases_that_multiply_are_bounded(void **state)
{
	AUTO_TEXT struct text yaml = { 0 }, got = { 0 };

	(void)state;
	text_add(&yaml, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 9; i++) {
		text_printf(&yaml, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			text_printf(&yaml, "%s*a%d", j > 0 ? ", " : "", i - 1);
		text_add(&yaml, "]\n");
	}
	faults_of_n(text_str(&yaml), yaml.n, &got);
	assert_string_equal(text_str(&got), "6:15 more than 200000 values once the aliases are written out");
}

static void a_text_over_the_limit_is_refused(void **state)
{
	AUTO_FREE char *big = xmalloc(YAML_MAX_BYTES + 1);
	AUTO_TEXT struct text got = { 0 };

	(void)state;
	memset(big, '#', YAML_MAX_BYTES + 1);
	faults_of_n(big, YAML_MAX_BYTES + 1, &got);
	assert_string_equal(text_str(&got), "0:0 larger than 4MiB: not a file of this kind");
	faults_of_n(big, YAML_MAX_BYTES, &got);
	assert_string_equal(text_str(&got), "none");
}

/* 2 GB without a byte of disk: the size is looked at before the text. */
static void a_sparse_file_of_2_gb_is_refused_unread(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	char path[] = "/tmp/iosweep-yaml-XXXXXX";
	struct diags d;
	struct node *root;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, INT64_C(2000000000)), 0);
	close(fd);
	diags_init(&d, path);
	assert_int_equal(yaml_read_file(a, path, &d, &root), -1);
	assert_string_equal(d.at[0].message, "larger than 4MiB: not a file of this kind");
	diags_done(&d);
	unlink(path);
	diags_init(&d, path);
	assert_int_equal(yaml_read_file(a, path, &d, &root), -1);
	assert_string_equal(d.at[0].message, "No such file or directory");
	assert_int_equal(yaml_read_file(a, "/tmp", &d, &root), -1);
	assert_string_equal(d.at[1].message, "not a regular file");
	diags_done(&d);
}

static void unknown_keys_are_named_with_the_nearest(void **state)
{
	static const char *const known[] = { "trials", "order", NULL };
	AUTO_ARENA struct arena *a = arena_new();
	struct diags d;

	(void)state;
	diags_init(&d, "t");
	assert_int_equal(node_check_keys(read_good(a, "trials: 1\n"), known, "the plan", &d), 0);
	assert_int_equal(node_check_keys(read_good(a, "trails: 1\nzzzzzzzzz: 2\n"), known, "the plan", &d), -1);
	assert_string_equal(d.at[0].message, "unknown key 'trails' in the plan: did you mean 'trials'?");
	assert_string_equal(d.at[1].message, "unknown key 'zzzzzzzzz' in the plan: known are trials order");
	assert_int_equal(d.at[1].line, 2);
	diags_done(&d);
}

static void yes_and_no_have_three_spellings_each(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct node *list = node_get(read_good(a, "l: [yes, true, on, no, false, off, maybe, []]\n"), "l");
	bool b = false;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(node_bool(list->at[i], &b), 0);
		assert_int_equal(b, i < 3);
	}
	assert_int_equal(node_bool(list->at[6], &b), -1);
	assert_int_equal(node_bool(list->at[7], &b), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_know_their_line_and_column),
		cmocka_unit_test(an_empty_text_is_an_empty_map),
		cmocka_unit_test(aliases_and_merge_keys_are_resolved),
		cmocka_unit_test(a_quoted_merge_key_is_an_ordinary_key),
		cmocka_unit_test(a_byte_order_mark_and_carriage_returns_are_no_part_of_the_text),
		cmocka_unit_test(faults_are_named_with_their_position),
		cmocka_unit_test(bytes_that_are_not_text_are_refused),
		cmocka_unit_test(ten_thousand_nested_lists_are_one_fault),
		cmocka_unit_test(aliases_that_multiply_are_bounded),
		cmocka_unit_test(a_text_over_the_limit_is_refused),
		cmocka_unit_test(a_sparse_file_of_2_gb_is_refused_unread),
		cmocka_unit_test(unknown_keys_are_named_with_the_nearest),
		cmocka_unit_test(yes_and_no_have_three_spellings_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
