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

static struct environment_fact f[HOSTFACTS_MAX];

static void lines_become_facts(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	size_t n = hostfacts_parse(&perc, "cache-policy=WriteBack\n\n  firmware = 6.2.0-0013 \r\ntemperature=41\nempty=\na=b=c", a, f, 0);

	(void)state;
	assert_int_equal(n, 5);
	assert_string_equal(f[0].key, "perc.cache-policy");
	assert_string_equal(f[0].value, "WriteBack");
	assert_int_equal(f[0].class, FACT_CONTEXT);
	assert_string_equal(f[1].key, "perc.firmware");
	assert_string_equal(f[1].value, "6.2.0-0013");
	assert_int_equal(f[1].class, FACT_IDENTITY);
	assert_int_equal(f[2].class, FACT_VOLATILE);
	assert_string_equal(f[3].value, "");
	assert_string_equal(f[4].value, "b=c");
}

static void what_is_no_fact_is_counted_in_one(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	size_t n = hostfacts_parse(&perc, "Usage: perc-state\n=x\nwith blank=1\nok=y\x01\xc3\n", a, f, 0);

	(void)state;
	assert_int_equal(n, 2);
	assert_string_equal(f[0].key, "perc.ok");
	assert_string_equal(f[0].value, "y??");
	assert_string_equal(f[1].key, "perc.error");
	assert_string_equal(f[1].value, "3 lines are no key=value");
	assert_int_equal(hostfacts_parse(&perc, "", a, f, 0), 0);
}

static void there_is_an_end_to_facts(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text many = { 0 };

	(void)state;
	for (int i = 0; i < 2 * HOSTFACTS_MAX; i++)
		text_printf(&many, "key%d=%0300d\n", i, i);
	assert_int_equal(hostfacts_parse(&perc, text_str(&many), a, f, 0), HOSTFACTS_MAX);
	assert_int_equal(strlen(f[0].value), 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_facts),
		cmocka_unit_test(what_is_no_fact_is_counted_in_one),
		cmocka_unit_test(there_is_an_end_to_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
