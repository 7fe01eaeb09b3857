/* SPDX-License-Identifier: MIT
 *
 * Text in and out: growing strings, numbers, sizes, durations, words, digests, nearest names, small files.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/base/text.h"

static void a_text_grows_and_is_always_terminated(void **state)
{
	AUTO_TEXT struct text t = { 0 };

	(void)state;
	assert_string_equal(text_str(&t), "");
	for (int i = 0; i < 1000; i++)
		text_printf(&t, "%d,", i % 10);
	text_add_n(&t, "a\0b", 3);
	assert_int_equal(t.n, 2003);
	assert_int_equal(t.s[t.n], '\0');
	assert_memory_equal(t.s + 2000, "a\0b", 4);
	text_clear(&t);
	assert_string_equal(text_str(&t), "");
}

static void numbers_are_strict(void **state)
{
	static const struct { const char *s; double v; } good[] = {
		{ "1", 1 }, { " -2.5 ", -2.5 }, { "+3,5", 3.5 }, { "1e3", 1000 }, { "1.5E-3", 0.0015 }, { ".5", .5 }, { "5.", 5 }, { "007", 7 },
	};
	static const char *const bad[] = { "", " ", "+", "+++++", ".", "1.2.3", "1,234.5", "0x10", "inf", "nan", "1e", "1e+", "1 2", "5k", "1e999" };
	double v = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(number_parse(good[i].s, &v), 0);
		assert_true(v == good[i].v);
	}
	v = 42;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(number_parse(bad[i], &v), -1);
	assert_true(v == 42);
	assert_int_equal(number_parse_n("12345", 2, &v), 0);
	assert_true(v == 12);
}

static void integers_keep_to_their_range(void **state)
{
	int64_t v = 42;

	(void)state;
	assert_int_equal(integer_parse("-3", -3, 3, &v), 0);
	assert_int_equal(v, -3);
	assert_int_equal(integer_parse("4", -3, 3, &v), -1);
	assert_int_equal(integer_parse("99999999999999999999", INT64_MIN, INT64_MAX, &v), -1);
	assert_int_equal(integer_parse("", -3, 3, &v), -1);
	assert_int_equal(integer_parse(" 1", -3, 3, &v), -1);
	assert_int_equal(integer_parse("+1", -3, 3, &v), -1);
	assert_int_equal(integer_parse("1x", -3, 3, &v), -1);
	assert_int_equal(v, -3);
}

static void sizes_carry_a_unit(void **state)
{
	static const struct { const char *s; unsigned flags; int64_t bytes; } good[] = {
		{ "0B", 0, 0 }, { "512B", 0, 512 }, { "4KiB", 0, 4096 }, { "8k", 0, 8192 }, { "1.5GiB", 0, 1610612736 }, { "2 MiB", 0, 2097152 },
		{ "1t", 0, INT64_C(1) << 40 }, { "256sectors", SIZE_SECTORS, 131072 }, { "1s", SIZE_SECTORS, 512 }, { "17", SIZE_BARE, 17 },
	};
	static const struct { const char *s, *text, *hint; } bad[] = {
		{ "4", "'4' has no unit", "write 4B, 4KiB, 4MiB or 4GiB" },
		{ "-4KiB", "'-4KiB' is negative; a size is 0 or more", "" },
		{ "x", "'x' is not a size", "write a number and a unit, as in 64KiB, 2MiB, 4GiB" },
		{ "4KB", "'4KB' has the unknown unit 'KB'", "decimal units are ambiguous: write KiB (binary)" },
		{ "4s", "'4s' has the unknown unit 's'", "sectors are for readahead only: write KiB, MiB or GiB" },
		{ "0.3B", "'0.3B' is not a whole number of bytes", "" },
		{ "9999999TiB", "'9999999TiB' is more than 1024PiB", "" },
	};
	int64_t bytes = -7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(size_parse(good[i].s, good[i].flags, &bytes, NULL), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	bytes = -7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = { 0 };

		assert_int_equal(size_parse(bad[i].s, 0, &bytes, &e), -1);
		assert_string_equal(e.text, bad[i].text);
		assert_string_equal(e.hint, bad[i].hint);
	}
	assert_int_equal(bytes, -7);
}

static void durations_carry_a_unit(void **state)
{
	static const struct { const char *s; int64_t ns; } good[] = {
		{ "0", 0 }, { "500ms", 500000000 }, { "30s", 30000000000 }, { "5min", 300000000000 }, { "1h30min", 5400000000000 },
		{ "1h 30min", 5400000000000 }, { "1.5s", 1500000000 }, { "1d", 86400000000000 },
	};
	static const char *const bad[] = { "", "5", "s", "5 fortnights", "-5s", "400d", "5s5" };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(duration_parse(good[i].s, &ns, NULL), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(duration_parse(bad[i], &ns, NULL), -1);
}

static void quantities_are_printed_for_people(void **state)
{
	char buf[SIZE_TEXT];

	(void)state;
	assert_string_equal(size_format(0, buf), "0B");
	assert_string_equal(size_format(65536, buf), "64KiB");
	assert_string_equal(size_format(1536 * 1024, buf), "1536KiB");
	assert_string_equal(size_format(100, buf), "100B");
	assert_string_equal(duration_format(740000, buf), "740us");
	assert_string_equal(duration_format(1200000000, buf), "1.2s");
	assert_string_equal(duration_format(200 * INT64_C(1000000000), buf), "3min 20s");
	assert_string_equal(duration_format(7500 * INT64_C(1000000000), buf), "2h 5min");
	assert_string_equal(number_format(0.1, buf), "0.1");
	assert_string_equal(number_format(1.0 / 3, buf), "0.3333333333333333");
	assert_string_equal(time_format_utc(INT64_C(1796072645000), buf), "2026-11-30T21:04:05Z");
}

/* The shortest of three tries of printf that reads back, without zeros at its end. */
static const char *number_by_printf(double v, char buf[SIZE_TEXT])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, SIZE_TEXT, "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	for (int digits = 6; digits < 15 && strlen(buf) > 6; digits++) {
		char fewer[SIZE_TEXT];

		snprintf(fewer, sizeof(fewer), "%.*g", digits, v);
		if (strtod(fewer, NULL) == v) {
			memcpy(buf, fewer, sizeof(fewer));
			break;
		}
	}
	return buf;
}

static void numbers_are_printed_as_printf_would_and_read_back(void **state)
{
	static const double special[] = { 0,      -0.0,  1,       -1,       0.5,       1e-4,      9.9999999999999e-5, 1e-5,  0.1,        0.3,
		                          1e5,    1e6,   120000,  120000000, 1234567,   1e14,      1e15,               1e16,  1e17,       1e300,
		                          1e-300, 1024,    4294967296, 2.0 / 3,   99.99999999999999, 999999999999999,     0.00099, 123456.5, 1e22,
		                          9007199254740993, 4503599627370497.5, 1.7976931348623157e308 };
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(special); i++) {
		char fast[SIZE_TEXT], slow[SIZE_TEXT];

		assert_string_equal(number_format(special[i], fast), number_by_printf(special[i], slow));
	}
	for (int i = 0; i < 200000; i++) {
		char fast[SIZE_TEXT], slow[SIZE_TEXT];
		double v;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		v = (double)(int64_t)(random >> 1) * pow(10, (double)(i % 60) - 45);
		if (i % 3 == 0) /* few digits, as people and tools write them */
			v = floor((double)(random >> 40)) / pow(10, i % 8);
		else if (i % 3 == 1) /* the neighbours of a short number */
			v = nextafter(floor((double)(random >> 44)) / pow(10, i % 10), i % 2 ? 0 : 1e300);
		assert_string_equal(number_format(i % 5 == 0 ? -v : v, fast),
		                    number_by_printf(i % 5 == 0 ? -v : v, slow));
		assert_true(strtod(fast, NULL) == (i % 5 == 0 ? -v : v));
	}
}

static void words_are_split_with_quotes_honoured(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct err e = { 0 };
	char **words;
	size_t n;

	(void)state;
	assert_int_equal(words_split(a, "  a 'b c' \"d \\\" e\"f g\\ h '' 'i\\j' $(k) ", &words, &n, &e), 0);
	assert_int_equal(n, 7);
	assert_string_equal(words[0], "a");
	assert_string_equal(words[1], "b c");
	assert_string_equal(words[2], "d \" ef");
	assert_string_equal(words[3], "g h");
	assert_string_equal(words[4], "");
	assert_string_equal(words[5], "i\\j");
	assert_string_equal(words[6], "$(k)");
	assert_null(words[7]);
	assert_int_equal(words_split(a, "", &words, &n, &e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(words_split(a, "a 'b", &words, &n, &e), -1);
	assert_string_equal(e.text, "a quote is not closed");
}

static void digests_and_uuids_are_the_standards(void **state)
{
	uint8_t digest[DIGEST_SIZE], one[16], two[16], back[16];
	char hex[DIGEST_TEXT], text[UUID_TEXT];

	(void)state;
	digest_of("abc", 3, digest); /* FIPS 180-2, appendix B.1 */
	assert_string_equal(digest_format(digest, hex),
	                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	uuid_make(one);
	uuid_make(two);
	assert_memory_not_equal(one, two, 16);
	assert_int_equal(one[6] >> 4, 7);
	assert_int_equal(one[8] >> 6, 2);
	assert_int_equal(uuid_parse(uuid_format(one, text), back), 0);
	assert_memory_equal(one, back, 16);
	assert_int_equal(uuid_parse("123", back), -1);
	assert_int_equal(uuid_parse("zz345678-1234-1234-1234-123456789012", back), -1);
}

static void utf8_is_checked_byte_by_byte(void **state)
{
	static const char *const good[] = { "", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbf" };
	static const char *const bad[] = { "\xff", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(utf8_is_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(utf8_is_valid(bad[i], strlen(bad[i])));
}

static void what_others_say_is_made_printable(void **state)
{
	static const char *const same[] = { "", "plain words", "\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80", "\xc2\xa0" };
	static const char *const changed[][2] = {
		{ "\033[31m", "\\x1b[31m" }, { "a\nb\rc\x7f", "a\\x0ab\\x0dc\\x7f" }, { "a\tb", "a b" }, { "\xff" "a", "\\xffa" },
		{ "\xc2\x9b" "1m", "\\xc2\\x9b1m" }, { "\xe2\x80\xae", "\\xe2\\x80\\xae" }, { "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
		{ "cut \xe6\x97", "cut \\xe6\\x97" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		AUTO_FREE char *s = text_printable(same[i]);

		assert_string_equal(s, same[i]);
		assert_true(text_is_printable(same[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
		AUTO_FREE char *s = text_printable(changed[i][0]);

		assert_string_equal(s, changed[i][1]);
		assert_false(text_is_printable(changed[i][0]));
	}
}

static void what_a_store_holds_may_have_lines_but_speaks_to_no_terminal(void **state)
{
	static const char *const same[] = { "", "a\tb\r\nc", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xae", "\xc3\xa9 \xf0\x9f\x98\x80" };
	static const char *const changed[][2] = {
		{ "a\n\033[31m", "a\n\\x1b[31m" }, { "\x07", "\\x07" }, { "\x7f", "\\x7f" }, { "\xc2\x9b" "1m", "\\xc2\\x9b1m" },
		{ "\tx\xff", "\tx\\xff" }, { "cut \xe6\x97", "cut \\xe6\\x97" },
	};
	AUTO_TEXT struct text t = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		assert_true(text_is_clean(same[i], strlen(same[i])));
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
		assert_false(text_is_clean(changed[i][0], strlen(changed[i][0])));
		text_clear(&t);
		text_add_clean(&t, changed[i][0], strlen(changed[i][0]));
		assert_string_equal(text_str(&t), changed[i][1]);
	}
	assert_false(text_is_clean("a\0b", 3));
}

static void the_nearest_word_is_near(void **state)
{
	static const char *const words[] = { "trials", "target", "timeout" };

	(void)state;
	assert_string_equal(text_nearest("trails", words, 3), "trials");
	assert_string_equal(text_nearest("timout", words, 3), "timeout");
	assert_null(text_nearest("geometry", words, 3));
	assert_null(text_nearest("", words, 0));
	assert_true(text_starts("abc", "ab") && !text_starts("a", "ab"));
	assert_true(text_ends("abc", "bc") && !text_ends("c", "bc"));
}

static void files_are_read_up_to_a_limit(void **state)
{
	AUTO_TEXT struct text t = { 0 };
	char path[] = "/tmp/iosweep-text-XXXXXX";
	int fd = mkstemp(path);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	assert_int_equal(file_read(AT_FDCWD, path, 5, &t, &e), 0);
	assert_string_equal(t.s, "hello");
	assert_int_equal(file_read(AT_FDCWD, path, 4, &t, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	unlink(path);
	assert_int_equal(file_read(AT_FDCWD, path, 4, &t, &e), -1);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_int_equal(file_read(AT_FDCWD, "/dev/null", 4, &t, &e), 0);
	assert_string_equal(t.s, "");
}

static void last_words_are(const char *output, const char *expected)
{
	size_t n;
	const char *words = text_last_words(output, strlen(output), &n);

	assert_int_equal(n, strlen(expected));
	assert_memory_equal(words, expected, n);
}

static void the_last_words_of_a_program_say_why_it_failed(void **state)
{
	(void)state;
	last_words_are("", "");
	last_words_are("\n \n", "");
	last_words_are("one\ntwo \r\n\n", "two");
	last_words_are("initdb: error: cannot be run as root\ninitdb: hint: Please log in\n",
	               "initdb: error: cannot be run as root");
	last_words_are("FATAL:  first\nLOG: between\nFATAL:  second\nLOG:  database system is shut down\n",
	               "FATAL:  second");
	last_words_are("its stderr: a\nterror: b", "terror: b");
	last_words_are("Error: no colon follows error", "Error: no colon follows error");
}

static void an_arena_hands_out_zeroed_memory(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	size_t used = arena_used(a);
	char *big = arena_alloc(a, 1 << 20), *s;

	(void)state;
	for (size_t i = 0; i < 1 << 20; i++)
		assert_int_equal(big[i], 0);
	s = arena_printf(a, "%s-%d", "x", 7);
	assert_string_equal(s, "x-7");
	assert_int_equal((uintptr_t)s % 16, 0);
	assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
	assert_true(arena_used(a) > used + (1 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_grows_and_is_always_terminated),
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(integers_keep_to_their_range),
		cmocka_unit_test(sizes_carry_a_unit),
		cmocka_unit_test(durations_carry_a_unit),
		cmocka_unit_test(quantities_are_printed_for_people),
		cmocka_unit_test(numbers_are_printed_as_printf_would_and_read_back),
		cmocka_unit_test(words_are_split_with_quotes_honoured),
		cmocka_unit_test(digests_and_uuids_are_the_standards),
		cmocka_unit_test(utf8_is_checked_byte_by_byte),
		cmocka_unit_test(what_others_say_is_made_printable),
		cmocka_unit_test(what_a_store_holds_may_have_lines_but_speaks_to_no_terminal),
		cmocka_unit_test(the_nearest_word_is_near),
		cmocka_unit_test(the_last_words_of_a_program_say_why_it_failed),
		cmocka_unit_test(files_are_read_up_to_a_limit),
		cmocka_unit_test(an_arena_hands_out_zeroed_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
