/* SPDX-License-Identifier: MIT
 *
 * The wire: what is refused, word by word, and that errors and diagnostics survive the way to the other side.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "schema/message.h"

static struct json_object *decode_good(const char *line)
{
	struct json_object *m = NULL;
	struct err e = { 0 };

	if (message_decode(line, strlen(line), &m, &e) < 0)
		fail_msg("%s", e.text);
	return m;
}

static void assert_refused_n(const char *line, size_t n, const char *expected)
{
	struct json_object *m = NULL;
	struct err e = { 0 };

	assert_int_equal(message_decode(line, n, &m, &e), -1);
	assert_null(m);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_string_equal(e.text, expected);
}

static void assert_refused(const char *line, const char *expected)
{
	assert_refused_n(line, strlen(line), expected);
}

static void an_object_is_decoded(void **state)
{
	struct json_object *m = decode_good(" {\"version\":1,\"request\":\"hello\",\"n\":-7,\"b\":true,\"s\":\"h\\u00e9\"} \r");
	const char *s;
	int64_t n;

	(void)state;
	assert_int_equal(message_string(m, "s", &s, NULL), 0);
	assert_string_equal(s, "h\xc3\xa9");
	assert_int_equal(message_integer(m, "n", &n, NULL), 0);
	assert_int_equal(n, -7);
	assert_true(message_bool_or(m, "b", false));
	json_object_put(m);
}

static void what_is_no_object_is_refused(void **state)
{
	(void)state;
	assert_refused("", "the message is empty");
	assert_refused("  \r", "the message is empty");
	assert_refused("[1]", "the message is not a JSON object");
	assert_refused("\"x\"", "the message is not a JSON object");
	assert_refused("GET / HTTP/1.1", "the message is not a JSON object");
	assert_refused("null", "the message is not a JSON object");
}

static void broken_json_is_refused_with_its_place(void **state)
{
	(void)state;
	assert_refused("{\"a\":1", "the message ends in the middle, after 6 bytes");
	assert_refused("{\"a\":1} x", "the message is not JSON: unexpected character at byte 9");
	assert_refused("{a:1}", "the message is not JSON: quoted object property name expected at byte 2");
	assert_refused("{\"a\":\"\xff\"}", "the message is not valid UTF-8");
	assert_refused_n("{\"a\":\0}", 7, "the message holds a NUL at byte 6");
}

static void nesting_is_bounded(void **state)
{
	char line[256] = "{\"a\":", *end = line + strlen(line);

	(void)state;
	for (int i = 0; i < MESSAGE_MAX_DEPTH - 1; i++)
		*end++ = '[';
	for (int i = 0; i < MESSAGE_MAX_DEPTH - 1; i++)
		*end++ = ']';
	*end = '}'; /* the rest of the line is zero */
	json_object_put(decode_good(line));
	assert_refused("{\"a\":[[[[[[[[[[1]]]]]]]]]]}", "the message is nested deeper than 8 levels");
}

static void length_is_bounded(void **state)
{
	size_t n = MESSAGE_MAX_BYTES + 1;
	AUTO_FREE char *line = xmalloc(n);

	(void)state;
	memset(line, ' ', n);
	memcpy(line, "{}", 2);
	assert_refused_n(line, n, "the message is longer than 8388608 bytes");
}

static void fields_of_another_type_are_refused(void **state)
{
	struct json_object *m = decode_good("{\"s\":\"x\",\"i\":3,\"f\":3.5,\"z\":\"a\\u0000b\",\"b\":1}");
	struct err e = { 0 };
	const char *s = "untouched";
	int64_t n = 42;

	(void)state;
	assert_int_equal(message_string(m, "i", &s, &e), -1);
	assert_string_equal(e.text, "'i' in the message is not a string");
	assert_int_equal(message_string(m, "none", &s, &e), -1);
	assert_string_equal(e.text, "the message has no 'none'");
	assert_int_equal(message_string(m, "z", &s, &e), -1);
	assert_string_equal(e.text, "'z' in the message holds a NUL");
	assert_int_equal(message_integer(m, "f", &n, &e), -1);
	assert_string_equal(e.text, "'f' in the message is not a whole number");
	assert_string_equal(s, "untouched");
	assert_int_equal(n, 42);
	assert_string_equal(message_string_or(m, "i", "otherwise"), "otherwise");
	assert_int_equal(message_integer_or(m, "s", 9), 9);
	assert_false(message_bool_or(m, "b", false));
	json_object_put(m);
}

static void an_encoded_message_is_one_line(void **state)
{
	struct json_object *m = json_object_new_object();
	AUTO_TEXT struct text line = { 0 };

	(void)state;
	json_object_object_add(m, "plan", json_object_new_string("a: 1\nb: /x\n"));
	message_encode(m, &line);
	assert_string_equal(line.s, "{\"plan\":\"a: 1\\nb: /x\\n\"}\n");
	json_object_put(m);
}

static void an_error_comes_back_whole(void **state)
{
	struct diags d, back;
	struct err e = { 0 }, got = { 0 };
	struct json_object *m;

	(void)state;
	diags_init(&d, "p.yaml");
	diags_init(&back, "p.yaml");
	diags_add(&d, 3, 5, "unknown key 'tirals'");
	diags_add(&d, 9, 1, "no workload");
	err_set_(&e, ERR_REFUSED, "the plan has 2 errors");
	err_hint_(&e, "mend them");
	m = message_error(&e, &d);
	assert_int_equal(message_reply_check(m, &back, &got), -1);
	assert_int_equal(got.kind, ERR_REFUSED);
	assert_string_equal(got.text, "the plan has 2 errors");
	assert_string_equal(got.hint, "mend them");
	assert_int_equal(back.n, 2);
	assert_int_equal(back.at[0].line, 3);
	assert_int_equal(back.at[0].column, 5);
	assert_string_equal(back.at[1].message, "no workload");
	json_object_put(m);
	diags_done(&d);
	diags_done(&back);
}

static void bytes_that_are_no_utf8_do_not_spoil_the_line(void **state)
{
	struct err e = { 0 };
	AUTO_TEXT struct text line = { 0 };
	struct json_object *m, *again = NULL;

	(void)state;
	err_set_(&e, ERR_TOOL, "mkfs said '\xff\xfe'");
	m = message_error(&e, NULL);
	message_encode(m, &line);
	assert_int_equal(message_decode(line.s, line.n - 1, &again, &e), 0);
	assert_int_equal(message_reply_check(again, NULL, &e), -1);
	assert_string_equal(e.text, "mkfs said '\?\?'");
	json_object_put(m);
	json_object_put(again);
}

static void a_reply_is_a_success_or_an_error(void **state)
{
	struct json_object *good = decode_good("{\"ok\":true}"), *odd = decode_good("{\"ok\":1}");
	struct json_object *bare = decode_good("{\"ok\":false,\"error\":{\"kind\":7},\"diags\":[1,{}],\"diags_lost\":-3}");
	struct err e = { 0 };
	struct diags d;

	(void)state;
	diags_init(&d, "p");
	assert_int_equal(message_reply_check(good, NULL, &e), 0);
	assert_int_equal(message_reply_check(odd, NULL, &e), -1);
	assert_string_equal(e.text, "the daemon's reply is neither a success nor an error");
	assert_int_equal(message_reply_check(bare, &d, &e), -1);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_string_equal(e.text, "an error without a text");
	assert_int_equal(d.n, 1);
	assert_int_equal(d.n_lost, 0);
	diags_done(&d);
	json_object_put(good);
	json_object_put(odd);
	json_object_put(bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_decoded),
		cmocka_unit_test(what_is_no_object_is_refused),
		cmocka_unit_test(broken_json_is_refused_with_its_place),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(length_is_bounded),
		cmocka_unit_test(fields_of_another_type_are_refused),
		cmocka_unit_test(an_encoded_message_is_one_line),
		cmocka_unit_test(an_error_comes_back_whole),
		cmocka_unit_test(bytes_that_are_no_utf8_do_not_spoil_the_line),
		cmocka_unit_test(a_reply_is_a_success_or_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
