/* SPDX-License-Identifier: MIT
 *
 * The state of a loop device as a line of the journal.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/worker/loop.h"

static void a_state_comes_back_from_its_line(void **state)
{
	struct loop_state s = { .is_loop = true, .offset = 1 << 20, .sizelimit = UINT64_MAX, .flags = 4, .block_bytes = 4096 }, back;
	AUTO_TEXT struct text line = { 0 };

	(void)state;
	s.partitions[0] = 0x03;
	s.partitions[31] = 0x80;
	loop_state_format(&s, &line);
	assert_string_equal(text_str(&line), "offset 1048576, sizelimit 18446744073709551615, flags 4, blocks of 4096, partitions 1 2 256");
	assert_true(loop_state_parse(text_str(&line), &back));
	assert_memory_equal(&s.partitions, &back.partitions, sizeof(s.partitions));
	assert_true(back.is_loop && back.offset == s.offset && back.sizelimit == s.sizelimit && back.flags == 4 &&
	            back.block_bytes == 4096);
}

static void what_is_no_state_is_refused(void **state)
{
	static const char *const lines[] = { "", "offset 1, sizelimit 2", "offset 0, sizelimit 0, flags 0, blocks of 512, part",
		                             "offset 0, sizelimit 0, flags 0, blocks of 512, partitions 1 x" };
	struct loop_state s = { 0 };
	AUTO_TEXT struct text line = { 0 };

	(void)state;
	loop_state_format(&s, &line);
	assert_string_equal(text_str(&line), "");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(loop_state_parse(lines[i], &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_comes_back_from_its_line),
		cmocka_unit_test(what_is_no_state_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
