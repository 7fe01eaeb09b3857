/* SPDX-License-Identifier: MIT
 *
 * The decoder of the wire, and what both sides do with a decoded message: no input may do more than fail.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "schema/message.h"

static void fields_read(struct json_object *m)
{
	const char *s;
	int64_t n;

	message_string(m, "request", &s, NULL);
	message_integer(m, "version", &n, NULL);
	message_integer_or(m, "sweep", 0);
	message_bool_or(m, "dry-run", false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_TEXT struct text line = { 0 };
	struct json_object *m = NULL, *again = NULL;
	struct err e = { 0 };
	struct diags d;

	if (message_decode((const char *)data, n, &m, &e) < 0)
		return 0;
	fields_read(m);
	diags_init(&d, "fuzz");
	message_reply_check(m, &d, &e);
	diags_done(&d);
	message_encode(m, &line);
	if (message_decode(line.s, line.n - 1, &again, &e) < 0)
		abort(); /* what is sent can be read */
	json_object_put(m);
	json_object_put(again);
	return 0;
}
