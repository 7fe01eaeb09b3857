/* SPDX-License-Identifier: MIT
 *
 * Which line of a failed program's output says why it failed; see text.h.  Seldom, and on a megabyte at the most.
 */
#include "schema/base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* "initdb: error: ...", "FATAL:  ...", "mke2fs: Error: ..." */
static bool line_is_complaint(const char *line, size_t n)
{
	static const char *const words[] = { "error", "fatal", "panic" };

	for (size_t end = 0; end < n; end++) {
		size_t from = end;

		if (line[end] != ':')
			continue;
		while (from > 0 && isalpha((unsigned char)line[from - 1]))
			from--;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (end - from == strlen(words[i]) && strncasecmp(line + from, words[i], end - from) == 0)
				return true;
	}
	return false;
}

const char *text_last_words(const char *s, size_t n, size_t *ret_n)
{
	const char *last = s;
	bool is_complaint = false;

	*ret_n = 0;
	for (size_t from = 0, to; from < n; from = to + 1) {
		size_t end;

		for (to = from; to < n && s[to] != '\n' && s[to] != '\r'; to++)
			continue;
		for (end = to; end > from && isspace((unsigned char)s[end - 1]); end--)
			continue;
		if (end == from || (is_complaint && !line_is_complaint(s + from, end - from)))
			continue;
		is_complaint = is_complaint || line_is_complaint(s + from, end - from);
		last = s + from;
		*ret_n = end - from;
	}
	return last;
}
