/* SPDX-License-Identifier: MIT
 *
 * What the host's own programs print, as facts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/worker/hostfacts.h"

static char path[] = "/bin/true", *program[] = { path, NULL };
static const char *identity[] = { "firmware", NULL }, *changing[] = { "temperature", NULL };
static const struct config_facts perc = { .name = "perc", .argv = program, .identity = identity, .is_volatile = changing };

static struct environment_facts parsed(struct arena *a, const char *out, size_t n, const char *why_expected)
{
	struct environment_facts f = { .a = a };
	AUTO_TEXT struct text why = { 0 };

	hostfacts_parse(&perc, out, n, &f, &why);
	assert_string_equal(text_str(&why), why_expected);
	return f;
}

static void is_fact(const struct environment_facts *f, size_t i, const char *key, const char *value,
                    enum fact_class class)
{
	assert_true(i < f->n);
	assert_string_equal(f->at[i].key, key);
	assert_string_equal(f->at[i].value, value);
	assert_int_equal(f->at[i].class, class);
}

static void lines_become_facts(void **state)
{
	static const char out[] = "cache-policy=WriteBack\n\n  firmware = 6.2.0-0013 \r\ntemperature=41\nempty=\na=b=c";
	AUTO_ARENA struct arena *a = arena_new();
	struct environment_facts f = parsed(a, out, strlen(out), "");

	(void)state;
	assert_int_equal(f.n, 5);
	is_fact(&f, 0, "perc.cache-policy", "WriteBack", FACT_CONTEXT);
	is_fact(&f, 1, "perc.firmware", "6.2.0-0013", FACT_IDENTITY);
	is_fact(&f, 2, "perc.temperature", "41", FACT_VOLATILE);
	is_fact(&f, 3, "perc.empty", "", FACT_CONTEXT);
	is_fact(&f, 4, "perc.a", "b=c", FACT_CONTEXT);
}

static void what_is_no_fact_is_counted(void **state)
{
	static const char out[] = "Usage: perc-state\n=x\nwith blank=1\nok=y\x01\xc3\nok=z\n";
	AUTO_ARENA struct arena *a = arena_new();
	struct environment_facts f = parsed(a, out, strlen(out),
	                                    "3 lines without key=value; 1 line with a key that was there before");

	(void)state;
	assert_int_equal(f.n, 1);
	is_fact(&f, 0, "perc.ok", "y??", FACT_CONTEXT);
	assert_int_equal(parsed(a, "", 0, "").n, 0);
}

static void a_zero_byte_ends_nothing(void **state)
{
	static const char out[] = "a=1\0b\nk\0ey=2\n\0\nlast=3\n";
	AUTO_ARENA struct arena *a = arena_new();
	struct environment_facts f = parsed(a, out, sizeof(out) - 1, "2 lines without key=value");

	(void)state;
	assert_int_equal(f.n, 2);
	is_fact(&f, 0, "perc.a", "1?b", FACT_CONTEXT);
	is_fact(&f, 1, "perc.last", "3", FACT_CONTEXT);
}

static void there_is_an_end_to_facts(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text many = { 0 };
	struct environment_facts f;

	(void)state;
	for (int i = 0; i < 2 * HOSTFACTS_MAX; i++)
		text_printf(&many, "key%d=%0300d\n", i, i);
	f = parsed(a, text_str(&many), many.n, "128 lines too many");
	assert_int_equal(f.n, HOSTFACTS_MAX);
	assert_int_equal(strlen(f.at[0].value), 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_facts),
		cmocka_unit_test(what_is_no_fact_is_counted),
		cmocka_unit_test(a_zero_byte_ends_nothing),
		cmocka_unit_test(there_is_an_end_to_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
